import { describe, expect, onTestFinished, test, vi } from 'vitest'
import type { Effect, Tool, ToolContext } from '../../src/define/tool.ts'
import type { BatchResult } from '../../src/executor/index.ts'
import type { Gate, GatePass } from '../../src/gate.ts'
import { canonicalJson } from '../../src/validate/canonical-json.ts'
import { newTenant } from '../ledger/requests.ts'
import { call, counting, describeExecutor, gateOf, place } from './fixtures.ts'

const batch = { choice: 0, calls: [call('t')] }

const brief = ({ results }: BatchResult): readonly string[] =>
  results.map(({ status, code }) => (code === undefined ? status : `${status} ${code}`))

const NEEDED: Partial<GatePass> = {
  approval: { callId: 'call_0', tool: 't', argumentsHash: '', reason: 'r', shown: {}, expiresInMs: 60_000 },
}

/** Lets it pass, and wants a person's yes once it is about to run. */
const stricter = (counted: Tool): Gate => gateOf([counted], (_, moment) => (moment === 'recheck' ? NEEDED : {}))

const order = (cents: number) => ({ choice: 0, calls: [call('t', 0, { order: 'A', cents })] })
const named = (_: string, moment: string): Partial<GatePass> =>
  moment === 'check' ? { operationId: canonicalJson('A') } : {}

