import { describe, expect, test } from 'vitest'
import { createEventStreamParser } from '../../src/sse/index.ts'
import type { ServerSentEvent } from '../../src/sse/index.ts'
import { referenceParse } from './reference.ts'
import { always, atEveryCut, bytesOf, parse } from './run.ts'

/**
 * WHATWG HTML §9.2.5–9.2.6, one behaviour per row, each under every way of cutting the body. What is wanted was written by
 * hand from the standard; the reference implementation has to agree with it too.
 */

const BOM = [0xef, 0xbb, 0xbf]

interface Case {
  name: string
  body: string | Uint8Array
  want: ServerSentEvent[]
  lastEventId?: string
  retry?: number
}

const data = (...values: string[]): ServerSentEvent[] => values.map((value) => ({ data: value }))

const LINE_ENDS: Case[] = [
  { name: 'LF', body: 'data: a\n\ndata: b\n\n', want: data('a', 'b') },
  { name: 'CRLF (F013)', body: 'data: a\r\n\r\ndata: b\r\n\r\n', want: data('a', 'b') },
  { name: 'CR alone', body: 'data: a\r\rdata: b\r\r', want: data('a', 'b') },
  { name: 'mixed', body: 'data: a\r\n\ndata: b\n\r\ndata: c\r\n\rdata: d\n\r', want: data('a', 'b', 'c', 'd') },
  { name: 'LF, then CRLF', body: 'data: a\n\r\ndata: b\n\n', want: data('a', 'b') },
  { name: 'CR, then text', body: 'data: a\rdata: b\r\r', want: data('a\nb') },
  { name: 'CR CR LF is two line ends', body: 'data: a\r\r\ndata: b\r\r\n', want: data('a', 'b') },
  { name: 'LF CR is two line ends', body: 'data: a\n\rdata: b\n\r', want: data('a', 'b') },
  {
    name: 'lines of one block by CRLF (F013, F014)',
    body: 'data: p\r\ndata: q\r\ndata: r\r\n\r\n',
    want: data('p\nq\nr'),
  },
  { name: 'event field by CRLF (F013)', body: 'event: e\r\ndata: a\r\n\r\n', want: [{ data: 'a', event: 'e' }] },
  {
    name: 'U+0085, U+2028 and U+2029 are data',
    body: 'data: a\u0085b\u2028c\u2029d\n\n',
    want: data('a\u0085b\u2028c\u2029d'),
  },
  { name: 'vertical tab and form feed are data', body: 'data: a\u000bb\u000cc\n\n', want: data('a\u000bb\u000cc') },
]

const BYTE_ORDER_MARKS: Case[] = [
  {
    name: 'BOM at byte 0 is dropped (F006)',
    body: bytesOf(BOM, 'data: first\n\ndata: second\n\n'),
    want: data('first', 'second'),
  },
  {
    name: 'BOM twice: the second is part of the field name (F006)',
    body: bytesOf(BOM, BOM, 'data: a\n\ndata: b\n\n'),
    want: data('b'),
  },
  {
    name: 'BOM later in the body stays (F006)',
    body: bytesOf('data: a\n\n', BOM, 'data: b\n\ndata: c\n\n'),
    want: data('a', 'c'),
  },
  {
    name: 'BOM in a value stays (F006)',
    body: bytesOf('data: a', BOM, 'b\ndata:', BOM, '\n\n'),
    want: data('a\uFEFFb\n\uFEFF'),
  },
  { name: 'BOM before a blank line (F006)', body: bytesOf(BOM, '\ndata: a\n\n'), want: data('a') },
  { name: 'BOM before CRLF (F006)', body: bytesOf(BOM, '\r\ndata: a\r\n\r\n'), want: data('a') },
  {
    name: 'two bytes of a BOM are not one (F006)',
    body: bytesOf([0xef, 0xbb], 'data: a\n\ndata: b\n\n'),
    want: data('b'),
  },
  { name: 'BOM and nothing else', body: bytesOf(BOM), want: [] },
]

