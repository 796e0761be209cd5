import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { DEFAULT_MAX_JSON_DEPTH, MAX_STRICT_ISSUES, readStrict } from '../../src/json/strict.ts'
import type { StrictFailureCode, StrictIssue, StrictSuccess } from '../../src/json/strict.ts'
import { exactDecimal, judge, parses } from './json-oracle.ts'
import { anyText, documentText, numberText } from './json-texts.ts'

const SEED = 27_182_818

function readWhole(text: string): StrictSuccess {
  const result = readStrict(text)
  if (!result.ok) throw new Error(`refused: ${result.message}`)
  return result
}

const issuesOf = (text: string): readonly StrictIssue[] => readWhole(text).issues

describe('readStrict: what is taken', () => {
  test.each([
    { name: 'object', text: '{"a":[1,"x",null,true,false,{"b":{}}]}' },
    { name: 'blanks anywhere', text: ' \t\r\n{ "a" : [ 1 , 2 ] , "b" : { } , "c" : [ ] } \n' },
    { name: 'top-level number', text: '-12.5e-3' },
    { name: 'top-level string', text: '"x"' },
    { name: 'top-level word', text: 'null' },
    { name: 'escapes', text: '"\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\uD83D\\uDE00"' },
    { name: 'lone surrogates, raw and escaped', text: '["\ud800","\\udc00"]' },
    { name: 'what only other languages call a control', text: '"\u007f\u0085\u2028\u2029"' },
    { name: 'zeros', text: '[0,-0,0.0,0e0,-0.0E+00]' },
  ])('$name', ({ text }) => {
    expect(readStrict(text)).toEqual({ ok: true, value: JSON.parse(text), issues: [], issueCount: 0 })
  })

  test('-0 stays -0', () => {
    expect(Object.is(readWhole('-0').value, -0)).toBe(true)
  })

  test('a key __proto__ is an own property and changes no prototype', () => {
    const value = readWhole('{"__proto__":{"polluted":true}}').value as Record<string, unknown>
    expect(Object.keys(value)).toEqual(['__proto__'])
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype)
    expect(value['polluted']).toBeUndefined()
  })
})

