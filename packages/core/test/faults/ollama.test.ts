import { describe, expect, test } from 'vitest'
import { ollama } from '../../src/adapters/ollama/adapter.ts'
import { callsOf, findingsOf, reasoningOf, run, textOf, typesOf } from './run.ts'
import type { Run, RunOptions } from './run.ts'
import { sse } from './wire.ts'
import type { Json } from './wire.ts'

/** A line of `/api/chat`. */
function line(message: Readonly<Record<string, Json>>, more: Readonly<Record<string, Json>> = {}): Json {
  return {
    model: 'm-1',
    created_at: '2026-01-01T00:00:00Z',
    message: { role: 'assistant', ...message },
    done: false,
    ...more,
  }
}

const text = (content: string): Json => line({ content })
const call = (name: string, args: Json, more: Readonly<Record<string, Json>> = {}): Json =>
  line({ content: '', tool_calls: [{ ...more, function: { name, arguments: args } }] })
const done = (reason?: Json): Json =>
  line({ content: '' }, { done: true, ...(reason !== undefined && { done_reason: reason }) })

function read(lines: readonly Json[], options: RunOptions = {}): Run {
  const body = lines.map((each) => `${typeof each === 'string' ? each : JSON.stringify(each)}\n`).join('')
  return run(body, { adapter: ollama(options.profile), ...options })
}

