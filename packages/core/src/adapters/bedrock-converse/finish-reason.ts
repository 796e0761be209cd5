import type { FinishReason } from '../../chunk/finish-reason.ts'
import { aliasOf } from '../finish-word.ts'
import type { FinishAliases } from '../finish-word.ts'

/**
 * `stopReason` of Converse.
 *
 * @see https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_MessageStopEvent.html (read 2026-11-30)
 */
const REASONS: Readonly<Record<string, FinishReason | undefined>> = Object.assign(Object.create(null), {
  end_turn: 'stop',
  stop_sequence: 'stop',
  tool_use: 'tool-calls',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  guardrail_intervened: 'content-filter',
  content_filtered: 'content-filter',
  malformed_model_output: 'error',
  malformed_tool_use: 'error',
  pause_turn: 'pause',
})

export function finishReasonOf(raw: string, aliases: FinishAliases): FinishReason {
  return aliasOf(raw, aliases) ?? REASONS[raw] ?? 'unknown'
}
