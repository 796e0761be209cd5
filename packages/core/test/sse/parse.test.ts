import { afterEach, describe, expect, test, vi } from 'vitest'
import { createEventStreamParser } from '../../src/sse/index.ts'
import type { EventStreamParserOptions, ServerSentEvent } from '../../src/sse/index.ts'
import { always, atEveryCut, bytesOf, parse } from './run.ts'

const encoder = new TextEncoder()

function* readsOf(body: Uint8Array, size: number): Generator<Uint8Array> {
  for (let at = 0; at < body.length; at += size) yield body.subarray(at, at + size)
}

describe('at the end of the body (F016)', { timeout: 60_000 }, () => {
  const cases: { name: string; body: string; want: ServerSentEvent[] }[] = [
    { name: 'data line with its line end', body: 'data: a\n', want: [{ data: 'a', incomplete: true }] },
    { name: 'data line without', body: 'data: a', want: [{ data: 'a', incomplete: true }] },
    { name: 'data line and half of another', body: 'data: a\ndata: b', want: [{ data: 'a\nb', incomplete: true }] },
    { name: 'data line and half a name', body: 'data: a\nda', want: [{ data: 'a', incomplete: true }] },
    { name: 'a name alone', body: 'data', want: [{ data: '', incomplete: true }] },
    { name: 'only a character that was cut', body: 'data:', want: [{ data: '', incomplete: true }] },
    {
      name: 'type, id and retry',
      body: 'event: e\nid: 1\nretry: 5\ndata: a',
      want: [{ data: 'a', event: 'e', id: '1', retry: 5, incomplete: true }],
    },
    { name: 'no data', body: 'event: e\nid: 1\n', want: [] },
    { name: 'a comment', body: ': a', want: [] },
    { name: 'nothing', body: 'data: a\n\n', want: [{ data: 'a' }] },
    { name: 'only blank lines', body: 'data: a\n\n\n\n', want: [{ data: 'a' }] },
  ]

  test.each(cases)('flush: $name', ({ body, want }) => {
    expect(atEveryCut(bytesOf(body), (reads) => parse(reads, { onEnd: 'flush' }).events)).toStrictEqual(always(want))
  })

  test.each(cases)('discard: $name', ({ body, want }) => {
    const whole = want.filter((event) => event.incomplete !== true)
    expect(atEveryCut(bytesOf(body), (reads) => parse(reads).events)).toStrictEqual(always(whole))
  })

  test('a character that never came whole is flagged, and counts in either mode (F001)', () => {
    const body = bytesOf('data: a', [0xf0, 0x9f, 0x98])
    const invalidUtf8 = { count: 1, firstOffset: 7 }
    expect(parse([body], { onEnd: 'flush' })).toMatchObject({
      events: [{ data: 'a\uFFFD', incomplete: true, invalidUtf8: true }],
      invalidUtf8,
    })
    expect(parse([body])).toMatchObject({ events: [], invalidUtf8 })
  })

  test('what is for reconnecting is not taken from a block that broke off', () => {
    const body = bytesOf('id: 1\nretry: 1000\ndata: a\n\nid: 2\ndata: b\nretry: 2')
    const parsed = parse([body], { onEnd: 'flush' })
    expect(parsed.events.at(-1)).toStrictEqual({ data: 'b', id: '2', retry: 2, incomplete: true })
    expect(parsed).toMatchObject({ lastEventId: '1', retry: 1000 })
  })

  test('after the end nothing comes', () => {
    const parser = createEventStreamParser({ onEnd: 'flush' })
    parser.push(bytesOf('data: a'))
    expect(parser.end()).toHaveLength(1)
    expect(parser.end()).toStrictEqual([])
    expect(parser.push(bytesOf('data: b\n\n'))).toStrictEqual([])
    expect(parser.counts).toStrictEqual({ bytes: 7, events: 1, comments: 0, unknownFields: 0 })
  })
})

