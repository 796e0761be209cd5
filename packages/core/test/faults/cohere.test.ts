import { describe, expect, test } from 'vitest'
import { cohere } from '../../src/adapters/cohere/adapter.ts'
import { callsOf, findingsOf, reasoningOf, run, textOf, typesOf } from './run.ts'
import type { Run, RunOptions } from './run.ts'
import { DONE, named, sse } from './wire.ts'
import type { Json } from './wire.ts'

type Event = Readonly<Record<string, Json>> & { readonly type: string }

const START: Event = { type: 'message-start', id: 'msg-1', delta: { message: { role: 'assistant' } } }
const text = (value: Json, index: Json = 0): Event => ({
  type: 'content-delta',
  index,
  delta: { message: { content: { text: value } } },
})
const open = (index: Json, id: Json, name: Json, args: Json = ''): Event => ({
  type: 'tool-call-start',
  index,
  delta: { message: { tool_calls: { id, type: 'function', function: { name, arguments: args } } } },
})
const args = (index: Json, value: Json): Event => ({
  type: 'tool-call-delta',
  ...(index !== undefined && { index }),
  delta: { message: { tool_calls: { function: { arguments: value } } } },
})
const close = (index: Json): Event => ({ type: 'tool-call-end', ...(index !== undefined && { index }) })
const end = (reason: Json): Event => ({ type: 'message-end', delta: { finish_reason: reason } })
const call = (index: number, name: string, value: string): Event[] => [
  open(index, `c${index}`, name),
  args(index, value),
  close(index),
]

function read(events: readonly Event[], options: RunOptions = {}): Run {
  const body = events.map((event) => named(event.type, event)).join('')
  return run(body + sse(DONE), { adapter: cohere(options.profile), ...options })
}

const thinking = (value: string): Event => ({
  type: 'content-delta',
  index: 0,
  delta: { message: { content: { thinking: value } } },
})

const start = (index: number, type: string): Event => ({
  type: 'content-start',
  index,
  delta: { message: { content: { type } } },
})