const refused: { name: string; text: string; code: StrictFailureCode; offset: number }[] = [
  { name: 'no text', text: '', code: 'incomplete', offset: 0 },
  { name: 'blanks only', text: ' \n\t', code: 'incomplete', offset: 3 },
  { name: 'open object', text: '{', code: 'incomplete', offset: 1 },
  { name: 'open key', text: '{"a', code: 'incomplete', offset: 3 },
  { name: 'key only', text: '{"a"', code: 'incomplete', offset: 4 },
  { name: 'colon only', text: '{"a":', code: 'incomplete', offset: 5 },
  { name: 'member without bracket', text: '{"a":1', code: 'incomplete', offset: 6 },
  { name: 'comma at the end', text: '{"a":1, ', code: 'incomplete', offset: 8 },
  { name: 'open array', text: '[', code: 'incomplete', offset: 1 },
  { name: 'item without bracket', text: '[1', code: 'incomplete', offset: 2 },
  { name: 'item and comma', text: '[1,', code: 'incomplete', offset: 3 },
  { name: 'open string', text: '"abc', code: 'incomplete', offset: 4 },
  { name: 'ends after a backslash', text: '"abc\\', code: 'incomplete', offset: 5 },
  { name: 'ends after \\u', text: '"\\u', code: 'incomplete', offset: 3 },
  { name: 'ends inside \\u', text: '"\\u12', code: 'incomplete', offset: 5 },
  { name: 'ends after \\uXXXX', text: '"\\u1234', code: 'incomplete', offset: 7 },
  { name: 'minus', text: '-', code: 'incomplete', offset: 1 },
  { name: 'point', text: '1.', code: 'incomplete', offset: 2 },
  { name: 'exponent', text: '1e', code: 'incomplete', offset: 2 },
  { name: 'exponent sign', text: '1e+', code: 'incomplete', offset: 3 },
  { name: 'word begun', text: '[tru', code: 'incomplete', offset: 4 },
  { name: 'one letter of a word', text: 'n', code: 'incomplete', offset: 1 },

  { name: 'byte order mark', text: '\ufeff{}', code: 'invalid', offset: 0 },
  { name: 'no-break space', text: '{\u00a0}', code: 'invalid', offset: 1 },
  { name: 'form feed between tokens', text: '[\f]', code: 'invalid', offset: 1 },
  { name: 'closing bracket first', text: '}', code: 'invalid', offset: 0 },
  { name: 'array closed as object', text: '[1}', code: 'invalid', offset: 2 },
  { name: 'empty array closed as object', text: '[}', code: 'invalid', offset: 1 },
  { name: 'object closed as array', text: '{"a":1]', code: 'invalid', offset: 6 },
  { name: 'empty object closed as array', text: '{]', code: 'invalid', offset: 1 },
  { name: 'comma after the last item', text: '[1,]', code: 'invalid', offset: 3 },
  { name: 'comma after the last member', text: '{"a":1,}', code: 'invalid', offset: 7 },
  { name: 'closed after a colon', text: '{"a":}', code: 'invalid', offset: 5 },
  { name: 'comma first', text: '[,1]', code: 'invalid', offset: 1 },
  { name: 'comma for colon', text: '{"a",1}', code: 'invalid', offset: 4 },
  { name: 'colon in array', text: '["a":1]', code: 'invalid', offset: 4 },
  { name: 'single quotes', text: "{'a':1}", code: 'invalid', offset: 1 },
  { name: 'bare key', text: '{a:1}', code: 'invalid', offset: 1 },
  { name: 'missing comma', text: '[1 2]', code: 'invalid', offset: 3 },
  { name: 'comment', text: '{/**/}', code: 'invalid', offset: 1 },
  { name: 'raw line break in a string', text: '"a\nb"', code: 'invalid', offset: 2 },
  { name: 'NUL in a string', text: '"\u0000"', code: 'invalid', offset: 1 },
  { name: 'U+001F in a key', text: '{"\u001f":1}', code: 'invalid', offset: 2 },
  { name: 'unknown escape', text: '"a\\x41"', code: 'invalid', offset: 3 },
  { name: 'line break after a backslash', text: '"a\\\nb"', code: 'invalid', offset: 3 },
  { name: 'bad hex digit', text: '"\\u12G4"', code: 'invalid', offset: 5 },
  { name: 'character below the hex digits', text: '"\\u12@4"', code: 'invalid', offset: 5 },
  { name: 'quote inside \\u', text: '"\\u12"', code: 'invalid', offset: 5 },
  { name: 'leading zero inside', text: '[01]', code: 'invalid', offset: 2 },
  { name: 'minus and leading zero inside', text: '[-01]', code: 'invalid', offset: 3 },
  { name: 'point first', text: '.5', code: 'invalid', offset: 0 },
  { name: 'plus first', text: '+1', code: 'invalid', offset: 0 },
  { name: 'minus and no digit', text: '-x', code: 'invalid', offset: 1 },
  { name: 'point and no digit', text: '1.x', code: 'invalid', offset: 2 },
  { name: 'exponent and no digit', text: '[1e]', code: 'invalid', offset: 3 },
  { name: 'exponent sign and no digit', text: '[1e-]', code: 'invalid', offset: 4 },
  { name: 'hexadecimal', text: '[0x1]', code: 'invalid', offset: 2 },
  { name: 'NaN', text: 'NaN', code: 'invalid', offset: 0 },
  { name: 'Infinity', text: '-Infinity', code: 'invalid', offset: 1 },
  { name: 'undefined', text: 'undefined', code: 'invalid', offset: 0 },
  { name: 'misspelt word', text: '[trUe]', code: 'invalid', offset: 3 },
  { name: 'words glued inside', text: '[truefalse]', code: 'invalid', offset: 5 },

  { name: 'second document', text: '{}{}', code: 'trailing_data', offset: 2 },
  { name: 'second document after blanks', text: '[] \n []', code: 'trailing_data', offset: 5 },
  { name: 'template token behind', text: '{"a":1}<|end|>', code: 'trailing_data', offset: 7 },
  { name: 'one bracket too many', text: '{}}', code: 'trailing_data', offset: 2 },
  { name: 'leading zero at the top', text: '01', code: 'trailing_data', offset: 1 },
  { name: 'letters behind a word', text: 'nullx', code: 'trailing_data', offset: 4 },
  { name: 'letters behind a number', text: '1e5x', code: 'trailing_data', offset: 3 },
  { name: 'string behind a string', text: '"a" "b"', code: 'trailing_data', offset: 4 },
  { name: 'byte order mark behind', text: '{}\ufeff', code: 'trailing_data', offset: 2 },
]

