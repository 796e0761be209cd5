import { beforeAll, expect, onTestFinished, test } from 'vitest'
import type { Effect } from '../../src/define/tool.ts'
import { createGatedExecutor } from '../../src/executor/index.ts'
import type { Executor } from '../../src/executor/index.ts'
import { openLedger } from '../../src/ledger/ledger.ts'
import type { Ledger } from '../../src/ledger/ledger.ts'
import { newTenant } from '../ledger/requests.ts'
import { describeEachEngine } from '../store/engines.ts'
import { call, gateOf, tool } from './fixtures.ts'

const LEASE_MS = 100

/** Nothing of this process runs for so long: no timer, no heartbeat. */
function block(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}

describeEachEngine('an event loop that is blocked for longer than the lease', (engine) => {
  let ledger: Ledger
  beforeAll(async () => {
    ledger = await openLedger(await engine.open())
  })

  test.each<[Effect, string, readonly number[]]>([
    ['unsafe', 'succeeded by fence 1', [1]],
    ['idempotent', 'succeeded by fence 2', [1, 2]],
  ])('%s: %s', async (effect, outcome, fences) => {
    const tenant = newTenant()
    const seen: number[] = []
    let blocked!: () => void
    let release!: () => void
    const afterBlock = new Promise<void>((resolve) => {
      blocked = resolve
    })
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    const executorOf = (execute: (fence: number) => unknown, itsLedger: Ledger = ledger): Executor => {
      const gate = gateOf([
        tool('t', {
          effect,
          execute: (_, { fence }) => {
            seen.push(fence)
            return execute(fence)
          },
        }),
      ])
      const executor = createGatedExecutor({
        gate,
        tools: ['t'],
        ledger: itsLedger,
        tenant,
        leaseMs: LEASE_MS,
        recoverEveryMs: 0,
        waitMs: 0,
      })
      onTestFinished(() => executor.close())
      return executor
    }
    const held = executorOf(
      async (fence) => {
        block(LEASE_MS * 3)
        blocked()
        await released
        return `by fence ${fence}`
      },
      {
        ...ledger,
        // Its heartbeat is due, and the other worker is faster.
        heartbeat: async (claims, leaseMs) => {
          if (seen.length > 0) await released
          return await ledger.heartbeat(claims, leaseMs)
        },
      },
    )
    const running = held.run({ choice: 0, calls: [call('t')] }, { runId: 'run', turn: 1 })
    await afterBlock
    const report = await executorOf((fence) => `by fence ${fence}`).recover()
    expect([report.finished.length, report.unknown.length]).toEqual(effect === 'unsafe' ? [0, 1] : [1, 0])
    release()
    const { results } = await running
    expect(`${results[0]?.status} ${results[0]?.content.replaceAll('"', '')}`).toBe(outcome)
    expect(seen).toEqual(fences)
  })
})
