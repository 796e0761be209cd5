import { expect, test } from 'vitest'
import { fnv1a32, logLineOf } from '../../src/engine/log-line.ts'
import { engineWith, readsOf, run } from './run.ts'
import { call, DONE, finish, sse, text } from './wire.ts'

const SECRET = 'Vorgebirge'
const ARGUMENTS = `{"zone":"${SECRET}","a":1}`

test('every field, and no content', () => {
  const engine = engineWith({ requestId: 'req_1', route: 'eu', attempt: 2 })
  engine.start(0)
  engine.response({ status: 200, headers: [['x-request-id', 'up_1']] }, 40)
  for (const read of readsOf(text(SECRET) + call(0, 'clock', ARGUMENTS))) engine.push(read, 90)
  for (const read of readsOf(finish('tool_calls') + DONE)) engine.push(read, 120)
  const line = logLineOf(engine.report())
  expect(line).toEqual({
    api: 'chat_completions',
    outcome: 'completed',
    code: null,
    attempt: 2,
    route: 'eu',
    request_id: 'req_1',
    upstream_request_id: 'up_1',
    time_to_headers: 40,
    time_to_first_event: 90,
    event_count: 4,
    text_delta_bytes: 10,
    tool_argument_bytes: ARGUMENTS.length,
    finish_reason: 'tool-calls',
    sse_parse_error: null,
    tool_validation_result: 'valid',
    tool_calls: [
      {
        call_id: 'call_0',
        tool: 'clock',
        state: 'complete',
        code: null,
        argument_hash: fnv1a32(ARGUMENTS),
        argument_bytes: ARGUMENTS.length,
        argument_keys: ['a', 'zone'],
      },
    ],
  })
  expect(JSON.stringify(line)).not.toContain(SECRET)
})

test('a hash of the caller’s own', () => {
  const { report } = run(call(0, 'f', '{}') + finish('tool_calls') + DONE)
  expect(logLineOf(report, { hash: (given) => `length:${given.length}` }).tool_calls[0]!.argument_hash).toBe('length:2')
})

test.each([
  {
    name: 'no call',
    body: text('hi') + finish('stop') + DONE,
    want: { tool_validation_result: 'none', finish_reason: 'stop' },
  },
  {
    name: 'a broken call, and one that is held for its sake',
    body: call(0, 'f', '{}') + call(1, 'g', '{"a":]') + finish('tool_calls') + DONE,
    want: { tool_validation_result: 'arguments_invalid' },
  },
  {
    name: 'a cut',
    body: call(0, 'f', '{"a"'),
    want: {
      outcome: 'incomplete',
      code: 'incomplete_stream',
      finish_reason: null,
      tool_validation_result: 'incomplete_stream',
    },
  },
  {
    name: 'an event that is no JSON',
    body: `${text('hi')}data: {oops\n\n${finish('stop')}${DONE}`,
    want: { outcome: 'degraded', sse_parse_error: 'invalid_event_json' },
  },
  {
    name: 'no event stream',
    body: '<html><title>502</title></html>',
    want: { sse_parse_error: 'not_event_stream', event_count: 0 },
  },
  {
    name: 'two choices, one of them without an end',
    body: text('a') + text('b', { choice: 1 }) + finish('stop') + DONE,
    want: { finish_reason: 'stop,none' },
  },
])('$name', ({ body, want }) => {
  expect(logLineOf(run(body).report)).toMatchObject(want)
})

test('what a server or a model wrote fits on a line', () => {
  const keys = Object.fromEntries(
    Array.from({ length: 40 }, (_, n) => [`${String(n).padStart(2, '0')}\n${'k'.repeat(100)}`, n]),
  )
  const body = sse({
    id: 'r',
    choices: [
      {
        index: 0,
        delta: {
          tool_calls: [{ index: 0, id: 'i'.repeat(999), function: { name: 'f', arguments: JSON.stringify(keys) } }],
        },
        finish_reason: 'tool_calls',
      },
    ],
  })
  const [one] = logLineOf(run(body + DONE).report).tool_calls
  expect(one!.call_id).toHaveLength(200)
  expect(one!.argument_keys).toHaveLength(32)
  for (const key of one!.argument_keys!) {
    expect(key.length).toBeLessThanOrEqual(64)
    expect(key).not.toContain('\n')
  }
})

// Vectors of the FNV authors.
test.each([
  ['', 'fnv1a32:811c9dc5'],
  ['a', 'fnv1a32:e40c292c'],
  ['foobar', 'fnv1a32:bf9cf968'],
])('fnv1a32(%j)', (given, want) => {
  expect(fnv1a32(given)).toBe(want)
})
