import { describe, expect, test } from 'vitest'
import { callsOf } from '../run.ts'
import { sse } from '../wire.ts'
import type { Json } from '../wire.ts'
import { fateOf, read } from './fate.ts'

type Fields = Readonly<Record<string, Json>>

const parts = (...list: readonly Json[]): Json => ({ candidates: [{ content: { parts: list } }] })
const call = (functionCall: Json): Json => parts({ functionCall })
const STOP = { candidates: [{ finishReason: 'STOP' }] }
const more = (fields: Fields): Json => call({ name: 'f', willContinue: true, ...fields })
const piece = (fields: Fields = {}): Json => call({ partialArgs: [{ jsonPath: '$.b', numberValue: 2 }], ...fields })

describe('gemini: no call is released', () => {
  test.each<[string, Json[], string]>([
    ['stated twice', [more({ args: { a: 1 } }), call({ args: { a: 2 } })], 'f({"a":1}) failed: protocol_conflict'],
    ['stated, then told in pieces', [more({ args: { a: 1 } }), piece()], 'f({"a":1}) failed: protocol_conflict'],
    [
      'told in pieces, then stated',
      [more({}), piece({ willContinue: true }), call({ args: { b: 3 } })],
      'f({"b":3}) failed: protocol_conflict',
    ],
  ])('arguments that are %s, and differ', (_, events, fate) => {
    expect(fateOf(read('gemini', sse(...events, STOP)))).toEqual(['failed protocol_conflict', fate])
  })

  test('arguments that are told twice and are the same are no conflict', () => {
    const events = [more({ id: 'c', args: { b: 2 } }), more({ id: 'c', args: { b: 2 } }), piece({ id: 'c' }), STOP]
    expect(fateOf(read('gemini', sse(...events)))).toEqual(['completed', 'f({"b":2}) ready'])
  })

  test('a part that says nothing between pieces', () => {
    expect(fateOf(read('gemini', sse(more({}), parts({}), piece(), STOP)))).toEqual([
      'degraded',
      'f({"b":2}) failed: invalid_event_json',
    ])
  })

  test('a call of which nobody can tell whether it goes on', () => {
    const events = [call({ name: 'g', args: {} }), call({ name: 'f', args: { a: 1 }, willContinue: 'true' }), STOP]
    expect(fateOf(read('gemini', sse(...events)))).toEqual(['degraded', 'g({}) held: event_skipped'])
  })

  test('a name that is there twice', () => {
    const body = `data: {"candidates":[{"content":{"parts":[{"functionCall":{"name":"ls","args":{"a":1},"name":"rm"}}]}}]}\n\n`
    expect(fateOf(read('gemini', body + sse(STOP)))).toEqual(['completed', 'rm({"a":1}) held: arguments_unsafe'])
  })

  test.each<[string, string, Json[]]>([
    [
      'in a candidate that comes behind it',
      'f({}) failed: output_refused',
      [
        { promptFeedback: { blockReason: 'SAFETY' } },
        { candidates: [{ index: 1, content: { parts: [{ functionCall: { name: 'f' } }] }, finishReason: 'STOP' }] },
      ],
    ],
    [
      'whose reason is no text',
      'f({}) held: output_refused',
      [call({ name: 'f' }), { promptFeedback: { blockReason: { is: 'SAFETY' } } }, STOP],
    ],
  ])('beside a prompt that was refused, %s', (_, fate, events) => {
    const result = read('gemini', sse(...events))
    expect(result.report.outcome).toBe('refused')
    expect(callsOf(result, result.report.choices.length - 1)).toEqual([fate])
  })

  test.each<[string, Json]>([
    ['in a list', [{ error: { code: 503, message: 'no' } }]],
    ['in a wrapped response', { response: { error: { code: 503, message: 'no' } } }],
  ])('beside an error %s', (_, error) => {
    expect(fateOf(read('gemini', sse(call({ name: 'f' }), error, STOP)))).toEqual([
      'failed upstream_error',
      'f({}) held: upstream_error',
    ])
  })

  test('and a list on bare lines loses none of its responses', () => {
    const list = JSON.stringify([parts({ text: 'a' }), parts({ text: 'b' })])
    const result = read('gemini', `${sse(parts({ text: 'x' }))}${list}\n\n${sse(STOP)}`)
    expect(result.report.choices[0]!.text).toBe('xab')
  })
})

test('thousands of pieces in one event, and arguments stated again and again, are read once', () => {
  const pieces = Array.from({ length: 20_000 }, (_, i) => ({
    functionCall: { partialArgs: [{ jsonPath: `$.a${i}`, boolValue: true }], willContinue: true },
  }))
  const again = Array.from({ length: 5000 }, () => ({ functionCall: { args: { z: 1 }, willContinue: true } }))
  const open = { functionCall: { name: 'f', willContinue: true } }
  // Read anew for each of them, this takes minutes.
  const result = read(
    'gemini',
    sse(parts(open, ...pieces), parts(...again), { candidates: [{ finishReason: 'STOP' }] }),
  )
  expect(fateOf(result)).toEqual(['failed protocol_conflict', 'f({"z":1}) failed: protocol_conflict'])
})
