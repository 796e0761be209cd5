import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readStrict } from '../../src/json/strict.ts'
import { createWholenessScanner } from '../../src/json/wholeness.ts'
import type { JsonWholeness } from '../../src/json/wholeness.ts'
import { anyText, cut, cuts, documentText, objectText } from './json-texts.ts'

const SEED = 61_803_398

interface Seen {
  state: JsonWholeness
  depth: number
  maxDepth: number
}

function scan(...pieces: string[]): Seen {
  const scanner = createWholenessScanner()
  for (const piece of pieces) {
    const state = scanner.push(piece)
    expect(scanner.state).toBe(state)
  }
  return { state: scanner.state, depth: scanner.depth, maxDepth: scanner.maxDepth }
}

const table: { name: string; text: string; want: JsonWholeness }[] = [
  { name: 'no text', text: '', want: 'empty' },
  { name: 'blanks only', text: ' \t\r\n', want: 'empty' },
  { name: 'other white space is not JSON', text: '\u00a0', want: 'invalid' },
  { name: 'a byte order mark is not JSON', text: '\ufeff{}', want: 'invalid' },

  { name: 'empty object', text: '{}', want: 'whole' },
  { name: 'empty array', text: '[]', want: 'whole' },
  { name: 'object without its bracket', text: '{"a":1', want: 'partial' },
  { name: 'object with its bracket', text: '{"a":1}', want: 'whole' },
  { name: 'blanks around', text: ' {"a" : [ 1 , 2 ] } \n', want: 'whole' },
  { name: 'inner bracket closes only the inner', text: '{"a":{"b":[]}', want: 'partial' },
  { name: 'nested and whole', text: '{"a":{"b":[{},[]]}}', want: 'whole' },
  { name: 'brackets inside a string do not count', text: '{"a":"}]"', want: 'partial' },
  { name: 'brackets inside a key do not count', text: '{"}]', want: 'partial' },

  { name: 'array closed as object', text: '[}', want: 'invalid' },
  { name: 'object closed as array', text: '{"a":1]', want: 'invalid' },
  { name: 'closing bracket first', text: ']', want: 'invalid' },
  { name: 'comma after the last item', text: '[1,]', want: 'invalid' },
  { name: 'comma after the last member', text: '{"a":1,}', want: 'invalid' },
  { name: 'comma first', text: '[,', want: 'invalid' },
  { name: 'key without quotes', text: '{a', want: 'invalid' },
  { name: 'key in single quotes', text: "{'", want: 'invalid' },
  { name: 'number as key', text: '{1', want: 'invalid' },
  { name: 'missing colon', text: '{"a" 1', want: 'invalid' },
  { name: 'missing comma in array', text: '[1 2', want: 'invalid' },
  { name: 'missing comma in object', text: '{"a":1 "b"', want: 'invalid' },
  { name: 'letter outside ASCII between tokens', text: '[é', want: 'invalid' },
  { name: 'code 128 between tokens', text: '[\u0080', want: 'invalid' },
  { name: 'code 127 between tokens', text: '[\u007f', want: 'invalid' },

  { name: 'string without its quote', text: '"abc', want: 'partial' },
  { name: 'string with its quote', text: '"abc"', want: 'whole' },
  { name: 'escaped quote does not end a string', text: '"a\\"', want: 'partial' },
  { name: 'escaped backslash, then the quote', text: '"a\\\\"', want: 'whole' },
  { name: 'every short escape', text: '"\\"\\\\\\/\\b\\f\\n\\r\\t"', want: 'whole' },
  { name: 'unknown escape', text: '"\\x', want: 'invalid' },
  { name: 'unknown escape in a key', text: '{"\\x', want: 'invalid' },
  { name: 'cut after a backslash', text: '"\\', want: 'partial' },
  { name: 'cut inside \\u', text: '"\\u00e', want: 'partial' },
  { name: 'quote inside \\u', text: '"\\u00e"', want: 'invalid' },
  { name: '\\u with both letter cases', text: '"\\uaFfA"', want: 'whole' },
  { name: '\\u in a key', text: '{"\\u0061":0}', want: 'whole' },
  { name: 'g is no hex digit', text: '"\\u000g', want: 'invalid' },
  { name: 'lone surrogate', text: '"\ud800"', want: 'whole' },
  { name: 'raw line break in a string is taken', text: '{"a":"x\ny"}', want: 'whole' },
  { name: 'raw line break in a string, cut', text: '{"a":"x\n', want: 'partial' },

  { name: 'a digit may get company', text: '1', want: 'partial' },
  { name: 'a number ended by a blank', text: '1 ', want: 'whole' },
  { name: 'zero ended by a blank', text: '-0\n', want: 'whole' },
  { name: 'every part of a number', text: '-12.50e+07 ', want: 'whole' },
  { name: 'minus only', text: '-', want: 'partial' },
  { name: 'minus and blank', text: '- ', want: 'invalid' },
  { name: 'point without digits', text: '[1.]', want: 'invalid' },
  { name: 'point first', text: '.5', want: 'invalid' },
  { name: 'plus first', text: '+1', want: 'invalid' },
  { name: 'exponent without digits', text: '[1e]', want: 'invalid' },
  { name: 'exponent sign without digits', text: '[1e+]', want: 'invalid' },
  { name: 'two points', text: '[1.5.', want: 'invalid' },
  { name: 'leading zero inside', text: '[01', want: 'invalid' },
  { name: 'leading zero at the top', text: '01', want: 'trailing' },
  { name: 'number ended by a bracket', text: '[1.5e3]', want: 'whole' },
  { name: 'zero ended by a bracket', text: '{"a":0}', want: 'whole' },

  { name: 'true', text: 'true', want: 'whole' },
  { name: 'false', text: 'false', want: 'whole' },
  { name: 'null', text: 'null', want: 'whole' },
  { name: 'true begun', text: 'tru', want: 'partial' },
  { name: 'false begun', text: 'fals', want: 'partial' },
  { name: 'null begun', text: 'nul', want: 'partial' },
  { name: 'words are lower-case', text: 'True', want: 'invalid' },
  { name: 'misspelt word', text: 'nil', want: 'invalid' },
  { name: 'NaN', text: 'NaN', want: 'invalid' },
  { name: 'words inside', text: '[true,false,null]', want: 'whole' },
  { name: 'word glued to word inside', text: '[truefalse', want: 'invalid' },

  { name: 'second document', text: '{}{}', want: 'trailing' },
  { name: 'second document after blanks', text: '{} \n{', want: 'trailing' },
  { name: 'letters behind a document', text: '{"a":1}x', want: 'trailing' },
  { name: 'one bracket too many', text: '{}}', want: 'trailing' },
  { name: 'comma behind a document', text: '[],', want: 'trailing' },
  { name: 'letters behind a word', text: 'truex', want: 'trailing' },
  { name: 'letters behind a number', text: '1x', want: 'trailing' },
  { name: 'string behind a string', text: '"a""b"', want: 'trailing' },
]

