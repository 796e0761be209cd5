import type { FaultCode, Phase } from 'streamfold'
import { clip } from 'streamfold/json'
import { crashPoint } from '../crash-point.ts'
import type { Queries, SqlValue, Store } from '../store/store.ts'
import { StoreError } from '../store/store-error.ts'
import { settleApprovals } from './approval.ts'
import type { ApprovalStanding } from './approval.ts'
import { writeAudit } from './audit.ts'
import type { AuditEntry } from './audit.ts'
import type { CallRow } from './call-row.ts'
import { stillHeld } from './claim.ts'
import type { Claim } from './claim.ts'
import { executionOf, lockExecutions } from './execution.ts'
import { KeyConflict, makeExecutions } from './make-executions.ts'
import type { MadeExecutions } from './make-executions.ts'
import { listOf } from './placeholders.ts'
import { recordBatch } from './record-batch.ts'
import type { CallStanding, ReleaseAnswer, ReleaseRequest } from './release-request.ts'
import type { BatchState, CallState } from './states.ts'

/**
 * Records a batch, and hands it to execution once every call of it may run: all in one transaction. The same batch again is
 * answered from the rows, so a caller that lost the answer just asks again.
 * @throws {StoreError} Then nothing of it has run.
 */
export async function release(store: Store, request: ReleaseRequest): Promise<ReleaseAnswer> {
  const attempt: Attempt = { conflicts: new Set(), made: [] }
  try {
    return await releaseOnce(store, request, attempt)
  } catch (error) {
    if (error instanceof KeyConflict) return await releaseOnce(store, request, { conflicts: error.keys, made: [] })
    if (!(error instanceof StoreError) || error.code !== 'commit_unknown') throw error
    // The commit may have happened: the second time finds the rows, and the claims that nobody was told of, or writes them.
    const held = await stillHeld(store, attempt.made)
    return await releaseOnce(store, request, { conflicts: new Set(), made: [], held })
  }
}

interface Attempt {
  readonly conflicts: ReadonlySet<string>
  /** Claims that the transaction made, for when its commit is not answered. */
  made: readonly Claim[]
  /** Claims of an earlier attempt that turned out to be committed. */
  readonly held?: readonly Claim[]
}

async function releaseOnce(store: Store, request: ReleaseRequest, attempt: Attempt): Promise<ReleaseAnswer> {
  const answer = await store.transaction(async (tx) => {
    const answered = await new Release(tx, store, request, attempt).run()
    await crashPoint('release.before-commit')
    return answered
  })
  await crashPoint('release.after-commit')
  return answer
}

class Release {
  readonly #tx: Queries
  readonly #store: Store
  readonly #request: ReleaseRequest
  readonly #attempt: Attempt
  readonly #batch: readonly SqlValue[]
  readonly #audit: AuditEntry[] = []
  #rows: readonly CallRow[] = []

  constructor(tx: Queries, store: Store, request: ReleaseRequest, attempt: Attempt) {
    this.#tx = tx
    this.#store = store
    this.#request = request
    this.#attempt = attempt
    this.#batch = [request.tenant, request.runId, request.turn, request.choice]
  }

