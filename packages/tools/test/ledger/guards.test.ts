import { beforeAll, describe, expect, test } from 'vitest'
import { openLedger } from '../../src/ledger/ledger.ts'
import type { Ledger } from '../../src/ledger/ledger.ts'
import { LEDGER_MIGRATIONS } from '../../src/ledger/schema.ts'
import { EXECUTION_MOVES, EXECUTION_STATES } from '../../src/ledger/states.ts'
import type { ExecutionState } from '../../src/ledger/states.ts'
import { migrate } from '../../src/store/index.ts'
import { describeEachEngine } from '../store/engines.ts'
import { LEASE_MS, newTenant, passed, request } from './requests.ts'

/** Whoever can write to the tables, with whatever program, can't make a row say what never happened. */
describeEachEngine('the tables themselves', (engine) => {
  let ledger: Ledger
  beforeAll(async () => {
    ledger = await openLedger(await engine.open())
  })

  test('tables of the first version get the stricter rules, and keep their rows', async () => {
    const store = await engine.open()
    await migrate(store, 'ledger', LEDGER_MIGRATIONS.slice(0, 1))
    await store.query("insert into streamfold_run(tenant, run_id, created_at) values ('a', 'r', 1)")
    await store.query("insert into streamfold_audit(tenant, at, event) values ('a', 1, 'released')")
    const opened = await openLedger(store)
    expect(await opened.readRun('a', 'r')).toMatchObject({ runId: 'r' })
    const cut = store.query("delete from streamfold_audit where tenant = 'a'")
    await expect(cut).rejects.toMatchObject({ code: 'illegal_move' })
    // The program that made them does not know the new ones.
    await expect(migrate(store, 'ledger', LEDGER_MIGRATIONS.slice(0, 1))).rejects.toMatchObject({
      code: 'schema_mismatch',
    })
  })

  const sql = async (text: string, values: readonly (string | number)[]): Promise<string> =>
    await ledger.store.query(text, values).then(
      () => 'done',
      (error: unknown) => (error as { code: string }).code,
    )

  /** A row that has come to `state` in a legal way. */
  async function rowIn(state: ExecutionState, effect: 'unsafe' | 'idempotent' = 'unsafe'): Promise<string> {
    const tenant = newTenant()
    const answer = await ledger.release(
      request(tenant, [passed(0, { effect })], { claimLimit: state === 'ready' ? 0 : 1 }),
    )
    const standing = answer.calls[0]!
    if (standing.kind !== 'claimed') return tenant
    if (state === 'unknown') await ledger.finish(standing.claim, { state, message: 'x' })
    if (state === 'failed') await ledger.finish(standing.claim, { state, code: 'execution_failed', message: 'x' })
    if (state === 'succeeded') await ledger.finish(standing.claim, { state, result: '1', truncated: false })
    return tenant
  }

  const SET: Readonly<Record<ExecutionState, string>> = {
    ready: "state = 'ready', fence = 0, owner = null, lease_until = null",
    executing: "state = 'executing', fence = fence + 1, owner = 'x', lease_until = 1",
    unknown: "state = 'unknown'",
    succeeded: "state = 'succeeded', finished_at = 1",
    failed: "state = 'failed', finished_at = 1",
  }

  const moves = EXECUTION_STATES.flatMap((from) => EXECUTION_STATES.map((to) => ({ from, to }))).filter(
    ({ from, to }) => from !== to,
  )

  test.each(moves)('an execution from $from to $to', async ({ from, to }) => {
    const tenant = await rowIn(from)
    const result = await sql(`update streamfold_execution set ${SET[to]} where tenant = $1`, [tenant])
    expect(result).toMatch(EXECUTION_MOVES[from].includes(to) ? /^done$/ : /^(illegal_move|constraint)$/)
  })

  test.each<[string, ExecutionState, string]>([
    ['an unsafe one claimed again', 'executing', SET.executing],
    ['the fence lowered', 'executing', 'fence = 0'],
    ['the fence raised by two', 'executing', 'fence = fence + 2'],
    ['another owner under the same fence', 'executing', "owner = 'thief'"],
    ['other arguments', 'executing', "args = '{}'"],
    ['another hash', 'ready', "args_hash = 'x'"],
    ['another effect', 'executing', "effect = 'read'"],
    ['another tool', 'ready', "tool = 'x'"],
    ['another result', 'succeeded', "result = '2'"],
    ['a result taken away', 'succeeded', 'result = null'],
    ['a settled one begun again', 'failed', SET.executing],
    ['a fence without a claim', 'ready', 'fence = 1'],
    ['no owner', 'executing', 'owner = null'],
  ])('%s', async (_, state, change) => {
    const tenant = await rowIn(state)
    expect(await sql(`update streamfold_execution set ${change} where tenant = $1`, [tenant])).toMatch(
      /illegal_move|constraint/,
    )
  })

  test('an idempotent one may be claimed again', async () => {
    const tenant = await rowIn('executing', 'idempotent')
    expect(await sql(`update streamfold_execution set ${SET.executing} where tenant = $1`, [tenant])).toBe('done')
  })

  test.each(EXECUTION_STATES)('a row that is %s deleted', async (state) => {
    const tenant = await rowIn(state)
    expect(await sql('delete from streamfold_execution where tenant = $1', [tenant])).toBe(
      state === 'ready' ? 'done' : 'illegal_move',
    )
  })

  test('a row that begins in the middle', async () => {
    const tenant = await rowIn('ready')
    const copy =
      'insert into streamfold_execution(tenant, op_key, tool, args, args_hash, effect, run_id, turn, choice_ix, call_id, ' +
      'context, state, fence, owner, lease_until, created_at) select tenant, $2, tool, args, args_hash, effect, run_id, ' +
      "turn, choice_ix, call_id, context, 'executing', 1, 'x', 1, created_at from streamfold_execution where tenant = $1"
    expect(await sql(copy, [tenant, 'other'])).toBe('illegal_move')
  })

  describe('other rows', () => {
    test('the same key twice', async () => {
      const tenant = await rowIn('ready')
      const copy =
        'insert into streamfold_execution(tenant, op_key, tool, args, args_hash, effect, run_id, turn, choice_ix, call_id, ' +
        'context, state, fence, created_at) select tenant, op_key, tool, args, args_hash, effect, run_id, turn, choice_ix, ' +
        'call_id, context, state, fence, created_at from streamfold_execution where tenant = $1'
      expect(await sql(copy, [tenant])).toBe('constraint')
    })

    test.each([
      ['a released call rejected', 'streamfold_call', "state = 'rejected'"],
      ['a call with another key', 'streamfold_call', "op_key = 'x'"],
      ['a released batch opened', 'streamfold_batch', "state = 'open'"],
      ['an attempt with another outcome', 'streamfold_attempt', "outcome = 'failed'"],
      ['a changed trail', 'streamfold_audit', "event = 'x'"],
      ['an earlier turn', 'streamfold_run', 'last_turn = 0'],
    ])('%s', async (_, table, change) => {
      const tenant = await rowIn('succeeded')
      expect(await sql(`update ${table} set ${change} where tenant = $1`, [tenant])).toBe('illegal_move')
    })

    test.each([
      ['used without an answer', 'consumed_at = 1'],
      ['for other arguments', "args_hash = 'x'"],
      ['for longer', 'expires_at = expires_at + 1'],
    ])('an approval %s', async (_, change) => {
      const tenant = newTenant()
      await ledger.release(request(tenant, [passed(0, { ask: 60_000 })]))
      expect(await sql(`update streamfold_approval set ${change} where tenant = $1`, [tenant])).toBe('illegal_move')
    })

    test('an approval answered the other way, or used twice', async () => {
      const tenant = newTenant()
      const calls = [passed(0, { ask: 60_000 })]
      await ledger.release(request(tenant, calls, { leaseMs: LEASE_MS }))
      const [approval] = await ledger.pendingApprovals(tenant)
      await ledger.decideApproval(tenant, approval!.approvalId, { decision: 'allow', by: 'ann' })
      expect(await sql("update streamfold_approval set decision = 'deny' where tenant = $1", [tenant])).toBe(
        'illegal_move',
      )
      await ledger.release(request(tenant, calls))
      expect(await sql('update streamfold_approval set consumed_at = 1 where tenant = $1', [tenant])).toBe(
        'illegal_move',
      )
    })

    test.each([
      ['for another run', "run_id = 'x'"],
      ['for another turn', 'turn = 2'],
      ['for another place', 'ordinal = 5'],
      ['that shows something else', "shown = '{}'"],
    ])('an approval %s', async (_, change) => {
      const tenant = newTenant()
      await ledger.release(request(tenant, [passed(0, { ask: 60_000 })]))
      expect(await sql(`update streamfold_approval set ${change} where tenant = $1`, [tenant])).toBe('illegal_move')
    })

    test.each([
      ['taken back', 'decision = null, decided_by = null, decided_at = null'],
      ['by somebody else', "decided_by = 'bob'"],
      ['at another time', 'decided_at = 1'],
    ])('an answer %s', async (_, change) => {
      const tenant = newTenant()
      await ledger.release(request(tenant, [passed(0, { ask: 60_000 })]))
      const [approval] = await ledger.pendingApprovals(tenant)
      await ledger.decideApproval(tenant, approval!.approvalId, { decision: 'deny', by: 'ann' })
      expect(await sql(`update streamfold_approval set ${change} where tenant = $1`, [tenant])).toBe('illegal_move')
      expect(await sql('delete from streamfold_approval where tenant = $1', [tenant])).toBe('illegal_move')
    })

    test('an approval that begins with an answer', async () => {
      const tenant = newTenant()
      await ledger.release(request(tenant, [passed(0, { ask: 60_000 })]))
      const copy =
        'insert into streamfold_approval(tenant, approval_id, run_id, turn, choice_ix, ordinal, call_id, tool, args_hash, shown, ' +
        "reason, decision, expires_at, created_at) select tenant, 'x', run_id, turn, choice_ix, 9, call_id, tool, args_hash, " +
        "shown, reason, 'allow', expires_at, created_at from streamfold_approval where tenant = $1"
      expect(await sql(copy, [tenant])).toBe('illegal_move')
    })

    test.each([
      [
        'a call that begins as released',
        'insert into streamfold_call(tenant, run_id, turn, choice_ix, ordinal, call_id, tool, args, args_hash, state, created_at) ' +
          "values ($1, 'run', 1, 0, 7, 'x', 'pay', '{}', 'h', 'released', 1)",
      ],
      [
        'a batch that begins as released',
        'insert into streamfold_batch(tenant, run_id, turn, choice_ix, expected, state, created_at) ' +
          "values ($1, 'run', 2, 0, 1, 'released', 1)",
      ],
      ['a call in another run', "update streamfold_call set run_id = 'x' where tenant = $1"],
      ['a call without its key', 'update streamfold_call set op_key = null where tenant = $1'],
      ['a call with other arguments', "update streamfold_call set args = '{}' where tenant = $1"],
      ['a call of another effect', "update streamfold_call set effect = 'read' where tenant = $1"],
      ['an execution for somebody else', "update streamfold_execution set context = '{}2' where tenant = $1"],
      ['an outcome of an attempt taken back', 'update streamfold_attempt set outcome = null where tenant = $1'],
      ['an attempt under another fence', 'update streamfold_attempt set fence = 2 where tenant = $1'],
      ['a trail that is cut', 'delete from streamfold_audit where tenant = $1'],
      [
        'a result changed by pruning',
        "update streamfold_execution set args = '', result = '2', pruned_at = 1 where tenant = $1",
      ],
    ])('%s', async (_, text) => {
      const tenant = await rowIn('succeeded')
      expect(await sql(text, [tenant])).toBe('illegal_move')
    })

    test('an execution for somebody else, before it is settled', async () => {
      const tenant = await rowIn('ready')
      expect(await sql("update streamfold_execution set context = '[]' where tenant = $1", [tenant])).toBe(
        'illegal_move',
      )
      expect(await sql("update streamfold_execution set args = '', pruned_at = 1 where tenant = $1", [tenant])).toBe(
        'illegal_move',
      )
    })

    test('a cancelled run that goes on', async () => {
      const tenant = newTenant()
      await ledger.cancelRun(tenant, 'run', 'ann')
      expect(await sql('update streamfold_run set cancelled_at = null where tenant = $1', [tenant])).toBe(
        'illegal_move',
      )
    })
  })
})
