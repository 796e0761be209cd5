import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createJsonLinesParser } from '../../src/ndjson/parse.ts'
import type { JsonLinesParser } from '../../src/ndjson/parse.ts'
import type { ServerSentEvent } from '../../src/sse/event.ts'
import type { FramerOptions } from '../../src/sse/framer.ts'
import { cutAt, readAll } from '../reads.ts'

const SEED = 17_320_508

const encoder = new TextEncoder()

interface Framed {
  readonly events: readonly ServerSentEvent[]
  readonly overflow: JsonLinesParser['overflow']
  readonly lineByLine: boolean
}

function frame(pieces: readonly Uint8Array[], options?: FramerOptions): Framed {
  const parser = createJsonLinesParser(options)
  return { events: readAll(parser, pieces), overflow: parser.overflow, lineByLine: parser.lineByLine }
}

function frameText(text: string, options?: FramerOptions): Framed {
  return frame([encoder.encode(text)], options)
}

/** A document of this many bytes. */
function filled(bytes: number): Uint8Array {
  return encoder.encode(`{"a":"${'x'.repeat(bytes - 8)}"}`)
}

const bodies: { name: string; text: string; data: string[]; lineByLine: boolean; incomplete?: boolean[] }[] = [
  { name: 'nothing', text: '', data: [], lineByLine: false },
  { name: 'white space', text: ' \n\r\n', data: [], lineByLine: false },
  { name: 'one document on one line', text: '{"a":1}\n', data: ['{"a":1}'], lineByLine: false },
  { name: 'one document without a line end', text: '{"a":1}', data: ['{"a":1}'], lineByLine: false },
  {
    name: 'one document over many lines',
    text: '{\n  "a": [\n1\n]\n}\n',
    data: ['{\n  "a": [\n1\n]\n}'],
    lineByLine: false,
  },
  { name: 'line by line', text: '{"a":1}\n{"a":2}\n', data: ['{"a":1}', '{"a":2}'], lineByLine: true },
  {
    name: 'CRLF, blank lines, no last line end',
    text: '{"a":1}\r\n\r\n \n{"a":2}',
    data: ['{"a":1}', '{"a":2}'],
    lineByLine: true,
  },
  { name: 'a later line that is no JSON', text: '{}\nGarbage\n{}\n', data: ['{}', 'Garbage', '{}'], lineByLine: true },
  {
    name: 'a later line that is cut by a line end',
    text: '{}\n{"a":\n{}\n',
    data: ['{}', '{"a":', '{}'],
    lineByLine: true,
  },
  { name: 'two documents on the first line', text: '{}{}\n', data: ['{}{}'], lineByLine: false },
  {
    name: 'line ends inside strings do not count where they are escaped',
    text: '{"a":"\\n"}\n',
    data: ['{"a":"\\n"}'],
    lineByLine: false,
  },
  {
    name: 'a line break in a string joins its lines',
    text: '{"a":"x\ny"}\n',
    data: ['{"a":"x\ny"}'],
    lineByLine: false,
  },
  {
    name: 'multi-byte text',
    text: '{"a":"日本 😀"}\n{"é":1}\n',
    data: ['{"a":"日本 😀"}', '{"é":1}'],
    lineByLine: true,
  },
  { name: 'a byte order mark', text: '\ufeff{"a":1}\n', data: ['{"a":1}'], lineByLine: false },
  { name: 'a number', text: '1', data: ['1'], lineByLine: false },
  { name: 'cut inside the only document', text: '{"a":', data: ['{"a":'], lineByLine: false, incomplete: [true] },
  {
    name: 'cut inside the last line',
    text: '{}\n{"a":',
    data: ['{}', '{"a":'],
    lineByLine: true,
    incomplete: [false, true],
  },
  { name: 'never JSON', text: '{a\nb\n', data: ['{a\nb'], lineByLine: false, incomplete: [true] },
]

