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
  /** The block that changed last since then, and the others: nearly always there is one, and a set costs more than the rest. */
  #changed: GrowingBlock | undefined
  readonly #changedBefore = new Set<GrowingBlock>()
  #view: ChoiceSnapshot | undefined

  constructor(index: number) {
    this.index = index
  }

  /** False when the block is a call: text then fits nothing. */
  appendText(type: TextBlock['type'], index: number, text: string): boolean {
    const block = this.#blockAt(index)
    if (block instanceof GrowingText) {
      block.append(text)
      this.#touch(block)
      return true
    }
    if (block !== undefined) return false
    const opened = new GrowingText(type, index)
    opened.append(text)
    this.#open(opened)
    return true
  }

  appendToolCall(delta: ToolCallDelta): boolean {
    const block = this.#blockAt(delta.index)
    if (block instanceof GrowingToolCall) {
      block.append(delta)
      this.#touch(block)
      return true
    }
    if (block !== undefined) return false
    const opened = new GrowingToolCall(delta.index, delta.id)
    opened.append(delta)
    this.#open(opened)
    return true
  }

  startBlock({ index, metadata }: Chunk<'block-start'>, type: TextBlock['type']): boolean {
    let block = this.#blocks.get(index)
    if (block !== undefined && metadata === undefined) return false
    if (block === undefined) {
      block = new GrowingText(type, index)
      this.#open(block)
    }
    if (metadata !== undefined) block.keep(metadata)
    this.#touch(block)
    return true
  }

  endBlock({ index, block: restated, metadata }: Chunk<'block-end'>): boolean {
    let block = this.#blocks.get(index)
    if (block === undefined) {
      if (restated === undefined) return false
      block =
        restated.type === 'tool-call'
          ? new GrowingToolCall(index, restated.callId)
          : new GrowingText(restated.type, index)
      this.#open(block)
    }
    block.end(restated, 'done', metadata)
    this.#touch(block)
    return true
  }

  takeMetadata(chunk: Chunk<'metadata'>): void {
    this.metadata.take(chunk)
    this.#view = undefined
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

  view(): ChoiceSnapshot {
    if (this.#view !== undefined) return this.#view
    const metadata = this.metadata.view()
    const { index, finish } = this
    const blocks = this.#showBlocks()
    this.#view =
      finish === undefined && metadata === undefined
        ? { index, blocks }
        : {
            index,
            blocks,
            ...(finish !== undefined && { finish }),
            ...(metadata !== undefined && { metadata }),
          }
    return this.#view
  }

  #showBlocks(): readonly ContentBlock[] {
    const changed = this.#changed
    if (changed === undefined) return this.#shown
    const sorted = this.#sorted
    if (this.#shown.length !== sorted.length) this.#shown = sorted.map((block) => block.view())
    else if (sorted.length === 1) this.#shown = [changed.view()]
    else {
      const blocks = this.#shown.slice()
      blocks[this.#placeOf(changed)] = changed.view()
      if (this.#changedBefore.size > 0) {
        for (const block of this.#changedBefore) blocks[this.#placeOf(block)] = block.view()
      }
      this.#shown = blocks
    }
    this.#changed = undefined
    if (this.#changedBefore.size > 0) this.#changedBefore.clear()
    return this.#shown
  }

  /** Blocks are numbered as they are opened, as a rule: then the list has each at its number, without a look-up. */
  #blockAt(index: number): GrowingBlock | undefined {
    const block = this.#sorted[index]
    return block !== undefined && block.index === index ? block : this.#blocks.get(index)
  }

  /** Where the block stands in the list. */
  #placeOf(block: GrowingBlock): number {
    return this.#sorted[block.index] === block ? block.index : this.#sorted.indexOf(block)
  }

  #open(block: GrowingBlock): void {
    this.#blocks.set(block.index, block)
    this.#sorted.push(block)
    const before = this.#sorted[this.#sorted.length - 2]
    if (before !== undefined && before.index > block.index) this.#sorted.sort((a, b) => a.index - b.index)
    this.#touch(block)
  }

  #touch(block: GrowingBlock): void {
    if (block !== this.#changed) {
      if (this.#changed !== undefined) this.#changedBefore.add(this.#changed)
      this.#changed = block
    }
    this.#view = undefined
  }
}
