import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { StreamAdapter } from '../../src/adapters/adapter.ts'
import { chatCompletions } from '../../src/adapters/openai-chat/adapter.ts'
import { StreamError } from '../../src/chunk/stream-error.ts'
import type { StreamEvent } from '../../src/chunk/stream-event.ts'
import { connectionWatcher } from '../../src/client/connection-watch.ts'
import type { FailureRecorder } from '../../src/client/failure-recorder.ts'
import { streamModel, streamModelWith } from '../../src/client/model-stream.ts'
import type { ModelStream, StreamModelOptions } from '../../src/client/model-stream.ts'
import { REASONING_TIMEOUTS } from '../../src/engine/deadlines.ts'
import type { LogLine } from '../../src/engine/log-line.ts'
import { eventStream, fakeFetch, HELLO, openBody, WIRE } from './fake-fetch.ts'
import type { Answer, OpenBody } from './fake-fetch.ts'

function open(answers: readonly Answer[], options: Partial<StreamModelOptions> = {}): ModelStream {
  const { fetch } = fakeFetch(...answers)
  return streamModel({ api: 'chat_completions', body: { model: 'm', messages: [] }, retry: false, fetch, ...options })
}

/** The events to the end, and what was thrown there. */
async function collect<Item>(items: AsyncIterable<Item>): Promise<{ items: Item[]; error: unknown }> {
  const all: Item[] = []
  try {
    for await (const item of items) all.push(item)
  } catch (error) {
    return { items: all, error }
  }
  return { items: all, error: undefined }
}

const types = (events: readonly StreamEvent[]): readonly string[] => events.map(({ type }) => type)

describe('a good answer', () => {
  test('as events', async () => {
    const stream = open([eventStream(HELLO)])
    const { items, error } = await collect(stream)
    expect(error).toBeUndefined()
    expect(types(items)).toEqual(['stream_started', 'text_delta', 'text_delta', 'stream_completed'])
    expect(stream.report()).toMatchObject({
      outcome: 'completed',
      source: { kind: 'live', url: 'https://api.openai.com/v1/chat/completions' },
      attempts: [{ attempt: 1, outcome: 'completed', code: null, retryReason: null }],
    })
  })

  test('as text', async () => {
    expect(await collect(open([eventStream(HELLO)]).text())).toEqual({ items: ['hel', 'lo'], error: undefined })
  })

  test('as text of another choice', async () => {
    const second = 'data: {"choices":[{"index":1,"delta":{"content":"two"}}]}\n\n'
    const stream = open([eventStream(second + HELLO)])
    expect((await collect(stream.text(1))).items).toEqual(['two'])
  })

  test('as batches: what one read gave', async () => {
    const { items } = await collect(open([eventStream(HELLO)]).batches())
    expect(items.map(types)).toEqual([['stream_started', 'text_delta', 'text_delta', 'stream_completed']])
  })

  test('as chunks, ended by why it finished', async () => {
    const { items } = await collect(open([eventStream(HELLO)]).chunks())
    expect(items.map(({ type }) => type)).toEqual(['start', 'text-delta', 'text-delta', 'block-end', 'finish'])
  })

  test('as a result, when nobody reads', async () => {
    const body = WIRE.call('c1', 'f', '{"a":1}') + WIRE.finish('tool_calls') + WIRE.done
    expect(await open([eventStream(body)]).result).toMatchObject({
      outcome: 'completed',
      text: '',
      toolCalls: [{ callId: 'c1', name: 'f', parsedArguments: { a: 1 } }],
      finish: [{ choice: 0, reason: 'tool-calls', raw: 'tool_calls' }],
      error: undefined,
    })
  })

  test('as a result beside a loop, asked for before or after it', async () => {
    const stream = open([eventStream(HELLO)])
    const loop = collect(stream)
    const [{ text }] = await Promise.all([stream.result, loop])
    expect(text).toBe('hello')
    expect((await stream.result).outcome).toBe('completed')
  })

  test('whole, as JSON, is the same events', async () => {
    const message = { role: 'assistant', content: 'hello' }
    const json = { id: 'r', model: 'm', choices: [{ index: 0, message, finish_reason: 'stop' }] }
    const stream = open([Response.json(json)])
    expect(types((await collect(stream)).items)).toEqual(['stream_started', 'text_delta', 'stream_completed'])
    expect(stream.report().diagnostics.map(({ code }) => code)).toContain('downgraded_to_json')
  })

  test('snapshot and report can be looked at before, between and after', async () => {
    const stream = open([eventStream(HELLO)])
    expect(stream.report()).toMatchObject({ outcome: null, choices: [] })
    const between: unknown[] = []
    for await (const event of stream) if (event.type === 'text_delta') between.push(stream.snapshot().choices[0])
    expect(between).toMatchObject([{ blocks: [{ type: 'text' }] }, { blocks: [{ type: 'text' }] }])
    expect(stream.snapshot()).toMatchObject({ ended: true, choices: [{ blocks: [{ text: 'hello' }] }] })
  })

  test('begins with the first event where no further attempt could follow', async () => {
    const body = openBody()
    body.write(WIRE.role)
    const events = open([() => Promise.resolve(body.response)])[Symbol.asyncIterator]()
    expect((await events.next()).value).toMatchObject({ type: 'stream_started', attempt: 1 })
    await events.return?.()
  })

  test('ends at [DONE] though the body stays open', async () => {
    const body = openBody()
    body.write(HELLO)
    expect((await open([() => Promise.resolve(body.response)]).result).outcome).toBe('completed')
    await vi.waitFor(() => expect(body.cancelled).toBe(true))
  })
})