describe('readStrict: what is refused', () => {
  test.each(refused)('$name: $code at $offset', ({ text, code, offset }) => {
    expect(readStrict(text)).toEqual({ ok: false, code, offset, message: expect.any(String) })
    expect(parses(text)).toBe(false)
  })

  test.each([
    { text: '[1,]', message: '"]" stands at offset 3 where a value is expected.' },
    { text: '[', message: 'The text ends at offset 1 where a value or "]" is expected.' },
    { text: '{"a":1', message: 'The text ends at offset 6 where "," or "}" is expected.' },
    { text: '"ab', message: 'The text ends at offset 3 where the rest of a string is expected.' },
    { text: 'nul', message: 'The text ends at offset 3 where the rest of null is expected.' },
    { text: '-', message: 'The text ends at offset 1 where a digit is expected.' },
    { text: '"\n"', message: '"\\n" stands raw inside a string at offset 1, which JSON does not allow.' },
    { text: '"\\😀"', message: '"😀" stands in an escape sequence at offset 2, which JSON does not allow.' },
    { text: '{} \u001b[', message: 'The document is whole, but "\\u001b" follows it at offset 3.' },
    { text: '['.repeat(129), message: 'Arrays and objects nest deeper than 128 at offset 128.' },
  ])('message: $message', ({ text, message }) => {
    expect(readStrict(text)).toMatchObject({ message })
  })
})

const arrays = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth)
const objects = (depth: number): string => `${'{"k":'.repeat(depth)}0${'}'.repeat(depth)}`

describe('readStrict: depth', () => {
  test('the default limit is 128', () => {
    expect(DEFAULT_MAX_JSON_DEPTH).toBe(128)
  })

  test.each([
    { name: '128 arrays', text: arrays(128), ok: true },
    { name: '129 arrays', text: arrays(129), ok: false },
    { name: '128 objects', text: objects(128), ok: true },
    { name: '129 objects', text: objects(129), ok: false },
    { name: '128 arrays side by side', text: `[${Array.from({ length: 200 }, () => arrays(127)).join()}]`, ok: true },
  ])('$name', ({ text, ok }) => {
    expect(readStrict(text).ok).toBe(ok)
  })

  test.each([
    { maxDepth: 0, text: '1', ok: true },
    { maxDepth: 0, text: '[]', ok: false },
    { maxDepth: 1, text: '[{}', ok: false },
    { maxDepth: 2, text: '[{}]', ok: true },
    { maxDepth: 2, text: '[{"a":[', ok: false },
    { maxDepth: Number.NaN, text: '[]', ok: false },
  ])('maxDepth $maxDepth on $text', ({ maxDepth, text, ok }) => {
    const result = readStrict(text, { maxDepth })
    expect(result.ok || result.code).toBe(ok || 'too_deep')
  })

  test('the fault is at the bracket that is one too many, whatever stands behind it', () => {
    expect(readStrict(`${'['.repeat(129)}oops`)).toMatchObject({ code: 'too_deep', offset: 128 })
  })

  test('a fault before the depth is the fault', () => {
    expect(readStrict(`[1 ${'['.repeat(500)}`)).toMatchObject({ code: 'invalid', offset: 3 })
  })

  test('a million brackets cost no stack', () => {
    const text = '['.repeat(1_000_000)
    expect(readStrict(text)).toMatchObject({ code: 'too_deep', offset: 128 })
    expect(readStrict(text, { maxDepth: Infinity })).toMatchObject({ code: 'incomplete', offset: 1_000_000 })
  })
})

