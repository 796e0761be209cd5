import type { AdapterOutput } from '../adapter.ts'
import { isKeepable } from '../kept-value.ts'
import { identity } from '../wire-value.ts'
import type { BlockNumbers } from './text-item.ts'

type Raw = Readonly<Record<string, unknown>>

/** An item that is neither text nor a call (the output of a hosted tool, a compacted history): kept whole in its place, to be echoed. */
export class OpaqueItem {
  readonly kind = 'opaque'
  readonly type: string
  id: string | undefined
  done = false
  readonly #blocks: BlockNumbers

  constructor(type: string, raw: Raw, blocks: BlockNumbers) {
    this.type = type
    this.id = identity(raw['id'])
    this.#blocks = blocks
  }

  restate(raw: Raw, out: AdapterOutput): void {
    this.id = identity(raw['id']) ?? this.id
    if (this.done || !isKeepable(raw)) return
    this.done = true
    const index = this.#blocks.next()
    out.chunks.push({ type: 'block-start', index, blockType: 'opaque' })
    out.chunks.push({ type: 'block-end', index, metadata: { item: raw } })
  }
}
