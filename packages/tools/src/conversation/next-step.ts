import type { FaultCode } from 'streamfold'
import type { StoredAnswer } from './stored-answer.ts'

/** What an answer asks for. */
export type NextStep = 'final' | 'run_tools' | 'continue' | 'truncated' | 'refused' | 'held'

/** Held for the way the stream ended, not for what the model said: asking again may help, telling the model does not. */
const HELD_BY_STREAM: ReadonlySet<FaultCode> = new Set(['event_skipped', 'missing_finish_reason', 'finish_unknown'])

export function nextStep(answer: StoredAnswer): NextStep {
  switch (answer.outcome) {
    case 'truncated':
      return 'truncated'
    case 'refused':
      return 'refused'
    case 'failed':
    case 'incomplete':
    case 'cancelled':
      return 'held'
    case 'completed':
    case 'degraded':
    case 'empty':
      break
  }
  if (answer.refused.some(({ code }) => HELD_BY_STREAM.has(code))) return 'held'
  if (answer.calls.length > 0 || answer.refused.length > 0) return 'run_tools'
  return answer.finish === 'pause' ? 'continue' : 'final'
}
