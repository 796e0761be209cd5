import type { Principal } from '../authorize/principal.ts'
import type { Gate } from '../gate.ts'
import type { Approval, ApprovalDecision } from '../ledger/approval.ts'
import type { Ledger } from '../ledger/ledger.ts'
import { LONGEST_TIMER_MS } from '../longest-timer.ts'

export interface ExecutorOptions {
  /** All checks before the ledger. */
  readonly gate: Gate
  /** Names of the tools that this executor runs; executions of others are left to other workers. */
  readonly tools: readonly string[]
  readonly ledger: Ledger
  /** From authentication; never from the model. */
  readonly tenant: string
  readonly workflow?: string
  readonly principal?: Principal
  /** One call that may not run holds the others of its batch (`hold-all`), or does not. Default `hold-all`. */
  readonly batch?: 'hold-all' | 'run-the-rest'
  /** Tools that run at once. Default 8. */
  readonly concurrency?: number
  /** How long a claim counts without a heartbeat, in milliseconds. Default 30 000; renewed three times as often. */
  readonly leaseMs?: number
  /** Claims of one execution that is run again after crashes, before it is given up as unknown. Default 5. */
  readonly maxAttempts?: number
  /** How often to look for executions of dead workers, in milliseconds, with a little randomness. Default 15 000; 0 = never. */
  readonly recoverEveryMs?: number
  /** How long to wait for an execution that another worker runs, in milliseconds. Default 30 000. */
  readonly waitMs?: number
  /** Time for a tool that names none, in milliseconds. Default 300 000. */
  readonly timeoutMs?: number
  /** Time for an aborted tool to stop, in milliseconds. Default 5 000. */
  readonly abortGraceMs?: number
  /** When to try an idempotent tool again that failed, or to ask again about an operation, in milliseconds. Default 5 000. */
  readonly tryAgainMs?: number
  /** A greater result is cut short, in UTF-8 bytes. Default 262 144. */
  readonly maxResultBytes?: number
  /**
   * Asks a person, and waits for the answer. Without it, or when it gives none, the batch ends as `pending` and goes on when
   * it is handed over again after `ledger.decideApproval`.
   */
  readonly approve?: (approval: Approval, signal: AbortSignal) => Promise<ApprovalDecision | undefined>
  /** Told of failures of background work: heartbeats and recovery. */
  readonly onBackgroundError?: (error: unknown) => void
}

export interface ExecutorSettings {
  readonly batch: 'hold-all' | 'run-the-rest'
  readonly concurrency: number
  readonly leaseMs: number
  readonly maxAttempts: number
  readonly recoverEveryMs: number
  readonly waitMs: number
  readonly timeoutMs: number
  readonly abortGraceMs: number
  readonly tryAgainMs: number
  readonly maxResultBytes: number
}

const DEFAULTS: ExecutorSettings = {
  batch: 'hold-all',
  concurrency: 8,
  leaseMs: 30_000,
  maxAttempts: 5,
  recoverEveryMs: 15_000,
  waitMs: 30_000,
  timeoutMs: 300_000,
  abortGraceMs: 5_000,
  tryAgainMs: 5_000,
  maxResultBytes: 256 * 1024,
}

const LEAST: Readonly<Partial<Record<keyof ExecutorSettings, number>>> = {
  concurrency: 1,
  leaseMs: 10,
  maxAttempts: 1,
  timeoutMs: 1,
  maxResultBytes: 256,
}

/**
 * @throws {RangeError} for a number that makes no sense
 * @throws {TypeError} for a tenant that is none, and without a ledger
 */
export function settingsOf(options: ExecutorOptions): ExecutorSettings {
  const { tenant, ledger } = options
  if (typeof (ledger as Partial<Ledger> | undefined)?.release !== 'function') {
    throw new TypeError('ledger is missing: pass what `await openLedger(store)` gives, with `store` from `openStore`')
  }
  // Databases keep neither NUL nor half a pair, and what takes their place could be another tenant's name.
  if (typeof tenant !== 'string' || tenant === '' || /\0|\p{Cs}/u.test(tenant)) {
    throw new TypeError('tenant must be a name, without NUL and lone surrogates')
  }
  const settings = { ...DEFAULTS }
  for (const name of Object.keys(DEFAULTS) as (keyof ExecutorSettings)[]) {
    const value = options[name]
    if (value === undefined) continue
    if (typeof value === 'number' && !(value >= (LEAST[name] ?? 0))) {
      throw new RangeError(`${name} must be at least ${LEAST[name] ?? 0}, not ${value}`)
    }
    if (typeof value === 'number' && name.endsWith('Ms') && name !== 'waitMs' && value > LONGEST_TIMER_MS) {
      throw new RangeError(`${name} must be at most ${LONGEST_TIMER_MS} (24 days), not ${value}`)
    }
    Object.assign(settings, { [name]: typeof value === 'number' ? Math.ceil(value) : value })
  }
  return settings
}
