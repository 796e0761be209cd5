import { describe, expect, test } from 'vitest'
import { callsOf, findingsOf, run, textOf, typesOf } from './run.ts'
import { DONE, chunk, chunkOf, finish, frag, sse, text, usage } from './wire.ts'

describe('F107 — an error object in an event, under 200, then [DONE]', () => {
  test.each([
    {
      name: 'numeric code',
      error: { message: 'quota', code: 429, type: 'rate_limit' },
      code: 'rate_limited',
      status: 429,
      provider: { code: '429', type: 'rate_limit', message: 'quota' },
    },
    {
      name: 'code as text',
      error: { message: 'quota', code: '429' },
      code: 'rate_limited',
      status: 429,
      provider: { code: '429', message: 'quota' },
    },
    {
      name: 'a word as code',
      error: { message: 'quota', code: 'rate_limit_exceeded' },
      code: 'rate_limited',
      status: 429,
      provider: { code: 'rate_limit_exceeded', message: 'quota' },
    },
    { name: 'a string', error: 'quota', code: 'upstream_error', status: undefined, provider: { message: 'quota' } },
  ])('$name', ({ error, code, status, provider }) => {
    const result = run(sse(text('Hel'), frag(0, 'c1', 'f', '{"a":1}'), { error }, DONE))
    expect(result.report).toMatchObject({
      outcome: 'failed',
      error: { code, retryable: 'restart', provider, event: 3 },
    })
    expect(result.report.error!.status).toBe(status)
    expect(textOf(result)).toBe('Hel')
    expect(callsOf(result)).toEqual([`f({"a":1}) failed: ${code}`])
    expect(typesOf(result).at(-1)).toBe('stream_error')
  })

  test('a call that a finish reason had closed is not run either', () => {
    const result = run(sse(frag(0, 'c1', 'f', '{"a":1}'), finish('tool_calls'), { error: { message: 'late' } }, DONE))
    expect(callsOf(result)).toEqual(['f({"a":1}) held: upstream_error'])
    expect(typesOf(result)).not.toContain('tool_batch_ready')
  })

  test('tokens were spent all the same: usage after the error is read, nothing else is', () => {
    const result = run(sse(text('Hel'), { error: 'no' }, text('lo'), chunkOf([], { usage: usage(7, 3) }), DONE))
    expect(textOf(result)).toBe('Hel')
    expect(result.report).toMatchObject({ outcome: 'failed', usage: { totalTokens: 10 } })
  })

  test('error null is no error', () => {
    const result = run(sse(chunk({ content: 'a' }, null, { error: null }), finish('stop'), DONE))
    expect(result.report.outcome).toBe('completed')
  })
})

describe('F108 — an error beside something that looks like a chunk', () => {
  const error = { code: 502, message: 'provider unavailable' }

  test.each([
    { name: 'no choices', event: chunkOf([], { error }) },
    { name: 'a choice that says error', event: chunk({ content: '' }, 'error', { error }) },
    { name: 'a choice that says stop', event: chunk({ content: '' }, 'stop', { error }) },
  ])('$name', ({ event }) => {
    const result = run(sse(text('Hel'), event, DONE))
    expect(result.report).toMatchObject({
      outcome: 'failed',
      error: {
        code: 'upstream_error',
        status: 502,
        retryable: 'restart',
        provider: { code: '502', message: 'provider unavailable' },
      },
    })
  })

  test('finish reason error, without any error object', () => {
    const result = run(sse(text('Hel'), finish('error', { content: '' }), DONE))
    expect(result.report).toMatchObject({ outcome: 'failed', error: { code: 'upstream_error', retryable: 'restart' } })
    expect(textOf(result)).toBe('Hel')
  })

  test('Groq says it in a field of its own, with choices or without', () => {
    for (const event of [
      { id: 'x', x_groq: { error: 'over capacity' } },
      chunk({}, null, { x_groq: { id: 'r', error: 'over capacity' } }),
    ]) {
      const result = run(sse(text('Hel'), event, DONE))
      expect(result.report).toMatchObject({
        outcome: 'failed',
        error: { code: 'upstream_error', provider: { message: 'over capacity' } },
      })
    }
  })
})

