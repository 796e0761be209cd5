import type { FinishReason } from '../../chunk/finish-reason.ts'
import { aliasOf } from '../finish-word.ts'
import type { FinishAliases } from '../finish-word.ts'

/**
 * Ollama's `done_reason`. There is none for tool calls. `load` and `unload` answer a request that has no prompt.
 *
 * @see https://docs.ollama.com/api (read 2026-11-30)
 */
const REASONS: Readonly<Record<string, FinishReason | undefined>> = Object.assign(Object.create(null), {
  stop: 'stop',
  length: 'length',
  load: 'stop',
  unload: 'stop',
})

export function finishReasonOf(raw: string, aliases: FinishAliases): FinishReason {
  return aliasOf(raw, aliases) ?? REASONS[raw] ?? 'unknown'
}
