import type { Effect } from '../define/tool.ts'
import { crashPoint } from '../crash-point.ts'
import type { Store } from '../store/store.ts'
import type { CallRow } from './call-row.ts'
import { EXECUTION_COLUMNS, executionOf } from './execution.ts'
import type { Execution, ExecutionRow } from './execution.ts'
import { LedgerError } from './ledger-error.ts'
import type { BatchState, CallState } from './states.ts'

/** A run as it can be rebuilt after a crash. */
export interface RunRecord {
  readonly tenant: string
  readonly runId: string
  /** What {@link startRun} was given. */
  readonly input: string | null
  readonly lastTurn: number
  readonly cancelledAt: number | null
  readonly createdAt: number
  readonly turns: readonly TurnRecord[]
}

export interface TurnRecord {
  readonly turn: number
  /** What {@link saveAnswer} was given; `null` for a turn that was abandoned, or is under way. */
  readonly answer: string | null
  readonly outcome: string | null
  readonly createdAt: number
  readonly calls: readonly CallRecord[]
}

export interface CallRecord {
  readonly choice: number
  readonly ordinal: number
  readonly callId: string
  readonly tool: string
  readonly inputJson: string
  readonly argumentsHash: string
  readonly effect: Effect | null
  readonly state: CallState
  readonly batch: BatchState
  readonly code: string | null
  readonly phase: string | null
  readonly reason: string | null
  /** What stands for the call once it was released. */
  readonly execution: Execution | undefined
}

/** Records a run and what it starts from. A run that is there already keeps what it had. */
export async function startRun(store: Store, tenant: string, runId: string, input: string): Promise<void> {
  await store.query(
    `insert into streamfold_run(tenant, run_id, last_turn, input, created_at) ` +
      `values ($1, $2, 0, $3, ${store.dialect.now}) on conflict do nothing`,
    [tenant, runId, input],
  )
}

/**
 * Takes the number of the next request to the model, before it is sent. From then on no earlier turn can release calls.
 * @throws {LedgerError} `cancelled`
 */
export async function nextTurn(store: Store, tenant: string, runId: string): Promise<number> {
  const { now } = store.dialect
  const turn = await store.transaction(async (tx) => {
    await tx.query(
      `insert into streamfold_run(tenant, run_id, last_turn, created_at) values ($1, $2, 0, ${now}) on conflict do nothing`,
      [tenant, runId],
    )
    const [row] = await tx.query<{ last_turn: number }>(
      `update streamfold_run set last_turn = last_turn + 1 where tenant = $1 and run_id = $2 and cancelled_at is null ` +
        `returning last_turn`,
      [tenant, runId],
    )
    if (row === undefined) throw new LedgerError('cancelled', `run ${runId} was cancelled; start a new one`)
    await tx.query(
      `insert into streamfold_turn(tenant, run_id, turn, created_at) values ($1, $2, $3, ${now}) on conflict do nothing`,
      [tenant, runId, row.last_turn],
    )
    return row.last_turn
  })
  await crashPoint('turn.allocated')
  return turn
}

/**
 * Keeps the model's answer of the newest turn. The first answer counts.
 * @throws {LedgerError} `stale_turn` when a newer turn has begun; `not_found`
 */
export async function saveAnswer(
  store: Store,
  tenant: string,
  runId: string,
  turn: number,
  answer: { readonly answer: string; readonly outcome: string },
): Promise<void> {
  await store.transaction(async (tx) => {
    const [run] = await tx.query<{ last_turn: number }>(
      `select last_turn from streamfold_run where tenant = $1 and run_id = $2${store.dialect.forUpdate}`,
      [tenant, runId],
    )
    if (run === undefined) throw new LedgerError('not_found', `there is no run ${runId}`)
    if (run.last_turn !== turn) {
      throw new LedgerError(
        'stale_turn',
        `turn ${turn} of run ${runId} was abandoned, turn ${run.last_turn} is the newest`,
      )
    }
    await tx.query(
      `insert into streamfold_turn(tenant, run_id, turn, created_at) values ($1, $2, $3, ${store.dialect.now}) ` +
        `on conflict do nothing`,
      [tenant, runId, turn],
    )
    await tx.query(
      `update streamfold_turn set answer = $4, outcome = $5, answered_at = ${store.dialect.now} ` +
        `where tenant = $1 and run_id = $2 and turn = $3 and answer is null`,
      [tenant, runId, turn, answer.answer, answer.outcome],
    )
  })
}