describe('what is sent', () => {
  test('nothing until it is read', async () => {
    const { fetch, sent } = fakeFetch(eventStream(HELLO))
    const stream = streamModel({ api: 'chat_completions', body: {}, fetch })
    expect(sent).toEqual([])
    await stream.result
    expect(sent).toHaveLength(1)
  })

  test('a redirect is not followed: it would carry the key along', async () => {
    let redirect: string | undefined
    const stream = open([], {
      fetch: async (_input, init) => {
        redirect = init?.redirect
        return new Response(null, { status: 307, headers: { location: 'https://elsewhere.example/' } })
      },
    })
    await expect(stream.result).rejects.toMatchObject({ code: 'http_error', status: 307, retryable: 'no' })
    expect(redirect).toBe('manual')
  })

  test('the request arms the checks of the answer', async () => {
    const tools = [{ type: 'function', function: { name: 'f' } }]
    const body = WIRE.call('c1', 'g', '{}') + WIRE.finish('tool_calls') + WIRE.done
    const stream = open([eventStream(body)], { body: { tools } })
    expect((await stream.result).report.choices[0]?.toolCalls).toMatchObject([{ name: 'g', code: 'unknown_tool' }])
  })

  test('keys in the address stay out of the report', async () => {
    const stream = open([eventStream(HELLO)], { baseURL: 'https://me:secret@host.example/v1?key=secret' })
    await stream.result
    expect(stream.report().source.url).toBe('https://host.example/v1/chat/completions')
  })
})

describe('over one adapter', () => {
  const request = { body: { model: 'm', messages: [] }, retry: false } as const

  test('the address and the wire format are those of the adapter', async () => {
    const { fetch, sent } = fakeFetch(eventStream(HELLO))
    const { text, report } = await streamModelWith(chatCompletions(), { ...request, fetch }).result
    expect(sent[0]?.url).toBe('https://api.openai.com/v1/chat/completions')
    expect({ text, api: report.api, outcome: report.outcome }).toEqual({
      text: 'hello',
      api: 'chat_completions',
      outcome: 'completed',
    })
  })

  test('one of your own is read by itself, and sent to where it says', async () => {
    const { fetch, sent } = fakeFetch(eventStream(HELLO))
    const own: StreamAdapter = { ...chatCompletions(), api: 'mine' }
    const options = { ...request, api: 'ollama', baseURL: 'http://h', fetch } as const
    const { text, report } = await streamModelWith(own, options).result
    expect(sent[0]?.url).toBe('http://h/api/chat')
    expect({ text, api: report.api }).toEqual({ text: 'hello', api: 'mine' })
    expect(() => streamModelWith(own, request)).toThrow(/name the "api" they are sent to/)
  })
})

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

