import { crashPoint } from '../crash-point.ts'
import type { Dialect } from '../store/dialect.ts'
import type { Queries, Store } from '../store/store.ts'
import { writeAudit } from './audit.ts'
import type { AuditEntry } from './audit.ts'
import type { Execution } from './execution.ts'
import { LedgerError } from './ledger-error.ts'
import { listOf } from './placeholders.ts'
import type { CallState } from './states.ts'

export interface ApprovalStanding {
  readonly approvalId: string
  /** Database time, milliseconds since 1970. No answer until then is a no. */
  readonly expiresAt: number
}

/** What a person is asked, and what they said. */
export interface Approval extends ApprovalStanding {
  readonly tenant: string
  readonly runId: string
  readonly turn: number
  readonly choice: number
  readonly ordinal: number
  readonly callId: string
  readonly tool: string
  readonly argumentsHash: string
  /** JSON of what may be shown of the input. */
  readonly shownJson: string
  readonly reason: string
  readonly decision: 'allow' | 'deny' | null
  readonly decidedBy: string | null
  readonly decidedAt: number | null
  readonly consumedAt: number | null
  readonly createdAt: number
}

export interface ApprovalDecision {
  readonly decision: 'allow' | 'deny'
  /** Who decided, as authenticated. */
  readonly by: string
  readonly note?: string
}

interface ApprovalRow {
  readonly tenant: string
  readonly approval_id: string
  readonly run_id: string
  readonly turn: number
  readonly choice_ix: number
  readonly ordinal: number
  readonly call_id: string
  readonly tool: string
  readonly args_hash: string
  readonly shown: string
  readonly reason: string
  readonly decision: 'allow' | 'deny' | null
  readonly decided_by: string | null
  readonly decided_at: number | null
  readonly expires_at: number
  readonly consumed_at: number | null
  readonly created_at: number
}

function approvalOf(row: ApprovalRow): Approval {
  return {
    tenant: row.tenant,
    approvalId: row.approval_id,
    runId: row.run_id,
    turn: row.turn,
    choice: row.choice_ix,
    ordinal: row.ordinal,
    callId: row.call_id,
    tool: row.tool,
    argumentsHash: row.args_hash,
    shownJson: row.shown,
    reason: row.reason,
    decision: row.decision,
    decidedBy: row.decided_by,
    decidedAt: row.decided_at,
    expiresAt: row.expires_at,
    consumedAt: row.consumed_at,
    createdAt: row.created_at,
  }
}

/**
 * Applies what was decided to the calls that wait for it. A yes is used up in the same transaction that makes the call
 * executable, so that a crash loses both or neither.
 * @returns how many calls still wait
 */
export async function settleApprovals(
  tx: Queries,
  dialect: Dialect,
  batch: { readonly tenant: string; readonly runId: string; readonly turn: number; readonly choice: number },
  ordinals: readonly number[],
  audit: AuditEntry[],
): Promise<number> {
  if (ordinals.length === 0) return 0
  const { tenant, runId, turn, choice } = batch
  const place = [tenant, runId, turn, choice]
  const rows = await tx.query<ApprovalRow & { expired: number; same: number }>(
    `select a.*, case when a.expires_at <= ${dialect.now} then 1 else 0 end as expired, ` +
      `case when c.args_hash = a.args_hash and c.call_id = a.call_id and c.tool = a.tool then 1 else 0 end as same ` +
      `from streamfold_approval a join streamfold_call c on c.tenant = a.tenant and c.run_id = a.run_id ` +
      `and c.turn = a.turn and c.choice_ix = a.choice_ix and c.ordinal = a.ordinal ` +
      `where a.tenant = $1 and a.run_id = $2 and a.turn = $3 and a.choice_ix = $4 and a.ordinal in (${listOf(ordinals, 4)})`,
    [...place, ...ordinals],
  )
  let waiting = ordinals.length - rows.length
  for (const row of rows) {
    const move = async (state: CallState, reason: string | null): Promise<void> => {
      await tx.query(
        `update streamfold_call set state = $6, code = $7, phase = $8, reason = $9 where tenant = $1 and run_id = $2 ` +
          `and turn = $3 and choice_ix = $4 and ordinal = $5`,
        [...place, row.ordinal, state, ...(reason === null ? [null, null] : ['approval_denied', 'authorize']), reason],
      )
    }
    const about = { runId, turn, choice, callId: row.call_id, tool: row.tool, argumentsHash: row.args_hash }
    if (row.decision === 'deny') {
      await move('denied', 'a person declined this call')
      audit.push({ event: 'refused', ...about, code: 'approval_denied' })
    } else if (row.expired === 1 || row.same === 0) {
      await move('denied', row.same === 0 ? 'the approval is for another call' : 'nobody approved this call in time')
      audit.push({ event: 'refused', ...about, code: 'approval_denied' })
    } else if (row.decision === 'allow') {
      await tx.query(
        `update streamfold_approval set consumed_at = ${dialect.now} where tenant = $1 and approval_id = $2`,
        [tenant, row.approval_id],
      )
      await move('authorized', null)
      await crashPoint('approval.consumed')
      audit.push({ event: 'approval_used', ...about, ...(row.decided_by === null ? {} : { actor: row.decided_by }) })
    } else {
      waiting += 1
    }
  }
  return waiting
}

