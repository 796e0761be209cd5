import type { Store } from '../store/store.ts'
import { writeAudit } from './audit.ts'
import { aboutOf, EXECUTION_COLUMNS } from './execution.ts'
import type { ExecutionRow } from './execution.ts'

/** Nothing younger is ever pruned: keys have to outlive everyone who might still repeat them. */
export const SHORTEST_RETENTION_MS: number = 30 * 24 * 60 * 60 * 1000

/**
 * Drops the arguments and results of executions that were settled long ago. Their keys, hashes and states stay, so that a
 * repeated operation is still recognised and not done again.
 * @returns how many were dropped; call again while it is `limit`
 * @throws {RangeError} for an age below {@link SHORTEST_RETENTION_MS}
 */
export async function prune(
  store: Store,
  tenant: string,
  { olderThanMs, limit = 500 }: { readonly olderThanMs: number; readonly limit?: number },
): Promise<number> {
  if (!(olderThanMs >= SHORTEST_RETENTION_MS)) {
    throw new RangeError(`keep at least ${SHORTEST_RETENTION_MS} ms (30 days); ${olderThanMs} was asked for`)
  }
  return await store.transaction(async (tx) => {
    const rows = await tx.query<ExecutionRow>(
      `update streamfold_execution set args = '', result = null, pruned_at = ${store.dialect.now} ` +
        `where tenant = $1 and op_key in (select op_key from streamfold_execution where tenant = $1 ` +
        `and state in ('succeeded', 'failed') and pruned_at is null and finished_at < ${store.dialect.now} - $2 ` +
        `order by finished_at limit $3) and pruned_at is null returning ${EXECUTION_COLUMNS}`,
      [tenant, olderThanMs, limit],
    )
    for (const row of rows) {
      await tx.query("update streamfold_call set args = '' where tenant = $1 and op_key = $2 and state = 'released'", [
        tenant,
        row.op_key,
      ])
    }
    await writeAudit(
      tx,
      store.dialect,
      tenant,
      rows.map((row) => ({ event: 'pruned', ...aboutOf(row), state: row.state })),
    )
    return rows.length
  })
}