describe('cancelling', () => {
  test('before it is read: nothing is sent', async () => {
    const { fetch, sent } = fakeFetch(eventStream(HELLO))
    const stream = streamModel({ api: 'chat_completions', body: {}, fetch })
    stream.cancel('changed my mind')
    const { items, error } = await collect(stream)
    expect(items).toMatchObject([{ type: 'stream_error', code: 'cancelled', outcome: 'cancelled' }])
    expect(error).toMatchObject({ code: 'cancelled', cause: 'changed my mind' })
    expect(sent).toEqual([])
  })

  test('in the middle of a read: one event, then silence', async () => {
    const stream = open([eventStream(HELLO)], { throwOnError: false })
    const seen: StreamEvent[] = []
    for await (const event of stream) {
      seen.push(event)
      if (event.type === 'text_delta') stream.cancel()
    }
    expect(types(seen)).toEqual(['stream_started', 'text_delta', 'stream_error'])
    expect(seen.at(-1)).toMatchObject({ code: 'cancelled' })
    expect(stream.report()).toMatchObject({ outcome: 'cancelled', error: { code: 'cancelled' } })
  })

  test('gives no batch out any more that was already read', async () => {
    const body = WIRE.text('x') + WIRE.call('c1', 'f', '{}') + WIRE.finish('tool_calls') + WIRE.done
    const stream = open([eventStream(body)], { throwOnError: false })
    const seen: StreamEvent[] = []
    for await (const event of stream) {
      seen.push(event)
      if (event.type === 'text_delta') stream.cancel()
    }
    expect(types(seen)).not.toContain('tool_batch_ready')
    expect(await stream.result).toMatchObject({ outcome: 'cancelled', toolCalls: [] })
  })

  test('by a signal, while it waits for more', async () => {
    const abort = new AbortController()
    const body = openBody()
    body.write(WIRE.text('hel'))
    const stream = open([() => Promise.resolve(body.response)], { signal: abort.signal })
    const seen: StreamEvent[] = []
    const reading = (async () => {
      for await (const event of stream) {
        seen.push(event)
        if (event.type === 'text_delta') queueMicrotask(() => abort.abort(new Error('gone')))
      }
    })()
    await expect(reading).rejects.toMatchObject({ code: 'cancelled', cause: new Error('gone') })
    expect(types(seen)).toEqual(['stream_started', 'text_delta', 'stream_error'])
    expect(body.cancelled).toBe(true)
  })

  test('by leaving the loop', async () => {
    const body = openBody()
    body.write(WIRE.text('hel'))
    const stream = open([() => Promise.resolve(body.response)])
    for await (const event of stream) if (event.type === 'text_delta') break
    expect(body.cancelled).toBe(true)
    expect(stream.report()).toMatchObject({ outcome: 'cancelled' })
    await expect(stream.result).rejects.toMatchObject({ code: 'cancelled' })
  })

  test('while nobody asks for more: the body is given up at once', async () => {
    const body = openBody()
    body.write(WIRE.text('hel'))
    const events = open([() => Promise.resolve(body.response)], { throwOnError: false })
    const iterator = events[Symbol.asyncIterator]()
    await iterator.next()
    events.cancel()
    expect(body.cancelled).toBe(true)
    expect((await iterator.next()).value).toMatchObject({ type: 'stream_error', code: 'cancelled' })
  })

  test('before the first output: what was held back stays unseen', async () => {
    const body = openBody()
    body.write(WIRE.role)
    const stream = open([() => Promise.resolve(body.response)], { throwOnError: false, retry: {} })
    const reading = collect(stream)
    await vi.waitFor(() => expect(stream.report().counts.events).toBe(1))
    stream.cancel()
    expect(types((await reading).items)).toEqual(['stream_error'])
  })

  test('in a call: what becomes of it is in the report, not in the events', async () => {
    const body = openBody()
    body.write(WIRE.call('c1', 'f', '{"a":'))
    const stream = open([() => Promise.resolve(body.response)], { throwOnError: false })
    const reading = collect(stream)
    await vi.waitFor(() => expect(stream.report().counts.events).toBe(1))
    stream.cancel()
    expect(types((await reading).items)).toEqual([
      'stream_started',
      'tool_call_started',
      'tool_call_arguments_delta',
      'stream_error',
    ])
    expect(stream.report().choices[0]?.toolCalls).toMatchObject([{ callId: 'c1', code: 'cancelled' }])
  })

  test('by leaving the loop with throwOnError: false, or at the very end of a failed one', async () => {
    const left = open([eventStream(HELLO)], { throwOnError: false })
    for await (const _ of left.batches()) break
    expect(await left.result).toMatchObject({ outcome: 'completed' })
    const body = openBody()
    body.write(WIRE.text('x'))
    const early = open([() => Promise.resolve(body.response)], { throwOnError: false })
    for await (const _ of early) break
    expect(await early.result).toMatchObject({ outcome: 'cancelled', error: { code: 'cancelled' } })
    const failed = open([eventStream(WIRE.text('x'))])
    for await (const { type } of failed) if (type === 'stream_error') break
    await expect(failed.result).rejects.toMatchObject({ code: 'incomplete_stream' })
  })

  describe('by leaving the loop with events left over, however the network cut them', () => {
    const body = WIRE.text('a') + WIRE.text('b') + WIRE.call('c1', 'f', '{}') + WIRE.finish('tool_calls') + WIRE.done

    test('before the calls: none was released, in the report as well', async () => {
      const stream = open([eventStream(body)], { throwOnError: false })
      for await (const { type } of stream) if (type === 'text_delta') break
      expect(await stream.result).toMatchObject({ outcome: 'cancelled', toolCalls: [], error: { code: 'cancelled' } })
      expect(stream.report()).toMatchObject({
        outcome: 'cancelled',
        error: { code: 'cancelled' },
        verdict: { delta_ok: { state: 'fail', code: 'cancelled' } },
        choices: [{ outcome: 'cancelled', phase: 'failed', toolCalls: [{ callId: 'c1', code: 'cancelled' }] }],
        attempts: [{ outcome: 'cancelled', code: 'cancelled' }],
      })
    })

    test('at the batch, to run it: only its end was not seen', async () => {
      const stream = open([eventStream(body)])
      for await (const { type } of stream) if (type === 'tool_batch_ready') break
      expect(await stream.result).toMatchObject({ outcome: 'completed', toolCalls: [{ callId: 'c1' }] })
    })

    test('of texts', async () => {
      const stream = open([eventStream(body)], { throwOnError: false })
      for await (const _ of stream.text()) break
      expect(await stream.result).toMatchObject({ outcome: 'cancelled', toolCalls: [] })
    })

    test('of texts, at the last one: everything that there was to see was seen', async () => {
      const stream = open([eventStream(HELLO)])
      for await (const text of stream.text()) if (text === 'lo') break
      expect(await stream.result).toMatchObject({ outcome: 'completed' })
    })

    test('of chunks', async () => {
      const stream = open([eventStream(body)], { throwOnError: false })
      for await (const _ of stream.chunks()) break
      expect(stream.report()).toMatchObject({ outcome: 'cancelled', choices: [{ toolCalls: [{ code: 'cancelled' }] }] })
    })
  })

  test('behind a batch that was handed out: its calls stay released', async () => {
    const body = WIRE.call('c1', 'f', '{}') + WIRE.finish('tool_calls') + WIRE.done
    const stream = open([eventStream(body)], { throwOnError: false })
    for await (const { type } of stream) if (type === 'tool_batch_ready') stream.cancel()
    expect(await stream.result).toMatchObject({ outcome: 'cancelled', toolCalls: [{ callId: 'c1' }] })
    expect(stream.report().choices).toMatchObject([
      { outcome: 'cancelled', phase: 'released', toolCalls: [{ callId: 'c1', code: null }] },
    ])
  })

  test('by giving the iterator up before it began', async () => {
    const { fetch, sent } = fakeFetch()
    const stream = streamModel({ api: 'chat_completions', body: {}, fetch })
    await stream.text().return?.()
    await expect(stream.result).rejects.toMatchObject({ code: 'cancelled' })
    expect(sent).toEqual([])
  })

  test('by giving the iterator up while it waits', async () => {
    const body = openBody()
    const events = open([() => Promise.resolve(body.response)])[Symbol.asyncIterator]()
    const waiting = events.next()
    await vi.waitFor(() => expect(body.response.body?.locked).toBe(true))
    await events.return?.()
    expect(await waiting).toMatchObject({ value: { type: 'stream_error', code: 'cancelled' } })
    expect(body.cancelled).toBe(true)
    expect(await events.next()).toEqual({ done: true, value: undefined })
  })

  test('after the end changes nothing', async () => {
    const stream = open([eventStream(HELLO)])
    await stream.result
    stream.cancel()
    expect(stream.report()).toMatchObject({ outcome: 'completed' })
    expect((await stream.result).outcome).toBe('completed')
  })
})

