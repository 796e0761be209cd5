import type { JsonValue } from 'streamfold'

/** A surrogate that is not half of a pair: no UTF-8 text can hold it. */
const LONE_SURROGATE = /\p{Cs}/u

/**
 * The one way to write a JSON value: keys sorted by UTF-16 units, no white space, numbers as `JSON.stringify` writes them.
 * Equal values give equal texts, so the text can be hashed.
 *
 * @throws TypeError for what has no canonical form: a lone surrogate, a number that is not finite, a value that is not JSON
 * @see https://www.rfc-editor.org/rfc/rfc8785
 */
export function canonicalJson(value: JsonValue): string {
  if (value === null) return 'null'
  if (typeof value === 'string') return canonicalString(value)
  if (typeof value === 'boolean') return value ? 'true' : 'false'
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw new TypeError(`${value} has no JSON form`)
    return JSON.stringify(value)
  }
  if (typeof value !== 'object') throw new TypeError(`a ${typeof value} has no JSON form`)
  if (isArray(value)) return `[${value.map((item) => canonicalJson(item)).join(',')}]`
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) throw new TypeError('only plain objects have a JSON form')
  const members = Object.keys(value)
    .sort()
    .map((key) => `${canonicalString(key)}:${canonicalJson(value[key] as JsonValue)}`)
  return `{${members.join(',')}}`
}

/** The path to the first string, or key, that holds a lone surrogate; `undefined` when there is none. */
export function findLoneSurrogate(value: JsonValue, path = ''): string | undefined {
  if (typeof value === 'string') return LONE_SURROGATE.test(value) ? path : undefined
  if (typeof value !== 'object' || value === null) return undefined
  for (const [key, member] of Object.entries(value as Record<string, JsonValue>)) {
    if (LONE_SURROGATE.test(key)) return path
    const found = findLoneSurrogate(member, `${path}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`)
    if (found !== undefined) return found
  }
  return undefined
}

function canonicalString(text: string): string {
  if (LONE_SURROGATE.test(text)) throw new TypeError('a string with a lone surrogate has no canonical JSON form')
  return JSON.stringify(text)
}

function isArray(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value)
}