/**
 * Records a person's answer. The first one counts.
 * @throws {LedgerError} `not_found`, `already_decided`, `expired`
 */
export async function decideApproval(
  store: Store,
  tenant: string,
  approvalId: string,
  { decision, by, note }: ApprovalDecision,
): Promise<Approval> {
  const { now } = store.dialect
  const approval = await store.transaction(async (tx) => {
    const [row] = await tx.query<ApprovalRow>(
      `update streamfold_approval set decision = $3, decided_by = $4, decided_at = ${now}, note = $5 ` +
        `where tenant = $1 and approval_id = $2 and decision is null and expires_at > ${now} returning *`,
      [tenant, approvalId, decision, by, note ?? null],
    )
    if (row === undefined) throw await whyNot(tx, tenant, approvalId)
    await writeAudit(tx, store.dialect, tenant, [
      {
        event: 'approval_decided',
        runId: row.run_id,
        turn: row.turn,
        choice: row.choice_ix,
        callId: row.call_id,
        tool: row.tool,
        argumentsHash: row.args_hash,
        state: decision,
        actor: by,
      },
    ])
    return approvalOf(row)
  })
  await crashPoint('approval.decided')
  return approval
}

async function whyNot(tx: Queries, tenant: string, approvalId: string): Promise<LedgerError> {
  const [row] = await tx.query<ApprovalRow>(
    'select * from streamfold_approval where tenant = $1 and approval_id = $2',
    [tenant, approvalId],
  )
  if (row === undefined) return new LedgerError('not_found', `there is no approval ${approvalId}`)
  if (row.decision !== null) {
    return new LedgerError('already_decided', `approval ${approvalId} was answered before (${row.decision})`)
  }
  return new LedgerError('expired', `approval ${approvalId} has expired; the call was not run`)
}

export async function findApproval(store: Store, tenant: string, approvalId: string): Promise<Approval | undefined> {
  const [row] = await store.query<ApprovalRow>(
    'select * from streamfold_approval where tenant = $1 and approval_id = $2',
    [tenant, approvalId],
  )
  return row === undefined ? undefined : approvalOf(row)
}

/** Somebody agreed to a call behind this execution, with these arguments, and that yes was used for it. */
export async function isApproved(
  store: Store,
  { tenant, key, tool, argumentsHash }: Pick<Execution, 'tenant' | 'key' | 'tool' | 'argumentsHash'>,
): Promise<boolean> {
  const rows = await store.query(
    `select 1 as yes from streamfold_call c join streamfold_approval a on a.tenant = c.tenant and a.run_id = c.run_id ` +
      `and a.turn = c.turn and a.choice_ix = c.choice_ix and a.ordinal = c.ordinal where c.tenant = $1 and c.op_key = $2 ` +
      `and a.tool = $3 and a.args_hash = $4 and a.decision = 'allow' and a.consumed_at is not null limit 1`,
    [tenant, key, tool, argumentsHash],
  )
  return rows.length > 0
}

/** Approvals that can still be answered, oldest first. */
export async function pendingApprovals(store: Store, tenant: string, limit: number): Promise<readonly Approval[]> {
  const rows = await store.query<ApprovalRow>(
    `select * from streamfold_approval where tenant = $1 and decision is null and expires_at > ${store.dialect.now} ` +
      `order by created_at, approval_id limit $2`,
    [tenant, limit],
  )
  return rows.map(approvalOf)
}