describe('offsets', { timeout: 60_000 }, () => {
  const cases: { name: string; body: Uint8Array; want: [number, number][] }[] = [
    {
      name: 'LF',
      body: bytesOf('data: a\n\ndata: b\n\n'),
      want: [
        [0, 8],
        [9, 17],
      ],
    },
    {
      name: 'CRLF: both bytes of the last line end',
      body: bytesOf('data: a\r\n\r\ndata: b\r\n\r\n'),
      want: [
        [0, 9],
        [11, 20],
      ],
    },
    {
      name: 'CR',
      body: bytesOf('data: a\r\rdata: b\r\r'),
      want: [
        [0, 8],
        [9, 17],
      ],
    },
    {
      name: 'line by CRLF, blank line by LF',
      body: bytesOf('data: a\r\n\ndata: b\r\n\n'),
      want: [
        [0, 9],
        [10, 19],
      ],
    },
    {
      name: 'blank lines do not count',
      body: bytesOf('\n\r\n\rdata: a\n\n\n\ndata: b\n\n'),
      want: [
        [4, 12],
        [15, 23],
      ],
    },
    { name: 'other fields and comments do', body: bytesOf(':x\nevent: e\ndata: a\nid: 1\n\n'), want: [[0, 26]] },
    { name: 'so does a block of its own, for itself', body: bytesOf(':x\n\ndata: a\n\n'), want: [[4, 12]] },
    { name: 'a BOM does not', body: bytesOf([0xef, 0xbb, 0xbf], 'data: a\n\n'), want: [[3, 11]] },
    {
      name: 'bytes, not characters',
      body: bytesOf('data: é你😀\n\ndata: b\n\n'),
      want: [
        [0, 16],
        [17, 25],
      ],
    },
    {
      name: 'bytes that are not UTF-8',
      body: bytesOf('data: ', [0xff, 0xe4, 0xbd, 0xf0, 0x9f, 0x98], '\n\ndata: b\n\n'),
      want: [
        [0, 13],
        [14, 22],
      ],
    },
    {
      name: 'as many bytes as characters, in spite of U+FFFD',
      body: bytesOf('data: ', [0xff, 0xff], '\n\ndata: b\n\n'),
      want: [
        [0, 9],
        [10, 18],
      ],
    },
    {
      name: 'incomplete: to the end of the body',
      body: bytesOf('data: a\n\ndata: 你\r\ndata: b'),
      want: [
        [0, 8],
        [9, 27],
      ],
    },
    { name: 'incomplete, ended by CR', body: bytesOf('data: a\r'), want: [[0, 8]] },
    { name: 'incomplete, in the middle of a character', body: bytesOf('data: ', [0xe4, 0xbd]), want: [[0, 8]] },
  ]

  test.each(cases)('$name', ({ body, want }) => {
    expect(
      atEveryCut(body, (reads) => {
        const { events } = parse(reads, { offsets: true, onEnd: 'flush' })
        return events.map((event) => [event.offset, event.endOffset])
      }),
    ).toStrictEqual(always(want))
  })

  test('are absent unless asked for', () => {
    expect(Object.keys(parse([bytesOf('data: a\n\n')]).events[0]!)).toStrictEqual(['data'])
  })
})

describe('counts and first finds', { timeout: 60_000 }, () => {
  test('are the same at every cut', () => {
    const body = bytesOf(': a\n:b\n\nfoo: 1\ndata: x\nbar\n\n{"error": "no"}\n: half', [0xff])
    expect(
      atEveryCut(body, (reads) => {
        const { counts, firstUnknownField, invalidUtf8 } = parse(reads)
        return { counts, firstUnknownField, invalidUtf8 }
      }),
    ).toStrictEqual(
      always({
        counts: { bytes: body.length, events: 1, comments: 2, unknownFields: 3 },
        firstUnknownField: 'foo',
        invalidUtf8: { count: 1, firstOffset: body.length - 1 },
      }),
    )
  })

  test('the first unknown field is clipped', () => {
    expect(parse([bytesOf(`${'x'.repeat(41)}: 1\n`)]).firstUnknownField).toBe('x'.repeat(40))
  })

  test('counts are a snapshot', () => {
    const parser = createEventStreamParser()
    const before = parser.counts
    parser.push(bytesOf('data: a\n\n'))
    expect(before.events).toBe(0)
    expect(parser.counts.events).toBe(1)
  })

  test('a retry beyond what a number holds is the largest that is safe', () => {
    expect(parse([bytesOf(`retry: ${'9'.repeat(400)}\n`)]).retry).toBe(Number.MAX_SAFE_INTEGER)
  })
})

describe('unknown fields that are to be delivered', { timeout: 60_000 }, () => {
  const options: EventStreamParserOptions = { unknownFields: 'deliver' }
  test.each([
    {
      name: 'beside data',
      body: 'data: a\nerror: {}\n\n',
      want: [{ data: 'a', fields: [{ name: 'error', value: '{}' }] }],
    },
    {
      name: 'without data',
      body: 'error: {}\nfoo\n\n',
      want: [
        {
          data: '',
          fields: [
            { name: 'error', value: '{}' },
            { name: 'foo', value: '' },
          ],
        },
      ],
    },
    {
      name: 'are of their block only',
      body: 'foo: 1\n\ndata: a\n\n',
      want: [{ data: '', fields: [{ name: 'foo', value: '1' }] }, { data: 'a' }],
    },
    { name: 'a comment is no field', body: ': foo\n\n', want: [] },
  ])('$name', ({ body, want }) => {
    expect(atEveryCut(bytesOf(body), (reads) => parse(reads, options).events)).toStrictEqual(always(want))
  })

  test('the first sixteen of a block', () => {
    const names = Array.from({ length: 20 }, (_, at) => `field${at}`)
    const parsed = parse([bytesOf(names.map((name) => `${name}: x\n`).join(''), '\n')], options)
    expect(parsed.events[0]?.fields?.map((field) => field.name)).toStrictEqual(names.slice(0, 16))
    expect(parsed.counts.unknownFields).toBe(20)
  })

  test('bytes in them that are not UTF-8 are flagged', () => {
    expect(parse([bytesOf('error: ', [0xff], '\n\n')], options).events).toStrictEqual([
      { data: '', fields: [{ name: 'error', value: '\uFFFD' }], invalidUtf8: true },
    ])
  })
})

