/**
 * Any decimal of up to 15 significant digits survives a double (DBL_DIG of IEEE 754 binary64), and a literal this short
 * without an exponent is far from the ends of the range.
 */
const ALWAYS_SAFE_CHARS = 15

/** No shortest decimal is longer as `String` writes it: sign, 17 digits, point, `e-324` or up to six leading zeros. */
const MAX_SHORTEST_CHARS = 25

/** The shortest decimal that names a double has at most 17 significant digits. */
const MAX_SHORTEST_DIGITS = 17

/** Where counting a hostile exponent stops: far out of range, and sums with any string length stay exact integers. */
const EXPONENT_CEILING = 1e14

const MINUS = 0x2d
const PLUS = 0x2b
const DOT = 0x2e
const ZERO = 0x30
const NINE = 0x39

/**
 * True when `Number()` changes the decimal value of the JSON number literal at `text[start, end)`: when the shortest
 * decimal that names the resulting double, the one `String` and `JSON.stringify` would send on, is another value.
 *
 * `1.0`, `1e2` and `-0` are safe; `9007199254740993`, `0.1000000000000000055` and `1e400` are not. So is an integer that a
 * double holds exactly but prints differently, such as 2^60. Linear in the literal; a huge exponent is never expanded.
 */
export function isUnsafeNumber(text: string, start: number, end: number): boolean {
  let at = text.charCodeAt(start) === MINUS ? start + 1 : start
  if (end - at <= ALWAYS_SAFE_CHARS && !hasExponent(text, at, end)) return false
  if (end - start <= MAX_SHORTEST_CHARS) {
    // What a serialiser wrote is mostly in the shortest form already.
    const literal = text.slice(start, end)
    if (String(Number(literal)) === literal) return false
  }

  // One pass over the mantissa: its significant digits (no zeros at either end) and the place of the first of them.
  let digits = ''
  let leadingZeros = 0
  // Zeros since the last significant digit; they are significant only if another digit follows.
  let zeros = 0
  let beforeDot = 0
  let dotSeen = false
  for (; at < end; at++) {
    const code = text.charCodeAt(at)
    if (code === DOT) {
      dotSeen = true
      continue
    }
    if (code < ZERO || code > NINE) break
    if (!dotSeen) beforeDot++
    if (code !== ZERO) {
      if (digits.length + zeros >= MAX_SHORTEST_DIGITS) return true
      digits += '0'.repeat(zeros) + String.fromCharCode(code)
      zeros = 0
    } else if (digits === '') {
      leadingZeros++
    } else {
      zeros++
    }
  }
  if (digits === '') return false

  let exponent = at === end ? 0 : readExponent(text, at + 1, end)
  // The literal is d.ddd × 10^exponent, where the first d is the first digit that is not zero.
  exponent += beforeDot - 1 - leadingZeros
  const fraction = digits.length === 1 ? '' : `.${digits.slice(1)}`
  const scientific = `${digits.slice(0, 1)}${fraction}e${exponent < 0 ? '-' : '+'}${Math.abs(exponent)}`
  // Out of range it becomes infinity or zero. Without an argument toExponential gives as many digits as name the double,
  // in exactly this form.
  return Number(scientific).toExponential() !== scientific
}

function hasExponent(text: string, start: number, end: number): boolean {
  for (let at = start; at < end; at++) {
    // Of the characters of a number only `e` and `E` lie above the digits.
    if (text.charCodeAt(at) > NINE) return true
  }
  return false
}

function readExponent(text: string, start: number, end: number): number {
  const sign = text.charCodeAt(start)
  let value = 0
  for (let at = sign === MINUS || sign === PLUS ? start + 1 : start; at < end; at++) {
    if (value < EXPONENT_CEILING) value = value * 10 + (text.charCodeAt(at) - ZERO)
  }
  return sign === MINUS ? -value : value
}
