import { RE2JS } from 're2js'
import { messageOf } from '../thrown.ts'

/** A regular expression whose time is linear in the text, whatever the text. */
export interface LinearPattern {
  /** True when the pattern matches anywhere in the text, as JSON Schema means it. */
  test(text: string): boolean
  /**
   * Unlike for any two different patterns. Ajv takes two matchers that print alike for one and the same, and would then apply
   * the first pattern in the place of all others.
   */
  toString(): string
}

/**
 * Compiles a pattern of JSON Schema (ECMA-262 with the flag `u`) with RE2, which has neither look-around nor back references.
 * It matches what `RegExp` matches, or is refused.
 *
 * @throws SyntaxError for a pattern that is none, or that RE2 can't take; the message says what is wrong in it
 */
export function compileLinearPattern(source: string): LinearPattern {
  let compiled: RE2JS
  try {
    // RE2 is laxer in places. What is not a pattern to the one that wrote it is not one here.
    void new RegExp(source, 'u')
    compiled = RE2JS.compile(RE2JS.translateRegExp(sameMeaning(source)))
  } catch (error) {
    throw new SyntaxError(
      `the pattern ${JSON.stringify(source)} can't be matched in linear time (no look-around, no back references): ${messageOf(error)}`,
      { cause: error },
    )
  }
  return {
    test: (text) => compiled.matcher(text).find(),
    toString: () => `linear:${source}`,
  }
}

/** The engine Ajv is given in place of `RegExp`. Its `code` would only matter in generated modules, and none are written here. */
export const linearRegExp: { (source: string, flags: string): LinearPattern; code: string } = Object.assign(
  (source: string) => compileLinearPattern(source),
  { code: 'linearRegExp' },
)

const SPACE = String.raw`\t\n\x{b}\f\r \x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}`
const NOT_SPACE =
  String.raw`\x{0}-\x{8}\x{e}-\x{1f}!-\x{9f}\x{a1}-\x{167f}\x{1681}-\x{1fff}\x{200b}-\x{2027}\x{202a}-\x{202e}` +
  String.raw`\x{2030}-\x{205e}\x{2060}-\x{2fff}\x{3001}-\x{fefe}\x{ff00}-\x{10ffff}`
const NOT_LINE_END = String.raw`[^\n\r\x{2028}\x{2029}]`

/** Spells out what RE2 reads differently: `\s` and `\S` beyond ASCII, the line ends that `.` leaves out, named back references. */
function sameMeaning(source: string): string {
  let rewritten = ''
  let inClass = false
  for (let at = 0; at < source.length; at++) {
    const character = source.charAt(at)
    if (character === '\\') {
      const escaped = source.charAt(++at)
      if (escaped === 'k') throw new SyntaxError('back reference')
      if (escaped === 's') rewritten += inClass ? SPACE : `[${SPACE}]`
      else if (escaped === 'S') rewritten += inClass ? NOT_SPACE : `[${NOT_SPACE}]`
      else rewritten += `\\${escaped}`
      continue
    }
    if (character === '[') inClass = true
    else if (character === ']') inClass = false
    rewritten += character === '.' && !inClass ? NOT_LINE_END : character
  }
  return rewritten
}
