import type { StreamChunk } from '../chunk/chunk.ts'
import type { StreamFault } from '../chunk/fault.ts'
import { StreamError } from '../chunk/stream-error.ts'
import type { FinishSummary, ReadyToolCall, StreamErrorEvent, StreamEvent } from '../chunk/stream-event.ts'
import { timeoutsOf } from '../engine/deadlines.ts'
import type { Timeouts } from '../engine/deadlines.ts'
import { createStreamEngine } from '../engine/engine.ts'
import { cancelled } from '../engine/faults.ts'
import type { ReportAttempt, StreamReport } from '../engine/report.ts'
import type { StreamEngine, StreamEngineOptions } from '../engine/stream-engine.ts'
import { ChunkTap } from './chunk-tap.ts'
import { overtakenReport } from './overtaken-report.ts'
import { responseBatches } from './response-batches.ts'
import { backOffMs, isLast, waited } from './retry.ts'
import type { RetryOptions } from './retry.ts'

export interface AttemptLoopOptions {
  readonly engine: Omit<StreamEngineOptions, 'attempt' | 'timeouts' | 'onChunk'>
  readonly timeouts: Partial<Timeouts> | 'reasoning' | undefined
  readonly retry: RetryOptions
  /** For the report. */
  readonly url: string
  readonly signal?: AbortSignal
  readonly throwOnError: boolean
  readonly now: () => number
  readonly request: (signal: AbortSignal) => Promise<Response>
  /** Called once, when nothing more will come of a stream that was begun. */
  readonly ended: () => void
}

type Terminal = Extract<StreamEvent, { readonly type: 'stream_completed' | 'stream_error' }>

/** One request, sent as often as its policy allows: an engine for each attempt, and one stream of events out of all of them. */
export class AttemptLoop {
  begun = false
  over = false
  /** What readers see thrown. */
  failure: unknown
  /** The terminal event. */
  last: Terminal | undefined
  /** The calls that were released. */
  released: readonly ReadyToolCall[] = []
  /** Of the current attempt. */
  engine: StreamEngine
  readonly #options: AttemptLoopOptions
  readonly #timeouts: Timeouts
  readonly #cancelled = new AbortController()
  readonly #attempts: ReportAttempt[] = []
  #attempt = 1
  /** The request of the current attempt was sent. */
  #sent = false
  /** What the network threw in the current attempt. */
  #broken: unknown
  #chunks: ChunkTap | undefined
  /** The reader cancelled before it had seen an end that the engine had read already. */
  #overtaken: StreamErrorEvent | undefined
  #dropped = false

  constructor(options: AttemptLoopOptions) {
    this.#options = options
    this.#timeouts = timeoutsOf(options.timeouts)
    this.engine = this.#open(this.#timeouts.totalMs)
  }

  /** Nothing that was read is wanted any more. */
  get cancelled(): boolean {
    return this.#cancelled.signal.aborted
  }

  cancel(reason: unknown): void {
    if (!this.over) this.#cancelled.abort(reason)
  }

  /**
   * What a reader had not yet handed out was thrown away: after a cancel there is one event, then silence (fault F009). Calls that a
   * reader of events did hand out stay released; others see none before the end.
   */
  drop(left?: readonly StreamEvent[]): void {
    this.#dropped = true
    const lost = new Set(left?.flatMap((event) => (event.type === 'tool_batch_ready' ? event.calls : [])))
    this.released = left === undefined ? [] : this.released.filter((call) => !lost.has(call))
  }

  /** A reader left early. One that had seen all but how it ended has cancelled nothing: whoever runs the calls of a batch stops there. */
  leave(left?: readonly StreamEvent[]): void {
    if (left === undefined || left.some(({ type }) => !SAYS_THE_END.has(type))) this.drop(left)
  }