describe('createWholenessScanner', { timeout: 60_000 }, () => {
  test.each(table)('$name: $want', ({ text, want }) => {
    expect(scan(text).state).toBe(want)
  })

  test.each(table)('$name, in single characters', ({ text, want }) => {
    expect(scan(...text.split('')).state).toBe(want)
  })

  test('a fresh scanner is empty', () => {
    const scanner = createWholenessScanner()
    expect([scanner.state, scanner.depth, scanner.maxDepth]).toEqual(['empty', 0, 0])
  })

  test('an empty piece changes nothing', () => {
    const scanner = createWholenessScanner()
    expect(scanner.push('')).toBe('empty')
    expect(scanner.push('{')).toBe('partial')
    expect(scanner.push('')).toBe('partial')
    expect(scanner.push('}')).toBe('whole')
    expect(scanner.push('')).toBe('whole')
  })

  test('a number stays partial over pushes until something ends it', () => {
    const scanner = createWholenessScanner()
    expect(['1', '0', '.', '5', ' ', ' '].map((piece) => scanner.push(piece))).toEqual([
      'partial',
      'partial',
      'partial',
      'partial',
      'whole',
      'whole',
    ])
  })

  test('whole turns into trailing, and trailing and invalid are final', () => {
    const trailing = createWholenessScanner()
    expect(['{}', ' ', 'x', ' ', '{'].map((piece) => trailing.push(piece))).toEqual([
      'whole',
      'whole',
      'trailing',
      'trailing',
      'trailing',
    ])
    const invalid = createWholenessScanner()
    expect(['{', ']', '}', ' '].map((piece) => invalid.push(piece))).toEqual([
      'partial',
      'invalid',
      'invalid',
      'invalid',
    ])
  })

  test('depth falls, maxDepth stays', () => {
    expect(scan('{"a":[[')).toEqual({ state: 'partial', depth: 3, maxDepth: 3 })
    expect(scan('{"a":[[', ']]')).toEqual({ state: 'partial', depth: 1, maxDepth: 3 })
    expect(scan('{"a":[[]],"b":{}}')).toEqual({ state: 'whole', depth: 0, maxDepth: 3 })
  })

  test('depth stands still at a fault', () => {
    expect(scan('[[}', '[[[')).toEqual({ state: 'invalid', depth: 2, maxDepth: 2 })
    expect(scan('[]', '[[[')).toEqual({ state: 'trailing', depth: 0, maxDepth: 1 })
  })

  // The bracket stack is kept in words of 16 bits; kinds must survive the borders in both directions.
  test.each([1, 15, 16, 17, 31, 32, 33, 47, 48, 49, 1000])('%i brackets of mixed kinds match', (depth) => {
    const kinds = Array.from({ length: depth }, (_, at) => (at * 7) % 3 === 0)
    const opening = kinds.map((isArray) => (isArray ? '[' : '{"k":')).join('')
    const closing = kinds.map((isArray) => (isArray ? ']' : '}')).toReversed()
    expect(scan(`${opening}0`)).toEqual({ state: 'partial', depth, maxDepth: depth })
    expect(scan(`${opening}0${closing.join('')}`)).toEqual({ state: 'whole', depth: 0, maxDepth: depth })
    for (let at = 0; at < depth; at++) {
      const wrong = closing.with(at, closing[at] === ']' ? '}' : ']')
      expect(scan(`${opening}0${wrong.join('')}`).state).toBe('invalid')
    }
  })

  test('a million open brackets are counted', () => {
    expect(scan('['.repeat(1_000_000))).toEqual({ state: 'partial', depth: 1_000_000, maxDepth: 1_000_000 })
  })

  test(`any cut gives the same answer (seed ${SEED})`, () => {
    fc.assert(
      fc.property(anyText, cuts, (text, lengths) => {
        expect(scan(...cut(text, lengths))).toEqual(scan(text))
      }),
      { seed: SEED, numRuns: 2000 },
    )
  })

  test('every cut of one text into two gives the same answer', () => {
    const text = ' {"k\\u00e9y\\"" : [ -1.5e+3 , true,false , null, "\\\\", {} , [ ] ] } '
    for (let at = 0; at <= text.length; at++) {
      expect(scan(text.slice(0, at), text.slice(at))).toEqual({ state: 'whole', depth: 0, maxDepth: 3 })
    }
  })

  test(`an object is whole at its last character and partial before (seed ${SEED})`, () => {
    fc.assert(
      fc.property(objectText, (text) => {
        const scanner = createWholenessScanner()
        const states = text
          .slice(0, -1)
          .split('')
          .map((unit) => scanner.push(unit))
        expect(new Set(states)).toEqual(new Set(['partial']))
        expect(scanner.push(text.slice(-1))).toBe('whole')
      }),
      { seed: SEED, numRuns: 1000 },
    )
  })

  test(`a valid document, delimited, is whole (seed ${SEED})`, () => {
    fc.assert(
      fc.property(documentText, (text) => {
        expect(scan(`${text} `).state).toBe('whole')
      }),
      { seed: SEED, numRuns: 1000 },
    )
  })

  // Delimited, since a number that nothing ended yet is `partial` to the scanner, and a document to readStrict.
  test(`agrees with readStrict on delimited text without control characters (seed ${SEED})`, () => {
    const byCode = { incomplete: 'partial', invalid: 'invalid', trailing_data: 'trailing', too_deep: 'none' } as const
    const want = (text: string): string => {
      if (!/[^ \t\r\n]/.test(text)) return 'empty'
      const strict = readStrict(text, { maxDepth: Infinity })
      return strict.ok ? 'whole' : byCode[strict.code]
    }
    fc.assert(
      fc.property(anyText, (text) => {
        const delimited = `${text.replaceAll(/\p{Cc}/gu, ' ')} `
        expect(scan(delimited).state).toBe(want(delimited))
      }),
      { seed: SEED, numRuns: 3000 },
    )
  })
})
