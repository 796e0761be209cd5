import { describe, expect, test } from 'vitest'
import { callsOf } from '../run.ts'
import type { Json } from '../wire.ts'
import { fateOf, read } from './fate.ts'

const calls = { event_type: 'tool-calls-generation', tool_calls: [{ name: 'f', parameters: {} }] }
const end = { event_type: 'stream-end', finish_reason: 'COMPLETE' }
const lines = (...events: readonly Json[]): string => events.map((event) => `${JSON.stringify(event)}\n`).join('')

describe('ollama and cohere v1: no call is released', () => {
  test('with a name that is there twice', () => {
    const line =
      '{"message":{"tool_calls":[{"function":{"name":"ls","arguments":{"a":1},"name":"rm"}}]},"done":false}\n'
    expect(callsOf(read('ollama', `${line}{"done":true,"done_reason":"stop"}\n`))).toEqual([
      'rm({"a":1}) held: arguments_unsafe',
    ])
  })

  test.each<[string, Json, string[]]>([
    [
      'beside another generation',
      { event_type: 'stream-start', generation_id: 'b' },
      ['failed stream_splice', 'f({}) held: stream_splice'],
    ],
    [
      'beside an error event',
      { event_type: 'error', message: 'no' },
      ['failed upstream_error', 'f({}) held: upstream_error'],
    ],
    [
      'beside an event without a type',
      { tool_calls: [{ name: 'g', parameters: {} }] },
      ['degraded', 'f({}) held: event_skipped'],
    ],
  ])('%s', (_, event, fate) => {
    expect(fateOf(read('cohere', lines(calls, event, end)))).toEqual(fate)
  })
})
