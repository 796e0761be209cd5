import type { IndexKey } from '../slot.ts'
import type { AdapterOutput } from '../adapter.ts'
import { isKeepable } from '../kept-value.ts'
import { TextBlockWriter } from '../text-block.ts'

/** A content block of the wire that is no call. Both kinds are given out as they come and closed by their stop. */
export interface ContentBlock {
  readonly key: IndexKey
  open: boolean
  stop(out: AdapterOutput): void
  /** The wire has ended without closing it: gives out what was held back. */
  abandon(out: AdapterOutput): void
}

/** Text or thinking. What must be echoed with it (citations, a signature) becomes its metadata. */
export class ProseBlock implements ContentBlock {
  readonly key: IndexKey
  readonly type: 'text' | 'reasoning'
  open = true
  readonly #index: number
  readonly #writer: TextBlockWriter
  #kept: Record<string, unknown> | undefined
  #citations: unknown[] | undefined

  constructor(key: IndexKey, type: 'text' | 'reasoning', index: number) {
    this.key = key
    this.type = type
    this.#index = index
    this.#writer = new TextBlockWriter(type, 0, index)
  }

  begin(out: AdapterOutput): void {
    out.chunks.push({ type: 'block-start', index: this.#index, blockType: this.type })
  }

  append(text: string, out: AdapterOutput): void {
    this.#writer.write(text, out)
  }

  keep(key: string, value: unknown): void {
    if (!isKeepable(value)) return
    this.#kept ??= Object.create(null) as Record<string, unknown>
    this.#kept[key] = value
  }

  cite(citation: unknown): void {
    if (isKeepable(citation)) (this.#citations ??= []).push(citation)
  }

  stop(out: AdapterOutput): void {
    this.open = false
    this.#writer.end(out, this.#metadata())
  }

  abandon(out: AdapterOutput): void {
    this.#writer.flush(out)
    const metadata = this.#metadata()
    if (metadata !== undefined) {
      out.chunks.push({ type: 'block-start', index: this.#index, blockType: this.type, metadata })
    }
  }

  #metadata(): Record<string, unknown> | undefined {
    if (this.#citations === undefined) return this.#kept
    return { ...this.#kept, citations: this.#citations }
  }
}

/** Fields of a block that come in deltas. A delta that makes up a new one each time must not make every later one slower. */
const MOST_FIELDS = 256

/** A block that only the provider reads: results of its own tools, redacted thinking, a compaction, and kinds not known yet. */
export class OpaqueBlock implements ContentBlock {
  readonly key: IndexKey
  open = true
  readonly #index: number
  readonly #blockType: 'opaque' | 'reasoning'
  readonly #deltas: unknown[] = []
  /** Fields that came in deltas. */
  readonly #extended = new Set<string>()

  constructor(key: IndexKey, blockType: 'opaque' | 'reasoning', index: number) {
    this.key = key
    this.#blockType = blockType
    this.#index = index
  }

  /** Gives out its fields as sent. */
  show(metadata: Readonly<Record<string, unknown>>, out: AdapterOutput): void {
    out.chunks.push({ type: 'block-start', index: this.#index, blockType: this.#blockType, metadata })
  }

  /** Gives out fields that a delta set anew. Returns false when there are more of them than are kept. */
  extend(fields: Readonly<Record<string, unknown>>, out: AdapterOutput): boolean {
    for (const key of Object.keys(fields)) this.#extended.add(key)
    if (this.#extended.size > MOST_FIELDS) return false
    this.show(fields, out)
    return true
  }

  /** A delta whose meaning is not known is kept beside the block. */
  keepDelta(delta: unknown): void {
    if (isKeepable(delta)) this.#deltas.push(delta)
  }

  stop(out: AdapterOutput): void {
    this.open = false
    const index = this.#index
    if (this.#deltas.length === 0) out.chunks.push({ type: 'block-end', index })
    else out.chunks.push({ type: 'block-end', index, metadata: { deltas: this.#deltas } })
  }

  abandon(out: AdapterOutput): void {
    if (this.#deltas.length > 0) this.show({ deltas: this.#deltas }, out)
  }
}
