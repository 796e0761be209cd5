import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { executeOnce } from '../../src/executor/execute-once.ts'
import type { ExecutionSetting } from '../../src/executor/execute-once.ts'
import { ActiveClaims } from '../../src/executor/active-claims.ts'
import { LateReports } from '../../src/executor/late-reports.ts'
import { Claim } from '../../src/ledger/claim.ts'
import type { Execution } from '../../src/ledger/execution.ts'
import type { ExecutionOutcome } from '../../src/ledger/finish.ts'
import type { Ledger } from '../../src/ledger/ledger.ts'
import { StoreError } from '../../src/store/index.ts'
import { tool } from './fixtures.ts'

const execution = {
  tenant: 'a',
  key: 'k',
  tool: 't',
  effect: 'unsafe',
  fence: 1,
  callId: 'c',
  contextJson: '{}',
} as Execution
const done: ExecutionOutcome = { state: 'succeeded', result: '1', truncated: false }
const away = new StoreError('unavailable', 'away')

/** A ledger that can't be written until it is told to come back. */
function awayLedger(): { ledger: Ledger; recorded: ExecutionOutcome[]; error: { value: Error | undefined } } {
  const recorded: ExecutionOutcome[] = []
  const error: { value: Error | undefined } = { value: away }
  const ledger = {
    finish: async (_: Claim, outcome: ExecutionOutcome) => {
      if (error.value !== undefined) throw error.value
      recorded.push(outcome)
      return { kind: 'recorded', execution }
    },
  } as unknown as Ledger
  return { ledger, recorded, error }
}

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

test('an outcome that could not be recorded in time is handed over, and its caller is told that it is not known', async () => {
  const { ledger } = awayLedger()
  const later: ExecutionOutcome[] = []
  const setting = {
    ledger,
    active: new ActiveClaims(),
    recheck: async () => ({ kind: 'pass', pass: { tool: tool('t', { execute: () => 1 }), args: {} } }),
    leaseMs: 30_000,
    maxResultBytes: 1000,
    timeoutMs: 1000,
    abortGraceMs: 0,
    maxAttempts: 1,
    tryAgainMs: 1,
    recordRetriesMs: [],
    reportLater: (_: Claim, outcome: ExecutionOutcome) => later.push(outcome),
  } as unknown as ExecutionSetting
  await expect(executeOnce(new Claim(execution, 'me'), setting)).rejects.toBe(away)
  expect(later).toEqual([done])
})

test('it is tried until the ledger is back', async () => {
  const { ledger, recorded, error } = awayLedger()
  const errors: unknown[] = []
  const late = new LateReports(ledger, (thrown) => errors.push(thrown))
  late.add(new Claim(execution, 'me'), done)
  await vi.advanceTimersByTimeAsync(60_000)
  expect(recorded).toEqual([])
  expect(errors.length).toBe(12)
  error.value = undefined
  await vi.advanceTimersByTimeAsync(5_000)
  expect(recorded).toEqual([done])
  await vi.advanceTimersByTimeAsync(60_000)
  expect(recorded).toEqual([done])
  expect(vi.getTimerCount()).toBe(0)
})

test('what the ledger will never take is dropped', async () => {
  const { ledger, error } = awayLedger()
  error.value = new StoreError('closed', 'closed')
  const late = new LateReports(ledger, () => {})
  late.add(new Claim(execution, 'me'), done)
  await vi.advanceTimersByTimeAsync(5_000)
  expect(vi.getTimerCount()).toBe(0)
})

test('close tries once more, and leaves the rest', async () => {
  const { ledger, recorded, error } = awayLedger()
  const late = new LateReports(ledger, () => {})
  late.add(new Claim(execution, 'me'), done)
  await late.close()
  expect([recorded.length, vi.getTimerCount()]).toEqual([0, 0])

  const other = new LateReports(ledger, () => {})
  other.add(new Claim(execution, 'me'), done)
  error.value = undefined
  await other.close()
  expect(recorded).toEqual([done])
})
