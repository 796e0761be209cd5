import { expect, test } from 'vitest'
import { StoreError } from '../../src/store/index.ts'
import { newTenant } from '../ledger/requests.ts'
import { brief, call, counting, describeExecutor, place } from './fixtures.ts'

describeExecutor('the store is in trouble', ({ executorOf, ledger }) => {
  test('a batch that can not be recorded: nothing runs', async () => {
    const add = counting('add')
    const full = new StoreError('full', 'no room')
    const executor = executorOf([add.tool], { ledger: { ...ledger(), release: () => Promise.reject(full) } })
    const error = await executor.run({ choice: 0, calls: [call('add')] }, place).catch((thrown: unknown) => thrown)
    expect(error).toBe(full)
    expect(add.seen.length).toBe(0)
  })

  test('an outcome is recorded as soon as the store is back', async () => {
    let failures = 2
    const executor = executorOf([counting('add').tool], {
      ledger: {
        ...ledger(),
        finish: (...all) => {
          failures -= 1
          return failures >= 0 ? Promise.reject(new StoreError('unavailable', 'down')) : ledger().finish(...all)
        },
      },
    })
    expect(brief(await executor.run({ choice: 0, calls: [call('add')] }, place))).toEqual([
      'done',
      'call_0 succeeded: "done"',
    ])
  })

  test('one call that can not be looked at costs the others nothing', async () => {
    const errors: unknown[] = []
    const tenant = newTenant()
    const down = new StoreError('unavailable', 'down')
    const t = counting('t')
    const executor = executorOf([t.tool], {
      tenant,
      concurrency: 1,
      waitMs: 60_000,
      ledger: { ...ledger(), claimOne: () => Promise.reject(down) },
      onBackgroundError: (error) => errors.push(error),
    })
    const { state, results } = await executor.run({ choice: 0, calls: [call('t'), call('t', 1)] }, place)
    expect([state, ...results.map(({ status }) => status)]).toEqual(['pending', 'succeeded', 'pending'])
    expect(errors).toEqual([down])
    expect(t.seen.length).toBe(1)
  })

  test('an outcome that can not be recorded is not acknowledged', async () => {
    const errors: unknown[] = []
    const broken = new StoreError('statement', 'broken')
    const executor = executorOf([counting('add').tool], {
      ledger: { ...ledger(), finish: () => Promise.reject(broken) },
      onBackgroundError: (error) => errors.push(error),
    })
    const { results } = await executor.run({ choice: 0, calls: [call('add')] }, place)
    expect(results).toMatchObject([{ status: 'unknown', code: 'outcome_unknown' }])
    expect(errors).toEqual([broken])
  })
})
