import { join } from 'node:path'
import { createExecutor, defineTool, openLedger, openStore } from '@streamfold/tools'
import type { Approval, BatchResult } from '@streamfold/tools'
import { describe, expect, onTestFinished, test } from 'vitest'
import { ledger } from './run-ledger.ts'
import { temporarySamples } from './temporary-samples.ts'

const folder = temporarySamples({})

const pay = defineTool({
  name: 'pay',
  description: 'Pays.',
  effect: 'unsafe',
  approve: 'always',
  parameters: { type: 'object', properties: { to: { type: 'string' } } },
  execute: () => 'paid',
})

const LONG = 'x'.repeat(300)

/** Runs the same two calls, each a batch of its own; the second has long arguments with an escape sequence in them. */
async function run(file: string): Promise<readonly BatchResult[]> {
  const store = await openStore(file)
  const executor = createExecutor({
    tools: [pay],
    policy: { revision: '1', rules: [{ tools: '*', decision: 'allow' }] },
    ledger: await openLedger(store),
    tenant: 'local',
  })
  const results: BatchResult[] = []
  for (const [at, to] of ['ann', `\u001B[31m${LONG}`].entries()) {
    const parsedArguments = { to }
    const call = {
      callId: `call_${at}`,
      ordinal: 0,
      name: 'pay',
      argumentsText: JSON.stringify(parsedArguments),
      parsedArguments,
    }
    results.push(await executor.run({ choice: 0, calls: [call] }, { runId: `run_${at}`, turn: 1 }))
  }
  await executor.close()
  await store.close()
  return results
}

async function waiting(name: string): Promise<{ readonly file: string; readonly ids: readonly [string, string] }> {
  const file = join(folder, name)
  const results = await run(file)
  return { file, ids: [results[0]!.results[0]!.approvalId!, results[1]!.results[0]!.approvalId!] }
}

describe('approvals', () => {
  test('what is asked, oldest first, with all of the arguments', async () => {
    const { file, ids } = await waiting('listed.db')
    const { exit, stdout } = await ledger(file, 'approvals')
    expect(exit).toBe(0)
    const [first, second] = stdout.split('\n\n')
    expect(first).toMatch(
      new RegExp(
        `^id         ${ids[0]}\ntool       pay\narguments  \\{"to":"ann"\\}\n` +
          'call       call_0 of run_0, turn 1, choice 0\nasked      .+\nuntil      20\\d\\d-',
      ),
    )
    expect(second).toContain(`${LONG}"}`)
    expect(stdout).not.toContain('answer')
    // oxlint-disable-next-line no-control-regex -- that is what is looked for
    expect(stdout).not.toMatch(/\u001B/)
  })

  test('--json, --limit', async () => {
    const { file, ids } = await waiting('json.db')
    const { stdout } = await ledger(file, 'approvals', '--json', '--limit', '1')
    expect(JSON.parse(stdout)).toMatchObject({
      schema: 'streamfold/ledger-approvals@1',
      tenant: 'local',
      approvals: [{ approvalId: ids[0], tool: 'pay', shownJson: '{"to":"ann"}', decision: null }],
    })
    expect((JSON.parse(stdout) as { approvals: unknown[] }).approvals).toHaveLength(1)
  })

  test('none is no failure, and says which tenant it looked at', async () => {
    const { file } = await waiting('other.db')
    const { exit, stdout, stderr } = await ledger(file, 'approvals', '--tenant', 'acme')
    expect([exit, stdout]).toEqual([0, ''])
    expect(stderr).toContain('no call of the tenant acme waits')
  })
})

