import type { StreamChunk } from '../chunk/chunk.ts'
import type { AdapterOutput } from './adapter.ts'
import { isKeepable } from './kept-value.ts'

type Metadata = Extract<StreamChunk, { type: 'metadata' }>

/**
 * Gives out the fields of one level of the wire that no adapter reads: they are the provider's own, and are kept, not judged.
 * A text, number or boolean that stays the same from event to event is given out once.
 */
export class ProviderFields {
  readonly #known: ReadonlySet<string>
  readonly #growingLists: boolean
  readonly #last = new Map<string, unknown>()

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
    for (const key in from) {
      if (this.#known.has(key)) continue
      const value = (from as Record<string, unknown>)[key]
      if (value === null || value === '') continue
      if (typeof value !== 'object') {
        if (this.#last.get(key) === value) continue
        this.#last.set(key, value)
      } else {
        settled = false
        if (!isKeepable(value)) continue
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
