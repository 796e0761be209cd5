import type { StreamChunk, ToolCallDelta } from '../chunk/chunk.ts'
import type { ContentBlock, TextBlock } from '../chunk/content-block.ts'
import { GrowingText, GrowingToolCall } from './block.ts'
import type { GrowingBlock } from './block.ts'
import { GrowingMetadata } from './metadata.ts'
import type { ChoiceSnapshot } from './snapshot.ts'

type Chunk<Type extends StreamChunk['type']> = Extract<StreamChunk, { type: Type }>

/** One choice while it grows. Only what changed is built anew for a snapshot. */
export class GrowingChoice {
  readonly index: number
  readonly metadata: GrowingMetadata = new GrowingMetadata()
  finish: ChoiceSnapshot['finish']
  readonly #blocks = new Map<number, GrowingBlock>()
  #sorted: GrowingBlock[] = []
  /** The blocks as last shown; entries are replaced by copying the list once per snapshot. */
  #shown: readonly ContentBlock[] = []
  readonly #changed = new Set<GrowingBlock>()
  #view: ChoiceSnapshot | undefined

  constructor(index: number) {
    this.index = index
  }

  appendText(type: TextBlock['type'], index: number, text: string): void {
    const block = this.#blocks.get(index)
    if (block instanceof GrowingText) {
      block.append(text)
      this.#touch(block)
      return
    }
    if (block !== undefined) return
    const opened = new GrowingText(type, index)
    opened.append(text)
    this.#open(opened)
  }

  appendToolCall(delta: ToolCallDelta): void {
    const block = this.#blocks.get(delta.index)
    if (block instanceof GrowingToolCall) {
      block.append(delta)
      this.#touch(block)
      return
    }
    if (block !== undefined) return
    const opened = new GrowingToolCall(delta.index, delta.id)
    opened.append(delta)
    this.#open(opened)
  }

  startBlock(chunk: Chunk<'block-start'>): void {
    if (this.#blocks.has(chunk.index) || chunk.blockType === 'tool-call') return
    this.#open(new GrowingText(chunk.blockType, chunk.index))
  }

  endBlock(chunk: Chunk<'block-end'>): void {
    let block = this.#blocks.get(chunk.index)
    if (block === undefined) {
      if (chunk.block === undefined) return
      block =
        chunk.block.type === 'tool-call'
          ? new GrowingToolCall(chunk.index, chunk.block.callId)
          : new GrowingText(chunk.block.type, chunk.index)
      this.#open(block)
    }
    block.end(chunk.block, 'done')
    this.#touch(block)
  }

  setFinish(finish: NonNullable<ChoiceSnapshot['finish']>): void {
    this.finish = finish
    this.#view = undefined
  }

  /** The stream is over: what is still open was interrupted. */
  close(): void {
    for (const block of this.#sorted) {
      if (block.status !== 'streaming') continue
      block.end(undefined, 'interrupted')
      this.#touch(block)
    }
  }

  text(type: TextBlock['type']): string {
    let text = ''
    for (const block of this.#sorted) if (block instanceof GrowingText && block.type === type) text += block.text
    return text
  }

  toolCalls(): readonly GrowingToolCall[] {
    return this.#sorted.filter((block) => block instanceof GrowingToolCall)
  }

  touchMetadata(): void {
    this.#view = undefined
  }

  view(): ChoiceSnapshot {
    if (this.#view !== undefined) return this.#view
    const metadata = this.metadata.view()
    return (this.#view = {
      index: this.index,
      blocks: this.#showBlocks(),
      ...(this.finish !== undefined && { finish: this.finish }),
      ...(metadata !== undefined && { metadata }),
    })
  }

  #showBlocks(): readonly ContentBlock[] {
    if (this.#changed.size === 0) return this.#shown
    if (this.#shown.length !== this.#sorted.length) {
      this.#shown = this.#sorted.map((block) => block.view())
    } else {
      const blocks = this.#shown.slice()
      for (const block of this.#changed) blocks[this.#sorted.indexOf(block)] = block.view()
      this.#shown = blocks
    }
    this.#changed.clear()
    return this.#shown
  }

  #open(block: GrowingBlock): void {
    this.#blocks.set(block.index, block)
    this.#sorted.push(block)
    const before = this.#sorted[this.#sorted.length - 2]
    if (before !== undefined && before.index > block.index) this.#sorted.sort((a, b) => a.index - b.index)
    this.#touch(block)
  }

  #touch(block: GrowingBlock): void {
    this.#changed.add(block)
    this.#view = undefined
  }
}
