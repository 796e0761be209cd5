import type { StreamChunk, ToolCallDelta } from '../chunk/chunk.ts'
import { blockKey } from './block-key.ts'

type TextDelta = Extract<StreamChunk, { readonly type: 'text-delta' | 'reasoning-delta' | 'refusal-delta' }>
type BlockEnd = Extract<StreamChunk, { readonly type: 'block-end' }>

/**
 * What every block was written with. Some APIs restate a block at its end: what the deltas did not have is still to be written, and
 * what contradicts them can't be, for nothing that was written can be taken back.
 */
export class RestatedBlocks {
  readonly #written = new Map<string, string>()

  add(chunk: TextDelta | ToolCallDelta): void {
    const key = blockKey(chunk)
    const text = chunk.type === 'tool-call-delta' ? chunk.argumentsDelta : chunk.text
    this.#written.set(key, (this.#written.get(key) ?? '') + text)
  }

  /** What is still to be written of the block that ends here. */
  rest(chunk: BlockEnd): TextDelta | ToolCallDelta | 'contradiction' | undefined {
    const { block, choice, index } = chunk
    if (block === undefined || block.type === 'opaque') return undefined
    const whole = block.type === 'tool-call' ? block.argumentsText : block.text
    const written = this.#written.get(blockKey(chunk)) ?? ''
    if (!whole.startsWith(written)) return 'contradiction'
    if (whole.length === written.length) return undefined
    const rest = whole.slice(written.length)
    const place = { ...(choice !== undefined && { choice }), index }
    return block.type === 'tool-call'
      ? { type: 'tool-call-delta', ...place, id: block.callId, argumentsDelta: rest }
      : { type: `${block.type}-delta`, ...place, text: rest }
  }
}