describe('readStrict: duplicate_key', () => {
  test.each([
    { name: 'same key', text: '{"a":1,"a":2}', offset: 7, path: '/a' },
    { name: 'same key once decoded', text: '{"a":1,"\\u0061":2}', offset: 7, path: '/a' },
    { name: 'escaped first', text: '{"\\u0061":1,"a":2}', offset: 12, path: '/a' },
    { name: 'empty key', text: '{"":1, "":2}', offset: 7, path: '/' },
    { name: 'inside an array', text: '[0,{"x":{"a":1,"b":2,"a":3}}]', offset: 21, path: '/1/x/a' },
    { name: 'after a nested object', text: '{"a":{"b":1},"a":2}', offset: 13, path: '/a' },
    { name: 'key that a plain object inherits', text: '{"toString":1,"toString":2}', offset: 14, path: '/toString' },
    { name: 'key to be escaped in a pointer', text: '{"a/b~":1,"a/b~":2}', offset: 10, path: '/a~1b~0' },
  ])('$name', ({ text, offset, path }) => {
    const result = readWhole(text)
    expect(result.issues).toEqual([{ code: 'duplicate_key', offset, path }])
    expect(result.issueCount).toBe(1)
    expect(result.value).toEqual(JSON.parse(text))
  })

  test.each([
    { name: 'same key in sibling objects', text: '[{"a":1},{"a":1}]' },
    { name: 'same key in nested objects', text: '{"a":{"a":{"a":1}}}' },
    { name: 'keys that differ in case', text: '{"a":1,"A":2}' },
    { name: 'keys that look alike but are not normalised', text: '{"\u00e9":1,"e\u0301":2}' },
    { name: 'inherited names once', text: '{"toString":1,"constructor":{"prototype":1}}' },
  ])('not: $name', ({ text }) => {
    expect(issuesOf(text)).toEqual([])
  })
})

describe('readStrict: proto_key', () => {
  test.each([
    { name: 'at the top', text: '{"__proto__":1}', offset: 1, path: '/__proto__' },
    { name: 'escaped', text: '{"\\u005f_proto__":1}', offset: 1, path: '/__proto__' },
    { name: 'deep', text: '{"a":[{"__proto__":{}}]}', offset: 7, path: '/a/0/__proto__' },
  ])('$name', ({ text, offset, path }) => {
    expect(issuesOf(text)).toEqual([{ code: 'proto_key', offset, path }])
  })

  test('as a value it is nothing', () => {
    expect(issuesOf('{"a":"__proto__","__proto":1}')).toEqual([])
  })

  test('twice it is also a duplicate', () => {
    expect(issuesOf('{"__proto__":1,"__proto__":2}').map(({ code }) => code)).toEqual([
      'proto_key',
      'duplicate_key',
      'proto_key',
    ])
  })
})