interface RunRow {
  readonly input: string | null
  readonly last_turn: number
  readonly cancelled_at: number | null
  readonly created_at: number
}

interface TurnRow {
  readonly turn: number
  readonly answer: string | null
  readonly outcome: string | null
  readonly created_at: number
}

interface PlacedCallRow extends CallRow {
  readonly turn: number
  readonly choice_ix: number
  readonly batch_state: BatchState
}

/** Everything that is known about a run, in one consistent look. */
export async function readRun(store: Store, tenant: string, runId: string): Promise<RunRecord | undefined> {
  return await store.transaction(async (tx) => {
    const place = [tenant, runId]
    const [run] = await tx.query<RunRow>(
      'select input, last_turn, cancelled_at, created_at from streamfold_run where tenant = $1 and run_id = $2',
      place,
    )
    if (run === undefined) return undefined
    const turns = await tx.query<TurnRow>(
      'select turn, answer, outcome, created_at from streamfold_turn where tenant = $1 and run_id = $2 order by turn',
      place,
    )
    const calls = await tx.query<PlacedCallRow>(
      `select c.turn, c.choice_ix, c.ordinal, c.call_id, c.tool, c.args, c.args_hash, c.op_key, c.effect, c.state, c.code, ` +
        `c.phase, c.reason, b.state as batch_state from streamfold_call c join streamfold_batch b on b.tenant = c.tenant ` +
        `and b.run_id = c.run_id and b.turn = c.turn and b.choice_ix = c.choice_ix where c.tenant = $1 and c.run_id = $2 ` +
        `order by c.turn, c.choice_ix, c.ordinal`,
      place,
    )
    const executions = await tx.query<ExecutionRow>(
      `select ${EXECUTION_COLUMNS} from streamfold_execution e where e.tenant = $1 and e.op_key in ` +
        `(select c.op_key from streamfold_call c where c.tenant = $1 and c.run_id = $2 and c.state = 'released')`,
      place,
    )
    const byKey = new Map(executions.map((row) => [row.op_key, executionOf(row)]))
    const numbers = new Set([...turns.map(({ turn }) => turn), ...calls.map(({ turn }) => turn)])
    const known = new Map(turns.map((row) => [row.turn, row]))
    return {
      tenant,
      runId,
      input: run.input,
      lastTurn: run.last_turn,
      cancelledAt: run.cancelled_at,
      createdAt: run.created_at,
      turns: [...numbers]
        .sort((left, right) => left - right)
        .map((turn) => ({
          turn,
          answer: known.get(turn)?.answer ?? null,
          outcome: known.get(turn)?.outcome ?? null,
          createdAt: known.get(turn)?.created_at ?? run.created_at,
          calls: calls.filter((call) => call.turn === turn).map((call) => callOf(call, byKey)),
        })),
    }
  })
}

function callOf(row: PlacedCallRow, executions: ReadonlyMap<string, Execution>): CallRecord {
  return {
    choice: row.choice_ix,
    ordinal: row.ordinal,
    callId: row.call_id,
    tool: row.tool,
    inputJson: row.args,
    argumentsHash: row.args_hash,
    effect: row.effect,
    state: row.state,
    batch: row.batch_state,
    code: row.code,
    phase: row.phase,
    reason: row.reason,
    execution: row.state === 'released' && row.op_key !== null ? executions.get(row.op_key) : undefined,
  }
}
