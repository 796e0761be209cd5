import { isRecord } from '../wire-value.ts'

/** Fields whose text is given out, or held against what was given out. */
const TEXT_FIELDS: ReadonlySet<string> = new Set(['delta', 'text', 'refusal', 'arguments', 'input', 'code'])
/** Where such a field stands at the deepest: in a part of an item of the final response. */
const MAX_DEPTH = 8

/**
 * Do all bytes of this event that are not UTF-8 stand in text? This API tells every text several times, so that the same bad bytes
 * come again in events that give nothing out; elsewhere they may have been those of a key.
 */
export function isCorruptInText(value: unknown, data: string): boolean {
  return replacedIn(value, MAX_DEPTH, false) >= replaced(data)
}

function replacedIn(value: unknown, depth: number, isText: boolean): number {
  if (typeof value === 'string') return isText ? replaced(value) : 0
  if (depth === 0) return 0
  let count = 0
  if (Array.isArray(value)) {
    for (const each of value as readonly unknown[]) count += replacedIn(each, depth - 1, false)
  } else if (isRecord(value)) {
    for (const key in value) count += replacedIn(value[key], depth - 1, TEXT_FIELDS.has(key))
  }
  return count
}

function replaced(text: string): number {
  let count = 0
  for (let at = text.indexOf('\ufffd'); at >= 0; at = text.indexOf('\ufffd', at + 1)) count++
  return count
}
