import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { clip } from '../../src/json/clip.ts'

const SEED = 14_142_135

describe('clip', { timeout: 60_000 }, () => {
  test.each([
    { name: 'shorter than max', text: 'abc', max: 4, want: 'abc' },
    { name: 'exactly max', text: 'abcd', max: 4, want: 'abcd' },
    { name: 'one more than max', text: 'abcde', max: 4, want: 'abc…' },
    { name: 'no text', text: '', max: 0, want: '' },
    { name: 'max 0', text: 'a', max: 0, want: '' },
    { name: 'negative max', text: 'a', max: -1, want: '' },
    { name: 'max NaN', text: 'a', max: Number.NaN, want: '' },
    { name: 'max 1, one unit', text: 'a', max: 1, want: 'a' },
    { name: 'max 1, two units', text: 'ab', max: 1, want: '…' },
    { name: 'pair that fits', text: 'a😀', max: 3, want: 'a😀' },
    { name: 'pair that would be split', text: 'a😀b', max: 3, want: 'a…' },
    { name: 'pair just before the ellipsis', text: 'a😀bc', max: 4, want: 'a😀…' },
    { name: 'line breaks and tabs', text: 'a\r\n\tb', max: 20, want: 'a\\r\\n\\tb' },
    { name: 'terminal escape', text: '\u001b[31m', max: 20, want: '\\u001b[31m' },
    { name: 'NUL', text: '\u0000', max: 20, want: '\\u0000' },
    { name: 'U+001F and the space behind it', text: '\u001f ', max: 20, want: '\\u001f ' },
    { name: 'DEL', text: '~\u007f', max: 20, want: '~\\u007f' },
    { name: 'C1 controls', text: '\u0080\u009f\u00a0', max: 20, want: '\\u0080\\u009f\u00a0' },
    { name: 'line separator', text: '\u2028', max: 20, want: '\\u2028' },
    { name: 'text direction', text: 'a\u202eb', max: 20, want: 'a\\u202eb' },
    { name: 'lone surrogates', text: '\ud800a\udc00', max: 20, want: '\\ud800a\\udc00' },
    { name: 'escape that fits exactly', text: 'a\u001b', max: 7, want: 'a\\u001b' },
    { name: 'escape that does not fit is left off whole', text: 'ab\u001b', max: 7, want: 'ab…' },
    { name: 'two escapes, room for one', text: '\n\n', max: 3, want: '\\n…' },
    { name: 'backslash stays', text: '\\n', max: 20, want: '\\n' },
  ])('$name', ({ text, max, want }) => {
    expect(clip(text, max)).toBe(want)
  })

  test(`never longer than max, well-formed, printable (seed ${SEED})`, () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.nat({ max: 30 }), (text, max) => {
        const shown = clip(text, max)
        expect(shown.length).toBeLessThanOrEqual(max)
        expect(shown).not.toMatch(/[\p{Cc}\p{Cs}]/u)
        const all = clip(text, 10_000)
        expect(shown.endsWith('…') || max === 0 || shown === all).toBe(true)
        expect(all.startsWith(shown.replace(/…$/, ''))).toBe(true)
      }),
      { seed: SEED, numRuns: 1000 },
    )
  })
})
