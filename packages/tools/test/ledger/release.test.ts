import { beforeAll, describe, expect, test } from 'vitest'
import { openLedger } from '../../src/ledger/ledger.ts'
import type { Ledger } from '../../src/ledger/ledger.ts'
import { operationKey } from '../../src/ledger/op-key.ts'
import type { CallStanding } from '../../src/ledger/release-request.ts'
import type { Queries, Store } from '../../src/store/index.ts'
import { StoreError } from '../../src/store/index.ts'
import { describeEachEngine } from '../store/engines.ts'
import { LEASE_MS, newTenant, passed, refusedCall, request } from './requests.ts'

/** What a standing is, in a word or two. */
function brief(standing: CallStanding): string {
  switch (standing.kind) {
    case 'claimed':
      return `claimed ${standing.claim.fence}`
    case 'execution':
      return `${standing.execution.state}${standing.replayed ? ', replayed' : ''}`
    case 'refused':
      return `refused ${standing.code}`
    case 'needs_approval':
      return 'needs approval'
    case 'waits':
      return 'waits'
  }
}

const order = (ordinal: number, n: number, id = '"order-1"') =>
  passed(ordinal, { operationId: id, input: `{"n":${n}}` })

/** A store that loses the answer to its n-th transaction, which was committed or not. */
function losing(store: Store, at: number, committed: boolean): Store {
  let count = 0
  const lost = new StoreError('commit_unknown', 'lost')
  return {
    dialect: store.dialect,
    exclusive: store.exclusive,
    readOnly: store.readOnly,
    query: <R extends object>(text: string, values?: readonly (string | number | null)[]) =>
      store.query<R>(text, values),
    close: () => store.close(),
    async transaction<T>(body: (tx: Queries) => Promise<T>): Promise<T> {
      count += 1
      if (count !== at) return await store.transaction(body)
      if (committed) {
        await store.transaction(body)
        throw lost
      }
      await store.transaction(async (tx) => {
        await body(tx)
        throw lost
      })
      throw lost
    },
  }
}

