import { createStreamAccumulator } from '../accumulate/accumulator.ts'
import type { StreamAccumulator } from '../accumulate/accumulator.ts'
import type { StreamChunk, ToolCallDelta } from '../chunk/chunk.ts'
import type { StreamFault } from '../chunk/fault.ts'
import type { StreamEvent } from '../chunk/stream-event.ts'
import type { TokenUsage } from '../chunk/usage.ts'
import { utf8Length } from '../json/utf8-length.ts'
import type { ToolCallMachine } from '../tool-call/machine.ts'
import { ChoiceBoard } from './choice-board.ts'
import type { Timeline } from './timeline.ts'

/** What an answer gets its first event from. */
export interface AnswerOrigin {
  readonly api: string
  readonly attempt: number
}

/** What the response has said so far: chunks in, events out. */
export class Answer {
  readonly accumulator: StreamAccumulator = createStreamAccumulator()
  readonly calls: ToolCallMachine
  readonly choices: ChoiceBoard = new ChoiceBoard()
  /** Output was given out: it is too late for a silent retry. */
  committed = false
  usage: TokenUsage | undefined
  chunks = 0
  /** Of visible text, in UTF-8. */
  textBytes = 0
  argumentBytes = 0
  readonly #origin: AnswerOrigin
  readonly #timeline: Timeline

  constructor(calls: ToolCallMachine, timeline: Timeline, origin: AnswerOrigin) {
    this.calls = calls
    this.#timeline = timeline
    this.#origin = origin
  }

  /** Takes a chunk, and adds to `events` what it means. Gives the fault that it ends the stream with, without its position. */
  take(chunk: StreamChunk, events: StreamEvent[]): StreamFault | undefined {
    this.chunks++
    if (chunk.type === 'error') return chunk.error
    if (chunk.type === 'tool-call-delta') return this.#takeCall(chunk, events)
    this.accumulator.push(chunk)
    switch (chunk.type) {
      case 'text-delta': {
        events.push({ type: 'text_delta', choice: chunk.choice ?? 0, block: chunk.index, text: chunk.text })
        const bytes = utf8Length(chunk.text)
        this.textBytes += bytes
        this.#timeline.text()
        this.#outputCame(bytes)
        break
      }
      case 'reasoning-delta':
        events.push({ type: 'reasoning_delta', choice: chunk.choice ?? 0, block: chunk.index, text: chunk.text })
        this.#outputCame(utf8Length(chunk.text))
        break
      case 'refusal-delta':
        events.push({ type: 'refusal_delta', choice: chunk.choice ?? 0, block: chunk.index, text: chunk.text })
        this.#outputCame(utf8Length(chunk.text))
        break
      case 'block-end':
        return this.calls.push(chunk, events)
      case 'start': {
        const { id, model } = chunk
        const { api, attempt } = this.#origin
        events.push({
          type: 'stream_started',
          api,
          ...(id !== undefined && { id }),
          ...(model !== undefined && { model }),
          attempt,
        })
        break
      }
      case 'usage':
        if (!sameUsage(this.usage, chunk.usage)) events.push({ type: 'usage', usage: chunk.usage })
        this.usage = chunk.usage
        break
      case 'finish':
        this.choices.get(chunk.choice ?? 0).finish = { reason: chunk.reason, raw: chunk.raw ?? null }
        break
      case 'block-start':
      case 'metadata':
        break
    }
    return undefined
  }

  #takeCall(chunk: ToolCallDelta, events: StreamEvent[]): StreamFault | undefined {
    const bytes = utf8Length(chunk.argumentsDelta)
    this.#timeline.arguments(chunk.id, bytes)
    if (chunk.name) this.#timeline.toolName()
    this.#outputCame(bytes)
    const fault = this.calls.push(chunk, events)
    if (fault === undefined) this.argumentBytes += bytes
    // Arguments that are too long are kept nowhere; the call that they were for is still shown.
    this.accumulator.push(fault === undefined ? chunk : { ...chunk, argumentsDelta: '' })
    return fault
  }

  #outputCame(bytes: number): void {
    this.committed = true
    this.#timeline.progress(bytes)
  }
}

function sameUsage(a: TokenUsage | undefined, b: TokenUsage): boolean {
  return (
    a !== undefined &&
    a.inputTokens === b.inputTokens &&
    a.outputTokens === b.outputTokens &&
    a.totalTokens === b.totalTokens &&
    a.reasoningTokens === b.reasoningTokens &&
    a.cachedInputTokens === b.cachedInputTokens
  )
}
