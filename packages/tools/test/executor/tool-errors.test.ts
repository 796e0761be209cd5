import { expect, test } from 'vitest'
import { NoEffectError } from '../../src/executor/index.ts'
import { idempotencyKey } from '../../src/ledger/op-key.ts'
import { boom, brief, call, counting, describeExecutor, place, tool } from './fixtures.ts'

const noEffect = (): never => {
  throw new NoEffectError('nothing happened')
}

const UNKNOWN =
  'It is not known whether this was done. Do not repeat it. A person or the other system has to find out first.'

describeExecutor('a tool that throws', ({ advance, executorOf }) => {
  test.each([
    ['read', boom, 'failed execution_failed: Failed: boom'],
    ['unsafe', boom, `unknown outcome_unknown: ${UNKNOWN}`],
    ['unsafe', noEffect, 'failed execution_failed: Failed: nothing happened'],
    ['idempotent', noEffect, 'failed execution_failed: Failed: nothing happened'],
    ['queryable', noEffect, 'failed execution_failed: Failed: nothing happened'],
  ] as const)('%s', async (effect, execute, expected) => {
    for (const throwing of [execute, async () => execute()]) {
      const executor = executorOf([tool('t', { effect, execute: throwing })])
      const result = await executor.run({ choice: 0, calls: [call('t')] }, place)
      expect(brief(result)).toEqual(['done', `call_0 ${expected}`])
    }
  })

  test('an idempotent one is tried again under the same key, and given up after so many', async () => {
    let left = 2
    const flaky = counting('flaky', {
      effect: 'idempotent',
      execute: () => {
        left -= 1
        if (left >= 0) throw new Error('503')
        return 'ok'
      },
    })
    const executor = executorOf([flaky.tool])
    const first = await executor.run({ choice: 0, calls: [call('flaky')] }, place)
    expect(first).toMatchObject({ state: 'pending', results: [{ status: 'pending', code: 'in_progress' }] })
    await advance(5_001)
    expect((await executor.recover()).finished.map(({ state }) => state)).toEqual(['executing'])
    await advance(5_001)
    expect((await executor.recover()).finished.map(({ state }) => state)).toEqual(['succeeded'])
    expect(flaky.seen.map(({ fence }) => fence)).toEqual([1, 2, 3])
    expect(new Set(flaky.seen.map((context) => context.idempotencyKey)).size).toBe(1)
    expect(brief(await executor.run({ choice: 0, calls: [call('flaky')] }, place))).toEqual([
      'done',
      'call_0 succeeded: "ok"',
    ])

    const never = counting('never', { effect: 'idempotent', execute: boom })
    const other = executorOf([never.tool], { maxAttempts: 2 })
    await other.run({ choice: 0, calls: [call('never')] }, place)
    await advance(5_001)
    expect((await other.recover()).finished.map(({ state }) => state)).toEqual(['unknown'])
    expect(never.seen.length).toBe(2)
  })

  test('whoever waits for it sees the second try', async () => {
    let tries = 0
    const flaky = tool('flaky', {
      effect: 'idempotent',
      execute: () => {
        tries += 1
        if (tries === 1) throw new Error('503')
        return 'ok'
      },
    })
    const executor = executorOf([flaky], { waitMs: 60_000, tryAgainMs: 0 })
    const running = executor.run({ choice: 0, calls: [call('flaky')] }, place)
    // The clock of the database stands still until it is moved.
    const mover = setInterval(() => void advance(1), 5)
    expect(brief(await running)).toEqual(['done', 'call_0 succeeded: "ok"'])
    clearInterval(mover)
  })

  test.each([
    [{ state: 'succeeded', result: { id: 7 } }, 'done', 'succeeded: {"id":7}'],
    [{ state: 'failed', message: 'rejected' }, 'done', 'failed execution_failed: Failed: rejected'],
    [{ state: 'not_found', final: true }, 'done', 'failed execution_failed: Failed: boom'],
    [{ state: 'not_found', final: false }, 'pending', 'pending in_progress: Still under way. Do not repeat it.'],
    [{ state: 'pending' }, 'pending', 'pending in_progress: Still under way. Do not repeat it.'],
  ] as const)('a queryable one is asked: %o', async (answer, state, expected) => {
    const asked: string[] = []
    const executor = executorOf([
      tool('t', {
        effect: 'queryable',
        execute: boom,
        query: (key) => {
          asked.push(key)
          return answer
        },
      }),
    ])
    const result = await executor.run({ choice: 0, calls: [call('t')] }, place)
    expect(brief(result)).toEqual([state, `call_0 ${expected}`])
    expect(asked).toEqual([idempotencyKey(executor.tenant, result.results[0]!.key!)])
  })
})
