import { describe, expect, test } from 'vitest'
import { sse } from '../wire.ts'
import type { Json } from '../wire.ts'
import { fateOf, read } from './fate.ts'

type Fields = Readonly<Record<string, Json>>

const READY = ['completed', 'f() ready']
const HELD = ['completed', 'f() held: arguments_unsafe']
const FULL = ['completed', 'f({"a":1}) ready']

const item = { type: 'function_call', id: 'fc_1', call_id: 'c', name: 'f' }
const custom = { type: 'custom_tool_call', id: 'ctc_1', call_id: 'c', name: 'f' }
const created = { type: 'response.created', response: { id: 'r', model: 'm', status: 'in_progress' } }
const of = (type: string, more: Fields): Json => ({ type: `response.${type}`, output_index: 0, ...more })
const added = (more: Fields = {}): Json => of('output_item.added', { item: { ...item, ...more } })
const done = (more: Fields = {}): Json => of('output_item.done', { item: { ...item, status: 'completed', ...more } })
const inputDone = (more: Fields = {}): Json => of('function_call_arguments.done', more)
const delta = (text: string): Json => of('function_call_arguments.delta', { delta: text })
const completed = (...output: readonly Json[]): Json => ({
  type: 'response.completed',
  response: { id: 'r', model: 'm', status: 'completed', output },
})
const whole = { ...item, status: 'completed', arguments: '{"a":1}' }

describe('responses: an item is done, and what its input is', () => {
  test.each<[string, Json[], string[]]>([
    ['nobody says', [added(), done(), completed()], HELD],
    ['only its beginning says, which always says nothing', [added({ arguments: '' }), done(), completed()], HELD],
    ['an arguments.done without arguments does not say', [added(), inputDone(), done(), completed()], HELD],
    ['null does not say', [added(), inputDone({ arguments: null }), done({ arguments: null }), completed()], HELD],
    ['nor does the final response', [added(), done(), completed(item)], HELD],
    ['nor is there anything but the final response', [completed(item)], HELD],
    ['nor does the same item, done again', [added(), done(), done(), completed()], HELD],
    ['an empty one in the item', [added(), done({ arguments: '' }), completed()], READY],
    ['an empty one in arguments.done', [added(), inputDone({ arguments: '' }), done(), completed()], READY],
    ['an empty delta', [added(), delta(''), done(), completed()], READY],
    ['an empty object', [added(), done({ arguments: {} }), completed()], ['completed', 'f({}) ready']],
    ['the final response says it', [added(), done(), completed(whole)], FULL],
    ['an empty one in the final response', [added(), done(), completed({ ...whole, arguments: '' })], READY],
    ['the item that is done again says it', [added(), done(), done(whole), completed()], FULL],
    ['an arguments.done behind it says it', [added(), done(), inputDone({ arguments: '{"a":1}' }), completed()], FULL],
    ['deltas said it', [added(), delta('{"a":1}'), done(), completed()], FULL],
    [
      'a delta behind it is too late',
      [added(), done(), delta('{"a":1}'), completed()],
      ['failed protocol_conflict', 'f() failed: protocol_conflict'],
    ],
    [
      'no item says that it is whole',
      [added(), of('output_item.done', { item: { ...item, status: 'incomplete' } }), completed()],
      ['completed', 'f() held: missing_finish_reason'],
    ],
  ])('%s', (_, events, fate) => {
    expect(fateOf(read('responses', sse(created, ...events)))).toEqual(fate)
  })

  test('free text is no other', () => {
    const opened = of('output_item.added', { item: { ...custom, input: '' } })
    const closed = (more: Fields): Json => of('output_item.done', { item: { ...custom, status: 'completed', ...more } })
    expect(fateOf(read('responses', sse(created, opened, closed({}), completed())))).toEqual(HELD)
    expect(fateOf(read('responses', sse(created, opened, closed({ input: '' }), completed())))).toEqual(READY)
  })

  test('cut behind the item, the call is as little to be run', () => {
    expect(fateOf(read('responses', sse(created, added(), done())))).toEqual([
      'incomplete incomplete_stream',
      'f() held: arguments_unsafe',
    ])
  })
})

const open = (more: Fields): Json => ({
  type: 'content_block_start',
  index: 0,
  content_block: { type: 'tool_use', id: 'c', name: 'f', ...more },
})
const input = (text: Json): Json => ({
  type: 'content_block_delta',
  index: 0,
  delta: { type: 'input_json_delta', partial_json: text },
})

describe('anthropic_messages: a block is stopped, and what its input is', () => {
  test.each<[string, Json[], string[]]>([
    ['nobody says', [open({})], HELD],
    ['null does not say', [open({ input: null }), input(null)], HELD],
    ['an empty object in the start', [open({ input: {} })], READY],
    ['an empty text in the start', [open({ input: '' })], READY],
    ['an empty delta', [open({}), input('')], READY],
    ['deltas say it', [open({}), input('{"a":1}')], FULL],
    ['the start says it', [open({ input: { a: 1 } })], FULL],
    [
      'a call that the provider runs is none of ours',
      [{ type: 'content_block_start', index: 0, content_block: { type: 'server_tool_use', id: 'c', name: 'f' } }],
      ['completed', 'f() held: provider_executed'],
    ],
  ])('%s', (_, events, fate) => {
    const result = read(
      'anthropic_messages',
      sse(
        { type: 'message_start', message: { id: 'm', model: 'x', content: [] } },
        ...events,
        { type: 'content_block_stop', index: 0 },
        { type: 'message_delta', delta: { stop_reason: 'tool_use' } },
        { type: 'message_stop' },
      ),
    )
    expect(fateOf(result)).toEqual(fate)
  })
})
