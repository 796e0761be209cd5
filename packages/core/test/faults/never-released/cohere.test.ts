import { describe, expect, test } from 'vitest'
import { sse } from '../wire.ts'
import type { Json } from '../wire.ts'
import { fateOf, read } from './fate.ts'

type Fields = Readonly<Record<string, Json>>

const start = (id: string): Json => ({ type: 'message-start', id, delta: { message: { role: 'assistant' } } })
const part = (type: string, tool_calls: Json): Json => ({ type, index: 0, delta: { message: { tool_calls } } })
const args = (text: Json): Json => part('tool-call-delta', { function: { arguments: text } })
const call = [part('tool-call-start', { id: 'c', function: { name: 'f', arguments: '' } }), args('{"a":1')]
const rest = [args('}'), { type: 'tool-call-end', index: 0 }]
const end = (delta: Fields = {}): Json => ({ type: 'message-end', delta: { finish_reason: 'TOOL_CALL', ...delta } })

describe('cohere: no call is released', () => {
  test.each<[string, Json]>([
    ['no type', { ...(args(',"b":2') as Fields), type: undefined }],
    ['a type that is a number', { ...(args(',"b":2') as Fields), type: 5 }],
    ['no arguments', part('tool-call-delta', { function: {} })],
    ['a function that is a text', part('tool-call-delta', { function: ',"b":2' })],
  ])('beside a piece with %s', (_, lost) => {
    expect(fateOf(read('cohere', sse(start('m'), ...call, lost, ...rest, end())))).toEqual([
      'degraded',
      'f({"a":1}) failed: invalid_event_json',
    ])
  })

  test.each<[string, Json[]]>([
    ['in the last event', [end({ error: 'the model broke' })]],
    ['that is a message alone', [{ message: 'no' }, end()]],
    ['that is an id and a message', [{ id: 'x', message: 'no' }, end()]],
  ])('beside an error %s', (_, events) => {
    expect(fateOf(read('cohere', sse(start('m'), ...call, ...rest, ...events)))).toEqual([
      'failed upstream_error',
      'f({"a":1}) held: upstream_error',
    ])
  })

  test('beside another message', () => {
    const events = [start('m'), ...call, ...rest, start('n'), ...call, ...rest, end()]
    expect(fateOf(read('cohere', sse(...events)))).toEqual(['failed stream_splice', 'f({"a":1}) held: stream_splice'])
  })

  test('but one that is started twice before it says anything is', () => {
    expect(fateOf(read('cohere', sse(start('m'), start('n'), ...call, ...rest, end())))[1]).toBe('f({"a":1}) ready')
  })
})
