import type { FinishReason } from '../../chunk/finish-reason.ts'
import { aliasOf } from '../finish-word.ts'
import type { FinishAliases } from '../finish-word.ts'

/**
 * The finish reasons seen from servers that speak Chat Completions, lower-cased. The first five are OpenAI's own
 * (https://platform.openai.com/docs/api-reference/chat-streaming/streaming, read 2026-11-30); the others are words of
 * compatible servers. What is not here is `unknown`, and tool calls are held.
 */
const REASONS: Readonly<Record<string, FinishReason | undefined>> = Object.assign(Object.create(null), {
  stop: 'stop',
  length: 'length',
  tool_calls: 'tool-calls',
  function_call: 'tool-calls',
  content_filter: 'content-filter',

  eos: 'stop',
  eos_token: 'stop',
  stop_sequence: 'stop',
  end_turn: 'stop',
  complete: 'stop',
  tool_use: 'tool-calls',
  tool_call: 'tool-calls',
  max_tokens: 'length',
  max_output_tokens: 'length',
  model_length: 'length',
  safety: 'content-filter',
  recitation: 'content-filter',
  refusal: 'content-filter',
  pause_turn: 'pause',
  error: 'error',
  network_error: 'error',
  insufficient_system_resource: 'error',
  malformed_function_call: 'error',
  abort: 'aborted',
  aborted: 'aborted',
  cancelled: 'aborted',
})

export function finishReasonOf(raw: string, aliases: FinishAliases): FinishReason {
  return aliasOf(raw, aliases) ?? REASONS[raw.toLowerCase()] ?? 'unknown'
}

/** Reasons that a later, friendlier reason of the same choice can't take back. */
export function isLasting(reason: FinishReason): boolean {
  return (
    reason === 'length' ||
    reason === 'content-filter' ||
    reason === 'error' ||
    reason === 'aborted' ||
    reason === 'unknown'
  )
}