describeExecutor('the moment of execution', ({ dead, executorOf, expire, ledger }) => {
  /** Stops the clock of the process, and lets `meanwhile` happen before the checks of the worker come back. */
  async function heldUp(
    effect: Effect,
    meanwhile: (tenant: string) => Promise<void>,
  ): Promise<{ readonly answer: BatchResult; readonly seen: readonly ToolContext[] }> {
    const t = counting('t', { effect })
    const tenant = newTenant()
    const usual = gateOf([t.tool])
    const gate: Gate = {
      ...usual,
      recheck: async (stored, context) => {
        vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 60_000 })
        await meanwhile(tenant)
        return await usual.recheck(stored, context)
      },
    }
    onTestFinished(() => {
      vi.useRealTimers()
    })
    return { answer: await executorOf([t.tool], { tenant, gate }).run(batch, place), seen: t.seen }
  }

  const sweep = async (tenant: string): Promise<void> => {
    await expire()
    await ledger().sweepExpired({ tenant, maxAttempts: 5, limit: 10 })
  }

  describe('the policy asks for a person by now', () => {
    test('nobody was asked: it does not run', async () => {
      const t = counting('t', { effect: 'read' })
      expect(brief(await executorOf([t.tool], { gate: stricter(t.tool) }).run(batch, place))).toEqual([
        'failed not_authorized',
      ])
      expect(t.seen.length).toBe(0)
    })

    test('it may have run before: it is not known', async () => {
      const tenant = newTenant()
      await dead(tenant, 'idempotent')
      const t = counting('t', { effect: 'idempotent' })
      const report = await executorOf([t.tool], { tenant, gate: stricter(t.tool) }).recover()
      expect(report.finished.map(({ state }) => state)).toEqual(['unknown'])
      expect(t.seen.length).toBe(0)
    })

    test('somebody agreed to it: it runs', async () => {
      const t = counting('t', { effect: 'unsafe' })
      const tenant = newTenant()
      const executor = executorOf([t.tool], { tenant, gate: gateOf([t.tool], () => NEEDED) })
      expect(brief(await executor.run(batch, place))).toEqual(['pending approval_required'])
      const [approval] = await ledger().pendingApprovals(tenant)
      await ledger().decideApproval(tenant, approval!.approvalId, { decision: 'allow', by: 'ann' })
      expect(brief(await executor.run(batch, place))).toEqual(['succeeded'])
      expect(t.seen.length).toBe(1)
    })
  })

  describe('the run was cancelled after its worker died', () => {
    test.each([
      ['read', {}, 'failed', 'cancelled'],
      ['idempotent', {}, 'unknown', 'outcome_unknown'],
      ['queryable', { query: () => ({ state: 'not_found', final: true }) }, 'failed', 'cancelled'],
      ['queryable', { query: () => ({ state: 'succeeded', result: 7 }) }, 'succeeded', null],
    ] as const)('%s: nothing is run again', async (effect, options, state, code) => {
      const tenant = newTenant()
      await dead(tenant, effect)
      await ledger().cancelRun(tenant, 'run', 'ann')
      const t = counting('t', { effect, ...(options as Partial<Tool>) })
      const report = await executorOf([t.tool], { tenant }).recover()
      expect(report.finished.map((each) => [each.state, each.code])).toEqual([[state, code]])
      expect(t.seen.length).toBe(0)
    })
  })

  describe('a worker that stood still between its claim and the tool', () => {
    test('and still has its lease: it runs', async () => {
      const { answer, seen } = await heldUp('unsafe', async () => {})
      expect(brief(answer)).toEqual(['succeeded'])
      expect(seen.length).toBe(1)
    })

    test('and was given up: it says that nothing happened', async () => {
      const { answer, seen } = await heldUp('unsafe', sweep)
      expect(brief(answer)).toEqual(['failed cancelled'])
      expect(seen.length).toBe(0)
    })

    test('and was settled by a person: nothing is done behind their back', async () => {
      const { answer, seen } = await heldUp('unsafe', async (tenant) => {
        await sweep(tenant)
        const [row] = await ledger().list(tenant)
        await ledger().settle(tenant, row!.key, { state: 'failed', message: 'not done', by: 'ann', evidence: 'looked' })
      })
      expect(brief(answer)).toEqual(['failed execution_failed'])
      expect(seen.length).toBe(0)
    })

    test('and another worker took over: only that one runs it', async () => {
      const other = counting('t', { effect: 'idempotent' })
      const { answer, seen } = await heldUp('idempotent', async (tenant) => {
        await expire()
        await executorOf([other.tool], { tenant }).recover()
      })
      expect(brief(answer)).toEqual(['succeeded'])
      expect([seen.length, other.seen.length]).toEqual([0, 1])
    })
  })

  describe('an operation that was stopped before it began can still be done', () => {
    test('after a cancel', async () => {
      const t = counting('t', { effect: 'unsafe' })
      const tenant = newTenant()
      const abort = new AbortController()
      const gate = gateOf([t.tool], (name, moment) => {
        if (moment === 'recheck') abort.abort()
        return named(name, moment)
      })
      const first = executorOf([t.tool], { tenant, gate })
      expect(brief(await first.run(order(5), { ...place, signal: abort.signal }))).toEqual(['failed cancelled'])
      expect(t.seen.length).toBe(0)

      const executor = executorOf([t.tool], { tenant, gate: gateOf([t.tool], named) })
      // What was recorded for the first batch stays its answer.
      expect(brief(await executor.run(order(5), place))).toEqual(['failed cancelled'])
      const again = await executor.run(order(6), { ...place, turn: 2 })
      expect(brief(again)).toEqual(['succeeded'])
      expect(again.results[0]?.replayed).toBe(false)
      const third = await executor.run(order(6), { ...place, turn: 3 })
      expect(third.results[0]).toMatchObject({ status: 'succeeded', replayed: true })
      expect(brief(await executor.run(order(7), { ...place, turn: 4 }))).toEqual(['refused key_conflict'])
      expect(t.seen.length).toBe(1)
    })

    test('after a no, twice', async () => {
      const t = counting('t', { effect: 'unsafe' })
      const tenant = newTenant()
      const refusing = gateOf([t.tool], (name, moment) =>
        moment === 'check'
          ? named(name, moment)
          : { kind: 'refuse', code: 'not_authorized', phase: 'authorize', message: 'no', evidence: [] },
      )
      const first = executorOf([t.tool], { tenant, gate: refusing })
      expect(brief(await first.run(order(5), place))).toEqual(['failed not_authorized'])
      expect(brief(await first.run(order(5), { ...place, turn: 2 }))).toEqual(['failed not_authorized'])
      const executor = executorOf([t.tool], { tenant, gate: gateOf([t.tool], named) })
      expect(brief(await executor.run(order(5), { ...place, turn: 3 }))).toEqual(['succeeded'])
      expect(brief(await executor.run(order(5), { ...place, turn: 4 }))).toEqual(['succeeded'])
      expect(t.seen.length).toBe(1)
    })
  })
})
