import { describe, expect, test } from 'vitest'
import { BatchIterator } from '../../src/client/batch-iterator.ts'
import type { BatchMachine } from '../../src/client/batch-iterator.ts'
import { newLog, SOURCE_KINDS } from './sources.ts'

const decoder = new TextDecoder()

/** One item per character; `!` is the last one it takes. */
function characters(fault?: Error): BatchMachine<string> {
  let done = false
  return {
    get done() {
      return done
    },
    get fault() {
      return done ? fault : undefined
    },
    push(bytes) {
      const text = decoder.decode(bytes)
      done = text.includes('!')
      return Array.from(text)
    },
    end: () => ['end'],
  }
}

const { make } = SOURCE_KINDS[0]!

async function collect(items: AsyncIterable<string>): Promise<string> {
  let text = ''
  for await (const item of items) text += item
  return text
}

describe('BatchIterator', () => {
  test('hands out the items of each read, then those of the end', async () => {
    expect(await collect(new BatchIterator(make(['ab', '', 'c']), characters()))).toBe('abcend')
  })

  test('a machine that is done gives the source up, and its items still come', async () => {
    const log = newLog()
    expect(await collect(new BatchIterator(make(['ab', 'c!d', 'e'], log), characters()))).toBe('abc!d')
    expect(log).toEqual({ pulls: 2, cancels: 1 })
  })

  test('a fault of the machine comes behind its items, once', async () => {
    const fault = new Error('too long')
    const items = new BatchIterator(make(['a!', 'b']), characters(fault))
    expect(await items.next()).toEqual({ done: false, value: 'a' })
    expect(await items.next()).toEqual({ done: false, value: '!' })
    await expect(items.next()).rejects.toBe(fault)
    expect(await items.next()).toEqual({ done: true, value: undefined })
  })

  test('after return() a fault is nobody’s business', async () => {
    const items = new BatchIterator(make(['a!', 'b']), characters(new Error('too long')))
    await items.next()
    expect(await items.return()).toEqual({ done: true, value: undefined })
    expect(await items.next()).toEqual({ done: true, value: undefined })
  })

  test('return() ends a read that is pending', async () => {
    const log = newLog()
    const silent = new ReadableStream<Uint8Array>({
      cancel() {
        log.cancels++
      },
    })
    const items = new BatchIterator(silent, characters())
    const pending = items.next()
    await items.return()
    expect(await pending).toEqual({ done: true, value: undefined })
    expect(log.cancels).toBe(1)
  })

  test('return() before the first read gives the source up unread', async () => {
    const log = newLog()
    const items = new BatchIterator(make(['a'], log), characters())
    await items.return()
    expect(log).toEqual({ pulls: 0, cancels: 1 })
    await items.return()
    expect(log.cancels).toBe(1)
  })

  test('what a source says when it is given up does not hide the fault', async () => {
    const fault = new Error('too long')
    const source = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(Uint8Array.of(0x21)),
      cancel() {
        throw new Error('cannot be cancelled')
      },
    })
    const items = new BatchIterator(source, characters(fault))
    expect(await items.next()).toEqual({ done: false, value: '!' })
    await expect(items.next()).rejects.toBe(fault)
  })
})
