import { describe, expect, test } from 'vitest'
import { bedrockConverse } from '../../src/adapters/bedrock-converse/adapter.ts'
import { chunkMessage, join, message } from '../aws-event-stream/message.ts'
import { callsOf, findingsOf, reasoningOf, run, textOf, typesOf } from './run.ts'
import type { Run, RunOptions } from './run.ts'
import { sse } from './wire.ts'
import type { Json } from './wire.ts'

type Event = Readonly<Record<string, Json>>

const START: Event = { messageStart: { role: 'assistant' } }
const delta = (index: Json, content: Json): Event => ({
  contentBlockDelta: { contentBlockIndex: index, delta: content },
})
const text = (value: Json, index: Json = 0): Event => delta(index, { text: value })
const stop = (index: Json): Event => ({ contentBlockStop: { contentBlockIndex: index } })
const open = (index: Json, id: Json, name: Json, more: Event = {}): Event => ({
  contentBlockStart: { contentBlockIndex: index, start: { toolUse: { toolUseId: id, name, ...more } } },
})
const input = (index: Json, value: Json): Event => delta(index, { toolUse: { input: value } })
const call = (index: number, name: string, value: string): Event[] => [
  open(index, `tu_${index}`, name),
  input(index, value),
  stop(index),
]
const end = (stopReason: Json): Event => ({ messageStop: { stopReason } })
const USAGE: Event = {
  metadata: { usage: { inputTokens: 3, outputTokens: 4, totalTokens: 7 }, metrics: { latencyMs: 9 } },
}

/** The events as binary frames: the name of an event is a header, and its body the payload. */
function frames(events: readonly Event[]): Uint8Array {
  return join(
    ...events.flatMap((event) =>
      Object.entries(event).map(([type, body]) =>
        message(JSON.stringify({ ...(body as Event), p: 'abcd' }), {
          ':event-type': type,
          ':content-type': 'application/json',
          ':message-type': 'event',
        }),
      ),
    ),
  )
}

const exception = (type: string, said: string): Uint8Array =>
  message(JSON.stringify({ message: said }), { ':message-type': 'exception', ':exception-type': type })

/** Reads the events in all three forms, which must mean the same. */
function read(events: readonly Event[], options: RunOptions = {}): Run {
  const adapter = bedrockConverse(options.profile)
  const result = run(frames(events), { adapter, ...options })
  for (const body of [sse(...events), join(...events.map((event) => chunkMessage(JSON.stringify(event))))]) {
    expect(meaningOf(run(body, { adapter, ...options }))).toEqual(meaningOf(result))
  }
  return result
}

/** The events without where in the body they were. */
function meaningOf({ events }: Run): readonly unknown[] {
  return events.map((event) => ({ ...event, offset: undefined, message: undefined }))
}

