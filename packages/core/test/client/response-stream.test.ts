import type { ServerResponse } from 'node:http'
import { describe, expect, test, vi } from 'vitest'
import { chatCompletions } from '../../src/adapters/openai-chat/adapter.ts'
import type { StreamEvent } from '../../src/chunk/stream-event.ts'
import { streamResponse } from '../../src/client/response-stream.ts'
import type { ResponseStreamOptions } from '../../src/client/response-batches.ts'
import { createStreamEngine } from '../../src/engine/engine.ts'
import type { StreamEngine, StreamEngineOptions } from '../../src/engine/stream-engine.ts'
import { closedPort, serve, startEventStream } from './loopback.ts'

const HELLO = 'data: {"id":"r","choices":[{"index":0,"delta":{"content":"hello"},"finish_reason":null}]}\n\n'
const STOP = 'data: {"id":"r","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n'
const DONE = 'data: [DONE]\n\n'

function engineOf(options: Partial<StreamEngineOptions> = {}): StreamEngine {
  return createStreamEngine({ adapter: chatCompletions(), ...options })
}

async function collect(events: AsyncIterable<StreamEvent>): Promise<StreamEvent[]> {
  const all: StreamEvent[] = []
  for await (const event of events) all.push(event)
  return all
}

/** Streams from `url` to the end. */
async function stream(
  url: string,
  options: ResponseStreamOptions = {},
  engine: StreamEngine = engineOf(),
): Promise<{ events: StreamEvent[]; last: StreamEvent | undefined; engine: StreamEngine }> {
  const events = await collect(streamResponse(engine, (signal) => fetch(url, { signal }), options))
  const ends = events.filter((event) => event.type === 'stream_completed' || event.type === 'stream_error')
  expect(ends).toEqual(events.slice(-1))
  return { events, last: events.at(-1), engine }
}

/** The connection breaks once the text is here: of one that broke, `fetch` of Bun drops what has not been read yet. */
async function streamUntilText(
  answer: (response: ServerResponse) => void,
  breakOff: (response: ServerResponse) => void,
): Promise<{ last: StreamEvent | undefined; engine: StreamEngine }> {
  let open: ServerResponse | undefined
  const { url } = await serve((response) => {
    open = response
    answer(response)
  })
  const engine = engineOf()
  const events: StreamEvent[] = []
  for await (const event of streamResponse(engine, (signal) => fetch(url, { signal }))) {
    events.push(event)
    if (event.type === 'text_delta') breakOff(open!)
  }
  expect(events.map(({ type }) => type)).toEqual(['stream_started', 'text_delta', expect.any(String)])
  return { last: events.at(-1), engine }
}

describe('a response that ends well', { timeout: 30_000 }, () => {
  test('gives its events, and a report with times and counts', async () => {
    const { url } = await serve((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream', 'x-request-id': 'up-1' })
      response.end(HELLO + STOP + DONE)
    })
    const { events, engine } = await stream(url)
    expect(events.map((event) => event.type)).toEqual(['stream_started', 'text_delta', 'stream_completed'])
    const report = engine.report()
    expect(report).toMatchObject({
      outcome: 'completed',
      error: null,
      verdict: { http_ok: { state: 'pass' }, sse_ok: { state: 'pass' }, delta_ok: { state: 'pass' } },
      attempts: [{ upstreamRequestId: 'up-1' }],
      counts: { bytes: (HELLO + STOP + DONE).length, events: 3 },
    })
    const { timeToHeadersMs, timeToFirstByteMs, timeToFirstOutputMs, timeToTerminalMs } = report.timing
    expect([timeToHeadersMs, timeToFirstByteMs, timeToFirstOutputMs, timeToTerminalMs]).toEqual(
      [timeToHeadersMs, timeToFirstByteMs, timeToFirstOutputMs, timeToTerminalMs].toSorted((a, b) => a! - b!),
    )
    expect(timeToHeadersMs).toBeGreaterThan(0)
  })

  test('ends at [DONE] though the socket stays open, and lets the socket go', async () => {
    const server = await serve((response) => {
      startEventStream(response)
      response.write(HELLO + STOP + DONE)
    })
    const { last } = await stream(server.url)
    expect(last).toMatchObject({ type: 'stream_completed', outcome: 'completed' })
    await server.released
  })

  test('without a body is an empty stream', async () => {
    const { url } = await serve((response) => response.writeHead(204).end())
    expect((await stream(url)).last).toMatchObject({ type: 'stream_error', code: 'empty_stream', outcome: 'failed' })
  })

  test('leaves no timer behind', async () => {
    const cleared = vi.spyOn(globalThis, 'clearTimeout')
    const set = vi.spyOn(globalThis, 'setTimeout')
    try {
      const engine = engineOf({ timeouts: { totalMs: 2 ** 40 } })
      const body = new Response(HELLO + STOP + DONE)
      await collect(streamResponse(engine, () => Promise.resolve(body)))
      const timers = set.mock.results.map((result) => result.value as unknown)
      expect(timers.length).toBeGreaterThan(0)
      expect(cleared.mock.calls.map(([timer]) => timer)).toEqual(expect.arrayContaining(timers))
    } finally {
      cleared.mockRestore()
      set.mockRestore()
    }
  })

  test('timers too long for the platform do not fire at once', async () => {
    const set = vi.spyOn(globalThis, 'setTimeout')
    try {
      const never = { connectMs: Infinity, firstByteMs: Infinity, idleMs: Infinity, progressMs: Infinity }
      const engine = engineOf({ timeouts: { ...never, totalMs: 2 ** 40 } })
      const body = new Response(HELLO + STOP + DONE)
      await collect(streamResponse(engine, () => Promise.resolve(body)))
      // The second one bounds how long the rest of the body is read.
      expect(set.mock.calls.map(([, delay]) => delay)).toEqual([2 ** 31 - 1, 100])
    } finally {
      set.mockRestore()
    }
  })
})

