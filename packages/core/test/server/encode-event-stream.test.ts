import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { StreamChunk } from '../../src/chunk/chunk.ts'
import { StreamError } from '../../src/chunk/stream-error.ts'
import { ENCODABLE_APIS, encodeEventStream, eventStreamResponse } from '../../src/server/index.ts'

const TEXT: readonly StreamChunk[] = [
  { type: 'start', id: 'r', model: 'm' },
  { type: 'text-delta', index: 0, text: 'a' },
  { type: 'text-delta', index: 0, text: 'b' },
  { type: 'finish', reason: 'stop' },
]

async function textOf(stream: ReadableStream<Uint8Array>): Promise<string> {
  return new Response(stream).text()
}

async function* failing(error: Error): AsyncGenerator<StreamChunk> {
  yield* TEXT.slice(0, 2)
  throw error
}

function complains(): never {
  throw new Error('mine')
}

test('any iterable is a source', async () => {
  const body = await textOf(encodeEventStream(TEXT, 'chat_completions'))
  expect(body.endsWith('data: [DONE]\n\n')).toBe(true)
})

test('as a Response it has the headers that keep hops from buffering', async () => {
  const response = eventStreamResponse(TEXT, 'responses', { headers: { 'x-request-id': 'r1' } })
  expect(Object.fromEntries(response.headers)).toEqual({
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache, no-transform',
    'x-accel-buffering': 'no',
    'x-request-id': 'r1',
  })
  expect(await response.text()).toContain('response.completed')
})

