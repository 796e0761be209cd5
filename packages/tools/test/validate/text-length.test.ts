import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { addLengthKeywords, characters } from '../../src/validate/text-length.ts'

function ajv(): Ajv2020 {
  return new Ajv2020({ logger: false })
}

test.each([
  ['', 0],
  ['abc', 3],
  ['日本', 2],
  ['😀', 1],
  ['a😀b😀', 4],
  ['\uD83D', 1],
])('%j has %i characters', (text, count) => {
  expect(characters(text)).toBe(count)
})

test('texts of every length come out as they do with the keywords that count always', () => {
  const quick = ajv()
  addLengthKeywords(quick)
  const slow = ajv()
  const limits = [0, 1, 2, 3, 5, 8]
  const schemas = limits.flatMap((limit) => [{ minLength: limit }, { maxLength: limit }])
  const checks = schemas.map((schema) => [quick.compile(schema), slow.compile(schema)] as const)
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom('a', '日', '😀', '👩'), maxLength: 9 }), (text) => {
      for (const [mine, theirs] of checks) expect(mine(text)).toBe(theirs(text))
    }),
    { numRuns: 500 },
  )
})

test('an error says which keyword, and its limit', () => {
  const quick = ajv()
  addLengthKeywords(quick)
  const check = quick.compile({ type: 'object', properties: { a: { type: 'string', maxLength: 2 } } })
  expect(check({ a: 'abc' })).toBe(false)
  expect(check.errors).toMatchObject([{ keyword: 'maxLength', instancePath: '/a', params: { limit: 2 } }])
})
