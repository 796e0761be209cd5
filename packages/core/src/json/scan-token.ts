/**
 * Scanners for the tokens of JSON that are longer than one character. Each starts at the token's first character and gives
 * the offset just past the token, or `~fault` (negative) where `fault` is the offset of the first character that cannot be
 * there; the text's length when it ends too early. One number for both keeps the reader's hot path free of allocations.
 */

const QUOTE = 0x22
const PLUS = 0x2b
const MINUS = 0x2d
const DOT = 0x2e
const ZERO = 0x30
const NINE = 0x39
const BACKSLASH = 0x5c
const LOWER_E = 0x65
const LOWER_F = 0x66
const LOWER_U = 0x75

/** Sets the bit that tells `E` from `e`, `A` from `a`; digits have it set already. */
const CASE_BIT = 0x20

/**
 * What ends a run of plain characters in a string. A search by a regular expression is compiled to a loop that beats one
 * over `charCodeAt` two to one on long strings, and costs the same on short ones. It is global for its `lastIndex` only,
 * which is set before each use.
 */
// eslint-disable-next-line no-control-regex -- raw control characters are what a string must not hold
const SPECIAL = /["\\\u0000-\u001f]/g

/** A string literal; `start` is at its opening quote. Lone surrogates, raw or escaped, are allowed as in `JSON.parse`. */
export function scanString(text: string, start: number): number {
  let at = start + 1
  for (;;) {
    SPECIAL.lastIndex = at
    if (!SPECIAL.test(text)) return ~text.length
    at = SPECIAL.lastIndex
    const code = text.charCodeAt(at - 1)
    if (code === QUOTE) return at
    if (code !== BACKSLASH) return ~(at - 1)
    at = scanEscape(text, at)
    if (at < 0) return at
  }
}

/** An escape sequence; `start` is behind its backslash. */
function scanEscape(text: string, start: number): number {
  const code = text.charCodeAt(start)
  if (code !== LOWER_U) return isShortEscape(code) ? start + 1 : ~start
  let at = start + 1
  for (const end = at + 4; at < end; at++) {
    if (!isHexDigit(text.charCodeAt(at))) return ~at
  }
  return at
}

/** A number; `start` is at `-` or a digit. It ends where it can't go on, so `01` is a number `0` and something else. */
export function scanNumber(text: string, start: number): number {
  let at = text.charCodeAt(start) === MINUS ? start + 1 : start
  // Past the end a code is NaN and no comparison with it holds, so each step fails there without a check of its own.
  const first = text.charCodeAt(at)
  if (first === ZERO) at++
  else if (first > ZERO && first <= NINE) at = skipDigits(text, at + 1)
  else return ~at
  if (text.charCodeAt(at) === DOT) {
    const end = skipDigits(text, at + 1)
    if (end === at + 1) return ~end
    at = end
  }
  if ((text.charCodeAt(at) | CASE_BIT) === LOWER_E) {
    at++
    const sign = text.charCodeAt(at)
    if (sign === PLUS || sign === MINUS) at++
    const end = skipDigits(text, at)
    if (end === at) return ~end
    at = end
  }
  return at
}

/** One of the words `true`, `false`, `null`; `word` is the one that the first character promises. */
export function scanWord(text: string, start: number, word: string): number {
  if (text.startsWith(word, start)) return start + word.length
  // They differ within the word, if only by the end of the text, so the loop needs no bound.
  let at = start + 1
  while (text.charCodeAt(at) === word.charCodeAt(at - start)) at++
  return ~at
}

function skipDigits(text: string, start: number): number {
  let at = start
  for (;;) {
    const code = text.charCodeAt(at)
    if (!(code >= ZERO && code <= NINE)) return at
    at++
  }
}

function isHexDigit(code: number): boolean {
  if (code >= ZERO && code <= NINE) return true
  const lower = code | CASE_BIT
  return lower >= 0x61 && lower <= LOWER_F
}

function isShortEscape(code: number): boolean {
  switch (code) {
    case QUOTE:
    case BACKSLASH:
    case 0x2f: // slash
    case 0x62: // b
    case LOWER_F:
    case 0x6e: // n
    case 0x72: // r
    case 0x74: // t
      return true
    default:
      return false
  }
}
