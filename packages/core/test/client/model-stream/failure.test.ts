import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { StreamError } from '../../../src/chunk/stream-error.ts'
import { connectionWatcher } from '../../../src/client/connection-watch.ts'
import type { ModelStream } from '../../../src/client/model-stream.ts'
import { REASONING_TIMEOUTS } from '../../../src/engine/deadlines.ts'
import { eventStream, HELLO, openBody, WIRE } from '../fake-fetch.ts'
import type { Answer, OpenBody } from '../fake-fetch.ts'
import { collect, open, types } from './open-stream.ts'

describe('a failure', () => {
  const cut = WIRE.role + WIRE.text('hel')

  test('is the last event, and then thrown', async () => {
    const { items, error } = await collect(open([eventStream(cut)]))
    expect(types(items)).toEqual(['stream_started', 'text_delta', 'stream_error'])
    expect(StreamError.is(error)).toBe(true)
    expect(error).toMatchObject({ code: 'incomplete_stream', retryable: 'restart' })
  })

  test('is thrown to whoever reads the text alone', async () => {
    const { items, error } = await collect(open([eventStream(cut)]).text())
    expect(items).toEqual(['hel'])
    expect(error).toMatchObject({ code: 'incomplete_stream' })
  })

  test('rejects the result, and no rejection is unhandled where nobody asked', async () => {
    await expect(open([eventStream(cut)]).result).rejects.toMatchObject({ code: 'incomplete_stream' })
    const unseen = open([eventStream(cut)])
    await collect(unseen)
    await expect(unseen.result).rejects.toMatchObject({ code: 'incomplete_stream' })
  })

  test('is not thrown with throwOnError: false', async () => {
    const stream = open([eventStream(cut)], { throwOnError: false })
    expect((await collect(stream)).error).toBeUndefined()
    expect(await stream.result).toMatchObject({
      outcome: 'incomplete',
      error: { code: 'incomplete_stream' },
      text: 'hel',
    })
  })

  test('is the last chunk, and nothing is thrown', async () => {
    const { items, error } = await collect(open([eventStream(cut)]).chunks())
    expect(error).toBeUndefined()
    expect(items.at(-1)).toMatchObject({ type: 'error', error: { code: 'incomplete_stream' } })
  })

  test.each([
    { name: 'arguments that do not parse', body: WIRE.call('c1', 'f', '{"a":'), code: 'arguments_incomplete' },
    {
      name: 'a bad event before it',
      body: `data: {"choices":[{"del\n\n${WIRE.call('c1', 'f', '{}')}`,
      code: 'event_skipped',
    },
  ])('a call that was refused ($name) is not passed on as a good one', async ({ body, code }) => {
    const stream = open([eventStream(body + WIRE.finish('tool_calls') + WIRE.done)])
    const { items } = await collect(stream.chunks())
    expect(items.map(({ type }) => type)).not.toContain('finish')
    expect(items.at(-1)).toMatchObject({ type: 'error', error: { code, callId: 'c1' } })
  })

  test('a call that was cut off by the token limit is passed on as that', async () => {
    const body = WIRE.call('c1', 'f', '{"a":') + WIRE.finish('length') + WIRE.done
    expect((await collect(open([eventStream(body)]).chunks())).items.at(-1)).toMatchObject({
      type: 'finish',
      reason: 'length',
    })
  })

  test.each<{ name: string; answer: Answer; want: object }>([
    {
      name: '400 with a JSON body',
      answer: () =>
        Promise.resolve(
          Response.json({ error: { message: 'no such field', type: 'invalid_request_error' } }, { status: 400 }),
        ),
      want: { code: 'http_error', status: 400, retryable: 'no', provider: { type: 'invalid_request_error' } },
    },
    {
      name: '502 with a page',
      answer: () => Promise.resolve(new Response('<html><title>502 Bad Gateway</title></html>', { status: 502 })),
      want: { code: 'http_error', status: 502, retryable: 'yes', provider: { message: '502 Bad Gateway' } },
    },
    {
      name: '503 without a body',
      answer: () => Promise.resolve(new Response(null, { status: 503 })),
      want: { code: 'http_error', status: 503, retryable: 'yes' },
    },
    {
      name: '429 that says when',
      answer: () => Promise.resolve(new Response('slow down', { status: 429, headers: { 'retry-after': '3' } })),
      want: { code: 'rate_limited', status: 429, retryAfterMs: 3000 },
    },
    {
      name: '200 with a page',
      answer: () =>
        Promise.resolve(
          new Response('<!doctype html><title>Log in</title>', { headers: { 'content-type': 'text/html' } }),
        ),
      want: { code: 'not_event_stream' },
    },
    { name: '200 with nothing', answer: () => Promise.resolve(new Response('')), want: { code: 'empty_stream' } },
    {
      name: 'a connection that broke',
      answer: () =>
        Promise.reject(
          new TypeError('fetch failed', { cause: Object.assign(new Error('no'), { code: 'ECONNREFUSED' }) }),
        ),
      want: { code: 'connect_failed', phase: 'connect' },
    },
  ])('$name', async ({ answer, want }) => {
    await expect(open([answer]).result).rejects.toMatchObject(want)
  })

  test.each([
    { baseURL: 'http://127.0.0.1:1/v1', place: '127.0.0.1:1' },
    { baseURL: 'https://user:secret@h.example/v1?key=secret', place: 'h.example:443' },
    { baseURL: 'http://[::1]/v1', place: '[::1]:80' },
  ])('a connection that failed names where it was to go: $place', async ({ baseURL, place }) => {
    const refused = new TypeError('fetch failed', { cause: Object.assign(new Error('no'), { code: 'ECONNREFUSED' }) })
    const error: unknown = await open([() => Promise.reject(refused)], { baseURL }).result.catch((e: unknown) => e)
    expect(error).toMatchObject({ code: 'connect_failed', cause: refused })
    expect((error as Error).message).toContain(` (${place}: ECONNREFUSED); check the address`)
    expect((error as Error).message).not.toContain('secret')
  })

  test('the cause of a stream that broke is what the network threw, in the last attempt', async () => {
    const first = new TypeError('fetch failed')
    const last = new TypeError('terminated')
    const body = openBody()
    body.write(WIRE.text('hel'))
    const stream = open([() => Promise.reject(first), body.response], { retry: { baseDelayMs: 0 } })
    const seen: string[] = []
    let error: unknown
    try {
      for await (const { type } of stream) {
        seen.push(type)
        if (type === 'text_delta') body.fail(last)
      }
    } catch (thrown) {
      error = thrown
    }
    expect(seen[0]).toBe('attempt_failed')
    expect(error).toMatchObject({ code: 'incomplete_stream', cause: last })
  })

  test('what the server said has no cause, though an attempt before it had', async () => {
    const stream = open(
      [() => Promise.reject(new TypeError('fetch failed')), () => Promise.resolve(new Response('', { status: 401 }))],
      { retry: { baseDelayMs: 0 } },
    )
    const error: unknown = await stream.result.catch((e: unknown) => e)
    expect(error).toMatchObject({ code: 'http_error' })
    expect((error as Error).cause).toBeUndefined()
  })

  test.each([
    { name: 'no head', code: 'UND_ERR_HEADERS_TIMEOUT', text: '', want: 'connect_failed' },
    { name: 'no byte', code: 'UND_ERR_BODY_TIMEOUT', text: WIRE.text('hel'), want: 'incomplete_stream' },
  ])(
    "$name for 300 s, by the clock of Node's own fetch: the message says how to lift it",
    async ({ code, text, want }) => {
      const limit = new TypeError('terminated', { cause: Object.assign(new Error('Timeout'), { code }) })
      const body = openBody()
      const answer: Answer = () => (text === '' ? Promise.reject(limit) : Promise.resolve(body.response))
      const stream = open([answer], { throwOnError: false })
      if (text !== '') body.write(text)
      for await (const { type } of stream) if (type === 'text_delta') body.fail(limit)
      expect(stream.report().error).toMatchObject({
        code: want,
        message: expect.stringContaining('streamfold/node') as string,
      })
    },
  )

  test('a mistake in the request is thrown as it is', async () => {
    const stream = open([() => Promise.reject(new RangeError('no such header'))])
    expect(await collect(stream)).toMatchObject({ items: [], error: new RangeError('no such header') })
    await expect(stream.result).rejects.toThrow('no such header')
  })
})

