/** Slow and simple answers to check the scanners against. All of them rest on `JSON.parse`. */

export function parses(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

// What may be missing at the end of a cut token, then what a cut member or item still needs.
const STRING_ENDS = ['"', '\\"', 'n"', '0"', '00"', '000"', '0000"']
const WORD_ENDS = ['rue', 'ue', 'e', 'alse', 'lse', 'se', 'ull', 'll', 'l']
const TOKEN_ENDS = ['', '0', ...STRING_ENDS, ...WORD_ENDS]
const MEMBER_ENDS = ['', '0', ':0', '"":0']

/** True when the text is the beginning of some document: when one of all plausible endings makes `JSON.parse` take it. */
function canBeCompleted(text: string): boolean {
  const closers = openBrackets(text)
  for (const token of TOKEN_ENDS) {
    for (const member of MEMBER_ENDS) {
      if (parses(text + token + member + closers)) return true
    }
  }
  return false
}

/** How `readStrict` should judge a text within its depth: found by looking for the longest beginning that can be JSON. */
export function judge(text: string): { ok: true } | { ok: false; code: string; offset: number } {
  if (parses(text)) return { ok: true }
  if (canBeCompleted(text)) return { ok: false, code: 'incomplete', offset: text.length }
  // Bisection: what begins a document has only beginnings that do, too.
  let good = 0
  let bad = text.length
  while (bad - good > 1) {
    const middle = (good + bad) >> 1
    if (canBeCompleted(text.slice(0, middle))) good = middle
    else bad = middle
  }
  return { ok: false, code: parses(text.slice(0, good)) ? 'trailing_data' : 'invalid', offset: good }
}

/** The closing brackets that the text lacks, innermost first, if it is the beginning of JSON. */
function openBrackets(text: string): string {
  const closers: string[] = []
  let inString = false
  for (let at = 0; at < text.length; at++) {
    const character = text.charAt(at)
    if (character === '"') inString = !inString
    else if (inString && character === '\\') at++
    else if (inString) continue
    else if (character === '{') closers.unshift('}')
    else if (character === '[') closers.unshift(']')
    else if (character === '}' || character === ']') closers.shift()
  }
  return closers.join('')
}

/** A decimal literal as digits × 10^exponent, without trailing zeros: equal values give equal texts. */
export function exactDecimal(literal: string): string {
  const match = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(literal)
  if (match === null) return literal
  const [, sign, whole = '', fraction = '', exponentText = '0'] = match
  let exponent = BigInt(exponentText) - BigInt(fraction.length)
  let digits = BigInt(whole + fraction)
  if (digits === 0n) return '0'
  while (digits % 10n === 0n) {
    digits /= 10n
    exponent++
  }
  return `${sign}${digits}e${exponent}`
}
