import { randomUUID } from 'node:crypto'
import type { FaultCode, Phase } from 'streamfold'
import { crashPoint } from '../crash-point.ts'
import type { Effect } from '../define/tool.ts'
import type { Queries, SqlValue, Store } from '../store/store.ts'
import { StoreError } from '../store/store-error.ts'
import { listOf, rowsOf, writeAudit } from './audit.ts'
import type { AuditEntry } from './audit.ts'
import { settleApprovals } from './approval.ts'
import type { ApprovalStanding } from './approval.ts'
import { claimKeys, stillHeld } from './claim.ts'
import type { Claim } from './claim.ts'
import { EXECUTION_COLUMNS, executionOf } from './execution.ts'
import type { ExecutionRow } from './execution.ts'
import { operationKey } from './op-key.ts'
import type { CallStanding, CheckedCall, ReleaseAnswer, ReleaseRequest } from './release-request.ts'
import type { BatchState, CallState } from './states.ts'

interface CallRow {
  readonly ordinal: number
  readonly call_id: string
  readonly tool: string
  readonly args: string
  readonly args_hash: string
  readonly op_key: string | null
  readonly effect: Effect | null
  readonly state: CallState
  readonly code: FaultCode | null
  readonly phase: Phase | null
  readonly reason: string | null
}

