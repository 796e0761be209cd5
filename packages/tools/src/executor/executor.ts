import type { ReadyToolCall } from 'streamfold'
import { crashPoint } from '../crash-point.ts'
import type { CallContext } from '../define/tool.ts'
import type { CancelAnswer, CancelledBatch } from '../ledger/cancel.ts'
import { LedgerError } from '../ledger/ledger-error.ts'
import type { CallStanding, CheckedCall } from '../ledger/release-request.ts'
import { StoreError } from '../store/store-error.ts'
import { askGate } from './ask-gate.ts'
import { aboutOf, checkedCall, repeated } from './checked-call.ts'
import type { BatchPlace, BatchResult, Executor, RecoveryReport, ToolBatch } from './executor-api.ts'
import { settingsOf } from './executor-options.ts'
import type { ExecutorOptions, ExecutorSettings } from './executor-options.ts'
import { contextJson } from './stored-context.ts'
import { cancelledResult, refusedResult, standingResult } from './tool-result.ts'
import type { ToolResult } from './tool-result.ts'
import { Worker } from './worker.ts'

/** An executor behind a gate. Most programs use `createExecutor`, which builds the gate too. */
export function createGatedExecutor(options: ExecutorOptions): Executor {
  return new LedgerExecutor(options, settingsOf(options))
}

class LedgerExecutor implements Executor {
  readonly tenant: string
  readonly owner: string
  readonly #options: ExecutorOptions
  readonly #settings: ExecutorSettings
  readonly #worker: Worker
  readonly #running = new Set<Promise<unknown>>()
  #sweeper: NodeJS.Timeout | undefined
  #closed = false

  constructor(options: ExecutorOptions, settings: ExecutorSettings) {
    this.#options = options
    this.#settings = settings
    this.tenant = options.tenant
    this.#worker = new Worker(options, settings)
    this.owner = this.#worker.owner
    this.#scheduleRecovery()
  }

  async run(batch: ToolBatch, place: BatchPlace): Promise<BatchResult> {
    if (this.#closed) throw new StoreError('closed', 'the executor was closed')
    return await this.#track(this.#run(batch, place))
  }

  async recover(): Promise<RecoveryReport> {
    if (this.#closed) throw new StoreError('closed', 'the executor was closed')
    return await this.#track(this.#worker.recover())
  }

  async cancel(runId: string, by: string): Promise<CancelAnswer> {
    return await this.#worker.cancel(runId, by)
  }

  async close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#sweeper)
    while (this.#running.size > 0) await Promise.allSettled(this.#running)
    await this.#worker.close()
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
    let taken = signal?.aborted === true ? 0 : this.#worker.slots.takeUpTo(calls.length)
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
      this.#worker.slots.give(taken)
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
          case 'waits':
            return standingResult(about, standing)
          case 'claimed':
            return await this.#worker.runClaimed(about, standing.claim, signal)
          case 'execution':
            return await this.#worker.attach(about, standing.execution, standing.replayed, signal)
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
      checked.push(checkedCall(call, await askGate(() => this.#options.gate.check(call, context))))
      used.add(call.callId)
    }
    await crashPoint('gate.validated')
    return checked
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

  #scheduleRecovery(): void {
    const { recoverEveryMs } = this.#settings
    if (recoverEveryMs === 0 || this.#closed) return
    // Spread out, so that several workers do not sweep in step.
    const delay = recoverEveryMs * (0.75 + Math.random() / 2)
    this.#sweeper = setTimeout(() => {
      this.#track(this.#worker.recover())
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
