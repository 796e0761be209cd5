import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { mayEndNumber, nextInNumber, NO_NUMBER } from '../../src/json/number-state.ts'
import { numberText } from './json-texts.ts'

const SEED = 14_142_135

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/

/** Characters taken, and whether the number may end behind them. */
function read(text: string): { taken: number; mayEnd: boolean } {
  let state = NO_NUMBER
  let taken = 0
  for (; taken < text.length; taken++) {
    const next = nextInNumber(state, text.charCodeAt(taken))
    if (next === NO_NUMBER) break
    state = next
  }
  return { taken, mayEnd: mayEndNumber(state) }
}

test.each([
  { text: '', taken: 0, mayEnd: false },
  { text: '-', taken: 1, mayEnd: false },
  { text: '--', taken: 1, mayEnd: false },
  { text: '-0', taken: 2, mayEnd: true },
  { text: '01', taken: 1, mayEnd: true },
  { text: '10', taken: 2, mayEnd: true },
  { text: '.5', taken: 0, mayEnd: false },
  { text: '1.', taken: 2, mayEnd: false },
  { text: '0.50', taken: 4, mayEnd: true },
  { text: '1.5.', taken: 3, mayEnd: true },
  { text: '1.e', taken: 2, mayEnd: false },
  { text: '1e', taken: 2, mayEnd: false },
  { text: '1E+', taken: 3, mayEnd: false },
  { text: '1e-07', taken: 5, mayEnd: true },
  { text: '1e+-', taken: 3, mayEnd: false },
  { text: '1e5e', taken: 3, mayEnd: true },
  { text: '1-', taken: 1, mayEnd: true },
  { text: '+1', taken: 0, mayEnd: false },
  { text: '1/', taken: 1, mayEnd: true },
  { text: '1:', taken: 1, mayEnd: true },
])('"$text": $taken characters, may end: $mayEnd', ({ text, taken, mayEnd }) => {
  expect(read(text)).toEqual({ taken, mayEnd })
})

test(`takes every number whole (seed ${SEED})`, () => {
  fc.assert(
    fc.property(numberText, (text) => {
      expect(read(text)).toEqual({ taken: text.length, mayEnd: true })
    }),
    { seed: SEED, numRuns: 1000 },
  )
})

test(`takes what can become a number, and ends where it is one (seed ${SEED})`, () => {
  const completions = ['', '0', '.0', 'e0', '-0']
  const text = fc.string({ unit: fc.constantFrom(...'0059.-+eE x'.split('')), maxLength: 8 })
  fc.assert(
    fc.property(text, (any) => {
      const { taken, mayEnd } = read(any)
      const canBecome = (part: string): boolean =>
        part === '' || completions.some((completion) => NUMBER.test(part + completion))
      expect(canBecome(any.slice(0, taken))).toBe(true)
      expect(taken < any.length && canBecome(any.slice(0, taken + 1))).toBe(false)
      expect(mayEnd).toBe(NUMBER.test(any.slice(0, taken)))
    }),
    { seed: SEED, numRuns: 3000 },
  )
})
