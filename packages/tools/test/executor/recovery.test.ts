import { expect, test } from 'vitest'
import type { Tool } from '../../src/define/tool.ts'
import type { ExecutorOptions } from '../../src/executor/index.ts'
import { StoreError } from '../../src/store/index.ts'
import { newTenant } from '../ledger/requests.ts'
import { brief, call, counting, describeExecutor, gateOf, heldUp, place } from './fixtures.ts'

describeExecutor('recovery', ({ dead, executorOf, expire, ledger }) => {
  /** A worker that dies between the release and the first claim. */
  async function released(tools: readonly Tool[], options: Partial<ExecutorOptions>): Promise<void> {
    const died = new StoreError('unavailable', 'died')
    const executor = executorOf(tools, {
      ...options,
      ledger: {
        ...ledger(),
        release: async (request) => {
          await ledger().release({ ...request, claimLimit: 0 })
          throw died
        },
      },
    })
    await expect(executor.run({ choice: 0, calls: [call('t')] }, place)).rejects.toBe(died)
  }

  test.each([
    ['read', ['succeeded'], [], [2]],
    ['idempotent', ['succeeded'], [], [2]],
    ['unsafe', [], ['unknown'], []],
  ] as const)('%s', async (effect, finished, unknown, fences) => {
    const tenant = newTenant()
    await dead(tenant, effect)
    const t = counting('t', { effect })
    const executor = executorOf([t.tool], { tenant })
    const report = await executor.recover()
    expect(report.finished.map(({ state }) => state)).toEqual(finished)
    expect(report.unknown.map(({ state }) => state)).toEqual(unknown)
    expect(t.seen.map(({ fence }) => fence)).toEqual(fences)
    expect(await executor.recover()).toEqual({ finished: [], unknown: [] })
  })

  test.each([
    [{ state: 'succeeded', result: 7 }, 'succeeded', 0],
    [{ state: 'failed', message: 'no' }, 'failed', 0],
    [{ state: 'not_found', final: true }, 'succeeded', 1],
    [{ state: 'not_found', final: false }, 'executing', 0],
    [{ state: 'pending' }, 'executing', 0],
  ] as const)('queryable, and the other side says %o', async (answer, state, times) => {
    const tenant = newTenant()
    await dead(tenant, 'queryable')
    const t = counting('t', { effect: 'queryable', query: () => answer })
    const report = await executorOf([t.tool], { tenant }).recover()
    expect(report.finished.map((execution) => execution.state)).toEqual([state])
    expect(t.seen.length).toBe(times)
  })

  test('queryable, and the other side can not be asked', async () => {
    const tenant = newTenant()
    await dead(tenant, 'queryable')
    const t = counting('t', {
      effect: 'queryable',
      query: () => {
        throw new Error('down')
      },
    })
    const report = await executorOf([t.tool], { tenant }).recover()
    expect(report.finished.map(({ state }) => state)).toEqual(['executing'])
    expect(t.seen.length).toBe(0)
  })

  test('what may not run again is unknown, not failed', async () => {
    const tenant = newTenant()
    await dead(tenant, 'idempotent')
    const t = counting('t', { effect: 'idempotent' })
    const gate = gateOf([t.tool], () => ({
      kind: 'refuse',
      code: 'tool_not_allowed',
      phase: 'authorize',
      message: 'not any more',
      evidence: [],
    }))
    const report = await executorOf([t.tool], { tenant, gate }).recover()
    expect(report.finished.map(({ state }) => state)).toEqual(['unknown'])
    expect(t.seen.length).toBe(0)
  })

  test('what was released and never begun is begun', async () => {
    const t = counting('t')
    const tenant = newTenant()
    await released([t.tool], { tenant })
    const other = executorOf([t.tool], { tenant })
    expect((await other.recover()).finished.map(({ state }) => state)).toEqual(['succeeded'])
  })

  test('goes on under the workflow and for the person it was begun for', async () => {
    const t = counting('t')
    const tenant = newTenant()
    const principal = { user: { id: 'u', permissions: ['a'] } }
    await released([t.tool], { tenant, workflow: 'billing', principal })
    await executorOf([t.tool], { tenant, workflow: 'other' }).recover()
    expect(t.seen).toMatchObject([{ workflow: 'billing', principal }])
  })

  test('leaves alone what belongs to others: other tenants, other tools', async () => {
    const t = counting('t')
    const tenant = newTenant()
    await released([t.tool], { tenant })
    expect(await executorOf([t.tool]).recover()).toEqual({ finished: [], unknown: [] })
    expect(await executorOf([counting('u').tool], { tenant }).recover()).toEqual({ finished: [], unknown: [] })
  })

  test('a worker that was held up: its outcome does not count where another one took over', async () => {
    const tenant = newTenant()
    const slow = heldUp('t', { effect: 'idempotent' })
    const held = executorOf([slow.tool], { tenant })
    const running = held.run({ choice: 0, calls: [call('t')] }, place)
    await slow.entered
    await expire()
    const t = counting('t', { effect: 'idempotent', execute: () => 'second' })
    await executorOf([t.tool], { tenant }).recover()
    slow.finish('first')
    expect(brief(await running)).toEqual(['done', 'call_0 succeeded: "second"'])
  })
})
