import { randomUUID } from 'node:crypto'
import type { ReadyToolCall } from 'streamfold'
import { clip } from 'streamfold/json'
import { crashPoint } from '../crash-point.ts'
import type { CallContext } from '../define/tool.ts'
import type { GateVerdict } from '../gate.ts'
import type { CancelAnswer, CancelledBatch } from '../ledger/cancel.ts'
import type { Claim } from '../ledger/claim.ts'
import type { Execution } from '../ledger/execution.ts'
import { LedgerError } from '../ledger/ledger-error.ts'
import type { CallStanding, CheckedCall } from '../ledger/release-request.ts'
import { messageOf, StoreError } from '../store/store-error.ts'
import { ActiveClaims } from './active-claims.ts'
import { aboutOf, checkedCall, repeated } from './checked-call.ts'
import { executeOnce } from './execute-once.ts'
import type { ExecutionSetting } from './execute-once.ts'
import type { BatchPlace, BatchResult, Executor, RecoveryReport, ToolBatch } from './executor-api.ts'
import { settingsOf } from './executor-options.ts'
import type { ExecutorOptions, ExecutorSettings } from './executor-options.ts'
import { Heart } from './heart.ts'
import { LateReports } from './late-reports.ts'
import { Slots } from './slots.ts'
import { contextJson, storedContext } from './stored-context.ts'
import { cancelledResult, executionResult, refusedResult, standingResult } from './tool-result.ts'
import type { AboutCall, ToolResult } from './tool-result.ts'

const POLL_MS = 100
const RECOVERY_LIMIT = 100
const RECORD_RETRIES_MS: readonly number[] = [20, 100, 500, 2_000, 5_000]

/** An executor behind a gate. Most programs use `createExecutor`, which builds the gate too. */
export function createGatedExecutor(options: ExecutorOptions): Executor {
  return new LedgerExecutor(options, settingsOf(options))
}

class LedgerExecutor implements Executor {
  readonly tenant: string
  readonly owner: string = randomUUID()
  readonly #options: ExecutorOptions
  readonly #settings: ExecutorSettings
  readonly #active = new ActiveClaims()
  readonly #slots: Slots
  readonly #heart: Heart
  readonly #late: LateReports
  readonly #running = new Set<Promise<unknown>>()
  #sweeper: NodeJS.Timeout | undefined
  #closed = false

