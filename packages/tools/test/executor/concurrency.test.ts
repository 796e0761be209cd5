import { expect, test } from 'vitest'
import { newTenant } from '../ledger/requests.ts'
import { call, counting, describeExecutor, gateOf, place, tool } from './fixtures.ts'

describeExecutor('concurrency', ({ executorOf }) => {
  test('no more at once than asked for, and all of them', async () => {
    let now = 0
    let most = 0
    const busy = tool('busy', {
      execute: async () => {
        now += 1
        most = Math.max(most, now)
        await new Promise((resolve) => setImmediate(resolve))
        now -= 1
      },
    })
    const executor = executorOf([busy], { concurrency: 3, waitMs: 60_000 })
    const calls = Array.from({ length: 12 }, (_, ordinal) => call('busy', ordinal))
    const { state, results } = await executor.run({ choice: 0, calls }, place)
    expect(state).toBe('done')
    expect(results.every(({ status }) => status === 'succeeded')).toBe(true)
    expect(most).toBe(3)
  })

  test('the same batch by several executors at once: each call runs once, and all get the results', async () => {
    const add = counting('add')
    const tenant = newTenant()
    const executors = [1, 2, 3].map(() => executorOf([add.tool], { tenant, waitMs: 60_000 }))
    const calls = Array.from({ length: 5 }, (_, ordinal) => call('add', ordinal))
    const answers = await Promise.all(executors.map((executor) => executor.run({ choice: 0, calls }, place)))
    expect(answers.map(({ state }) => state)).toEqual(['done', 'done', 'done'])
    expect(add.seen.length).toBe(5)
  })

  test('one business operation asked for in two runs at once runs once', async () => {
    const pay = counting('pay')
    const tenant = newTenant()
    const gate = gateOf([pay.tool], () => ({ operationId: '"order-1"' }))
    const executor = executorOf([pay.tool], { tenant, gate, waitMs: 60_000 })
    const batch = { choice: 0, calls: [call('pay')] }
    const answers = await Promise.all([
      executor.run(batch, { runId: 'a', turn: 1 }),
      executor.run(batch, { runId: 'b', turn: 1 }),
    ])
    expect(answers.flatMap(({ results }) => results.map(({ status }) => status))).toEqual(['succeeded', 'succeeded'])
    expect(pay.seen.length).toBe(1)
  })
})
