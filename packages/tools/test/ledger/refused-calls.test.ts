import { expect, test } from 'vitest'
import { openLedger } from '../../src/ledger/ledger.ts'
import type { RefusedCall } from '../../src/ledger/refused-calls.ts'
import { describeEachEngine } from '../store/engines.ts'
import { newTenant, passed, refusedCall, request } from './requests.ts'

const brief = ({ callId, state, code, by, note }: RefusedCall): string =>
  `${callId} ${state} ${code ?? '-'} by ${by ?? '-'}${note === null ? '' : `: ${note}`}`

describeEachEngine('refused calls', (engine) => {
  test('what is wrong, and what its batch held, with why', async () => {
    const ledger = await openLedger(await engine.open())
    const tenant = newTenant()
    await ledger.release(request(tenant, [passed(0), refusedCall(1)]))
    await ledger.release(request(newTenant(), [refusedCall(0)]))
    // Rows of one transaction may be a moment apart.
    const refused = (await ledger.refusedCalls(tenant)).toSorted((a, b) => a.ordinal - b.ordinal)
    expect(refused.map(brief)).toEqual(['c0 rejected batch_held by -', 'c1 rejected schema_violation by -'])
    expect(refused[1]).toEqual({
      runId: 'run',
      turn: 1,
      choice: 0,
      ordinal: 1,
      callId: 'c1',
      tool: 'pay',
      argumentsHash: refusedCall(1).argumentsHash,
      state: 'rejected',
      code: 'schema_violation',
      reason: 'n: expected a number',
      by: null,
      decidedAt: null,
      note: null,
      policyRevision: null,
      createdAt: expect.any(Number) as number,
    })
    expect(await ledger.list(tenant)).toEqual([])
  })

  test('a person’s no, at once and after the batch was handed over again; a yes is none', async () => {
    const clock = await engine.openWithClock()
    const ledger = await openLedger(clock.store)
    const tenant = newTenant()
    const batch = request(tenant, [passed(0, { ask: 1000 }), passed(1, { ask: 1000 })], { policy: 'run-the-rest' })
    await ledger.release(batch)
    expect(await ledger.refusedCalls(tenant)).toEqual([])
    const [first, second] = await ledger.pendingApprovals(tenant)
    await clock.advance(5)
    await ledger.decideApproval(tenant, first!.approvalId, { decision: 'deny', by: 'ann', note: 'too much' })
    await ledger.decideApproval(tenant, second!.approvalId, { decision: 'allow', by: 'bob' })
    const atOnce = await ledger.refusedCalls(tenant)
    const denied = first!.ordinal
    expect(atOnce.map(brief)).toEqual([`c${denied} denied approval_denied by ann: too much`])
    expect(atOnce[0]).toMatchObject({ reason: 'a person declined this call', decidedAt: 1_700_000_000_005 })
    await ledger.release(batch)
    expect(await ledger.refusedCalls(tenant)).toEqual(atOnce)
    expect(await ledger.list(tenant)).toHaveLength(1)
  })

  test('nobody’s answer in time', async () => {
    const clock = await engine.openWithClock()
    const ledger = await openLedger(clock.store)
    const tenant = newTenant()
    const batch = request(tenant, [passed(0, { ask: 1000 })])
    await ledger.release(batch)
    await clock.advance(999)
    expect(await ledger.refusedCalls(tenant)).toEqual([])
    await clock.advance(1)
    const atOnce = await ledger.refusedCalls(tenant)
    expect(atOnce.map(brief)).toEqual(['c0 denied approval_denied by -'])
    expect(atOnce[0]!.reason).toBe('nobody approved this call in time')
    await ledger.release(batch)
    expect(await ledger.refusedCalls(tenant)).toEqual(atOnce)
  })

  test('those of a cancelled run, with who cancelled it', async () => {
    const ledger = await openLedger(await engine.open())
    const tenant = newTenant()
    await ledger.release(request(tenant, [passed(0, { ask: 60_000 })]))
    await ledger.cancelRun(tenant, 'run', 'carl')
    expect((await ledger.refusedCalls(tenant)).map(brief)).toEqual(['c0 cancelled cancelled by carl'])
  })

  test('by state, by run, at most so many, newest first', async () => {
    const clock = await engine.openWithClock()
    const ledger = await openLedger(clock.store)
    const tenant = newTenant()
    await ledger.release(request(tenant, [refusedCall(0)], { runId: 'a' }))
    await clock.advance(10)
    await ledger.release(request(tenant, [passed(1, { ask: 5 })], { runId: 'b' }))
    await clock.advance(10)
    const ids = async (options: Parameters<typeof ledger.refusedCalls>[1]): Promise<readonly string[]> =>
      (await ledger.refusedCalls(tenant, options)).map(({ runId, callId }) => `${runId} ${callId}`)
    expect(await ids({})).toEqual(['b c1', 'a c0'])
    expect(await ids({ limit: 1 })).toEqual(['b c1'])
    expect(await ids({ states: ['rejected'] })).toEqual(['a c0'])
    expect(await ids({ states: ['denied', 'cancelled'] })).toEqual(['b c1'])
    expect(await ids({ states: [] })).toEqual([])
    expect(await ids({ runId: 'a' })).toEqual(['a c0'])
    expect(await ids({ runId: 'a', states: ['denied'] })).toEqual([])
  })
})
