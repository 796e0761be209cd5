import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { Tool, ToolContext } from '../../src/define/tool.ts'
import { createGatedExecutor, NoEffectError } from '../../src/executor/index.ts'
import type { BatchResult, Executor, ExecutorOptions } from '../../src/executor/index.ts'
import { openLedger } from '../../src/ledger/ledger.ts'
import type { Ledger } from '../../src/ledger/ledger.ts'
import { idempotencyKey } from '../../src/ledger/op-key.ts'
import { StoreError } from '../../src/store/index.ts'
import { newTenant } from '../ledger/requests.ts'
import { describeEachEngine } from '../store/engines.ts'
import { call, gateOf, tool } from './fake-gate.ts'

/** A promise that is settled from outside. */
function gatePost<T>(): { readonly promise: Promise<T>; readonly open: (value: T) => void } {
  let open!: (value: T) => void
  const promise = new Promise<T>((resolve) => {
    open = resolve
  })
  return { promise, open }
}

const brief = ({ state, results }: BatchResult): readonly string[] => [
  state,
  ...results.map(
    ({ callId, status, code, content }) => `${callId} ${status}${code === undefined ? '' : ` ${code}`}: ${content}`,
  ),
]

/** A tool that counts how often it was entered, and by whom. */
function counting(name: string, options: Partial<Tool> = {}): { readonly tool: Tool; readonly seen: ToolContext[] } {
  const seen: ToolContext[] = []
  const { execute = () => 'done' } = options
  const counted = tool(name, {
    ...options,
    execute: (args, context) => {
      seen.push(context)
      return execute(args, context)
    },
  })
  return { tool: counted, seen }
}

const boom = (): never => {
  throw new Error('boom')
}
const noEffect = (): never => {
  throw new NoEffectError('nothing happened')
}
const asking = (pay: Tool) =>
  gateOf([pay], (_, moment, input) =>
    moment === 'recheck'
      ? {}
      : {
          approval: {
            callId: 'call_0',
            tool: 'pay',
            argumentsHash: '',
            reason: 'money',
            shown: input,
            expiresInMs: 60_000,
          },
        },
  )

const UNKNOWN =
  'It is not known whether this was done. Do not repeat it. A person or the other system has to find out first.'

