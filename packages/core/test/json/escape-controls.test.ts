import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { escapeControls } from '../../src/json/escape-controls.ts'
import { documentText, randomText } from './json-texts.ts'

const SEED = 22_360_679

describe('escapeControls', { timeout: 60_000 }, () => {
  test.each([
    { name: 'line break', text: '{"a":"x\ny"}', want: '{"a":"x\\ny"}' },
    { name: 'CRLF and tab', text: '"\r\n\t"', want: '"\\r\\n\\t"' },
    { name: 'backspace and form feed', text: '"\b\f"', want: '"\\b\\f"' },
    { name: 'NUL and U+001F', text: '"\u0000\u001f"', want: '"\\u0000\\u001f"' },
    { name: 'vertical tab has no short form', text: '"\v"', want: '"\\u000b"' },
    { name: 'in a key', text: '{"a\nb":1}', want: '{"a\\nb":1}' },
    { name: 'first and last in the string', text: '["\na\n"]', want: '["\\na\\n"]' },
    { name: 'blanks between tokens stay', text: '{\n\t"a": "x\ny"\n}', want: '{\n\t"a": "x\\ny"\n}' },
    { name: 'after an escaped quote', text: '"\\"\n"', want: '"\\"\\n"' },
    { name: 'after an escaped backslash', text: '"\\\\\n"', want: '"\\\\\\n"' },
    { name: 'string without its quote', text: '{"a":"x\ny', want: '{"a":"x\\ny' },
  ])('$name', ({ text, want }) => {
    expect(escapeControls(text)).toBe(want)
  })

  test.each([
    { name: 'no text', text: '' },
    { name: 'no control character', text: '{"a":"x y"}' },
    { name: 'between tokens only', text: '{\n"a" :\t1\r\n}' },
    { name: 'behind an escaped backslash that ends the string', text: '"\\\\"\n' },
    { name: 'DEL and beyond are allowed raw', text: '"\u007f\u2028"' },
    { name: 'behind a backslash: a broken escape stays broken', text: '"a\\\nb"' },
    { name: 'behind the backslash at the end', text: '"\\\n' },
  ])('nothing to do: $name', ({ text }) => {
    expect(escapeControls(text)).toBeUndefined()
  })

  test(`valid JSON is left alone (seed ${SEED})`, () => {
    fc.assert(
      fc.property(documentText, (text) => {
        expect(escapeControls(text)).toBeUndefined()
      }),
      { seed: SEED, numRuns: 1000 },
    )
  })

  test(`a string whose controls were left raw comes back as it was (seed ${SEED})`, () => {
    const unit = fc.oneof(
      fc.nat({ max: 0x1f }).map((code) => String.fromCharCode(code)),
      fc.constantFrom('a', '"', '\\'),
    )
    fc.assert(
      fc.property(fc.string({ unit, minLength: 1 }), (content) => {
        const raw = `{"a":"${content.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"}`
        expect(JSON.parse(escapeControls(raw) ?? raw)).toEqual({ a: content })
      }),
      { seed: SEED, numRuns: 1000 },
    )
  })

  test(`once is enough (seed ${SEED})`, () => {
    fc.assert(
      fc.property(randomText, (text) => {
        expect(escapeControls(escapeControls(text) ?? text)).toBeUndefined()
      }),
      { seed: SEED, numRuns: 3000 },
    )
  })
})
