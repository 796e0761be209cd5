import type { BlockStatus, ContentBlock, TextBlock, ToolCallBlock } from '../chunk/content-block.ts'
import type { StreamChunk, ToolCallDelta } from '../chunk/chunk.ts'

type Mutable<Type> = { -readonly [Key in keyof Type]: Type[Key] }
type AuthoritativeBlock = Extract<StreamChunk, { type: 'block-end' }>['block']
type BlockMetadata = Readonly<Record<string, unknown>>

/** A block while it grows. `view()` gives the immutable form and gives the same object until the block changes. */
export interface GrowingBlock {
  readonly index: number
  end(block: AuthoritativeBlock, status: BlockStatus, metadata?: BlockMetadata): void
  /** Takes provider fields; a later value of a key wins. */
  keep(metadata: BlockMetadata): void
  readonly status: BlockStatus
  view(): ContentBlock
}

export class GrowingText implements GrowingBlock {
  readonly type: TextBlock['type']
  readonly index: number
  status: BlockStatus = 'streaming'
  /** Grows by `+=`, which engines keep as a rope: nothing is copied until somebody reads it. */
  text = ''
  #metadata: BlockMetadata | undefined
  #view: TextBlock | undefined

  constructor(type: TextBlock['type'], index: number) {
    this.type = type
    this.index = index
  }

  append(text: string): void {
    this.text += text
    this.status = 'streaming'
    this.#view = undefined
  }

  end(block: AuthoritativeBlock, status: BlockStatus, metadata?: BlockMetadata): void {
    if (block !== undefined && block.type !== 'tool-call') {
      this.text = block.text
      this.#metadata = merged(this.#metadata, block.metadata)
    }
    this.#metadata = merged(this.#metadata, metadata)
    this.status = status
    this.#view = undefined
  }

  keep(metadata: BlockMetadata): void {
    this.#metadata = merged(this.#metadata, metadata)
    this.#view = undefined
  }

  view(): TextBlock {
    if (this.#view !== undefined) return this.#view
    const { type, index, text, status } = this
    const metadata = this.#metadata
    this.#view = metadata === undefined ? { type, index, text, status } : { type, index, text, status, metadata }
    return this.#view
  }
}

export class GrowingToolCall implements GrowingBlock {
  readonly index: number
  readonly callId: string
  status: BlockStatus = 'streaming'
  argumentsText = ''
  name: string | undefined
  #providerCallId: string | undefined
  #providerExecuted = false
  #freeText = false
  #metadata: BlockMetadata | undefined
  #view: ToolCallBlock | undefined

  constructor(index: number, callId: string) {
    this.index = index
    this.callId = callId
  }

  append(delta: ToolCallDelta): void {
    this.argumentsText += delta.argumentsDelta
    if (delta.name !== undefined) this.name = delta.name
    if (delta.providerCallId !== undefined) this.#providerCallId = delta.providerCallId
    if (delta.providerExecuted === true) this.#providerExecuted = true
    if (delta.freeText === true) this.#freeText = true
    this.#metadata = merged(this.#metadata, delta.metadata)
    this.#view = undefined
  }

  end(block: AuthoritativeBlock, status: BlockStatus, metadata?: BlockMetadata): void {
    if (block?.type === 'tool-call') {
      // What the fragments said stays; whether the wire contradicts itself is judged where calls are acted on.
      if (this.argumentsText === '') this.argumentsText = block.argumentsText
      this.name ??= block.name
      this.#providerCallId ??= block.providerCallId
      if (block.providerExecuted === true) this.#providerExecuted = true
      if (block.freeText === true) this.#freeText = true
      this.#metadata = merged(this.#metadata, block.metadata)
    }
    this.#metadata = merged(this.#metadata, metadata)
    this.status = status
    this.#view = undefined
  }

  keep(metadata: BlockMetadata): void {
    this.#metadata = merged(this.#metadata, metadata)
    this.#view = undefined
  }

  view(): ToolCallBlock {
    if (this.#view !== undefined) return this.#view
    // Written out: spreading conditions is what would cost the most in a snapshot after each delta.
    const { index, callId, argumentsText, status } = this
    const view: Mutable<ToolCallBlock> = { type: 'tool-call', index, callId, argumentsText, status }
    if (this.name !== undefined) view.name = this.name
    if (this.#providerCallId !== undefined) view.providerCallId = this.#providerCallId
    if (this.#providerExecuted) view.providerExecuted = true
    if (this.#freeText) view.freeText = true
    if (this.#metadata !== undefined) view.metadata = this.#metadata
    this.#view = view
    return view
  }
}

/** A new object for each change, so that views that were given out stay as they are. */
function merged(known: BlockMetadata | undefined, added: BlockMetadata | undefined): BlockMetadata | undefined {
  return added === undefined ? known : { ...known, ...added }
}
