import type { StreamChunk } from '../chunk/chunk.ts'
import type { AdapterOutput } from './adapter.ts'
import { isKeepable } from './kept-value.ts'

type Metadata = Extract<StreamChunk, { type: 'metadata' }>

/** Fields of one level. A wire that makes up a new one in every event must not make every snapshot longer. */
const MOST_FIELDS = 256
/** In place of the value of a field that was an object: it is given out each time. */
const OBJECT = Symbol('object')

/**
 * Gives out the fields of one level of the wire that no adapter reads: they are the provider's own, and are kept, not judged.
 * A text, number or boolean that stays the same from event to event is given out once.
 */
export class ProviderFields {
  readonly #known: ReadonlySet<string>
  readonly #growingLists: boolean
  /** The last value of each field that was kept, scalars only. */
  readonly #last = new Map<string, unknown>()
  /** Keys of the object read last, in its order, and whether each is known: the next one nearly always has the same. */
  #keys: string[] = []
  #isKnown: boolean[] = []

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
    let at = 0
    for (const key in from) {
      const place = at < MOST_FIELDS ? at++ : at
      if (this.#keys[place] !== key) {
        this.#keys[place] = key
        this.#isKnown[place] = this.#known.has(key)
      }
      if (this.#isKnown[place]) continue
      const value = (from as Record<string, unknown>)[key]
      if (value === null || value === '') continue
      const last = this.#last.get(key)
      if (last === undefined && this.#last.size >= MOST_FIELDS) {
        settled = false
        out.note('unexpected_field', `more than ${MOST_FIELDS} provider fields; the others are not kept`)
        continue
      }
      if (typeof value !== 'object') {
        if (last === value) continue
        this.#last.set(key, value)
      } else {
        settled = false
        if (!isKeepable(value)) continue
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
}