describe('what rows of the catalogue look like in Ollama’s own API', () => {
  test('F038 — arguments are objects: a number that reading has rounded holds the call', () => {
    const lines = [call('f', { n: 0 }), done('stop')].map((each) => JSON.stringify(each))
    const result = read([lines[0]!.replace('"n":0', '"n":12345678901234567890'), lines[1]!])
    expect(callsOf(result)).toEqual(['f({"n":12345678901234567000}) held: arguments_unsafe'])
    expect(callsOf(read([call('f', '{"a":1}'), done('stop')]))).toEqual(['f({"a":1}) ready'])
    expect(callsOf(read([call('f', undefined), done('stop')]))).toEqual(['f({}) ready'])
    expect(callsOf(read([call('f', 'oops'), done('stop')]))).toEqual(['f(oops) failed: arguments_invalid'])
  })

  test('F047 — think tags in the content, where the profile says so', () => {
    const lines = [text('<th'), text('ink>hm</think>'), text('yes'), done('stop')]
    expect(textOf(read(lines))).toBe('<think>hm</think>yes')
    const split = read(lines, { profile: { thinkTags: true } })
    expect([reasoningOf(split), textOf(split)]).toEqual(['hm', 'yes'])
  })

  test('F076 — no id ever comes: each call gets its own', () => {
    const result = read([call('f', { a: 1 }), call('f', { a: 1 }), done('stop')])
    expect(callsOf(result)).toEqual(['f({"a":1}) ready', 'f({"a":1}) ready'])
    expect(new Set(result.report.choices[0]!.toolCalls.map(({ callId }) => callId)).size).toBe(2)
  })

  test('F078 — an id that repeats: one call sent twice, or two calls', () => {
    const twice = read([call('f', { a: 1 }, { id: 'c' }), call('f', { a: 1 }, { id: 'c' }), done('stop')])
    expect(callsOf(twice)).toEqual(['f({"a":1}) ready', 'f({"a":1}) failed: duplicate_call'])
    const two = read([call('f', { a: 1 }, { id: 'c' }), call('f', { a: 2 }, { id: 'c' }), done('stop')])
    expect(callsOf(two)).toEqual(['f({"a":1}) ready', 'f({"a":2}) ready'])
    expect(findingsOf(two)).toContain('id_repeated')
  })

  test('F087 — two whole calls in one line', () => {
    const calls = ['f', 'g'].map((name) => ({ function: { name, arguments: {} } }))
    expect(callsOf(read([line({ content: '', tool_calls: calls }), done('stop')]))).toEqual([
      'f({}) ready',
      'g({}) ready',
    ])
  })

  test('F091 — the finish reason is stop, also with calls: a tool turn, and no mismatch', () => {
    const result = read([call('f', {}), done('stop')])
    expect(result.report.choices[0]!.finish).toEqual({ reason: 'tool-calls', raw: 'stop' })
    expect(findingsOf(result)).not.toContain('finish_reason_mismatch')
  })

  test('F093 — length holds the calls', () => {
    const result = read([call('f', {}), done('length')])
    expect(callsOf(result)).toEqual(['f({}) held: output_truncated'])
    expect(result.report.outcome).toBe('truncated')
  })

  test('F095 — the body ends without a line that is done', () => {
    const result = read([text('hi'), call('f', {})])
    expect(callsOf(result)).toEqual(['f({}) held: incomplete_stream'])
    expect(result.report).toMatchObject({ outcome: 'incomplete', error: { code: 'incomplete_stream' } })
  })

  test('F096 — done without a reason: held, unless the profile knows that server', () => {
    expect(callsOf(read([call('f', {}), done()]))).toEqual(['f({}) held: missing_finish_reason'])
    expect(callsOf(read([call('f', {}), done()], { profile: { finishReason: 'optional' } }))).toEqual(['f({}) ready'])
  })

  test('F102 — done is the end, whatever comes behind it', () => {
    const result = read([text('hi'), done('stop'), text('more')])
    expect(textOf(result)).toBe('hi')
    expect(findingsOf(result)).toContain('data_after_end')
    expect(result.report.outcome).toBe('completed')
  })

  test('F105 — a model that was only loaded says nothing', () => {
    expect(read([done('load')]).report).toMatchObject({ outcome: 'empty', choices: [{ finish: { raw: 'load' } }] })
  })

  test('F107 — an error as a line', () => {
    const result = read([text('hi'), { error: 'model runner has unexpectedly stopped' }])
    expect(result.report).toMatchObject({
      outcome: 'failed',
      error: {
        code: 'upstream_error',
        retryable: 'restart',
        provider: { message: 'model runner has unexpectedly stopped' },
      },
    })
    expect(read([{ error: 'no such model' }]).report.error).toMatchObject({ retryable: 'yes' })
  })

  test('F111 — a reason that is not known holds the calls', () => {
    expect(callsOf(read([call('f', {}), done('context_shift')]))).toEqual(['f({}) held: finish_unknown'])
  })

  test('F187 — the same lines as events', () => {
    const lines = [text('hi'), call('f', { a: 1 }), done('stop')]
    const events = run(sse(...lines), { adapter: ollama() })
    expect(events.events).toEqual(read(lines).events)
    expect(findingsOf(events)).not.toContain('ndjson_framing')
  })

  test('F188 — a call that is printed as text is never run', () => {
    const result = read([text('{"name":"f","arguments":{"a":1}}'), done('stop')])
    expect(typesOf(result)).not.toContain('tool_batch_ready')
    expect(findingsOf(result)).toContain('tool_call_in_text')
  })

  test.each<[string, Json]>([
    ['no JSON', 'oops'],
    ['no object', '[1]'],
    ['a message that is none', { message: 'hi', done: false }],
    ['content that is no text', line({ content: 7 })],
    ['thinking that is no text', line({ thinking: ['hm'] })],
    ['calls that are no list', line({ tool_calls: { f: {} } })],
    ['a call that is none', line({ tool_calls: [null] })],
    ['a call without a function', line({ tool_calls: [{ name: 'f' }] })],
  ])('F199 — a line that can not be read, %s, is a hole: text goes on, nothing is run', (_, bad) => {
    const result = read([call('f', {}), bad, text('hi'), done('stop')])
    expect(textOf(result)).toBe('hi')
    expect(result.report.outcome).toBe('degraded')
    expect(typesOf(result)).not.toContain('tool_batch_ready')
    expect(read([call('f', {}), bad, done('stop')], { policy: 'strict' }).report.outcome).toBe('failed')
  })
})