/** Two operations under one key: found while rows were being written, so that transaction is undone first. */
class KeyConflict extends Error {
  readonly keys: ReadonlySet<string>
  constructor(keys: ReadonlySet<string>) {
    super('key conflict')
    this.keys = keys
  }
}

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
  /** Keys that had no execution before. */
  readonly #fresh = new Set<string>()

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
      await this.#storeCalls(run.cancelled_at !== null)
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
    const claims = state === 'released' && !before ? await this.#execute() : (this.#attempt.held ?? [])
    this.#attempt.made = claims
    return { batch: state, calls: await this.#standings(claims) }
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

  async #storeCalls(cancelled: boolean): Promise<void> {
    const { now } = this.#store.dialect
    const { calls, tenant, runId, turn, choice } = this.#request
    await this.#tx.query(
      `insert into streamfold_batch(tenant, run_id, turn, choice_ix, expected, state, created_at) ` +
        `values ($1, $2, $3, $4, $5, 'open', ${now})`,
      [...this.#batch, calls.length],
    )
    const keys = await this.#keys()
    const rows = calls.map((call) => this.#callValues(call, keys.get(call.ordinal) ?? null, cancelled))
    // In two statements, so that there is a place between two calls for a test to stop at.
    for (const some of [rows.slice(0, 1), rows.slice(1)]) {
      if (some.length === 0) continue
      await this.#tx.query(
        `insert into streamfold_call(tenant, run_id, turn, choice_ix, created_at, ordinal, call_id, tool, args, args_hash, ` +
          `op_key, effect, state, code, phase, reason, policy_rev) values ` +
          rowsOf(some, 4, `$1, $2, $3, $4, ${now}`),
        [...this.#batch, ...some.flat()],
      )
      await crashPoint('release.between-calls')
    }
    for (const call of calls) {
      const about = { runId, turn, choice, callId: call.callId, tool: call.tool, argumentsHash: call.argumentsHash }
      const argumentBytes = Buffer.byteLength(call.inputJson)
      if (call.verdict === 'refuse') {
        this.#audit.push({ event: 'refused', ...about, argumentBytes, code: call.code })
      } else if (call.approval !== undefined && !cancelled) {
        this.#audit.push({ event: 'approval_requested', ...about, argumentBytes })
        await this.#tx.query(
          `insert into streamfold_approval(tenant, run_id, turn, choice_ix, approval_id, ordinal, call_id, tool, args_hash, ` +
            `shown, reason, expires_at, created_at) ` +
            `values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, ${now} + $12, ${now})`,
          [
            tenant,
            runId,
            turn,
            choice,
            randomUUID(),
            call.ordinal,
            call.callId,
            call.tool,
            call.argumentsHash,
            call.approval.shownJson,
            call.approval.reason,
            call.approval.expiresInMs,
          ],
        )
      }
    }
  }

  #callValues(call: CheckedCall, key: string | null, cancelled: boolean): readonly SqlValue[] {
    const about = [call.ordinal, call.callId, call.tool, call.inputJson, call.argumentsHash]
    const revision = call.policyRevision ?? null
    if (call.verdict === 'refuse') {
      const state: CallState = call.phase === 'authorize' ? 'denied' : 'rejected'
      return [...about, null, null, state, call.code, call.phase, call.reason, revision]
    }
    if (cancelled) {
      return [...about, key, call.effect, 'cancelled', 'cancelled', 'execute', 'the run was cancelled', revision]
    }
    const state: CallState = call.approval === undefined ? 'authorized' : 'needs_approval'
    return [...about, key, call.effect, state, null, null, null, revision]
  }

  /**
   * By ordinal, for calls that may run. An execution that was stopped between its claim and its beginning — cancelled, or not
   * allowed any more — was as good as never made, so it does not use up the key of its operation.
   */
  async #keys(): Promise<ReadonlyMap<number, string>> {
    const { tenant, runId, turn, choice, calls } = this.#request
    const keys = new Map<number, string>()
    let open = calls.filter((call) => call.verdict === 'pass')
    for (let neverBegun = 0; open.length > 0; neverBegun += 1) {
      for (const { tool, operationId, ordinal, callId } of open) {
        keys.set(ordinal, operationKey(tool, operationId, { runId, turn, choice, ordinal, callId }, neverBegun))
      }
      open = open.filter(({ operationId }) => operationId !== undefined)
      if (open.length === 0) break
      const wanted = [...new Set(open.map(({ ordinal }) => keys.get(ordinal) as string))]
      const stopped = await this.#tx.query<{ op_key: string }>(
        `select op_key from streamfold_execution where tenant = $1 and state = 'failed' ` +
          `and code in ('cancelled', 'not_authorized') and op_key in (${listOf(wanted, 1)})`,
        [tenant, ...wanted],
      )
      const used = new Set(stopped.map((row) => row.op_key))
      open = open.filter(({ ordinal }) => used.has(keys.get(ordinal) as string))
    }
    return keys
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
      'not run, because another call of the same answer could not be run',
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

  /** Makes an execution for each key that has none, and claims the first of the new ones. */
  async #execute(): Promise<readonly Claim[]> {
    const calls = this.#rows.filter((row) => row.state === 'released')
    const byKey = new Map<string, CallRow>()
    const conflicts = new Set<string>()
    for (const row of calls) {
      const key = row.op_key as string
      const first = byKey.get(key)
      if (first === undefined) byKey.set(key, row)
      else if (!sameOperation(first, row)) conflicts.add(key)
    }
    if (conflicts.size > 0) throw new KeyConflict(conflicts)
    // In the order of the keys: two batches that share some can't wait for each other.
    const keys = [...byKey.keys()].sort()
    for (let missing = keys; missing.length > 0;) {
      for (const key of await this.#insert(missing.map((each) => byKey.get(each) as CallRow))) this.#fresh.add(key)
      if (this.#fresh.size === keys.length) break
      const present = new Map((await this.#executions(keys)).map((row) => [row.op_key, row]))
      for (const [key, row] of present) if (!sameOperation(byKey.get(key) as CallRow, row)) conflicts.add(key)
      if (conflicts.size > 0) throw new KeyConflict(conflicts)
      // A key that was there and is gone was taken back by a cancelled run in between.
      missing = keys.filter((key) => !present.has(key))
    }
    const { tenant, owner, leaseMs, claimLimit } = this.#request
    const first = [...byKey.keys()].filter((key) => this.#fresh.has(key)).slice(0, claimLimit)
    return await claimKeys(this.#tx, this.#store, { tenant, owner, leaseMs }, first)
  }

  async #insert(rows: readonly CallRow[]): Promise<readonly string[]> {
    const { tenant, runId, turn, choice, contextJson } = this.#request
    const values = rows.map((row) => [row.op_key, row.tool, row.args, row.args_hash, row.effect, row.call_id])
    const inserted = await this.#tx.query<{ op_key: string }>(
      `insert into streamfold_execution(tenant, run_id, turn, choice_ix, context, state, fence, created_at, ` +
        `op_key, tool, args, args_hash, effect, call_id) values ` +
        `${rowsOf(values, 5, `$1, $2, $3, $4, $5, 'ready', 0, ${this.#store.dialect.now}`)} on conflict do nothing returning op_key`,
      [tenant, runId, turn, choice, contextJson, ...values.flat()],
    )
    return inserted.map((row) => row.op_key)
  }

  async #executions(keys: readonly string[]): Promise<readonly ExecutionRow[]> {
    if (keys.length === 0) return []
    return await this.#tx.query<ExecutionRow>(
      `select ${EXECUTION_COLUMNS} from streamfold_execution where tenant = $1 and op_key in (${listOf(keys, 1)}) ` +
        `order by op_key${this.#store.dialect.forUpdate}`,
      [this.#request.tenant, ...keys],
    )
  }

  async #standings(made: readonly Claim[]): Promise<readonly CallStanding[]> {
    const claims = new Map(made.map((claim) => [claim.execution.key, claim]))
    const rows = new Map(this.#rows.map((row) => [row.ordinal, row]))
    const released = this.#rows.filter((row) => row.state === 'released')
    // The claims say it for their own calls; what else there is has to be looked up.
    const keys = released.length === claims.size ? [] : released.map((row) => row.op_key as string)
    const executions = new Map((await this.#executions([...new Set(keys)].sort())).map((row) => [row.op_key, row]))
    const asks = this.#rows.some((row) => row.state === 'needs_approval')
    const asked = asks ? await this.#approvals() : new Map<number, ApprovalStanding>()
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
        return { kind: 'execution', execution: executionOf(execution), replayed: !this.#fresh.has(key) }
      }
      const approval = asked.get(row.ordinal)
      if (row.state === 'needs_approval' && approval !== undefined) return { kind: 'needs_approval', ...approval }
      return refused(row.code ?? 'batch_held', row.phase ?? 'execute', row.reason ?? 'the batch is not released')
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

function refused(code: FaultCode, phase: Phase, reason: string): CallStanding {
  return { kind: 'refused', code, phase, reason }
}

function sameOperation(
  left: { readonly tool: string; readonly args_hash: string },
  right: { readonly tool: string; readonly args_hash: string },
): boolean {
  return left.tool === right.tool && left.args_hash === right.args_hash
}
