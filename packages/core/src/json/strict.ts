import { clip } from './clip.ts'
import { jsonPointer } from './json-pointer.ts'
import { scanNumber, scanString, scanWord } from './scan-token.ts'
import { isUnsafeNumber } from './unsafe-number.ts'
import type { JsonValue } from './value.ts'

/** Deepest nesting of arrays and objects that is read when the caller names no other. */
export const DEFAULT_MAX_JSON_DEPTH = 128

/** Issues listed per document; the rest are only counted. */
export const MAX_STRICT_ISSUES = 16

const MAX_PATH_CHARS = 200

export interface StrictOptions {
  /** Greatest number of nested arrays and objects; one more is `too_deep`. Default {@link DEFAULT_MAX_JSON_DEPTH}. */
  readonly maxDepth?: number
  /** Look for `unsafe_number`. Default true. */
  readonly numbers?: boolean
}

/**
 * What `JSON.parse` passes over in silence.
 * - `duplicate_key`: the object has this key already; the earlier value is lost. Keys are compared decoded, so `"a"` and
 *   `"\u0061"` are the same.
 * - `proto_key`: a key `__proto__`, harmless as parsed, dangerous to whoever copies it.
 * - `unsafe_number`: the number as a double is another decimal than the text says.
 */
export type StrictIssueCode = 'duplicate_key' | 'proto_key' | 'unsafe_number'

export interface StrictIssue {
  readonly code: StrictIssueCode
  /** UTF-16 offset of the key's opening quote, or of the number's first character. */
  readonly offset: number
  /** JSON Pointer of the member or item, for people: at most 200 UTF-16 units, unprintable characters escaped. */
  readonly path: string
}

/**
 * - `incomplete`: the text ends too early: it is a proper prefix of a document. Empty and blank text too.
 * - `trailing_data`: one whole document, then something else.
 * - `too_deep`: an array or object opens beyond `maxDepth`.
 * - `invalid`: anything else that is not JSON.
 *
 * The first fault in text order decides: what stands behind a bracket that is too deep is not looked at.
 */
export type StrictFailureCode = 'incomplete' | 'invalid' | 'trailing_data' | 'too_deep'

export interface StrictSuccess {
  readonly ok: true
  readonly value: JsonValue
  /** The first {@link MAX_STRICT_ISSUES} issues, by offset. */
  readonly issues: readonly StrictIssue[]
  /** All issues, listed or not. */
  readonly issueCount: number
}

export interface StrictFailure {
  readonly ok: false
  readonly code: StrictFailureCode
  /**
   * UTF-16 offset of the first character that cannot be where it stands: everything before it could still have become JSON
   * (for `trailing_data`: is JSON). The text's length when it ends too early.
   */
  readonly offset: number
  /** One sentence; at most one character of the text is quoted in it. */
  readonly message: string
}

export type StrictResult = StrictSuccess | StrictFailure

// What may come next, between tokens.
const VALUE = 0
const FIRST_ITEM = 1
const FIRST_KEY = 2
const KEY = 3
const COLON = 4
const AFTER_ITEM = 5
const AFTER_MEMBER = 6
const END = 7

const EXPECTED: readonly string[] = [
  'a value',
  'a value or "]"',
  'a key or "}"',
  'a key',
  '":"',
  '"," or "]"',
  '"," or "}"',
  'the end',
]

const QUOTE = 0x22
const COMMA = 0x2c
const MINUS = 0x2d
const ZERO = 0x30
const NINE = 0x39
const COLON_CODE = 0x3a
const OPEN_BRACKET = 0x5b
const CLOSE_BRACKET = 0x5d
const LOWER_F = 0x66
const LOWER_N = 0x6e
const LOWER_T = 0x74
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d

/**
 * Reads one JSON document: takes exactly the texts that `JSON.parse` takes, down to `maxDepth`, gives the value that
 * `JSON.parse` gives, and tells what it keeps silent about ({@link StrictIssueCode}). Issues are no refusals; the caller
 * decides what they mean. Never throws: a refusal says which kind of fault it is and where.
 *
 * Time is linear in the text, whatever it holds. The text is walked without recursion, so depth costs no stack, and no
 * value is built from a text that is refused.
 *
 * @see https://www.rfc-editor.org/rfc/rfc8259
 */
