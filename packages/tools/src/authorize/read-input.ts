import type { FaultCode, JsonObject, ReadyToolCall } from 'streamfold'
import { isJsonObject, readStrict, utf8Length } from 'streamfold/json'
import { canonicalJson, findLoneSurrogate } from '../validate/canonical-json.ts'
import { sha256Hex } from '../validate/sha256.ts'

export type InputResult =
  | { readonly ok: true; readonly input: JsonObject; readonly inputJson: string; readonly argumentsHash: string }
  | { readonly ok: false; readonly code: FaultCode; readonly message: string }

/** The text that is to be read as arguments. */
export function argumentsTextOf(call: ReadyToolCall): string {
  // The input of a custom call is free text, and its arguments hold exactly that text: no JSON can contain itself.
  // A call may come from elsewhere than the core, with nothing where its arguments should be.
  const parsed: JsonObject | null | undefined = call.parsedArguments
  const custom = typeof parsed?.['input'] === 'string' && parsed['input'] === call.argumentsText
  if (custom || (call.repairs?.length ?? 0) > 0) return JSON.stringify(call.parsedArguments)
  return call.argumentsText
}

/** Whether the size is within the limit, in UTF-8 bytes. */
export function isWithin(text: string, maxBytes: number): boolean {
  // No text is longer in units than in bytes.
  return text.length <= maxBytes && utf8Length(text) <= maxBytes
}

/**
 * Reads arguments as strictly as they can be read: one JSON object, no key twice, no `__proto__`, no number that would be
 * rounded, no lone surrogate, no nesting beyond `maxDepth`. Empty text is `{}`, as the model's wire means it.
 */
export function readInput(text: string, maxDepth: number): InputResult {
  const read = readStrict(text.trim() === '' ? '{}' : text, { maxDepth })
  if (!read.ok) {
    const code = read.code === 'incomplete' ? 'arguments_incomplete' : 'arguments_invalid'
    return { ok: false, code, message: read.message }
  }
  if (!isJsonObject(read.value))
    return { ok: false, code: 'arguments_invalid', message: 'Arguments must be a JSON object.' }
  const issue = read.issues[0]
  if (issue !== undefined) {
    return { ok: false, code: 'arguments_unsafe', message: `${issue.path || '(top)'}: ${ISSUES[issue.code]}` }
  }
  const surrogate = findLoneSurrogate(read.value)
  if (surrogate !== undefined) {
    return {
      ok: false,
      code: 'arguments_unsafe',
      message: `${surrogate || '(top)'}: expected text without lone surrogates`,
    }
  }
  const inputJson = canonicalJson(read.value)
  return { ok: true, input: read.value, inputJson, argumentsHash: sha256Hex(inputJson) }
}

const ISSUES = {
  duplicate_key: 'expected each key once',
  proto_key: 'expected no key of this name',
  unsafe_number: 'expected a number that a double holds exactly; send longer ones as a string',
} as const
