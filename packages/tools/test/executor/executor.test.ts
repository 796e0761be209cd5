import { expect, test } from 'vitest'
import { idempotencyKey } from '../../src/ledger/op-key.ts'
import { boom, brief, call, counting, describeExecutor, heldUp, place, tool } from './fixtures.ts'

describeExecutor('executor', ({ executorOf, ledger }) => {
  test('runs each call once, and answers the same batch from the ledger', async () => {
    const add = counting('add', { execute: (args) => ({ sum: (args as { a: number }).a + 1 }) })
    const executor = executorOf([add.tool])
    const batch = { choice: 0, calls: [call('add', 0, { a: 1 }), call('add', 1, { a: 2 })] }
    const first = await executor.run(batch, place)
    expect(brief(first)).toEqual(['done', 'call_0 succeeded: {"sum":2}', 'call_1 succeeded: {"sum":3}'])
    const second = await executor.run(batch, place)
    expect(brief(second)).toEqual(brief(first))
    expect(second.results.map(({ replayed }) => replayed)).toEqual([true, true])
    expect(add.seen.length).toBe(2)
    const other = executorOf([add.tool], { tenant: executor.tenant })
    expect(brief(await other.run(batch, place))).toEqual(brief(first))
    expect(add.seen.length).toBe(2)
  })

  test('the tool gets its key, fence, place and a live signal', async () => {
    const probe = counting('probe')
    const executor = executorOf([probe.tool], {
      workflow: 'billing',
      principal: { user: { id: 'u', permissions: ['pay'] } },
    })
    const { results } = await executor.run({ choice: 0, calls: [call('probe')] }, place)
    const [context] = probe.seen
    expect(context).toMatchObject({
      tenant: executor.tenant,
      workflow: 'billing',
      runId: 'run',
      turn: 1,
      callId: 'call_0',
      principal: { user: { id: 'u', permissions: ['pay'] } },
      fence: 1,
      idempotencyKey: idempotencyKey(executor.tenant, results[0]!.key!),
    })
    expect(context!.idempotencyKey).toMatch(/^[0-9a-f]{64}$/)
    expect(context!.signal.aborted).toBe(false)
  })

  test('the row says executing before the tool is entered', async () => {
    const states: string[] = []
    const probe = tool('probe', {
      execute: async (_, { tenant }) => {
        states.push(...(await ledger().list(tenant)).map(({ state, fence }) => `${state} ${fence}`))
      },
    })
    await executorOf([probe]).run({ choice: 0, calls: [call('probe')] }, place)
    expect(states).toEqual(['executing 1'])
  })

  test('an empty batch is done', async () => {
    expect(await executorOf([]).run({ choice: 0, calls: [] }, place)).toEqual({ state: 'done', results: [] })
  })

  test('after close nothing is taken, and close waits for what runs', async () => {
    const slow = heldUp('slow')
    const executor = executorOf([slow.tool])
    const batch = { choice: 0, calls: [call('slow')] }
    const running = executor.run(batch, place)
    await slow.entered
    const closing = executor.close()
    expect(await executor.run(batch, place).catch((error: unknown) => error)).toMatchObject({ code: 'closed' })
    slow.finish('x')
    await closing
    expect(brief(await running)).toEqual(['done', 'call_0 succeeded: "x"'])
  })

  test.each([
    { concurrency: 0 },
    { leaseMs: Number.NaN },
    { maxAttempts: -1 },
    { waitMs: -1 },
    { maxResultBytes: 1 },
    // A timer that is set for longer goes off at once.
    { timeoutMs: Infinity },
    { timeoutMs: 2 ** 31 },
    { leaseMs: 2 ** 31 },
    { abortGraceMs: 2 ** 31 },
  ])('%o makes no sense', (options) => {
    expect(() => executorOf([], options)).toThrow(RangeError)
  })

  test('parts of a millisecond are no trouble to a database', async () => {
    const t = counting('t', { effect: 'idempotent', execute: boom })
    const executor = executorOf([t.tool], { leaseMs: 30_000.5, tryAgainMs: 0.5, maxAttempts: 2 })
    expect(brief(await executor.run({ choice: 0, calls: [call('t')] }, place))).toEqual([
      'pending',
      'call_0 pending in_progress: Still under way. Do not repeat it.',
    ])
  })

  test.each(['', 'a\0b', 'a\uD800'])('%o is no tenant', (tenant) => {
    expect(() => executorOf([], { tenant })).toThrow(TypeError)
  })
})
