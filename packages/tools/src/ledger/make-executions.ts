import type { Queries, Store } from '../store/store.ts'
import type { CallRow } from './call-row.ts'
import { claimKeys } from './claim.ts'
import type { Claim } from './claim.ts'
import { lockExecutions } from './execution.ts'
import { rowsOf } from './placeholders.ts'
import type { ReleaseRequest } from './release-request.ts'

/** Two operations under one key: found while rows were being written, so that transaction is undone first. */
export class KeyConflict extends Error {
  readonly keys: ReadonlySet<string>
  constructor(keys: ReadonlySet<string>) {
    super('key conflict')
    this.keys = keys
  }
}

/** What became of the calls of a batch that was released just now. */
export interface MadeExecutions {
  /** Keys that had no execution before. */
  readonly fresh: ReadonlySet<string>
  readonly claims: readonly Claim[]
}

/**
 * Makes an execution for each key that has none, and claims the first of the new ones.
 * @throws {KeyConflict}
 */
export async function makeExecutions(
  tx: Queries,
  store: Store,
  request: ReleaseRequest,
  calls: readonly CallRow[],
): Promise<MadeExecutions> {
  const fresh = new Set<string>()
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
    const rows = missing.map((key) => byKey.get(key) as CallRow)
    for (const key of await insertReady(tx, store, request, rows)) fresh.add(key)
    if (fresh.size === keys.length) break
    const present = new Map((await lockExecutions(tx, store, request.tenant, keys)).map((row) => [row.op_key, row]))
    for (const [key, row] of present) if (!sameOperation(byKey.get(key) as CallRow, row)) conflicts.add(key)
    if (conflicts.size > 0) throw new KeyConflict(conflicts)
    // A key that was there and is gone was taken back by a cancelled run in between.
    missing = keys.filter((key) => !present.has(key))
  }
  const { tenant, owner, leaseMs, claimLimit } = request
  const first = [...byKey.keys()].filter((key) => fresh.has(key)).slice(0, claimLimit)
  return { fresh, claims: await claimKeys(tx, store, { tenant, owner, leaseMs }, first) }
}

/** @returns keys that were not there */
async function insertReady(
  tx: Queries,
  store: Store,
  request: ReleaseRequest,
  rows: readonly CallRow[],
): Promise<readonly string[]> {
  const { tenant, runId, turn, choice, contextJson } = request
  const values = rows.map((row) => [row.op_key, row.tool, row.args, row.args_hash, row.effect, row.call_id])
  const inserted = await tx.query<{ op_key: string }>(
    `insert into streamfold_execution(tenant, run_id, turn, choice_ix, context, state, fence, created_at, ` +
      `op_key, tool, args, args_hash, effect, call_id) values ` +
      `${rowsOf(values, 5, `$1, $2, $3, $4, $5, 'ready', 0, ${store.dialect.now}`)} on conflict do nothing returning op_key`,
    [tenant, runId, turn, choice, contextJson, ...values.flat()],
  )
  return inserted.map((row) => row.op_key)
}

function sameOperation(
  left: { readonly tool: string; readonly args_hash: string },
  right: { readonly tool: string; readonly args_hash: string },
): boolean {
  return left.tool === right.tool && left.args_hash === right.args_hash
}
