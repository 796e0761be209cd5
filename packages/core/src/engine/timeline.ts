import { ArgumentArrival } from './argument-arrival.ts'
import { ArrivalLog } from './arrival.ts'
import { OutputHistogram } from './arrival-spread.ts'
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
  readonly #outputs = new OutputHistogram()
  #start: number | undefined
  #connected: number | undefined
  #headers: number | undefined
  #firstByte: number | undefined
  #lastByte: number | undefined
  #firstEvent: number | undefined
  #lastEvent: number | undefined
  #firstOutput: number | undefined
  #firstText: number | undefined
  #firstToolName: number | undefined
  #longestProgressGap: number | undefined
  #lastProgress: number | undefined
  #finish: number | undefined
  #terminal: number | undefined
  #endOfBody: number | undefined

  constructor(timeouts: Timeouts) {
    this.#timeouts = timeouts
  }

  start(atMs: number): void {
    this.#start = this.now = atMs
  }

  get started(): boolean {
    return this.#start !== undefined
  }

  connected(atMs: number): void {
    if (this.#headers === undefined) this.#connected = this.now = atMs
  }

  headers(atMs: number | undefined): void {
    if (atMs !== undefined) this.#headers = this.now = atMs
  }

  /** Bytes arrived, behind so many bytes and events; after the end they change nothing but the clock. */
  read(atMs: number | undefined, ended: boolean, offset: number, event: number): void {
    if (atMs === undefined) return
    this.now = atMs
    if (ended) return
    this.#firstByte ??= atMs
    this.#lastByte = atMs
    this.#arrival.read(atMs, offset, event)
  }

  event(): void {
    if (this.now === undefined) return
    this.#firstEvent ??= this.now
    this.#lastEvent = this.now
  }

  /** A step of progress: something to show, of so many bytes. */
  progress(bytes: number): void {
    if (this.now === undefined) return
    if (this.#lastProgress !== undefined) {
      this.#longestProgressGap = Math.max(this.#longestProgressGap ?? 0, this.now - this.#lastProgress)
    }
    this.#lastProgress = this.now
    this.#firstOutput ??= this.now
    this.#arrival.output(this.now)
    this.#outputs.add(this.now, bytes)
  }

  text(): void {
    this.#firstText ??= this.now
  }

  toolName(): void {
    this.#firstToolName ??= this.now
  }

  /** The transport said that the body is over. */
  endOfBody(): void {
    this.#endOfBody = this.now
  }

  /** Argument bytes of a call arrived; to be told before the progress that they are. */
  arguments(callId: string, bytes: number): void {
    if (this.now === undefined || bytes === 0) return
    const since = this.#lastProgress ?? this.#headers ?? this.#start ?? this.now
    this.#arguments.piece(callId, bytes, this.now, this.now - since)
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
        connected: this.#connected,
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

  /** `outputTokens` where they are known. */
  report(events: number, outputTokens?: number): ReportTiming {
    const { longestGapMs = null, longestGapAt = null, gaps, reads } = this.#arrival
    const late = this.#start === undefined ? undefined : this.#outputs.lateShare(this.#start)
    return {
      timeToConnectMs: this.#since(this.#connected),
      timeToHeadersMs: this.#since(this.#headers),
      timeToFirstByteMs: this.#since(this.#firstByte),
      timeToFirstEventMs: this.#since(this.#firstEvent),
      timeToFirstOutputMs: this.#since(this.#firstOutput),
      timeToFirstTextMs: this.#since(this.#firstText),
      timeToFirstToolNameMs: this.#since(this.#firstToolName),
      timeToTerminalMs: this.#since(this.#terminal),
      timeToLastEventMs: this.#since(this.#lastEvent),
      timeToLastByteMs: this.#since(this.#lastByte),
      timeToEndOfBodyMs: this.#since(this.#endOfBody),
      calls: this.#callTimes(),
      longestGapMs,
      longestGapAt,
      longestProgressGapMs: this.#longestProgressGap ?? null,
      gapP50Ms: rounded(gaps.quantile(0.5)),
      gapP95Ms: rounded(gaps.quantile(0.95)),
      eventsPerRead: reads === 0 ? null : rounded(events / reads),
      burstRatio: rounded(late),
      outputTokensPerSecond: this.#tokensPerSecond(outputTokens),
      streaming: this.streaming,
    }
  }

  #callTimes(): ReportTiming['calls'] {
    if (this.#start === undefined) return []
    return [...this.#arguments.lastPieces()].map(([callId, atMs]) => ({
      callId,
      timeToLastArgumentMs: atMs - this.#start!,
    }))
  }

  #tokensPerSecond(outputTokens: number | undefined): number | null {
    if (outputTokens === undefined || this.#firstOutput === undefined || this.#terminal === undefined) return null
    const spanMs = this.#terminal - this.#firstOutput
    return spanMs > 0 ? rounded((outputTokens * 1000) / spanMs) : null
  }

  #since(instant: number | undefined): number | null {
    return instant === undefined || this.#start === undefined ? null : instant - this.#start
  }
}

/** To thousandths: derived figures are no more exact than that, and are to be the same in every runtime. */
function rounded(value: number | undefined): number | null {
  return value === undefined ? null : Math.round(value * 1000) / 1000
}
