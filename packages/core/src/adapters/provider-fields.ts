import type { StreamChunk } from '../chunk/chunk.ts'
import type { AdapterOutput } from './adapter.ts'
import { isKeepable } from './kept-value.ts'

type Metadata = Extract<StreamChunk, { type: 'metadata' }>

/** Fields of one level. A wire that makes up a new one in every event must not make every snapshot longer. */
const MOST_FIELDS = 256
/** In place of the value of a field that was an object: it is given out each time. */
const OBJECT = Symbol('object')
/** In place of the value of a field that the adapter reads itself. */
const KNOWN = Symbol('known')

/**
 * Gives out the fields of one level of the wire that no adapter reads: they are the provider's own, and are kept, not judged.
 * A text, number or boolean that stays the same from event to event is given out once.
 */
export class ProviderFields {
  readonly #known: ReadonlySet<string>
  readonly #growingLists: boolean
  /** The last value of each field that was kept, scalars only. */
  readonly #last = new Map<string, unknown>()
  /** Keys of the object read last, in its order: the next one nearly always has the same, with the same values. */
  readonly #keys: string[] = []
  /** For each of these keys what there is to say no more: `KNOWN`, or the last value that was kept. */
  readonly #said: unknown[] = []

  /** @param growingLists lists of this level come in pieces and are joined; elsewhere the newest value counts. */
  constructor(known: ReadonlySet<string>, growingLists: boolean) {
    this.#known = known
    this.#growingLists = growingLists
  }

  /**
   * Returns true when reading the same fields again would give nothing out.
   */
  read(from: object, choice: number | undefined, out: AdapterOutput): boolean {
    let settled = true
    let replace: Record<string, unknown> | undefined
    let append: Record<string, readonly unknown[]> | undefined
    const keys = this.#keys
    const said = this.#said
    let at = 0
    for (const key in from) {
      if (keys[at] !== key) this.#meet(key, at)
      const place = at
      if (at < MOST_FIELDS) at++
      const before = said[place]
      if (before === KNOWN) continue
      const value = (from as Record<string, unknown>)[key]
      if (value === before || value === null || value === '') continue
      const last = this.#last.get(key)
      if (last === undefined && this.#last.size >= MOST_FIELDS) {
        settled = false
        out.note('unexpected_field', `more than ${MOST_FIELDS} provider fields; the others are not kept`)
        continue
      }
      if (typeof value !== 'object') {
        said[place] = value
        this.#last.set(key, value)
      } else {
        settled = false
        if (!isKeepable(value)) continue
        said[place] = OBJECT
        this.#last.set(key, OBJECT)
      }
      if (this.#growingLists && Array.isArray(value)) {
        if (value.length > 0) (append ??= Object.create(null) as Record<string, readonly unknown[]>)[key] = value
      } else (replace ??= Object.create(null) as Record<string, unknown>)[key] = value
    }
    if (replace === undefined && append === undefined) return settled
    out.chunks.push({
      type: 'metadata',
      ...(choice !== undefined && { choice }),
      ...(replace !== undefined && { replace }),
      ...(append !== undefined && { append }),
    } satisfies Metadata)
    return settled
  }

  /** A key that was not at this place in the object before. */
  #meet(key: string, at: number): void {
    // What stands behind it is forgotten: a field is listed once, or one of its places would keep an old value.
    this.#keys.length = at
    this.#keys[at] = key
    this.#said[at] = this.#known.has(key) ? KNOWN : this.#last.get(key)
  }
}
