import { describe, expect, test } from 'vitest'
import { join, message } from '../../aws-event-stream/message.ts'
import { callsOf } from '../run.ts'
import { named, sse } from '../wire.ts'
import type { Json } from '../wire.ts'
import { fateOf, read } from './fate.ts'

type Fields = Readonly<Record<string, Json>>

const start = { messageStart: { role: 'assistant' } }
const open = (more: Fields = {}): Json => ({
  contentBlockStart: { contentBlockIndex: 0, start: { toolUse: { toolUseId: 't', name: 'f', ...more } } },
})
const input = (text: string): Fields => ({
  contentBlockDelta: { contentBlockIndex: 0, delta: { toolUse: { input: text } } },
})
const stop = { contentBlockStop: { contentBlockIndex: 0 } }
const end = { messageStop: { stopReason: 'tool_use' } }
const usage = { metadata: { usage: { inputTokens: 1, outputTokens: 1 } } }
const call = [open(), input('{"a":1}'), stop]

describe('bedrock_converse: no call is released', () => {
  test.each<[string, Json]>([
    ['its name', input(',"b":2')['contentBlockDelta']],
    ['a place of its own', { contentBlockStop: { contentBlockIndex: 5 }, ...input(',"b":2') }],
  ])('beside an event without %s', (_, lost) => {
    const events = [start, open(), input('{"a":1'), lost, input('}'), stop, end, usage]
    expect(fateOf(read('bedrock_converse', sse(...events)))).toEqual([
      'degraded',
      'f({"a":1}) failed: invalid_event_json',
    ])
  })

  test.each<[string, string]>([
    ['an exception beside the stop', sse({ ...end, internalServerException: { message: 'no' } })],
    ['an error beside the stop', sse({ ...end, error: { message: 'no' } })],
    ['an error event that has metadata', named('error', { message: 'no', metadata: {} })],
    ['an exception by the name of its event', named('throttlingException', { message: 'no' })],
    ['an exception in capitals', sse({ ThrottlingException: { message: 'no' } })],
    ['an exception by its type', sse({ __type: 'com.amazon#ThrottlingException', message: 'no' })],
  ])('%s', (_, fault) => {
    const result = read('bedrock_converse', sse(start, ...call) + fault + sse(end, usage))
    expect(result.report.outcome).toBe('failed')
    expect(result.report.error?.phase).toBe('delta')
    expect(callsOf(result)).toEqual([expect.stringContaining('f({"a":1}) held: ')])
    expect(result.report.error?.code).toBe(fault.includes('hrottling') ? 'rate_limited' : 'upstream_error')
  })

  test('a frame that names an exception without being called one', () => {
    const fault = message('{"message":"no"}', { ':exception-type': 'throttlingException' })
    const events = [start, ...call, end, usage].flatMap((event) =>
      Object.entries(event as Fields).map(([type, body]) => message(JSON.stringify(body), { ':event-type': type })),
    )
    const result = read('bedrock_converse', join(...events.slice(0, 4), fault, ...events.slice(4)))
    expect(fateOf(result)).toEqual(['failed rate_limited', 'f({"a":1}) held: rate_limited'])
  })

  test('that came behind the stop', () => {
    const events = [start, { messageStop: { stopReason: 'end_turn' } }, ...call, usage]
    expect(callsOf(read('bedrock_converse', sse(...events)))).toEqual(['f({"a":1}) held: missing_finish_reason'])
  })

  test('beside another message', () => {
    const events = [start, ...call, start, ...call, end, usage]
    expect(fateOf(read('bedrock_converse', sse(...events)))).toEqual([
      'failed stream_splice',
      'f({"a":1}) held: stream_splice',
    ])
  })

  test("that is the caller's and its provider's", () => {
    const events = [start, open(), open({ type: 'server_tool_use' }), input('{"a":1}'), stop, end, usage]
    expect(fateOf(read('bedrock_converse', sse(...events)))[0]).toBe('failed protocol_conflict')
  })

  test('of a type that is not known', () => {
    const events = [start, open({ type: 'other_tool_use' }), input('{"a":1}'), stop, end, usage]
    expect(callsOf(read('bedrock_converse', sse(...events)))).toEqual(['f({"a":1}) held: provider_executed'])
  })
})
