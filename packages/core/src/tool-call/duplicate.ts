import type { JsonValue } from '../json/value.ts'
import type { CallRecord } from './record.ts'

/**
 * Is this the same call delivered twice? The provider's id alone does not say so, for some servers give every call the same one
 * (fault F078): id, name and arguments must all be equal. Equal calls without an id are two calls: the model asked twice.
 */
export function isDuplicate(record: CallRecord, records: readonly CallRecord[]): boolean {
  if (record.providerCallId === undefined) return false
  return records.some(
    (other) =>
      other.ordinal < record.ordinal &&
      other.providerCallId === record.providerCallId &&
      other.name === record.name &&
      other.state === 'complete' &&
      (other.argumentsText === record.argumentsText ||
        (record.parsedArguments !== null && sameJson(other.parsedArguments, record.parsedArguments))),
  )
}

/** Equality of values, whatever the order of keys and the white space. */
function sameJson(a: JsonValue, b: JsonValue): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a) || Array.isArray(b)) {
    return Array.isArray(a) && Array.isArray(b) && a.length === b.length && a.every((value, i) => sameJson(value, b[i]))
  }
  const left = a as Record<string, JsonValue>
  const right = b as Record<string, JsonValue>
  const keys = Object.keys(left)
  return (
    keys.length === Object.keys(right).length &&
    keys.every((key) => Object.hasOwn(right, key) && sameJson(left[key]!, right[key]!))
  )
}
