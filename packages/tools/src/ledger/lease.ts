import { crashPoint } from '../crash-point.ts'
import type { Store } from '../store/store.ts'
import { writeAudit } from './audit.ts'
import { endAttempts, STILL_WANTED } from './claim.ts'
import type { Claim } from './claim.ts'
import { aboutOf, EXECUTION_COLUMNS, executionOf } from './execution.ts'
import type { Execution, ExecutionRow } from './execution.ts'
import { listOf } from './placeholders.ts'

/** Claims as a heartbeat found them. Those in neither list are held and wanted. */
export interface HeartbeatAnswer {
  /** Someone else has them now, or they were given up; what comes out of them will not count. */
  readonly lost: readonly Claim[]
  /** Nobody wants them any more: every run that asked for them was cancelled. */
  readonly unwanted: readonly Claim[]
}

/** Renews the leases of one owner in one statement. */
export async function heartbeat(store: Store, claims: readonly Claim[], leaseMs: number): Promise<HeartbeatAnswer> {
  const [first] = claims
  if (first === undefined) return { lost: [], unwanted: [] }
  const { tenant } = first.execution
  const keys = claims.map((claim) => claim.execution.key)
  await crashPoint('heartbeat.before')
  const [held, wanted] = await store.transaction(async (tx) => [
    await tx.query<{ op_key: string; fence: number }>(
      `update streamfold_execution set lease_until = ${store.dialect.now} + $3 where tenant = $1 and owner = $2 ` +
        `and state = 'executing' and op_key in (${listOf(keys, 3)}) returning op_key, fence`,
      [tenant, first.owner, leaseMs, ...keys],
    ),
    await tx.query<{ op_key: string }>(
      `select e.op_key from streamfold_execution e where e.tenant = $1 and e.op_key in (${listOf(keys, 1)}) ` +
        `and ${STILL_WANTED}`,
      [tenant, ...keys],
    ),
  ])
  await crashPoint('heartbeat.after')
  const fences = new Map(held.map((row) => [row.op_key, row.fence]))
  const live = new Set(wanted.map((row) => row.op_key))
  const lost = claims.filter((claim) => fences.get(claim.execution.key) !== claim.fence)
  return { lost, unwanted: claims.filter((claim) => !lost.includes(claim) && !live.has(claim.execution.key)) }
}

/** Lets one claim's lease end in `delayMs`, so that the execution is looked at again then. */
export async function postpone(store: Store, claim: Claim, delayMs: number): Promise<void> {
  await store.query(
    `update streamfold_execution set lease_until = ${store.dialect.now} + $4 ` +
      `where tenant = $1 and op_key = $2 and fence = $3 and state = 'executing'`,
    [claim.execution.tenant, claim.execution.key, claim.fence, delayMs],
  )
}

/**
 * Gives up executions whose lease ran out and that may not be run again: unsafe ones, and those that were begun
 * `maxAttempts` times and never came back.
 */
export async function sweepExpired(
  store: Store,
  { tenant, maxAttempts, limit }: { readonly tenant: string; readonly maxAttempts: number; readonly limit: number },
): Promise<readonly Execution[]> {
  const { now, skipLocked } = store.dialect
  const given = await store.transaction(async (tx) => {
    const expired = await tx.query<{ op_key: string }>(
      `select e.op_key from streamfold_execution e where e.tenant = $1 and e.state = 'executing' ` +
        `and e.lease_until < ${now} and (e.effect = 'unsafe' or e.fence >= $3) order by e.lease_until, e.op_key ` +
        `limit $2${skipLocked}`,
      [tenant, limit, maxAttempts],
    )
    if (expired.length === 0) return []
    const keys = expired.map((row) => row.op_key)
    const rows = await tx.query<ExecutionRow>(
      `update streamfold_execution set state = 'unknown', code = 'outcome_unknown', lease_until = null, ` +
        `message = 'the worker that ran it stopped answering' ` +
        `where tenant = $1 and state = 'executing' and lease_until < ${now} and op_key in (${listOf(keys, 1)}) ` +
        `returning ${EXECUTION_COLUMNS}`,
      [tenant, ...keys],
    )
    await endAttempts(
      tx,
      store,
      tenant,
      rows.map((row) => row.op_key),
      'lease_expired',
    )
    await writeAudit(
      tx,
      store.dialect,
      tenant,
      rows.map((row) => ({
        event: 'unknown',
        ...aboutOf(row),
        state: 'unknown',
        code: 'outcome_unknown',
        fence: row.fence,
        ...(row.owner === null ? {} : { owner: row.owner }),
      })),
    )
    await crashPoint('sweep.before-commit')
    return rows.map(executionOf)
  })
  if (given.length > 0) await crashPoint('sweep.after-commit')
  return given
}

/** Ends the leases of a process that can't be alive any more: this one has the store to itself and has claimed nothing yet. */
export async function expireAll(store: Store): Promise<void> {
  await store.query("update streamfold_execution set lease_until = 0 where state = 'executing' and lease_until > 0")
}
