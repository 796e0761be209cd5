import type { StreamChunk, ToolCallDelta } from '../chunk/chunk.ts'
import type { StreamFault } from '../chunk/fault.ts'
import { permitsToolCalls } from '../chunk/finish-reason.ts'
import type { ReadyToolCall, StreamEvent } from '../chunk/stream-event.ts'
import { blockKey } from '../server/block-key.ts'
import { isRefused } from './refused-call.ts'
import type { RefusedCall } from './refused-call.ts'

type CallChunk = ToolCallDelta | Extract<StreamChunk, { readonly type: 'block-end' }>

export interface ChunkTapOptions {
  /** The reader looks at refused calls itself. */
  readonly passRefused?: boolean
  /** Calls may be repaired: they are held back until it is known with what, for a fragment can't be taken back. */
  readonly repairs?: boolean
}

/**
 * The chunks behind the events of an engine, ended by what the engine made of them. A chunk says what came; that the stream was cut,
 * or that a call in it must not be run, only the engine knows, and whoever gets the chunks passed on has to know it too.
 */
export class ChunkTap {
  #chunks: StreamChunk[] = []
  /** Why a choice ended is said after it is known whether its calls are good. */
  #finishes: Extract<StreamChunk, { readonly type: 'finish' }>[] = []
  readonly #refused = new Map<number, RefusedCall>()
  readonly #options: ChunkTapOptions
  /** Fragments of calls that may have to be repaired. */
  #held: CallChunk[] = []
  readonly #repaired = new Map<string, ReadyToolCall>()

  constructor(options: ChunkTapOptions = {}) {
    this.#options = options
  }

  /** A new attempt: nothing of an earlier one is left. Gives the engine's `onChunk`. */
  begin(): (chunk: StreamChunk) => void {
    this.#chunks = []
    this.#finishes = []
    this.#held = []
    this.#refused.clear()
    this.#repaired.clear()
    return (chunk) => {
      if (chunk.type === 'finish') this.#finishes.push(chunk)
      else if (this.#options.repairs === true && this.#isOfCall(chunk)) this.#held.push(chunk)
      else if (chunk.type !== 'error') this.#chunks.push(chunk)
    }
  }

  /** The chunks that belong to these events, the next ones that the engine gave out. */
  take(events: readonly StreamEvent[]): readonly StreamChunk[] {
    const last = events.at(-1)
    if (last === undefined || last.type === 'attempt_failed') return []
    for (const event of events) {
      if (event.type === 'tool_call_ready' && event.repairs !== undefined) this.#repaired.set(event.callId, event)
      if (isRefused(event)) this.#refused.set(event.choice, event)
    }
    const chunks = this.#chunks
    this.#chunks = []
    if (last.type === 'stream_error') {
      const { type: _, outcome: __, finish: ___, ...error } = last
      return [...chunks, ...this.#held, { type: 'error', error }]
    }
    if (last.type !== 'stream_completed') return chunks
    const error = this.#fault()
    const all = [...chunks, ...this.#mended()]
    return error === undefined ? [...all, ...this.#finishes] : [...all, { type: 'error', error }]
  }

  #isOfCall(chunk: StreamChunk): chunk is CallChunk {
    if (chunk.type !== 'block-end') return chunk.type === 'tool-call-delta'
    return this.#held.some(({ choice, index }) => choice === chunk.choice && index === chunk.index)
  }

  /** What was held back, with the arguments of repaired calls as they were parsed. */
  #mended(): readonly StreamChunk[] {
    const written = new Set<string>()
    const ends = new Set<string>()
    return this.#held.flatMap((chunk): readonly StreamChunk[] => {
      const place = blockKey(chunk)
      if (chunk.type === 'block-end') {
        const { block: _, ...end } = chunk
        return [ends.has(place) ? end : chunk]
      }
      const call = this.#repaired.get(chunk.id)
      if (call === undefined) return [chunk]
      ends.add(place)
      const argumentsDelta = written.has(call.callId) ? '' : JSON.stringify(call.parsedArguments)
      written.add(call.callId)
      return [{ ...chunk, argumentsDelta }]
    })
  }

  /** The wire closed its calls well, but they were refused: passed on like this, they would be run downstream. */
  #fault(): StreamFault | undefined {
    if (this.#options.passRefused === true) return undefined
    for (const { choice = 0, reason } of this.#finishes) {
      const refused = this.#refused.get(choice)
      if (refused === undefined || !permitsToolCalls(reason)) continue
      const name = refused.name === undefined ? 'a call' : `the call of ${refused.name}`
      return {
        code: refused.code,
        phase: refused.type === 'tool_call_failed' ? refused.phase : 'call',
        retryable: 'restart',
        choice,
        callId: refused.callId,
        message: `${name} was refused (${refused.code}), so the answer that holds it is not passed on as a good one`,
      }
    }
    return undefined
  }
}
