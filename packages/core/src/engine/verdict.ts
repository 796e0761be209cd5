import type { FaultCode, StreamFault } from '../chunk/fault.ts'
import type { DiagnosticCode } from '../chunk/diagnostic.ts'
import type { Outcome } from '../chunk/outcome.ts'
import type { CallSnapshot } from '../tool-call/record.ts'
import type { ResponseHead } from './response-head.ts'

export type RungState = 'pass' | 'fail' | 'not_reached' | 'not_applicable'

/** One rung of the verdict, with the first piece of evidence against it (or the finding that makes it doubtful). */
export interface Rung {
  readonly state: RungState
  readonly code?: FaultCode | DiagnosticCode
  readonly message?: string
  readonly event?: number
  readonly offset?: number
  readonly callId?: string
}

/** Six questions, each standing on the one before it. */
export interface Verdict {
  /** Was the response a 2xx? */
  readonly http_ok: Rung
  /** Did its bytes frame into events to the end? */
  readonly sse_ok: Rung
  /** Did every event make sense, and did the wire say that it was done? */
  readonly delta_ok: Rung
  /** Is every call whole? */
  readonly tool_args_complete: Rung
  /** Was every call allowed? Answered by an executor. */
  readonly tool_authorized: Rung
  /** Was every call run, once? Answered by an executor. */
  readonly tool_executed: Rung
}

export interface VerdictEvidence {
  readonly head: ResponseHead | undefined
  readonly ended: boolean
  readonly outcome: Outcome | undefined
  /** The fault that ended the stream. */
  readonly fault: StreamFault | undefined
  /** Findings of the framing layer, first one first. */
  readonly framing: Rung | undefined
  /** Findings of the event layer. */
  readonly skipped: Rung | undefined
  /** A hole in the end evidence that did not fail the stream. */
  readonly missingEnd: Rung | undefined
  readonly truncated: Rung | undefined
  readonly calls: readonly CallSnapshot[]
  readonly sawEvents: boolean
}

const NOT_REACHED: Rung = { state: 'not_reached' }
const NOT_APPLICABLE: Rung = { state: 'not_applicable' }
const PASS: Rung = { state: 'pass' }

export function verdictOf(evidence: VerdictEvidence): Verdict {
  const http = httpRung(evidence)
  const sse = http.state === 'fail' ? NOT_REACHED : sseRung(evidence)
  const delta =
    sse.state === 'fail' && !evidence.sawEvents
      ? NOT_REACHED
      : http.state === 'fail'
        ? NOT_REACHED
        : deltaRung(evidence)
  const own = evidence.calls.filter((call) => !call.providerExecuted)
  const args = callRung(own, evidence, delta)
  const later = own.length === 0 && args.state !== 'not_reached' ? NOT_APPLICABLE : NOT_REACHED
  return {
    http_ok: http,
    sse_ok: sse,
    delta_ok: delta,
    tool_args_complete: args,
    tool_authorized: later,
    tool_executed: later,
  }
}

function httpRung({ head, fault }: VerdictEvidence): Rung {
  if (fault?.phase === 'connect') return failed(fault)
  if (head === undefined) return NOT_APPLICABLE
  return head.status >= 200 && head.status < 300 ? PASS : fault === undefined ? { state: 'fail' } : failed(fault)
}

function sseRung({ fault, framing, sawEvents, ended }: VerdictEvidence): Rung {
  if (fault !== undefined && fault.phase === 'framing') return failed(fault)
  if (framing !== undefined) return framing
  return sawEvents || ended ? PASS : NOT_REACHED
}

function deltaRung(evidence: VerdictEvidence): Rung {
  const { fault, outcome } = evidence
  if (fault !== undefined && fault.phase !== 'framing' && fault.phase !== 'call') return failed(fault)
  if (evidence.skipped !== undefined) return evidence.skipped
  if (evidence.truncated !== undefined) return evidence.truncated
  if (fault !== undefined && fault.phase === 'framing') return failed(fault)
  if (outcome === undefined) return NOT_REACHED
  return evidence.missingEnd ?? PASS
}

function callRung(calls: readonly CallSnapshot[], evidence: VerdictEvidence, delta: Rung): Rung {
  if (calls.length === 0) {
    const known =
      evidence.ended && (delta.state === 'pass' || evidence.outcome === 'refused' || evidence.outcome === 'truncated')
    return known ? NOT_APPLICABLE : NOT_REACHED
  }
  const bad =
    calls.find((call) => call.state === 'failed' && call.code !== 'duplicate_call') ??
    calls.find((call) => call.state === 'collecting')
  if (bad === undefined) return PASS
  return {
    state: bad.state === 'failed' ? 'fail' : 'not_reached',
    ...(bad.code !== null && { code: bad.code }),
    ...(bad.message !== undefined && { message: bad.message }),
    callId: bad.callId,
  }
}

function failed(fault: StreamFault): Rung {
  return {
    state: 'fail',
    code: fault.code,
    message: fault.message,
    ...(fault.event !== undefined && { event: fault.event }),
    ...(fault.offset !== undefined && { offset: fault.offset }),
    ...(fault.callId !== undefined && { callId: fault.callId }),
  }
}
