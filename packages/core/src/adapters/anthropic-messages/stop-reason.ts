import type { FinishReason } from '../../chunk/finish-reason.ts'
import { aliasOf } from '../finish-word.ts'
import type { FinishAliases } from '../finish-word.ts'

/**
 * The stop reasons of Messages (https://platform.claude.com/docs/en/api/handling-stop-reasons, read 2026-11-30), then words that
 * translating servers leave in from other APIs. `compaction` ends a turn that is to be continued, as `pause_turn` does. What is not
 * here is `unknown`, and tool calls are held.
 */
const REASONS: Readonly<Record<string, FinishReason | undefined>> = Object.assign(Object.create(null), {
  end_turn: 'stop',
  stop_sequence: 'stop',
  tool_use: 'tool-calls',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  pause_turn: 'pause',
  compaction: 'pause',
  refusal: 'content-filter',

  stop: 'stop',
  tool_calls: 'tool-calls',
  length: 'length',
  content_filter: 'content-filter',
  error: 'error',
  abort: 'aborted',
  aborted: 'aborted',
  cancelled: 'aborted',
})

export function stopReasonOf(raw: string, aliases: FinishAliases): FinishReason {
  return aliasOf(raw, aliases) ?? REASONS[raw.toLowerCase()] ?? 'unknown'
}
