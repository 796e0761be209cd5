import type { Effect } from '../define/tool.ts'
import type { Queries, Store } from '../store/store.ts'
import { listOf } from './placeholders.ts'
import type { ExecutionState } from './states.ts'

/** One operation in the ledger. Times are the database's, in milliseconds since 1970. */
export interface Execution {
  readonly tenant: string
  readonly key: string
  readonly tool: string
  /** Canonical JSON of the input; empty once it was pruned. */
  readonly inputJson: string
  readonly argumentsHash: string
  readonly effect: Effect
  /** The run, turn, choice and call that asked for it first. */
  readonly runId: string
  readonly turn: number
  readonly choice: number
  readonly callId: string
  /** JSON of what the caller wants to have again when another worker takes over. */
  readonly contextJson: string
  readonly state: ExecutionState
  /** Number of claims so far. */
  readonly fence: number
  readonly owner: string | null
  readonly leaseUntil: number | null
  readonly code: string | null
  readonly message: string | null
  /** JSON of what the tool gave; text that was cut short when `truncated`. */
  readonly result: string | null
  readonly truncated: boolean
  readonly createdAt: number
  readonly startedAt: number | null
  readonly finishedAt: number | null
  readonly prunedAt: number | null
}

export interface ExecutionRow {
  readonly tenant: string
  readonly op_key: string
  readonly tool: string
  readonly args: string
  readonly args_hash: string
  readonly effect: Effect
  readonly run_id: string
  readonly turn: number
  readonly choice_ix: number
  readonly call_id: string
  readonly context: string
  readonly state: ExecutionState
  readonly fence: number
  readonly owner: string | null
  readonly lease_until: number | null
  readonly code: string | null
  readonly message: string | null
  readonly result: string | null
  readonly truncated: number
  readonly created_at: number
  readonly started_at: number | null
  readonly finished_at: number | null
  readonly pruned_at: number | null
}

export const EXECUTION_COLUMNS: string =
  'tenant, op_key, tool, args, args_hash, effect, run_id, turn, choice_ix, call_id, context, state, fence, owner, lease_until, ' +
  'code, message, result, truncated, created_at, started_at, finished_at, pruned_at'

export function executionOf(row: ExecutionRow): Execution {
  return {
    tenant: row.tenant,
    key: row.op_key,
    tool: row.tool,
    inputJson: row.args,
    argumentsHash: row.args_hash,
    effect: row.effect,
    runId: row.run_id,
    turn: row.turn,
    choice: row.choice_ix,
    callId: row.call_id,
    contextJson: row.context,
    state: row.state,
    fence: row.fence,
    owner: row.owner,
    leaseUntil: row.lease_until,
    code: row.code,
    message: row.message,
    result: row.result,
    truncated: row.truncated === 1,
    createdAt: row.created_at,
    startedAt: row.started_at,
    finishedAt: row.finished_at,
    prunedAt: row.pruned_at,
  }
}

/** What the trail says of an execution. */
export function aboutOf(row: ExecutionRow): {
  readonly runId: string
  readonly turn: number
  readonly choice: number
  readonly callId: string
  readonly key: string
  readonly tool: string
  readonly argumentsHash: string
} {
  return {
    runId: row.run_id,
    turn: row.turn,
    choice: row.choice_ix,
    callId: row.call_id,
    key: row.op_key,
    tool: row.tool,
    argumentsHash: row.args_hash,
  }
}

/** The rows of these keys, locked in the order of the keys. */
export async function lockExecutions(
  tx: Queries,
  store: Store,
  tenant: string,
  keys: readonly string[],
): Promise<readonly ExecutionRow[]> {
  if (keys.length === 0) return []
  return await tx.query<ExecutionRow>(
    `select ${EXECUTION_COLUMNS} from streamfold_execution where tenant = $1 and op_key in (${listOf(keys, 1)}) ` +
      `order by op_key${store.dialect.forUpdate}`,
    [tenant, ...keys],
  )
}