describe('F109 — the kind of an error comes from code, type or status, never from words', () => {
  test.each([
    {
      name: 'number, with metadata',
      event: {
        choices: [],
        error: { code: 429, message: 'upstream said no', metadata: { error_type: 'rate_limit_exceeded' } },
      },
      code: 'rate_limited',
      status: 429,
      retryable: 'yes',
    },
    {
      name: 'word as code',
      event: { error: { code: 'rate_limit_exceeded' } },
      code: 'rate_limited',
      status: 429,
      retryable: 'yes',
    },
    {
      name: 'type alone',
      event: { error: { type: 'server_error' } },
      code: 'upstream_error',
      status: 500,
      retryable: 'yes',
    },
    { name: 'bare', event: { code: 429, message: 'busy' }, code: 'rate_limited', status: 429, retryable: 'yes' },
    {
      name: 'metadata alone',
      event: { error: { message: 'no', metadata: { error_type: 'rate_limit_exceeded' } } },
      code: 'rate_limited',
      status: 429,
      retryable: 'yes',
    },
    {
      name: 'a 502 that talks of rate limits',
      event: { error: { code: 502, message: 'rate limit 429 exceeded' } },
      code: 'upstream_error',
      status: 502,
      retryable: 'yes',
    },
    {
      name: 'only words',
      event: { error: { message: 'Rate limit exceeded (429)' } },
      code: 'upstream_error',
      status: undefined,
      retryable: 'yes',
    },
    {
      name: 'a request that is wrong',
      event: { error: { type: 'invalid_request_error', code: null } },
      code: 'upstream_error',
      status: 400,
      retryable: 'no',
    },
    {
      name: 'quota spent',
      event: { error: { code: 'insufficient_quota', type: 'insufficient_quota' } },
      code: 'upstream_error',
      status: 402,
      retryable: 'no',
    },
  ])('$name', ({ event, code, status, retryable }) => {
    const { report } = run(sse(event))
    expect(report).toMatchObject({ outcome: 'failed', error: { code, retryable } })
    expect(report.error!.status).toBe(status)
  })
})

describe('F110 — a verdict on the request is not retried', () => {
  test.each([
    { name: 'TGI', event: { error: 'Input validation error: too long', error_type: 'validation' }, status: 400 },
    {
      name: 'a prompt that is too long',
      event: { error: { code: 'context_length_exceeded', type: 'invalid_request_error', message: 'too long' } },
      status: 400,
    },
    { name: 'invalid_prompt', event: { error: { code: 'invalid_prompt', message: 'no' } }, status: 400 },
    {
      name: 'the words of another API',
      event: { type: 'error', error: { type: 'invalid_request_error', message: 'no' } },
      status: 400,
    },
  ])('$name', ({ event, status }) => {
    expect(run(sse(event, DONE)).report.error).toMatchObject({ code: 'upstream_error', status, retryable: 'no' })
    expect(run(sse(text('Hel'), event, DONE)).report.error).toMatchObject({
      code: 'upstream_error',
      status,
      retryable: 'no',
    })
  })
})

describe('F111 — finish reasons that are no good end', () => {
  const calls = [text('Hel'), frag(0, 'c1', 'f', '{"a":1}')]

  test.each([
    { raw: 'error', outcome: 'failed', error: 'upstream_error', reason: 'error', call: 'failed: upstream_error' },
    {
      raw: 'network_error',
      outcome: 'failed',
      error: 'upstream_error',
      reason: 'error',
      call: 'failed: upstream_error',
    },
    {
      raw: 'abort',
      outcome: 'incomplete',
      error: 'incomplete_stream',
      reason: 'aborted',
      call: 'failed: incomplete_stream',
    },
    { raw: 'repetition', outcome: 'degraded', error: undefined, reason: 'unknown', call: 'held: finish_unknown' },
  ])('$raw', ({ raw, outcome, error, reason, call }) => {
    const result = run(sse(...calls, finish(raw), DONE))
    expect(result.report).toMatchObject({ outcome, choices: [{ text: 'Hel', finish: { reason, raw } }] })
    expect(result.report.error?.code).toBe(error)
    expect(result.report.error?.retryable).toBe(error && 'restart')
    expect(callsOf(result)).toEqual([`f({"a":1}) ${call}`])
  })

  test('with an error object the object says what it was', () => {
    const result = run(sse(...calls, finish('error'), { error: { code: 503, message: 'gone' } }, DONE))
    expect(result.report.error).toMatchObject({ code: 'upstream_error', status: 503, provider: { message: 'gone' } })
  })

  test('an unknown word may be told by the profile, in its exact spelling', () => {
    const profile = { finishAliases: { repetition: 'stop' as const } }
    expect(callsOf(run(sse(...calls, finish('repetition'), DONE), { profile }))).toEqual(['f({"a":1}) ready'])
    expect(callsOf(run(sse(...calls, finish('Repetition'), DONE), { profile }))).toEqual([
      'f({"a":1}) held: finish_unknown',
    ])
  })
})