describe('what rows of the catalogue look like in ConverseStream', () => {
  test('F042 — a call with empty input', () => {
    expect(callsOf(read([START, ...call(0, 'f', ''), end('tool_use'), USAGE]))).toEqual(['f() ready'])
  })

  test('F067 — interleaved blocks', () => {
    const events = [
      open(1, 'a', 'f'),
      open(2, 'b', 'g'),
      input(1, '{"x":'),
      input(2, '{"y":'),
      input(1, '1}'),
      input(2, '2}'),
    ]
    const result = read([START, text('hi'), ...events, stop(2), stop(1), end('tool_use'), USAGE])
    expect(callsOf(result)).toEqual(['f({"x":1}) ready', 'g({"y":2}) ready'])
    expect(textOf(result)).toBe('hi')
  })

  test('F083 — a tool that the provider runs is never offered, and its result passes through', () => {
    const result = read(
      [
        START,
        open(0, 'tu', 'search', { type: 'server_tool_use' }),
        input(0, '{"q":"x"}'),
        stop(0),
        { contentBlockStart: { contentBlockIndex: 1, start: { toolResult: { toolUseId: 'tu', status: 'success' } } } },
        delta(1, { toolResult: [{ text: 'found' }] }),
        stop(1),
        text('yes', 2),
        delta(2, { citation: { title: 't' } }),
        stop(2),
        end('end_turn'),
        USAGE,
      ],
      { request: { tools: ['search'] } },
    )
    expect(callsOf(result)).toEqual(['search({"q":"x"}) held: provider_executed'])
    expect(result.report).toMatchObject({ outcome: 'completed', choices: [{ finish: { reason: 'stop' } }] })
    expect(result.snapshot.choices[0]).toMatchObject({
      blocks: [
        { type: 'tool-call', providerExecuted: true },
        {
          type: 'opaque',
          metadata: { toolResult: { toolUseId: 'tu' }, deltas: [{ toolResult: [{ text: 'found' }] }] },
        },
        { type: 'text', text: 'yes' },
      ],
      metadata: { citations: [{ title: 't' }] },
    })
  })

  test.each([
    ['max_tokens', 'truncated'],
    ['model_context_window_exceeded', 'truncated'],
    ['guardrail_intervened', 'refused'],
    ['content_filtered', 'refused'],
    ['malformed_model_output', 'failed'],
    ['malformed_tool_use', 'failed'],
    ['something', 'degraded'],
  ])('F092 — %s with a whole call: %s, and the call is not run', (reason, outcome) => {
    const result = read([START, ...call(0, 'f', '{}'), end(reason), USAGE])
    expect(result.report.outcome).toBe(outcome)
    expect(typesOf(result)).not.toContain('tool_batch_ready')
  })

  test('F095 — no messageStop: a call that was closed is whole, and not run', () => {
    const result = read([START, ...call(0, 'f', '{}')])
    expect(callsOf(result)).toEqual(['f({}) held: incomplete_stream'])
    expect(result.report).toMatchObject({ outcome: 'incomplete', error: { code: 'incomplete_stream' } })
  })

  test('F095 — a block that was never closed is not run', () => {
    const result = read([START, open(0, 'a', 'f'), input(0, '{}'), end('tool_use'), USAGE])
    expect(callsOf(result)).toEqual(['f({}) held: missing_finish_reason'])
  })

  test('F101 — messageStop is the end, with metadata behind it, in front of it, or none', () => {
    for (const events of [[end('tool_use'), USAGE], [USAGE, end('tool_use')], [end('tool_use')]]) {
      const result = read([START, ...call(0, 'f', '{}'), ...events])
      expect(callsOf(result)).toEqual(['f({}) ready'])
      expect(result.report).toMatchObject({
        outcome: 'completed',
        usage: events.length === 1 ? null : { outputTokens: 4 },
      })
    }
  })

  test('F104 — metadata behind the stop is waited for', () => {
    const result = read([START, text('hi'), end('end_turn'), USAGE])
    expect(result.report.usage).toMatchObject({ inputTokens: 3, outputTokens: 4, totalTokens: 7 })
    expect(result.snapshot.metadata).toMatchObject({ metrics: { latencyMs: 9 } })
    expect(findingsOf(result)).toEqual([])
  })

  test.each([
    ['throttlingException', 'rate_limited', 429, 'restart'],
    ['validationException', 'upstream_error', 400, 'no'],
    ['internalServerException', 'upstream_error', 500, 'restart'],
    ['modelStreamErrorException', 'upstream_error', 502, 'restart'],
    ['serviceUnavailableException', 'upstream_error', 503, 'restart'],
  ])('F107 — %s, in a frame and as JSON', (type, code, status, retryable) => {
    const before = [START, text('hi')]
    const bodies = [join(frames(before), exception(type, 'no')), sse(...before, { [type]: { message: 'no' } })]
    for (const body of bodies) {
      const result = run(body, { adapter: bedrockConverse() })
      expect(result.report.error).toMatchObject({ code, status, retryable, provider: { code: type, message: 'no' } })
      expect(textOf(result)).toBe('hi')
    }
  })

  test('F107 — a message of type error has its code and text in the headers', () => {
    const error = message('', {
      ':message-type': 'error',
      ':error-code': 'internalServerException',
      ':error-message': 'no',
    })
    expect(run(join(frames([START]), error), { adapter: bedrockConverse() }).report.error).toMatchObject({
      code: 'upstream_error',
      status: 500,
      provider: { code: 'internalServerException', message: 'no' },
    })
  })

  test('F158 — input for a block that was never opened, or without an index, is a hole', () => {
    for (const bad of [input(7, '{}'), input(undefined, '{}'), input({}, '{}')]) {
      const result = read([START, open(0, 'a', 'f'), bad, input(0, '{}'), stop(0), end('tool_use'), USAGE])
      expect(callsOf(result)[0]).toMatch(/failed: invalid_event_json$/)
      expect(result.report.outcome).toBe('degraded')
    }
  })

  test('F160 — a second call under an index that is open is a conflict', () => {
    const result = read([
      START,
      open(0, 'a', 'f'),
      input(0, '{"x":'),
      open(0, 'b', 'g'),
      input(0, '1}'),
      stop(0),
      end('tool_use'),
      USAGE,
    ])
    expect(result.report).toMatchObject({ outcome: 'failed', error: { code: 'protocol_conflict' } })
  })

  test('F179 — a reasoning signature and redacted reasoning stay with their blocks', () => {
    const result = read([
      START,
      delta(0, { reasoningContent: { text: 'hm' } }),
      delta(0, { reasoningContent: { text: '' } }),
      delta(0, { reasoningContent: { signature: 'c2ln' } }),
      stop(0),
      delta(1, { reasoningContent: { redactedContent: 'ZW5j' } }),
      stop(1),
      text('yes', 2),
      stop(2),
      end('end_turn'),
      USAGE,
    ])
    expect(reasoningOf(result)).toBe('hm')
    expect(result.snapshot.choices[0]!.blocks).toMatchObject([
      { type: 'reasoning', text: 'hm', metadata: { signature: 'c2ln' } },
      { type: 'reasoning', text: '', metadata: { redactedContent: 'ZW5j' } },
      { type: 'text', text: 'yes' },
    ])
  })

  test.each<[string, Event]>([
    ['text that is none', text(7)],
    ['a delta that is none', delta(0, 'hi')],
    ['no delta', { contentBlockDelta: { contentBlockIndex: 0 } }],
    ['input that is no text', input(0, { a: 1 })],
    ['reasoning that is none', delta(0, { reasoningContent: 'hm' })],
    ['a tool that is none', { contentBlockStart: { contentBlockIndex: 4, start: { toolUse: 'f' } } }],
    ['no index', { contentBlockStop: {} }],
  ])('F199 — an event that can not be read, %s, is a hole: text goes on, nothing is run', (_, bad) => {
    const result = read([START, ...call(1, 'f', '{}'), bad, text('yes', 2), end('tool_use'), USAGE])
    expect(textOf(result)).toBe('yes')
    expect(callsOf(result)).toEqual(['f({}) held: event_skipped'])
    expect(result.report.outcome).toBe('degraded')
  })
})

test('a body that is no object, an event of another kind, and padding', () => {
  const lost = run(sse(START, { contentBlockDelta: 'hi' }, end('end_turn'), USAGE), { adapter: bedrockConverse() })
  expect(findingsOf(lost)).toEqual(['skipped_event'])
  const other = run(
    join(
      frames([START, text('hi')]),
      message('{}', { ':event-type': 'initial-response' }),
      frames([end('end_turn'), USAGE]),
    ),
    {
      adapter: bedrockConverse(),
    },
  )
  expect(other.report.outcome).toBe('completed')
  expect(findingsOf(other)).toEqual(['unknown_event'])
  expect(other.snapshot.metadata).not.toHaveProperty('p')
})
