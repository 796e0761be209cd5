import { expect, test } from 'vitest'
import type { Tool } from '../../src/define/tool.ts'
import { brief, call, counting, describeExecutor, gateOf, place } from './fixtures.ts'

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

describeExecutor('approvals', ({ executorOf, ledger }) => {
  test('wait as pending, and go on with the same batch', async () => {
    const pay = counting('pay')
    const executor = executorOf([pay.tool], { gate: asking(pay.tool) })
    const batch = { choice: 0, calls: [call('pay', 0, { n: 5 })] }
    const first = await executor.run(batch, place)
    expect(first).toMatchObject({ state: 'pending', results: [{ status: 'pending', code: 'approval_required' }] })
    const id = first.results[0]!.approvalId!
    expect(await ledger().findApproval(executor.tenant, id)).toMatchObject({ shownJson: '{"n":5}', reason: 'money' })
    await ledger().decideApproval(executor.tenant, id, { decision: 'allow', by: 'ann' })
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
