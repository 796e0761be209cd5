import { describe, expect, test } from 'vitest'
import { createEventStreamParser } from '../../src/sse/index.ts'
import type { EventStreamParser, EventStreamParserOptions } from '../../src/sse/index.ts'
import { bytesOf } from './run.ts'

/** A full collection, then the bytes in use; undefined where the runtime (a browser, Bun) offers neither. */
async function memoryMeter(): Promise<(() => number) | undefined> {
  if (typeof process === 'undefined' || process.versions?.v8 === undefined || 'Bun' in globalThis) return undefined
  const v8 = await import('node:v8')
  const vm = await import('node:vm')
  v8.setFlagsFromString('--expose-gc')
  const collect: unknown = vm.runInNewContext('gc')
  if (typeof collect !== 'function') return undefined
  return () => {
    collect()
    const { heapUsed, arrayBuffers } = process.memoryUsage()
    return heapUsed + arrayBuffers
  }
}

const memoryInUse = await memoryMeter().catch(() => undefined)
const MEBIBYTE = 1024 * 1024

/** Feeds so many parsers and gives a reading of the memory that they, all alive, keep in use. */
function fed(
  parsers: number,
  feed: (parser: EventStreamParser) => unknown,
  options?: EventStreamParserOptions,
): () => number {
  const before = memoryInUse!()
  const alive = Array.from({ length: parsers }, () => {
    const parser = createEventStreamParser(options)
    feed(parser)
    return parser
  })
  return () => {
    const bytes = memoryInUse!() - before
    return alive.length === parsers ? bytes : Number.NaN
  }
}

/** Memory is given back in the background; what is kept for good stays in use however long one waits. */
const WAIT = { timeout: 30_000, interval: 100 }

const ROWS = [
  { name: 'id and event type', tail: '' },
  { name: 'a cut line', tail: 'data: the beginning of a line' },
  { name: 'a cut character', tail: bytesOf('data: 你').slice(0, -1) },
  { name: 'one data line of several', tail: 'data: the first line of several\n' },
  { name: 'an unknown field', tail: 'the name of an unknown field: x\n' },
]

describe.skipIf(memoryInUse === undefined)('memory', { timeout: 60_000 }, () => {
  // Each row would keep 20 MiB and more if it held on to a read.
  test.each(ROWS)('a read of 200 kB is not kept for the sake of $name', async ({ tail }) => {
    const block = `event: a type that is not short\nid: an id that is not short\ndata: ${'x'.repeat(150)}\n\n`
    const body = bytesOf(block.repeat(1000), typeof tail === 'string' ? tail : [...tail])
    const feed = (parser: EventStreamParser): unknown => parser.push(body.slice())
    await expect.poll(fed(100, feed, { unknownFields: 'deliver' }), WAIT).toBeLessThan(2 * MEBIBYTE)
  })

  test('an event that trickles in byte by byte takes little more than its size', async () => {
    const byte = bytesOf('x')
    const trickle = (parser: EventStreamParser): void => {
      parser.push(bytesOf('data: '))
      for (let i = 0; i < MEBIBYTE; i++) parser.push(byte)
    }
    await expect.poll(fed(1, trickle), WAIT).toBeLessThan(3 * MEBIBYTE)
  })

  test('nothing of a refused block is kept', async () => {
    const read = bytesOf('x'.repeat(16 * 1024))
    const overflow = (parser: EventStreamParser): void => {
      for (const field of ['data: ', 'event: ', 'id: ', '']) {
        parser.push(bytesOf(field))
        for (let i = 0; i < 15; i++) parser.push(read)
        parser.push(bytesOf('\n'))
      }
      for (let i = 0; i < 10; i++) parser.push(read)
      expect(parser.overflow).toBeDefined()
    }
    await expect.poll(fed(40, overflow, { maxEventBytes: MEBIBYTE }), WAIT).toBeLessThan(2 * MEBIBYTE)
  })
})