describe('readStrict: unsafe_number', { timeout: 60_000 }, () => {
  test.each([
    '0.1',
    '1.0',
    '1e2',
    '1E+2',
    '100e-2',
    '-0',
    '0.000',
    '0e999999',
    '-0.0e-999999',
    '9007199254740992',
    '-9007199254740992',
    '9007199254740994',
    '123456789012345',
    '12345678901234500000',
    '0.30000000000000004',
    '1e21',
    '1e-7',
    '5e-324',
    '0.5e-323',
    '1.7976931348623157e308',
    '17976931348623157e292',
    '0.1000000000000000000000000000000000000000',
    `1${'0'.repeat(308)}`,
    `0.${'0'.repeat(323)}5`,
    `${'1'.padEnd(1000, '0')}e-999`,
    `0.${'0'.repeat(999)}1e1000`,
  ])('%s is safe', (literal) => {
    expect(issuesOf(`[${literal}]`)).toEqual([])
  })

  test.each([
    '12345678901234567890',
    '9007199254740993',
    '-9007199254740993',
    '0.1000000000000000055',
    '0.10000000000000001',
    '1152921504606846976',
    '1e400',
    '-1e400',
    '1e-400',
    '1.8e308',
    '2e308',
    '4e-324',
    '4.9e-324',
    '1e999999999999999999999999',
    '1e-999999999999999999999999',
    '1234567890.1234567890',
    `1${'0'.repeat(309)}`,
    `0.${'0'.repeat(400)}5`,
    '1'.repeat(400),
  ])('%s is not', (literal) => {
    const sibling = `[0,${literal}]`
    expect(issuesOf(sibling)).toEqual([{ code: 'unsafe_number', offset: 3, path: '/1' }])
    expect(issuesOf(literal)).toEqual([{ code: 'unsafe_number', offset: 0, path: '' }])
  })

  test(`agrees with exact decimal arithmetic (seed ${SEED})`, () => {
    fc.assert(
      fc.property(numberText, (literal) => {
        const safe = exactDecimal(literal) === exactDecimal(String(Number(literal)))
        expect(issuesOf(literal).length).toBe(safe ? 0 : 1)
      }),
      { seed: SEED, numRuns: 10_000 },
    )
  })

  test(`what JSON.stringify writes is safe (seed ${SEED})`, () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (number) => {
        expect(issuesOf(JSON.stringify(number))).toEqual([])
        expect(issuesOf(number.toExponential())).toEqual([])
      }),
      { seed: SEED, numRuns: 5000 },
    )
  })
})

describe('readStrict: issues', () => {
  test.each([
    { count: MAX_STRICT_ISSUES, listed: MAX_STRICT_ISSUES },
    { count: MAX_STRICT_ISSUES + 1, listed: MAX_STRICT_ISSUES },
  ])('$count issues: $listed listed, all counted', ({ count, listed }) => {
    const result = readWhole(`[${Array.from({ length: count }, () => '1e400').join()}]`)
    expect(result.issues.map(({ path }) => path)).toEqual(Array.from({ length: listed }, (_, at) => `/${at}`))
    expect(result.issueCount).toBe(count)
  })

  test('issues come by offset, whatever their kind', () => {
    expect(issuesOf('{"a":1e400,"a":{"__proto__":9007199254740993}}')).toEqual([
      { code: 'unsafe_number', offset: 5, path: '/a' },
      { code: 'duplicate_key', offset: 11, path: '/a' },
      { code: 'proto_key', offset: 16, path: '/a/__proto__' },
      { code: 'unsafe_number', offset: 28, path: '/a/__proto__' },
    ])
  })

  test('the index of an item counts items of all kinds', () => {
    expect(issuesOf('[[],{},"x",null,[1,2],1e400]')).toEqual([{ code: 'unsafe_number', offset: 22, path: '/5' }])
  })

  test.each([
    { name: '200 units fit', key: 'k'.repeat(199), path: `/${'k'.repeat(199)}` },
    { name: '201 do not', key: 'k'.repeat(200), path: `/${'k'.repeat(198)}…` },
    { name: 'a huge key', key: '~'.repeat(100_000), path: `/${'~0'.repeat(99)}…` },
    { name: 'a pair is not split', key: '😀'.repeat(150), path: `/${'😀'.repeat(99)}…` },
    { name: 'control characters show', key: 'a\\u001b\\nb', path: '/a\\u001b\\nb' },
  ])('path: $name', ({ key, path }) => {
    expect(issuesOf(`{"${key}":1e400}`).map((issue) => issue.path)).toEqual([path])
    expect(path.length).toBeLessThanOrEqual(200)
  })
})