describe('F112 — plain text or HTML where an event was due', () => {
  test.each([
    { name: 'a status line', data: '429 Too Many Requests', code: 'rate_limited', status: 429 },
    {
      name: 'a page',
      data: '<html><head><title>503 Service Temporarily Unavailable</title></head></html>',
      code: 'upstream_error',
      status: 503,
    },
    {
      name: 'a page without a title',
      data: '<!DOCTYPE html><html><body>busy</body></html>',
      code: 'upstream_error',
      status: undefined,
    },
  ])('in the data: $name', ({ data, code, status }) => {
    const result = run(sse(text('Hel'), data, DONE))
    expect(result.report).toMatchObject({ outcome: 'failed', error: { code, retryable: 'restart' } })
    expect(result.report.error!.status).toBe(status)
    expect(textOf(result)).toBe('Hel')
  })

  test('text that names no status is a hole in the evidence, with an excerpt', () => {
    const result = run(sse(text('Hel'), 'upstream went away', text('lo'), finish('stop'), DONE))
    expect(result.report).toMatchObject({
      outcome: 'degraded',
      verdict: { delta_ok: { state: 'fail', code: 'invalid_event_json' } },
    })
    expect(result.report.diagnostics).toMatchObject([
      { code: 'skipped_event', event: 2, hint: expect.stringContaining('upstream went away') as string },
    ])
    expect(textOf(result)).toBe('Hello')
  })

  test('nothing but such text: no event could be read', () => {
    const result = run(sse('upstream went away'))
    expect(result.report).toMatchObject({ outcome: 'failed', error: { code: 'invalid_event_json', retryable: 'yes' } })
    expect(result.report.error!.message).not.toContain('SyntaxError')
  })

  test('the whole body is a page, under 200', () => {
    const page = '<html>\n<head><title>503 Service Temporarily Unavailable</title></head><body>nginx</body></html>'
    const result = run(page, { head: { status: 200, headers: [['content-type', 'text/html']] } })
    expect(result.report).toMatchObject({
      outcome: 'failed',
      error: { code: 'not_event_stream', phase: 'framing', status: 503, retryable: 'yes' },
    })
    expect(findingsOf(result)).toEqual(['proxy_error_page'])
  })
})

describe('F114 — the body of a status that is not 2xx is an error body', () => {
  const error = { error: { message: 'tools is not supported', type: 'invalid_request_error', code: 'bad' } }

  test.each([
    {
      name: '400 JSON',
      status: 400,
      type: 'application/json',
      body: JSON.stringify(error),
      code: 'http_error',
      retryable: 'no',
      said: 'tools is not supported',
    },
    {
      name: '401 JSON',
      status: 401,
      type: 'application/json',
      body: '{"error":{"message":"bad key"}}',
      code: 'http_error',
      retryable: 'no',
      said: 'bad key',
    },
    {
      name: '503 HTML',
      status: 503,
      type: 'text/html',
      body: '<html><head><title>503 Unavailable</title></head></html>',
      code: 'http_error',
      retryable: 'yes',
      said: '503 Unavailable',
    },
    {
      name: '429 JSON',
      status: 429,
      type: 'application/json',
      body: '{"error":{"message":"slow"}}',
      code: 'rate_limited',
      retryable: 'yes',
      said: 'slow',
    },
    {
      name: '422 SSE',
      status: 422,
      type: 'text/event-stream',
      body: sse(error),
      code: 'http_error',
      retryable: 'no',
      said: 'tools is not supported',
    },
    {
      name: '500 text',
      status: 500,
      type: 'text/plain',
      body: 'upstream went away',
      code: 'http_error',
      retryable: 'yes',
      said: 'upstream went away',
    },
    {
      name: '502 without a body',
      status: 502,
      type: 'text/plain',
      body: '',
      code: 'http_error',
      retryable: 'yes',
      said: '502',
    },
  ])('$name', ({ status, type, body, code, retryable, said }) => {
    const result = run(body, { head: { status, headers: [['content-type', type]] } })
    expect(result.report).toMatchObject({
      outcome: 'failed',
      error: { code, phase: 'headers', status, retryable },
      counts: { events: 0 },
    })
    expect(result.report.error!.message).toContain(said)
    expect(result.report.verdict.http_ok).toMatchObject({ state: 'fail', code })
  })
})