describe('a response that breaks', { timeout: 30_000 }, () => {
  test('by a reset keeps what came', async () => {
    const { last, engine } = await streamUntilText(
      (response) => {
        startEventStream(response)
        response.write(HELLO)
      },
      (response) => response.socket?.resetAndDestroy(),
    )
    expect(last).toMatchObject({ type: 'stream_error', code: 'incomplete_stream', outcome: 'incomplete' })
    expect(engine.report().verdict.sse_ok).toMatchObject({ state: 'fail', code: 'incomplete_stream' })
  })

  test.each([
    { name: 'its framing promised more (chunked)', headers: {} },
    { name: 'its framing promised more (content-length)', headers: { 'content-length': '10000' } },
  ])('cut although $name', async ({ headers }) => {
    const { last, engine } = await streamUntilText(
      (response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream', ...headers })
        response.write(HELLO + STOP)
      },
      (response) => response.socket?.end(),
    )
    // The finish reason was seen, the terminal signal was not.
    expect(last).toMatchObject({ type: 'stream_completed', outcome: 'degraded' })
    expect(engine.report().verdict.sse_ok).toMatchObject({ state: 'fail', code: 'incomplete_stream' })
    expect(engine.snapshot().ended).toBe(true)
  })

  test('before its head, because nobody listens', async () => {
    const { last } = await stream(await closedPort())
    expect(last).toMatchObject({ type: 'stream_error', code: 'connect_failed', phase: 'connect', retryable: 'yes' })
  })

  test('says what the network said', async () => {
    const { last } = await stream(await closedPort())
    expect(last).toMatchObject({ message: expect.stringMatching(/\(.+\)/) as string })
  })
})

async function used(): Promise<Response> {
  const response = new Response('data: [DONE]\n\n')
  await response.text()
  return response
}

function fresh(): Promise<Response> {
  return Promise.resolve(new Response('data: [DONE]\n\n'))
}

function deaf(): Promise<Response> {
  return new Promise(() => {})
}

describe('a mistake of the caller', () => {
  test.each<{ name: string; request: () => Promise<Response>; message: RegExp }>([
    {
      name: 'a request that throws',
      request: () => {
        throw new TypeError('no such header')
      },
      message: /no such header/,
    },
    { name: 'no address', request: () => fetch('not a url'), message: /URL|url/ },
    {
      name: 'nothing',
      request: () => Promise.resolve(undefined as unknown as Response),
      message: /must resolve to a Response/,
    },
    { name: 'a body that was read', request: used, message: /was read before/ },
  ])('$name is thrown, and is no network error', async ({ request, message }) => {
    const engine = engineOf()
    await expect(collect(streamResponse(engine, request))).rejects.toThrow(message)
    expect(engine.report()).toMatchObject({ outcome: 'cancelled' })
  })

  test('an engine that was used before', async () => {
    const engine = engineOf()
    await collect(streamResponse(engine, fresh))
    await expect(collect(streamResponse(engine, fresh))).rejects.toThrow(/create one for each request/)
  })

  test('a request that heeds no signal does not hold up a cancel or a timer', async () => {
    const abort = new AbortController()
    abort.abort()
    expect(await collect(streamResponse(engineOf(), deaf, { signal: abort.signal }))).toMatchObject([
      { code: 'cancelled' },
    ])
    const engine = createStreamEngine({ adapter: chatCompletions(), timeouts: { connectMs: 5 } })
    expect(await collect(streamResponse(engine, deaf))).toMatchObject([{ code: 'connect_timeout' }])
  })
})

