import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { StreamErrorEvent, StreamEvent } from '../../src/chunk/stream-event.ts'
import { streamModel } from '../../src/client/model-stream.ts'
import type { ModelStream, StreamModelOptions } from '../../src/client/model-stream.ts'
import { backOffMs } from '../../src/client/retry.ts'
import { eventStream, fakeFetch, HELLO, WIRE } from './fake-fetch.ts'
import type { Answer, FakeFetch } from './fake-fetch.ts'

const failure: StreamErrorEvent = {
  type: 'stream_error',
  code: 'http_error',
  phase: 'headers',
  message: 'busy',
  retryable: 'yes',
  outcome: 'failed',
  finish: [],
}

describe('how long to wait', () => {
  test.each([
    { name: 'the first time: anything up to the base', attempt: 1, random: 1, want: 500 },
    { name: 'nothing, with bad luck', attempt: 1, random: 0, want: 0 },
    { name: 'the second time: up to twice as long', attempt: 2, random: 0.5, want: 500 },
    { name: 'never more than the cap', attempt: 9, random: 1, options: { attempts: 10 }, want: 30_000 },
    { name: 'what the server asks for is a floor', attempt: 1, random: 0, retryAfterMs: 3000, want: 3000 },
    { name: 'and the jitter comes on top of it', attempt: 1, random: 1, retryAfterMs: 3000, want: 3500 },
    { name: 'a floor with a fraction is not cut off', attempt: 1, random: 0, retryAfterMs: 250.4, want: 251 },
    { name: 'a server may ask for no wait', attempt: 1, random: 0, retryAfterMs: 0, want: 0 },
    {
      name: 'a wait that is too long is not shortened: there is none',
      attempt: 1,
      random: 0,
      retryAfterMs: 60_001,
      want: undefined,
    },
    { name: 'attempts are counted', attempt: 3, random: 0, want: undefined },
    { name: 'someone else may say no', attempt: 1, random: 0, options: { shouldRetry: () => false }, want: undefined },
  ])('$name', ({ attempt, random, retryAfterMs, options, want }) => {
    const failed = { ...failure, ...(retryAfterMs !== undefined && { retryAfterMs }) }
    expect(backOffMs(failed, attempt, { random: () => random, ...options })).toBe(want)
  })

  test.each(['restart', 'no', 'unknown'] as const)('retryable %s is not retried', (retryable) => {
    expect(backOffMs({ ...failure, retryable }, 1, { random: () => 0 })).toBeUndefined()
  })
})

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
})
afterEach(() => {
  vi.useRealTimers()
})

const busy =
  (headers: HeadersInit = {}): Answer =>
  () =>
    Promise.resolve(new Response('busy', { status: 503, headers }))

function open(
  answers: readonly Answer[],
  options: Partial<StreamModelOptions> = {},
): { stream: ModelStream } & FakeFetch {
  const fake = fakeFetch(...answers)
  const stream = streamModel({
    api: 'chat_completions',
    body: { model: 'm' },
    fetch: fake.fetch,
    throwOnError: false,
    retry: { random: () => 1 },
    ...options,
  })
  return { stream, ...fake }
}

/** Reads to the end, and lets the time pass that is waited for. */
async function collect(stream: AsyncIterable<StreamEvent>): Promise<StreamEvent[]> {
  const events: StreamEvent[] = []
  for await (const event of stream) {
    events.push(event)
    if (event.type === 'attempt_failed') queueMicrotask(() => void vi.advanceTimersByTimeAsync(event.delayMs))
  }
  return events
}

