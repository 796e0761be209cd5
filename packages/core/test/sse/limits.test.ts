import { describe, expect, test } from 'vitest'
import { createEventStreamParser } from '../../src/sse/index.ts'
import { referenceParse } from './reference.ts'
import { always, atEveryCut, bytesOf, parse } from './run.ts'

/** Each block, without its blank line; what stands before and after it is in bounds. */
const BLOCKS = [
  { name: 'ASCII', block: 'data: abcdefgh\n' },
  { name: 'CRLF', block: 'event: e\r\ndata: abc\r\n' },
  { name: 'CR', block: 'event: e\rdata: abc\r' },
  { name: 'CJK', block: 'data: 你好世界\n' },
  { name: 'emoji', block: 'data: 😀😀😀\n' },
  { name: 'CJK in a CRLF line', block: 'data: 你好\r\n' },
  { name: 'several data lines', block: 'data: a\ndata: 好\ndata: b\n' },
  { name: 'comments count too', block: ': keep-alive\n:\ndata: a\n' },
  { name: 'no data at all', block: ': a comment\nfoo: bar\n' },
] as const

describe('maxEventBytes', { timeout: 60_000 }, () => {
  describe.each(BLOCKS)('$name', ({ block }) => {
    const size = bytesOf(block).length
    const body = bytesOf('data: 1\n\n', block, block.endsWith('\r') ? '\r' : '\r\n', 'data: 2\n\n')

    test('a block of exactly the limit passes, at every cut', () => {
      const options = { maxEventBytes: size, offsets: true }
      const want = referenceParse(body, options)
      expect(want.overflow).toBeUndefined()
      expect(atEveryCut(body, (reads) => parse(reads, options))).toStrictEqual(always(want))
      expect(atEveryCut(body, (reads) => parse(reads, { maxEventBytes: size }).overflow)).toStrictEqual(
        always(undefined),
      )
    })

    test('one byte more does not, at every cut', () => {
      expect(
        atEveryCut(body, (reads) => {
          const { events, overflow } = parse(reads, { maxEventBytes: size - 1 })
          return { events, overflow }
        }),
      ).toStrictEqual(always({ events: [{ data: '1' }], overflow: { offset: 9, limit: size - 1 } }))
    })

    test('without a blank line it is refused with the same byte', () => {
      expect(
        atEveryCut(bytesOf('data: 1\n\n', block), (reads) => {
          const parser = createEventStreamParser({ maxEventBytes: size - 1, onEnd: 'flush' })
          let taken = 0
          for (const read of reads) {
            parser.push(read)
            taken += read.length
            // The last byte of the body is the one that breaks the limit.
            if ((parser.overflow !== undefined) !== (taken === 9 + size)) return `wrong after byte ${taken}`
          }
          return parser.end()
        }),
      ).toStrictEqual(always([]))
    })
  })

  test.each([5, 6, 7, 8])('a cut character counts before it is whole: limit %i', (limit) => {
    const parser = createEventStreamParser({ maxEventBytes: limit })
    const body = bytesOf('😀😀😀')
    const refusedAt = Array.from(body).findIndex((_, at) => {
      parser.push(body.subarray(at, at + 1))
      return parser.overflow !== undefined
    })
    expect(refusedAt).toBe(limit)
  })

  test('a parser that has refused a block is done, and counts on', () => {
    const parser = createEventStreamParser({ maxEventBytes: 10, onEnd: 'flush' })
    expect(parser.push(bytesOf('data: a\n\ndata: 0123456789'))).toStrictEqual([{ data: 'a' }])
    const overflow = { offset: 9, limit: 10 }
    expect(parser.overflow).toStrictEqual(overflow)
    expect(parser.push(bytesOf('\n\ndata: b\n\n'))).toStrictEqual([])
    expect(parser.end()).toStrictEqual([])
    expect(parser.overflow).toStrictEqual(overflow)
    expect(parser.counts).toStrictEqual({ bytes: 36, events: 1, comments: 0, unknownFields: 0 })
  })

  test('the refused block leaves no id behind', () => {
    const body = bytesOf('id: 1\ndata: a\n\nid: 2\ndata: 0123456789\n\n')
    expect(atEveryCut(body, (reads) => parse(reads, { maxEventBytes: 15 }).lastEventId)).toStrictEqual(always('1'))
  })

  test('the default is 8 MiB (F005)', () => {
    const eightMiB = 8 * 1024 * 1024
    const value = 'x'.repeat(eightMiB - 'data:\n'.length)
    const fits = new TextEncoder().encode(`data:${value}\n\n`)
    const parser = createEventStreamParser()
    expect(parser.push(fits)[0]?.data.length).toBe(value.length)
    expect(parser.overflow).toBeUndefined()
    const tooLarge = createEventStreamParser()
    expect(tooLarge.push(new TextEncoder().encode(`data:${value}x\n\n`))).toStrictEqual([])
    expect(tooLarge.overflow).toStrictEqual({ offset: 0, limit: eightMiB })
  })

  test.each([0, -1, 4, Number.NaN])('%s lets no event through: TypeError', (maxEventBytes) => {
    expect(() => createEventStreamParser({ maxEventBytes })).toThrow(TypeError)
  })

  test('the smallest limit is that of the smallest event', () => {
    expect(atEveryCut(bytesOf('data\n\n'), (reads) => parse(reads, { maxEventBytes: 5 }).events)).toStrictEqual(
      always([{ data: '' }]),
    )
  })

  test('part of a byte is none', () => {
    const body = bytesOf('data: a\n\ndata: 0123456789\n\n')
    expect(
      atEveryCut(body, (reads) => {
        const { events, overflow } = parse(reads, { maxEventBytes: 10.5 })
        return { events, overflow }
      }),
    ).toStrictEqual(always({ events: [{ data: 'a' }], overflow: { offset: 9, limit: 10 } }))
    expect(atEveryCut(body, (reads) => parse(reads, { maxEventBytes: 17.9 }).events.length)).toStrictEqual(always(2))
  })

  test('Infinity is taken as the largest limit there is', () => {
    expect(
      createEventStreamParser({ maxEventBytes: Number.POSITIVE_INFINITY }).push(bytesOf('data: a\n\n')),
    ).toStrictEqual([{ data: 'a' }])
  })
})
