import { describe, expect, test, vi } from 'vitest'
import type { StreamEvent } from '../../../src/chunk/stream-event.ts'
import { streamModel } from '../../../src/client/model-stream.ts'
import { eventStream, fakeFetch, HELLO, openBody, WIRE } from '../fake-fetch.ts'
import { collect, open, types } from './open-stream.ts'

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
