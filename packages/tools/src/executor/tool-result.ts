import type { FaultCode, Phase } from 'streamfold'
import type { Execution } from '../ledger/execution.ts'
import type { CallStanding } from '../ledger/release-request.ts'

/** What came of one call: the answer the model gets, and what a program needs to know about it. */
export interface ToolResult {
  readonly callId: string
  readonly ordinal: number
  readonly name: string
  /**
   * - `succeeded`, `failed`: the tool ran and said so.
   * - `unknown`: it may have run.
   * - `refused`: it did not run and will not.
   * - `pending`: it did not end yet; hand the same batch over again. With code `batch_held` another call of the batch waits for
   *   a person, and this one runs with it.
   */
  readonly status: 'succeeded' | 'failed' | 'unknown' | 'refused' | 'pending'
  /** Why it is not `succeeded`. */
  readonly code?: FaultCode
  readonly phase?: Phase
  /** For the model. JSON of the result, or a sentence. */
  readonly content: string
  /** The result was cut short, or could not be kept as it was. */
  readonly truncated: boolean
  /** The ledger knew it already; nothing ran this time. */
  readonly replayed: boolean
  /** Key in the ledger, once there is one. */
  readonly key?: string
  /** What a person has to answer, for code `approval_required`. */
  readonly approvalId?: string
}

/** Which call of a batch. */
export interface AboutCall {
  readonly callId: string
  readonly ordinal: number
  readonly name: string
}

export function refusedResult(about: AboutCall, code: FaultCode, phase: Phase, reason: string): ToolResult {
  return {
    ...about,
    status: 'refused',
    code,
    phase,
    content: `Not run (${code}): ${reason}`,
    truncated: false,
    replayed: false,
  }
}

export function cancelledResult({ callId, ordinal, name }: AboutCall): ToolResult {
  return refusedResult({ callId, ordinal, name }, 'cancelled', 'execute', 'it was cancelled before it began')
}

/** The result of a call from its execution. */
export function executionResult(about: AboutCall, execution: Execution, replayed: boolean): ToolResult {
  const common = { ...about, truncated: execution.truncated, replayed, key: execution.key }
  switch (execution.state) {
    case 'succeeded':
      return {
        ...common,
        status: 'succeeded',
        content: execution.result ?? '"[done; the result was dropped after its retention time]"',
      }
    case 'failed': {
      const code = (execution.code ?? 'execution_failed') as FaultCode
      return { ...common, status: 'failed', code, phase: 'execute', content: `Failed: ${execution.message ?? code}` }
    }
    case 'unknown':
      return {
        ...common,
        status: 'unknown',
        code: 'outcome_unknown',
        phase: 'execute',
        content:
          'It is not known whether this was done. Do not repeat it. A person or the other system has to find out first.',
      }
    case 'ready':
    case 'executing':
      return {
        ...common,
        status: 'pending',
        code: 'in_progress',
        phase: 'execute',
        content: 'Still under way. Do not repeat it.',
      }
  }
}

/** The result of a call that was not handed to execution. */
export function standingResult(
  about: AboutCall,
  standing: CallStanding & { kind: 'refused' | 'needs_approval' | 'waits' },
): ToolResult {
  const pending = { ...about, status: 'pending', truncated: false, replayed: false } as const
  switch (standing.kind) {
    case 'refused':
      return refusedResult(about, standing.code, standing.phase, standing.reason)
    case 'waits':
      return { ...pending, code: 'batch_held', phase: 'execute', content: `Not run yet: ${standing.reason}.` }
    case 'needs_approval':
      return {
        ...pending,
        code: 'approval_required',
        phase: 'authorize',
        content: 'Waits for a person to agree. Do not repeat it.',
        approvalId: standing.approvalId,
      }
  }
}
