import { DETECTOR_WINDOW } from './detectors.ts'
import type { Detector } from './detectors.ts'

/** A read whose bytes are final. */
export interface SettledRead {
  readonly atUs: number
  readonly bytes: Uint8Array
}

/** Bytes of a body that were replaced by as many `*`. */
export interface Redaction {
  readonly off: number
  readonly len: number
  readonly kind: string
}

/** A match that waits for what follows it is waited for up to this length. */
const MAX_HELD_BYTES = 64 * 1024
/** What a detector may look back at, of what has been given out. */
const LOOK_BEHIND_BYTES = 256
const STAR = 0x2a

interface Progress {
  readonly detector: Detector
  /** Offset in the body from which it still has to look. */
  from: number
  /** The last match may go on. */
  open: Match | undefined
}

interface Match {
  readonly off: number
  end: number
  readonly kind: string
}

/**
 * Masks the secrets of one body while it arrives. Each comes out as many bytes long as it was, so offsets, borders of reads
 * and events, and hence every fault, stay where they were. The result does not depend on how the body is cut.
 *
 * It lags behind: what could still turn out to be part of a secret is held back, at most the last unfinished line or
 * {@link DETECTOR_WINDOW} bytes of it. Line ends are never masked.
 */
export class BodyRedactor {
  readonly #progress: readonly Progress[]
  readonly #unbounded: boolean
  readonly #window: number
  readonly #matches: Match[] = []
  /** Reads that were not given out yet. */
  readonly #waiting: { readonly atUs: number; length: number }[] = []
  /** The bytes of the waiting reads, as they will be given out. */
  #pending: Uint8Array = new Uint8Array()
  /** The same as they came, behind the last few that were given out, as Latin-1. */
  #text = ''
  /** Offset of `#text` in the body. */
  #textAt = 0
  /** Offset of `#pending` in the body. */
  #pendingAt = 0
  #ended = false

  constructor(detectors: readonly Detector[], longestLiteral = 0) {
    this.#progress = detectors.map((detector) => ({ detector, from: 0, open: undefined }))
    this.#unbounded = detectors.some(({ unbounded }) => unbounded)
    this.#window = Math.max(DETECTOR_WINDOW, longestLiteral)
  }

  /** Gives the reads that are settled by this one, in order. A read is never joined or split. */
  push(bytes: Uint8Array, atUs: number): readonly SettledRead[] {
    this.#waiting.push({ atUs, length: bytes.length })
    const joined = new Uint8Array(this.#pending.length + bytes.length)
    joined.set(this.#pending)
    joined.set(bytes, this.#pending.length)
    this.#pending = joined
    this.#text += latin1(bytes)
    const held = this.#scan()
    return this.#release(Math.min(held, this.#safe()))
  }

  /** The body has ended: gives the reads that were held back. */
  end(): readonly SettledRead[] {
    this.#ended = true
    this.#scan()
    return this.#release(this.#textAt + this.#text.length)
  }

  /** What was masked, in the order of the body; secrets that overlap count as the first of them. */
  redactions(): readonly Redaction[] {
    const merged: Match[] = []
    for (const match of this.#matches.toSorted((a, b) => a.off - b.off || b.end - a.end)) {
      const last = merged.at(-1)
      if (last !== undefined && match.off < last.end) last.end = Math.max(last.end, match.end)
      else merged.push({ ...match })
    }
    return merged.map(({ off, end, kind }) => ({ off, len: end - off, kind }))
  }

  /** Offset up to which nothing can begin that is not known yet. */
  #safe(): number {
    const end = this.#textAt + this.#text.length
    const windowed = end - this.#window
    return this.#unbounded ? windowed : Math.max(windowed, this.#textAt + this.#text.lastIndexOf('\n') + 1)
  }

  /** Looks for secrets in what is there; gives the offset from which bytes have to wait for more, whatever else is safe. */
  #scan(): number {
    let held = Infinity
    for (const progress of this.#progress) held = Math.min(held, this.#scanFor(progress))
    return held
  }

  #scanFor(progress: Progress): number {
    const { detector } = progress
    const { start, hint } = detector
    const length = this.#text.length
    if (progress.open !== undefined && !this.#extend(progress, progress.open)) return this.#holdAt(progress)
    if (hint !== undefined && !hint.test(this.#text)) return Infinity
    let skipped = 0
    for (;;) {
      start.lastIndex = Math.max(progress.from - this.#textAt, skipped)
      const found = start.exec(this.#text)
      if (found === null) return Infinity
      if (found[0] === '') {
        // Nothing matched here for now; with more bytes there may be something.
        skipped = found.index + 1
        if (skipped > length) return Infinity
        continue
      }
      const off = this.#textAt + found.index
      const touchesEnd = found.index + found[0].length === length
      // With more bytes the pattern might take more, or less: it is asked again then.
      if (detector.waits && touchesEnd && !this.#ended && length - found.index < MAX_HELD_BYTES) return off
      const match: Match = { off, end: off + found[0].length, kind: detector.kind }
      this.#matches.push(match)
      this.#mask(match.off, match.end)
      progress.from = match.end
      if (!this.#extend(progress, match)) return this.#holdAt(progress)
    }
  }

  /** Takes what else belongs to the match; false when it may go on with the next read. */
  #extend(progress: Progress, match: Match): boolean {
    const { rest, escapes } = progress.detector
    if (rest === undefined) return true
    for (let more = -1; more !== 0;) {
      rest.lastIndex = match.end - this.#textAt
      more = rest.exec(this.#text)?.[0].length ?? 0
      this.#mask(match.end, match.end + more)
      match.end += more
    }
    progress.from = match.end
    const left = this.#textAt + this.#text.length - match.end
    const open = left === 0 || (escapes === true && left === 1 && this.#text.endsWith('\\'))
    progress.open = open ? match : undefined
    return !open
  }

  /** An open match holds nothing back but the first half of an escape. */
  #holdAt({ from }: Progress): number {
    return from < this.#textAt + this.#text.length ? from : Infinity
  }

  #mask(from: number, to: number): void {
    for (let at = Math.max(from - this.#pendingAt, 0); at < to - this.#pendingAt; at++) {
      const byte = this.#pending[at]
      if (byte !== 0x0a && byte !== 0x0d) this.#pending[at] = STAR
    }
  }

  #release(upTo: number): readonly SettledRead[] {
    const settled: SettledRead[] = []
    let at = 0
    let count = 0
    for (const { atUs, length } of this.#waiting) {
      if (this.#pendingAt + at + length > upTo) break
      settled.push({ atUs, bytes: this.#pending.slice(at, at + length) })
      at += length
      count++
    }
    this.#waiting.splice(0, count)
    this.#pending = this.#pending.slice(at)
    this.#pendingAt += at
    const keepFrom = Math.max(this.#pendingAt - LOOK_BEHIND_BYTES - this.#textAt, 0)
    this.#text = this.#text.slice(keepFrom)
    this.#textAt += keepFrom
    return settled
  }
}

function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
}
