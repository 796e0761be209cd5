import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createUtf8State, decodeEnd, decodeRead } from '../../src/sse/decode.ts'
import type { Utf8State } from '../../src/sse/decode.ts'
import { referenceCharacters } from './reference.ts'
import { always, atEveryCut, bytesOf } from './run.ts'
import { cutAt } from '../reads.ts'

const SEED = 31_415_926

interface Decoded {
  text: string
  /** Where sequences that are not UTF-8 stand in the text, and where they end in the body. */
  replaced: { at: number; end: number }[]
  firstStart: number | undefined
  bytes: number
}

function decode(reads: readonly Uint8Array[]): Decoded {
  const state = createUtf8State()
  const all: Decoded = { text: '', replaced: [], firstStart: undefined, bytes: 0 }
  const add = ({ offset }: Utf8State, text: string, bytes: Uint8Array, replaced: boolean): void => {
    if (replaced) {
      all.firstStart ??= offset
      all.replaced.push({ at: all.text.length, end: offset + bytes.length })
    }
    all.text += text
    all.bytes = offset + bytes.length
  }
  for (const read of reads) {
    const lent = read.slice()
    decodeRead(state, lent, add)
    // What is held must not be the caller's memory.
    lent.fill(0x21)
  }
  decodeEnd(state, add)
  return all
}

function reference(body: Uint8Array): Decoded {
  const all: Decoded = { text: '', replaced: [], firstStart: undefined, bytes: body.length }
  for (const { text, start, end, replaced } of referenceCharacters(body)) {
    if (start === 0 && text === '\uFEFF') continue
    if (replaced) {
      all.firstStart ??= start
      all.replaced.push({ at: all.text.length, end })
    }
    all.text += text
  }
  return all
}

const EDGES = [
  0x00, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xc1, 0xc2, 0xdf, 0xe0, 0xec, 0xed, 0xee, 0xef, 0xf0, 0xf3,
  0xf4, 0xf5, 0xff,
]
const bytes = fc
  .array(
    fc.oneof(fc.constantFrom(...EDGES), fc.constantFrom(0xef, 0xbb, 0xbf, 0xbd), fc.integer({ min: 0, max: 255 })),
    { maxLength: 40 },
  )
  .map((values) => Uint8Array.from(values))
const cuts = fc.array(fc.nat({ max: 40 }), { maxLength: 8 })

describe('decode', { timeout: 60_000 }, () => {
  test(`the reference makes of a body what a TextDecoder does (seed ${SEED})`, () => {
    fc.assert(
      fc.property(bytes, (body) => {
        expect(reference(body).text).toBe(new TextDecoder().decode(body))
      }),
      { seed: SEED, numRuns: 20_000 },
    )
  })

  test(`any bytes, any cuts: text, offsets and replaced sequences are those of the reference (seed ${SEED})`, () => {
    fc.assert(
      fc.property(bytes, cuts, (body, at) => {
        expect(decode(cutAt(body, at))).toStrictEqual(reference(body))
      }),
      { seed: SEED, numRuns: 20_000 },
    )
  })

  test.each([
    { name: 'no bytes', body: bytesOf() },
    { name: 'BOM in three reads (F006)', body: bytesOf([0xef, 0xbb, 0xbf], 'x') },
    { name: 'a character in four reads (F001)', body: bytesOf('😀') },
    { name: 'a U+FFFD that was sent', body: bytesOf('a\uFFFDb') },
    { name: 'a character that another one cuts short', body: bytesOf([0xe4, 0xbd], '😀') },
  ])('$name: the same at every cut', ({ body }) => {
    expect(atEveryCut(body, decode)).toStrictEqual(always(reference(body)))
  })

  // Here the streaming decoder takes turns with the other one, and must not be left inside a character.
  test.each([
    { name: 'a whole character', end: [] },
    { name: 'half a character', end: [0xe4, 0xbd] },
    { name: 'half a character, cut short by half of another', end: [0xe4, 0xbd, 0xf0] },
    { name: 'three halves', end: [0xe4, 0xbd, 0xc3, 0xf0, 0x9f] },
    { name: 'a byte that is not UTF-8', end: [0xff] },
  ])('large reads that end with $name', ({ end }) => {
    const large = bytesOf('你'.repeat(400))
    for (const following of [[], [0xa0], [0x98, 0x80], [0x9f, 0x98, 0x80], [0x61], [0xe4]]) {
      const reads = [large, bytesOf([...large], end), bytesOf(following, [...large]), large]
      const body = bytesOf(...reads.map((read) => [...read]))
      expect(decode(reads)).toStrictEqual(reference(body))
    }
  })

  test('held bytes are a copy, also where `slice` gives a view (as that of a Node Buffer does)', () => {
    class View extends Uint8Array {
      override slice(start?: number, end?: number): View {
        return this.subarray(start, end)
      }
    }
    const state = createUtf8State()
    const read = new View(bytesOf('a😀').slice(0, 3))
    const texts: string[] = []
    const add = (_: Utf8State, text: string): number => texts.push(text)
    decodeRead(state, read, add)
    read.fill(0)
    decodeRead(state, bytesOf([0x98, 0x80]), add)
    expect(texts).toStrictEqual(['a', '😀'])
    expect(state.held.length).toBe(0)
  })
})
