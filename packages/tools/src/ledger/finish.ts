import type { FaultCode } from 'streamfold'
import { crashPoint } from '../crash-point.ts'
import type { Queries, Store } from '../store/store.ts'
import { StoreError } from '../store/store-error.ts'
import { writeAudit } from './audit.ts'
import { endAttempts } from './claim.ts'
import type { Claim } from './claim.ts'
import { aboutOf, EXECUTION_COLUMNS, executionOf } from './execution.ts'
import type { Execution, ExecutionRow } from './execution.ts'
import { sha256Hex } from '../validate/sha256.ts'

/** How an execution came out. */
export type ExecutionOutcome =
  | { readonly state: 'succeeded'; readonly result: string; readonly truncated: boolean }
  | { readonly state: 'failed'; readonly code: FaultCode; readonly message: string }
  /** It may have had its effect. */
  | { readonly state: 'unknown'; readonly message: string }

export type FinishAnswer =
  | { readonly kind: 'recorded'; readonly execution: Execution }
  /** Somebody else moved the row first: this outcome is kept as evidence, and the row's own counts. */
  | { readonly kind: 'stale'; readonly execution: Execution | undefined }

/**
 * Settles what was claimed, if the claim is still the newest one; also when it was given up as `unknown` in the meantime.
 * Saying the same twice is the same as saying it once.
 * @throws {StoreError}
 */
export async function finish(store: Store, claim: Claim, outcome: ExecutionOutcome): Promise<FinishAnswer> {
  const record = async (): Promise<FinishAnswer> =>
    await store.transaction(async (tx) => {
      const answer = await finishIn(tx, store, claim, outcome)
      await crashPoint('finish.before-commit')
      return answer
    })
  let answer: FinishAnswer
  try {
    answer = await record()
  } catch (error) {
    if (!(error instanceof StoreError) || error.code !== 'commit_unknown') throw error
    answer = await record()
  }
  await crashPoint('finish.after-commit')
  return answer
}

async function finishIn(tx: Queries, store: Store, claim: Claim, outcome: ExecutionOutcome): Promise<FinishAnswer> {
  const { tenant, key } = claim.execution
  const { now } = store.dialect
  const result = outcome.state === 'succeeded' ? outcome.result : null
  const hash = result === null ? null : sha256Hex(result)
  const message = outcome.state === 'succeeded' ? null : outcome.message
  const code = outcome.state === 'succeeded' ? null : outcome.state === 'failed' ? outcome.code : 'outcome_unknown'
  const legal = outcome.state === 'unknown' ? "('executing')" : "('executing', 'unknown')"
  const [row] = await tx.query<ExecutionRow>(
    `update streamfold_execution set state = $4, code = $5, message = $6, result = $7, result_hash = $8, truncated = $9, ` +
      `lease_until = null, finished_at = ${outcome.state === 'unknown' ? 'null' : now} ` +
      `where tenant = $1 and op_key = $2 and fence = $3 and state in ${legal} returning ${EXECUTION_COLUMNS}`,
    [
      tenant,
      key,
      claim.fence,
      outcome.state,
      code,
      message,
      result,
      hash,
      outcome.state === 'succeeded' && outcome.truncated ? 1 : 0,
    ],
  )
  if (row === undefined) return await cameTooLate(tx, store, claim, outcome.state, hash)
  await endAttempts(tx, store, tenant, [key], outcome.state)
  await writeAudit(tx, store.dialect, tenant, [
    {
      event: outcome.state,
      ...aboutOf(row),
      state: outcome.state,
      owner: claim.owner,
      fence: claim.fence,
      ...(code === null ? {} : { code }),
      ...(hash === null ? {} : { resultHash: hash, resultBytes: Buffer.byteLength(result ?? '') }),
    },
  ])
  return { kind: 'recorded', execution: executionOf(row) }
}

async function cameTooLate(
  tx: Queries,
  store: Store,
  claim: Claim,
  outcome: string,
  hash: string | null,
): Promise<FinishAnswer> {
  const { tenant, key } = claim.execution
  const [row] = await tx.query<ExecutionRow & { result_hash: string | null }>(
    `select ${EXECUTION_COLUMNS}, result_hash from streamfold_execution where tenant = $1 and op_key = $2`,
    [tenant, key],
  )
  if (row === undefined) return { kind: 'stale', execution: undefined }
  if (row.fence === claim.fence && row.state === outcome && row.result_hash === hash) {
    return { kind: 'recorded', execution: executionOf(row) }
  }
  await tx.query(
    `update streamfold_attempt set late_at = ${store.dialect.now}, late_outcome = $4, late_hash = $5 ` +
      `where tenant = $1 and op_key = $2 and fence = $3 and late_at is null`,
    [tenant, key, claim.fence, outcome, hash],
  )
  await writeAudit(tx, store.dialect, tenant, [
    {
      event: 'stale',
      ...aboutOf(row),
      state: outcome,
      owner: claim.owner,
      fence: claim.fence,
      ...(hash === null ? {} : { resultHash: hash }),
      detail: `the row was ${row.state} under fence ${row.fence}`,
    },
  ])
  return { kind: 'stale', execution: executionOf(row) }
}
