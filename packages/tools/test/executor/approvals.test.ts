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

  test('a call beside one that waits says what it waits for, and runs with it', async () => {
    const pay = counting('pay')
    const look = counting('look', { effect: 'read' })
    const tools = [pay.tool, look.tool]
    const executor = executorOf(tools, {
      gate: gateOf(tools, (name, moment, input) => {
        if (moment === 'recheck' || name === 'look') return {}
        const about = { callId: 'call_0', tool: 'pay', argumentsHash: '', reason: 'money' }
        return { approval: { ...about, shown: input, expiresInMs: 60_000 } }
      }),
    })
    const batch = { choice: 0, calls: [call('pay', 0), call('look', 1)] }
    const first = await executor.run(batch, place)
    expect(brief(first)).toEqual([
      'pending',
      'call_0 pending approval_required: Waits for a person to agree. Do not repeat it.',
      'call_1 pending batch_held: Not run yet: it waits for the approval of pay (call_0), and runs when the same batch is run ' +
        'again after that.',
    ])
    await ledger().decideApproval(executor.tenant, first.results[0]!.approvalId!, { decision: 'allow', by: 'ann' })
    expect(brief(await executor.run(batch, place))).toEqual([
      'done',
      'call_0 succeeded: "done"',
      'call_1 succeeded: "done"',
    ])
    expect([pay.seen.length, look.seen.length]).toEqual([1, 1])
  })

  test('of many calls that are waited for, three are named', async () => {
    const pay = counting('pay')
    const look = counting('look', { effect: 'read' })
    const tools = [pay.tool, look.tool]
    const executor = executorOf(tools, {
      gate: gateOf(tools, (name, _, shown) =>
        name === 'look'
          ? {}
          : { approval: { callId: '', tool: 'pay', argumentsHash: '', reason: 'money', shown, expiresInMs: 60_000 } },
      ),
    })
    const calls = [call('look', 0), ...[1, 2, 3, 4, 5].map((ordinal) => call('pay', ordinal))]
    const { results } = await executor.run({ choice: 0, calls }, place)
    expect(results[0]!.content).toContain(
      'the approval of pay (call_1), pay (call_2), pay (call_3) and 2 more, and runs',
    )
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
