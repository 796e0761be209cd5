import { expect, test } from 'vitest'
import { NoEffectError } from '../../src/executor/index.ts'
import { brief, call, counting, describeExecutor, gatePost, heldUp, place, tool } from './fixtures.ts'

describeExecutor('cancellation', ({ executorOf, ledger }) => {
  test('a signal that was aborted before: nothing is recorded, and nothing begins', async () => {
    const add = counting('add')
    const executor = executorOf([add.tool])
    const aborted = { ...place, signal: AbortSignal.abort() }
    const { state, results } = await executor.run({ choice: 0, calls: [call('add')] }, aborted)
    expect(state).toBe('done')
    expect(results).toMatchObject([{ status: 'refused', code: 'cancelled' }])
    expect(await ledger().list(executor.tenant)).toEqual([])
    expect(add.seen.length).toBe(0)
  })

  test('a signal that is aborted while calls wait: those never begin, and their keys are free', async () => {
    const entered = gatePost<void>()
    const controller = new AbortController()
    const slow = counting('slow', {
      execute: (_, { signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(new NoEffectError('stopped')))
          entered.open()
        }),
    })
    const executor = executorOf([slow.tool], { concurrency: 1, abortGraceMs: 60_000 })
    const batch = { choice: 0, calls: [call('slow', 0), call('slow', 1)] }
    const running = executor.run(batch, { ...place, signal: controller.signal })
    await entered.promise
    controller.abort()
    const { state, results } = await running
    expect(state).toBe('done')
    expect(results).toMatchObject([
      { status: 'failed', content: 'Failed: stopped' },
      { status: 'refused', code: 'cancelled' },
    ])
    expect(await executor.recover()).toEqual({ finished: [], unknown: [] })
    expect(slow.seen.length).toBe(1)
    expect((await executor.run(batch, place)).results.map((result) => result.code)).toEqual([
      'execution_failed',
      'cancelled',
    ])
  })

  test.each([
    ['unsafe', 'unknown', 'outcome_unknown'],
    ['idempotent', 'unknown', 'outcome_unknown'],
    ['read', 'failed', 'cancelled'],
  ] as const)('during %s that does not stop: the caller is told what is known', async (effect, status, code) => {
    const slow = heldUp('slow', { effect })
    const controller = new AbortController()
    const executor = executorOf([slow.tool])
    const running = executor.run({ choice: 0, calls: [call('slow')] }, { ...place, signal: controller.signal })
    await slow.entered
    controller.abort()
    expect((await running).results).toMatchObject([{ status, code }])
    slow.finish('late')
  })

  test('a late report of a tool that was given up settles it', async () => {
    const slow = heldUp('slow')
    const controller = new AbortController()
    const executor = executorOf([slow.tool])
    const batch = { choice: 0, calls: [call('slow')] }
    const running = executor.run(batch, { ...place, signal: controller.signal })
    await slow.entered
    controller.abort()
    expect((await running).results[0]!.status).toBe('unknown')
    slow.finish('late')
    await expect.poll(async () => brief(await executor.run(batch, place))).toEqual(['done', 'call_0 succeeded: "late"'])
  })

  test('a tool that heeds its signal decides how it ends', async () => {
    const controller = new AbortController()
    const executor = executorOf(
      [
        tool('good', {
          execute: (_, { signal }) =>
            new Promise((_resolve, reject) => {
              signal.addEventListener('abort', () => reject(new NoEffectError('stopped in time')))
              controller.abort()
            }),
        }),
      ],
      { abortGraceMs: 60_000 },
    )
    const { results } = await executor.run(
      { choice: 0, calls: [call('good')] },
      { ...place, signal: controller.signal },
    )
    expect(results).toMatchObject([{ status: 'failed', content: 'Failed: stopped in time' }])
  })

  test('a cancelled run reaches the running tool and stops the waiting ones', async () => {
    const entered = gatePost<void>()
    const executor = executorOf(
      [
        tool('slow', {
          execute: (_, { signal }) =>
            new Promise((_resolve, reject) => {
              signal.addEventListener('abort', () => reject(new NoEffectError('stopped')))
              entered.open()
            }),
        }),
      ],
      { concurrency: 1, abortGraceMs: 60_000, waitMs: 60_000 },
    )
    const running = executor.run({ choice: 0, calls: [call('slow', 0), call('slow', 1)] }, place)
    await entered.promise
    const answer = await executor.cancel('run', 'ann')
    expect(answer.calls.map(({ result }) => result)).toEqual(['already_executing', 'cancelled'])
    expect((await running).results).toMatchObject([
      { status: 'failed', content: 'Failed: stopped' },
      { status: 'refused', code: 'cancelled' },
    ])
  })

  test('a tool that takes longer than its time', async () => {
    const executor = executorOf([tool('slow', { timeoutMs: 1, execute: () => new Promise(() => {}) })])
    const { results } = await executor.run({ choice: 0, calls: [call('slow')] }, place)
    expect(results).toMatchObject([{ status: 'unknown', code: 'outcome_unknown' }])
  })
})
