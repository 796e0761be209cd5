/**
 * The number grammar of RFC 8259 as an automaton, for numbers that arrive in pieces. `scan-token.ts` scans whole ones.
 *
 * @see https://www.rfc-editor.org/rfc/rfc8259#section-6
 */

/** What of a number has been seen; `NO_NUMBER` before its first character, and where a character does not belong to it. */
export type NumberState = number

export const NO_NUMBER: NumberState = 0
const MINUS: NumberState = 1
const ZERO: NumberState = 2
const INTEGER: NumberState = 3
const DOT: NumberState = 4
const FRACTION: NumberState = 5
const EXPONENT: NumberState = 6
const EXPONENT_SIGN: NumberState = 7
const EXPONENT_DIGITS: NumberState = 8

/** The state after one more character, or `NO_NUMBER` when the number cannot go on with it. */
export function nextInNumber(state: NumberState, code: number): NumberState {
  if (code >= 0x30 && code <= 0x39) {
    switch (state) {
      case NO_NUMBER:
      case MINUS:
        return code === 0x30 ? ZERO : INTEGER
      case ZERO:
        return NO_NUMBER
      case INTEGER:
        return INTEGER
      case DOT:
      case FRACTION:
        return FRACTION
      default:
        return EXPONENT_DIGITS
    }
  }
  switch (code) {
    case 0x2d: // minus
      if (state === NO_NUMBER) return MINUS
      return state === EXPONENT ? EXPONENT_SIGN : NO_NUMBER
    case 0x2b: // plus
      return state === EXPONENT ? EXPONENT_SIGN : NO_NUMBER
    case 0x2e: // point
      return state === ZERO || state === INTEGER ? DOT : NO_NUMBER
    case 0x45: // E
    case 0x65: // e
      return state === ZERO || state === INTEGER || state === FRACTION ? EXPONENT : NO_NUMBER
    default:
      return NO_NUMBER
  }
}

/** True when the number is one as it stands. */
export function mayEndNumber(state: NumberState): boolean {
  return state === ZERO || state === INTEGER || state === FRACTION || state === EXPONENT_DIGITS
}