describe('what rows of the catalogue look like in Cohere', () => {
  test('F042 — a call without arguments', () => {
    expect(callsOf(read([START, open(0, 'c', 'f'), close(0), end('TOOL_CALL')]))).toEqual(['f() ready'])
  })

  test('F053 — text between the pieces of a call', () => {
    const result = read([
      START,
      open(0, 'c', 'f'),
      args(0, '{"a"'),
      text('hm', 1),
      args(0, ':1}'),
      close(0),
      end('TOOL_CALL'),
    ])
    expect(callsOf(result)).toEqual(['f({"a":1}) ready'])
    expect(textOf(result)).toBe('hm')
  })

  test('F064 — without an index a piece continues the only open call, and with two open both fail', () => {
    const alone = [START, open(undefined, 'c', 'f'), args(undefined, '{"a":1}'), close(undefined), end('TOOL_CALL')]
    expect(callsOf(read(alone))).toEqual(['f({"a":1}) ready'])
    const result = read([
      START,
      open(0, 'c', 'f'),
      open(1, 'd', 'g'),
      args(undefined, '{}'),
      close(0),
      close(1),
      end('TOOL_CALL'),
    ])
    expect(result.report).toMatchObject({ outcome: 'failed', error: { code: 'protocol_conflict' } })
    expect(callsOf(result)).toEqual(['f() failed: protocol_conflict', 'g() failed: protocol_conflict'])
  })

  test('F065 — an index that is given to a second call before the first was closed is a conflict', () => {
    const result = read([
      START,
      open(0, 'c', 'f'),
      args(0, '{"a":'),
      open(0, 'd', 'g'),
      args(0, '1}'),
      close(0),
      end('TOOL_CALL'),
    ])
    expect(result.report).toMatchObject({ outcome: 'failed', error: { code: 'protocol_conflict' } })
    expect(typesOf(result)).not.toContain('tool_batch_ready')
  })

  test('F065 — one that is used again behind the end of the first is another call', () => {
    const result = read([
      START,
      ...call(0, 'f', '{"a":1}'),
      open(0, 'd', 'g'),
      args(0, '{"b":2}'),
      close(0),
      end('TOOL_CALL'),
    ])
    expect(callsOf(result)).toEqual(['f({"a":1}) ready', 'g({"b":2}) ready'])
    expect(findingsOf(result)).toContain('index_reused')
  })

  test('F067 — interleaved calls', () => {
    const events = [
      open(0, 'c', 'f'),
      open(1, 'd', 'g'),
      args(0, '{"a":'),
      args(1, '{"b":'),
      args(0, '1}'),
      args(1, '2}'),
    ]
    const result = read([START, ...events, close(1), close(0), end('TOOL_CALL')])
    expect(callsOf(result)).toEqual(['f({"a":1}) ready', 'g({"b":2}) ready'])
  })

  test('F073 — a call whose name is empty fails', () => {
    expect(callsOf(read([START, ...call(0, '', '{}'), end('TOOL_CALL')]))).toEqual(['null({}) failed: missing_name'])
  })

  test('F082 — TOOL_CALL without any call', () => {
    const result = read([START, text('hi'), end('TOOL_CALL')])
    expect(result.report.outcome).toBe('degraded')
    expect(findingsOf(result)).toContain('finish_without_calls')
  })

  test('F091 — COMPLETE with calls is a tool turn', () => {
    expect(read([START, ...call(0, 'f', '{}'), end('COMPLETE')]).report.choices[0]!.finish).toEqual({
      reason: 'tool-calls',
      raw: 'COMPLETE',
    })
  })

  test('F093 — MAX_TOKENS with one call open', () => {
    const result = read([START, ...call(0, 'f', '{}'), open(1, 'd', 'g'), args(1, '{"b":'), end('MAX_TOKENS')])
    expect(callsOf(result)).toEqual(['f({}) held: output_truncated', 'g({"b":) failed: arguments_incomplete'])
  })

  test('F095 — the body ends without message-end', () => {
    const body = [START, ...call(0, 'f', '{}')].map((event) => named(event.type, event)).join('')
    const result = run(body, { adapter: cohere() })
    expect(callsOf(result)).toEqual(['f({}) held: incomplete_stream'])
    expect(result.report.outcome).toBe('incomplete')
  })

  test('F096 — [DONE] in place of message-end', () => {
    const result = read([START, ...call(0, 'f', '{}')])
    expect(callsOf(result)).toEqual(['f({}) held: missing_finish_reason'])
    expect(result.report.outcome).toBe('degraded')
  })

  test.each([
    ['ERROR', 'failed'],
    ['TIMEOUT', 'failed'],
    ['ERROR_TOXIC', 'refused'],
    ['ERROR_LIMIT', 'truncated'],
    ['USER_CANCEL', 'incomplete'],
    ['SOMETHING', 'degraded'],
  ])('F111 — %s with a whole call: %s, and the call is not run', (reason, outcome) => {
    const result = read([START, ...call(0, 'f', '{}'), end(reason)])
    expect(result.report.outcome).toBe(outcome)
    expect(typesOf(result)).not.toContain('tool_batch_ready')
  })

  test.each<[string, Json]>([
    ['an error object', { error: { message: 'busy', code: 429 } }],
    ['an event of type error', { type: 'error', message: 'busy', code: 429 }],
    ['an id, a message and no type', { id: 'x', message: 'busy', status_code: 429 }],
  ])('F107 — %s', (_, error) => {
    const result = run(named('message-start', START) + sse(error), { adapter: cohere() })
    expect(result.report).toMatchObject({ outcome: 'failed', error: { code: 'rate_limited', status: 429 } })
  })

  test('F158 — arguments for an index that was never opened are a hole', () => {
    const result = read([START, open(0, 'c', 'f'), args(3, '{}'), args(0, '{}'), close(0), end('TOOL_CALL')])
    expect(callsOf(result)[0]).toMatch(/failed: invalid_event_json$/)
    expect(result.report.outcome).toBe('degraded')
  })

  test('F166 — arguments behind the end of their call are a conflict, white space is not', () => {
    const late = read([START, ...call(0, 'f', '{}'), args(0, '{"a":1}'), end('TOOL_CALL')])
    expect(late.report).toMatchObject({ outcome: 'failed', error: { code: 'protocol_conflict' } })
    expect(callsOf(read([START, ...call(0, 'f', '{}'), args(0, '\n'), end('TOOL_CALL')]))).toEqual(['f({}) ready'])
  })

  test('F190 — without names of events, and with names alone', () => {
    const events = [START, text('hi'), ...call(0, 'f', '{}'), end('TOOL_CALL')]
    const expected = read(events).events
    expect(run(sse(...events, DONE), { adapter: cohere() }).events).toEqual(expected)
    const untyped = events.map(({ type, ...rest }) => named(type, rest)).join('')
    expect(run(untyped, { adapter: cohere() }).events).toEqual(expected)
  })

  test('F203 — a character that the deltas cut in two', () => {
    const result = read([
      START,
      text('a\ud83c'),
      text('\udf0a'),
      open(1, 'c', 'f'),
      args(1, '{"s":"\ud83c'),
      args(1, '\udf0a"}'),
      close(1),
      end('TOOL_CALL'),
    ])
    expect(textOf(result)).toBe('a🌊')
    expect(callsOf(result)).toEqual(['f({"s":"🌊"}) ready'])
  })

  test.each<[string, Event]>([
    ['text that is none', text(7)],
    ['an index that is none', text('hi', {})],
    ['content that is none', { type: 'content-delta', index: 0, delta: { message: { content: 'hi' } } }],
    ['a call that is none', { type: 'tool-call-start', index: 1, delta: { message: { tool_calls: 'f' } } }],
    ['arguments that are none', args(0, { a: 1 })],
    ['an end of nothing', close(5)],
    ['two calls in one event', { type: 'tool-call-delta', index: 0, delta: { message: { tool_calls: [{}, {}] } } }],
  ])('F199 — an event that can not be read, %s, is a hole: text goes on, nothing is run', (_, bad) => {
    const result = read([START, ...call(0, 'f', '{}'), bad, text('yes', 2), end('TOOL_CALL')])
    expect(textOf(result)).toBe('yes')
    expect(callsOf(result)).toEqual(['f({}) held: event_skipped'])
    expect(result.report.outcome).toBe('degraded')
  })
})

test('thinking, a plan and text are told apart, also where a delta does not say which it is', () => {
  const plan: Event = { type: 'tool-plan-delta', delta: { message: { tool_plan: 'I look.' } } }
  const result = read([
    START,
    plan,
    start(0, 'thinking'),
    thinking('hm'),
    { type: 'content-end', index: 0 },
    start(1, 'text'),
    text('yes', 1),
    end('COMPLETE'),
  ])
  expect(reasoningOf(result)).toBe('I look.hm')
  expect(textOf(result)).toBe('yes')
})
