import fc from 'fast-check'
import { expect, test } from 'vitest'
import { displayWidth, fit, fitTail, wrap } from '../src/report-text/display-width.ts'

test.each([
  ['abc', 3],
  ['日本', 4],
  ['🎉', 2],
  ['e\u0301', 1],
  ['한글', 4],
  ['ｆ', 2],
  ['', 0],
])('%s takes %i columns', (text, columns) => {
  expect(displayWidth(text)).toBe(columns)
})

test('what does not fit is left off with an ellipsis', () => {
  expect([fit('abcdef', 4), fit('日本語', 5), fit('日本語', 6), fitTail('abcdef', 4), fitTail('日本語', 4)]).toEqual([
    'abc…',
    '日本…',
    '日本語',
    '…def',
    '…語',
  ])
})

test('text is broken at spaces, words that are too long anywhere', () => {
  expect(wrap('one two three', 7, 3)).toEqual(['one two', 'three'])
  expect(wrap('one two three four', 7, 2)).toEqual(['one two', 'three…'])
  expect(wrap('abcdefghij', 4, 3)).toEqual(['abcd', 'efgh', 'ij'])
  expect(wrap('', 7, 2)).toEqual([])
})

test('no text, however hostile, takes more columns than asked for or moves the cursor', () => {
  const seed = 4_242
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 60 }), fc.integer({ min: 2, max: 40 }), (text, columns) => {
      for (const line of [fit(text, columns), fitTail(text, columns), ...wrap(text, columns, 3)]) {
        expect(displayWidth(line)).toBeLessThanOrEqual(columns)
        expect(line).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u)
      }
    }),
    { seed, numRuns: 400 },
  )
})