  report(): StreamReport {
    const report = this.engine.report({ kind: 'live', url: this.#options.url })
    const current = this.#sent || this.#attempts.length === 0 ? this.#lines(report) : []
    const attempts = [...this.#attempts, ...current]
    const all = { ...report, attempts }
    return this.#overtaken === undefined ? all : overtakenReport(all, this.#overtaken, this.released)
  }

  /** @throws TypeError when it is already being read */
  read(): AsyncGenerator<readonly StreamEvent[], void, undefined> {
    this.#claim()
    return this.#read()
  }

  /** @throws TypeError when it is already being read */
  readChunks(): AsyncGenerator<readonly StreamChunk[], void, undefined> {
    this.#claim()
    this.#chunks = new ChunkTap({ repairs: this.#options.engine.adapter.repairs.length > 0 })
    this.engine = this.#open(this.#timeouts.totalMs)
    return this.#readChunks(this.#chunks)
  }

  #claim(): void {
    if (this.begun) {
      throw new TypeError('this stream is already being read; it has one reader: of events, batches, text or chunks')
    }
    this.begun = true
  }

  async *#readChunks(tap: ChunkTap): AsyncGenerator<readonly StreamChunk[], void, undefined> {
    try {
      for await (const batch of this.#read()) {
        const chunks = tap.take(batch)
        if (chunks.length > 0) yield chunks
      }
    } catch (error) {
      // A failure of the stream was the last chunk.
      if (!StreamError.is(error)) throw error
    }
  }

  async *#read(): AsyncGenerator<readonly StreamEvent[], void, undefined> {
    const { signal, throwOnError, ended } = this.#options
    const onAbort = (): void => this.cancel(signal?.reason)
    signal?.addEventListener('abort', onAbort, { once: true })
    if (signal?.aborted === true) onAbort()
    try {
      yield* this.#attemptAll()
      if (this.last?.type === 'stream_error' && throwOnError) throw this.#errorOf(this.last)
    } catch (error) {
      this.failure = error
      throw error
    } finally {
      signal?.removeEventListener('abort', onAbort)
      this.over = true
      if (this.failure === undefined) {
        // Left early, at whatever event: the engine has closed as cancelled, unless it had ended before.
        if (this.#dropped && this.last !== undefined) this.#overtake()
        this.last ??= cancelledEvent([])
        if (this.last.type === 'stream_error' && throwOnError) this.failure = this.#errorOf(this.last)
      }
      ended()
    }
  }

  async *#attemptAll(): AsyncGenerator<readonly StreamEvent[], void, undefined> {
    const { retry, now } = this.#options
    const startedMs = now()
    for (;;) {
      const failure = yield* this.#attemptOnce()
      if (failure === undefined) return
      const delayMs = this.cancelled ? undefined : backOffMs(failure, this.#attempt, retry)
      const leftMs = this.#timeouts.totalMs - (now() - startedMs)
      if (delayMs === undefined || delayMs >= leftMs) {
        yield this.#give([failure])
        return
      }
      yield [attemptFailed(failure, this.#attempt, delayMs)]
      this.#attempts.push(...this.#lines(this.engine.report()))
      this.#attempt++
      this.#sent = false
      this.engine = this.#open(leftMs - delayMs)
      // Cancelled in the meantime, the next attempt ends before anything is sent (fault F132).
      await waited(delayMs, this.#cancelled.signal)
    }
  }

  /**
   * Events before the first output are held back while another attempt may follow: one that fails until then leaves no trace but its failure (fault F129).
   * Gives back the terminal event of one that may be tried again, unseen.
   */
  async *#attemptOnce(): AsyncGenerator<readonly StreamEvent[], StreamErrorEvent | undefined, undefined> {
    const { engine } = this
    let held: readonly StreamEvent[] = []
    const request = (signal: AbortSignal): Promise<Response> => {
      this.#sent = true
      return this.#options.request(signal)
    }
    this.#broken = undefined
    const batches = responseBatches(engine, request, {
      signal: this.#cancelled.signal,
      now: this.#options.now,
      url: this.#options.url,
      onBroken: (error) => (this.#broken = error),
    })
    for await (const batch of batches) {
      const last = batch.at(-1)!
      if (last.type === 'stream_error' && last.retryable === 'yes') return last
      if (!engine.committed && !engine.ended && !isLast(this.#attempt, this.#options.retry)) {
        // Of counters that changed before the first output only the newest are worth keeping.
        const all = [...held, ...batch]
        const newest = all.findLast(({ type }) => type === 'usage')
        held = all.filter((event) => event.type !== 'usage' || event === newest)
        continue
      }
      // After a cancel there is one event, whatever was held back and whatever becomes of open calls.
      const events = this.cancelled ? batch.slice(-1) : held.length === 0 ? batch : [...held, ...batch]
      held = []
      yield this.#give(events)
      if (this.#dropped && engine.ended) yield [this.#overtake()]
    }
    return undefined
  }

  /** The engine had read to the end, but its reader did not get there. */
  #overtake(): StreamErrorEvent {
    this.#overtaken ??= cancelledEvent(this.last?.finish ?? [])
    this.last = this.#overtaken
    return this.#overtaken
  }

  /** Everything that readers see passes here. */
  #give(events: readonly StreamEvent[]): readonly StreamEvent[] {
    const last = events.at(-1)
    if (last?.type === 'stream_completed' || last?.type === 'stream_error') this.last = last
    for (const event of events) {
      if (event.type === 'tool_batch_ready') this.released = [...this.released, ...event.calls]
    }
    return events
  }

  #errorOf(fault: StreamFault): StreamError {
    const cause: unknown = fault.code === 'cancelled' ? this.#cancelled.signal.reason : this.#broken
    return new StreamError(fault, cause === undefined ? undefined : { cause })
  }

  /** A retry says what it is the answer to. */
  #lines(report: StreamReport): readonly ReportAttempt[] {
    const retryReason = this.#attempts.at(-1)?.code ?? null
    return report.attempts.map((attempt) => ({ ...attempt, retryReason }))
  }

  #open(totalMs: number): StreamEngine {
    return createStreamEngine({
      ...this.#options.engine,
      timeouts: { ...this.#timeouts, totalMs },
      attempt: this.#attempt,
      ...(this.#chunks !== undefined && { onChunk: this.#chunks.begin() }),
    })
  }
}

const SAYS_THE_END: ReadonlySet<StreamEvent['type']> = new Set(['usage', 'stream_completed', 'stream_error'])

function attemptFailed(failure: StreamErrorEvent, attempt: number, delayMs: number): StreamEvent {
  const { code, phase, message, status, retryAfterMs } = failure
  return {
    type: 'attempt_failed',
    attempt,
    code,
    phase,
    message,
    ...(status !== undefined && { status }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    delayMs,
  }
}

function cancelledEvent(finish: readonly FinishSummary[]): StreamErrorEvent {
  return { type: 'stream_error', ...cancelled(), outcome: 'cancelled', finish }
}
