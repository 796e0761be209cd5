import { ArgumentArrival } from './argument-arrival.ts'
import { ArrivalLog } from './arrival.ts'
import type { Streaming } from './arrival.ts'
import { nextDeadline } from './deadlines.ts'
import type { Deadline, Timeouts } from './deadlines.ts'
import type { ReportTiming } from './report.ts'

/**
 * When things happened, in the caller's milliseconds. Without clock readings nothing is timed and no deadline exists.
 */
export class Timeline {
  /** The last clock reading. */
  now: number | undefined
  readonly #timeouts: Timeouts
  readonly #arrival = new ArrivalLog()
  readonly #arguments = new ArgumentArrival()
  #start: number | undefined
  #headers: number | undefined
  #firstByte: number | undefined
  #lastByte: number | undefined
  #firstEvent: number | undefined
  #lastEvent: number | undefined
  #firstOutput: number | undefined
  #lastProgress: number | undefined
  #finish: number | undefined
  #terminal: number | undefined

  constructor(timeouts: Timeouts) {
    this.#timeouts = timeouts
  }

  start(atMs: number): void {
    this.#start = this.now = atMs
  }

  get started(): boolean {
    return this.#start !== undefined
  }

  headers(atMs: number | undefined): void {
    if (atMs !== undefined) this.#headers = this.now = atMs
  }

  /** Bytes arrived; after the end they change nothing but the clock. */
  read(atMs: number | undefined, ended: boolean): void {
    if (atMs === undefined) return
    this.now = atMs
    if (ended) return
    this.#firstByte ??= atMs
    this.#lastByte = atMs
    this.#arrival.read(atMs)
  }

  event(): void {
    if (this.now === undefined) return
    this.#firstEvent ??= this.now
    this.#lastEvent = this.now
  }

  /** A step of progress; `output` when it was something to show. */
  progress(output: boolean): void {
    if (this.now === undefined) return
    this.#lastProgress = this.now
    if (!output) return
    this.#firstOutput ??= this.now
    this.#arrival.output(this.now)
  }

  /** Argument bytes of a call arrived; to be told before the progress that they are. */
  arguments(callId: string, bytes: number): void {
    if (this.now === undefined || bytes === 0) return
    const since = this.#lastProgress ?? this.#headers ?? this.#start ?? this.now
    this.#arguments.piece(callId, bytes, this.now - since)
  }

  /** Only the terminal signal is awaited after this event, or not (a choice was opened after all). */
  awaitTerminal(waiting: boolean): void {
    this.#finish = waiting ? this.now : undefined
  }

  terminal(): void {
    this.#terminal = this.now
  }

  deadline(): Deadline | undefined {
    return nextDeadline(
      {
        start: this.#start,
        headers: this.#headers,
        firstByte: this.#firstByte,
        lastByte: this.#lastByte,
        lastProgress: this.#lastProgress,
        finish: this.#finish,
      },
      this.#timeouts,
    )
  }

  /** The timer that has fired by now. */
  fired(): Deadline['code'] | undefined {
    const deadline = this.deadline()
    return deadline !== undefined && (this.now === undefined || deadline.atMs <= this.now) ? deadline.code : undefined
  }

  get argumentsInOnePiece(): boolean {
    return this.#arguments.inOnePiece
  }

  get streaming(): Streaming {
    return this.#arrival.judge(this.#start)
  }

  report(): ReportTiming {
    return {
      timeToConnectMs: null,
      timeToHeadersMs: this.#since(this.#headers),
      timeToFirstByteMs: this.#since(this.#firstByte),
      timeToFirstEventMs: this.#since(this.#firstEvent),
      timeToFirstOutputMs: this.#since(this.#firstOutput),
      timeToTerminalMs: this.#since(this.#terminal),
      timeToLastEventMs: this.#since(this.#lastEvent),
      longestGapMs: this.#arrival.longestGapMs ?? null,
      streaming: this.streaming,
    }
  }

  #since(instant: number | undefined): number | null {
    return instant === undefined || this.#start === undefined ? null : instant - this.#start
  }
}
