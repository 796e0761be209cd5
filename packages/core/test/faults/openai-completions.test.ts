import { describe, expect, test } from 'vitest'
import { completions } from '../../src/adapters/openai-completions/adapter.ts'
import { findingsOf, reasoningOf, run, textOf } from './run.ts'
import type { Run, RunOptions } from './run.ts'
import { DONE, sse } from './wire.ts'
import type { Json } from './wire.ts'

function chunk(text: Json, reason: Json = null, more: Readonly<Record<string, Json>> = {}): Json {
  const choices = [{ text, index: 0, logprobs: null, finish_reason: reason }]
  return { id: 'cmpl-1', object: 'text_completion', created: 1, model: 'm-1', choices, ...more }
}

const part = (index: Json, text: Json, reason: Json = null): Json =>
  chunk('', null, { choices: [{ text, index, finish_reason: reason }] })

function read(events: readonly Json[], options: RunOptions = {}): Run {
  return run(sse(...events), { adapter: completions(options.profile), ...options })
}

describe('what rows of the catalogue look like in legacy Completions', () => {
  test('F047 — think tags, where the profile says so', () => {
    const events = [chunk('<think>hm</thi'), chunk('nk>yes', 'stop'), DONE]
    expect(textOf(read(events))).toBe('<think>hm</think>yes')
    const split = read(events, { profile: { thinkTags: true } })
    expect([reasoningOf(split), textOf(split)]).toEqual(['hm', 'yes'])
  })

  test('F081 — two choices take turns', () => {
    const events = [part(0, 'a'), part(1, 'b'), part('1', 'B', 'stop'), part(0, 'A', 'length'), DONE]
    const result = read(events, { request: { n: 2 } })
    expect([textOf(result, 0), textOf(result, 1)]).toEqual(['aA', 'bB'])
    expect(result.report.outcome).toBe('truncated')
  })

  test('F095 — neither a finish reason nor [DONE]', () => {
    expect(read([chunk('hi')]).report).toMatchObject({ outcome: 'incomplete', error: { code: 'incomplete_stream' } })
  })

  test('F096 — [DONE] without a finish reason', () => {
    const result = read([chunk('hi'), DONE])
    expect(result.report.outcome).toBe('degraded')
    expect(findingsOf(result)).toEqual(['missing_finish_reason'])
  })

  test('F098 — an empty finish reason is not an end', () => {
    expect(findingsOf(read([chunk('hi', ''), DONE]))).toEqual(['finish_reason_empty', 'missing_finish_reason'])
  })

  test('F101 — a finish reason without [DONE], unless the profile knows that server', () => {
    expect(read([chunk('hi', 'stop')]).report.outcome).toBe('degraded')
    expect(read([chunk('hi', 'stop')], { profile: { sentinel: 'optional' } }).report.outcome).toBe('completed')
  })

  test('F104 — usage behind the finish reason', () => {
    const usage = { prompt_tokens: 2, completion_tokens: 3, total_tokens: 5 }
    const result = read([chunk('hi', 'stop'), chunk('', null, { choices: [], usage }), DONE])
    expect(result.report.usage).toMatchObject({ inputTokens: 2, outputTokens: 3 })
  })

  test('F107 — an error object', () => {
    const result = read([chunk('hi'), { error: { message: 'busy', code: 429 } }, DONE])
    expect(result.report.error).toMatchObject({ code: 'rate_limited', status: 429, retryable: 'restart' })
  })

  test('F184 — one whole completion, and not the first chunk of several', () => {
    const usage = { prompt_tokens: 2, completion_tokens: 3, total_tokens: 5 }
    const whole = run(JSON.stringify(chunk('hi', 'stop', { usage })), { adapter: completions() })
    expect(whole.report.outcome).toBe('completed')
    expect(findingsOf(whole)).toEqual(['downgraded_to_json'])
    expect(findingsOf(read([chunk('hi'), chunk('', 'stop', { usage })]))).toEqual(['missing_sentinel'])
    expect(findingsOf(read([chunk('hi', 'stop', { usage }), chunk('!', 'stop')]))).toEqual([
      'content_after_finish',
      'missing_sentinel',
    ])
  })

  test.each<[string, Json]>([
    ['no JSON', 'oops'],
    ['text that is none', chunk(['hi'])],
    ['a choice that is none', chunk('', null, { choices: [7] })],
    ['an index that is none', part(-1, 'hi')],
    ['choices that are none', chunk('', null, { choices: 'hi' })],
  ])('F199 — a chunk that can not be read, %s, is a hole, and text goes on', (_, bad) => {
    const result = read([chunk('a'), bad, chunk('b', 'stop'), DONE])
    expect(textOf(result)).toBe('ab')
    expect(result.report.outcome).toBe('degraded')
  })
})

test('logprobs and what a server adds are kept', () => {
  const choices = [
    { text: 'hi', index: 0, logprobs: { tokens: ['hi'], token_logprobs: [-1] }, finish_reason: 'stop', stop_reason: 7 },
  ]
  const result = read([chunk('', null, { choices, system_fingerprint: 'fp' }), DONE])
  expect(result.snapshot.metadata).toMatchObject({ system_fingerprint: 'fp' })
  expect(result.snapshot.choices[0]!.metadata).toMatchObject({ 'logprobs.tokens': ['hi'], stop_reason: 7 })
})