const DATA: Case[] = [
  {
    name: 'several data lines are joined (F021)',
    body: 'data: {\ndata:   "a": 1\ndata: }\n\n',
    want: data('{\n  "a": 1\n}'),
  },
  { name: 'data: with nothing after it (F018)', body: 'data:\n\n', want: data('') },
  { name: 'data: with a space after it', body: 'data: \n\n', want: data('') },
  { name: 'data alone (F018)', body: 'data\n\n', want: data('') },
  { name: 'data alone, twice (F021)', body: 'data\ndata\n\n', want: data('\n') },
  { name: 'empty data line first (F021)', body: 'data\ndata: a\n\n', want: data('\na') },
  { name: 'empty data line last', body: 'data: a\ndata:\n\n', want: data('a\n') },
  { name: 'empty data line in the middle', body: 'data: a\ndata\ndata: b\n\n', want: data('a\n\nb') },
  { name: 'no space after the colon (F012)', body: 'data:{"a":1}\n\ndata:[DONE]\n\n', want: data('{"a":1}', '[DONE]') },
  { name: 'only one space is stripped (F012)', body: 'data:  a\n\n', want: data(' a') },
  { name: 'a tab is not stripped', body: 'data:\ta\n\n', want: data('\ta') },
  { name: 'space at the end stays', body: 'data: a \n\n', want: data('a ') },
  { name: 'colons in a value', body: 'data: a:b: c\n\ndata::\n\n', want: data('a:b: c', ':') },
  { name: 'space before the colon: another field', body: 'data : a\ndata: b\n\n', want: data('b') },
  { name: 'space before the field: another field', body: ' data: a\ndata: b\n\n', want: data('b') },
  { name: 'names are compared with case', body: 'Data: a\nDATA: b\ndata: c\n\n', want: data('c') },
  { name: 'beginnings and extensions of names', body: 'dat: a\ndatab: b\ndata: c\nd\nda\n\n', want: data('c') },
  { name: 'unknown fields are ignored', body: 'foo: a\ndata: b\nbar\n\n', want: data('b') },
  { name: 'NUL in data', body: 'data: a\u0000b\n\n', want: data('a\u0000b') },
  { name: '[DONE]', body: 'data: {"a":1}\n\ndata: [DONE]\n\n', want: data('{"a":1}', '[DONE]') },
  { name: 'JSON escapes are left alone', body: 'data: {"a":"\\n\\u00e9\\""}\n\n', want: data('{"a":"\\n\\u00e9\\""}') },
]

const COMMENTS: Case[] = [
  { name: 'keep-alives between events (F010)', body: ': WAIT\n\n: WAIT\n\ndata: a\n\n:\n\n', want: data('a') },
  { name: 'comment in a block (F010)', body: ':x\ndata: a\n:data: no\ndata: b\n: x\n\n', want: data('a\nb') },
  { name: 'comments with every line end (F010)', body: ':a\r\n:b\r:c\n\r\ndata: a\r\r', want: data('a') },
  { name: 'NUL in a comment', body: ':\u0000\ndata: a\n\n', want: data('a') },
  { name: 'blank lines between events', body: '\n\ndata: a\n\n\n\n\ndata: b\n\n\n', want: data('a', 'b') },
  { name: 'blank lines only', body: '\n\r\n\r\r\n\n', want: [] },
  { name: 'nothing', body: '', want: [] },
]

const EVENT_TYPES: Case[] = [
  { name: 'event', body: 'event: ping\ndata: a\n\n', want: [{ data: 'a', event: 'ping' }] },
  { name: 'event without space (F012)', body: 'event:ping\ndata:a\n\n', want: [{ data: 'a', event: 'ping' }] },
  {
    name: 'event is of its block only',
    body: 'event: e\ndata: a\n\ndata: b\n\n',
    want: [{ data: 'a', event: 'e' }, { data: 'b' }],
  },
  { name: 'event without data is no event, and leaves no type', body: 'event: e\n\ndata: b\n\n', want: data('b') },
  { name: 'empty event', body: 'event:\ndata: a\n\nevent\ndata: b\n\n', want: data('a', 'b') },
  { name: 'the last event wins', body: 'event: x\nevent: y\ndata: a\n\n', want: [{ data: 'a', event: 'y' }] },
  { name: 'the last event wins, also when it is empty', body: 'event: x\nevent:\ndata: a\n\n', want: data('a') },
  { name: 'event after data', body: 'data: a\nevent: e\n\n', want: [{ data: 'a', event: 'e' }] },
]

