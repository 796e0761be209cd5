import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createExecutor, defineTool, openLedger, openStore } from '../../src/index.ts'
import type { Executor, Ledger } from '../../src/index.ts'
import { call } from './fixtures.ts'

/** The whole way, with the real gate: definition, checks, ledger, execution. */
async function executorWith(decision: 'allow' | 'ask' | 'deny'): Promise<{ executor: Executor; paid: unknown[] }> {
  const paid: unknown[] = []
  const pay = defineTool({
    name: 'pay',
    description: 'pays',
    effect: 'unsafe',
    parameters: {
      type: 'object',
      properties: { order: { type: 'string' }, cents: { type: 'integer' } },
      required: ['order', 'cents'],
    },
    operationId: ({ order }) => order,
    execute: (args) => {
      paid.push(args)
      return { ok: true }
    },
  })
  const store = await openStore(join(mkdtempSync(join(tmpdir(), 'streamfold-executor-')), 'ledger.db'))
  const executor = createExecutor({
    tools: [pay],
    policy: { revision: '7', rules: [{ tools: ['pay'], decision }] },
    ledger: await openLedger(store),
    tenant: 'acme',
    recoverEveryMs: 0,
  })
  onTestFinished(async () => {
    await executor.close()
    await store.close()
  })
  return { executor, paid }
}

describe('an option that is missing is named, with what to pass', () => {
  const whole = { tools: [], policy: { revision: '7', rules: [] }, tenant: 'acme' }
  test.each([
    ['tools', /^tools is missing: pass a list of what defineTool gives$/],
    ['policy', /^policy is missing: pass \{ revision, rules \}/],
    ['ledger', /^ledger is missing: pass what `await openLedger\(store\)` gives/],
    ['tenant', /^tenant must be a name/],
  ])('%s', async (name, message) => {
    const store = await openStore(join(mkdtempSync(join(tmpdir(), 'streamfold-executor-')), 'ledger.db'))
    onTestFinished(() => store.close())
    const options = { ...whole, ledger: await openLedger(store), [name]: undefined }
    const make = (): unknown => createExecutor(options)
    expect(make).toThrow(TypeError)
    expect(make).toThrow(message)
  })

  test('a ledger that is not there yet', async () => {
    const store = await openStore(join(mkdtempSync(join(tmpdir(), 'streamfold-executor-')), 'ledger.db'))
    onTestFinished(() => store.close())
    const ledger = openLedger(store)
    expect(() => createExecutor({ ...whole, ledger: ledger as unknown as Ledger })).toThrow(/await openLedger/)
    await ledger
  })
})

const place = { runId: 'run', turn: 1 }
const order = { order: 'A', cents: 5 }

test.each([
  ['what fits', 'allow', order, { status: 'succeeded', content: '{"ok":true}' }, 1],
  ['what does not fit', 'allow', { order: 'A', cents: 'five' }, { status: 'refused', code: 'schema_violation' }, 0],
  ['what is forbidden', 'deny', order, { status: 'refused' }, 0],
  ['what has to be asked', 'ask', order, { status: 'pending', code: 'approval_required' }, 0],
] as const)('%s', async (_, decision, input, result, times) => {
  const { executor, paid } = await executorWith(decision)
  const { results } = await executor.run({ choice: 0, calls: [call('pay', 0, input)] }, place)
  expect(results).toMatchObject([result])
  expect(paid.length).toBe(times)
})

test('the same operation with the same arguments is done once, with others it is a conflict', async () => {
  const { executor, paid } = await executorWith('allow')
  const run = async (turn: number, input: typeof order) =>
    (await executor.run({ choice: 0, calls: [call('pay', 0, input)] }, { runId: 'run', turn })).results[0]
  expect(await run(1, order)).toMatchObject({ status: 'succeeded', replayed: false })
  // The order of the fields is not part of what was asked for.
  expect(await run(2, { cents: 5, order: 'A' })).toMatchObject({ status: 'succeeded', replayed: true })
  expect(await run(3, { order: 'A', cents: 6 })).toMatchObject({ status: 'refused', code: 'key_conflict' })
  expect(paid).toEqual([order])
})
