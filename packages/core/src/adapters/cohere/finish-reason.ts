import type { FinishReason } from '../../chunk/finish-reason.ts'
import { aliasOf } from '../finish-word.ts'
import type { FinishAliases } from '../finish-word.ts'

/**
 * Cohere's finish reasons, of v2 and of v1.
 *
 * @see https://docs.cohere.com/reference/chat-stream (read 2026-11-30)
 */
const REASONS: Readonly<Record<string, FinishReason | undefined>> = Object.assign(Object.create(null), {
  COMPLETE: 'stop',
  STOP_SEQUENCE: 'stop',
  MAX_TOKENS: 'length',
  TOOL_CALL: 'tool-calls',
  ERROR: 'error',
  TIMEOUT: 'error',

  ERROR_LIMIT: 'length',
  ERROR_TOXIC: 'content-filter',
  USER_CANCEL: 'aborted',
})

export function finishReasonOf(raw: string, aliases: FinishAliases): FinishReason {
  return aliasOf(raw, aliases) ?? REASONS[raw] ?? 'unknown'
}
