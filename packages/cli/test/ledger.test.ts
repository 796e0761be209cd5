import { join } from 'node:path'
import { createExecutor, defineTool, openLedger, openStore } from '@streamfold/tools'
import type { Effect } from '@streamfold/tools'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { ledger } from './run-ledger.ts'
import { temporarySamples } from './temporary-samples.ts'

const folder = temporarySamples({})

const toolThat = (toolName: string, effect: Effect, execute: () => unknown) =>
  defineTool({
    name: toolName,
    description: 'Does it.',
    effect,
    approve: 'never',
    parameters: { type: 'object', properties: { id: { type: 'string' } } },
    execute,
  })

const fails = (): never => {
  throw new Error('connection \u001B[31mlost')
}

/** A ledger with a call that succeeded, one that failed and one that is unknown, in this order. */
async function filled(name: string, tenant = 'local'): Promise<string> {
  const file = join(folder, name)
  const store = await openStore(file)
  const executor = createExecutor({
    tools: [
      toolThat('good', 'read', () => ({ done: 1 })),
      toolThat('bad', 'read', fails),
      toolThat('lost', 'unsafe', fails),
    ],
    policy: { revision: '1', rules: [{ tools: '*', decision: 'allow' }] },
    ledger: await openLedger(store),
    tenant,
  })
  for (const [turn, toolName] of ['good', 'bad', 'lost'].entries()) {
    const call = {
      callId: `call_${turn}`,
      ordinal: 0,
      name: toolName,
      argumentsText: '{"id":"A-7"}',
      parsedArguments: { id: 'A-7' },
    }
    await executor.run({ choice: 0, calls: [call] }, { runId: 'run_1', turn: turn + 1 })
  }
  await executor.close()
  await store.close()
  return file
}

interface Listed {
  readonly schema: string
  readonly tenant: string
  readonly executions: readonly { readonly key: string; readonly tool: string; readonly state: string }[]
}

async function keyOf(file: string, tool: string): Promise<string> {
  const { stdout } = await ledger(file, 'list', '--json')
  return (JSON.parse(stdout) as Listed).executions.find((one) => one.tool === tool)?.key ?? ''
}

let file: string
beforeAll(async () => {
  file = await filled('shared.db')
})

describe('list', () => {
  test('a line for each execution', async () => {
    const { exit, stdout } = await ledger(file, 'list')
    const lines = stdout.trimEnd().split('\n')
    expect(lines[0]).toMatch(/^key +tool +effect +state +claims +created$/)
    expect(lines).toHaveLength(4)
    expect(stdout).toMatch(/^[0-9a-f]{12} +good +read +succeeded +1 +20\d\d-/m)
    expect(stdout).toMatch(/^[0-9a-f]{12} +bad +read +failed \(execution_failed\) +1 /m)
    expect(stdout).toMatch(/^[0-9a-f]{12} +lost +unsafe +unknown +1 /m)
    expect(exit).toBe(0)
  })

  test.each([
    { args: ['--state', 'unknown'], tools: ['lost'] },
    { args: ['--state', 'failed', 'succeeded'], tools: ['bad', 'good'] },
    { args: ['--run', 'run_1'], tools: ['bad', 'good', 'lost'] },
    { args: ['--run', 'run_2'], tools: [] },
    { args: ['--tenant', 'acme'], tools: [] },
  ])('$args', async ({ args, tools }) => {
    const { stdout } = await ledger(file, 'list', '--json', ...args)
    const listed = JSON.parse(stdout) as Listed
    expect(listed.schema).toBe('streamfold/ledger-list@1')
    expect(listed.executions.map(({ tool }) => tool).sort()).toEqual(tools)
  })

  test('--limit', async () => {
    const { stdout } = await ledger(file, 'list', '--json', '--limit', '2')
    expect((JSON.parse(stdout) as Listed).executions).toHaveLength(2)
  })

  test('nothing there is no failure, and says which tenant it looked at', async () => {
    const { exit, stdout, stderr } = await ledger(file, 'list', '--tenant', 'acme')
    expect([exit, stdout]).toEqual([0, ''])
    expect(stderr).toContain('nothing of the tenant acme')
  })

  test('while another process writes', async () => {
    const store = await openStore(file)
    onTestFinished(() => store.close())
    expect((await ledger(file, 'list')).exit).toBe(0)
  })
})

