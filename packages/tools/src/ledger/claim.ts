import { crashPoint } from '../crash-point.ts'
import type { Queries, Store } from '../store/store.ts'
import { StoreError } from '../store/store-error.ts'
import { writeAudit } from './audit.ts'
import type { AuditEvent } from './audit.ts'
import { aboutOf, EXECUTION_COLUMNS, executionOf } from './execution.ts'
import type { Execution, ExecutionRow } from './execution.ts'
import { listOf, rowsOf } from './placeholders.ts'

/**
 * The right to run one execution once: its row says `executing` under this owner and fence, and that is committed. The only
 * thing that a tool may be entered with.
 */
export class Claim {
  readonly execution: Execution
  readonly owner: string
  readonly fence: number
  /** This is not the first claim: an earlier one may have had its effect. */
  readonly again: boolean
  readonly #wallMs: number = Date.now()
  readonly #steadyMs: number = performance.now()
  #used = false

  constructor(execution: Execution, owner: string) {
    this.execution = execution
    this.owner = owner
    this.fence = execution.fence
    this.again = execution.fence > 1
  }

  /** Time since it was made, in milliseconds: by the clock that shows more, for one may have stood still with the machine. */
  get ageMs(): number {
    return Math.max(Date.now() - this.#wallMs, performance.now() - this.#steadyMs)
  }

  /** @throws {Error} when the claim was used before */
  use(): void {
    if (this.#used) throw new Error(`claim ${this.fence} of ${this.execution.key} was used before; claim it again`)
    this.#used = true
  }
}

/** Who claims, and for how long a claim counts without a heartbeat. */
export interface ClaimHolder {
  readonly tenant: string
  readonly owner: string
  readonly leaseMs: number
}

export interface ClaimOptions extends ClaimHolder {
  /** Claims at most this many. */
  readonly limit: number
  /** Only executions of these tools. */
  readonly tools: readonly string[]
}

export interface ReclaimOptions extends ClaimOptions {
  /** Executions that were claimed this often are left alone. */
  readonly maxAttempts: number
  /** Only this execution. */
  readonly key?: string
}

/** A call that is still wanted stands behind the row `e`: released, and its run not cancelled. */
export const STILL_WANTED: string =
  'exists (select 1 from streamfold_call c join streamfold_run r on r.tenant = c.tenant and r.run_id = c.run_id ' +
  "where c.tenant = e.tenant and c.op_key = e.op_key and c.state = 'released' and r.cancelled_at is null)"

/** Takes rows that are ready, oldest first. Rows that someone else is taking are passed over. */
export async function claimReady(store: Store, options: ClaimOptions): Promise<readonly Claim[]> {
  const { tenant, owner, leaseMs, limit, tools } = options
  if (limit < 1 || tools.length === 0) return []
  const claims = await committed(store, async (tx) => {
    const picked = await tx.query<{ op_key: string }>(
      `select e.op_key from streamfold_execution e where e.tenant = $1 and e.state = 'ready' ` +
        `and e.tool in (${listOf(tools, 2)}) and ${STILL_WANTED} order by e.created_at, e.op_key limit $2` +
        store.dialect.skipLocked,
      [tenant, limit, ...tools],
    )
    const taken = await claimKeys(
      tx,
      store,
      { tenant, owner, leaseMs },
      picked.map((row) => row.op_key),
    )
    await crashPoint('claim.before-commit')
    return taken
  })
  await crashPoint('claim.after-commit')
  return claims
}

/** Takes one row, if it is still ready and wanted. */
export async function claimOne(store: Store, holder: ClaimHolder, key: string): Promise<Claim | undefined> {
  const [claim] = await committed(store, async (tx) => {
    const wanted = await tx.query<{ op_key: string }>(
      `select e.op_key from streamfold_execution e where e.tenant = $1 and e.op_key = $2 and e.state = 'ready' ` +
        `and ${STILL_WANTED}${store.dialect.skipLocked}`,
      [holder.tenant, key],
    )
    const taken = await claimKeys(
      tx,
      store,
      holder,
      wanted.map((row) => row.op_key),
    )
    await crashPoint('claim.before-commit')
    return taken
  })
  await crashPoint('claim.after-commit')
  return claim
}

/** Claims and commits. Where the answer to the commit was lost, the rows say whether it happened. */
async function committed(store: Store, body: (tx: Queries) => Promise<readonly Claim[]>): Promise<readonly Claim[]> {
  let made: readonly Claim[] = []
  try {
    return await store.transaction(async (tx) => (made = await body(tx)))
  } catch (error) {
    if (!(error instanceof StoreError) || error.code !== 'commit_unknown') throw error
    return await stillHeld(store, made)
  }
}

/** Those of the claims that are in the ledger: under this owner and this fence. */
export async function stillHeld(store: Store, claims: readonly Claim[]): Promise<readonly Claim[]> {
  const [first] = claims
  if (first === undefined) return []
  const keys = claims.map((claim) => claim.execution.key)
  // Locks the rows, and so waits for a transaction that may still be under way in the database.
  const rows = await store.transaction((tx) =>
    tx.query<{ op_key: string; fence: number }>(
      `select op_key, fence from streamfold_execution where tenant = $1 and owner = $2 and state = 'executing' ` +
        `and op_key in (${listOf(keys, 2)})${store.dialect.forUpdate}`,
      [first.execution.tenant, first.owner, ...keys],
    ),
  )
  const fences = new Map(rows.map((row) => [row.op_key, row.fence]))
  return claims.filter((claim) => fences.get(claim.execution.key) === claim.fence)
}

/** Moves ready rows to `executing`, inside of the caller's transaction. The claims count only once that is committed. */
export async function claimKeys(
  tx: Queries,
  store: Store,
  holder: ClaimHolder,
  keys: readonly string[],
): Promise<readonly Claim[]> {
  if (keys.length === 0) return []
  const { now } = store.dialect
  const rows = await tx.query<ExecutionRow>(
    `update streamfold_execution set state = 'executing', fence = fence + 1, owner = $2, lease_until = ${now} + $3, ` +
      `started_at = ${now} where tenant = $1 and state = 'ready' and op_key in (${listOf(keys, 3)}) ` +
      `returning ${EXECUTION_COLUMNS}`,
    [holder.tenant, holder.owner, holder.leaseMs, ...keys],
  )
  return await beginAttempts(tx, store, holder, rows, 'claimed')
}

/** Takes over executions whose lease ran out and that may be run again, or asked about. Longest dead first. */
export async function reclaimExpired(store: Store, options: ReclaimOptions): Promise<readonly Claim[]> {
  const { tenant, owner, leaseMs, limit, tools, maxAttempts, key } = options
  if (limit < 1 || tools.length === 0) return []
  const { now, skipLocked } = store.dialect
  const claims = await committed(store, async (tx) => {
    const expired = await tx.query<{ op_key: string }>(
      `select e.op_key from streamfold_execution e where e.tenant = $1 and e.state = 'executing' ` +
        `and e.lease_until < ${now} and e.effect <> 'unsafe' and e.fence < $3 and e.tool in (${listOf(tools, 3)}) ` +
        `${key === undefined ? '' : `and e.op_key = $${tools.length + 4} `}order by e.lease_until, e.op_key limit $2${skipLocked}`,
      [tenant, limit, maxAttempts, ...tools, ...(key === undefined ? [] : [key])],
    )
    if (expired.length === 0) return []
    const keys = expired.map((row) => row.op_key)
    await endAttempts(tx, store, tenant, keys, 'lease_expired')
    const rows = await tx.query<ExecutionRow>(
      `update streamfold_execution set fence = fence + 1, owner = $2, lease_until = ${now} + $3 ` +
        `where tenant = $1 and state = 'executing' and effect <> 'unsafe' and lease_until < ${now} ` +
        `and op_key in (${listOf(keys, 3)}) returning ${EXECUTION_COLUMNS}`,
      [tenant, owner, leaseMs, ...keys],
    )
    return await beginAttempts(tx, store, { tenant, owner }, rows, 'reclaimed')
  })
  if (claims.length > 0) await crashPoint('reclaim.after-commit')
  return claims
}

/** Closes the newest attempt of each key, where nothing closed it. */
export async function endAttempts(
  tx: Queries,
  store: Store,
  tenant: string,
  keys: readonly string[],
  outcome: string,
): Promise<void> {
  if (keys.length === 0) return
  await tx.query(
    `update streamfold_attempt set outcome = $2, ended_at = ${store.dialect.now} ` +
      `where tenant = $1 and outcome is null and op_key in (${listOf(keys, 2)})`,
    [tenant, outcome, ...keys],
  )
}

async function beginAttempts(
  tx: Queries,
  store: Store,
  holder: { readonly tenant: string; readonly owner: string },
  rows: readonly ExecutionRow[],
  event: AuditEvent,
): Promise<readonly Claim[]> {
  if (rows.length === 0) return []
  const values = rows.map((row) => [row.op_key, row.fence, holder.owner])
  await tx.query(
    `insert into streamfold_attempt(tenant, started_at, op_key, fence, owner) values ` +
      rowsOf(values, 1, `$1, ${store.dialect.now}`),
    [holder.tenant, ...values.flat()],
  )
  await writeAudit(
    tx,
    store.dialect,
    holder.tenant,
    rows.map((row) => ({ event, ...aboutOf(row), state: 'executing', owner: holder.owner, fence: row.fence })),
  )
  return rows.map((row) => new Claim(executionOf(row), holder.owner))
}
