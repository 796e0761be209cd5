import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { jsonSchemaValidator } from '../../src/validate/json-schema-validator.ts'
import { compileLinearPattern } from '../../src/validate/linear-pattern.ts'

describe('compileLinearPattern', () => {
  // The exponential pattern takes a backtracking engine seconds at 27 characters; this text has a hundred thousand.
  test('a pattern that explodes elsewhere answers', () => {
    expect(compileLinearPattern('^(a+)+$').test(`${'a'.repeat(100_000)}!`)).toBe(false)
  })

  test.each([
    { why: 'look-ahead', source: '(?=a)b' },
    { why: 'look-behind', source: '(?<=a)b' },
    { why: 'numbered back reference', source: String.raw`(a)\1` },
    { why: 'named back reference', source: String.raw`(?<x>a)\k<x>` },
    { why: 'no pattern at all', source: '(' },
    { why: 'not legal with the flag u', source: String.raw`\-` },
  ])('refused: $why', ({ source }) => {
    expect(() => compileLinearPattern(source)).toThrow(SyntaxError)
  })

  const SOURCES = [
    String.raw`^\d{4}-\d{2}$`,
    'a.c',
    '^.$',
    String.raw`\s`,
    String.raw`^\S+$`,
    String.raw`[\s,]`,
    String.raw`^[\S]$`,
    String.raw`[^\s]`,
    String.raw`\w+@\w+`,
    String.raw`\bfoo\b`,
    '^[a-c]*$',
    '[^]',
    String.raw`\u0041`,
    '^$',
    '',
    'a|b',
  ]

  test('matches what RegExp matches, white space and line ends included', () => {
    const characters = fc.constantFrom(...Array.from('abcAfo 0-9,@\n\r\t\v\f\u00a0\u2028\u2029\u2003\ufeff\u200b😀é'))
    fc.assert(
      fc.property(fc.constantFrom(...SOURCES), fc.array(characters, { maxLength: 8 }), (source, text) => {
        expect(compileLinearPattern(source).test(text.join(''))).toBe(new RegExp(source, 'u').test(text.join('')))
      }),
      { numRuns: 3000 },
    )
  })

  test('every pattern prints unlike every other, or Ajv would take the one for the other', () => {
    expect(String(compileLinearPattern('a'))).not.toBe(String(compileLinearPattern('b')))
  })
})

describe('two patterns in one schema', () => {
  const schema = {
    type: 'object',
    properties: {
      upper: { type: 'string', pattern: '^[A-Z]+$' },
      digits: { type: 'string', pattern: '^[0-9]+$' },
      evil: { type: 'string', pattern: '^(a+)+$' },
    },
  }

  test.each(['compiled', 'interpreted'] as const)('%s: each field is held to its own', async (engine) => {
    const validator = jsonSchemaValidator(schema, { engine })
    expect(await validator.validate({ upper: 'AB', digits: '12', evil: 'aa' })).toMatchObject({ ok: true })
    expect(await validator.validate({ upper: '12' })).toMatchObject({ ok: false, issues: [{ path: '/upper' }] })
    expect(await validator.validate({ digits: 'AB' })).toMatchObject({ ok: false, issues: [{ path: '/digits' }] })
    expect(await validator.validate({ evil: `${'a'.repeat(10_000)}!` })).toEqual({
      ok: false,
      issues: [{ path: '/evil', expected: 'text matching ^(a+)+$' }],
    })
  })

  test('the interpreter leaves no format behind', async () => {
    const { format } = await import('@cfworker/json-schema')
    await jsonSchemaValidator(schema, { engine: 'interpreted' }).validate({ upper: 'x' })
    expect(Object.keys(format).filter((name) => name.startsWith('streamfold'))).toEqual([])
  })
})
