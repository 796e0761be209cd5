/**
 * Why a choice ended, in the words every wire format is mapped to. The wire's own word is kept beside it (`raw`).
 *
 * `unknown` is a reason that was present but is not in any known table: it is never treated as `stop`, and tool calls are
 * held. `aborted` is the provider's own abort word (vLLM `abort`), not the consumer's cancel.
 */
export type FinishReason = (typeof FINISH_REASONS)[number]

/** Every {@link FinishReason}. */
export const FINISH_REASONS = [
  'stop',
  'length',
  'tool-calls',
  'content-filter',
  'pause',
  'error',
  'aborted',
  'unknown',
] as const

/** True for the reasons under which a tool call may be acted on; `length`, `content-filter`, `error` … never are. */
export function permitsToolCalls(reason: FinishReason): boolean {
  return reason === 'stop' || reason === 'tool-calls' || reason === 'pause'
}
