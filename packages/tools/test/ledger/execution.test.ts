import { beforeAll, describe, expect, test } from 'vitest'
import type { Effect } from '../../src/define/tool.ts'
import type { Claim } from '../../src/ledger/claim.ts'
import { openLedger } from '../../src/ledger/ledger.ts'
import type { Ledger } from '../../src/ledger/ledger.ts'
import { SHORTEST_RETENTION_MS } from '../../src/ledger/prune.ts'
import { describeEachEngine } from '../store/engines.ts'
import { LEASE_MS, newTenant, passed, refusedCall, request } from './requests.ts'

const rejection = async (promise: Promise<unknown>): Promise<unknown> =>
  await promise.then(
    () => 'no error',
    (error: unknown) => error,
  )

const brief = (claims: readonly Claim[]): readonly string[] =>
  claims.map(({ execution }) => `${execution.turn}/${execution.callId}`).toSorted()

const succeeded = (result: string) => ({ state: 'succeeded', result, truncated: false }) as const

describeEachEngine('executions', (engine) => {
  let ledger: Ledger
  let advance: (ms: number) => Promise<void>
  beforeAll(async () => {
    const opened = await engine.openWithClock()
    advance = (ms) => opened.advance(ms)
    ledger = await openLedger(opened.store)
  })

  async function claimed(tenant: string, effect: Effect = 'unsafe', owner = 'worker-a'): Promise<Claim> {
    const answer = await ledger.release(request(tenant, [passed(0, { effect })], { claimLimit: 1, owner }))
    const standing = answer.calls[0]!
    if (standing.kind !== 'claimed') throw new Error(`not claimed but ${standing.kind}`)
    return standing.claim
  }

  const stateOf = async (claim: Claim): Promise<string> =>
    (await ledger.find(claim.execution.tenant, claim.execution.key))!.state

  const reclaim = (tenant: string, owner = 'worker-b', maxAttempts = 5): Promise<readonly Claim[]> =>
    ledger.reclaimExpired({ tenant, owner, leaseMs: LEASE_MS, limit: 10, tools: ['pay'], maxAttempts })

  const sweep = async (tenant: string, maxAttempts = 5): Promise<readonly string[]> =>
    (await ledger.sweepExpired({ tenant, limit: 10, maxAttempts })).map(({ state }) => state)

  describe('claims', () => {
    test('oldest first, no more than asked for, only the named tools, never one twice', async () => {
      const tenant = newTenant()
      await ledger.release(request(tenant, [passed(0), passed(1, { tool: 'mail' }), passed(2)]))
      await advance(1)
      await ledger.release(request(tenant, [passed(0), passed(1)], { turn: 2 }))
      const take = (limit: number, tools: readonly string[]): Promise<readonly Claim[]> =>
        ledger.claimReady({ tenant, owner: 'w', leaseMs: LEASE_MS, limit, tools })
      expect(brief(await take(2, ['pay']))).toEqual(['1/c0', '1/c2'])
      expect(brief(await take(9, ['pay']))).toEqual(['2/c0', '2/c1'])
      expect(brief(await take(9, ['pay']))).toEqual([])
      expect(brief(await take(9, ['mail']))).toEqual(['1/c1'])
      expect(await take(9, [])).toEqual([])
      expect(await take(0, ['pay'])).toEqual([])
    })

    test('of many workers at once each row goes to one', async () => {
      const tenant = newTenant()
      const calls = Array.from({ length: 60 }, (_, ordinal) => passed(ordinal))
      await ledger.release(request(tenant, calls))
      const taken = await Promise.all(
        Array.from({ length: 12 }, (_, at) =>
          ledger.claimReady({ tenant, owner: `w${at}`, leaseMs: LEASE_MS, limit: 10, tools: ['pay'] }),
        ),
      )
      let claims = taken.flat()
      // A worker passes over rows that another one is taking, so one more round may be needed.
      claims = [
        ...claims,
        ...(await ledger.claimReady({ tenant, owner: 'z', leaseMs: LEASE_MS, limit: 60, tools: ['pay'] })),
      ]
      expect(claims.length).toBe(60)
      expect(new Set(claims.map(({ execution }) => execution.key)).size).toBe(60)
      expect(new Set(claims.map(({ fence }) => fence))).toEqual(new Set([1]))
    })

    test('one by name, once', async () => {
      const tenant = newTenant()
      await ledger.release(request(tenant, [passed(0)]))
      const [row] = await ledger.list(tenant)
      const holder = { tenant, owner: 'w', leaseMs: LEASE_MS }
      expect((await ledger.claimOne(holder, row!.key))!.fence).toBe(1)
      expect(await ledger.claimOne(holder, row!.key)).toBeUndefined()
      expect(await ledger.claimOne(holder, 'none')).toBeUndefined()
    })

    test('a claim serves once', async () => {
      const claim = await claimed(newTenant())
      claim.use()
      expect(() => claim.use()).toThrow('was used before')
    })
  })

  describe('finish', () => {
    test.each([
      ['succeeded', succeeded('{"ok":true}'), { state: 'succeeded', result: '{"ok":true}', code: null }],
      [
        'failed',
        { state: 'failed', code: 'execution_failed', message: 'no' } as const,
        { state: 'failed', code: 'execution_failed', message: 'no', result: null },
      ],
      [
        'unknown',
        { state: 'unknown', message: 'gone' } as const,
        { state: 'unknown', code: 'outcome_unknown', finishedAt: null },
      ],
    ])('%s', async (_, outcome, row) => {
      const claim = await claimed(newTenant())
      const answer = await ledger.finish(claim, outcome)
      expect(answer).toMatchObject({ kind: 'recorded', execution: { ...row, leaseUntil: null, fence: 1 } })
      const details = await ledger.show(claim.execution.tenant, claim.execution.key)
      expect(details!.attempts).toMatchObject([{ fence: 1, owner: 'worker-a', outcome: outcome.state }])
    })

    test('the same outcome twice is one; another one is kept as evidence and does not count', async () => {
      const claim = await claimed(newTenant())
      await ledger.finish(claim, succeeded('1'))
      expect((await ledger.finish(claim, succeeded('1'))).kind).toBe('recorded')
      const other = await ledger.finish(claim, { state: 'failed', code: 'execution_failed', message: 'no' })
      expect(other).toMatchObject({ kind: 'stale', execution: { state: 'succeeded', result: '1' } })
      const details = await ledger.show(claim.execution.tenant, claim.execution.key)
      expect(details!.attempts).toMatchObject([{ outcome: 'succeeded', lateOutcome: 'failed' }])
      expect(details!.trail.map(({ event }) => event)).toEqual(['released', 'claimed', 'succeeded', 'stale'])
    })

    test('under an old fence it is evidence only', async () => {
      const tenant = newTenant()
      const old = await claimed(tenant, 'idempotent')
      await advance(LEASE_MS + 1)
      const [now] = await reclaim(tenant)
      expect(await ledger.finish(old, succeeded('"old"'))).toMatchObject({
        kind: 'stale',
        execution: { state: 'executing' },
      })
      expect((await ledger.finish(now!, succeeded('"new"'))).kind).toBe('recorded')
      expect((await ledger.find(tenant, old.execution.key))!.result).toBe('"new"')
      const { attempts } = (await ledger.show(tenant, old.execution.key))!
      expect(attempts).toMatchObject([
        { fence: 1, outcome: 'lease_expired', lateOutcome: 'succeeded' },
        { fence: 2, outcome: 'succeeded', lateOutcome: null },
      ])
    })

    test('a late report settles what was given up', async () => {
      const tenant = newTenant()
      const claim = await claimed(tenant)
      await advance(LEASE_MS + 1)
      expect(await sweep(tenant)).toEqual(['unknown'])
      expect(await ledger.finish(claim, succeeded('7'))).toMatchObject({
        kind: 'recorded',
        execution: { state: 'succeeded' },
      })
    })

    test('what a person settled stays, whatever comes late', async () => {
      const tenant = newTenant()
      const claim = await claimed(tenant)
      await advance(LEASE_MS + 1)
      await sweep(tenant)
      await ledger.settle(tenant, claim.execution.key, {
        state: 'failed',
        message: 'not there',
        by: 'ann',
        evidence: 'looked',
      })
      expect(await ledger.finish(claim, succeeded('7'))).toMatchObject({
        kind: 'stale',
        execution: { state: 'failed' },
      })
    })
  })

  describe('leases', () => {
    // By effect: what the sweep gives up, what another worker takes over.
    test.each([
      ['read', [], 1],
      ['idempotent', [], 1],
      ['queryable', [], 1],
      ['unsafe', ['unknown'], 0],
    ] as const)('%s, when its lease has ended', async (effect, given, taken) => {
      const tenant = newTenant()
      const claim = await claimed(tenant, effect)
      expect(await sweep(tenant)).toEqual([])
      expect(await reclaim(tenant)).toEqual([])
      await advance(LEASE_MS + 1)
      expect(await sweep(tenant)).toEqual(given)
      const claims = await reclaim(tenant)
      expect(claims.map(({ fence, owner, again }) => ({ fence, owner, again }))).toEqual(
        taken === 1 ? [{ fence: 2, owner: 'worker-b', again: true }] : [],
      )
      expect(await stateOf(claim)).toBe(effect === 'unsafe' ? 'unknown' : 'executing')
    })

    test('a heartbeat keeps it', async () => {
      const tenant = newTenant()
      const claim = await claimed(tenant)
      for (let beat = 0; beat < 3; beat += 1) {
        await advance(LEASE_MS - 1)
        expect(await ledger.heartbeat([claim], LEASE_MS)).toEqual({ lost: [], unwanted: [] })
      }
      expect(await sweep(tenant)).toEqual([])
    })

    test('a heartbeat that is too late learns that the claim is lost', async () => {
      const [unsafe, repeatable] = [newTenant(), newTenant()]
      const one = await claimed(unsafe)
      const two = await claimed(repeatable, 'idempotent')
      await advance(LEASE_MS + 1)
      await sweep(unsafe)
      expect(await ledger.heartbeat([one], LEASE_MS)).toEqual({ lost: [one], unwanted: [] })
      // Late, and nobody took it: it is held again.
      expect(await ledger.heartbeat([two], LEASE_MS)).toEqual({ lost: [], unwanted: [] })
      await advance(LEASE_MS + 1)
      await reclaim(repeatable, 'worker-a')
      expect(await ledger.heartbeat([two], LEASE_MS)).toEqual({ lost: [two], unwanted: [] })
      expect(await ledger.heartbeat([], LEASE_MS)).toEqual({ lost: [], unwanted: [] })
    })

    test('a heartbeat brings the news of a cancelled run', async () => {
      const tenant = newTenant()
      const claim = await claimed(tenant)
      await ledger.cancelRun(tenant, 'run', 'ann')
      expect(await ledger.heartbeat([claim], LEASE_MS)).toEqual({ lost: [], unwanted: [claim] })
    })

    test('after so many claims it is given up', async () => {
      const tenant = newTenant()
      const first = await claimed(tenant, 'idempotent')
      for (const fence of [2, 3]) {
        await advance(LEASE_MS + 1)
        expect((await reclaim(tenant, 'w', 3)).map((claim) => claim.fence)).toEqual([fence])
      }
      await advance(LEASE_MS + 1)
      expect(await reclaim(tenant, 'w', 3)).toEqual([])
      expect(await sweep(tenant, 3)).toEqual(['unknown'])
      expect(await stateOf(first)).toBe('unknown')
    })

    test.each(['unsafe', 'idempotent'] as const)(
      'two sweepers, a reclaim and a late outcome at once, %s: one of them counts',
      async (effect) => {
        const tenant = newTenant()
        const claim = await claimed(tenant, effect)
        await advance(LEASE_MS + 1)
        const [left, right, again, late] = await Promise.all([
          sweep(tenant),
          sweep(tenant),
          reclaim(tenant),
          ledger.finish(claim, succeeded('1')),
        ])
        expect(left.length + right.length).toBeLessThanOrEqual(1)
        // An unsafe one is never taken over, and its late outcome counts even after a sweep.
        const recorded = `recorded, ${again.length} reclaimed, succeeded`
        const stale = `stale, ${again.length} reclaimed, executing`
        const legal = effect === 'unsafe' || again.length === 0 ? recorded : stale
        expect(`${late.kind}, ${again.length} reclaimed, ${await stateOf(claim)}`).toBe(legal)
        expect(again.length).toBeLessThanOrEqual(effect === 'unsafe' ? 0 : 1)
      },
    )

    test('when the clock of the database steps back, a lease lasts longer, and nothing runs twice', async () => {
      const tenant = newTenant()
      await claimed(tenant, 'idempotent')
      await advance(-3_600_000)
      expect(await reclaim(tenant)).toEqual([])
      await advance(3_600_000 + LEASE_MS + 1)
      expect((await reclaim(tenant)).length).toBe(1)
    })

    test('postponed, it is looked at again when its time has come', async () => {
      const tenant = newTenant()
      const claim = await claimed(tenant, 'queryable')
      await ledger.postpone(claim, 5_000)
      await advance(4_999)
      expect(await reclaim(tenant)).toEqual([])
      await advance(2)
      expect((await reclaim(tenant)).length).toBe(1)
    })
  })

  describe('cancel', () => {
    test('says of each call what had come of it, and nothing more begins', async () => {
      const tenant = newTenant()
      const first = await ledger.release(request(tenant, [passed(0), passed(1), passed(2)], { claimLimit: 2 }))
      const standing = first.calls[1]!
      if (standing.kind !== 'claimed') throw new Error('not claimed')
      await ledger.finish(standing.claim, succeeded('1'))
      await ledger.release(request(tenant, [passed(0, { ask: 1_000 })], { choice: 1 }))
      const answer = await ledger.cancelRun(tenant, 'run', 'ann')
      expect(answer.calls.map(({ choice, callId, result }) => `${choice} ${callId} ${result}`)).toEqual([
        '0 c0 already_executing',
        '0 c1 already_done',
        '0 c2 cancelled',
        '1 c0 cancelled',
      ])
      expect(await ledger.claimReady({ tenant, owner: 'w', leaseMs: 1, limit: 9, tools: ['pay'] })).toEqual([])
      const late = await ledger.release(request(tenant, [passed(0)], { turn: 2, claimLimit: 1 }))
      expect(late.calls).toMatchObject([{ kind: 'refused', code: 'cancelled' }])
      expect(await rejection(ledger.nextTurn(tenant, 'run'))).toMatchObject({ name: 'LedgerError', code: 'cancelled' })
      const again = await ledger.cancelRun(tenant, 'run', 'bob')
      expect(again.calls.map(({ result }) => result)).toEqual(['already_executing', 'already_done'])
    })

    test('an execution that was begun still gets its outcome', async () => {
      const tenant = newTenant()
      const claim = await claimed(tenant)
      await ledger.cancelRun(tenant, 'run', 'ann')
      expect((await ledger.finish(claim, succeeded('1'))).kind).toBe('recorded')
    })

    test('frees the key of an operation that nobody began', async () => {
      const tenant = newTenant()
      const calls = [passed(0, { operationId: '"order"' })]
      await ledger.release(request(tenant, calls))
      await ledger.cancelRun(tenant, 'run', 'ann')
      expect(await ledger.list(tenant)).toEqual([])
      const next = await ledger.release(request(tenant, calls, { runId: 'next', claimLimit: 1 }))
      expect(next.calls[0]!.kind).toBe('claimed')
    })

    test('leaves to another run what that one wants too', async () => {
      const tenant = newTenant()
      const calls = [passed(0, { operationId: '"order"' })]
      await ledger.release(request(tenant, calls))
      await ledger.release(request(tenant, calls, { runId: 'other' }))
      expect((await ledger.cancelRun(tenant, 'run', 'ann')).calls.map(({ result }) => result)).toEqual(['cancelled'])
      const claims = await ledger.claimReady({ tenant, owner: 'w', leaseMs: LEASE_MS, limit: 9, tools: ['pay'] })
      expect(claims.length).toBe(1)
    })

    test('at the same moment as a release: none or all of it', async () => {
      for (let round = 0; round < 10; round += 1) {
        const tenant = newTenant()
        const [answer, cancelled] = await Promise.all([
          ledger.release(request(tenant, [passed(0), passed(1)], { claimLimit: 1 })),
          ledger.cancelRun(tenant, 'run', 'ann'),
        ])
        const left = await ledger.claimReady({ tenant, owner: 'w', leaseMs: LEASE_MS, limit: 9, tools: ['pay'] })
        expect(left).toEqual([])
        const kinds = answer.calls.map(({ kind }) => kind).join(', ')
        const results = cancelled.calls.map(({ result }) => result).join(', ')
        expect(['claimed, execution: already_executing, cancelled', 'refused, refused: ']).toContain(
          `${kinds}: ${results}`,
        )
      }
    })

    test('a run that nobody has heard of is cancelled before it begins', async () => {
      const tenant = newTenant()
      expect(await ledger.cancelRun(tenant, 'run', 'ann')).toEqual({ calls: [] })
      const answer = await ledger.release(request(tenant, [passed(0)], { claimLimit: 1 }))
      expect(answer.calls).toMatchObject([{ kind: 'refused', code: 'cancelled' }])
    })
  })

  describe('approvals', () => {
    const ask = passed(0, { ask: 60_000 })

    async function asked(tenant: string, calls = [ask, passed(1)]): Promise<string> {
      const answer = await ledger.release(request(tenant, calls, { claimLimit: 2 }))
      expect(answer.batch).toBe('open')
      const standing = answer.calls[0]!
      if (standing.kind !== 'needs_approval') throw new Error(`not asked but ${standing.kind}`)
      return standing.approvalId
    }

    const again = async (tenant: string, calls = [ask, passed(1)]): Promise<readonly string[]> =>
      (await ledger.release(request(tenant, calls, { claimLimit: 2 }))).calls.map((standing) =>
        standing.kind === 'refused' ? standing.code : standing.kind,
      )

    test('nothing of the batch runs until it is given, and then it is used up', async () => {
      const tenant = newTenant()
      const id = await asked(tenant)
      expect(await again(tenant)).toEqual(['needs_approval', 'waits'])
      expect(await ledger.list(tenant)).toEqual([])
      expect(await ledger.pendingApprovals(tenant)).toMatchObject([
        {
          approvalId: id,
          tool: 'pay',
          callId: 'c0',
          argumentsHash: ask.argumentsHash,
          shownJson: '{"n":0}',
          decision: null,
        },
      ])
      await ledger.decideApproval(tenant, id, { decision: 'allow', by: 'ann' })
      expect(await ledger.pendingApprovals(tenant)).toEqual([])
      expect(await again(tenant)).toEqual(['claimed', 'claimed'])
      expect((await ledger.findApproval(tenant, id))!.consumedAt).not.toBeNull()
      expect(await again(tenant)).toEqual(['execution', 'execution'])
    })

    test.each([
      ['hold-all', 'batch_held'],
      ['run-the-rest', 'waits'],
    ] as const)('beside a call that was refused, under %s', async (policy, expected) => {
      const answer = await ledger.release(request(newTenant(), [ask, passed(1), refusedCall(2)], { policy }))
      expect(answer.batch).toBe('open')
      expect(answer.calls.map((call) => (call.kind === 'refused' ? call.code : call.kind))).toEqual([
        'needs_approval',
        expected,
        'schema_violation',
      ])
    })

    test('a yes for a turn that was abandoned in the meantime runs nothing', async () => {
      const tenant = newTenant()
      const id = await asked(tenant)
      await ledger.nextTurn(tenant, 'run')
      await ledger.decideApproval(tenant, id, { decision: 'allow', by: 'ann' })
      expect(await again(tenant)).toEqual(['stale_attempt', 'stale_attempt'])
      expect(await again(tenant)).toEqual(['stale_attempt', 'stale_attempt'])
      expect(await ledger.list(tenant)).toEqual([])
    })

    test('a no is a no, and holds the others', async () => {
      const tenant = newTenant()
      const id = await asked(tenant)
      await ledger.decideApproval(tenant, id, { decision: 'deny', by: 'ann', note: 'too much' })
      expect(await again(tenant)).toEqual(['approval_denied', 'batch_held'])
      expect(await ledger.list(tenant)).toEqual([])
    })

    test('no answer in time is a no', async () => {
      const tenant = newTenant()
      const id = await asked(tenant)
      await advance(60_000)
      expect(await rejection(ledger.decideApproval(tenant, id, { decision: 'allow', by: 'ann' }))).toMatchObject({
        code: 'expired',
      })
      expect(await again(tenant)).toEqual(['approval_denied', 'batch_held'])
    })

    test('a yes that nobody used in time is none', async () => {
      const tenant = newTenant()
      const id = await asked(tenant)
      await ledger.decideApproval(tenant, id, { decision: 'allow', by: 'ann' })
      await advance(60_000)
      expect(await again(tenant)).toEqual(['approval_denied', 'batch_held'])
    })

    test('the first answer counts', async () => {
      const tenant = newTenant()
      const id = await asked(tenant)
      const answers = await Promise.allSettled([
        ledger.decideApproval(tenant, id, { decision: 'deny', by: 'ann' }),
        ledger.decideApproval(tenant, id, { decision: 'deny', by: 'bob' }),
      ])
      expect(answers.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
      expect(answers.find(({ status }) => status === 'rejected')).toMatchObject({ reason: { code: 'already_decided' } })
    })

    test('it is for one call: not for another tenant, place or other arguments', async () => {
      const tenant = newTenant()
      const id = await asked(tenant)
      expect(await rejection(ledger.decideApproval(newTenant(), id, { decision: 'allow', by: 'x' }))).toMatchObject({
        code: 'not_found',
      })
      await ledger.decideApproval(tenant, id, { decision: 'allow', by: 'ann' })
      const other = await ledger.release(
        request(tenant, [passed(0, { ask: 60_000, input: '{"n":1000}' }), passed(1)], { turn: 1 }),
      )
      expect(other.calls).toMatchObject([
        { kind: 'refused', code: 'key_conflict' },
        { kind: 'refused', code: 'key_conflict' },
      ])
      const elsewhere = await ledger.release(request(tenant, [ask, passed(1)], { turn: 2 }))
      expect(elsewhere.batch).toBe('open')
    })
  })

  describe('settle', () => {
    test('by a person, with who and why in the trail', async () => {
      const tenant = newTenant()
      const claim = await claimed(tenant)
      const { key } = claim.execution
      const yes = {
        state: 'succeeded',
        resultJson: '{"id":9}',
        by: 'ann',
        evidence: 'found in the bank statement',
      } as const
      expect(await rejection(ledger.settle(tenant, key, yes))).toMatchObject({ code: 'not_open' })
      await ledger.finish(claim, { state: 'unknown', message: 'lost' })
      expect(await ledger.settle(tenant, key, yes)).toMatchObject({ state: 'succeeded', result: '{"id":9}' })
      expect(await rejection(ledger.settle(tenant, key, yes))).toMatchObject({ code: 'not_open' })
      expect(await rejection(ledger.settle(tenant, 'none', yes))).toMatchObject({ code: 'not_found' })
      expect((await ledger.show(tenant, key))!.trail.at(-1)).toMatchObject({
        event: 'settled',
        actor: 'ann',
        detail: 'found in the bank statement',
      })
    })
  })

  describe('runs', () => {
    test('are read back with their turns, answers, calls and outcomes', async () => {
      const tenant = newTenant()
      await ledger.startRun(tenant, 'run', '"hello"')
      await ledger.startRun(tenant, 'run', '"other"')
      const turn = await ledger.nextTurn(tenant, 'run')
      await ledger.saveAnswer(tenant, 'run', turn, { answer: '{"text":"…"}', outcome: 'completed' })
      await ledger.saveAnswer(tenant, 'run', turn, { answer: 'late', outcome: 'completed' })
      const answer = await ledger.release(request(tenant, [passed(0), passed(1)], { turn, claimLimit: 1 }))
      const standing = answer.calls[0]!
      if (standing.kind === 'claimed') await ledger.finish(standing.claim, succeeded('5'))
      await ledger.nextTurn(tenant, 'run')
      expect(await rejection(ledger.saveAnswer(tenant, 'run', turn, { answer: 'x', outcome: 'y' }))).toMatchObject({
        code: 'stale_turn',
      })
      expect(await ledger.readRun(tenant, 'run')).toMatchObject({
        input: '"hello"',
        lastTurn: 2,
        cancelledAt: null,
        turns: [
          {
            turn: 1,
            answer: '{"text":"…"}',
            outcome: 'completed',
            calls: [
              { callId: 'c0', state: 'released', execution: { state: 'succeeded', result: '5' } },
              { callId: 'c1', state: 'released', execution: { state: 'ready' } },
            ],
          },
          { turn: 2, answer: null, outcome: null, calls: [] },
        ],
      })
      expect(await ledger.readRun(newTenant(), 'run')).toBeUndefined()
    })

    test('numbers of turns are given once', async () => {
      const tenant = newTenant()
      const turns = await Promise.all(Array.from({ length: 10 }, () => ledger.nextTurn(tenant, 'run')))
      expect(turns.toSorted((left, right) => left - right)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
    })
  })

  test('the trail holds hashes and lengths, and nothing of what was in arguments and results', async () => {
    const tenant = newTenant()
    const secret = 'hunter2-secret'
    const calls = [passed(0, { input: `{"password":"${secret}"}` })]
    const answer = await ledger.release(request(tenant, calls, { claimLimit: 1 }))
    const standing = answer.calls[0]!
    if (standing.kind === 'claimed') await ledger.finish(standing.claim, succeeded(`"${secret}"`))
    await ledger.release(request(tenant, [refusedCall(0)], { turn: 2 }))
    const trail = await ledger.trail(tenant, 'run')
    expect(trail.map(({ event }) => event)).toEqual(['released', 'claimed', 'succeeded', 'refused'])
    expect(JSON.stringify(trail)).not.toContain(secret)
    expect(trail.find(({ event }) => event === 'released')).toMatchObject({
      argumentsHash: calls[0]!.argumentsHash,
      argumentBytes: secret.length + 15,
    })
    expect(trail.find(({ event }) => event === 'succeeded')).toMatchObject({ resultBytes: secret.length + 2 })
  })

  test('old contents are dropped, and the key still stands', async () => {
    const tenant = newTenant()
    const calls = [passed(0, { operationId: '"order"' })]
    const answer = await ledger.release(request(tenant, calls, { claimLimit: 1 }))
    const standing = answer.calls[0]!
    if (standing.kind === 'claimed') await ledger.finish(standing.claim, succeeded('5'))
    expect(await rejection(ledger.prune(tenant, { olderThanMs: 1_000 }))).toBeInstanceOf(RangeError)
    expect(await ledger.prune(tenant, { olderThanMs: SHORTEST_RETENTION_MS })).toBe(0)
    await advance(SHORTEST_RETENTION_MS + 1)
    expect(await ledger.prune(tenant, { olderThanMs: SHORTEST_RETENTION_MS })).toBe(1)
    expect(await ledger.prune(tenant, { olderThanMs: SHORTEST_RETENTION_MS })).toBe(0)
    const again = await ledger.release(request(tenant, calls, { turn: 2, claimLimit: 1 }))
    expect(again.calls).toMatchObject([
      { kind: 'execution', execution: { state: 'succeeded', result: null, inputJson: '' } },
    ])
  })
})