describe('usage behind an error of the provider', () => {
  const error = 'data: {"error":{"message":"overloaded","code":529}}\n\n'
  const usage = 'data: {"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":3}}\n\n'

  /** Reads to the error, then lets `then` happen. */
  async function failedWith(then: (body: OpenBody, stream: ModelStream) => void): Promise<ModelStream> {
    const body = openBody()
    const stream = open([() => Promise.resolve(body.response)], { throwOnError: false })
    body.write(WIRE.text('hel') + error)
    for await (const event of stream) if (event.type === 'stream_error') then(body, stream)
    expect(body.cancelled || body.closed).toBe(true)
    return stream
  }

  test('is waited for, and the error is not held up by it', async () => {
    const stream = await failedWith((body) => {
      body.write(usage)
      body.close()
    })
    expect(stream.report()).toMatchObject({ outcome: 'failed', usage: { inputTokens: 7, outputTokens: 3 } })
    expect(await stream.result).toMatchObject({ error: { code: 'upstream_error' }, usage: { inputTokens: 7 } })
  })

  test('not longer than a second', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    try {
      const stream = await failedWith(() => queueMicrotask(() => void vi.advanceTimersByTimeAsync(1000)))
      expect(stream.report()).toMatchObject({ error: { code: 'upstream_error' }, usage: null })
      expect(vi.getTimerCount()).toBe(0)
    } finally {
      vi.useRealTimers()
    }
  })

  test('not beyond a cancel, which changes nothing else', async () => {
    const stream = await failedWith((_body, it) => queueMicrotask(() => it.cancel()))
    expect(stream.report()).toMatchObject({ outcome: 'failed', error: { code: 'upstream_error' } })
  })

  test('not without a bound', async () => {
    const stream = await failedWith((body) => body.write(`: ${'x'.repeat(70_000)}\n\n`))
    expect(stream.report()).toMatchObject({ error: { code: 'upstream_error' } })
  })

  test('a body that breaks then is no other failure', async () => {
    const stream = await failedWith((body) => body.fail(new TypeError('terminated')))
    expect(stream.report()).toMatchObject({ error: { code: 'upstream_error' } })
    expect(stream.report().diagnostics.map(({ code }) => code)).toContain('transport_error_after_end')
  })

  test('is not waited for where nobody told of an error: the socket goes at once', async () => {
    const body = openBody()
    const stream = open([() => Promise.resolve(body.response)], { throwOnError: false, limits: { eventBytes: 100 } })
    body.write(WIRE.text('x'.repeat(200)))
    await stream.result
    expect(body.cancelled).toBe(true)
    expect(stream.report()).toMatchObject({ error: { code: 'event_limit_exceeded' } })
  })
})

