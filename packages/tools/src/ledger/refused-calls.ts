import type { FaultCode } from 'streamfold'
import type { Store } from '../store/store.ts'
import { listOf } from './placeholders.ts'
import { sqlWords } from './states.ts'
import type { CallState } from './states.ts'

/** States in which a call was not run and will not be: it has no execution. */
export type RefusedState = Extract<CallState, 'denied' | 'rejected' | 'cancelled'>
const REFUSED_STATES: readonly RefusedState[] = ['denied', 'rejected', 'cancelled']

export interface RefusedOptions {
  /** Default: all. */
  readonly states?: readonly RefusedState[]
  readonly runId?: string
  /** Default 100. */
  readonly limit?: number
}

/** A call that was asked for and not run, and why. */
export interface RefusedCall {
  readonly runId: string
  readonly turn: number
  readonly choice: number
  readonly ordinal: number
  readonly callId: string
  readonly tool: string
  readonly argumentsHash: string
  readonly state: RefusedState
  readonly code: FaultCode | null
  /** In words, as the model is told. */
  readonly reason: string | null
  /** Who declined it, or cancelled its run; `null` where no person did. */
  readonly by: string | null
  /** When they did. Database time, milliseconds since 1970. */
  readonly decidedAt: number | null
  /** What they said of it. */
  readonly note: string | null
  /** Revision of the policy that judged it. */
  readonly policyRevision: string | null
  readonly createdAt: number
}

/** Answered, or too late to be; its batch has not been handed over again, so the call itself does not know yet. */
const answeredInVain = (now: string): string =>
  `c.state = 'needs_approval' and (a.decision = 'deny' or a.expires_at <= ${now})`

/** Calls of a tenant that were not run and will not be, newest first. */
export async function refusedCalls(
  store: Store,
  tenant: string,
  { states = REFUSED_STATES, runId, limit = 100 }: RefusedOptions = {},
): Promise<readonly RefusedCall[]> {
  if (states.length === 0) return []
  const values: (string | number)[] = [tenant, limit, ...states]
  let where = `c.state in (${listOf(states, 2)})`
  if (states.includes('denied')) where = `(${where} or ${answeredInVain(store.dialect.now)})`
  if (runId !== undefined) {
    values.push(runId)
    where += ` and c.run_id = $${values.length}`
  }
  return await store.query<RefusedCall>(
    'select c.run_id as "runId", c.turn, c.choice_ix as choice, c.ordinal, c.call_id as "callId", c.tool, ' +
      'c.args_hash as "argumentsHash", ' +
      `case when c.state in ${sqlWords(REFUSED_STATES)} then c.state else 'denied' end as state, ` +
      `coalesce(c.code, case when c.state = 'needs_approval' then 'approval_denied' end) as code, ` +
      `coalesce(c.reason, case when a.decision = 'deny' then 'a person declined this call' ` +
      `when c.state = 'needs_approval' then 'nobody approved this call in time' end) as reason, ` +
      `case when a.decision = 'deny' then a.decided_by when c.state = 'cancelled' then r.cancelled_by end as "by", ` +
      `case when a.decision = 'deny' then a.decided_at when c.state = 'cancelled' then r.cancelled_at end as "decidedAt", ` +
      `case when a.decision = 'deny' then a.note end as note, ` +
      'c.policy_rev as "policyRevision", c.created_at as "createdAt" ' +
      'from streamfold_call c left join streamfold_run r on r.tenant = c.tenant and r.run_id = c.run_id ' +
      'left join streamfold_approval a on a.tenant = c.tenant and a.run_id = c.run_id and a.turn = c.turn ' +
      'and a.choice_ix = c.choice_ix and a.ordinal = c.ordinal ' +
      `where c.tenant = $1 and ${where} ` +
      'order by c.created_at desc, c.run_id, c.turn, c.choice_ix, c.ordinal limit $2',
    values,
  )
}