describeEachEngine('executor', (engine) => {
  let ledger: Ledger
  let advance: (ms: number) => Promise<void>
  beforeAll(async () => {
    const opened = await engine.openWithClock()
    advance = (ms) => opened.advance(ms)
    ledger = await openLedger(opened.store)
  })

  function executorOf(tools: readonly Tool[], options: Partial<ExecutorOptions> = {}): Executor {
    const executor = createGatedExecutor({
      gate: gateOf(tools),
      tools: tools.map(({ name }) => name),
      ledger,
      tenant: newTenant(),
      recoverEveryMs: 0,
      waitMs: 0,
      abortGraceMs: 0,
      ...options,
    })
    onTestFinished(() => executor.close())
    return executor
  }

  /** A worker that dies after it has claimed: its tool never comes back, and nobody renews its lease. */
  async function dead(tenant: string, effect: Tool['effect']): Promise<void> {
    const post = gatePost<void>()
    const zombie = executorOf(
      [
        tool('t', {
          effect,
          execute: () => {
            post.open()
            return new Promise(() => {})
          },
        }),
      ],
      {
        tenant,
        // Its heart beats against a ledger that is not there any more.
        ledger: { ...ledger, heartbeat: () => new Promise(() => {}), finish: () => new Promise(() => {}) },
      },
    )
    zombie.close = async () => {}
    void zombie.run({ choice: 0, calls: [call('t')] }, place)
    await post.promise
    await expire()
  }

  const place = { runId: 'run', turn: 1 }
  /** A worker that dies between the release and the first claim. */
  async function released(tools: readonly Tool[], options: Partial<ExecutorOptions>): Promise<void> {
    const died = new StoreError('unavailable', 'died')
    const executor = executorOf(tools, {
      ...options,
      ledger: {
        ...ledger,
        release: async (request) => {
          await ledger.release({ ...request, claimLimit: 0 })
          throw died
        },
      },
    })
    await expect(executor.run({ choice: 0, calls: [call('t')] }, place)).rejects.toBe(died)
  }

  const expire = (): Promise<void> => advance(31_000)

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
        states.push(...(await ledger.list(tenant)).map(({ state, fence }) => `${state} ${fence}`))
      },
    })
    await executorOf([probe]).run({ choice: 0, calls: [call('probe')] }, place)
    expect(states).toEqual(['executing 1'])
  })

  test('an empty batch is done', async () => {
    expect(await executorOf([]).run({ choice: 0, calls: [] }, place)).toEqual({ state: 'done', results: [] })
  })

  describe('refusals', () => {
    test('become results for the model, and hold the others', async () => {
      const add = counting('add')
      const executor = executorOf([add.tool])
      const held = await executor.run({ choice: 0, calls: [call('add', 0), call('nothing', 1)] }, place)
      expect(brief(held)).toEqual([
        'done',
        'call_0 refused batch_held: Not run (batch_held): not run, because another call of the same answer could not be run',
        'call_1 refused unknown_tool: Not run (unknown_tool): no tool nothing',
      ])
      expect(add.seen.length).toBe(0)
    })

    test('or let them go, where that was asked for', async () => {
      const executor = executorOf([counting('add').tool], { batch: 'run-the-rest' })
      const rest = await executor.run({ choice: 0, calls: [call('add', 0), call('nothing', 1)] }, place)
      expect(brief(rest).slice(0, 2)).toEqual(['done', 'call_0 succeeded: "done"'])
      expect(rest.results[1]).toMatchObject({ status: 'refused', code: 'unknown_tool', phase: 'validate' })
    })

    test('a gate that throws is a no', async () => {
      const add = counting('add')
      const gate = gateOf([add.tool], () => {
        throw new Error('broken')
      })
      const executor = executorOf([add.tool], { gate })
      const { results } = await executor.run({ choice: 0, calls: [call('add')] }, place)
      expect(results).toMatchObject([{ status: 'refused', code: 'check_failed' }])
      expect(add.seen.length).toBe(0)
    })

    test.each([
      ['id', [call('add', 0, {}, 'x'), call('add', 1, {}, 'x')]],
      ['ordinal', [call('add', 0, {}, 'x'), call('add', 0, {}, 'y')]],
    ])('two calls of one %s: none runs', async (_, calls) => {
      const add = counting('add')
      const { results } = await executorOf([add.tool]).run({ choice: 0, calls }, place)
      expect(results.map(({ code }) => code)).toEqual(['duplicate_call', 'duplicate_call'])
      expect(add.seen.length).toBe(0)
    })

    test('what is no longer allowed at the moment of execution does not run', async () => {
      const add = counting('add')
      const gate = gateOf([add.tool], (_, moment) =>
        moment === 'check'
          ? {}
          : { kind: 'refuse', code: 'resource_denied', phase: 'authorize', message: 'the link moved', evidence: [] },
      )
      const { results } = await executorOf([add.tool], { gate }).run({ choice: 0, calls: [call('add')] }, place)
      expect(results).toMatchObject([{ status: 'failed', code: 'not_authorized', content: 'Failed: the link moved' }])
      expect(add.seen.length).toBe(0)
    })

    test('stored arguments that are not those that were authorized do not run', async () => {
      const add = counting('add')
      const gate = gateOf([add.tool], (_, moment) => (moment === 'check' ? {} : { argumentsHash: 'other' }))
      const { results } = await executorOf([add.tool], { gate }).run({ choice: 0, calls: [call('add')] }, place)
      expect(results).toMatchObject([{ status: 'failed', code: 'not_authorized' }])
      expect(add.seen.length).toBe(0)
    })
  })

  describe('a tool that throws', () => {
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

  describe('results', () => {
    const cyclic: Record<string, unknown> = {}
    cyclic['self'] = cyclic
    test.each([
      ['nothing', undefined, 'null', false],
      ['text with a NUL', 'a\0b', '"a\\u0000b"', false],
      ['a cycle', cyclic, '"[done; the result can\'t be written as JSON: ', true],
      ['a bigint', 10n, '"[done; the result can\'t be written as JSON: ', true],
      ['a function', () => 1, '"[done; the result can\'t be written as JSON]"', true],
      ['too much', 'x'.repeat(2_000), '"\\"xxx', true],
    ])('%s is a success', async (_, value, begin, truncated) => {
      const executor = executorOf([tool('t', { execute: () => value })], { maxResultBytes: 1_000 })
      const { results } = await executor.run({ choice: 0, calls: [call('t')] }, place)
      expect(results[0]).toMatchObject({ status: 'succeeded', truncated })
      expect(results[0]!.content.startsWith(begin)).toBe(true)
      expect(results[0]!.content.length).toBeLessThan(1_000)
      JSON.parse(results[0]!.content)
    })

    test('an error message with a NUL is recorded', async () => {
      const executor = executorOf([
        tool('t', {
          execute: () => {
            throw new NoEffectError('a\0b')
          },
        }),
      ])
      const { results } = await executor.run({ choice: 0, calls: [call('t')] }, place)
      expect(results[0]!.content).toBe('Failed: a\\u0000b')
    })
  })

  describe('cancellation', () => {
    test('a signal that was aborted before: nothing is recorded, and nothing begins', async () => {
      const add = counting('add')
      const executor = executorOf([add.tool])
      const aborted = { ...place, signal: AbortSignal.abort() }
      const { state, results } = await executor.run({ choice: 0, calls: [call('add')] }, aborted)
      expect(state).toBe('done')
      expect(results).toMatchObject([{ status: 'refused', code: 'cancelled' }])
      expect(await ledger.list(executor.tenant)).toEqual([])
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
      const entered = gatePost<void>()
      const finish = gatePost<string>()
      const controller = new AbortController()
      const executor = executorOf([
        tool('slow', {
          effect,
          execute: () => {
            entered.open()
            return finish.promise
          },
        }),
      ])
      const running = executor.run({ choice: 0, calls: [call('slow')] }, { ...place, signal: controller.signal })
      await entered.promise
      controller.abort()
      expect((await running).results).toMatchObject([{ status, code }])
      finish.open('late')
    })

    test('a late report of a tool that was given up settles it', async () => {
      const entered = gatePost<void>()
      const finish = gatePost<string>()
      const controller = new AbortController()
      const executor = executorOf([
        tool('slow', {
          execute: () => {
            entered.open()
            return finish.promise
          },
        }),
      ])
      const batch = { choice: 0, calls: [call('slow')] }
      const running = executor.run(batch, { ...place, signal: controller.signal })
      await entered.promise
      controller.abort()
      expect((await running).results[0]!.status).toBe('unknown')
      finish.open('late')
      await expect
        .poll(async () => brief(await executor.run(batch, place)))
        .toEqual(['done', 'call_0 succeeded: "late"'])
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

  describe('concurrency', () => {
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

  describe('approvals', () => {
    test('wait as pending, and go on with the same batch', async () => {
      const pay = counting('pay')
      const executor = executorOf([pay.tool], { gate: asking(pay.tool) })
      const batch = { choice: 0, calls: [call('pay', 0, { n: 5 })] }
      const first = await executor.run(batch, place)
      expect(first).toMatchObject({ state: 'pending', results: [{ status: 'pending', code: 'approval_required' }] })
      const id = first.results[0]!.approvalId!
      expect(await ledger.findApproval(executor.tenant, id)).toMatchObject({ shownJson: '{"n":5}', reason: 'money' })
      await ledger.decideApproval(executor.tenant, id, { decision: 'allow', by: 'ann' })
      expect(brief(await executor.run(batch, place))).toEqual(['done', 'call_0 succeeded: "done"'])
      expect(pay.seen.length).toBe(1)
    })

    test.each([
      ['allow', 'call_0 succeeded: "done"', 1],
      ['deny', 'call_0 refused approval_denied: Not run (approval_denied): a person declined this call', 0],
    ] as const)('are asked for at once: %s', async (decision, expected, times) => {
      const pay = counting('pay')
      const executor = executorOf([pay.tool], {
        gate: asking(pay.tool),
        approve: async (approval) => ({ decision: approval.tool === 'pay' ? decision : 'deny', by: 'ann' }),
      })
      expect(brief(await executor.run({ choice: 0, calls: [call('pay')] }, place))).toEqual(['done', expected])
      expect(pay.seen.length).toBe(times)
    })

    test('no answer leaves it pending', async () => {
      const pay = counting('pay')
      const executor = executorOf([pay.tool], { gate: asking(pay.tool), approve: async () => undefined })
      expect((await executor.run({ choice: 0, calls: [call('pay')] }, place)).state).toBe('pending')
      expect(pay.seen.length).toBe(0)
    })
  })

  describe('recovery', () => {
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
      const entered = gatePost<void>()
      const finish = gatePost<string>()
      const slow = tool('t', {
        effect: 'idempotent',
        execute: () => {
          entered.open()
          return finish.promise
        },
      })
      const held = executorOf([slow], { tenant })
      const running = held.run({ choice: 0, calls: [call('t')] }, place)
      await entered.promise
      await expire()
      const t = counting('t', { effect: 'idempotent', execute: () => 'second' })
      await executorOf([t.tool], { tenant }).recover()
      finish.open('first')
      expect(brief(await running)).toEqual(['done', 'call_0 succeeded: "second"'])
    })
  })

  describe('the store is in trouble', () => {
    test('a batch that can not be recorded: nothing runs', async () => {
      const add = counting('add')
      const full = new StoreError('full', 'no room')
      const executor = executorOf([add.tool], { ledger: { ...ledger, release: () => Promise.reject(full) } })
      const error = await executor.run({ choice: 0, calls: [call('add')] }, place).catch((thrown: unknown) => thrown)
      expect(error).toBe(full)
      expect(add.seen.length).toBe(0)
    })

    test('an outcome is recorded as soon as the store is back', async () => {
      let failures = 2
      const executor = executorOf([counting('add').tool], {
        ledger: {
          ...ledger,
          finish: (...all) => {
            failures -= 1
            return failures >= 0 ? Promise.reject(new StoreError('unavailable', 'down')) : ledger.finish(...all)
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
        ledger: { ...ledger, claimOne: () => Promise.reject(down) },
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
        ledger: { ...ledger, finish: () => Promise.reject(broken) },
        onBackgroundError: (error) => errors.push(error),
      })
      const { results } = await executor.run({ choice: 0, calls: [call('add')] }, place)
      expect(results).toMatchObject([{ status: 'unknown', code: 'outcome_unknown' }])
      expect(errors).toEqual([broken])
    })
  })

  test('after close nothing is taken, and close waits for what runs', async () => {
    const entered = gatePost<void>()
    const finish = gatePost<string>()
    const executor = executorOf([
      tool('slow', {
        execute: () => {
          entered.open()
          return finish.promise
        },
      }),
    ])
    const batch = { choice: 0, calls: [call('slow')] }
    const running = executor.run(batch, place)
    await entered.promise
    const closing = executor.close()
    expect(await executor.run(batch, place).catch((error: unknown) => error)).toMatchObject({ code: 'closed' })
    finish.open('x')
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
