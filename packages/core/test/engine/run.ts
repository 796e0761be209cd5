import { expect } from 'vitest'
import { chatCompletions } from '../../src/adapters/openai-chat/adapter.ts'
import type { ProviderProfile } from '../../src/adapters/profile.ts'
import type { StreamEvent } from '../../src/chunk/stream-event.ts'
import { createStreamEngine } from '../../src/engine/engine.ts'
import type { EndCause, StreamEngine, StreamEngineOptions } from '../../src/engine/stream-engine.ts'
import type { StreamReport } from '../../src/engine/report.ts'
import type { ResponseHead } from '../../src/engine/response-head.ts'

const encoder = new TextEncoder()

export interface RunOptions extends Partial<StreamEngineOptions> {
  readonly profile?: ProviderProfile
  readonly head?: ResponseHead
  /** Time of day, for dates in the head. */
  readonly nowMs?: number
}

export interface Ran {
  readonly engine: StreamEngine
  readonly events: readonly StreamEvent[]
  /** The one terminal event. */
  readonly end: Extract<StreamEvent, { type: 'stream_completed' | 'stream_error' }>
  readonly report: StreamReport
}

export type Reads = string | Uint8Array | readonly (string | Uint8Array)[]

export function engineWith({ profile, head, nowMs, ...options }: RunOptions = {}): StreamEngine {
  const engine = createStreamEngine({ adapter: chatCompletions(profile), ...options })
  if (head !== undefined) engine.response(head, undefined, nowMs)
  return engine
}

/** Reads as bytes. */
export function readsOf(reads: Reads): readonly Uint8Array[] {
  const list = typeof reads === 'string' || reads instanceof Uint8Array ? [reads] : reads
  return list.map((read) => (typeof read === 'string' ? encoder.encode(read) : read))
}

/** Feeds an engine to its end, and makes sure that there is one terminal event and then silence. */
export function run(reads: Reads, cause: EndCause = 'eof', options?: RunOptions): Ran {
  const engine = engineWith(options)
  const events: StreamEvent[] = []
  for (const read of readsOf(reads)) events.push(...engine.push(read))
  events.push(...engine.end(cause))
  const report = engine.report()
  return { engine, events, end: expectOneEnd(engine, events), report }
}

export function expectOneEnd(engine: StreamEngine, events: readonly StreamEvent[]): Ran['end'] {
  const ends = events.filter((event) => event.type === 'stream_completed' || event.type === 'stream_error')
  expect(ends).toEqual(events.slice(-1))
  expect(engine.ended).toBe(true)
  expect(engine.deadline()).toBeUndefined()
  expect(engine.push(encoder.encode('data: {"choices":[{"delta":{"content":"late"}}]}\n\n'))).toEqual([])
  expect(engine.end('eof')).toEqual([])
  expect(engine.end('aborted')).toEqual([])
  return ends[0]!
}

/** Call ids that were released, in order. */
export function released(events: readonly StreamEvent[]): readonly string[] {
  return events.flatMap((event) => (event.type === 'tool_batch_ready' ? event.calls.map(({ callId }) => callId) : []))
}

/** State and code of every call of a report: `complete batch_held`. */
export function callStates(report: StreamReport): readonly string[] {
  return report.choices.flatMap(({ toolCalls }) => toolCalls.map(({ state, code }) => `${state} ${code}`))
}

export function found(report: StreamReport): readonly string[] {
  return report.diagnostics.map(({ code }) => code)
}
