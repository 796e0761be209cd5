import type { FaultCode } from '../chunk/fault.ts'
import type { FinishReason } from '../chunk/finish-reason.ts'
import { OUTCOMES_WORST_FIRST } from '../chunk/outcome.ts'
import type { Outcome } from '../chunk/outcome.ts'
import type { Evidence } from '../adapters/adapter.ts'

/** `compat` lets text go on where evidence has a hole; `strict` does not. */
export type Policy = 'compat' | 'strict'

/** Everything that decides how one choice ended, when the stream itself did not fail. */
export interface ChoiceEvidence {
  readonly finish: FinishReason | null
  /** The wire's own terminal signal was seen, or none was due (a whole JSON completion). */
  readonly terminal: boolean
  /** What the profile demands. */
  readonly terminalRequired: Evidence
  readonly finishRequired: Evidence
  /** The body ended cleanly, as against a reset, a cut or a timer. */
  readonly cleanEnd: boolean
  /** An event of the stream could not be read. */
  readonly skipped: boolean
  /** Arguments were repaired. */
  readonly repaired: boolean
  readonly hasText: boolean
  readonly hasRefusal: boolean
  readonly hasCalls: boolean
  readonly policy: Policy
}

export interface ChoiceVerdict {
  readonly outcome: Outcome
  /** Why the outcome is not `completed`; also why calls are refused or held. */
  readonly code: FaultCode | null
  /** What happens to the calls of the choice. */
  readonly calls: 'release' | 'hold' | 'refuse'
}

/**
 * The outcome table, top to bottom; the first line that fits decides. Transport end and content end are two dimensions: a
 * finish reason is content, the terminal signal is transport, and neither proves the other.
 */
export function judgeChoice(evidence: ChoiceEvidence): ChoiceVerdict {
  const { finish, terminal, policy } = evidence
  const strict = policy === 'strict'
  if (finish === null) {
    const enough = evidence.finishRequired === 'optional' && (terminal || endOptional(evidence))
    if (!enough && !terminal) return refuse('incomplete', 'incomplete_stream')
    if (!enough && strict) return refuse('incomplete', 'missing_finish_reason')
    if (evidence.hasRefusal) return refuse('refused', 'output_refused')
    if (evidence.skipped) return skipped(strict)
    if (evidence.repaired && strict) return refuse('failed', 'arguments_invalid')
    if (!enough) return hold('missing_finish_reason')
    return evidence.repaired ? { outcome: 'degraded', code: null, calls: 'release' } : ended(evidence)
  }
  if (finish === 'aborted') return refuse('incomplete', 'incomplete_stream')
  if (finish === 'error') return refuse('failed', 'upstream_error')
  if (finish === 'content-filter' || evidence.hasRefusal) return refuse('refused', 'output_refused')
  if (finish === 'length') return refuse('truncated', 'output_truncated')
  if (evidence.skipped) return skipped(strict)
  const missingEnd = !terminal && !endOptional(evidence)
  if (missingEnd && strict) return refuse('incomplete', 'incomplete_stream')
  if (evidence.repaired && strict) return refuse('failed', 'arguments_invalid')
  if (finish === 'unknown') return hold('finish_unknown')
  if (missingEnd || evidence.repaired) return { outcome: 'degraded', code: null, calls: 'release' }
  return ended(evidence)
}

/** The worst outcome of several choices. */
export function worstOutcome(outcomes: readonly Outcome[]): Outcome {
  return OUTCOMES_WORST_FIRST.find((outcome) => outcomes.includes(outcome)) ?? 'completed'
}

/** The profile says that this server sends no terminal signal: a clean end of the body stands for it. */
function endOptional(evidence: ChoiceEvidence): boolean {
  return evidence.terminalRequired === 'optional' && evidence.cleanEnd
}

function ended(evidence: ChoiceEvidence): ChoiceVerdict {
  if (!evidence.hasText && !evidence.hasCalls) return { outcome: 'empty', code: null, calls: 'release' }
  if (evidence.finish === 'tool-calls' && !evidence.hasCalls)
    return { outcome: 'degraded', code: null, calls: 'release' }
  return { outcome: 'completed', code: null, calls: 'release' }
}

function skipped(strict: boolean): ChoiceVerdict {
  return strict ? refuse('failed', 'invalid_event_json') : hold('event_skipped')
}

function hold(code: FaultCode): ChoiceVerdict {
  return { outcome: 'degraded', code, calls: 'hold' }
}

function refuse(outcome: Outcome, code: FaultCode): ChoiceVerdict {
  return { outcome, code, calls: 'refuse' }
}