describe('an error status', { timeout: 30_000 }, () => {
  test('429 says how long to wait', async () => {
    const { url } = await serve((response) => {
      response.writeHead(429, { 'content-type': 'application/json', 'retry-after': '7' })
      response.end('{"error":{"message":"slow down","type":"rate_limit_error"}}')
    })
    const { events, last } = await stream(url)
    expect(events).toHaveLength(1)
    expect(last).toMatchObject({
      code: 'rate_limited',
      phase: 'headers',
      status: 429,
      retryAfterMs: 7000,
      retryable: 'yes',
      provider: { message: 'slow down', type: 'rate_limit_error' },
    })
  })

  test('503 with a date to come back at', async () => {
    const at = new Date(Date.now() + 3_600_000)
    const { url } = await serve((response) => response.writeHead(503, { 'retry-after': at.toUTCString() }).end('busy'))
    const { last } = await stream(url)
    expect(last).toMatchObject({ code: 'http_error', status: 503, provider: { message: 'busy' } })
    // Whole seconds, an hour from now, less the time this took.
    const { retryAfterMs } = last as { retryAfterMs?: number }
    expect(retryAfterMs).toBeGreaterThan(3_000_000)
    expect(retryAfterMs).toBeLessThanOrEqual(3_600_000)
  })
})

describe('cancelling', { timeout: 30_000 }, () => {
  test('before the request: nothing is asked for', async () => {
    const request = vi.fn<() => Promise<Response>>()
    const events = await collect(streamResponse(engineOf(), request, { signal: AbortSignal.abort() }))
    expect(events).toMatchObject([{ type: 'stream_error', code: 'cancelled', outcome: 'cancelled', retryable: 'no' }])
    expect(request).not.toHaveBeenCalled()
  })

  test('before the head', async () => {
    const server = await serve(() => {})
    const abort = new AbortController()
    const streaming = stream(server.url, { signal: abort.signal })
    await server.requested
    abort.abort()
    expect((await streaming).last).toMatchObject({ code: 'cancelled', outcome: 'cancelled' })
    await server.released
  })

  test('after the head and some text', async () => {
    const server = await serve((response) => {
      startEventStream(response)
      response.write(HELLO)
    })
    const abort = new AbortController()
    const engine = engineOf()
    const types: string[] = []
    for await (const event of streamResponse(engine, (signal) => fetch(server.url, { signal }), {
      signal: abort.signal,
    })) {
      types.push(event.type)
      if (event.type === 'text_delta') abort.abort()
    }
    expect(types).toEqual(['stream_started', 'text_delta', 'stream_error'])
    expect(engine.report()).toMatchObject({ outcome: 'cancelled', choices: [{ text: 'hello' }] })
    await server.released
  })

  test('by leaving the loop: the server sees it, and so does the report', async () => {
    const server = await serve((response) => {
      startEventStream(response)
      response.write(HELLO)
    })
    const engine = engineOf()
    for await (const event of streamResponse(engine, (signal) => fetch(server.url, { signal }))) {
      if (event.type === 'text_delta') break
    }
    await server.released
    expect(engine.ended).toBe(true)
    expect(engine.deadline()).toBeUndefined()
    expect(engine.report()).toMatchObject({
      outcome: 'cancelled',
      error: { code: 'cancelled' },
      choices: [{ text: 'hello' }],
    })
  })

  test('by leaving the loop at the terminal event changes nothing', async () => {
    const { url } = await serve((response) => {
      startEventStream(response)
      response.end(HELLO + STOP + DONE)
    })
    const engine = engineOf()
    for await (const event of streamResponse(engine, (signal) => fetch(url, { signal }))) {
      if (event.type === 'stream_completed') break
    }
    expect(engine.report()).toMatchObject({ outcome: 'completed', error: null, diagnostics: [] })
  })

  test('after the end does nothing, and nobody listens to the signal any more', async () => {
    const { url } = await serve((response) => response.end(HELLO + STOP + DONE))
    const abort = new AbortController()
    const removed = vi.spyOn(abort.signal, 'removeEventListener')
    const { engine } = await stream(url, { signal: abort.signal })
    expect(removed).toHaveBeenCalledTimes(1)
    abort.abort()
    expect(engine.report().outcome).toBe('completed')
  })
})