// Values are compared as text: it shows own `__proto__` and `constructor` keys, on which deep equality stumbles.
function readAsText(text: string): string {
  const result = readStrict(text)
  return result.ok ? JSON.stringify(result.value) : 'refused'
}

function parseAsText(text: string): string {
  return parses(text) ? JSON.stringify(JSON.parse(text)) : 'refused'
}

describe('readStrict and JSON.parse', { timeout: 60_000 }, () => {
  test(`both take the same texts and give the same value (seed ${SEED})`, () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(readAsText(text)).toBe(parseAsText(text))
      }),
      { seed: SEED, numRuns: 10_000 },
    )
  })

  test(`valid documents are taken (seed ${SEED})`, () => {
    fc.assert(
      fc.property(fc.oneof(documentText, fc.json()), (text) => {
        expect(readStrict(text).ok).toBe(true)
      }),
      { seed: SEED, numRuns: 1000 },
    )
  })

  test(`the code and the offset of a refusal are right (seed ${SEED})`, () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(readStrict(text)).toMatchObject(judge(text))
      }),
      { seed: SEED, numRuns: 1500 },
    )
  })

  test(`a prefix of a valid document is incomplete or a document itself (seed ${SEED})`, () => {
    fc.assert(
      fc.property(documentText, (text) => {
        for (let at = 0; at < text.length; at++) {
          const prefix = text.slice(0, at)
          const want = parses(prefix) ? { ok: true } : { ok: false, code: 'incomplete', offset: at }
          expect(readStrict(prefix)).toMatchObject(want)
        }
      }),
      { seed: SEED, numRuns: 200 },
    )
  })
})

describe('readStrict: cost', { timeout: 10_000 }, () => {
  // No clock here: quadratic work on a megabyte would run into the time limit.
  const MIB = 1 << 20
  test.each([
    { name: 'digits', text: '9'.repeat(MIB), ok: true },
    { name: 'zeros and an exponent that undoes them', text: `0.${'0'.repeat(MIB)}1e${MIB + 1}`, ok: true },
    { name: 'exponent', text: `1e${'9'.repeat(MIB)}`, ok: true },
    { name: 'backslashes', text: `"${'\\\\'.repeat(MIB / 2)}"`, ok: true },
    { name: 'one open string', text: `"${'x'.repeat(MIB)}`, ok: false },
    { name: 'strings', text: `[${'"x",'.repeat(MIB / 4)}""]`, ok: true },
    { name: 'the same key', text: `{${'"a":1,'.repeat(MIB / 6)}"a":1}`, ok: true },
    { name: 'distinct keys', text: `{${Array.from({ length: MIB / 8 }, (_, at) => `"${at}":1`).join()}}`, ok: true },
    {
      name: 'long keys with a long common beginning',
      text: `{${Array.from({ length: 1000 }, (_, at) => `"${'k'.repeat(1000)}${at}":1`).join()}}`,
      ok: true,
    },
    { name: 'keys that all need decoding', text: `{${'"\\u0061":1,'.repeat(MIB / 11)}"a":1}`, ok: true },
    { name: 'unsafe numbers', text: `[${'1e400,'.repeat(MIB / 6)}0]`, ok: true },
    { name: 'blanks', text: ' '.repeat(MIB), ok: false },
  ])('a megabyte of $name', ({ text, ok }) => {
    expect(readStrict(text).ok).toBe(ok)
  })
})

test('numbers are not looked at where that is not asked for; everything else is as it was', () => {
  const text = '{"n":9007199254740993,"a":1e400,"a":0.1,"__proto__":1}'
  const all = readStrict(text)
  const keys = readStrict(text, { numbers: false })
  if (!all.ok || !keys.ok) throw new Error('it is JSON')
  expect(keys.issues).toEqual(all.issues.filter(({ code }) => code !== 'unsafe_number'))
  expect([all.issueCount - keys.issueCount, keys.value]).toEqual([2, all.value])
  expect(readStrict('[01]', { numbers: false })).toEqual(readStrict('[01]'))
})