describe('attempts', () => {
  test('each is seen in the events and in the report', async () => {
    const { stream, sent } = open([busy(), busy({ 'retry-after': '2' }), eventStream(HELLO)])
    const events = await collect(stream)
    expect(events).toMatchObject([
      { type: 'attempt_failed', attempt: 1, code: 'http_error', status: 503, delayMs: 500 },
      { type: 'attempt_failed', attempt: 2, code: 'http_error', retryAfterMs: 2000, delayMs: 3000 },
      { type: 'stream_started', attempt: 3 },
      { type: 'text_delta' },
      { type: 'text_delta' },
      { type: 'stream_completed', outcome: 'completed' },
    ])
    expect(sent).toHaveLength(3)
    expect(stream.report()).toMatchObject({
      outcome: 'completed',
      attempts: [
        { attempt: 1, outcome: 'failed', code: 'http_error', retryReason: null, executed: false },
        { attempt: 2, outcome: 'failed', code: 'http_error', retryReason: 'http_error' },
        { attempt: 3, outcome: 'completed', code: null, retryReason: 'http_error' },
      ],
    })
  })

  test('the last one fails as it failed', async () => {
    const { stream } = open([busy(), busy(), busy()])
    expect((await collect(stream)).map(({ type }) => type)).toEqual([
      'attempt_failed',
      'attempt_failed',
      'stream_error',
    ])
    expect(stream.report().attempts).toHaveLength(3)
  })

  test.each<{ name: string; answer: Answer }>([
    { name: 'the role alone, then a cut', answer: eventStream(WIRE.role) },
    {
      name: 'usage and the role, then an error in the stream',
      answer: eventStream(
        `${WIRE.role}data: {"choices":[],"usage":{"prompt_tokens":1}}\n\ndata: {"error":{"code":529,"message":"overloaded"}}\n\n`,
      ),
    },
    { name: 'nothing under a 200', answer: new Response('') },
    { name: 'no connection', answer: () => Promise.reject(new TypeError('fetch failed')) },
  ])('$name leaves no trace but its failure', async ({ answer }) => {
    const { stream } = open([answer, eventStream(HELLO)])
    expect((await collect(stream)).map(({ type }) => type)).toEqual([
      'attempt_failed',
      'stream_started',
      'text_delta',
      'text_delta',
      'stream_completed',
    ])
  })

  test.each([
    { name: 'text', body: WIRE.text('Hel') },
    { name: 'the start of a call', body: WIRE.call('c1', 'f', '') },
    { name: 'reasoning', body: 'data: {"choices":[{"index":0,"delta":{"reasoning":"x"}}]}\n\n' },
  ])('after $name there is none: what was shown would come twice', async ({ body }) => {
    const { stream, sent } = open([eventStream(body), eventStream(HELLO)])
    expect((await collect(stream)).at(-1)).toMatchObject({ type: 'stream_error', retryable: 'restart' })
    expect(sent).toHaveLength(1)
  })

  test.each([400, 401, 404, 422])('%i would fail again', async (status) => {
    const { stream, sent } = open([() => Promise.resolve(new Response('no', { status }))])
    expect((await collect(stream)).map(({ type }) => type)).toEqual(['stream_error'])
    expect(sent).toHaveLength(1)
  })

  test('the chunks of a failed attempt are never among those of the next', async () => {
    const { stream } = open([eventStream(WIRE.role), eventStream(HELLO)], { retry: { baseDelayMs: 0 } })
    const chunks: string[] = []
    const reading = (async () => {
      for await (const chunk of stream.chunks()) chunks.push(chunk.type)
    })()
    await vi.advanceTimersByTimeAsync(0)
    await reading
    expect(chunks).toEqual(['start', 'text-delta', 'text-delta', 'block-end', 'finish'])
  })

  test('the whole budget of time bounds the waits too', async () => {
    const { stream, sent } = open([busy({ 'retry-after': '5' })], { timeouts: { totalMs: 4000 } })
    expect((await collect(stream)).at(-1)).toMatchObject({
      type: 'stream_error',
      code: 'http_error',
      retryAfterMs: 5000,
    })
    expect(sent).toHaveLength(1)
  })
})

describe('a cancel while it waits for the next attempt', () => {
  test.each([
    { name: 'by the signal', cancel: (abort: AbortController) => abort.abort() },
    { name: 'by cancel()', cancel: (...[, stream]: [AbortController, ModelStream]) => stream.cancel() },
  ])('$name starts nothing', async ({ cancel }) => {
    const abort = new AbortController()
    const { stream, sent } = open([busy()], { signal: abort.signal })
    const events: StreamEvent[] = []
    for await (const event of stream) {
      events.push(event)
      if (event.type === 'attempt_failed') queueMicrotask(() => cancel(abort, stream))
    }
    expect(events).toMatchObject([{ type: 'attempt_failed' }, { type: 'stream_error', code: 'cancelled' }])
    expect(sent).toHaveLength(1)
    expect(vi.getTimerCount()).toBe(0)
    expect(stream.report()).toMatchObject({ outcome: 'cancelled', attempts: [{ attempt: 1, code: 'http_error' }] })
  })
})