const slow =
  (seen: boolean): Answer =>
  (signal) =>
    new Promise((resolve, reject) => {
      if (seen) connectionWatcher(signal)?.()
      signal.addEventListener('abort', () => reject(signal.reason as Error))
      setTimeout(() => resolve(eventStream(HELLO)), 11_000)
    })

/** A `fetch` shows no connection, so its clock runs to the head; one that shows it is another clock's from there. */
describe('a model that takes 11 s to its head', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  test.each([
    { name: 'with the preset for reasoning', timeouts: 'reasoning', seen: false, want: 'connect_timeout' },
    { name: 'with a later first byte', timeouts: { firstByteMs: 600_000 }, seen: false, want: 'connect_timeout' },
    { name: 'with a later connection', timeouts: { connectMs: 60_000 }, seen: false, want: undefined },
    {
      name: 'with all that the preset has and a later connection',
      timeouts: { ...REASONING_TIMEOUTS, connectMs: 300_000 },
      seen: false,
      want: undefined,
    },
    { name: 'over a connection that is seen', timeouts: {}, seen: true, want: undefined },
  ] as const)('$name: $want', async ({ timeouts, seen, want }) => {
    const result = open([slow(seen)], { timeouts, throwOnError: false }).result.then(({ error, text }) => ({
      error,
      text,
    }))
    await vi.advanceTimersByTimeAsync(11_000)
    const { error, text } = await result
    expect(error?.code).toBe(want)
    expect(text).toBe(want === undefined ? 'hello' : '')
    expect(error?.message ?? '').toMatch(
      want === undefined ? /^$/ : /raise timeouts\.connectMs, or use .* streamfold\/node/,
    )
  })
})
