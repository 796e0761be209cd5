import { migrate } from '../store/migrate.ts'
import type { Store } from '../store/store.ts'
import { decideApproval, findApproval, isApproved, pendingApprovals } from './approval.ts'
import type { Approval, ApprovalDecision } from './approval.ts'
import { cancelBatch, cancelRun } from './cancel.ts'
import type { CancelAnswer, CancelledBatch } from './cancel.ts'
import { claimOne, claimReady, reclaimExpired } from './claim.ts'
import type { Claim, ClaimHolder, ClaimOptions, ReclaimOptions } from './claim.ts'
import type { Execution } from './execution.ts'
import { finish } from './finish.ts'
import type { ExecutionOutcome, FinishAnswer } from './finish.ts'
import { expireAll, heartbeat, postpone, sweepExpired } from './lease.ts'
import type { HeartbeatAnswer } from './lease.ts'
import { findExecution, listExecutions, showExecution, trailOf } from './look.ts'
import type { AuditLine, ExecutionDetails, ListOptions } from './look.ts'
import { prune } from './prune.ts'
import { refusedCalls } from './refused-calls.ts'
import type { RefusedCall, RefusedOptions } from './refused-calls.ts'
import { release } from './release.ts'
import type { ReleaseAnswer, ReleaseRequest } from './release-request.ts'
import { nextTurn, readRun, saveAnswer, startRun } from './run.ts'
import type { RunRecord } from './run.ts'
import { LEDGER_MIGRATIONS } from './schema.ts'
import { settle } from './settle.ts'
import type { Settlement } from './settle.ts'

/**
 * What was asked for, decided and done. Every promise is fulfilled after the commit, so what it says has happened is on the
 * disk. Times are the database's. All methods throw `StoreError` when the store does.
 */
export interface Ledger {
  readonly store: Store

  /** Records a run and what it starts from; a run that is there keeps what it had. */
  startRun(tenant: string, runId: string, input: string): Promise<void>
  /** Takes the number of the next request to the model, before it is sent. */
  nextTurn(tenant: string, runId: string): Promise<number>
  /** Keeps the model's answer of the newest turn. */
  saveAnswer(
    tenant: string,
    runId: string,
    turn: number,
    answer: { readonly answer: string; readonly outcome: string },
  ): Promise<void>
  /** A run with its turns, calls and what came of them. */
  readRun(tenant: string, runId: string): Promise<RunRecord | undefined>
  /** Nothing of the run begins from then on. */
  cancelRun(tenant: string, runId: string, by: string): Promise<CancelAnswer>
  /** What has not begun of one batch does not begin. The run goes on. */
  cancelBatch(batch: CancelledBatch, by: string): Promise<CancelAnswer>

  /** Approvals that can still be answered, oldest first. */
  pendingApprovals(tenant: string, limit?: number): Promise<readonly Approval[]>
  findApproval(tenant: string, approvalId: string): Promise<Approval | undefined>
  /** A person's answer. The first one counts. */
  decideApproval(tenant: string, approvalId: string, decision: ApprovalDecision): Promise<Approval>

  /** Somebody agreed to a call behind this execution, with these arguments, and that yes was used for it. */
  isApproved(execution: Pick<Execution, 'tenant' | 'key' | 'tool' | 'argumentsHash'>): Promise<boolean>

  /** Executions of a tenant, newest first. */
  list(tenant: string, options?: ListOptions): Promise<readonly Execution[]>
  /** Calls of a tenant that were refused, denied or cancelled, newest first: they have no execution. */
  refusedCalls(tenant: string, options?: RefusedOptions): Promise<readonly RefusedCall[]>
  find(tenant: string, key: string): Promise<Execution | undefined>
  /** One execution with its attempts, calls and trail. */
  show(tenant: string, key: string): Promise<ExecutionDetails | undefined>
  /** The trail of a run. */
  trail(tenant: string, runId: string): Promise<readonly AuditLine[]>
  /** Settles an execution that is `unknown`. */
  settle(tenant: string, key: string, settlement: Settlement): Promise<Execution>
  /** Drops arguments and results of what was settled long ago; keys stay. */
  prune(tenant: string, options: { readonly olderThanMs: number; readonly limit?: number }): Promise<number>

  /** For executors: records a batch and hands it to execution. */
  release(request: ReleaseRequest): Promise<ReleaseAnswer>
  claimReady(options: ClaimOptions): Promise<readonly Claim[]>
  claimOne(holder: ClaimHolder, key: string): Promise<Claim | undefined>
  reclaimExpired(options: ReclaimOptions): Promise<readonly Claim[]>
  finish(claim: Claim, outcome: ExecutionOutcome): Promise<FinishAnswer>
  heartbeat(claims: readonly Claim[], leaseMs: number): Promise<HeartbeatAnswer>
  postpone(claim: Claim, delayMs: number): Promise<void>
  sweepExpired(options: {
    readonly tenant: string
    readonly maxAttempts: number
    readonly limit: number
  }): Promise<readonly Execution[]>
}

// A store that only one process can write to is cleared of dead owners once, before anyone in this process claims.
const CLEARED = new WeakSet<Store>()

/**
 * The ledger in a store. Makes or updates its tables.
 * @throws {StoreError} `schema_mismatch` when a newer version made them
 */
export async function openLedger(store: Store): Promise<Ledger> {
  if (!store.readOnly) {
    await migrate(store, 'ledger', LEDGER_MIGRATIONS)
    if (store.exclusive && !CLEARED.has(store)) {
      CLEARED.add(store)
      await expireAll(store)
    }
  }
  return {
    store,
    startRun: (tenant, runId, input) => startRun(store, tenant, runId, input),
    nextTurn: (tenant, runId) => nextTurn(store, tenant, runId),
    saveAnswer: (tenant, runId, turn, answer) => saveAnswer(store, tenant, runId, turn, answer),
    readRun: (tenant, runId) => readRun(store, tenant, runId),
    cancelRun: (tenant, runId, by) => cancelRun(store, tenant, runId, by),
    cancelBatch: (batch, by) => cancelBatch(store, batch, by),
    pendingApprovals: (tenant, limit = 100) => pendingApprovals(store, tenant, limit),
    findApproval: (tenant, approvalId) => findApproval(store, tenant, approvalId),
    decideApproval: (tenant, approvalId, decision) => decideApproval(store, tenant, approvalId, decision),
    isApproved: (execution) => isApproved(store, execution),
    list: (tenant, options) => listExecutions(store, tenant, options),
    refusedCalls: (tenant, options) => refusedCalls(store, tenant, options),
    find: (tenant, key) => findExecution(store, tenant, key),
    show: (tenant, key) => showExecution(store, tenant, key),
    trail: (tenant, runId) => trailOf(store, tenant, runId),
    settle: (tenant, key, settlement) => settle(store, tenant, key, settlement),
    prune: (tenant, options) => prune(store, tenant, options),
    release: (request) => release(store, request),
    claimReady: (options) => claimReady(store, options),
    claimOne: (holder, key) => claimOne(store, holder, key),
    reclaimExpired: (options) => reclaimExpired(store, options),
    finish: (claim, outcome) => finish(store, claim, outcome),
    heartbeat: (claims, leaseMs) => heartbeat(store, claims, leaseMs),
    postpone: (claim, delayMs) => postpone(store, claim, delayMs),
    sweepExpired: (options) => sweepExpired(store, options),
  }
}
