/**
 * Gives each call of a response its id: the provider's where it is not empty and not used before in this response, else one
 * made here. A made id depends on the seed, the response's own id and the call's place, so that replaying a recording
 * gives the same ids, while two turns never share one (faults F076, F078).
 */
export class CallIds {
  readonly #seed: string
  readonly #used = new Set<string>()

  constructor(seed: string) {
    this.#seed = seed
  }

  assign(providerId: string | undefined, responseId: string | undefined, choice: number, ordinal: number): string {
    if (providerId !== undefined && !this.#used.has(providerId)) {
      this.#used.add(providerId)
      return providerId
    }
    const base = `call_${hash(`${this.#seed}\n${responseId ?? ''}`)}_${choice}_${ordinal}`
    let id = base
    for (let n = 1; this.#used.has(id); n++) id = `${base}_${n}`
    this.#used.add(id)
    return id
  }
}

/** Two FNV-1a hashes in base 36: an identifier, not a digest. */
function hash(text: string): string {
  let a = 0x811c9dc5
  let b = 0x01000193
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    a = Math.imul(a ^ code, 0x01000193)
    b = Math.imul(b ^ code, 0x85ebca6b)
  }
  return (a >>> 0).toString(36) + (b >>> 0).toString(36)
}