  async run(): Promise<ReleaseAnswer> {
    const run = await this.#lockRun()
    const [batch] = await this.#tx.query<{ state: BatchState }>(
      'select state from streamfold_batch where tenant = $1 and run_id = $2 and turn = $3 and choice_ix = $4',
      this.#batch,
    )
    if (batch === undefined) {
      if (run.last_turn > this.#request.turn) {
        return this.#refuseAll('stale_attempt', 'a newer turn of this run has begun, so this answer no longer counts')
      }
      await recordBatch(this.#tx, this.#store, this.#request, run.cancelled_at !== null, this.#audit)
    }
    await this.#readCalls()
    if (!this.#sameCalls()) {
      return this.#refuseAll('key_conflict', 'other calls were recorded in the place of these; nothing was run')
    }
    const abandoned = batch?.state === 'open' && run.last_turn > this.#request.turn
    const state = abandoned
      ? await this.#abandon()
      : batch === undefined || batch.state === 'open'
        ? await this.#decide()
        : batch.state
    await writeAudit(this.#tx, this.#store.dialect, this.#request.tenant, this.#audit)
    const before = batch?.state === 'released'
    const made =
      state === 'released' && !before
        ? await makeExecutions(this.#tx, this.#store, this.#request, this.#released())
        : { fresh: new Set<string>(), claims: this.#attempt.held ?? [] }
    this.#attempt.made = made.claims
    return { batch: state, calls: await this.#standings(made) }
  }

  async #lockRun(): Promise<{ last_turn: number; cancelled_at: number | null }> {
    const { tenant, runId, turn } = this.#request
    const { now, forUpdate } = this.#store.dialect
    await this.#tx.query(
      `insert into streamfold_run(tenant, run_id, last_turn, created_at) values ($1, $2, $3, ${now}) on conflict do nothing`,
      [tenant, runId, turn],
    )
    const rows = await this.#tx.query<{ last_turn: number; cancelled_at: number | null }>(
      `select last_turn, cancelled_at from streamfold_run where tenant = $1 and run_id = $2${forUpdate}`,
      [tenant, runId],
    )
    const run = rows[0] as { last_turn: number; cancelled_at: number | null }
    if (run.last_turn < turn) {
      await this.#tx.query('update streamfold_run set last_turn = $3 where tenant = $1 and run_id = $2', [
        tenant,
        runId,
        turn,
      ])
    }
    return run
  }

  async #readCalls(): Promise<void> {
    this.#rows = await this.#tx.query<CallRow>(
      'select ordinal, call_id, tool, args, args_hash, op_key, effect, state, code, phase, reason from streamfold_call ' +
        'where tenant = $1 and run_id = $2 and turn = $3 and choice_ix = $4 order by ordinal',
      this.#batch,
    )
  }

  #sameCalls(): boolean {
    const { calls } = this.#request
    const rows = this.#rows
    const stored = new Map(rows.map((row) => [row.ordinal, row]))
    return (
      rows.length === calls.length &&
      calls.every((call) => {
        const row = stored.get(call.ordinal)
        return row?.call_id === call.callId && row.tool === call.tool && row.args_hash === call.argumentsHash
      })
    )
  }

  /** Moves the calls of an open batch as far as they go, and the batch after them. */
  async #decide(): Promise<BatchState> {
    const asking = this.#rows.filter((row) => row.state === 'needs_approval').map((row) => row.ordinal)
    const left = await settleApprovals(this.#tx, this.#store.dialect, this.#request, asking, this.#audit)
    if (left > 0) return 'open'
    if (asking.length > 0) await this.#readCalls()
    const decided = this.#rows
    const conflicting = decided.filter(
      (row) => row.state === 'authorized' && this.#attempt.conflicts.has(row.op_key ?? ''),
    )
    const ready = decided.filter((row) => row.state === 'authorized')
    const held =
      conflicting.length > 0 ||
      ready.length === 0 ||
      (this.#request.policy === 'hold-all' && ready.length < decided.length)
    if (!held) {
      await this.#move(ready, 'released', null, null)
      await this.#closeBatch('released')
      return 'released'
    }
    await this.#move(
      conflicting,
      'rejected',
      'key_conflict',
      'the same operation was recorded with another tool or other arguments; use a new operation id for new work',
    )
    await this.#move(
      ready.filter((row) => !conflicting.includes(row)),
      'rejected',
      'batch_held',
      HELD,
    )
    await this.#closeBatch('refused')
    return 'refused'
  }

  /** The run went on without this batch, which waited for a person. */
  async #abandon(): Promise<BatchState> {
    await this.#move(
      this.#rows.filter((row) => row.state === 'needs_approval' || row.state === 'authorized'),
      'rejected',
      'stale_attempt',
      'a newer turn of this run has begun, so this answer no longer counts',
    )
    await this.#closeBatch('refused')
    return 'refused'
  }

  async #move(
    rows: readonly CallRow[],
    state: CallState,
    code: FaultCode | null,
    reason: string | null,
  ): Promise<void> {
    if (rows.length === 0) return
    const { runId, turn, choice } = this.#request
    const ordinals = rows.map((row) => row.ordinal)
    await this.#tx.query(
      `update streamfold_call set state = $5, code = $6, phase = $7, reason = $8 where tenant = $1 and run_id = $2 ` +
        `and turn = $3 and choice_ix = $4 and ordinal in (${listOf(ordinals, 8)})`,
      [...this.#batch, state, code, code === null ? null : 'execute', reason, ...ordinals],
    )
    const moved = { state, code, phase: code === null ? null : ('execute' as const), reason }
    this.#rows = this.#rows.map((row) => (ordinals.includes(row.ordinal) ? { ...row, ...moved } : row))
    for (const row of rows) {
      this.#audit.push({
        event: state === 'released' ? 'released' : 'refused',
        runId,
        turn,
        choice,
        callId: row.call_id,
        tool: row.tool,
        argumentsHash: row.args_hash,
        argumentBytes: Buffer.byteLength(row.args),
        ...(row.op_key === null ? {} : { key: row.op_key }),
        ...(code === null ? {} : { code }),
      })
    }
  }

  async #closeBatch(state: BatchState): Promise<void> {
    await this.#tx.query(
      `update streamfold_batch set state = $5, decided_at = ${this.#store.dialect.now} ` +
        `where tenant = $1 and run_id = $2 and turn = $3 and choice_ix = $4 and state = 'open'`,
      [...this.#batch, state],
    )
  }

  #released(): readonly CallRow[] {
    return this.#rows.filter((row) => row.state === 'released')
  }

  async #standings(made: MadeExecutions): Promise<readonly CallStanding[]> {
    const claims = new Map(made.claims.map((claim) => [claim.execution.key, claim]))
    const rows = new Map(this.#rows.map((row) => [row.ordinal, row]))
    const released = this.#released()
    // The claims say it for their own calls; what else there is has to be looked up.
    const keys = released.length === claims.size ? [] : released.map((row) => row.op_key as string)
    const found = await lockExecutions(this.#tx, this.#store, this.#request.tenant, [...new Set(keys)].sort())
    const executions = new Map(found.map((row) => [row.op_key, row]))
    const asking = this.#rows.filter((row) => row.state === 'needs_approval')
    const asked = asking.length > 0 ? await this.#approvals() : new Map<number, ApprovalStanding>()
    // Whatever is answered, a call that was refused holds the rest.
    const doomed = this.#request.policy === 'hold-all' && this.#rows.some(({ code }) => code !== null)
    const handed = new Set<string>()
    return this.#request.calls.map((call): CallStanding => {
      const row = rows.get(call.ordinal) as CallRow
      if (row.state === 'released') {
        const key = row.op_key as string
        const claim = claims.get(key)
        if (claim !== undefined && !handed.has(key)) {
          handed.add(key)
          return { kind: 'claimed', key, claim }
        }
        const execution = executions.get(key)
        if (execution === undefined) return refused('cancelled', 'execute', 'the run was cancelled')
        return { kind: 'execution', execution: executionOf(execution), replayed: !made.fresh.has(key) }
      }
      const approval = asked.get(row.ordinal)
      if (row.state === 'needs_approval' && approval !== undefined) return { kind: 'needs_approval', ...approval }
      if (row.state === 'authorized' && !doomed) return { kind: 'waits', reason: waitsFor(asking) }
      return refused(row.code ?? 'batch_held', row.phase ?? 'execute', row.reason ?? HELD)
    })
  }

  async #approvals(): Promise<ReadonlyMap<number, ApprovalStanding>> {
    const rows = await this.#tx.query<{ ordinal: number; approval_id: string; expires_at: number }>(
      'select ordinal, approval_id, expires_at from streamfold_approval ' +
        'where tenant = $1 and run_id = $2 and turn = $3 and choice_ix = $4',
      this.#batch,
    )
    return new Map(rows.map((row) => [row.ordinal, { approvalId: row.approval_id, expiresAt: row.expires_at }]))
  }

  #refuseAll(code: FaultCode, reason: string): ReleaseAnswer {
    return { batch: 'refused', calls: this.#request.calls.map(() => refused(code, 'execute', reason)) }
  }
}

const HELD = 'not run, because another call of the same answer could not be run'

/** Calls that one sentence names; a batch may have many. */
const MAX_NAMED = 3

function waitsFor(asking: readonly CallRow[]): string {
  const named = asking.slice(0, MAX_NAMED).map((row) => `${clip(row.tool, 80)} (${clip(row.call_id, 80)})`)
  const more = asking.length - named.length
  const calls = `${named.join(', ')}${more > 0 ? ` and ${more} more` : ''}`
  return `it waits for the approval of ${calls}, and runs when the same batch is run again after that`
}

function refused(code: FaultCode, phase: Phase, reason: string): CallStanding {
  return { kind: 'refused', code, phase, reason }
}
