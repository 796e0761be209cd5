import type { StreamChunk } from '../chunk/chunk.ts'
import type { ToolCallBlock } from '../chunk/content-block.ts'
import type { TokenUsage } from '../chunk/usage.ts'
import { GrowingChoice } from './choice.ts'
import { GrowingMetadata } from './metadata.ts'
import type { StreamSnapshot } from './snapshot.ts'

export interface StreamAccumulator {
  /** Takes the next chunk. Never throws; a chunk that fits nothing changes nothing. */
  push(chunk: StreamChunk): void
  /** The immutable state so far; see {@link StreamSnapshot}. */
  snapshot(): StreamSnapshot
  /** Text of a choice (default 0): its text blocks in block order. Reading it flattens the text, which costs its length. */
  text(choice?: number): string
  reasoning(choice?: number): string
  refusal(choice?: number): string
  /** Calls of a choice (default 0) with raw argument text: for showing, never for running. */
  toolCalls(choice?: number): readonly ToolCallBlock[]
  /** The stream is over: blocks that were not ended are marked `interrupted`. */
  close(): void
  /** Back to empty, for the next attempt. */
  reset(): void
}

/**
 * Folds chunks into what may be shown: one state, no history. It groups by choice and block index, never by arrival order,
 * and knows nothing about whether a call may be run.
 */
export function createStreamAccumulator(): StreamAccumulator {
  return new Accumulator()
}

type Mutable<Type> = { -readonly [Key in keyof Type]: Type[Key] }

class Accumulator implements StreamAccumulator {
  #choices = new Map<number, GrowingChoice>()
  #sorted: GrowingChoice[] = []
  #first: GrowingChoice | undefined
  #metadata = new GrowingMetadata()
  #id: string | undefined
  #model: string | undefined
  #usage: TokenUsage | undefined
  #ended = false
  #version = 0
  #view: StreamSnapshot | undefined

  push(chunk: StreamChunk): void {
    if (this.#take(chunk)) this.#changed()
  }

  /** False when the chunk changes nothing. */
  #take(chunk: StreamChunk): boolean {
    switch (chunk.type) {
      case 'text-delta':
        return this.#choice(chunk.choice).appendText('text', chunk.index, chunk.text)
      case 'tool-call-delta':
        return this.#choice(chunk.choice).appendToolCall(chunk)
      case 'reasoning-delta':
        return this.#choice(chunk.choice).appendText('reasoning', chunk.index, chunk.text)
      case 'refusal-delta':
        return this.#choice(chunk.choice).appendText('refusal', chunk.index, chunk.text)
      case 'block-start':
        // A call is shown from its first delta on, which has its id.
        return chunk.blockType !== 'tool-call' && this.#choice(chunk.choice).startBlock(chunk, chunk.blockType)
      case 'block-end':
        if (chunk.block === undefined) return this.#choices.get(chunk.choice ?? 0)?.endBlock(chunk) === true
        return this.#choice(chunk.choice).endBlock(chunk)
      case 'start': {
        const news =
          (this.#id === undefined && chunk.id !== undefined) || (this.#model === undefined && chunk.model !== undefined)
        this.#id ??= chunk.id
        this.#model ??= chunk.model
        return news
      }
      case 'usage':
        this.#usage = chunk.usage
        return true
      case 'metadata':
        if (chunk.choice === undefined) this.#metadata.take(chunk)
        else this.#choice(chunk.choice).takeMetadata(chunk)
        return true
      case 'finish':
        this.#choice(chunk.choice).setFinish({ reason: chunk.reason, raw: chunk.raw ?? null })
        return true
      case 'error':
        return false
    }
  }

  snapshot(): StreamSnapshot {
    if (this.#view !== undefined) return this.#view
    const metadata = this.#metadata.view()
    const sorted = this.#sorted
    const choices = sorted.length === 1 ? [sorted[0]!.view()] : sorted.map((choice) => choice.view())
    const version = this.#version
    const ended = this.#ended
    const id = this.#id
    const model = this.#model
    const usage = this.#usage
    // Whole literals for the common shapes: adding properties to an object costs more than all the rest here.
    if (id !== undefined && model !== undefined && usage === undefined) {
      this.#view =
        metadata === undefined
          ? { version, choices, ended, id, model }
          : { version, choices, ended, id, model, metadata }
      return this.#view
    }
    const view: Mutable<StreamSnapshot> = { version, choices, ended }
    if (id !== undefined) view.id = id
    if (model !== undefined) view.model = model
    if (usage !== undefined) view.usage = usage
    if (metadata !== undefined) view.metadata = metadata
    this.#view = view
    return view
  }

  text(choice = 0): string {
    return this.#choices.get(choice)?.text('text') ?? ''
  }

  reasoning(choice = 0): string {
    return this.#choices.get(choice)?.text('reasoning') ?? ''
  }

  refusal(choice = 0): string {
    return this.#choices.get(choice)?.text('refusal') ?? ''
  }

  toolCalls(choice = 0): readonly ToolCallBlock[] {
    return (
      this.#choices
        .get(choice)
        ?.toolCalls()
        .map((block) => block.view()) ?? []
    )
  }

  close(): void {
    this.#changed()
    this.#ended = true
    for (const choice of this.#sorted) choice.close()
  }

  reset(): void {
    this.#choices = new Map()
    this.#sorted = []
    this.#first = undefined
    this.#metadata = new GrowingMetadata()
    this.#id = undefined
    this.#model = undefined
    this.#usage = undefined
    this.#ended = false
    // The version goes on: a view of the attempt before must not be taken for one of the next.
    this.#changed()
  }

  #changed(): void {
    this.#version++
    this.#view = undefined
  }

  #choice(index = 0): GrowingChoice {
    if (index === 0 && this.#first !== undefined) return this.#first
    const known = this.#choices.get(index)
    if (known !== undefined) return known
    const choice = new GrowingChoice(index)
    this.#choices.set(index, choice)
    this.#sorted.push(choice)
    this.#sorted.sort((a, b) => a.index - b.index)
    if (index === 0) this.#first = choice
    return choice
  }
}
