import { writeSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { installCrashHook } from '../src/crash-point.ts'
import { defineTool } from '../src/define/define-tool.ts'
import type { Tool, ToolContext } from '../src/define/tool.ts'
import { createExecutor, NoEffectError } from '../src/executor/index.ts'
import type { Executor } from '../src/executor/index.ts'
import { openLedger } from '../src/ledger/index.ts'
import type { Ledger } from '../src/ledger/index.ts'
import { LedgerError } from '../src/ledger/ledger-error.ts'
import { openStore, StoreError } from '../src/store/index.ts'
import type { Store } from '../src/store/index.ts'
import { callsOf, EFFECT_OF } from './plan.ts'
import type { PlannedRun, ToolName } from './plan.ts'
import { TENANT } from './protocol.ts'
import type { Orders, Said } from './protocol.ts'

const orders = JSON.parse(process.env['STREAMFOLD_CRASH'] ?? '{}') as Orders

function say(said: Said): void {
  writeSync(1, `${JSON.stringify(said)}\n`)
}

let passed = 0

function point(name: string): void {
  if (orders.die?.point !== name) return
  passed += 1
  if (passed < orders.die.nth) return
  say({ said: 'dying', point: name })
  process.kill(process.pid, 'SIGKILL')
  // The signal is on its way; nothing of this process may run on.
  for (;;);
}

installCrashHook(point)

interface Input {
  readonly deed: string
  readonly slowMs: number
}

async function ask<T>(path: string, body?: object): Promise<T> {
  const response = await fetch(
    orders.outside + path,
    body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) },
  )
  if (response.status === 409) throw new NoEffectError('somebody else has this operation now')
  return (await response.json()) as T
}

function toolOf(name: ToolName): Tool {
  const effect = orders.leaseRetry ? 'idempotent' : EFFECT_OF[name]
  return defineTool({
    name,
    description: `does ${name}`,
    parameters: {
      type: 'object',
      properties: { deed: { type: 'string' }, slowMs: { type: 'number' } },
      required: ['deed', 'slowMs'],
      additionalProperties: false,
    },
    effect,
    approve: name === 'send' ? 'always' : 'never',
    ...(name === 'pay' ? { operationId: (args: unknown) => (args as Input).deed } : {}),
    async execute(args: unknown, context: ToolContext) {
      const { deed, slowMs } = args as Input
      await sleep(slowMs)
      point('tool.before-effect')
      await ask('/do', { deed, effect: EFFECT_OF[name], key: context.idempotencyKey, fence: context.fence })
      point('tool.after-effect')
      await sleep(slowMs)
      return { deed }
    },
    ...(effect === 'queryable'
      ? {
          async query(key: string, { fence }: ToolContext) {
            const { done } = await ask<{ done: boolean }>(`/done?key=${key}&fence=${fence}`)
            return done
              ? { state: 'succeeded' as const, result: 'found' }
              : // Final, because the other side refuses older fences from now on.
                { state: 'not_found' as const, final: true }
          },
        }
      : {}),
  }) as Tool
}

async function placeOf(ledger: Ledger, run: PlannedRun): Promise<number> {
  if (run.kind === 'replay') return 1
  const record = await ledger.readRun(TENANT, run.runId)
  const begun = record?.turns.find(({ calls }) => calls.length > 0)
  return begun?.turn ?? (await ledger.nextTurn(TENANT, run.runId))
}

async function drive(ledger: Ledger, executor: Executor, run: PlannedRun): Promise<void> {
  for (;;) {
    try {
      const turn = await placeOf(ledger, run)
      const running = executor.run({ choice: 0, calls: callsOf(run) }, { runId: run.runId, turn })
      if (run.kind === 'cancel') {
        running.catch(() => {})
        await sleep(orders.leaseMs / 10)
        const { calls } = await executor.cancel(run.runId, 'harness')
        say({
          said: 'cancelled',
          runId: run.runId,
          callIds: calls.filter(({ result }) => result === 'cancelled').map(({ callId }) => callId),
        })
      }
      const { state, results } = await running
      for (const { approvalId } of results) {
        if (approvalId !== undefined) await decide(ledger, approvalId)
      }
      await settleSome(ledger)
      say({ said: 'results', runId: run.runId, done: state === 'done', results })
      if (state === 'done') return
    } catch (error) {
      if (error instanceof LedgerError && error.code === 'cancelled') {
        say({ said: 'results', runId: run.runId, done: true, results: [] })
        return
      }
      if (!(error instanceof StoreError)) throw error
      if (error.code === 'full') {
        say({ said: 'full' })
        throw error
      }
      // The database is away for a moment.
      if (!error.retryable) throw error
      await sleep(50)
    }
  }
}

async function decide(ledger: Ledger, approvalId: string): Promise<void> {
  try {
    await ledger.decideApproval(TENANT, approvalId, { decision: 'allow', by: 'harness' })
  } catch (error) {
    if (!(error instanceof LedgerError)) throw error
  }
}

/** A person who looks outside and settles every third execution that is unknown. */
async function settleSome(ledger: Ledger): Promise<void> {
  if (orders.leaseRetry) return
  for (const { key, inputJson, fence } of await ledger.list(TENANT, { states: ['unknown'], limit: 5 })) {
    if (Number.parseInt(key.slice(-2), 16) % 3 !== 0 || fence === 0) continue
    const { deed } = JSON.parse(inputJson) as Input
    const { count } = await ask<{ count: number }>(`/count?deed=${deed}`)
    const common = { by: 'harness', evidence: `counted ${count}` }
    try {
      if (count > 0) await ledger.settle(TENANT, key, { ...common, state: 'succeeded' })
    } catch (error) {
      if (!(error instanceof LedgerError)) throw error
    }
  }
}

/** A database that is just starting again is waited for. */
async function open(): Promise<Store> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await openStore(orders.store, { lockWaitMs: 30_000, connections: 8 })
    } catch (error) {
      if (!(error instanceof StoreError) || !error.retryable || attempt === 200) throw error
      await sleep(50)
    }
  }
}

async function openedLedger(store: Store): Promise<Ledger> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await openLedger(store)
    } catch (error) {
      if (!(error instanceof StoreError) || !error.retryable || attempt === 200) throw error
      await sleep(50)
    }
  }
}

async function work(): Promise<void> {
  const store = await open()
  const ledger = await openedLedger(store)
  if (orders.roomPages !== undefined) {
    const [row] = await store.query<{ page_count: number }>('pragma page_count')
    await store.query(`pragma max_page_count = ${(row?.page_count ?? 0) + orders.roomPages}`)
  }
  say({ said: 'ready' })
  const tools = (Object.keys(EFFECT_OF) as ToolName[]).map(toolOf)
  const executors = Array.from({ length: orders.executors }, () =>
    createExecutor({
      tools,
      policy: { revision: '1', rules: [{ tools: '*', decision: 'allow' }], unsafeWithoutOperationId: 'allow' },
      ledger,
      tenant: TENANT,
      leaseMs: orders.leaseMs,
      recoverEveryMs: orders.leaseMs / 4,
      tryAgainMs: orders.leaseMs / 4,
      waitMs: orders.leaseMs * 4,
      concurrency: 3,
      maxAttempts: 10_000,
    }),
  )
  const recovered = executors[0]!.recover().catch(() => {})
  await Promise.all([recovered, ...orders.runs.map((run, at) => drive(ledger, executors[at % executors.length]!, run))])
  await Promise.all(executors.map((executor) => executor.close()))
  await store.close()
}

work().then(
  () => process.exit(0),
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`)
    process.exit(error instanceof StoreError && error.code === 'full' ? 3 : 1)
  },
)