describe('one reader', () => {
  test('a second one is told so', async () => {
    const stream = open([eventStream(HELLO)])
    const first = stream.text()
    expect(() => stream[Symbol.asyncIterator]()).toThrow(/already being read/)
    expect((await collect(first)).items).toEqual(['hel', 'lo'])
  })

  test('calls of next need not wait for each other', async () => {
    const events = open([eventStream(HELLO)])[Symbol.asyncIterator]()
    const all = await Promise.all(Array.from({ length: 6 }, () => events.next()))
    expect(all.map(({ value }) => (value as StreamEvent | undefined)?.type)).toEqual([
      'stream_started',
      'text_delta',
      'text_delta',
      'stream_completed',
      undefined,
      undefined,
    ])
  })
})

function failing(): void {
  throw new Error('mine')
}

describe('onReport', () => {
  test('sees the report once, also of a failure', async () => {
    const onReport = vi.fn<(report: { outcome: unknown }) => void>()
    await collect(open([eventStream(WIRE.text('x'))], { onReport }))
    expect(onReport.mock.calls.map(([{ outcome }]) => outcome)).toEqual(['incomplete'])
  })

  test('that throws disturbs no reader', async () => {
    const thrown: unknown[] = []
    const real = queueMicrotask
    const aside = vi.spyOn(globalThis, 'queueMicrotask').mockImplementation((task) =>
      real(() => {
        try {
          task()
        } catch (error) {
          thrown.push(error)
        }
      }),
    )
    try {
      expect(await open([eventStream(HELLO)], { onReport: failing }).result).toMatchObject({ outcome: 'completed' })
      await vi.waitFor(() => expect(thrown).toEqual([new Error('mine')]))
    } finally {
      aside.mockRestore()
    }
  })
})

