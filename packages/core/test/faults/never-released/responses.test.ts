import { describe, expect, test } from 'vitest'
import { sse } from '../wire.ts'
import type { Json } from '../wire.ts'
import { fateOf, read } from './fate.ts'

type Fields = Readonly<Record<string, Json>>

const item: Fields = { type: 'function_call', id: 'fc_1', call_id: 'c', name: 'f' }
const created = { type: 'response.created', response: { id: 'r', model: 'm', status: 'in_progress' } }
const added = { type: 'response.output_item.added', output_index: 0, item: { ...item, arguments: '' } }
const delta = (text: string, more: Fields = {}): Json => ({
  type: 'response.function_call_arguments.delta',
  output_index: 0,
  item_id: 'fc_1',
  delta: text,
  ...more,
})
const done = (more: Fields = {}): Json => ({
  type: 'response.output_item.done',
  output_index: 0,
  item: { ...item, status: 'completed', ...more },
})
const completed = (more: Fields = {}): Json => ({
  type: 'response.completed',
  response: { id: 'r', model: 'm', status: 'completed', ...more },
})
const whole = [created, added, delta('{"a":1}'), done()]
const pieces = (lost: Json): Json[] => [created, added, delta('{"a":1'), lost, delta('}'), done(), completed()]

describe('responses: no call is released', () => {
  test('but that of a good stream is', () => {
    expect(fateOf(read('responses', sse(...whole, completed())))).toEqual(['completed', 'f({"a":1}) ready'])
    expect(fateOf(read('responses', sse(...whole, completed({ error: {} }))))[0]).toBe('completed')
  })

  test.each<[string, Json[], string[]]>([
    [
      'a completed response that names an error',
      [...whole, completed({ error: { code: 'server_error', message: 'no' } })],
      ['failed upstream_error', 'f({"a":1}) held: upstream_error'],
    ],
    [
      'an error in a response that is under way',
      [...whole, { type: 'response.in_progress', response: { id: 'r', error: { message: 'no' } } }, completed()],
      ['failed upstream_error', 'f({"a":1}) held: upstream_error'],
    ],
    [
      'a completed response that says why it is incomplete',
      [...whole, completed({ incomplete_details: { reason: 'max_output_tokens' } })],
      ['truncated', 'f({"a":1}) held: output_truncated'],
    ],
    [
      'a status that is no text',
      [...whole, completed({ status: ['failed'] })],
      ['degraded', 'f({"a":1}) held: finish_unknown'],
    ],
    [
      'an end that names no status',
      [...whole, { type: 'response.done', response: {} }],
      ['degraded', 'f({"a":1}) held: missing_finish_reason'],
    ],
    [
      'an item that was ended as incomplete, and comes again without a word on that',
      [created, added, delta('{"a":1}'), done({ status: 'incomplete' }), completed({ output: [item] })],
      ['completed', 'f({"a":1}) held: missing_finish_reason'],
    ],
    [
      'an item whose status is no text',
      [created, added, delta('{"a":1}'), done({ status: ['incomplete'] }), completed()],
      ['completed', 'f({"a":1}) held: missing_finish_reason'],
    ],
    [
      'an item that was done, and is incomplete in the final response',
      [...whole, completed({ output: [{ ...item, status: 'incomplete', arguments: '{"a":1}' }] })],
      ['failed protocol_conflict', 'f({"a":1}) failed: protocol_conflict'],
    ],
    [
      'arguments that are a list in the final response',
      [...whole, completed({ output: [{ ...item, arguments: ['a'] }] })],
      ['failed protocol_conflict', 'f({"a":1}) failed: protocol_conflict'],
    ],
    [
      'a message of somebody between',
      [...whole, { message: 'Internal Server Error' }, completed()],
      ['degraded', 'f({"a":1}) held: event_skipped'],
    ],
    [
      'the end of another response',
      [...whole, completed({ id: 'r2', model: 'm2' })],
      ['failed stream_splice', 'f({"a":1}) held: stream_splice'],
    ],
    [
      'a piece without a type',
      pieces({ output_index: 0, item_id: 'fc_1', delta: ',"b":2' }),
      ['degraded', 'f({"a":1}) failed: invalid_event_json'],
    ],
    [
      'a piece whose type is a number',
      pieces(delta(',"b":2', { type: 5 })),
      ['degraded', 'f({"a":1}) failed: invalid_event_json'],
    ],
  ])('%s', (_, events, fate) => {
    expect(fateOf(read('responses', sse(...events)))).toEqual(fate)
  })

  test('a whole response without a status', () => {
    const body = JSON.stringify({ object: 'response', id: 'r', output: [{ ...item, arguments: '{}' }] })
    expect(fateOf(read('responses', body))).toEqual(['degraded', 'f({}) held: missing_finish_reason'])
  })
})
