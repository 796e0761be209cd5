import type { FaultCode, Phase } from 'streamfold'
import type { Effect } from '../define/tool.ts'
import type { ApprovalStanding } from './approval.ts'
import type { Claim } from './claim.ts'
import type { Execution } from './execution.ts'
import type { BatchState } from './states.ts'

/** The calls of one choice after the gate, on their way to execution. */
export interface ReleaseRequest {
  readonly tenant: string
  readonly runId: string
  readonly turn: number
  readonly choice: number
  readonly calls: readonly CheckedCall[]
  /** JSON that goes with the executions to whoever runs them. */
  readonly contextJson: string
  /**
   * - `hold-all`: one call that may not run holds the others.
   * - `run-the-rest`: the others run.
   */
  readonly policy: 'hold-all' | 'run-the-rest'
  /** Who executes, and for how long a claim counts without a heartbeat. */
  readonly owner: string
  readonly leaseMs: number
  /** Claims this many of the new executions in the same commit. */
  readonly claimLimit: number
}

export type CheckedCall = {
  readonly ordinal: number
  readonly callId: string
  readonly tool: string
  /** Canonical JSON of the input, or the raw text of a call that was refused. */
  readonly inputJson: string
  readonly argumentsHash: string
  readonly policyRevision?: string
} & (
  | {
      readonly verdict: 'pass'
      readonly effect: Effect
      /** Canonical JSON of the business operation's id, where the tool has one. */
      readonly operationId?: string
      readonly approval?: { readonly reason: string; readonly shownJson: string; readonly expiresInMs: number }
    }
  | { readonly verdict: 'refuse'; readonly code: FaultCode; readonly phase: Phase; readonly reason: string }
)

export interface ReleaseAnswer {
  readonly batch: BatchState
  /** One for each call, in the order of the request. */
  readonly calls: readonly CallStanding[]
}

/** How one call stands after the release. */
export type CallStanding =
  /** It is this owner's to run, now. */
  | { readonly kind: 'claimed'; readonly key: string; readonly claim: Claim }
  /** Its execution is ready, under way or settled; two calls may share one. `replayed`: it was there before this batch. */
  | { readonly kind: 'execution'; readonly execution: Execution; readonly replayed: boolean }
  | ({ readonly kind: 'needs_approval' } & ApprovalStanding)
  /** It may run, and does once other calls of its batch are approved and the batch is handed over again. */
  | { readonly kind: 'waits'; readonly reason: string }
  | { readonly kind: 'refused'; readonly code: FaultCode; readonly phase: Phase; readonly reason: string }
