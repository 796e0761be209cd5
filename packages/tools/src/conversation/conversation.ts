import type { ReportError, StreamReport } from 'streamfold'
import type { ToolResult } from '../executor/tool-result.ts'
import { LedgerError } from '../ledger/ledger-error.ts'
import { abortableWait } from './abortable-wait.ts'
import { NOTHING_SPENT, spend, usedUp } from './budget.ts'
import type { Spent } from './budget.ts'
import type { ConversationEvent } from './conversation-event.ts'
import { limitsOf } from './conversation-options.ts'
import type { ConversationLimits, ConversationOptions } from './conversation-options.ts'
import type { ConversationResult, StopReason } from './conversation-result.ts'
import type { Message } from './message.ts'
import { nextStep } from './next-step.ts'
import { readAnswer } from './read-answer.ts'
import type { AnswerReading } from './read-answer.ts'
import { encodeAnswer, storedAnswer } from './stored-answer.ts'
import type { StoredAnswer } from './stored-answer.ts'
import { resultsOf, toolMessages } from './tool-messages.ts'
import { reportWithResults } from '../verdict/report-with-results.ts'

/** An answer that is on the disk, and the turn it is of. */
export interface AnsweredTurn {
  readonly turn: number
  readonly answer: StoredAnswer
  /** Of its stream, where this process read it. */
  readonly report?: StreamReport
}

type Stopped = { readonly state: 'stopped'; readonly reason: StopReason; readonly error?: ReportError }

/**
 * Model → tools → model, until there is a final answer or a reason to stop. An answer is on the disk before anything of it is
 * run, and what was run is in the ledger, so it can go on from there in any process.
 */
export class Conversation {
  readonly #options: ConversationOptions
  readonly #limits: ConversationLimits
  readonly #signal: AbortSignal
  readonly #messages: Message[]
  #spent: Spent = NOTHING_SPENT
  #turns = 0

  constructor(options: ConversationOptions, messages: readonly Message[]) {
    this.#options = options
    this.#limits = limitsOf(options)
    this.#signal = options.signal ?? new AbortController().signal
    this.#messages = [...messages]
  }

  /** Takes in an earlier turn with what came of its calls. */
  recall({ answer }: AnsweredTurn, results: readonly ToolResult[]): void {
    this.#take(answer)
    this.#messages.push(...toolMessages(answer, results))
  }

  /** Goes on, with the last answer there is when its calls may not be done yet. */
  async goOn(last: AnsweredTurn | undefined): Promise<ConversationResult> {
    if (last !== undefined) this.#take(last.answer)
    try {
      return await this.#loop(last)
    } catch (error) {
      const reason = error instanceof LedgerError ? LEDGER_STOPS[error.code] : undefined
      if (reason === undefined) throw error
      return this.#result({ state: 'stopped', reason })
    }
  }