describe('JSON lines', { timeout: 60_000 }, () => {
  test.each(bodies)('$name', ({ text, data, lineByLine, incomplete }) => {
    const framed = frameText(text)
    expect(framed.events.map((event) => event.data)).toEqual(data)
    expect(framed.events.map((event) => event.incomplete === true)).toEqual(incomplete ?? data.map(() => false))
    expect(framed.lineByLine).toBe(lineByLine)
    expect(framed.overflow).toBeUndefined()
  })

  test.each(bodies)('$name: every cut into two gives the same', ({ text }) => {
    const bytes = encoder.encode(text)
    const whole = frame([bytes])
    for (let at = 0; at <= bytes.length; at++) expect(frame(cutAt(bytes, [at]))).toEqual(whole)
    expect(frame([...bytes].map((byte) => Uint8Array.of(byte)))).toEqual(whole)
  })

  test('offsets say where a document stands in the body', () => {
    const text = '\n{"é":1}\r\n\n{"a":2}\n'
    const { events } = frameText(text, { baseOffset: 100 })
    expect(events.map(({ offset, endOffset }) => [offset, endOffset])).toEqual([
      [101, 111],
      [112, 120],
    ])
    const bytes = encoder.encode(text)
    for (const { data, offset, endOffset } of events) {
      expect(new TextDecoder().decode(bytes.subarray(offset! - 100, endOffset! - 100)).trim()).toBe(data)
    }
  })

  test.each([
    { name: 'a lone continuation byte', bad: [0x80] },
    { name: 'a cut character', bad: [0xe6, 0x97] },
    { name: 'a surrogate', bad: [0xed, 0xa0, 0x80] },
  ])('bytes that are not UTF-8 mark their document, and no other: $name', ({ bad }) => {
    const bytes = Uint8Array.from([...encoder.encode('{"a":"'), ...bad, ...encoder.encode('"}\n{"b":"\ufffd"}\n')])
    for (const pieces of [[bytes], [...bytes].map((byte) => Uint8Array.of(byte))]) {
      expect(frame(pieces).events.map((event) => event.invalidUtf8)).toEqual([true, undefined])
    }
  })

  test('a character that the end of the body cuts marks the last document', () => {
    const bytes = Uint8Array.from([...encoder.encode('{"a":"'), 0xf0, 0x9f])
    expect(frame([bytes]).events).toMatchObject([{ data: '{"a":"\ufffd', invalidUtf8: true, incomplete: true }])
  })

  test.each([
    { name: 'a terminated line', text: '{"a":"日"}\n{}\n', bytes: 11 },
    { name: 'an unterminated line', text: '{"a":"日"}', bytes: 11 },
    { name: 'many lines', text: '{\n"a":1\n}\n', bytes: 9 },
    { name: 'a later line', text: '{}\n{"a":"xyz"}\n', bytes: 11, offset: 3 },
  ])('the limit, $name: $bytes bytes pass, one fewer does not', ({ text, bytes, offset = 0 }) => {
    const body = encoder.encode(text)
    for (const pieces of [[body], [...body].map((byte) => Uint8Array.of(byte))]) {
      expect(frame(pieces, { maxEventBytes: bytes }).overflow).toBeUndefined()
      const over = frame(pieces, { maxEventBytes: bytes - 1 })
      expect(over.overflow).toEqual({ offset, limit: bytes - 1 })
      expect(over.events.map((event) => event.data)).toEqual(offset === 0 ? [] : ['{}'])
    }
  })

  test('nothing comes out behind an overflow', () => {
    const parser = createJsonLinesParser({ maxEventBytes: 4 })
    expect(parser.push(encoder.encode('{}\n{"a":1}'))).toHaveLength(1)
    expect(parser.push(encoder.encode('\n{}\n'))).toEqual([])
    expect(parser.end()).toEqual([])
  })

  test('the default limit is 8 MiB', () => {
    expect(frame([filled(8 * 2 ** 20)]).overflow).toBeUndefined()
    expect(frame([filled(8 * 2 ** 20 + 1)]).overflow).toEqual({ offset: 0, limit: 8 * 2 ** 20 })
  })

  test(`any bytes, any cuts, any limit: the same events, and no error (seed ${SEED})`, () => {
    const piece = fc.oneof(
      fc.constantFrom('{"a":1}', '{', '}', '[1,', '"', '\n', '\r\n', ' ', '{}', 'x', '日', '\\', '1'),
      fc.string({ unit: 'binary', maxLength: 3 }),
    )
    const body = fc.oneof(
      fc.array(piece, { maxLength: 16 }).map((pieces) => encoder.encode(pieces.join(''))),
      fc.uint8Array({ maxLength: 48 }),
    )
    fc.assert(
      fc.property(
        body,
        fc.array(fc.nat({ max: 60 }), { maxLength: 6 }),
        fc.constantFrom(3, 9, 1000),
        (bytes, places, maxEventBytes) => {
          const cuts = places.map((place) => Math.min(place, bytes.length))
          expect(frame(cutAt(bytes, cuts), { maxEventBytes })).toEqual(frame([bytes], { maxEventBytes }))
        },
      ),
      { seed: SEED, numRuns: 600 },
    )
  })
})
