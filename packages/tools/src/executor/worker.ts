import { randomUUID } from 'node:crypto'
import type { CancelAnswer } from '../ledger/cancel.ts'
import type { Claim } from '../ledger/claim.ts'
import type { Execution } from '../ledger/execution.ts'
import { StoreError } from '../store/store-error.ts'
import { messageOf } from '../thrown.ts'
import { ActiveClaims } from './active-claims.ts'
import { executeOnce } from './execute-once.ts'
import type { ExecutionSetting } from './execute-once.ts'
import type { RecoveryReport } from './executor-api.ts'
import type { ExecutorOptions, ExecutorSettings } from './executor-options.ts'
import { Heart } from './heart.ts'
import { LateReports } from './late-reports.ts'
import { recheck } from './recheck.ts'
import { Slots } from './slots.ts'
import { cancelledResult, executionResult } from './tool-result.ts'
import type { AboutCall, ToolResult } from './tool-result.ts'

const POLL_MS = 100
const RECOVERY_LIMIT = 100
const RECORD_RETRIES_MS: readonly number[] = [20, 100, 500, 2_000, 5_000]

/** Runs executions to their end: as many at once as there are slots, each under a claim whose lease it keeps. */
export class Worker {
  /** Whoever claims for this worker takes the slot of the claim with it. */
  readonly slots: Slots
  readonly owner: string = randomUUID()
  readonly #options: ExecutorOptions
  readonly #settings: ExecutorSettings
  readonly #active = new ActiveClaims()
  readonly #heart: Heart
  readonly #late: LateReports

  constructor(options: ExecutorOptions, settings: ExecutorSettings) {
    const onError = (error: unknown): void => options.onBackgroundError?.(error)
    this.slots = new Slots(settings.concurrency)
    this.#options = options
    this.#settings = settings
    this.#heart = new Heart(options.ledger, this.#active, settings.leaseMs, onError)
    this.#late = new LateReports(options.ledger, onError)
  }

  /** Holds a slot already. */
  async runClaimed(about: AboutCall, claim: Claim, signal: AbortSignal | undefined): Promise<ToolResult> {
    const execution = await this.#execute(claim, signal)
    if (execution.state !== 'executing') return executionResult(about, execution, false)
    // It failed and may be tried again: whoever recovers it next says how it ends.
    return await this.attach(about, execution, false, signal)
  }

  async #execute(claim: Claim, signal: AbortSignal | undefined): Promise<Execution> {
    this.#heart.start()
    try {
      return await executeOnce(claim, this.#settingFor(signal))
    } catch (error) {
      // Its end could not be recorded: nobody may take it for not run.
      this.#options.onBackgroundError?.(error)
      return { ...claim.execution, state: 'unknown', code: 'outcome_unknown', message: messageOf(error) }
    } finally {
      this.slots.give()
    }
  }

  #settingFor(signal: AbortSignal | undefined): ExecutionSetting {
    return {
      ledger: this.#options.ledger,
      active: this.#active,
      ...this.#settings,
      ...(signal === undefined ? {} : { signal }),
      recordRetriesMs: RECORD_RETRIES_MS,
      reportLater: (claim, outcome) => this.#late.add(claim, outcome),
      recheck: (execution) => recheck(execution, this.#options),
    }
  }

  /**
   * Waits for an execution that is not ours yet: takes it when it is ready, else watches it. Where the store can't be asked it is
   * under way, as far as anybody knows: the batch's other calls may have run, and keep their results.
   */
  async attach(
    about: AboutCall,
    execution: Execution,
    replayed: boolean,
    signal: AbortSignal | undefined,
  ): Promise<ToolResult> {
    try {
      return await this.#watch(about, execution, replayed, signal)
    } catch (error) {
      if (!(error instanceof StoreError)) throw error
      this.#options.onBackgroundError?.(error)
      return executionResult(about, execution, replayed)
    }
  }

  async #watch(
    about: AboutCall,
    execution: Execution,
    replayed: boolean,
    signal: AbortSignal | undefined,
  ): Promise<ToolResult> {
    const until = performance.now() + this.#settings.waitMs
    let current: Execution | undefined = execution
    while (current !== undefined) {
      if (current.state === 'ready' && signal?.aborted !== true) {
        const claim = await this.#takeSlotAndClaim(current.key, signal)
        if (claim !== undefined) return await this.runClaimed(about, claim, signal)
      } else if (current.state === 'executing') {
        if (current.owner === this.owner) await this.#takeOver(current.key)
      } else if (current.state !== 'ready') {
        return executionResult(about, current, replayed)
      }
      if (performance.now() >= until || signal?.aborted === true) break
      await new Promise((resolve) => setTimeout(resolve, POLL_MS))
      current = await this.#options.ledger.find(this.#options.tenant, execution.key)
    }
    if (current === undefined) return cancelledResult(about)
    return executionResult(about, current, replayed)
  }

  /** What this executor left for later is taken up again as soon as its time has come, by whoever waits for it. */
  async #takeOver(key: string): Promise<void> {
    if (this.#active.claims.some((claim) => claim.execution.key === key) || !this.slots.tryTake()) return
    let claim: Claim | undefined
    try {
      const { leaseMs, maxAttempts } = this.#settings
      const { ledger, tools } = this.#options
      const common = { tenant: this.#options.tenant, owner: this.owner, leaseMs, tools, maxAttempts, limit: 1, key }
      claim = (await ledger.reclaimExpired(common))[0]
    } finally {
      if (claim === undefined) this.slots.give()
    }
    if (claim !== undefined) await this.#execute(claim, undefined)
  }

  async #takeSlotAndClaim(key: string, signal: AbortSignal | undefined): Promise<Claim | undefined> {
    await this.slots.take()
    let claim: Claim | undefined
    try {
      if (signal?.aborted !== true) {
        const { leaseMs } = this.#settings
        claim = await this.#options.ledger.claimOne({ tenant: this.#options.tenant, owner: this.owner, leaseMs }, key)
      }
      return claim
    } finally {
      if (claim === undefined) this.slots.give()
    }
  }

  /** Takes what dead workers left and what nobody began, as much of it as there are slots. */
  async recover(): Promise<RecoveryReport> {
    const { ledger, tenant, tools } = this.#options
    const { leaseMs, maxAttempts } = this.#settings
    // Our own first: a process that was held up must not take itself for dead.
    await this.#heart.beat()
    const unknown = await ledger.sweepExpired({ tenant, maxAttempts, limit: RECOVERY_LIMIT })
    const taken = this.slots.takeUpTo(RECOVERY_LIMIT)
    let claims: readonly Claim[] = []
    try {
      const common = { tenant, owner: this.owner, leaseMs, tools }
      claims = await ledger.reclaimExpired({ ...common, limit: taken, maxAttempts })
      if (claims.length < taken) {
        claims = [...claims, ...(await ledger.claimReady({ ...common, limit: taken - claims.length }))]
      }
    } finally {
      this.slots.give(taken - claims.length)
    }
    const finished = await Promise.all(claims.map((claim) => this.#execute(claim, undefined)))
    return { finished, unknown }
  }

  /** Cancels a run, and tells its tools that run here. */
  async cancel(runId: string, by: string): Promise<CancelAnswer> {
    const { ledger, tenant } = this.#options
    const answer = await ledger.cancelRun(tenant, runId, by)
    await this.#heart.beat()
    return answer
  }

  /** To be called once nothing runs any more. */
  async close(): Promise<void> {
    await this.#heart.stop()
    await this.#late.close()
  }
}
