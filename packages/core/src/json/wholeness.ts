/**
 * Has a JSON document arrived whole? Answered while it arrives, in pieces of any size, without keeping its text.
 *
 * The scanner is a table-driven automaton over the grammar of RFC 8259, plus one bit per open bracket. Strings, which are
 * most of any document, are walked by a loop of their own that looks only for the quote and the backslash.
 */

/**
 * - `empty`: nothing but whitespace so far.
 * - `partial`: a document has begun and may still become whole.
 * - `whole`: exactly one document, perhaps with whitespace around it.
 * - `trailing`: a whole document, then something else.
 * - `invalid`: not JSON, whatever follows.
 */
export type JsonWholeness = 'empty' | 'partial' | 'whole' | 'trailing' | 'invalid'

export interface WholenessScanner {
  /** Takes the next piece, of any length, and gives the state after it. `trailing` and `invalid` are final. */
  push(text: string): JsonWholeness
  readonly state: JsonWholeness
  /** Open arrays and objects. Where the state is `trailing` or `invalid`: those open at the fault. */
  readonly depth: number
  /** Greatest `depth` so far. The scanner sets no limit of its own; the caller compares. */
  readonly maxDepth: number
}

// States. The order matters in two places: the two string states come first, and each is ESCAPE below its escape state.
const STRING = 0
const KEY_STRING = 1
const ESCAPE = 2
const KEY_ESCAPE = 3
const HEX_1 = 4
const HEX_2 = 5
const HEX_3 = 6
const HEX_4 = 7
const KEY_HEX_1 = 8
const KEY_HEX_2 = 9
const KEY_HEX_3 = 10
const KEY_HEX_4 = 11
const START = 12
const VALUE = 13
const FIRST_ITEM = 14
const FIRST_KEY = 15
const KEY = 16
const COLON = 17
/** After a value: at depth 0 the document is whole. */
const AFTER = 18
const MINUS = 19
const ZERO = 20
const INTEGER = 21
const DOT = 22
const FRACTION = 23
const EXPONENT = 24
const EXPONENT_SIGN = 25
const EXPONENT_DIGITS = 26
const TR = 27
const TRU = 28
const TRUE = 29
const FA = 30
const FAL = 31
const FALS = 32
const FALSE = 33
const NU = 34
const NUL = 35
const NULL = 36
const TRAILING = 37
const INVALID = 38

// Table entries from here on are no states but moves that need the bracket stack.
const OPEN_OBJECT = 64
const OPEN_ARRAY = 65
const CLOSE_OBJECT = 66
const CLOSE_ARRAY = 67
const COMMA = 68
const REFUSE = 69

const BLANK = ' \t\n\r'
const DIGITS = '0123456789'
const HEX_DIGITS = `${DIGITS}abcdefABCDEF`

/** Next state or move by (state << 7 | ASCII code). Outside of strings JSON has no other characters. */
const NEXT: Uint8Array = /* @__PURE__ */ buildTable()

function buildTable(): Uint8Array {
  const table = new Uint8Array((TRAILING + 1) << 7).fill(REFUSE)
  const on = (state: number, characters: string, next: number): void => {
    for (const character of characters) table[(state << 7) | character.charCodeAt(0)] = next
  }

  for (const state of [START, VALUE, FIRST_ITEM, FIRST_KEY, KEY, COLON, AFTER]) on(state, BLANK, state)
  for (const state of [START, VALUE, FIRST_ITEM]) {
    on(state, '{', OPEN_OBJECT)
    on(state, '[', OPEN_ARRAY)
    on(state, '"', STRING)
    on(state, '-', MINUS)
    on(state, '0', ZERO)
    on(state, '123456789', INTEGER)
    on(state, 't', TR)
    on(state, 'f', FA)
    on(state, 'n', NU)
  }
  on(FIRST_ITEM, ']', CLOSE_ARRAY)
  on(FIRST_KEY, '}', CLOSE_OBJECT)
  on(FIRST_KEY, '"', KEY_STRING)
  on(KEY, '"', KEY_STRING)
  on(COLON, ':', VALUE)

  on(MINUS, '0', ZERO)
  on(MINUS, '123456789', INTEGER)
  on(INTEGER, DIGITS, INTEGER)
  for (const state of [ZERO, INTEGER]) on(state, '.', DOT)
  for (const state of [DOT, FRACTION]) on(state, DIGITS, FRACTION)
  for (const state of [ZERO, INTEGER, FRACTION]) on(state, 'eE', EXPONENT)
  on(EXPONENT, '+-', EXPONENT_SIGN)
  for (const state of [EXPONENT, EXPONENT_SIGN, EXPONENT_DIGITS]) on(state, DIGITS, EXPONENT_DIGITS)
  // A number has no end of its own: what follows it ends it.
  for (const state of [ZERO, INTEGER, FRACTION, EXPONENT_DIGITS]) on(state, BLANK, AFTER)
  for (const state of [AFTER, ZERO, INTEGER, FRACTION, EXPONENT_DIGITS]) {
    on(state, ',', COMMA)
    on(state, '}', CLOSE_OBJECT)
    on(state, ']', CLOSE_ARRAY)
  }

  on(TR, 'r', TRU)
  on(TRU, 'u', TRUE)
  on(TRUE, 'e', AFTER)
  on(FA, 'a', FAL)
  on(FAL, 'l', FALS)
  on(FALS, 's', FALSE)
  on(FALSE, 'e', AFTER)
  on(NU, 'u', NUL)
  on(NUL, 'l', NULL)
  on(NULL, 'l', AFTER)

  on(ESCAPE, '"\\/bfnrt', STRING)
  on(ESCAPE, 'u', HEX_1)
  on(KEY_ESCAPE, '"\\/bfnrt', KEY_STRING)
  on(KEY_ESCAPE, 'u', KEY_HEX_1)
  const hexSteps = [
    [HEX_1, HEX_2, HEX_3, HEX_4, STRING],
    [KEY_HEX_1, KEY_HEX_2, KEY_HEX_3, KEY_HEX_4, KEY_STRING],
  ]
  for (const steps of hexSteps) {
    for (let at = 0; at < 4; at++) on(steps[at] as number, HEX_DIGITS, steps[at + 1] as number)
  }
  return table
}

