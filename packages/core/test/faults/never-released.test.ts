import { describe, expect, test } from 'vitest'
import { callsOf, run } from './run.ts'
import { bytesOf, chunk, chunkOf, DONE, finish, frag, sse } from './wire.ts'

/** Wires on which a call was once released that must not be. */
const released = (...events: readonly unknown[]): readonly string[] =>
  callsOf(run(sse(...(events as Parameters<typeof sse>)))).filter((call) => call.endsWith(' ready'))

const tool = (...fragments: readonly unknown[]): ReturnType<typeof chunk> => chunk({ tool_calls: fragments })

function pieceAt(index: unknown, text: string, id?: string): ReturnType<typeof chunkOf> {
  return chunkOf([{ index, delta: { tool_calls: [{ index: 0, id, function: { name: id && 'f', arguments: text } }] } }])
}

describe('no call is released', () => {
  test('arguments as a JSON value with a number that the payload itself rounds', () => {
    const body = `data: {"id":"r","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"pay","arguments":{"account":9007199254740993}}}]}}]}\n\n`
    expect(callsOf(run(body + sse(finish('tool_calls'), DONE)))).toEqual([expect.stringContaining('arguments_unsafe')])
  })

  test('arguments as a JSON value with a key that is there twice', () => {
    const body = `data: {"id":"r","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"rm","arguments":{"path":"/tmp/x","path":"/"}}}]}}]}\n\n`
    expect(callsOf(run(body + sse(finish('tool_calls'), DONE)))).toEqual([expect.stringContaining('arguments_unsafe')])
  })

  test('a function call that becomes a custom one', () => {
    const events = [frag(0, 'a', 'pay', '{"amount":1'), tool({ index: 0, custom: {} }), finish('tool_calls'), DONE]
    expect(released(...events)).toEqual([])
  })

  test('an index rebound by an id that was seen before', () => {
    const events = [
      frag(0, 'a', 'f', '{"a":1}'),
      frag(1, 'b', 'g', '{"b":7'),
      frag(1, 'a', 'h', '{"c":1'),
      frag(1, undefined, undefined, '2}'),
      tool({ id: 'b', function: { arguments: '}' } }),
      finish('tool_calls'),
      DONE,
    ]
    expect(released(...events)).toEqual([])
  })

  test('two open calls under one id, and a fragment with that id alone', () => {
    const events = [
      frag(0, 'x', 'f', '{"a":1'),
      frag(1, 'x', 'g', '{"b":7'),
      tool({ id: 'x', function: { arguments: '2' } }),
      frag(0, undefined, undefined, '}'),
      frag(1, undefined, undefined, '}'),
      finish('tool_calls'),
      DONE,
    ]
    expect(released(...events)).toEqual([])
  })

  test('two elements of one array glued to one call', () => {
    const events = [
      tool({ function: { name: 'f', arguments: '{"a":1' } }, { function: { name: 'f', arguments: '2}' } }),
      finish('tool_calls'),
      DONE,
    ]
    expect(released(...events)).toEqual([])
  })

  test('an index of a choice that can not be read', () => {
    expect(released(pieceAt('a', '{"a":1', 'c'), pieceAt('b', '2}'), finish('tool_calls'), DONE)).toEqual([])
  })

  test('an unknown finish reason that a good one follows', () => {
    expect(released(frag(0, 'a', 'f', '{}'), finish('insufficient_quota'), finish('stop'), DONE)).toEqual([])
  })

  test('an error in a choice', () => {
    const failed = chunkOf([{ index: 0, delta: {}, error: { code: 502, message: 'no' }, finish_reason: 'tool_calls' }])
    expect(released(frag(0, 'a', 'f', '{}'), failed, DONE)).toEqual([])
  })

  test('one choice that finished beside one that said nothing, and the end', () => {
    const events = [
      frag(0, 'a', 'f', '{}'),
      chunkOf([{ index: 1, delta: { role: 'assistant' } }]),
      finish('tool_calls'),
    ]
    expect(released(...events)).toEqual([])
  })

  test.each([
    { name: 'a blank before the colon of data', line: 'data : {"choices":[]}' },
    { name: 'a line of bare JSON', line: '{"id":"r","choices":[{"index":0,"delta":{"content":"x"}}]}' },
    { name: 'a line of broken JSON', line: '{"id":"r","choices":' },
  ])('beside an event that was lost: $name', ({ line }) => {
    const body = `${sse(frag(0, 'a', 'f', '{}'))}${line}\n\n${sse(finish('tool_calls'), DONE)}`
    expect(callsOf(run(body))).toEqual(['f({}) failed: invalid_event_json'])
  })

  test('an error on a line of bare JSON', () => {
    const body = `${sse(frag(0, 'a', 'f', '{}'))}{"error":{"code":503,"message":"no"}}\n\n${sse(finish('tool_calls'), DONE)}`
    expect(run(body).report).toMatchObject({ outcome: 'failed', error: { code: 'upstream_error', status: 503 } })
  })

  test('bytes that are not UTF-8 where a fragment may have been', () => {
    const [before, after] = sse(frag(0, 'a', 'f', '{}'), chunk({ 'tool_call?': [] }), finish('tool_calls'), DONE).split(
      '?',
    )
    const body = new Uint8Array([...bytesOf(before!), 0xff, ...bytesOf(after!)])
    expect(callsOf(run(body))).toEqual(['f({}) failed: invalid_event_json'])
  })

  test('arguments partly as text and partly as a JSON value', () => {
    const events = [
      frag(0, 'a', 'f', '{"a":'),
      tool({ index: 0, function: { arguments: { b: 1 } } }),
      frag(0, undefined, undefined, '}'),
      finish('tool_calls'),
      DONE,
    ]
    expect(callsOf(run(sse(...events)))).toEqual([expect.stringContaining('arguments_unsafe')])
  })

  test('a fragment without identity beside a legacy call', () => {
    const events = [
      chunk({ function_call: { name: 'f', arguments: '{"a":1' } }),
      tool({ function: { arguments: '2}' } }),
      finish('tool_calls'),
      DONE,
    ]
    expect(released(...events)).toEqual([])
  })

  test('a name that changes after the finish', () => {
    const events = [frag(0, 'a', 'f', '{}'), finish('tool_calls'), tool({ index: 0, function: { name: 'g' } }), DONE]
    expect(released(...events)).toEqual([])
  })

  test('free text that is empty where the tokens ran out', () => {
    const custom = tool({ index: 0, id: 'a', type: 'custom', custom: { name: 'f', input: '' } })
    const usage = chunkOf([], { usage: { prompt_tokens: 1, completion_tokens: 9 } })
    const result = run(sse(custom, finish('tool_calls'), usage, DONE), { request: { maxOutputTokens: 9 } })
    expect(callsOf(result)).toEqual([expect.stringContaining('arguments_suspect')])
  })
})

test('function_call that says the same as tool_calls beside it is one call', () => {
  const said = { name: 'f', arguments: '{}' }
  const both = chunk({ tool_calls: [{ index: 0, id: 'a', function: said }], function_call: said })
  expect(released(both, finish('tool_calls'), DONE)).toHaveLength(1)
})

test('three calls without arguments in one array are three calls', () => {
  const call = { function: { name: 'f', arguments: '' } }
  expect(released(tool(call, call, call), finish('tool_calls'), DONE)).toHaveLength(3)
})

test('thousands of ambiguous fragments are answered with one conflict for each call', () => {
  const open = Array.from({ length: 50 }, (_, n) => frag(n, `c${n}`, 'f', '{'))
  const bare = tool(...Array.from({ length: 5000 }, () => ({ function: { arguments: 'x' } })))
  const { events } = run(sse(...open, bare, finish('tool_calls'), DONE))
  expect(events.filter(({ type }) => type === 'tool_call_failed')).toHaveLength(50)
})
