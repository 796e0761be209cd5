import { crashPoint } from '../crash-point.ts'
import type { Store } from '../store/store.ts'
import { writeAudit } from './audit.ts'
import { aboutOf, EXECUTION_COLUMNS, executionOf } from './execution.ts'
import type { Execution, ExecutionRow } from './execution.ts'
import { LedgerError } from './ledger-error.ts'
import { sha256Hex } from '../validate/sha256.ts'

/** What someone found out about an execution whose outcome was unknown. */
export type Settlement = {
  /** Who says so, as authenticated. */
  readonly by: string
  /** How they know, in a sentence for the audit; no content. */
  readonly evidence: string
} & (
  | { readonly state: 'succeeded'; readonly resultJson?: string }
  | { readonly state: 'failed'; readonly message: string }
)

/**
 * Settles an execution that is `unknown`.
 * @throws {LedgerError} `not_found`, `not_open`
 */
export async function settle(store: Store, tenant: string, key: string, settlement: Settlement): Promise<Execution> {
  return await store.transaction(async (tx) => {
    const result = settlement.state === 'succeeded' ? (settlement.resultJson ?? 'null') : null
    const hash = result === null ? null : sha256Hex(result)
    const failed = settlement.state === 'failed'
    const [row] = await tx.query<ExecutionRow>(
      `update streamfold_execution set state = $3, code = $4, message = $5, result = $6, result_hash = $7, ` +
        `finished_at = ${store.dialect.now} where tenant = $1 and op_key = $2 and state = 'unknown' ` +
        `returning ${EXECUTION_COLUMNS}`,
      [
        tenant,
        key,
        settlement.state,
        failed ? 'execution_failed' : null,
        failed ? settlement.message : null,
        result,
        hash,
      ],
    )
    if (row === undefined) {
      const [present] = await tx.query<{ state: string }>(
        'select state from streamfold_execution where tenant = $1 and op_key = $2',
        [tenant, key],
      )
      throw present === undefined
        ? new LedgerError('not_found', `there is no execution ${key}`)
        : new LedgerError('not_open', `execution ${key} is ${present.state}; only an unknown one can be settled`)
    }
    await writeAudit(tx, store.dialect, tenant, [
      {
        event: 'settled',
        ...aboutOf(row),
        state: settlement.state,
        fence: row.fence,
        actor: settlement.by,
        detail: settlement.evidence,
        ...(hash === null ? {} : { resultHash: hash, resultBytes: Buffer.byteLength(result ?? '') }),
      },
    ])
    await crashPoint('settle.before-commit')
    return executionOf(row)
  })
}