const IDS: Case[] = [
  { name: 'id', body: 'id: 1\ndata: a\n\n', want: [{ data: 'a', id: '1' }], lastEventId: '1' },
  {
    name: 'id is sticky',
    body: 'id: 1\ndata: a\n\ndata: b\n\nid: 2\ndata: c\n\n',
    want: [
      { data: 'a', id: '1' },
      { data: 'b', id: '1' },
      { data: 'c', id: '2' },
    ],
    lastEventId: '2',
  },
  {
    name: 'an empty id resets',
    body: 'id: 1\ndata: a\n\nid\ndata: b\n\ndata: c\n\n',
    want: [
      { data: 'a', id: '1' },
      { data: 'b', id: '' },
      { data: 'c', id: '' },
    ],
    lastEventId: '',
  },
  {
    name: 'an id with NUL is ignored',
    body: 'id: 1\ndata: a\n\nid: 2\u0000\ndata: b\n\n',
    want: [
      { data: 'a', id: '1' },
      { data: 'b', id: '1' },
    ],
    lastEventId: '1',
  },
  {
    name: 'id without data counts (F018)',
    body: 'id: 5\n\ndata: a\n\n',
    want: [{ data: 'a', id: '5' }],
    lastEventId: '5',
  },
  { name: 'id alone (F018)', body: 'id: 5\n\n', want: [], lastEventId: '5' },
  { name: 'an id is text', body: 'id: 007\ndata: a\n\n', want: [{ data: 'a', id: '007' }], lastEventId: '007' },
  { name: 'id after data', body: 'data: a\nid: 1\n\n', want: [{ data: 'a', id: '1' }], lastEventId: '1' },
  {
    name: 'an id is not in force before its block ends',
    body: 'id: 1\ndata: a\n\nid: 2\ndata: b\n',
    want: [{ data: 'a', id: '1' }],
    lastEventId: '1',
  },
]

const RETRIES: Case[] = [
  { name: 'retry', body: 'retry: 1500\ndata: a\n\n', want: [{ data: 'a', retry: 1500 }], retry: 1500 },
  { name: 'retry alone (F018)', body: 'retry: 1500\n\ndata: a\n\n', want: data('a'), retry: 1500 },
  {
    name: 'retry must be digits',
    body: 'retry: 1x\nretry: -1\nretry: 1.5\nretry:  1\nretry: ١\nretry\ndata: a\n\n',
    want: data('a'),
  },
  {
    name: 'a bad retry leaves the last good one',
    body: 'retry: 10\nretry: no\ndata: a\n\n',
    want: [{ data: 'a', retry: 10 }],
    retry: 10,
  },
  { name: 'retry 0', body: 'retry: 0\ndata: a\n\n', want: [{ data: 'a', retry: 0 }], retry: 0 },
  { name: 'retry with leading zeros', body: 'retry:0010\ndata: a\n\n', want: [{ data: 'a', retry: 10 }], retry: 10 },
  { name: 'retry counts as soon as its line ends', body: 'data: a\n\nretry: 7\n', want: data('a'), retry: 7 },
]

const ENDS: Case[] = [
  { name: 'no blank line at the end (F016)', body: 'data: a\n\ndata: b\n', want: data('a') },
  { name: 'no line end at the end (F016)', body: 'data: a\n\ndata: b', want: data('a') },
  { name: 'CR at the end closes the block', body: 'data: a\n\ndata: b\n\r', want: data('a', 'b') },
  { name: 'CR ends the last line only (F016)', body: 'data: a\n\ndata: b\r', want: data('a') },
]

const UTF8: Case[] = [
  { name: 'characters of 2, 3 and 4 bytes (F001)', body: 'data: é你😀\n\n', want: data('é你😀') },
  {
    name: 'characters in every field (F001)',
    body: 'event: é\nid: 你\n: 😀\n😀: x\ndata: é\n\n',
    want: [{ data: 'é', event: 'é', id: '你' }],
    lastEventId: '你',
  },
  {
    name: 'first and last of each length',
    body: 'data: \u0080\u07ff\u0800\uffff\u{10000}\u{10ffff}\n\n',
    want: data('\u0080\u07ff\u0800\uffff\u{10000}\u{10ffff}'),
  },
  {
    name: 'bytes that are not UTF-8',
    body: bytesOf('data: a', [0xff], 'b', [0xc3], 'c', [0xe4, 0xbd], 'd', [0x80, 0x80], 'e\n\n'),
    want: [{ data: 'a\uFFFDb\uFFFDc\uFFFDd\uFFFD\uFFFDe', invalidUtf8: true }],
  },
  {
    name: 'overlong forms',
    body: bytesOf('data: ', [0xc0, 0xaf, 0xe0, 0x80, 0xaf], '\n\n'),
    want: [{ data: '\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD', invalidUtf8: true }],
  },
  {
    name: 'lone surrogates',
    body: bytesOf('data: ', [0xed, 0xa0, 0x80], '\n\n'),
    want: [{ data: '\uFFFD\uFFFD\uFFFD', invalidUtf8: true }],
  },
  {
    name: 'above U+10FFFF',
    body: bytesOf('data: ', [0xf4, 0x90, 0x80, 0x80], '\n\n'),
    want: [{ data: '\uFFFD\uFFFD\uFFFD\uFFFD', invalidUtf8: true }],
  },
  {
    name: 'a sequence cut short by a line end',
    body: bytesOf('data: a', [0xf0, 0x9f, 0x98], '\n\n'),
    want: [{ data: 'a\uFFFD', invalidUtf8: true }],
  },
  { name: 'a U+FFFD that was sent is no fault', body: 'data: a\uFFFDb\n\n', want: data('a\uFFFDb') },
  {
    name: 'the fault is on the event that has it',
    body: bytesOf('data: \uFFFD\n\ndata: ', [0xff], '\n\ndata: \uFFFD\n\n'),
    want: [{ data: '\uFFFD' }, { data: '\uFFFD', invalidUtf8: true }, { data: '\uFFFD' }],
  },
  {
    name: 'bad bytes outside of data are not on the event',
    body: bytesOf(':', [0xff], '\nevent: ', [0xff], '\ndata: a\n\n'),
    want: [{ data: 'a', event: '\uFFFD' }],
  },
]

