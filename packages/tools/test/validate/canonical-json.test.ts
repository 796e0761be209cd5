import { describe, expect, test } from 'vitest'
import type { JsonValue } from 'streamfold'
import { canonicalJson, findLoneSurrogate } from '../../src/validate/canonical-json.ts'
import { sha256Hex } from '../../src/validate/sha256.ts'

describe('canonicalJson', () => {
  // The example of RFC 8785, section 3.2.2 and 3.2.3.
  test('the example of the RFC', () => {
    const value = JSON.parse(
      String.raw`{"numbers":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001],` +
        String.raw`"string":"\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/","literals":[null,true,false]}`,
    ) as JsonValue
    expect(canonicalJson(value)).toBe(
      String.raw`{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],` +
        String.raw`"string":"€$\u000f\nA'B\"\\\\\"/"}`,
    )
  })

  test('keys are sorted by UTF-16 units, at every depth', () => {
    const value = { '\u20ac': 1, '\r': 2, '\ufb33': 3, '1': 4, '😀': 5, '\u0080': 6, ö: { b: 1, a: 2 } }
    expect(canonicalJson(value)).toBe('{"\\r":2,"1":4,"\u0080":6,"ö":{"a":2,"b":1},"€":1,"😀":5,"\ufb33":3}')
  })

  test('a key __proto__ is a key', () => {
    expect(canonicalJson(JSON.parse('{"__proto__":1,"a":2}') as JsonValue)).toBe('{"__proto__":1,"a":2}')
  })

  test.each([
    ['a number that is not finite', Infinity],
    ['a lone surrogate', '\ud800'],
    ['a lone surrogate in a key', { '\udc00': 1 }],
    ['undefined', undefined],
    ['a date', new Date(0)],
    ['a big integer', 1n],
  ])('%s has no canonical form', (_what, value) => {
    expect(() => canonicalJson(value as unknown as JsonValue)).toThrow(TypeError)
  })

  test('a surrogate pair is text like any other', () => {
    expect(canonicalJson('😀')).toBe('"😀"')
    expect(findLoneSurrogate({ a: ['😀'] })).toBeUndefined()
  })

  test('a lone surrogate is found where it is', () => {
    expect(findLoneSurrogate({ a: ['x', { 'b/c': '\ud83d' }] })).toBe('/a/1/b~1c')
    expect(findLoneSurrogate({ ok: { '\udc00': 1 } })).toBe('/ok')
  })
})

test('sha256Hex is that of the UTF-8 bytes', () => {
  expect(sha256Hex('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
  expect(sha256Hex('€')).toBe('c4cc90ed3d26f12d4b08a75140970a7904035c31cbb4515a83f19b9003c00d1d')
})