export function readStrict(text: string, options?: StrictOptions): StrictResult {
  const maxDepth = options?.maxDepth ?? DEFAULT_MAX_JSON_DEPTH
  const numbers = options?.numbers ?? true
  const length = text.length
  const issues: StrictIssue[] = []
  let issueCount = 0
  // One entry per open bracket in both stacks: where we are in it (key of the member or index of the item), and the keys
  // it has so far, undefined for an array. `keys` is the top of the second.
  const path: (string | number)[] = []
  const keySets: (Set<string> | undefined)[] = []
  let keys: Set<string> | undefined
  let deepest = 0
  let deepestAt = 0
  let expected = VALUE
  let at = 0

  function note(code: StrictIssueCode, offset: number): void {
    issueCount++
    if (issues.length < MAX_STRICT_ISSUES) issues.push({ code, offset, path: jsonPointer(path, MAX_PATH_CHARS) })
  }

  for (;;) {
    let code = 0
    for (; at < length; at++) {
      code = text.charCodeAt(at)
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) break
    }
    if (at === length) {
      if (expected === END) break
      return unfit(text, at, EXPECTED[expected] as string)
    }

    switch (expected) {
      case FIRST_KEY:
      case KEY: {
        if (code === CLOSE_BRACE && expected === FIRST_KEY) break
        if (code !== QUOTE) return unfit(text, at, EXPECTED[expected] as string)
        const end = scanString(text, at)
        if (end < 0) return unfitInString(text, ~end)
        const key = decodeKey(text, at, end)
        const known = keys as Set<string>
        path[path.length - 1] = key
        // A set that did not grow had the key: one look-up instead of two.
        const size = known.size
        if (known.add(key).size === size) note('duplicate_key', at)
        if (key === '__proto__') note('proto_key', at)
        at = end
        expected = COLON
        continue
      }

      case COLON:
        if (code !== COLON_CODE) return unfit(text, at, EXPECTED[COLON] as string)
        at++
        expected = VALUE
        continue

      case AFTER_ITEM:
        if (code === CLOSE_BRACKET) break
        if (code !== COMMA) return unfit(text, at, EXPECTED[AFTER_ITEM] as string)
        path[path.length - 1] = (path[path.length - 1] as number) + 1
        at++
        expected = VALUE
        continue

      case AFTER_MEMBER:
        if (code === CLOSE_BRACE) break
        if (code !== COMMA) return unfit(text, at, EXPECTED[AFTER_MEMBER] as string)
        at++
        expected = KEY
        continue

      case END:
        return {
          ok: false,
          code: 'trailing_data',
          offset: at,
          message: `The document is whole, but ${quoteAt(text, at)} follows it at offset ${at}.`,
        }

      default: {
        if (code === CLOSE_BRACKET && expected === FIRST_ITEM) break
        if (code === OPEN_BRACE || code === OPEN_BRACKET) {
          // Negated, so that a maxDepth of NaN refuses rather than admits everything.
          if (!(path.length < maxDepth)) {
            return {
              ok: false,
              code: 'too_deep',
              offset: at,
              message: `Arrays and objects nest deeper than ${maxDepth} at offset ${at}.`,
            }
          }
          if (code === OPEN_BRACE) {
            keys = new Set()
            path.push('')
            expected = FIRST_KEY
          } else {
            keys = undefined
            path.push(0)
            expected = FIRST_ITEM
          }
          keySets.push(keys)
          if (path.length > deepest) {
            deepest = path.length
            deepestAt = at
          }
          at++
          continue
        }
        const end = scanScalar(text, at, code)
        if (end < 0) {
          if (code === QUOTE) return unfitInString(text, ~end)
          return unfit(text, ~end, ~end === at ? (EXPECTED[expected] as string) : scalarRest(code))
        }
        if (numbers && code <= NINE && code !== QUOTE && isUnsafeNumber(text, at, end)) note('unsafe_number', at)
        at = end
        expected = afterValue(keys, path.length)
        continue
      }
    }

    // The innermost bracket closes.
    path.pop()
    keySets.pop()
    keys = keySets[keySets.length - 1]
    at++
    expected = afterValue(keys, path.length)
  }

  try {
    return { ok: true, value: JSON.parse(text) as JsonValue, issues, issueCount }
  } catch {
    // The text is JSON. Only an engine whose JSON.parse recurses can give up, on a depth that the caller asked for.
    const message = `Arrays and objects nest deeper than this JavaScript engine can parse at offset ${deepestAt}.`
    return { ok: false, code: 'too_deep', offset: deepestAt, message }
  }
}

function afterValue(keys: Set<string> | undefined, depth: number): number {
  if (keys !== undefined) return AFTER_MEMBER
  return depth === 0 ? END : AFTER_ITEM
}

function scanScalar(text: string, start: number, code: number): number {
  if (code === QUOTE) return scanString(text, start)
  if (code === MINUS || (code >= ZERO && code <= NINE)) return scanNumber(text, start)
  if (code === LOWER_T) return scanWord(text, start, 'true')
  if (code === LOWER_F) return scanWord(text, start, 'false')
  if (code === LOWER_N) return scanWord(text, start, 'null')
  return ~start
}

/** What should go on where a number or a word, known by its first character, broke off. */
function scalarRest(code: number): string {
  if (code === LOWER_T) return 'the rest of true'
  if (code === LOWER_F) return 'the rest of false'
  if (code === LOWER_N) return 'the rest of null'
  return 'a digit'
}

/** The key of the literal at `text[start, end)`, quotes included. */
function decodeKey(text: string, start: number, end: number): string {
  const raw = text.slice(start + 1, end - 1)
  return raw.includes('\\') ? (JSON.parse(text.slice(start, end)) as string) : raw
}

function unfit(text: string, offset: number, expected: string): StrictFailure {
  if (offset === text.length) return incomplete(offset, expected)
  const message = `${quoteAt(text, offset)} stands at offset ${offset} where ${expected} is expected.`
  return { ok: false, code: 'invalid', offset, message }
}

function unfitInString(text: string, offset: number): StrictFailure {
  if (offset === text.length) return incomplete(offset, 'the rest of a string')
  const what = text.charCodeAt(offset) < 0x20 ? 'raw inside a string' : 'in an escape sequence'
  const message = `${quoteAt(text, offset)} stands ${what} at offset ${offset}, which JSON does not allow.`
  return { ok: false, code: 'invalid', offset, message }
}

function incomplete(offset: number, expected: string): StrictFailure {
  return {
    ok: false,
    code: 'incomplete',
    offset,
    message: `The text ends at offset ${offset} where ${expected} is expected.`,
  }
}

function quoteAt(text: string, offset: number): string {
  return `"${clip(String.fromCodePoint(text.codePointAt(offset) as number), 12)}"`
}
