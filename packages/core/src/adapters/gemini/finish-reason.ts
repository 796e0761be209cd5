import type { FinishReason } from '../../chunk/finish-reason.ts'
import { aliasOf } from '../finish-word.ts'
import type { FinishAliases } from '../finish-word.ts'

/**
 * Gemini's finish reasons. There is none for tool calls: `STOP` with a call is the normal tool turn, and no other reason lets a
 * call go. What is not here is `unknown`, among it `OTHER`, of which the provider itself says no more.
 *
 * Numbers are those of the enum; clients that ask for numbers get them. Above 4 the two publishers of this API number
 * differently, so those stay unknown.
 *
 * @see https://ai.google.dev/api/generate-content#FinishReason (read 2026-11-30)
 */
const REASONS: Readonly<Record<string, FinishReason | undefined>> = Object.assign(Object.create(null), {
  STOP: 'stop',
  MAX_TOKENS: 'length',
  SAFETY: 'content-filter',
  RECITATION: 'content-filter',
  1: 'stop',
  2: 'length',
  3: 'content-filter',
  4: 'content-filter',

  LANGUAGE: 'content-filter',
  BLOCKLIST: 'content-filter',
  PROHIBITED_CONTENT: 'content-filter',
  SPII: 'content-filter',
  MODEL_ARMOR: 'content-filter',
  IMAGE_SAFETY: 'content-filter',
  IMAGE_PROHIBITED_CONTENT: 'content-filter',
  IMAGE_RECITATION: 'content-filter',

  // The model's output was no valid call, or none that was allowed: asking again may help (fault F180).
  MALFORMED_FUNCTION_CALL: 'error',
  MALFORMED_RESPONSE: 'error',
  UNEXPECTED_TOOL_CALL: 'error',
  TOO_MANY_TOOL_CALLS: 'error',
  MISSING_THOUGHT_SIGNATURE: 'error',
  NO_IMAGE: 'error',

  // What came is the beginning of the answer; the rest has to be asked for.
  CONTINUATION: 'length',
})

export function finishReasonOf(raw: string, aliases: FinishAliases): FinishReason {
  return aliasOf(raw, aliases) ?? REASONS[raw] ?? 'unknown'
}

/** Reasons that say nothing: the default of the enum, by name and by number. */
export function isUnspecified(raw: unknown): boolean {
  return raw === 0 || raw === '0' || (typeof raw === 'string' && raw.endsWith('_UNSPECIFIED'))
}
