import { describe, expect, test } from 'vitest'
import { eventStreamTransform, parseEventStream } from '../../src/client/index.ts'
import type { ServerSentEvent } from '../../src/sse/index.ts'

const encoder = new TextEncoder()
const READS = ['data: a\n\ndata: b\n\nda', 'ta: c\n\n', ': wait\n\n', 'data: d\n\ndata: e\n\n'].map((read) =>
  encoder.encode(read),
)

function source(reads: readonly Uint8Array[], onCancel = (): void => {}): ReadableStream<Uint8Array> {
  let next = 0
  return new ReadableStream(
    {
      pull(controller) {
        if (next < reads.length) controller.enqueue(reads[next++]!)
        else controller.close()
      },
      cancel: onCancel,
    },
    { highWaterMark: 0 },
  )
}

async function all<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const list: Item[] = []
  for await (const item of items) list.push(item)
  return list
}

const datas = (events: readonly ServerSentEvent[]): string => events.map(({ data }) => data).join('')

describe('batches', () => {
  test('one batch a read, never an empty one', async () => {
    const batches = await all(parseEventStream(source(READS)).batches())
    expect(batches.map(datas)).toEqual(['ab', 'c', 'de'])
  })

  test('go on where the items one by one left off', async () => {
    const stream = parseEventStream(source(READS))
    expect((await stream.next()).value?.data).toBe('a')
    expect((await all(stream.batches())).map(datas)).toEqual(['b', 'c', 'de'])
  })

  test('leaving the loop gives the source up', async () => {
    let cancelled = false
    const stream = parseEventStream(source(READS, () => (cancelled = true) as unknown as void))
    for await (const batch of stream.batches()) {
      expect(datas(batch)).toBe('ab')
      break
    }
    expect(cancelled).toBe(true)
  })

  test('an event that is too long is a fault behind the batch before it', async () => {
    const reads = [encoder.encode('data: a\n\n'), encoder.encode(`data: ${'x'.repeat(40)}\n\n`)]
    const batches: string[] = []
    const read = async (): Promise<void> => {
      for await (const batch of parseEventStream(source(reads), { maxEventBytes: 20 }).batches())
        batches.push(datas(batch))
    }
    await expect(read()).rejects.toMatchObject({ code: 'event_limit_exceeded', offset: 9 })
    expect(batches).toEqual(['a'])
  })
})

describe('eventStreamTransform', () => {
  test('gives the same events', async () => {
    const events = await all(source(READS).pipeThrough(eventStreamTransform()) as AsyncIterable<ServerSentEvent>)
    expect(events).toEqual(await all(parseEventStream(source(READS))))
  })

  test('errors where an event is too long', async () => {
    const events = source([encoder.encode(`data: ${'x'.repeat(40)}\n\n`)]).pipeThrough(
      eventStreamTransform({ maxEventBytes: 20 }),
    )
    await expect(all(events as AsyncIterable<ServerSentEvent>)).rejects.toMatchObject({ code: 'event_limit_exceeded' })
  })
})
