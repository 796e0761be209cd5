import type { Dialect } from '../store/dialect.ts'
import type { Queries, SqlValue } from '../store/store.ts'
import { rowsOf } from './placeholders.ts'

export type AuditEvent =
  | 'refused'
  | 'approval_requested'
  | 'approval_decided'
  | 'approval_used'
  | 'released'
  | 'attached'
  | 'claimed'
  | 'reclaimed'
  | 'succeeded'
  | 'failed'
  | 'unknown'
  | 'stale'
  | 'settled'
  | 'cancelled'
  | 'pruned'

/** One entry of the trail. Holds hashes and lengths, never what was in arguments or results. */
export interface AuditEntry {
  readonly event: AuditEvent
  readonly runId?: string
  readonly turn?: number
  readonly choice?: number
  readonly callId?: string
  readonly key?: string
  readonly tool?: string
  readonly state?: string
  readonly code?: string
  readonly argumentsHash?: string
  readonly argumentBytes?: number
  readonly resultHash?: string
  readonly resultBytes?: number
  readonly owner?: string
  readonly fence?: number
  /** The person or program that decided, where one did. */
  readonly actor?: string
  /** One sentence for people; no content. */
  readonly detail?: string
}

const COLUMNS =
  'event, run_id, turn, choice_ix, call_id, op_key, tool, state, code, args_hash, args_bytes, result_hash, result_bytes, ' +
  'owner, fence, actor, detail'

function valuesOf(entry: AuditEntry): readonly SqlValue[] {
  return [
    entry.event,
    entry.runId ?? null,
    entry.turn ?? null,
    entry.choice ?? null,
    entry.callId ?? null,
    entry.key ?? null,
    entry.tool ?? null,
    entry.state ?? null,
    entry.code ?? null,
    entry.argumentsHash ?? null,
    entry.argumentBytes ?? null,
    entry.resultHash ?? null,
    entry.resultBytes ?? null,
    entry.owner ?? null,
    entry.fence ?? null,
    entry.actor ?? null,
    entry.detail ?? null,
  ]
}

/** Adds to the trail, in the transaction of what it tells about. */
export async function writeAudit(
  tx: Queries,
  dialect: Dialect,
  tenant: string,
  entries: readonly AuditEntry[],
): Promise<void> {
  if (entries.length === 0) return
  const rows = entries.map(valuesOf)
  await tx.query(
    `insert into streamfold_audit(tenant, at, ${COLUMNS}) values ${rowsOf(rows, 1, `$1, ${dialect.now}`)}`,
    [tenant, ...rows.flat()],
  )
}