describe('show', () => {
  test('all there is, in the order in which it happened', async () => {
    const key = await keyOf(file, 'lost')
    const { exit, stdout } = await ledger(file, 'show', key.slice(5, 17))
    expect(exit).toBe(0)
    expect(stdout).toContain(`key        ${key}\ntool       lost (unsafe)\nstate      unknown (outcome_unknown)\n`)
    expect(stdout).toContain('arguments  {"id":"A-7"}\n')
    expect(stdout).toContain('call       call_2 of run_1, turn 3, choice 0: released\n')
    expect(stdout).toMatch(/^claim 1 +20\d\d-.* unknown /m)
    expect(stdout.match(/^trail .*$/gm)?.map((line) => line.replace(/^trail +\S+ \S+ /, ''))).toEqual([
      expect.stringMatching(/^released/),
      expect.stringMatching(/^claimed/),
      expect.stringMatching(/^(?:unknown|outcome)/),
    ])
    // oxlint-disable-next-line no-control-regex -- that is what is looked for
    expect(stdout).not.toMatch(/\u001B/)
  })

  test('--json', async () => {
    const key = await keyOf(file, 'good')
    const { stdout } = await ledger(file, 'show', key, '--json')
    expect(JSON.parse(stdout)).toMatchObject({
      schema: 'streamfold/ledger-execution@1',
      execution: { key, state: 'succeeded', result: '{"done":1}' },
      attempts: [{ outcome: 'succeeded' }],
    })
  })

  test.each([
    { name: 'no such key', key: '0123456789', says: /has no execution 0123456789/ },
    { name: 'too little of a key', key: 'cal', says: /has no execution cal/ },
    { name: 'the beginning of several keys', key: 'call:', says: /fits several executions/ },
  ])('$name', async ({ key, says }) => {
    const { exit, stdout, stderr } = await ledger(file, 'show', key)
    expect([exit, stdout]).toEqual([3, ''])
    expect(stderr).toMatch(says)
  })
})

describe('settle', () => {
  test('as succeeded: the ledger says so, with who and how', async () => {
    const own = await filled('succeeded.db')
    const key = await keyOf(own, 'lost')
    const args = ['settle', key, '--as', 'succeeded', '--evidence', 'it is on the statement', '--result', '{"id":9}']
    const { exit, stdout } = await ledger(own, ...args)
    expect(exit).toBe(0)
    expect(stdout).toContain('state      succeeded\n')
    expect(stdout).toContain('result     {"id":9}\n')
    expect(stdout).toMatch(/^trail .* settled: succeeded, by ann, it is on the statement$/m)
    const again = await ledger(own, ...args)
    expect(again.exit).toBe(1)
    expect(again.stderr).toMatch(/is succeeded; only an unknown one can be settled/)
  })

  test('as failed: the evidence is what the model is told, unless there is a message', async () => {
    const own = await filled('failed.db')
    const key = await keyOf(own, 'lost')
    const args = ['settle', key.slice(0, 20), '--as', 'failed', '--evidence', 'not on the statement', '--by', 'bob']
    const { exit, stdout } = await ledger(own, ...args, '--json')
    expect(exit).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({
      execution: { state: 'failed', code: 'execution_failed', message: 'not on the statement' },
      trail: expect.arrayContaining([expect.objectContaining({ event: 'settled', actor: 'bob' })]) as unknown,
    })
  })

  test.each([
    { args: ['--as', 'succeeded'], says: /required option '--evidence/ },
    { args: ['--evidence', 'x'], says: /required option '--as/ },
    { args: ['--as', 'unknown', '--evidence', 'x'], says: /Allowed choices are succeeded, failed/ },
    { args: ['--as', 'succeeded', '--evidence', ' '], says: /needs a sentence/ },
    { args: ['--as', 'succeeded', '--evidence', 'x', '--result', 'done'], says: /is no JSON/ },
    { args: ['--as', 'succeeded', '--evidence', 'x', '--message', 'm'], says: /--message goes with --as failed/ },
    { args: ['--as', 'failed', '--evidence', 'x', '--result', '1'], says: /--result goes with --as succeeded/ },
  ])('usage: $args', async ({ args, says }) => {
    const { exit, stderr } = await ledger(file, 'settle', 'call:0000', ...args)
    expect(exit).toBe(2)
    expect(stderr).toMatch(says)
  })

  test('not while the ledger is open', async () => {
    const own = await filled('held.db')
    const key = await keyOf(own, 'lost')
    const store = await openStore(own)
    onTestFinished(() => store.close())
    const { exit, stderr } = await ledger(own, 'settle', key, '--as', 'failed', '--evidence', 'x')
    expect(exit).toBe(3)
    expect(stderr).toMatch(/open already/)
  })
})

test.each([
  { name: 'no file', path: 'none.db', says: /there is no ledger .*none\.db/ },
  { name: 'an address of something else', path: 'redis://x', says: /no store for redis:/ },
])('$name: exit 3, and nothing is made', async ({ path, says }) => {
  const where = path.includes(':') ? path : join(folder, path)
  const { exit, stderr } = await ledger(where, 'list')
  expect(exit).toBe(3)
  expect(stderr).toMatch(says)
})
