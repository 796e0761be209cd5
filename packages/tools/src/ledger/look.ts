import type { Store } from '../store/store.ts'
import { EXECUTION_COLUMNS, executionOf } from './execution.ts'
import type { Execution, ExecutionRow } from './execution.ts'
import { listOf } from './placeholders.ts'
import type { ExecutionState } from './states.ts'

export interface ListOptions {
  /** Default: all. */
  readonly states?: readonly ExecutionState[]
  readonly runId?: string
  /** Default 100. */
  readonly limit?: number
}

/** Evidence of one claim. */
export interface Attempt {
  readonly fence: number
  readonly owner: string
  readonly startedAt: number
  readonly endedAt: number | null
  /** `succeeded`, `failed`, `unknown` or `lease_expired`; `null` while it is under way. */
  readonly outcome: string | null
  /** What it said after it no longer counted. */
  readonly lateOutcome: string | null
  readonly lateAt: number | null
}

/** One line of the trail. */
export interface AuditLine {
  readonly at: number
  readonly event: string
  readonly runId: string | null
  readonly callId: string | null
  readonly key: string | null
  readonly tool: string | null
  readonly state: string | null
  readonly code: string | null
  readonly argumentsHash: string | null
  readonly argumentBytes: number | null
  readonly resultHash: string | null
  readonly resultBytes: number | null
  readonly owner: string | null
  readonly fence: number | null
  readonly actor: string | null
  readonly detail: string | null
}

export interface ExecutionDetails {
  readonly execution: Execution
  readonly attempts: readonly Attempt[]
  /** The calls that stand behind it. */
  readonly calls: readonly {
    readonly runId: string
    readonly turn: number
    readonly choice: number
    readonly callId: string
    readonly state: string
  }[]
  readonly trail: readonly AuditLine[]
}

/** Executions of a tenant, newest first. */
export async function listExecutions(
  store: Store,
  tenant: string,
  { states = [], runId, limit = 100 }: ListOptions = {},
): Promise<readonly Execution[]> {
  const values: (string | number)[] = [tenant, limit]
  let where = 'tenant = $1'
  if (states.length > 0) {
    where += ` and state in (${listOf(states, values.length)})`
    values.push(...states)
  }
  if (runId !== undefined) {
    values.push(runId)
    where +=
      ` and op_key in (select op_key from streamfold_call where tenant = $1 and run_id = $${values.length} ` +
      `and state = 'released')`
  }
  const rows = await store.query<ExecutionRow>(
    `select ${EXECUTION_COLUMNS} from streamfold_execution where ${where} order by created_at desc, op_key limit $2`,
    values,
  )
  return rows.map(executionOf)
}

export async function findExecution(store: Store, tenant: string, key: string): Promise<Execution | undefined> {
  const [row] = await store.query<ExecutionRow>(
    `select ${EXECUTION_COLUMNS} from streamfold_execution where tenant = $1 and op_key = $2`,
    [tenant, key],
  )
  return row === undefined ? undefined : executionOf(row)
}

/** One execution with all evidence there is. */
export async function showExecution(store: Store, tenant: string, key: string): Promise<ExecutionDetails | undefined> {
  return await store.transaction(async (tx) => {
    const place = [tenant, key]
    const [row] = await tx.query<ExecutionRow>(
      `select ${EXECUTION_COLUMNS} from streamfold_execution where tenant = $1 and op_key = $2`,
      place,
    )
    if (row === undefined) return undefined
    const attempts = await tx.query<Attempt>(
      'select fence, owner, started_at as "startedAt", ended_at as "endedAt", outcome, late_outcome as "lateOutcome", ' +
        'late_at as "lateAt" from streamfold_attempt where tenant = $1 and op_key = $2 order by fence',
      place,
    )
    const calls = await tx.query<ExecutionDetails['calls'][number]>(
      'select run_id as "runId", turn, choice_ix as choice, call_id as "callId", state from streamfold_call ' +
        'where tenant = $1 and op_key = $2 order by created_at, run_id, turn, choice_ix, ordinal',
      place,
    )
    const trail = await tx.query<AuditLine>(`${TRAIL} where tenant = $1 and op_key = $2 order by seq`, place)
    return { execution: executionOf(row), attempts, calls, trail }
  })
}

const TRAIL =
  'select at, event, run_id as "runId", call_id as "callId", op_key as "key", tool, state, code, args_hash as "argumentsHash", ' +
  'args_bytes as "argumentBytes", result_hash as "resultHash", result_bytes as "resultBytes", owner, fence, actor, detail ' +
  'from streamfold_audit'

/** The trail of one run, in the order in which it was written. */
export async function trailOf(store: Store, tenant: string, runId: string): Promise<readonly AuditLine[]> {
  return await store.query<AuditLine>(`${TRAIL} where tenant = $1 and run_id = $2 order by seq`, [tenant, runId])
}