describe('a source that fails', () => {
  test('with one of our errors: in its own words', async () => {
    const error = new StreamError({ code: 'idle_timeout', phase: 'framing', retryable: 'restart', message: 'silent' })
    const body = await textOf(encodeEventStream(failing(error), 'chat_completions'))
    expect(body).toMatch(/"content":"a"[\s\S]*"error":\{"message":"silent"[^\n]*"code":"idle_timeout"[^\n]*\n\n$/)
  })

  test('with any other: its words stay inside, and whoever runs the server sees it', async () => {
    const onError = vi.fn<(error: unknown) => void>()
    const body = await textOf(encodeEventStream(failing(new Error('password=x')), 'chat_completions', { onError }))
    expect(body).toContain('the server failed while it was answering')
    expect(body).not.toContain('password')
    expect(body).not.toContain('[DONE]')
    expect(onError.mock.calls).toEqual([[new Error('password=x')]])
  })

  test('and an onlooker that fails too: the client has its error event all the same', async () => {
    const thrown: unknown[] = []
    const aside = vi.spyOn(globalThis, 'queueMicrotask').mockImplementation((task) => {
      try {
        task()
      } catch (error) {
        thrown.push(error)
      }
    })
    try {
      const body = await textOf(encodeEventStream(failing(new Error('no')), 'chat_completions', { onError: complains }))
      expect(body).toContain('the server failed while it was answering')
      expect(thrown).toEqual([new Error('mine')])
    } finally {
      aside.mockRestore()
    }
  })

  test.each([undefined, null, 5, {}, { type: 'image-delta' }])('with %j, which is no chunk', async (chunk) => {
    for (const api of ENCODABLE_APIS) {
      const body = await textOf(encodeEventStream([chunk as StreamChunk, ...TEXT], api))
      expect(body).toContain('the server failed while it was answering')
      expect(body).not.toMatch(/undefined|\[DONE\]/)
    }
  })

  test('before it begins', async () => {
    const broken = {
      [Symbol.asyncIterator](): AsyncIterator<StreamChunk> {
        throw new Error('no')
      },
    }
    expect(await textOf(encodeEventStream(broken, 'anthropic_messages'))).toMatch(/^event: error\n/)
  })
})

describe('pulling', () => {
  test('the producer is not ahead of the client', async () => {
    let made = 0
    const counted = (function* (): Generator<StreamChunk> {
      for (const chunk of TEXT) {
        made++
        yield chunk
      }
    })()
    const reader = encodeEventStream(counted, 'chat_completions').getReader()
    await Promise.resolve()
    expect(made).toBe(0)
    await reader.read()
    // The start writes nothing by itself.
    expect(made).toBe(2)
    await reader.read()
    expect(made).toBe(3)
  })

  test('a client that hangs up ends the producer', async () => {
    let left = false
    const produce = async function* (): AsyncGenerator<StreamChunk> {
      try {
        yield* TEXT
      } finally {
        left = true
      }
    }
    const reader = encodeEventStream(produce(), 'chat_completions').getReader()
    await reader.read()
    await reader.cancel()
    expect(left).toBe(true)
  })

  test('also one that waits for something else', async () => {
    const abort = new AbortController()
    const produce = async function* (): AsyncGenerator<StreamChunk> {
      yield* TEXT.slice(0, 2)
      await new Promise((_, reject) =>
        abort.signal.addEventListener('abort', () => reject(abort.signal.reason as Error)),
      )
    }
    const reader = encodeEventStream(produce(), 'chat_completions', { abort }).getReader()
    await reader.read()
    const waiting = reader.read()
    await reader.cancel(new Error('gone'))
    expect(abort.signal.reason).toEqual(new Error('gone'))
    expect(await waiting).toEqual({ done: true, value: undefined })
  })

  test('a source that goes on after its end is left', async () => {
    let left = false
    const produce = async function* (): AsyncGenerator<StreamChunk> {
      try {
        yield { type: 'error', error: { code: 'upstream_error', phase: 'delta', retryable: 'no', message: 'x' } }
        yield* TEXT
      } finally {
        left = true
      }
    }
    expect(await textOf(encodeEventStream(produce(), 'chat_completions'))).not.toContain('content')
    expect(left).toBe(true)
  })
})

describe('heartbeats', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  test('come while nothing else does, and change nothing', async () => {
    let go: (() => void) | undefined
    const produce = async function* (): AsyncGenerator<StreamChunk> {
      yield* TEXT.slice(0, 2)
      await new Promise<void>((resolve) => (go = resolve))
      yield* TEXT.slice(2)
    }
    const reader = encodeEventStream(produce(), 'chat_completions', { heartbeatMs: 1000 }).getReader()
    const next = async (): Promise<string> => new TextDecoder().decode((await reader.read()).value)
    expect(await next()).toContain('"a"')
    for (let i = 0; i < 3; i++) {
      const beat = next()
      await vi.advanceTimersByTimeAsync(1000)
      expect(await beat).toBe(': heartbeat\n\n')
    }
    const rest = next()
    go?.()
    expect(await rest).toContain('"b"')
    expect(await next()).toContain('finish_reason":"stop"')
    expect(await next()).toBe('data: [DONE]\n\n')
    expect((await reader.read()).done).toBe(true)
    expect(vi.getTimerCount()).toBe(0)
  })

  test('can be turned off', async () => {
    const set = vi.spyOn(globalThis, 'setTimeout')
    await textOf(encodeEventStream(TEXT, 'chat_completions', { heartbeatMs: Infinity }))
    expect(set).not.toHaveBeenCalled()
  })
})

test.each([
  ['a response', { writeHead() {} }, 'a response goes to sendEventStream(response, stream)'],
  ['the name of the API', 'chat_completions', 'the first argument is an iterable of chunks'],
  ['nothing', undefined, 'the first argument is an iterable of chunks'],
  [
    'a model stream instead of its chunks',
    { chunks() {}, batches() {}, async *[Symbol.asyncIterator]() {} },
    'pass its chunks()',
  ],
])('%s in the place of the chunks is a TypeError at once', (_, chunks, says) => {
  const call = (): unknown => encodeEventStream(chunks as unknown as readonly StreamChunk[], 'chat_completions')
  expect(call).toThrow(TypeError)
  expect(call).toThrow(says)
})
