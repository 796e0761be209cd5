import type { ToolResult } from '../src/executor/tool-result.ts'
import { openLedger } from '../src/ledger/index.ts'
import type { Execution } from '../src/ledger/index.ts'
import { openStore } from '../src/store/index.ts'
import { EFFECT_OF } from './plan.ts'
import type { PlannedRun } from './plan.ts'
import { TENANT } from './protocol.ts'

/** What the workers were heard to say. */
export interface Heard {
  /** Last result of each call, by run and call. */
  readonly results: ReadonlyMap<string, ToolResult>
  /** Calls of which it was said that they were cancelled before they began. */
  readonly cancelled: ReadonlySet<string>
}

export interface Findings {
  /** Deeds done more than once, reads aside. */
  readonly doubled: readonly string[]
  /** Reads that were run again, which is allowed. */
  readonly readsAgain: number
  /** Acknowledged facts that the ledger does not have, and deeds that it does not know of. */
  readonly lost: readonly string[]
  readonly unknown: number
  /** Of those, how many had been done. */
  readonly unknownDone: number
  readonly executions: number
}

const isRead = (deed: string): boolean => deed.startsWith('look-')

export const nameOf = (runId: string, callId: string): string => `${runId}/${callId}`

/** Compares what happened outside, what was acknowledged, and what the ledger says. */
export async function verify(
  address: string,
  runs: readonly PlannedRun[],
  counts: ReadonlyMap<string, number>,
  heard: Heard,
): Promise<Findings> {
  const store = await openStore(address, { lockWaitMs: 30_000 })
  try {
    const lost: string[] = []
    if (store.dialect.name === 'sqlite') {
      const [check] = await store.query<{ integrity_check: string }>('pragma integrity_check')
      if (check?.integrity_check !== 'ok') lost.push(`the file is broken: ${check?.integrity_check}`)
    }
    const ledger = await openLedger(store)
    const executions = await ledger.list(TENANT, { limit: 1_000_000 })
    const byDeed = new Map<string, Execution[]>()
    for (const execution of executions) {
      const { deed } = JSON.parse(execution.inputJson) as { deed: string }
      byDeed.set(deed, [...(byDeed.get(deed) ?? []), execution])
    }
    lost.push(...deedsWithoutRow(counts, byDeed), ...(await brokenPromises(ledger, runs, counts, heard)))
    lost.push(...(await brokenEvidence(store, executions)))
    const several = [...counts].filter(([, count]) => count > 1)
    const unknown = [...byDeed].filter(([, rows]) => rows.some(({ state }) => state === 'unknown'))
    return {
      doubled: several.filter(([deed]) => !isRead(deed)).map(([deed, count]) => `${deed} was done ${count} times`),
      readsAgain: several.filter(([deed]) => isRead(deed)).length,
      lost,
      unknown: unknown.length,
      unknownDone: unknown.filter(([deed]) => (counts.get(deed) ?? 0) > 0).length,
      executions: executions.length,
    }
  } finally {
    await store.close()
  }
}

/** What was done outside has a row that says that it may have been done; what succeeded was done. */
function deedsWithoutRow(
  counts: ReadonlyMap<string, number>,
  byDeed: ReadonlyMap<string, readonly Execution[]>,
): readonly string[] {
  const wrong: string[] = []
  for (const deed of counts.keys()) {
    const states = (byDeed.get(deed) ?? []).map(({ state }) => state)
    if (!states.some((state) => state === 'succeeded' || state === 'executing' || state === 'unknown')) {
      wrong.push(`${deed} was done, and the ledger says: ${states.join(', ') || 'nothing'}`)
    }
  }
  for (const [deed, rows] of byDeed) {
    if (rows.some(({ state }) => state === 'succeeded') && !counts.has(deed)) {
      wrong.push(`${deed} was not done, and the ledger says that it succeeded`)
    }
  }
  return wrong
}

/** What a worker acknowledged is still so. */
async function brokenPromises(
  ledger: Awaited<ReturnType<typeof openLedger>>,
  runs: readonly PlannedRun[],
  counts: ReadonlyMap<string, number>,
  heard: Heard,
): Promise<readonly string[]> {
  const wrong: string[] = []
  for (const run of runs) {
    const record = await ledger.readRun(TENANT, run.runId)
    const calls = new Map(record?.turns.flatMap((turn) => turn.calls).map((call) => [call.callId, call]))
    for (const [ordinal, planned] of run.calls.entries()) {
      const callId = `call_${ordinal}`
      const name = nameOf(run.runId, callId)
      const result = heard.results.get(name)
      const execution = calls.get(callId)?.execution
      if (result?.status === 'succeeded' && (execution?.state !== 'succeeded' || execution.result !== result.content)) {
        wrong.push(`${name} was acknowledged as done, and the ledger says ${execution?.state ?? 'nothing'}`)
      }
      // A deed that another run wants too may be done for that one.
      const shared = EFFECT_OF[planned.tool] === 'unsafe' && planned.deed.endsWith('-9')
      if (heard.cancelled.has(name) && counts.has(planned.deed) && !shared) {
        wrong.push(`${name} was acknowledged as cancelled, and was done`)
      }
    }
  }
  return wrong
}

/** Every claim has its evidence, numbered without gaps. */
async function brokenEvidence(
  store: Awaited<ReturnType<typeof openStore>>,
  executions: readonly Execution[],
): Promise<readonly string[]> {
  const rows = await store.query<{ op_key: string; n: number; top: number }>(
    'select op_key, count(*) as n, max(fence) as top from streamfold_attempt where tenant = $1 group by op_key',
    [TENANT],
  )
  const attempts = new Map(rows.map((row) => [row.op_key, row]))
  return executions
    .filter(({ key, fence }) => (attempts.get(key)?.n ?? 0) !== fence || (attempts.get(key)?.top ?? 0) !== fence)
    .map(({ key, fence }) => `${key} has fence ${fence} and ${attempts.get(key)?.n ?? 0} attempts`)
}
