import { randomUUID } from 'node:crypto'
import { crashPoint } from '../crash-point.ts'
import type { Queries, SqlValue, Store } from '../store/store.ts'
import type { AuditEntry } from './audit.ts'
import { operationKey } from './op-key.ts'
import { listOf, rowsOf } from './placeholders.ts'
import type { CheckedCall, ReleaseRequest } from './release-request.ts'
import type { CallState } from './states.ts'

/**
 * Writes a batch that was not there before, with its calls as they stand after the gate and what people are asked. Of a run that
 * was cancelled they are written as cancelled.
 */
export async function recordBatch(
  tx: Queries,
  store: Store,
  request: ReleaseRequest,
  cancelled: boolean,
  audit: AuditEntry[],
): Promise<void> {
  const { now } = store.dialect
  const { calls, tenant, runId, turn, choice } = request
  const batch = [tenant, runId, turn, choice]
  await tx.query(
    `insert into streamfold_batch(tenant, run_id, turn, choice_ix, expected, state, created_at) ` +
      `values ($1, $2, $3, $4, $5, 'open', ${now})`,
    [...batch, calls.length],
  )
  const keys = await operationKeys(tx, request)
  const rows = calls.map((call) => callValues(call, keys.get(call.ordinal) ?? null, cancelled))
  // In two statements, so that there is a place between two calls for a test to stop at.
  for (const some of [rows.slice(0, 1), rows.slice(1)]) {
    if (some.length === 0) continue
    await tx.query(
      `insert into streamfold_call(tenant, run_id, turn, choice_ix, created_at, ordinal, call_id, tool, args, args_hash, ` +
        `op_key, effect, state, code, phase, reason, policy_rev) values ` +
        rowsOf(some, 4, `$1, $2, $3, $4, ${now}`),
      [...batch, ...some.flat()],
    )
    await crashPoint('release.between-calls')
  }
  for (const call of calls) {
    const about = { runId, turn, choice, callId: call.callId, tool: call.tool, argumentsHash: call.argumentsHash }
    const argumentBytes = Buffer.byteLength(call.inputJson)
    if (call.verdict === 'refuse') {
      audit.push({ event: 'refused', ...about, argumentBytes, code: call.code })
    } else if (call.approval !== undefined && !cancelled) {
      audit.push({ event: 'approval_requested', ...about, argumentBytes })
      await tx.query(
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

function callValues(call: CheckedCall, key: string | null, cancelled: boolean): readonly SqlValue[] {
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
async function operationKeys(tx: Queries, request: ReleaseRequest): Promise<ReadonlyMap<number, string>> {
  const { tenant, runId, turn, choice, calls } = request
  const keys = new Map<number, string>()
  let open = calls.filter((call) => call.verdict === 'pass')
  for (let neverBegun = 0; open.length > 0; neverBegun += 1) {
    for (const { tool, operationId, ordinal, callId } of open) {
      keys.set(ordinal, operationKey(tool, operationId, { runId, turn, choice, ordinal, callId }, neverBegun))
    }
    open = open.filter(({ operationId }) => operationId !== undefined)
    if (open.length === 0) break
    const wanted = [...new Set(open.map(({ ordinal }) => keys.get(ordinal) as string))]
    const stopped = await tx.query<{ op_key: string }>(
      `select op_key from streamfold_execution where tenant = $1 and state = 'failed' ` +
        `and code in ('cancelled', 'not_authorized') and op_key in (${listOf(wanted, 1)})`,
      [tenant, ...wanted],
    )
    const used = new Set(stopped.map((row) => row.op_key))
    open = open.filter(({ ordinal }) => used.has(keys.get(ordinal) as string))
  }
  return keys
}
