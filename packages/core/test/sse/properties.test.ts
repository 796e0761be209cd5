import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { EventStreamParserOptions } from '../../src/sse/index.ts'
import { referenceParse } from './reference.ts'
import { always, atEveryCut, bytesOf, parse } from './run.ts'
import { cutAt } from '../reads.ts'

const SEED = 27_182_818

/** What a hostile server might write. Repeats are weights. */
const TOKENS: readonly Uint8Array[] = `
  data|data:|data: |data: |data: x\n\n|event|event: e|id|id: 1|retry|retry: 12|da|ta|:|: | |\n|\n|\n|\n\n|\r|\r|\r\n|\r\n|\r\n\r\n|
  \uFEFF|\uFFFD|\0|x|{"a":1}|é|你好|😀|\u2028`
  .replaceAll('\n  ', '')
  .split('|')
  .map((text) => bytesOf(text))
const BROKEN: readonly Uint8Array[] = [
  [0xff],
  [0x80],
  [0xc3],
  [0xc0, 0xaf],
  [0xe4],
  [0xe4, 0xbd],
  [0xed, 0xa0, 0x80],
  [0xef, 0xbb],
  [0xef, 0xbf],
  [0xf0, 0x9f],
  [0xf0, 0x9f, 0x98],
  [0xf4, 0x90],
].map((bytes) => Uint8Array.from(bytes))
/** Longer than what is decoded in one shot, batched, or detached. */
const LONG: readonly Uint8Array[] = ['x'.repeat(1200), '你'.repeat(400), '😀é'.repeat(250), 'x'.repeat(5000)].map(
  (text) => bytesOf(text),
)

const token = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom(...TOKENS) },
  { weight: 2, arbitrary: fc.constantFrom(...BROKEN) },
)
const join = (parts: readonly Uint8Array[]): Uint8Array => bytesOf(...parts.map((part) => [...part]))
const soup = fc.array(token, { maxLength: 40 }).map(join)
const longSoup = fc
  .array(fc.oneof({ weight: 6, arbitrary: token }, { weight: 1, arbitrary: fc.constantFrom(...LONG) }), {
    maxLength: 60,
  })
  .map(join)

const options: fc.Arbitrary<EventStreamParserOptions> = fc.record(
  {
    offsets: fc.boolean(),
    onEnd: fc.constantFrom('discard', 'flush'),
    unknownFields: fc.constantFrom('ignore', 'deliver'),
  },
  { requiredKeys: [] },
)
const limited: fc.Arbitrary<EventStreamParserOptions> = fc
  .tuple(options, fc.integer({ min: 5, max: 40 }))
  .map(([rest, maxEventBytes]) => ({ ...rest, maxEventBytes }))

const cuts = fc.array(fc.nat({ max: 300 }), { maxLength: 12 })

describe('agrees with a byte by byte transcription of the standards', { timeout: 120_000 }, () => {
  test(`any bytes, any cuts (seed ${SEED})`, () => {
    fc.assert(
      fc.property(soup, options, cuts, (body, opts, at) => {
        expect(parse(cutAt(body, at), opts)).toStrictEqual(referenceParse(body, opts))
      }),
      { seed: SEED, numRuns: 20_000 },
    )
  })

  test(`with a limit that is hit now and then (seed ${SEED})`, () => {
    fc.assert(
      fc.property(soup, limited, cuts, (body, opts, at) => {
        expect(parse(cutAt(body, at), opts)).toStrictEqual(referenceParse(body, opts))
      }),
      { seed: SEED, numRuns: 20_000 },
    )
  })

  test(`every cut of one body (seed ${SEED})`, () => {
    fc.assert(
      fc.property(soup, fc.oneof(options, limited), (body, opts) => {
        expect(atEveryCut(body, (reads) => parse(reads, opts))).toStrictEqual(always(referenceParse(body, opts)))
      }),
      { seed: SEED, numRuns: 200 },
    )
  })

  test(`large reads, where the decoders take turns (seed ${SEED})`, () => {
    const far = fc.array(fc.nat({ max: 20_000 }), { maxLength: 8 })
    const limits = fc.oneof(
      options,
      fc.tuple(options, fc.integer({ min: 5, max: 9000 })).map(([rest, maxEventBytes]) => ({ ...rest, maxEventBytes })),
    )
    fc.assert(
      fc.property(longSoup, limits, far, (body, opts, at) => {
        expect(parse(cutAt(body, at), opts)).toStrictEqual(referenceParse(body, opts))
      }),
      { seed: SEED, numRuns: 1000 },
    )
  })
})

test(`events come out no later than their last byte (seed ${SEED})`, { timeout: 60_000 }, () => {
  fc.assert(
    fc.property(soup, fc.nat({ max: 200 }), (body, at) => {
      const start = body.slice(0, at)
      expect(parse([start]).events).toStrictEqual(referenceParse(start).events)
    }),
    { seed: SEED, numRuns: 2000 },
  )
})