describeEachEngine('release', (engine) => {
  let ledger: Ledger
  beforeAll(async () => {
    ledger = await openLedger(await engine.open())
  })

  const states = async (tenant: string): Promise<readonly string[]> =>
    (await ledger.list(tenant)).map(({ callId, state }) => `${callId} ${state}`).toSorted()

  test('every call gets a row, and as many are claimed as were asked for', async () => {
    const tenant = newTenant()
    const answer = await ledger.release(request(tenant, [passed(0), passed(1), passed(2)], { claimLimit: 2 }))
    expect(answer.batch).toBe('released')
    expect(answer.calls.map(brief)).toEqual(['claimed 1', 'claimed 1', 'ready'])
    expect(await states(tenant)).toEqual(['c0 executing', 'c1 executing', 'c2 ready'])
    const [execution] = await ledger.list(tenant, { states: ['executing'] })
    expect(execution).toMatchObject({
      tenant,
      tool: 'pay',
      effect: 'unsafe',
      owner: 'worker-a',
      fence: 1,
      runId: 'run',
      turn: 1,
    })
    expect(execution!.leaseUntil! - execution!.startedAt!).toBeGreaterThanOrEqual(LEASE_MS - 1_000)
  })

  test('the same batch again makes nothing new and claims nothing', async () => {
    const tenant = newTenant()
    const calls = [passed(0), passed(1)]
    await ledger.release(request(tenant, calls, { claimLimit: 1 }))
    const again = await ledger.release(request(tenant, calls, { claimLimit: 2, owner: 'worker-b' }))
    expect(again.calls.map(brief)).toEqual(['executing, replayed', 'ready, replayed'])
    expect(await states(tenant)).toEqual(['c0 executing', 'c1 ready'])
  })

  test('two at the same time: one batch, each call claimed once', async () => {
    const tenant = newTenant()
    const calls = [passed(0), passed(1)]
    const answers = await Promise.all(
      ['a', 'b', 'c', 'd'].map((owner) => ledger.release(request(tenant, calls, { claimLimit: 2, owner }))),
    )
    const all = answers.flatMap((answer) => answer.calls.map(brief))
    expect(all.filter((each) => each === 'claimed 1').length).toBe(2)
    expect(all.filter((each) => each.startsWith('executing')).length).toBe(6)
  })

  test.each([
    ['other arguments', [passed(0, { input: '{"n":9}' })]],
    ['another tool', [passed(0, { tool: 'refund' })]],
    ['another call id', [passed(0, { callId: 'x' })]],
    ['one call more', [passed(0), passed(1)]],
  ])('%s in the same place: refused, and the first stays', async (_, calls) => {
    const tenant = newTenant()
    await ledger.release(request(tenant, [passed(0)]))
    const answer = await ledger.release(request(tenant, calls))
    expect(answer.batch).toBe('refused')
    expect(answer.calls.map(brief)).toEqual(calls.map(() => 'refused key_conflict'))
    expect(await states(tenant)).toEqual(['c0 ready'])
  })

  test('the same call id in another turn, choice or run is another call', async () => {
    const tenant = newTenant()
    const calls = [passed(0)]
    await ledger.release(request(tenant, calls))
    await ledger.release(request(tenant, calls, { choice: 1 }))
    await ledger.release(request(tenant, calls, { turn: 2 }))
    await ledger.release(request(tenant, calls, { runId: 'other' }))
    expect((await states(tenant)).length).toBe(4)
  })

  test('one refused call holds the others; run-the-rest lets them go', async () => {
    const held = newTenant()
    const answer = await ledger.release(request(held, [passed(0), refusedCall(1)], { claimLimit: 2 }))
    expect(answer.batch).toBe('refused')
    expect(answer.calls.map(brief)).toEqual(['refused batch_held', 'refused schema_violation'])
    expect(await states(held)).toEqual([])
    const rest = newTenant()
    const partly = await ledger.release(
      request(rest, [passed(0), refusedCall(1)], { claimLimit: 2, policy: 'run-the-rest' }),
    )
    expect(partly.batch).toBe('released')
    expect(partly.calls.map(brief)).toEqual(['claimed 1', 'refused schema_violation'])
  })

  test('run-the-rest with nothing left is refused', async () => {
    const answer = await ledger.release(request(newTenant(), [refusedCall(0)], { policy: 'run-the-rest' }))
    expect(answer.batch).toBe('refused')
    expect(answer.calls.map(brief)).toEqual(['refused schema_violation'])
  })

  test('a newer turn makes an older answer void, but not one that was released before', async () => {
    const tenant = newTenant()
    expect(await ledger.nextTurn(tenant, 'run')).toBe(1)
    await ledger.release(request(tenant, [passed(0)], { turn: 1 }))
    expect(await ledger.nextTurn(tenant, 'run')).toBe(2)
    expect(await ledger.nextTurn(tenant, 'run')).toBe(3)
    const late = await ledger.release(request(tenant, [passed(0)], { turn: 2, claimLimit: 1 }))
    expect(late.calls.map(brief)).toEqual(['refused stale_attempt'])
    const replayed = await ledger.release(request(tenant, [passed(0)], { turn: 1, claimLimit: 1 }))
    expect(replayed.calls.map(brief)).toEqual(['ready, replayed'])
    expect((await states(tenant)).length).toBe(1)
  })

  test('a batch of a hundred and twenty-eight', async () => {
    const tenant = newTenant()
    const calls = Array.from({ length: 128 }, (_, ordinal) => passed(ordinal))
    const answer = await ledger.release(request(tenant, calls, { claimLimit: 128 }))
    expect(new Set(answer.calls.map(brief))).toEqual(new Set(['claimed 1']))
  })

  describe('business operations', () => {
    test('the same operation in another turn or run is the same execution', async () => {
      const tenant = newTenant()
      const first = await ledger.release(request(tenant, [order(0, 1)], { claimLimit: 1 }))
      const second = await ledger.release(request(tenant, [order(0, 1)], { runId: 'other', turn: 7, claimLimit: 1 }))
      expect(first.calls.map(brief)).toEqual(['claimed 1'])
      expect(second.calls.map(brief)).toEqual(['executing, replayed'])
      const [execution] = await ledger.list(tenant)
      expect((await ledger.show(tenant, execution!.key))!.calls.map(({ runId, turn }) => `${runId} ${turn}`)).toEqual([
        'run 1',
        'other 7',
      ])
    })

    test('of another tenant it is another one', async () => {
      const [left, right] = [newTenant(), newTenant()]
      await ledger.release(request(left, [order(0, 1)]))
      const answer = await ledger.release(request(right, [order(0, 1)], { claimLimit: 1 }))
      expect(answer.calls.map(brief)).toEqual(['claimed 1'])
    })

    test('with other arguments the whole batch is refused, and nothing of it is there', async () => {
      const tenant = newTenant()
      await ledger.release(request(tenant, [order(0, 1)]))
      const calls = [passed(0), order(1, 2)]
      const answer = await ledger.release(request(tenant, calls, { turn: 2, claimLimit: 2 }))
      expect(answer.batch).toBe('refused')
      expect(answer.calls.map(brief)).toEqual(['refused batch_held', 'refused key_conflict'])
      expect((await states(tenant)).length).toBe(1)
      const again = await ledger.release(request(tenant, calls, { turn: 2, claimLimit: 2 }))
      expect(again.calls.map(brief)).toEqual(['refused batch_held', 'refused key_conflict'])
    })

    test('with another tool of the same id it is another operation', async () => {
      const tenant = newTenant()
      await ledger.release(request(tenant, [order(0, 1)]))
      const other = passed(0, { operationId: '"order-1"', tool: 'refund', input: '{"n":1}' })
      const answer = await ledger.release(request(tenant, [other], { turn: 2, claimLimit: 1 }))
      expect(answer.calls.map(brief)).toEqual(['claimed 1'])
    })

    test('twice in one batch: one execution for both, or a conflict', async () => {
      const tenant = newTenant()
      const same = await ledger.release(request(tenant, [order(0, 1), order(1, 1)], { claimLimit: 2 }))
      expect(same.calls.map(brief)).toEqual(['claimed 1', 'executing'])
      expect((await states(tenant)).length).toBe(1)
      const other = await ledger.release(request(newTenant(), [order(0, 1), order(1, 2)], { claimLimit: 2 }))
      expect(other.calls.map(brief)).toEqual(['refused key_conflict', 'refused key_conflict'])
    })

    test('many batches that share operations in different orders', async () => {
      const tenant = newTenant()
      const ids = Array.from({ length: 10 }, (_, at) => `"order-${at}"`)
      const answers = await Promise.all(
        Array.from({ length: 12 }, (_, run) => {
          const turned = run % 2 === 0 ? ids : ids.toReversed()
          const calls = turned.map((id, ordinal) => order(ordinal, Number(/\d/.exec(id)![0]), id))
          return ledger.release(request(tenant, calls, { runId: `run-${run}`, claimLimit: 10, owner: `w${run}` }))
        }),
      )
      const claimed = answers.flatMap((answer) => answer.calls).filter(({ kind }) => kind === 'claimed')
      expect(claimed.length).toBe(10)
      expect((await states(tenant)).length).toBe(10)
    })

    test('an operation whose outcome is unknown is answered with that', async () => {
      const tenant = newTenant()
      const first = await ledger.release(request(tenant, [order(0, 1)], { claimLimit: 1 }))
      const standing = first.calls[0]!
      if (standing.kind !== 'claimed') throw new Error('not claimed')
      await ledger.finish(standing.claim, { state: 'unknown', message: 'lost' })
      const again = await ledger.release(request(tenant, [order(0, 1)], { turn: 2, claimLimit: 1 }))
      expect(again.calls.map(brief)).toEqual(['unknown, replayed'])
    })
  })

  test('keys: the operation where there is one, else the place, and parts never run into each other', () => {
    const place = { runId: 'r', turn: 1, choice: 0, ordinal: 0, callId: 'c' }
    const key = operationKey('t', undefined, place)
    const different = [
      operationKey('t', undefined, { ...place, turn: 2 }),
      operationKey('t', undefined, { ...place, choice: 1 }),
      operationKey('t', undefined, { ...place, ordinal: 1 }),
      operationKey('t', undefined, { ...place, callId: 'd' }),
      operationKey('t', undefined, { ...place, runId: 'r,1' }),
      operationKey('t', '"a"', place),
      operationKey('u', '"a"', place),
      operationKey('t"', 'a"', place),
    ]
    expect(new Set([key, ...different]).size).toBe(different.length + 1)
    expect(operationKey('t', '"a"', place)).toBe(operationKey('t', '"a"', { ...place, runId: 'x', turn: 9 }))
  })

  describe('the answer to the commit is lost', () => {
    test.each([true, false])(
      'committed: %s. The batch is there once and its claims are not lost',
      async (committed) => {
        const tenant = newTenant()
        const store = losing(ledger.store, 2, committed)
        const other = await openLedger(store)
        const answer = await other.release(request(tenant, [passed(0), passed(1)], { claimLimit: 1 }))
        expect(answer.calls.map(brief)[0]).toBe('claimed 1')
        expect(await states(tenant)).toEqual(['c0 executing', 'c1 ready'])
      },
    )

    test.each([true, false])('committed: %s. A claim is handed out only if it is in the ledger', async (committed) => {
      const tenant = newTenant()
      await ledger.release(request(tenant, [passed(0)]))
      const other = await openLedger(losing(ledger.store, 2, committed))
      const claims = await other.claimReady({ tenant, owner: 'w', leaseMs: LEASE_MS, limit: 5, tools: ['pay'] })
      expect(claims.map(({ fence }) => fence)).toEqual(committed ? [1] : [])
      expect(await states(tenant)).toEqual([committed ? 'c0 executing' : 'c0 ready'])
    })

    test.each([true, false])('committed: %s. An outcome is recorded once', async (committed) => {
      const tenant = newTenant()
      const answer = await ledger.release(request(tenant, [passed(0)], { claimLimit: 1 }))
      const standing = answer.calls[0]!
      if (standing.kind !== 'claimed') throw new Error('not claimed')
      const other = await openLedger(losing(ledger.store, 2, committed))
      const finished = await other.finish(standing.claim, { state: 'succeeded', result: '1', truncated: false })
      expect(finished).toMatchObject({ kind: 'recorded', execution: { state: 'succeeded', result: '1' } })
    })
  })
})
