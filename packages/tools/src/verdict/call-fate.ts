import type { FaultCode, ReportToolCall } from 'streamfold'
import type { Rung } from 'streamfold/engine'
import type { ToolResult } from '../executor/tool-result.ts'

/** How one call stands on the last two rungs. */
export interface CallFate {
  readonly authorized: Rung
  readonly executed: Rung
  /** The tool was entered for it, or nobody can say that it was not. */
  readonly mayHaveRun: boolean
}

const PASS: Rung = { state: 'pass' }

/** Refused for what happened around the call: nothing is known about whether it was allowed. */
const UNDECIDED: ReadonlySet<FaultCode> = new Set(['cancelled', 'stale_attempt'])

export function fateOf(call: ReportToolCall, result: ToolResult | undefined): CallFate {
  if (result === undefined) {
    const waits = rung('not_reached', call.callId, call.code ?? undefined, call.message)
    return { authorized: waits, executed: waits, mayHaveRun: false }
  }
  const { status, code, phase, content } = result
  const against = (state: 'fail' | 'not_reached'): Rung => rung(state, call.callId, code, content)
  switch (status) {
    case 'succeeded':
      return { authorized: PASS, executed: PASS, mayHaveRun: true }
    case 'failed':
      // The check right before the execution said no.
      if (code === 'not_authorized') return notAllowed(against('fail'), call)
      return { authorized: PASS, executed: against('fail'), mayHaveRun: true }
    case 'unknown':
      return { authorized: PASS, executed: against('fail'), mayHaveRun: true }
    case 'pending':
      if (code === 'in_progress') return { authorized: PASS, executed: against('not_reached'), mayHaveRun: true }
      // It was allowed, and waits for another call.
      if (code === 'batch_held') return { authorized: PASS, executed: against('not_reached'), mayHaveRun: false }
      return notAllowed(against('not_reached'), call)
    case 'refused':
      if (code !== undefined && UNDECIDED.has(code)) return notAllowed(against('not_reached'), call)
      // It was allowed, and not run because of another call.
      if (code === 'batch_held') return { authorized: PASS, executed: against('not_reached'), mayHaveRun: false }
      // It was allowed, and the ledger could not take it.
      if (phase === 'execute') return { authorized: PASS, executed: against('fail'), mayHaveRun: false }
      return notAllowed(against('fail'), call)
  }
}

function notAllowed(authorized: Rung, { callId }: ReportToolCall): CallFate {
  return { authorized, executed: rung('not_reached', callId, undefined, undefined), mayHaveRun: false }
}

/** The state that a call's result puts it into, in the words of a report. */
export function callState(
  { status, code, content }: ToolResult,
  { authorized }: CallFate,
): Pick<ReportToolCall, 'state' | 'code' | 'message'> {
  const why = code === undefined ? { code: null } : { code, message: content }
  switch (status) {
    case 'succeeded':
      return { state: 'succeeded', code: null }
    case 'failed':
    case 'refused':
      return { state: 'failed', ...why }
    case 'unknown':
      return { state: 'executing', ...why }
    case 'pending':
      if (authorized.state !== 'pass') return { state: 'validated', ...why }
      return { state: code === 'batch_held' ? 'authorized' : 'executing', ...why }
  }
}

function rung(
  state: 'fail' | 'not_reached',
  callId: string,
  code: FaultCode | undefined,
  message: string | undefined,
): Rung {
  return { state, ...(code !== undefined && { code }), ...(message !== undefined && { message }), callId }
}