  constructor(options: ExecutorOptions, settings: ExecutorSettings) {
    this.#options = options
    this.#settings = settings
    this.tenant = options.tenant
    this.#slots = new Slots(settings.concurrency)
    this.#heart = new Heart(options.ledger, this.#active, settings.leaseMs, (error) =>
      options.onBackgroundError?.(error),
    )
    this.#late = new LateReports(options.ledger, (error) => options.onBackgroundError?.(error))
    this.#scheduleRecovery()
  }

  async run(batch: ToolBatch, place: BatchPlace): Promise<BatchResult> {
    if (this.#closed) throw new StoreError('closed', 'the executor was closed')
    return await this.#track(this.#run(batch, place))
  }

  async recover(): Promise<RecoveryReport> {
    if (this.#closed) throw new StoreError('closed', 'the executor was closed')
    return await this.#track(this.#recover())
  }

  async cancel(runId: string, by: string): Promise<CancelAnswer> {
    const answer = await this.#options.ledger.cancelRun(this.tenant, runId, by)
    await this.#heart.beat()
    return answer
  }

  async close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#sweeper)
    while (this.#running.size > 0) await Promise.allSettled(this.#running)
    await this.#heart.stop()
    await this.#late.close()
  }

  async #run(batch: ToolBatch, place: BatchPlace): Promise<BatchResult> {
    const { calls, choice } = batch
    if (calls.length === 0) return { state: 'done', results: [] }
    const twice = repeated(calls)
    if (twice !== undefined) {
      const results = calls.map((call) => refusedResult(aboutOf(call), 'duplicate_call', 'call', twice))
      return { state: 'done', results }
    }
    const checked = await this.#check(calls, { ...place, choice })
    // Nothing is recorded yet, so nothing has to be taken back.
    if (place.signal?.aborted === true) {
      return { state: 'done', results: calls.map((call) => cancelledResult(aboutOf(call))) }
    }
    const first = await this.#release(checked, place, choice)
    if (first.some((standing) => standing.kind === 'needs_approval')) {
      await crashPoint('approval.stored')
      if (await this.#askPeople(first, place.signal)) {
        return await this.#finishBatch(batch, await this.#release(checked, place, choice), place)
      }
    }
    return await this.#finishBatch(batch, first, place)
  }

  /** Records the batch. Claims take their slots with them. */
  async #release(
    calls: readonly CheckedCall[],
    { runId, turn, signal }: BatchPlace,
    choice: number,
  ): Promise<readonly CallStanding[]> {
    // Slots for what can start at once: their claims share the commit of the release.
    let taken = 0
    if (signal?.aborted !== true) while (taken < calls.length && this.#slots.tryTake()) taken += 1
    try {
      const { leaseMs, batch: policy } = this.#settings
      const answer = await this.#options.ledger.release({
        tenant: this.tenant,
        runId,
        turn,
        choice,
        calls,
        policy,
        owner: this.owner,
        leaseMs,
        claimLimit: taken,
        contextJson: contextJson(this.#options),
      })
      taken -= answer.calls.filter(({ kind }) => kind === 'claimed').length
      return answer.calls
    } finally {
      for (; taken > 0; taken -= 1) this.#slots.give()
    }
  }

  async #finishBatch(
    { calls, choice }: ToolBatch,
    standings: readonly CallStanding[],
    { runId, turn, signal }: BatchPlace,
  ): Promise<BatchResult> {
    const first = await Promise.all(
      standings.map(async (standing, at): Promise<ToolResult> => {
        const about = aboutOf(calls[at] as ReadyToolCall)
        switch (standing.kind) {
          case 'refused':
          case 'needs_approval':
            return standingResult(about, standing)
          case 'claimed':
            return await this.#runClaimed(about, standing.claim, signal)
          case 'execution':
            return await this.#attach(about, standing.execution, standing.replayed, signal)
        }
      }),
    )
    let results = first
    if (signal?.aborted === true && first.some(({ code }) => code === 'in_progress')) {
      const stopped = await this.#stopWaiting({ tenant: this.tenant, runId, turn, choice })
      const gone = new Set(stopped.filter(({ result }) => result === 'cancelled').map(({ callId }) => callId))
      results = first.map((result) => (gone.has(result.callId) ? cancelledResult(result) : result))
    }
    return { state: results.some(({ status }) => status === 'pending') ? 'pending' : 'done', results }
  }

  /** A store that can't be written leaves them waiting, which is what their results say. */
  async #stopWaiting(batch: CancelledBatch): Promise<CancelAnswer['calls']> {
    try {
      return (await this.#options.ledger.cancelBatch(batch, this.owner)).calls
    } catch (error) {
      if (!(error instanceof StoreError)) throw error
      this.#options.onBackgroundError?.(error)
      return []
    }
  }

  /** @returns whether somebody answered */
  async #askPeople(standings: readonly CallStanding[], signal: AbortSignal | undefined): Promise<boolean> {
    const { approve, ledger } = this.#options
    if (approve === undefined) return false
    const answers = await Promise.all(
      standings.map(async (standing) => {
        if (standing.kind !== 'needs_approval') return false
        const approval = await ledger.findApproval(this.tenant, standing.approvalId)
        if (approval === undefined || approval.decision !== null) return approval !== undefined
        const decision = await approve(approval, signal ?? new AbortController().signal)
        if (decision === undefined) return false
        try {
          await ledger.decideApproval(this.tenant, standing.approvalId, decision)
        } catch (error) {
          // Someone else was faster, or it was too late: either way it is decided.
          if (!(error instanceof LedgerError)) throw error
        }
        return true
      }),
    )
    return answers.includes(true)
  }

  async #check(
    calls: readonly ReadyToolCall[],
    place: BatchPlace & { readonly choice: number },
  ): Promise<readonly CheckedCall[]> {
    await crashPoint('gate.before')
    const used = new Set<string>()
    const checked: CheckedCall[] = []
    for (const call of calls) {
      const context = { ...this.#contextOf(place, place.choice), usedCallIds: new Set(used) }
      checked.push(checkedCall(call, await this.#ask(() => this.#options.gate.check(call, context))))
      used.add(call.callId)
    }
    await crashPoint('gate.validated')
    return checked
  }

  /** A gate never throws; if it does, that is a no. */
  async #ask(question: () => Promise<GateVerdict>): Promise<GateVerdict> {
    try {
      return await question()
    } catch (error) {
      return {
        kind: 'refuse',
        code: 'check_failed',
        phase: 'authorize',
        message: 'the check of this call failed',
        evidence: [{ check: 'permission', outcome: 'fail', detail: clip(messageOf(error), 300) }],
      }
    }
  }

  #contextOf(
    place: { runId: string; turn: number; attempt?: number; signal?: AbortSignal },
    choice: number,
  ): CallContext {
    const { workflow, principal } = this.#options
    return {
      tenant: this.tenant,
      ...(workflow === undefined ? {} : { workflow }),
      ...(principal === undefined ? {} : { principal }),
      runId: place.runId,
      turn: place.turn,
      attempt: place.attempt ?? 1,
      choice,
      ...(place.signal === undefined ? {} : { signal: place.signal }),
    }
  }

  /** Holds a slot already. */
  async #runClaimed(about: AboutCall, claim: Claim, signal: AbortSignal | undefined): Promise<ToolResult> {
    const execution = await this.#execute(claim, signal)
    if (execution.state !== 'executing') return executionResult(about, execution, false)
    // It failed and may be tried again: whoever recovers it next says how it ends.
    return await this.#attach(about, execution, false, signal)
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
      this.#slots.give()
    }
  }

  #settingFor(signal: AbortSignal | undefined): ExecutionSetting {
    const { ledger, gate } = this.#options
    return {
      ledger,
      active: this.#active,
      contextOf: storedContext,
      ...this.#settings,
      ...(signal === undefined ? {} : { signal }),
      recordRetriesMs: RECORD_RETRIES_MS,
      reportLater: (claim, outcome) => this.#late.add(claim, outcome),
      recheck: async (execution) => {
        if (execution.tenant !== this.tenant) return { kind: 'refuse', reason: 'it belongs to another tenant' }
        const stored = { callId: execution.callId, name: execution.tool, inputJson: execution.inputJson }
        const verdict = await this.#ask(() => gate.recheck(stored, storedContext(execution)))
        if (verdict.kind === 'refuse') return { kind: 'refuse', reason: verdict.message }
        if (verdict.argumentsHash !== execution.argumentsHash) {
          return { kind: 'refuse', reason: 'the stored arguments are not those that were authorized' }
        }
        // The policy may ask for more by now than it did when the call was released.
        if (verdict.approval !== undefined && !(await ledger.isApproved(execution))) {
          return { kind: 'refuse', reason: 'a person has to agree to it, and did not' }
        }
        return { kind: 'pass', pass: verdict }
      },
    }
  }

  /**
   * Waits for an execution that is not ours yet: takes it when it is ready, else watches it. Where the store can't be asked it is
   * under way, as far as anybody knows: the batch's other calls may have run, and keep their results.
   */
  async #attach(
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
        if (claim !== undefined) return await this.#runClaimed(about, claim, signal)
      } else if (current.state === 'executing') {
        if (current.owner === this.owner) await this.#takeOver(current.key)
      } else if (current.state !== 'ready') {
        return executionResult(about, current, replayed)
      }
      if (performance.now() >= until || signal?.aborted === true) break
      await new Promise((resolve) => setTimeout(resolve, POLL_MS))
      current = await this.#options.ledger.find(this.tenant, execution.key)
    }
    if (current === undefined) return cancelledResult(about)
    return executionResult(about, current, replayed)
  }

  /** What this executor left for later is taken up again as soon as its time has come, by whoever waits for it. */
  async #takeOver(key: string): Promise<void> {
    if (this.#active.claims.some((claim) => claim.execution.key === key) || !this.#slots.tryTake()) return
    let claim: Claim | undefined
    try {
      const { leaseMs, maxAttempts } = this.#settings
      const { ledger, tools } = this.#options
      const common = { tenant: this.tenant, owner: this.owner, leaseMs, tools, maxAttempts, limit: 1, key }
      claim = (await ledger.reclaimExpired(common))[0]
    } finally {
      if (claim === undefined) this.#slots.give()
    }
    if (claim !== undefined) await this.#execute(claim, undefined)
  }

  async #takeSlotAndClaim(key: string, signal: AbortSignal | undefined): Promise<Claim | undefined> {
    await this.#slots.take()
    let claim: Claim | undefined
    try {
      if (signal?.aborted !== true) {
        const { leaseMs } = this.#settings
        claim = await this.#options.ledger.claimOne({ tenant: this.tenant, owner: this.owner, leaseMs }, key)
      }
      return claim
    } finally {
      if (claim === undefined) this.#slots.give()
    }
  }

  async #recover(): Promise<RecoveryReport> {
    const { ledger, tools } = this.#options
    const { leaseMs, maxAttempts } = this.#settings
    // Our own first: a process that was held up must not take itself for dead.
    await this.#heart.beat()
    const unknown = await ledger.sweepExpired({ tenant: this.tenant, maxAttempts, limit: RECOVERY_LIMIT })
    let taken = 0
    while (taken < RECOVERY_LIMIT && this.#slots.tryTake()) taken += 1
    let claims: readonly Claim[] = []
    try {
      const common = { tenant: this.tenant, owner: this.owner, leaseMs, tools }
      claims = await ledger.reclaimExpired({ ...common, limit: taken, maxAttempts })
      if (claims.length < taken) {
        claims = [...claims, ...(await ledger.claimReady({ ...common, limit: taken - claims.length }))]
      }
    } finally {
      for (let left = taken - claims.length; left > 0; left -= 1) this.#slots.give()
    }
    const finished = await Promise.all(claims.map((claim) => this.#execute(claim, undefined)))
    return { finished, unknown }
  }

  #scheduleRecovery(): void {
    const { recoverEveryMs } = this.#settings
    if (recoverEveryMs === 0 || this.#closed) return
    // Spread out, so that several workers do not sweep in step.
    const delay = recoverEveryMs * (0.75 + Math.random() / 2)
    this.#sweeper = setTimeout(() => {
      this.#track(this.#recover())
        .catch((error: unknown) => this.#options.onBackgroundError?.(error))
        .finally(() => this.#scheduleRecovery())
    }, delay)
    this.#sweeper.unref()
  }

  async #track<T>(work: Promise<T>): Promise<T> {
    this.#running.add(work)
    try {
      return await work
    } finally {
      this.#running.delete(work)
    }
  }
}
