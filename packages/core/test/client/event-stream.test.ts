import { describe, expect, test } from 'vitest'
import { StreamError } from '../../src/chunk/stream-error.ts'
import { mapEventStream, parseEventStream } from '../../src/client/event-stream.ts'
import { newLog, SOURCE_KINDS } from './sources.ts'

async function collect<Item>(items: AsyncIterable<Item>): Promise<{ items: Item[]; error: unknown }> {
  const collected: Item[] = []
  try {
    for await (const item of items) collected.push(item)
  } catch (error) {
    return { items: collected, error }
  }
  return { items: collected, error: undefined }
}

describe.each(SOURCE_KINDS)('parseEventStream over $name', ({ make, cancellable }) => {
  test('gives the events of a body that is cut anywhere', async () => {
    const { items, error } = await collect(
      parseEventStream(make(['data: a\n', '\nda', 'ta: b', '\n\nevent: c\ndata: d\n\n'])),
    )
    expect(error).toBeUndefined()
    expect(items).toEqual([{ data: 'a' }, { data: 'b' }, { data: 'd', event: 'c' }])
  })

  test('gives nothing for an empty body', async () => {
    expect(await collect(parseEventStream(make([])))).toEqual({ items: [], error: undefined })
  })

  test('reads only what it is asked for', async () => {
    const log = newLog()
    const events = parseEventStream(make(['data: a\n\ndata: b\n\n', 'data: c\n\n'], log))
    expect(log.pulls).toBe(0)
    await events.next()
    await events.next()
    expect(log.pulls).toBe(1)
    await events.next()
    expect(log.pulls).toBe(2)
  })

  test('an early break gives the source up, and nothing more is read', async () => {
    const log = newLog()
    const events = parseEventStream(make(['data: a\n\ndata: b\n\n', 'data: c\n\n'], log))
    for await (const event of events) {
      expect(event.data).toBe('a')
      break
    }
    expect(log).toEqual({ pulls: 1, cancels: cancellable ? 1 : 0 })
    expect(await events.next()).toEqual({ done: true, value: undefined })
    expect(log.pulls).toBe(1)
  })

  test('a body that was read to its end is not given up', async () => {
    const log = newLog()
    await collect(parseEventStream(make(['data: a\n\n'], log)))
    expect(log.cancels).toBe(0)
  })

  test('an error of the source comes after the events before it, once', async () => {
    const log = newLog()
    const fault = new Error('reset')
    const events = parseEventStream(make(['data: a\n\n', fault, 'data: b\n\n'], log))
    const { items, error } = await collect(events)
    expect(items).toEqual([{ data: 'a' }])
    expect(error).toBe(fault)
    expect(await events.next()).toEqual({ done: true, value: undefined })
    expect(log.pulls).toBe(2)
  })

  test('an event that is too long is an error, after the events before it, and the rest is given up', async () => {
    const log = newLog()
    const options = { maxEventBytes: 16 }
    const events = parseEventStream(make([`data: a\n\ndata: ${'x'.repeat(20)}`, 'never read'], log), options)
    const { items, error } = await collect(events)
    expect(items).toEqual([{ data: 'a' }])
    expect(StreamError.is(error)).toBe(true)
    expect(error).toMatchObject({ code: 'event_limit_exceeded', phase: 'framing', retryable: 'no', offset: 9 })
    expect(log.pulls).toBe(1)
    expect(await events.next()).toEqual({ done: true, value: undefined })
  })

  test('an event that the end of the body shows to be too long is an error too', async () => {
    const options = { maxEventBytes: 16, onEnd: 'flush' } as const
    const { items, error } = await collect(parseEventStream(make(['data: a\n\n', `data: ${'x'.repeat(20)}`]), options))
    expect(items).toEqual([{ data: 'a' }])
    expect(error).toMatchObject({ code: 'event_limit_exceeded' })
  })

  test('calls of next() that do not wait for each other get the events in order', async () => {
    const events = parseEventStream(make(['data: a\n\n', ': nothing\n', 'data: b\n\ndata: c\n\n', 'data: d\n\n']))
    const results = await Promise.all(Array.from({ length: 6 }, () => events.next()))
    expect(results.map((result) => result.value?.data)).toEqual(['a', 'b', 'c', 'd', undefined, undefined])
    expect(results.map((result) => result.done)).toEqual([false, false, false, false, true, true])
  })

  test('of such calls the one that meets an error gets it, and those behind it are done', async () => {
    const fault = new Error('reset')
    const events = parseEventStream(make(['data: a\n\n', fault]))
    const results = await Promise.allSettled([events.next(), events.next(), events.next()])
    expect(results).toEqual([
      { status: 'fulfilled', value: { done: false, value: { data: 'a' } } },
      { status: 'rejected', reason: fault },
      { status: 'fulfilled', value: { done: true, value: undefined } },
    ])
  })
})

describe('mapEventStream', () => {
  const { make } = SOURCE_KINDS[0]!

  test('maps an event to one chunk, several, or none', async () => {
    const { items } = await collect(
      mapEventStream(make(['data: one\n\ndata: none\n\ndata: two\n\n']), ({ data }) => {
        if (data === 'none') return undefined
        const delta = { type: 'text-delta', index: 0, text: data } as const
        return data === 'one' ? delta : [delta, { type: 'finish', reason: 'stop' }]
      }),
    )
    expect(items).toEqual([
      { type: 'text-delta', index: 0, text: 'one' },
      { type: 'text-delta', index: 0, text: 'two' },
      { type: 'finish', reason: 'stop' },
    ])
  })

  test('throws what the mapping throws, gives the source up, and repeats nothing', async () => {
    const log = newLog()
    const fault = new Error('no such event')
    const chunks = mapEventStream(make(['data: a\n\n', 'data: bad\n\n', 'data: b\n\n'], log), ({ data }) => {
      if (data === 'bad') throw fault
      return { type: 'text-delta', index: 0, text: data }
    })
    const { items, error } = await collect(chunks)
    expect(items).toHaveLength(1)
    expect(error).toBe(fault)
    expect(log).toEqual({ pulls: 2, cancels: 1 })
    expect(await chunks.next()).toEqual({ done: true, value: undefined })
  })

  test('throws what the mapping of the last event throws', async () => {
    const fault = new Error('half an event')
    const chunks = mapEventStream(
      make(['data: a\n\ndata: b']),
      ({ data, incomplete }) => {
        if (incomplete) throw fault
        return { type: 'text-delta', index: 0, text: data }
      },
      { onEnd: 'flush' },
    )
    expect(await collect(chunks)).toMatchObject({ items: [{ text: 'a' }], error: fault })
    expect(await chunks.next()).toEqual({ done: true, value: undefined })
  })
})