  async #loop(last: AnsweredTurn | undefined): Promise<ConversationResult> {
    let current = last
    for (;;) {
      if (current !== undefined) {
        const ended = await this.#act(current)
        if (ended !== undefined) return ended
      }
      const bound = this.#bound()
      if (bound !== undefined) return this.#result(bound)
      const asked = await this.#ask()
      if ('state' in asked) return this.#result(asked)
      current = asked
      this.#take(asked.answer)
    }
  }

  /** Does what an answer asks for. Gives a result when the conversation ends with it. */
  async #act({ turn, answer, report }: AnsweredTurn): Promise<ConversationResult | undefined> {
    const step = nextStep(answer)
    switch (step) {
      case 'final':
        return this.#result({ state: 'finished', text: answer.message.text })
      case 'continue':
        return undefined
      case 'truncated':
      case 'refused':
      case 'held':
        return this.#result({ state: 'stopped', reason: step })
      case 'run_tools': {
        const { runId, executor } = this.#options
        if (this.#signal.aborted) return this.#result({ state: 'stopped', reason: 'cancelled' })
        const { calls } = answer
        this.#publish({ type: 'tools_started', turn, calls })
        const { state, results } = await executor.run({ choice: 0, calls }, { runId, turn, signal: this.#signal })
        const all = resultsOf(answer, results)
        this.#publish({
          type: 'tool_results',
          turn,
          results: all,
          ...(report === undefined ? {} : { report: reportWithResults(report, [{ results: all }]) }),
        })
        if (all.some(({ code }) => code === 'stale_attempt')) {
          return this.#result({ state: 'stopped', reason: 'superseded' })
        }
        if (state === 'pending') {
          // After a cancel nobody waits any more, though the calls do.
          if (this.#signal.aborted) return this.#result({ state: 'stopped', reason: 'cancelled' })
          return this.#result({ state: 'pending', waiting: all.filter(({ status }) => status === 'pending') })
        }
        this.#messages.push(...toolMessages(answer, results))
        return undefined
      }
    }
  }

  #bound(): Stopped | undefined {
    if (this.#signal.aborted) return { state: 'stopped', reason: 'cancelled' }
    if (this.#turns >= this.#limits.maxTurns) return { state: 'stopped', reason: 'max_turns' }
    const { budget } = this.#options
    if (budget !== undefined && usedUp(budget, this.#spent) !== undefined) return { state: 'stopped', reason: 'budget' }
    return undefined
  }

  /** Asks the model until an answer holds, or asking again makes no sense. Every attempt is a turn of its own. */
  async #ask(): Promise<AnsweredTurn | Stopped> {
    const { ledger, tenant } = this.#options.executor
    const { runId } = this.#options
    for (let attempt = 1; ; attempt++) {
      const turn = await ledger.nextTurn(tenant, runId)
      const asked = await this.#attempt(turn, attempt)
      if (this.#signal.aborted) return { state: 'stopped', reason: 'cancelled' }
      if ('answer' in asked) {
        await ledger.saveAnswer(tenant, runId, turn, {
          answer: encodeAnswer(asked.answer),
          outcome: asked.answer.outcome,
        })
        return asked
      }
      if (attempt >= this.#limits.maxAttempts || !asked.again) return asked.stopped
      await abortableWait(asked.waitMs, this.#signal)
    }
  }

  async #attempt(turn: number, attempt: number): Promise<AnsweredTurn | Abandoned> {
    const { model, executor, runId } = this.#options
    this.#publish({ type: 'turn_started', runId, turn, attempt })
    // Of its own, so that an attempt that is given up is also told so.
    const abort = new AbortController()
    const onAbort = (): void => abort.abort()
    this.#signal.addEventListener('abort', onAbort, { once: true })
    if (this.#signal.aborted) abort.abort()
    try {
      const stream = model({
        messages: [...this.#messages],
        tools: executor.tools,
        runId,
        turn,
        attempt,
        signal: abort.signal,
      })
      const reading = await readAnswer(stream, abort.signal, (event) =>
        this.#publish({ type: 'model_event', turn, attempt, event }),
      )
      const answer = storedAnswer(stream, reading)
      if (reading.ended && !abort.signal.aborted && nextStep(answer) !== 'held')
        return { turn, answer, report: reading.report }
      this.#spent = spend(this.#spent, answer.usage, 0)
      return this.#abandon(turn, attempt, errorOf(reading))
    } finally {
      this.#signal.removeEventListener('abort', onAbort)
      abort.abort()
    }
  }

  #abandon(turn: number, attempt: number, error: ReportError | undefined): Abandoned {
    const { code, message } = error ?? HELD
    this.#publish({ type: 'turn_abandoned', turn, attempt, code, message })
    const stopped: Stopped =
      error === undefined ? { state: 'stopped', reason: 'held' } : { state: 'stopped', reason: 'failed', error }
    // Nothing of this answer was run, so only a request that would fail the same way is not made again.
    return { again: error?.retryable !== 'no', waitMs: error?.retryAfterMs ?? 0, stopped }
  }

  #take(answer: StoredAnswer): void {
    this.#messages.push(answer.message)
    this.#turns++
    this.#spent = spend(this.#spent, answer.usage, answer.calls.length)
  }

  #publish(event: ConversationEvent): void {
    this.#options.onEvent?.(event)
  }

  #result(
    state:
      | Stopped
      | { readonly state: 'finished'; readonly text: string }
      | { readonly state: 'pending'; readonly waiting: readonly ToolResult[] },
  ): ConversationResult {
    const { runId } = this.#options
    return { ...state, runId, messages: [...this.#messages], turns: this.#turns, spent: this.#spent }
  }
}

interface Abandoned {
  readonly again: boolean
  readonly waitMs: number
  readonly stopped: Stopped
}

const LEDGER_STOPS: Readonly<Partial<Record<LedgerError['code'], StopReason>>> = {
  cancelled: 'cancelled',
  stale_turn: 'superseded',
}

const CUT_OFF: ReportError = {
  code: 'incomplete_stream',
  phase: 'event',
  message: 'the stream stopped without a terminal event',
  retryable: 'restart',
}

/** Why an answer can't be used; `undefined` when the stream itself found nothing wrong with its end. */
function errorOf({ ended, report, error }: AnswerReading): ReportError | undefined {
  if (error === undefined) return ended ? (report.error ?? undefined) : (report.error ?? CUT_OFF)
  const { code, phase, message, retryable, status, retryAfterMs } = error
  return {
    code,
    phase,
    message,
    retryable,
    ...(status === undefined ? {} : { status }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  }
}

const HELD = {
  code: 'batch_held',
  message: 'the stream ended in a way that lets none of its calls run',
} as const
