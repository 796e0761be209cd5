import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createJsonArrayParser } from '../../src/ndjson/json-array.ts'
import type { JsonArrayParser } from '../../src/ndjson/json-array.ts'
import type { ServerSentEvent } from '../../src/sse/event.ts'
import type { FramerOptions } from '../../src/sse/framer.ts'
import { byteByByte, cutAt, readAll } from '../reads.ts'

const SEED = 27_182_818

const encoder = new TextEncoder()

interface Framed {
  readonly events: readonly ServerSentEvent[]
  readonly overflow: JsonArrayParser['overflow']
  readonly closed: boolean
}

function frame(pieces: readonly Uint8Array[], options?: FramerOptions): Framed {
  const parser = createJsonArrayParser(options)
  return { events: readAll(parser, pieces), overflow: parser.overflow, closed: parser.closed }
}

const bodies: { name: string; text: string; data: string[]; open?: true; incomplete?: true }[] = [
  { name: 'no elements', text: '[]', data: [] },
  { name: 'no elements, white space', text: '[ \r\n]\n', data: [] },
  { name: 'one element', text: '[{"a":1}]', data: ['{"a":1}'] },
  { name: 'the separators of Gemini', text: '[{"a":1}\n,\r\n{"a":2}\n]\n', data: ['{"a":1}', '{"a":2}'] },
  { name: 'elements over many lines', text: '[{\n "a": [\n1\n]\n}\n,\n{}]', data: ['{\n "a": [\n1\n]\n}', '{}'] },
  {
    name: 'brackets and quotes in texts',
    text: '[{"a":"]}\\"]"},{"b":"[\\\\"}]',
    data: ['{"a":"]}\\"]"}', '{"b":"[\\\\"}'],
  },
  { name: 'lists in lists', text: '[[1,[2]],[]]', data: ['[1,[2]]', '[]'] },
  { name: 'texts and words', text: '["a,]" ,true , 1.5e3,null]', data: ['"a,]"', 'true', '1.5e3', 'null'] },
  { name: 'multi-byte text', text: '[{"a":"日本 😀"},{"é":1}]', data: ['{"a":"日本 😀"}', '{"é":1}'] },
  { name: 'no comma between', text: '[{"a":1}{"a":2}]', data: ['{"a":1}', '{"a":2}'] },
  { name: 'commas too many', text: '[,{},,{},]', data: ['{}', '{}'] },
  { name: 'what is no JSON', text: '[{},oops{},{]}]', data: ['{}', 'oops{}', '{]', '}'] },
  { name: 'something behind the end', text: '[{}] {"a":1} [2]\n', data: ['{}', '{"a":1} [2]'] },
  { name: 'never closed', text: '[{}', data: ['{}'], open: true },
  { name: 'never closed, behind a comma', text: '[{},\n', data: ['{}'], open: true },
  { name: 'cut inside an element', text: '[{},{"a":"', data: ['{}', '{"a":"'], open: true, incomplete: true },
  { name: 'cut inside a word', text: '[{},tru', data: ['{}', 'tru'], open: true, incomplete: true },
]

describe('a JSON array', { timeout: 60_000 }, () => {
  test.each(bodies)('$name', ({ text, data, open, incomplete }) => {
    const framed = frame([encoder.encode(text)])
    expect(framed.events.map((event) => event.data)).toEqual(data)
    expect(framed.events.at(-1)?.incomplete).toBe(incomplete)
    expect(framed.closed).toBe(open !== true)
    expect(framed.overflow).toBeUndefined()
  })

  test.each(bodies)('$name: every cut into two gives the same', ({ text }) => {
    const bytes = encoder.encode(text)
    const whole = frame([bytes])
    for (let at = 0; at <= bytes.length; at++) expect(frame(cutAt(bytes, [at]))).toEqual(whole)
    expect(frame(byteByByte(bytes))).toEqual(whole)
  })

  test('an element comes out with its last byte, not with the comma behind it', () => {
    const parser = createJsonArrayParser()
    expect(parser.push(encoder.encode('[{"a":1'))).toEqual([])
    expect(parser.push(encoder.encode('}'))).toHaveLength(1)
    expect(parser.push(encoder.encode('\n,"b'))).toEqual([])
    expect(parser.push(encoder.encode('"'))).toHaveLength(1)
  })

  test('offsets say where an element stands in the body', () => {
    const text = '[ {"é":1}\n,\r\n{"a":2}, 7 ]'
    const bytes = encoder.encode(text)
    for (const { data, offset, endOffset } of frame([bytes], { baseOffset: 100 }).events) {
      expect(new TextDecoder().decode(bytes.subarray(offset! - 100, endOffset! - 100)).trim()).toBe(data)
    }
  })

  test.each([
    { name: 'a lone continuation byte', bad: [0x80] },
    { name: 'a cut character', bad: [0xe6, 0x97] },
  ])('bytes that are not UTF-8 mark their element, and no other: $name', ({ bad }) => {
    const bytes = Uint8Array.from([...encoder.encode('[{"a":"'), ...bad, ...encoder.encode('"},{"b":"\ufffd"}]')])
    for (const pieces of [[bytes], byteByByte(bytes)]) {
      expect(frame(pieces).events.map((event) => event.invalidUtf8)).toEqual([true, undefined])
    }
  })

  test.each([
    { name: 'an element', text: '[{"a":"日"}]', bytes: 11, offset: 1, before: [] },
    { name: 'a later element', text: '[{},{"a":"xyz"}]', bytes: 11, offset: 4, before: ['{}'] },
    { name: 'a word', text: '[{}, 12345]', bytes: 5, offset: 5, before: ['{}'] },
    { name: 'what is behind the end', text: '[{}] abcde', bytes: 5, offset: 5, before: ['{}'] },
  ])('the limit, $name: $bytes bytes pass, one fewer does not', ({ text, bytes, offset, before }) => {
    const body = encoder.encode(text)
    for (const pieces of [[body], byteByByte(body)]) {
      expect(frame(pieces, { maxEventBytes: bytes }).overflow).toBeUndefined()
      const over = frame(pieces, { maxEventBytes: bytes - 1 })
      expect(over.overflow).toEqual({ offset, limit: bytes - 1 })
      expect(over.events.map((event) => event.data)).toEqual(before)
    }
  })

  test(`any bytes, any cuts, any limit: the same events, and no error (seed ${SEED})`, () => {
    const piece = fc.oneof(
      fc.constantFrom('{"a":1}', '{', '}', '[', ']', '[1,', '"', ',', '\n', ' ', '{}', 'x', '日', '\\', '1'),
      fc.string({ unit: 'binary', maxLength: 3 }),
    )
    const body = fc.oneof(
      fc.array(piece, { maxLength: 16 }).map((pieces) => encoder.encode(`[${pieces.join('')}`)),
      fc.uint8Array({ maxLength: 48 }).map((bytes) => Uint8Array.from([0x5b, ...bytes])),
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

  test(`any JSON, however it is printed: its elements (seed ${SEED})`, () => {
    fc.assert(
      fc.property(fc.array(fc.jsonValue(), { maxLength: 6 }), fc.constantFrom(0, 1, '\t'), (values, space) => {
        const { events, closed } = frame(byteByByte(encoder.encode(JSON.stringify(values, null, space))))
        expect(events.map(({ data }) => JSON.parse(data) as unknown)).toEqual(JSON.parse(JSON.stringify(values)))
        expect(closed).toBe(true)
      }),
      { seed: SEED, numRuns: 200 },
    )
  })
})