const GROUPS: [string, Case[]][] = [
  ['line ends', LINE_ENDS],
  ['byte order marks', BYTE_ORDER_MARKS],
  ['data', DATA],
  ['comments and blank lines', COMMENTS],
  ['event types', EVENT_TYPES],
  ['ids', IDS],
  ['retries', RETRIES],
  ['ends', ENDS],
  ['UTF-8', UTF8],
]

describe.each(GROUPS)('conformance: %s', { timeout: 60_000 }, (_, cases) => {
  test.each(cases)('$name', ({ body, want: events, lastEventId, retry }) => {
    const bytes = typeof body === 'string' ? bytesOf(body) : body
    expect(
      atEveryCut(bytes, (reads) => {
        const parsed = parse(reads)
        return { events: parsed.events, lastEventId: parsed.lastEventId, retry: parsed.retry }
      }),
    ).toStrictEqual(always({ events, lastEventId, retry }))
  })

  test.each(cases)('$name: everything else agrees with the reference', ({ body }) => {
    const bytes = typeof body === 'string' ? bytesOf(body) : body
    for (const options of [{ offsets: true }, { offsets: true, onEnd: 'flush', unknownFields: 'deliver' }] as const) {
      expect(atEveryCut(bytes, (reads) => parse(reads, options))).toStrictEqual(always(referenceParse(bytes, options)))
    }
  })
})

describe('conformance: a line of 100 kB', { timeout: 60_000 }, () => {
  const long = 'x'.repeat(100_000)
  test.each([1, 99_999, 100_005, 100_006, 100_007])('cut at %i', (at) => {
    const body = bytesOf(`data: ${long}\n\n`)
    expect(parse([body.slice(0, at), body.slice(at)]).events).toStrictEqual(data(long))
  })
})

/** What must be out before the last read, and that the last read brings nothing it should not. */
describe('promptness: an event comes out with the first byte that closes it', { timeout: 60_000 }, () => {
  test.each([
    { name: 'LF', reads: ['data: a\n\n'], want: [1] },
    { name: 'LF, cut before the blank line', reads: ['data: a\n', '\n'], want: [0, 1] },
    { name: 'CRLF', reads: ['data: a\r\n\r\n'], want: [1] },
    {
      name: 'CRLF, cut inside the blank line (F014)',
      reads: ['data: a\r\n\r', '\ndata: b\r\n\r', '\n'],
      want: [1, 1, 0],
    },
    { name: 'CR alone', reads: ['data: a\r\r', 'data: b\r', '\r'], want: [1, 0, 1] },
    {
      name: 'the rest of a read is kept, the events before it are not',
      reads: ['data: a\n\ndata: b\n\ndat', 'a: c\n\n'],
      want: [2, 1],
    },
  ])('$name', ({ reads, want }) => {
    const parser = createEventStreamParser()
    expect(reads.map((read) => parser.push(bytesOf(read)).length)).toStrictEqual(want)
    expect(parser.end()).toStrictEqual([])
  })
})

test('CR, LF and empty reads in every place (F014)', () => {
  const empty = new Uint8Array(0)
  const reads = ['data: p\r\n', 'data: q\r', '\ndata: r\r\n', '\r\n'].map((read) => bytesOf(read))
  expect(parse(reads).events).toStrictEqual(data('p\nq\nr'))
  expect(parse(reads.flatMap((read) => [empty, read, empty])).events).toStrictEqual(data('p\nq\nr'))
})
