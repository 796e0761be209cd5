import type { FaultCode } from '../chunk/fault.ts'
import { clip } from '../json/clip.ts'
import { readStrict } from '../json/strict.ts'
import type { StrictResult } from '../json/strict.ts'
import { isJsonObject } from '../json/value.ts'
import type { JsonObject, JsonValue } from '../json/value.ts'
import { repairArguments } from './repair.ts'
import type { ArgumentRepair } from '../chunk/argument-repair.ts'

export type ArgumentsResult =
  | { readonly ok: true; readonly value: JsonObject; readonly repair?: ArgumentRepair; readonly empty?: true }
  /** Parsed, but a value in it would be changed or hidden on its way to the tool: held, not run. */
  | { readonly ok: 'unsafe'; readonly value: JsonObject; readonly message: string; readonly offset: number }
  | { readonly ok: false; readonly code: FaultCode; readonly message: string; readonly offset: number }

export interface ArgumentsOptions {
  readonly maxDepth: number
  readonly repairs: readonly ArgumentRepair[]
  /** The pieces as they came; only read by repairs. */
  readonly fragments: readonly string[]
}

/**
 * The strict parse at the end of a call: one JSON object, nothing before or behind it. Empty or white space is `{}` here and
 * nowhere else (fault F042). Numbers that JavaScript would round, duplicate keys and `__proto__` keys are unsafe.
 * Named repairs are tried only when the text as it came is not one whole object, for plain concatenation always wins.
 */
export function readArguments(text: string, options: ArgumentsOptions): ArgumentsResult {
  if (text.trim() === '') return { ok: true, value: {}, empty: true }
  const plain = judge(readStrict(text, { maxDepth: options.maxDepth }))
  if (plain.ok !== false || options.repairs.length === 0) return plain
  for (const repair of options.repairs) {
    const repaired = repairArguments(repair, text, options.fragments)
    if (repaired === undefined) continue
    const result = judge(readStrict(repaired, { maxDepth: options.maxDepth }))
    if (result.ok === true) return { ...result, repair }
    if (result.ok === 'unsafe') return result
  }
  return plain
}

function judge(read: StrictResult): ArgumentsResult {
  if (!read.ok) {
    const code = read.code === 'incomplete' ? 'arguments_incomplete' : 'arguments_invalid'
    return { ok: false, code, message: read.message, offset: read.offset }
  }
  if (!isJsonObject(read.value)) {
    return {
      ok: false,
      code: 'arguments_invalid',
      message: `arguments must be a JSON object, this is ${nameOf(read.value)}`,
      offset: 0,
    }
  }
  const issue = read.issues[0]
  if (issue === undefined) return { ok: true, value: read.value }
  return { ok: 'unsafe', value: read.value, message: ISSUES[issue.code](clip(issue.path, 80)), offset: issue.offset }
}

const ISSUES = {
  duplicate_key: (path: string) => `the key at ${path} is there twice, and which one counts depends on the reader`,
  proto_key: (path: string) => `the key at ${path} could change an object's prototype`,
  unsafe_number: (path: string) => `the number at ${path} can't be held exactly and would be rounded`,
}

function nameOf(value: JsonValue): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'an array' : `a ${typeof value}`
}
