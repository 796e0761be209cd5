import { describe, expect, test } from 'vitest'
import { join, message } from '../../aws-event-stream/message.ts'
import { sse } from '../wire.ts'
import type { Json } from '../wire.ts'
import { fateOf, read } from './fate.ts'

type Fields = Readonly<Record<string, Json>>

const start = { type: 'message_start', message: { id: 'm', model: 'x', content: [] } }
const open = (type: string): Json => ({
  type: 'content_block_start',
  index: 0,
  content_block: { type, id: 't', name: 'f', input: {} },
})
const delta = (content: Fields = {}): Json => ({ type: 'content_block_delta', index: 0, ...content })
const input = (text: Json): Json => delta({ delta: { type: 'input_json_delta', partial_json: text } })
const end = [
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'tool_use' } },
  { type: 'message_stop' },
]

const frame = (payload: Fields): Uint8Array => message(JSON.stringify(payload), { ':event-type': 'chunk' })

const wrapped = (event: Json): Uint8Array => frame({ bytes: btoa(JSON.stringify(event)) })

describe('anthropic_messages: no call is released', () => {
  test.each([
    ['tool_use', 'server_tool_use'],
    ['server_tool_use', 'tool_use'],
  ])('a block that is started as %s and again as %s', (first, second) => {
    const result = read('anthropic_messages', sse(start, open(first), open(second), input('{"a":1}'), ...end))
    expect(fateOf(result)).toEqual(['failed protocol_conflict', 'f({"a":1}) failed: protocol_conflict'])
  })

  test.each<[string, Json]>([
    ['a delta that is not there', delta()],
    ['a message of somebody between', { message: 'Internal Server Error' }],
    ['a piece of input that is not there', delta({ delta: { type: 'input_json_delta' } })],
    [
      'a delta whose type is a number',
      { type: 5, index: 0, delta: { type: 'input_json_delta', partial_json: ',"b":2' } },
    ],
  ])('beside %s', (_, lost) => {
    const result = read('anthropic_messages', sse(start, open('tool_use'), input('{"a":1'), lost, input('}'), ...end))
    expect(fateOf(result)).toEqual(['degraded', 'f({"a":1}) failed: invalid_event_json'])
  })

  test('null says nothing, and loses nothing', () => {
    const events = [start, open('tool_use'), input('{"a":1'), delta({ delta: null }), input(null), input('}'), ...end]
    expect(fateOf(read('anthropic_messages', sse(...events)))).toEqual(['completed', 'f({"a":1}) ready'])
  })

  test('an event of InvokeModel that is no base64', () => {
    const events = [start, open('tool_use'), input('{"a":1'), undefined, input('}'), ...end]
    const body = join(...events.map((event) => (event === undefined ? frame({ bytes: '_-_' }) : wrapped(event))))
    expect(fateOf(read('anthropic_messages', body))).toEqual(['degraded', 'f({"a":1}) failed: invalid_event_json'])
  })
})

test('counters and fields that are made up anew in every event are kept up to a number', () => {
  const events = Array.from({ length: 2000 }, (_, i) => [
    { type: 'message_delta', delta: {}, usage: { [`k${i}`]: 1, output_tokens: i } },
    delta({ delta: { type: 'compaction_delta', [`k${i}`]: 1 } }),
  ])
  const { report } = read('anthropic_messages', sse(start, open('compaction'), ...events.flat(), ...end))
  expect(report.usage?.outputTokens).toBe(1999)
  expect(Object.keys(report.usage?.raw ?? {}).length).toBeLessThan(300)
  expect(report.diagnostics.map(({ code }) => code)).toContain('unexpected_field')
})