describe('timers', { timeout: 30_000 }, () => {
  test('connect_timeout aborts the request', async () => {
    let aborted = false
    const request = (signal: AbortSignal): Promise<Response> =>
      new Promise((_, reject) => {
        signal.addEventListener('abort', () => {
          aborted = true
          reject(signal.reason as Error)
        })
      })
    const events = await collect(streamResponse(engineOf({ timeouts: { connectMs: 10 } }), request))
    expect(events).toMatchObject([{ type: 'stream_error', code: 'connect_timeout', phase: 'connect' }])
    expect(aborted).toBe(true)
  })

  test.each([
    { code: 'first_byte_timeout', timeouts: { firstByteMs: 20 }, phase: 'headers', answer: '' },
    { code: 'idle_timeout', timeouts: { idleMs: 20 }, phase: 'framing', answer: HELLO },
  ])('$code lets the socket go', async ({ code, timeouts, phase, answer }) => {
    const server = await serve((response) => {
      startEventStream(response)
      if (answer !== '') response.write(answer)
    })
    const { last } = await stream(server.url, {}, engineOf({ timeouts: { connectMs: Infinity, ...timeouts } }))
    expect(last).toMatchObject({ type: 'stream_error', code, phase, outcome: 'incomplete' })
    await server.released
  })

  test('total_timeout gives the body up', async () => {
    let cancelled = false
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new TextEncoder().encode(HELLO)),
      cancel() {
        cancelled = true
      },
    })
    const engine = engineOf({ timeouts: { totalMs: 20 } })
    const events = await collect(streamResponse(engine, () => Promise.resolve(new Response(body))))
    expect(events.at(-1)).toMatchObject({ type: 'stream_error', code: 'total_timeout', outcome: 'incomplete' })
    expect(cancelled).toBe(true)
  })

  test('progress_timeout: heartbeats are not progress', async () => {
    const server = await serve((response) => {
      startEventStream(response)
      response.write(`${HELLO}: still there\n\n`)
      const beat = setInterval(() => response.write(': still there\n\n'), 2)
      response.on('close', () => clearInterval(beat))
    })
    const { last, engine } = await stream(server.url, {}, engineOf({ timeouts: { progressMs: 40 } }))
    expect(last).toMatchObject({ type: 'stream_error', code: 'progress_timeout' })
    expect(engine.report().counts.comments).toBeGreaterThan(0)
    await server.released
  })

  test('the grace after a finish reason ends the wait for [DONE]', async () => {
    const server = await serve((response) => {
      startEventStream(response)
      response.write(HELLO + STOP)
    })
    const { last } = await stream(server.url, {}, engineOf({ timeouts: { finishGraceMs: 20 } }))
    expect(last).toMatchObject({ type: 'stream_completed', outcome: 'degraded' })
    await server.released
  })

  test('time that the consumer takes is on none of them', async () => {
    let clock = 0
    const pieces = [HELLO, STOP + DONE]
    const body = new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          const piece = pieces.shift()
          if (piece === undefined) controller.close()
          else controller.enqueue(new TextEncoder().encode(piece))
        },
      },
      { highWaterMark: 0 },
    )
    const timeouts = { connectMs: Infinity, firstByteMs: Infinity, idleMs: 100_000, progressMs: Infinity }
    const engine = engineOf({ timeouts })
    const types: string[] = []
    const set = vi.spyOn(globalThis, 'setTimeout')
    try {
      const options = { now: () => clock }
      for await (const event of streamResponse(engine, () => Promise.resolve(new Response(body)), options)) {
        types.push(event.type)
        clock += 1_000_000
      }
      expect(set.mock.calls.map(([, delay]) => delay)).toEqual([100_000, 100])
    } finally {
      set.mockRestore()
    }
    expect(types).toEqual(['stream_started', 'text_delta', 'stream_completed'])
    expect(engine.report().timing).toMatchObject({ timeToFirstByteMs: 0, timeToTerminalMs: 0 })
  })
})
