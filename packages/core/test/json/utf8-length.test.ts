import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { utf8Length } from '../../src/json/utf8-length.ts'

const SEED = 17_320_508

describe('utf8Length', { timeout: 60_000 }, () => {
  test.each([
    { name: 'no text', text: '', want: 0 },
    { name: 'ASCII', text: 'abc', want: 3 },
    { name: 'U+007F', text: '\u007f', want: 1 },
    { name: 'U+0080', text: '\u0080', want: 2 },
    { name: 'U+07FF', text: '\u07ff', want: 2 },
    { name: 'U+0800', text: '\u0800', want: 3 },
    { name: 'U+D7FF', text: '\ud7ff', want: 3 },
    { name: 'U+E000', text: '\ue000', want: 3 },
    { name: 'U+FFFF', text: '\uffff', want: 3 },
    { name: 'U+10000', text: '\u{10000}', want: 4 },
    { name: 'U+10FFFF', text: '\u{10ffff}', want: 4 },
    { name: 'lone high surrogate at the end', text: 'a\ud800', want: 4 },
    { name: 'lone high surrogate amid text', text: '\ud800a', want: 4 },
    { name: 'lone low surrogate', text: '\udc00', want: 3 },
    { name: 'surrogates in the wrong order', text: '\udc00\ud800', want: 6 },
    { name: 'high, then a pair', text: '\ud800\ud83d\ude00', want: 7 },
  ])('$name: $want', ({ text, want }) => {
    expect(utf8Length(text)).toBe(want)
  })

  test(`agrees with TextEncoder (seed ${SEED})`, () => {
    const unit = fc.oneof(
      fc.nat({ max: 0xffff }).map((code) => String.fromCharCode(code)),
      fc.integer({ min: 0xd800, max: 0xdfff }).map((code) => String.fromCharCode(code)),
    )
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.array(unit), (text, units) => {
        const all = text + units.join('')
        expect(utf8Length(all)).toBe(new TextEncoder().encode(all).length)
      }),
      { seed: SEED, numRuns: 1000 },
    )
  })
})