/** How many characters were searched and bytes decoded, whatever the clock says. */
function countedWork(
  reads: Iterable<Uint8Array>,
  options?: EventStreamParserOptions,
): { searched: number; decoded: number; lengths: number[] } {
  const work = { searched: 0, decoded: 0, lengths: [] as number[] }
  const indexOf: (needle: string, from?: number) => number = Reflect.get(String.prototype, 'indexOf')
  vi.spyOn(String.prototype, 'indexOf').mockImplementation(function (this: string, needle: string, from = 0) {
    const index = indexOf.call(this, needle, from)
    work.searched += (index < 0 ? this.length : index + 1) - from
    return index
  })
  const decode: TextDecoder['decode'] = Reflect.get(TextDecoder.prototype, 'decode')
  vi.spyOn(TextDecoder.prototype, 'decode').mockImplementation(function (this: TextDecoder, input, decodeOptions) {
    work.decoded += (input as Uint8Array).length
    return decode.call(this, input, decodeOptions)
  })
  const parser = createEventStreamParser(options)
  for (const read of reads) for (const event of parser.push(read)) work.lengths.push(event.data.length)
  vi.restoreAllMocks()
  return work
}

describe('work grows with the body, not with its square (F005)', { timeout: 60_000 }, () => {
  afterEach(() => vi.restoreAllMocks())

  const MEBIBYTE = 1024 * 1024
  const events: { name: string; line: string; chars: number }[] = [
    { name: 'ASCII, one line', line: `data: ${'x'.repeat(4 * MEBIBYTE)}\n`, chars: 4 * MEBIBYTE },
    {
      name: 'CJK, one line',
      line: `data: ${'你'.repeat((4 * MEBIBYTE) / 3)}\n`,
      chars: Math.floor((4 * MEBIBYTE) / 3),
    },
    { name: 'lines of 60 bytes', line: `data: ${'x'.repeat(53)}\n`.repeat(70_000), chars: 70_000 * 54 - 1 },
  ]

  test.each(events.flatMap((event) => [1024, 37].map((size) => ({ ...event, size }))))(
    'one event of 4 MiB in reads of $size bytes: $name',
    { timeout: 60_000 },
    ({ line, chars, size }) => {
      const body = encoder.encode(`${line}\n`)
      const work = countedWork(readsOf(body, size), { offsets: true })
      expect(work.lengths).toStrictEqual([chars])
      expect(work.decoded).toBe(body.length)
      // Each read is searched once for LF, CR and U+FFFD; the rest is a few characters per line.
      expect(work.searched).toBeLessThan(3.5 * body.length)
    },
  )

  test.each([
    { name: 'lines without a colon', text: 'x\n'.repeat(100_000) },
    { name: 'lines without a colon, by CR', text: 'x\r'.repeat(100_000) },
    { name: 'blank lines', text: '\n'.repeat(100_000) },
    { name: 'one CR, then LFs', text: `data: a\r\n${'data: a\n\n'.repeat(20_000)}` },
    { name: 'one LF, then CRs', text: `data: a\n\r${'data: a\r\r'.repeat(20_000)}` },
    { name: 'comments', text: ':\n'.repeat(100_000) },
  ])('a read of many lines: $name', ({ text }) => {
    const body = encoder.encode(text)
    expect(countedWork([body]).searched).toBeLessThan(5 * body.length)
  })
})

test('a body in one read that is larger than the parser takes at a time', () => {
  const body = encoder.encode(`: ${'x'.repeat(3_000_000)}\n\ndata: 你好\n\n`.repeat(2))
  expect(parse([body], { offsets: true })).toStrictEqual(parse([...readsOf(body, 4096)], { offsets: true }))
})

test('3 MiB in one data line, in reads of 1 KiB, is an event; over the limit it is an overflow (F005)', () => {
  const body = encoder.encode(`data: ${'x'.repeat(3 * 1024 * 1024)}\n\n`)
  const reads = [...readsOf(body, 1024)]
  expect(parse(reads).events).toStrictEqual([{ data: 'x'.repeat(3 * 1024 * 1024) }])
  expect(parse(reads, { maxEventBytes: 1024 * 1024 })).toMatchObject({
    events: [],
    overflow: { offset: 0, limit: 1024 * 1024 },
  })
})