const QUOTE_CODE = 0x22
const BACKSLASH_CODE = 0x5c

/** Brackets kept in one word, less one: a power of two for a cheap test, small enough that no engine boxes the word. */
const WORD_MASK = 15

/**
 * Creates a scanner for one document. It is linear in the text, never throws, and its answer doesn't depend on how the
 * text is cut; a cut may fall after a backslash or inside `\u12`.
 *
 * It follows the grammar of RFC 8259 to the letter but for one leniency: a raw control character inside a string is taken
 * as part of it, since models send bare line breaks and a repair may be asked for later. So `whole` says that the document
 * has its closing bracket, not that `JSON.parse` takes it; `readStrict` decides that.
 *
 * A number alone, such as `1`, is `partial` until whitespace ends it: `0` may follow. What comes directly behind a
 * scalar that could have ended there is `trailing`: `01`, `truex`.
 */
export function createWholenessScanner(): WholenessScanner {
  return new Scanner()
}

// A class rather than closures: its fields are cheaper to reach, which shows when pieces are a few characters long.
class Scanner implements WholenessScanner {
  #state = START
  #depth = 0
  #maxDepth = 0
  // The innermost brackets as bits, the last one lowest, 1 for an object; full words of outer ones wait in `#outer`.
  // A bit each keeps a hostile megabyte of `[` from costing more memory than its text.
  #brackets = 0
  readonly #outer: number[] = []

  get state(): JsonWholeness {
    return wholenessOf(this.#state, this.#depth)
  }

  get depth(): number {
    return this.#depth
  }

  get maxDepth(): number {
    return this.#maxDepth
  }

  push(text: string): JsonWholeness {
    const length = text.length
    let state = this.#state
    let depth = this.#depth
    let brackets = this.#brackets
    if (state >= TRAILING) return wholenessOf(state, depth)
    let at = 0
    while (at < length) {
      if (state <= KEY_STRING) {
        while (at < length) {
          const code = text.charCodeAt(at++)
          if (code === QUOTE_CODE) {
            state = state === STRING ? AFTER : COLON
            break
          }
          if (code === BACKSLASH_CODE) {
            state += ESCAPE
            break
          }
        }
        continue
      }
      const code = text.charCodeAt(at++)
      const next = code < 128 ? (NEXT[(state << 7) | code] as number) : REFUSE
      if (next < OPEN_OBJECT) {
        state = next
        continue
      }
      switch (next) {
        case OPEN_OBJECT:
        case OPEN_ARRAY:
          if (depth !== 0 && (depth & WORD_MASK) === 0) {
            this.#outer.push(brackets)
            brackets = 0
          }
          brackets = (brackets << 1) | (next === OPEN_OBJECT ? 1 : 0)
          depth++
          if (depth > this.#maxDepth) this.#maxDepth = depth
          state = next === OPEN_OBJECT ? FIRST_KEY : FIRST_ITEM
          continue
        case CLOSE_OBJECT:
        case CLOSE_ARRAY:
          if (depth !== 0 && (brackets & 1) === (next === CLOSE_OBJECT ? 1 : 0)) {
            brackets >>>= 1
            depth--
            if (depth !== 0 && (depth & WORD_MASK) === 0) brackets = this.#outer.pop() as number
            state = AFTER
            continue
          }
          break
        case COMMA:
          if (depth !== 0) {
            state = (brackets & 1) === 1 ? KEY : VALUE
            continue
          }
          break
      }
      state = depth === 0 && mayEnd(state) ? TRAILING : INVALID
      break
    }
    this.#state = state
    this.#depth = depth
    this.#brackets = brackets
    return wholenessOf(state, depth)
  }
}

function wholenessOf(state: number, depth: number): JsonWholeness {
  if (state === START) return 'empty'
  if (state === AFTER) return depth === 0 ? 'whole' : 'partial'
  if (state < TRAILING) return 'partial'
  return state === TRAILING ? 'trailing' : 'invalid'
}

/** A value may end here. At depth 0 it was a whole document then, so what doesn't continue it is something else. */
function mayEnd(state: number): boolean {
  return state === AFTER || state === ZERO || state === INTEGER || state === FRACTION || state === EXPONENT_DIGITS
}