describe('onLog', () => {
  test('has one line of every stream, and nothing of what it said', async () => {
    const onLog = vi.fn<(line: LogLine) => void>()
    const body =
      WIRE.text('a secret') + WIRE.call('c1', 'f', '{"city":"Paris"}') + WIRE.finish('tool_calls') + WIRE.done
    await open([eventStream(body)], { onLog, route: 'a' }).result
    expect(onLog.mock.calls).toMatchObject([[{ outcome: 'completed', route: 'a', attempt: 1, text_delta_bytes: 8 }]])
    expect(JSON.stringify(onLog.mock.calls)).not.toMatch(/a secret|Paris/)
  })
})

interface Watched {
  readonly options: Partial<StreamModelOptions>
  readonly seen: unknown[]
}
/** A recorder that notes what it is told. */
function watched(): Watched {
  const seen: unknown[] = []
  const recorder: FailureRecorder = {
    open: (inner) => ({
      fetch: (input, init) => {
        seen.push('request')
        return inner(input, init)
      },
      failed: ({ outcome, attempts }) => seen.push([outcome, attempts.length]),
    }),
  }
  return { options: { onFailure: recorder, throwOnError: false, retry: { baseDelayMs: 0 } }, seen }
}

describe('onFailure', () => {
  test('hears of a stream that failed, after all its attempts', async () => {
    const { options, seen } = watched()
    await open([eventStream(''), eventStream(WIRE.text('x'))], options).result
    expect(seen).toEqual(['request', 'request', ['incomplete', 2]])
  })

  test('hears nothing of one that ended well at last', async () => {
    const { options, seen } = watched()
    await open([eventStream(''), eventStream(HELLO)], options).result
    expect(seen).toEqual(['request', 'request'])
  })

  test('hears nothing of one that its reader left', async () => {
    const { options, seen } = watched()
    for await (const _ of open([eventStream(HELLO)], { ...options, retry: false }).batches()) break
    const cancelled = open([], options)
    cancelled.cancel()
    await cancelled.result
    expect(seen).toEqual(['request'])
  })

  test.each([true, false])('is awaited by the result of a stream (throwOnError: %s)', async (throwOnError) => {
    const order: string[] = []
    let keep: (() => void) | undefined
    const onFailure: FailureRecorder = {
      open: (inner) => ({ fetch: inner, failed: () => new Promise<void>((resolve) => (keep = resolve)) }),
    }
    const stream = open([eventStream(WIRE.text('x'))], { onFailure, throwOnError })
    const first = stream.result.then(
      () => order.push('resolved'),
      () => order.push('rejected'),
    )
    await vi.waitFor(() => expect(keep).toBeDefined())
    // Whatever else was due has come.
    await new Promise((resolve) => setTimeout(resolve))
    expect(order).toEqual([])
    order.push('kept')
    keep!()
    await first
    expect(order).toEqual(['kept', throwOnError ? 'rejected' : 'resolved'])
  })

  test('is awaited by a result that is asked for after the loop', async () => {
    let keep: (() => void) | undefined
    let kept = false
    const onFailure: FailureRecorder = {
      open: (inner) => ({
        fetch: inner,
        failed: async () => {
          await new Promise<void>((resolve) => (keep = resolve))
          kept = true
        },
      }),
    }
    const stream = open([eventStream(WIRE.text('x'))], { onFailure })
    expect((await collect(stream)).error).toMatchObject({ code: 'incomplete_stream' })
    expect(kept).toBe(false)
    const result = stream.result.catch((error: unknown) => ({ error, kept }))
    keep!()
    expect(await result).toMatchObject({ error: { code: 'incomplete_stream' }, kept: true })
  })

  // Elsewhere an error that nobody catches can't be kept from ending the run.
  test.skipIf(typeof process === 'undefined')(
    'that fails later disturbs no reader, and is seen as the error that it is',
    async () => {
      const uncaught: unknown[] = []
      const listeners = process.listeners('uncaughtException')
      process.removeAllListeners('uncaughtException')
      process.once('uncaughtException', (error) => uncaught.push(error))
      try {
        const full = new Error('disk full')
        const onFailure: FailureRecorder = { open: (inner) => ({ fetch: inner, failed: () => Promise.reject(full) }) }
        const failed = open([eventStream(WIRE.text('x'))], { onFailure })
        await expect(failed.result).rejects.toMatchObject({ code: 'incomplete_stream' })
        await vi.waitFor(() => expect(uncaught).toEqual([full]))
      } finally {
        for (const listener of listeners) process.on('uncaughtException', listener)
      }
    },
  )

  test('is no bare callback: it would be given what is not redacted', () => {
    const callback = (() => {}) as unknown as FailureRecorder
    expect(() => open([], { onFailure: callback })).toThrow(/recordFailures/)
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