describe('answers', () => {
  test('a yes lets the call run when its batch is run again, a no does not; neither waits any more', async () => {
    const { file, ids } = await waiting('answered.db')
    const yes = await ledger(file, 'approve', ids[0].slice(0, 8), '--by', 'bob')
    expect(yes.exit).toBe(0)
    expect(yes.stdout).toContain(`id         ${ids[0]}\n`)
    expect(yes.stdout).toContain('answer     approved by bob\n')
    const no = await ledger(file, 'deny', ids[1], '--note', 'too much', '--json')
    expect(JSON.parse(no.stdout)).toMatchObject({
      schema: 'streamfold/ledger-approval@1',
      approvalId: ids[1],
      decision: 'deny',
      decidedBy: 'ann',
    })
    expect((await ledger(file, 'approvals')).stdout).toBe('')
    expect((await run(file)).map(({ results }) => [results[0]!.status, results[0]!.code])).toEqual([
      ['succeeded', undefined],
      ['refused', 'approval_denied'],
    ])
    // A call that was denied has no execution, and is listed with who said so.
    const { executions, refused } = JSON.parse((await ledger(file, 'list', '--json')).stdout) as {
      executions: Approval[]
      refused: unknown
    }
    expect(executions.map(({ callId }) => callId)).toEqual(['call_0'])
    expect(refused).toMatchObject([
      {
        callId: 'call_1',
        tool: 'pay',
        state: 'denied',
        code: 'approval_denied',
        by: 'ann',
        note: 'too much',
        reason: 'a person declined this call',
      },
    ])
    const { stdout } = await ledger(file, 'list')
    expect(stdout).toMatch(/^call +tool +state +by +created$/m)
    expect(stdout).toMatch(
      /^call_1 +pay +denied \(approval_denied\) +ann +20\d\d-.*\n {2}a person declined this call: too much$/m,
    )
  })

  test('the first one counts', async () => {
    const { file, ids } = await waiting('twice.db')
    await ledger(file, 'deny', ids[0])
    const { exit, stdout, stderr } = await ledger(file, 'approve', ids[0])
    expect([exit, stdout]).toEqual([1, ''])
    expect(stderr).toContain('was answered before (deny)')
  })

  test.each([
    { name: 'no such id', id: '0123456789', exit: 3, says: /waits for the answer 0123456789; .*ledger approvals/ },
    { name: 'too little of an id', id: 'abc', exit: 3, says: /waits for the answer abc/ },
    { name: 'nobody', id: '0123456789', args: ['--by', ' '], exit: 2, says: /--by needs a name/ },
  ])('$name', async ({ id, args = [], exit, says }) => {
    const { file } = await waiting(`refused-${id}-${args.length}.db`)
    const ran = await ledger(file, 'approve', id, ...args)
    expect([ran.exit, ran.stdout]).toEqual([exit, ''])
    expect(ran.stderr).toMatch(says)
  })

  test('not while the ledger is open', async () => {
    const { file, ids } = await waiting('open.db')
    const store = await openStore(file)
    onTestFinished(() => store.close())
    expect((await ledger(file, 'approvals')).exit).toBe(0)
    const { exit, stderr } = await ledger(file, 'approve', ids[0])
    expect(exit).toBe(3)
    expect(stderr).toMatch(/open already/)
  })
})

describe('list: calls that were not run', () => {
  test('a no is there at once, before anybody runs the batch again', async () => {
    const { file, ids } = await waiting('no-at-once.db')
    await ledger(file, 'deny', ids[0], '--by', 'bob\u001B[31m')
    const { stdout } = await ledger(file, 'list')
    expect(stdout).toMatch(/^call_0 +pay +denied \(approval_denied\) +bob/m)
    // oxlint-disable-next-line no-control-regex -- that is what is looked for
    expect(stdout).not.toMatch(/\u001B/)
    expect(stdout).not.toContain('call_1')
    expect(stdout).not.toMatch(/^key/m)
  })

  test.each([
    { args: ['--state', 'denied'], calls: ['call_0'], executions: 0 },
    { args: ['--state', 'rejected', 'cancelled'], calls: [], executions: 0 },
    { args: ['--state', 'succeeded'], calls: [], executions: 1 },
    { args: ['--state', 'succeeded', 'denied'], calls: ['call_0'], executions: 1 },
    { args: ['--run', 'run_1'], calls: [], executions: 1 },
    { args: ['--tenant', 'acme'], calls: [], executions: 0 },
  ])('$args', async ({ args, calls, executions }) => {
    const { file, ids } = await waiting(`states-${args.join('-')}.db`)
    await ledger(file, 'deny', ids[0])
    await ledger(file, 'approve', ids[1])
    await run(file)
    const listed = JSON.parse((await ledger(file, 'list', '--json', ...args)).stdout) as {
      executions: unknown[]
      refused: { callId: string }[]
    }
    expect(listed.refused.map(({ callId }) => callId)).toEqual(calls)
    expect(listed.executions).toHaveLength(executions)
  })
})
