import { crashPoint } from '../crash-point.ts'
import type { Queries, Store } from '../store/store.ts'
import { writeAudit } from './audit.ts'
import { STILL_WANTED } from './claim.ts'
import { lockExecutions } from './execution.ts'
import { listOf } from './placeholders.ts'
import type { CallState, ExecutionState } from './states.ts'

/** What a cancelled run's calls had come to. */
export interface CancelAnswer {
  readonly calls: readonly CancelledCall[]
}

export interface CancelledCall {
  readonly turn: number
  readonly choice: number
  readonly callId: string
  readonly tool: string
  readonly key: string | null
  /**
   * - `cancelled`: it will not run.
   * - `already_executing`: it was begun; its signal is aborted and its outcome is still recorded.
   * - `already_done`: it has an outcome, `unknown` included.
   */
  readonly result: 'cancelled' | 'already_executing' | 'already_done'
}

interface OpenCall {
  readonly turn: number
  readonly choice_ix: number
  readonly ordinal: number
  readonly call_id: string
  readonly tool: string
  readonly op_key: string | null
  readonly state: CallState
}

/**
 * Cancels a run: from the commit on, nothing of it begins. What another run wants too is left to that run. Doing it again
 * answers the same question anew.
 */
export async function cancelRun(store: Store, tenant: string, runId: string, by: string): Promise<CancelAnswer> {
  const { now, forUpdate } = store.dialect
  const answer = await store.transaction(async (tx) => {
    await tx.query(
      `insert into streamfold_run(tenant, run_id, last_turn, created_at) values ($1, $2, 0, ${now}) on conflict do nothing`,
      [tenant, runId],
    )
    await tx.query(`select run_id from streamfold_run where tenant = $1 and run_id = $2${forUpdate}`, [tenant, runId])
    await tx.query(
      `update streamfold_run set cancelled_at = ${now}, cancelled_by = $3 ` +
        `where tenant = $1 and run_id = $2 and cancelled_at is null`,
      [tenant, runId, by],
    )
    const calls = await cancelCalls(tx, store, { tenant, runId }, by)
    await tx.query(
      `update streamfold_batch set state = 'refused', decided_at = ${now} ` +
        `where tenant = $1 and run_id = $2 and state = 'open'`,
      [tenant, runId],
    )
    await crashPoint('cancel.before-commit')
    return { calls }
  })
  await crashPoint('cancel.after-commit')
  return answer
}

/** Cancels what has not begun of one batch. The run itself goes on. */
export async function cancelBatch(store: Store, batch: CancelledBatch, by: string): Promise<CancelAnswer> {
  return await store.transaction(async (tx) => {
    // In the order in which a release takes them.
    await tx.query(`select run_id from streamfold_run where tenant = $1 and run_id = $2${store.dialect.forUpdate}`, [
      batch.tenant,
      batch.runId,
    ])
    return { calls: await cancelCalls(tx, store, batch, by) }
  })
}

export interface CancelledBatch {
  readonly tenant: string
  readonly runId: string
  readonly turn: number
  readonly choice: number
}

async function cancelCalls(
  tx: Queries,
  store: Store,
  scope: { readonly tenant: string; readonly runId: string; readonly turn?: number; readonly choice?: number },
  by: string,
): Promise<readonly CancelledCall[]> {
  const { tenant, runId, turn, choice } = scope
  const batch = turn === undefined || choice === undefined ? [] : [turn, choice]
  const calls = await tx.query<OpenCall>(
    `select turn, choice_ix, ordinal, call_id, tool, op_key, state from streamfold_call ` +
      `where tenant = $1 and run_id = $2 and state in ('needs_approval', 'authorized', 'released') ` +
      `${batch.length === 0 ? '' : 'and turn = $3 and choice_ix = $4 '}order by turn, choice_ix, ordinal`,
    [tenant, runId, ...batch],
  )
  const keys = [
    ...new Set(calls.flatMap((call) => (call.state === 'released' && call.op_key !== null ? [call.op_key] : []))),
  ]
  const rows = await lockExecutions(tx, store, tenant, keys)
  const begun = new Map(rows.map((row) => [row.op_key, row.state]))
  const cancelled = calls.map((call) => ({
    turn: call.turn,
    choice: call.choice_ix,
    callId: call.call_id,
    tool: call.tool,
    key: call.op_key,
    result: resultOf(call, begun),
  }))
  for (const [at, call] of calls.entries())
    if (cancelled[at]?.result === 'cancelled') await stop(tx, tenant, runId, call)
  await takeBack(tx, tenant, keys)
  await writeAudit(
    tx,
    store.dialect,
    tenant,
    cancelled.map(({ key, result, ...about }) => ({
      event: 'cancelled',
      runId,
      ...about,
      ...(key === null ? {} : { key }),
      state: result,
      actor: by,
    })),
  )
  return cancelled
}

/** Removes executions that nobody began and nobody wants any more, which frees their keys. */
async function takeBack(tx: Queries, tenant: string, keys: readonly string[]): Promise<void> {
  if (keys.length === 0) return
  // After the rows were locked: it sees the calls of whoever it had to wait for.
  await tx.query(
    `delete from streamfold_execution as e where e.tenant = $1 and e.state = 'ready' ` +
      `and e.op_key in (${listOf(keys, 1)}) and not ${STILL_WANTED}`,
    [tenant, ...keys],
  )
}

function resultOf(call: OpenCall, begun: ReadonlyMap<string, ExecutionState>): CancelledCall['result'] {
  const state = call.state === 'released' && call.op_key !== null ? begun.get(call.op_key) : undefined
  if (state === undefined || state === 'ready') return 'cancelled'
  return state === 'executing' ? 'already_executing' : 'already_done'
}

async function stop(tx: Queries, tenant: string, runId: string, call: OpenCall): Promise<void> {
  await tx.query(
    `update streamfold_call set state = 'cancelled', code = 'cancelled', phase = 'execute', reason = 'the run was cancelled' ` +
      `where tenant = $1 and run_id = $2 and turn = $3 and choice_ix = $4 and ordinal = $5`,
    [tenant, runId, call.turn, call.choice_ix, call.ordinal],
  )
}
