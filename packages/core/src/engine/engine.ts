import type { StreamSnapshot } from '../accumulate/snapshot.ts'
import { AdapterOutput } from '../adapters/adapter.ts'
import type { AdapterMachine } from '../adapters/adapter.ts'
import { detectEvent } from '../adapters/detect.ts'
import type { StreamChunk } from '../chunk/chunk.ts'
import type { DiagnosticCode } from '../chunk/diagnostic.ts'
import type { Retryable, StreamFault } from '../chunk/fault.ts'
import { DEFAULT_LIMITS } from '../chunk/limits.ts'
import type { StreamLimits } from '../chunk/limits.ts'
import type { Outcome } from '../chunk/outcome.ts'
import type { RequestFacts } from '../chunk/request-facts.ts'
import type { StreamEvent } from '../chunk/stream-event.ts'
import type { ServerSentEvent } from '../sse/event.ts'
import { ToolCallMachine } from '../tool-call/machine.ts'
import type { CallSnapshot } from '../tool-call/record.ts'
import { Answer } from './answer.ts'
import { BodyReader } from './body.ts'
import { checkEndCause, checkLimits, checkOptions, checkRepairs, notBytes } from './check-options.ts'
import { timeoutsOf } from './deadlines.ts'
import type { Deadline } from './deadlines.ts'
import { DiagnosticLog } from './diagnostics.ts'
import type { Position } from './diagnostics.ts'
import { faultOfChoice, nothingCame } from './end-fault.ts'
import type { EndFacts } from './end-fault.ts'
import { noteChoices, noteTransport } from './end-findings.ts'
import { ErrorBody } from './error-body.ts'
import {
  cancelled,
  corruptFraming,
  eventTooLong,
  notConnected,
  outcomeOfFault,
  plainTextBody,
  streamTooLong,
  timedOut,
  unreadableEvent,
  wrongApi,
} from './faults.ts'
import { keepEngine } from './kept-engine.ts'
import { buildReport } from './report-builder.ts'
import type { ReportSource, StreamReport } from './report.ts'
import { faultOfPage, faultOfStatus, looksLikePage } from './response-head.ts'
import type { ResponseHead } from './response-head.ts'
import type { EndCause, StreamEngine, StreamEngineOptions } from './stream-engine.ts'
import { Timeline } from './timeline.ts'
import type { Rung } from './verdict.ts'

/** @throws TypeError for options that can't work, at construction only. */
export function createStreamEngine(options: StreamEngineOptions): StreamEngine {
  const engine = new Engine(options)
  keepEngine(options.adapter, (kept) => new Engine(kept))
  return engine
}

const NO_EVENTS: readonly StreamEvent[] = Object.freeze([])

class Engine implements StreamEngine {
  ended = false
  readonly #options: StreamEngineOptions
  readonly #limits: StreamLimits
  readonly #request: RequestFacts
  readonly #body: BodyReader
  readonly #machine: AdapterMachine
  readonly #answer: Answer
  readonly #diagnostics = new DiagnosticLog()
  readonly #timeline: Timeline
  readonly #output: AdapterOutput
  /** Events of the current call to `push` or `end`. */
  #events: StreamEvent[] = []
  #head: ResponseHead | undefined
  #nowMs: number | undefined
  #errorBody: ErrorBody | undefined
  #eventCount = 0
  #eventsAfterEnd = 0
  #eventOffset: number | undefined
  #streamBytes = 0
  /** The first event with a payload, as long as nothing was made of any. */
  #firstEvent: ServerSentEvent | undefined
  /** The body ended inside an event. */
  #halfEvent = false
  /** The first event that could not be read. */
  #skipped: Rung | undefined
  #fault: StreamFault | undefined
  #outcome: Outcome | undefined
  #cause: EndCause | undefined
  #transportDetail: string | undefined

  constructor(options: StreamEngineOptions) {
    checkOptions(options)
    const { adapter, request = {}, limits, timeouts, offsets = true, attempt = 1, idSeed = '' } = options
    this.#options = options
    this.#request = request
    this.#limits = { ...DEFAULT_LIMITS, ...limits }
    checkLimits(this.#limits)
    this.#timeline = new Timeline(timeoutsOf(timeouts))
    const note = (code: DiagnosticCode, detail?: string): void => this.#note(code, detail)
    this.#output = new AdapterOutput(note)
    this.#body = new BodyReader({ maxEventBytes: this.#limits.eventBytes, offsets })
    this.#machine = adapter.open({ request, limits: this.#limits, idSeed: `${idSeed}/${attempt}` })
    const calls = new ToolCallMachine({
      maxArgumentBytes: this.#limits.argumentBytes,
      maxDepth: this.#limits.jsonDepth,
      ...(request.tools !== undefined && { tools: request.tools }),
      repairs: checkRepairs(adapter.repairs),
      note,
    })
    this.#answer = new Answer(calls, this.#timeline, { api: adapter.api, attempt })
  }

  get committed(): boolean {
    return this.#answer.committed
  }

  start(atMs: number): void {
    if (this.#timeline.started || this.#cause !== undefined) {
      throw new TypeError('this engine has already read a response; create one for each request and attempt')
    }
    this.#timeline.start(atMs)
  }

  connected(atMs: number): void {
    this.#timeline.connected(atMs)
  }

  response(head: ResponseHead, atMs?: number, nowMs?: number): void {
    this.#head = head
    this.#nowMs = nowMs
    this.#timeline.headers(atMs)
    if (head.status < 200 || head.status > 299) this.#errorBody = new ErrorBody()
  }

  push(bytes: Uint8Array, atMs?: number): readonly StreamEvent[] {
    if (bytes?.BYTES_PER_ELEMENT !== 1) throw notBytes(bytes)
    if (bytes.length === 0) return NO_EVENTS
    this.#timeline.read(atMs, this.ended, this.#streamBytes, this.#eventCount)
    if (this.#errorBody !== undefined) {
      this.#streamBytes += bytes.length
      this.#errorBody.push(bytes)
      if (!this.#errorBody.full || this.ended) return NO_EVENTS
      // One that never ends would be read for as long as the timers allow.
      const events = this.#begin()
      this.#failByStatus(this.#errorBody.text())
      return events
    }
    const events = this.#begin()
    const { readBytes } = this.#limits
    for (let from = 0; from < bytes.length; from += readBytes) {
      this.#read(bytes.length <= readBytes ? bytes : bytes.subarray(from, from + readBytes))
    }
    return events
  }

  end(cause: EndCause, atMs?: number, detail?: string): readonly StreamEvent[] {
    checkEndCause(cause)
    if (this.#cause !== undefined) return NO_EVENTS
    this.#cause = cause
    this.#transportDetail = detail
    if (atMs !== undefined) this.#timeline.now = atMs
    if (cause !== 'aborted' && cause !== 'timeout') this.#timeline.endOfBody()
    const events = this.#begin()
    if (this.ended) this.#endAfterEnd(cause)
    else if (cause === 'aborted') this.#fail(cancelled())
    else if (this.#errorBody !== undefined) this.#failByStatus(this.#errorBody.text())
    else if ((cause === 'error' || cause === 'reset') && this.#neverConnected())
      this.#fail(notConnected(this.#transportDetail))
    else this.#endOfBody(cause)
    return events
  }

  deadline(): Deadline | undefined {
    return this.ended || this.#cause !== undefined ? undefined : this.#timeline.deadline()
  }

  snapshot(): StreamSnapshot {
    return this.#answer.accumulator.snapshot()
  }

  calls(choice = 0): readonly CallSnapshot[] {
    return this.#answer.calls.calls(choice)
  }

  report(source: ReportSource = { kind: 'live' }): StreamReport {
    // What trails behind the end counts here, however the reads were cut.
    if (this.#body.comments > 0) this.#diagnostics.put('comment_keepalive', `${this.#body.comments} comment lines`)
    if (this.#body.lineByLine) this.#diagnostics.put('ndjson_framing')
    if (this.#body.kind === 'json-array') this.#diagnostics.put('json_array_framing')
    return buildReport({
      api: this.#options.adapter.api,
      source,
      attempt: this.#options.attempt ?? 1,
      requestId: this.#options.requestId ?? null,
      route: this.#options.route ?? null,
      head: this.#head,
      cause: this.#cause,
      outcome: this.#outcome,
      fault: this.#fault,
      skipped: this.#skipped,
      usage: this.#answer.usage,
      body: this.#body,
      accumulator: this.#answer.accumulator,
      choices: this.#answer.choices,
      calls: this.#answer.calls,
      diagnostics: this.#diagnostics.list(),
      timing: this.#timeline.report(this.#eventCount, this.#answer.usage?.outputTokens),
      counts: {
        bytes: this.#streamBytes,
        events: this.#eventCount,
        comments: this.#body.comments,
        textDeltaBytes: this.#answer.textBytes,
        toolArgumentBytes: this.#answer.argumentBytes,
      },
    })
  }

  #failByStatus(body: string): void {
    if (looksLikePage(body)) this.#note('proxy_error_page')
    this.#fail(faultOfStatus(this.#head!, body, this.#nowMs))
  }

  /** A request was started, and neither a head nor a byte came back. A timer says the rest itself. */
  #neverConnected(): boolean {
    return (
      this.#timeline.started &&
      this.#head === undefined &&
      this.#streamBytes === 0 &&
      this.#timeline.fired() === undefined
    )
  }

  #begin(): StreamEvent[] {
    this.#events = []
    return this.#events
  }

  #read(bytes: Uint8Array): void {
    const left = this.#limits.streamBytes - this.#streamBytes
    this.#streamBytes += bytes.length
    if (left > 0) {
      this.#readEvents(this.#body.push(bytes.length <= left ? bytes : bytes.subarray(0, left)))
      if (this.ended) return
      const { overflow } = this.#body
      if (overflow !== undefined) {
        this.#fail(eventTooLong(this.#eventCount + 1, overflow.offset, overflow.limit))
        return
      }
      if (this.#body.corrupt !== undefined || this.#body.pageIsComplete) this.#checkFraming()
    }
    if (bytes.length > left) this.#fail(streamTooLong(this.#limits.streamBytes))
  }

  #endOfBody(cause: EndCause): void {
    const timer = cause === 'timeout' ? this.#timeline.fired() : undefined
    if (timer !== undefined && timer !== 'finish_grace') {
      this.#fail({ ...timedOut(timer, this.#retryable()), ...this.#position() })
      return
    }
    this.#readEvents(this.#body.end())
    if (!this.ended) this.#checkFraming()
    if (!this.ended) this.#conclude()
  }

  #endAfterEnd(cause: EndCause): void {
    if (cause === 'reset' || cause === 'cut' || cause === 'error') this.#note('transport_error_after_end')
    else if (cause === 'eof') this.#readEvents(this.#body.end())
  }

  #readEvents(events: readonly ServerSentEvent[]): void {
    for (const event of events) {
      if (this.ended) this.#afterEnd(event)
      else this.#event(event)
    }
  }

  #event(event: ServerSentEvent): void {
    const offsetBefore = this.#eventOffset
    this.#eventCount++
    this.#eventOffset = event.offset
    if (this.committed) this.#firstEvent = undefined
    else if (this.#firstEvent === undefined && isObject(event.data)) this.#firstEvent = event
    const output = this.#output
    this.#machine.push(event, output)
    if (event.incomplete && !this.#machine.ended && output.chunks.length === 0 && output.skipped.length === 0) {
      // Half an event at the end of the body is no event.
      this.#eventCount--
      this.#eventOffset = offsetBefore
      this.#halfEvent = true
      this.#body.dropLast()
      output.clear()
      return
    }
    this.#timeline.event()
    if (event.invalidUtf8) this.#note('invalid_utf8')
    this.#applyAll(output.chunks)
    if (output.skipped.length > 0) this.#skip(output.skipped[0]!.message)
    output.clear()
    if (this.ended) return
    this.#timeline.awaitTerminal(this.#machine.finished)
    if (this.#machine.ended) this.#conclude()
  }

  /**
   * Nothing that follows the end changes it. After an error, usage may still be learned (it was spent all the same), and after one of
   * the provider's also in which words the wire closes the response.
   */
  #afterEnd(event: ServerSentEvent): void {
    this.#eventsAfterEnd++
    if (this.#fault !== undefined && this.#fault.phase !== 'framing') {
      this.#machine.readUsageOnly(event, this.#output)
      for (const chunk of this.#output.chunks) {
        if (chunk.type === 'usage') this.#answer.usage = chunk.usage
        else if (chunk.type !== 'finish' || this.#fault.provider === undefined) continue
        else this.#answer.choices.closeAfterFault(chunk, this.#outcome!, this.#fault.code)
        this.#answer.accumulator.push(chunk)
      }
      this.#output.clear()
      return
    }
    const data = event.data.trim()
    if (data === '' || data === '[DONE]' || this.#fault !== undefined) return
    const { offset } = event
    this.#diagnostics.note('data_after_end', {
      event: this.#eventCount + this.#eventsAfterEnd,
      ...(offset !== undefined && { offset }),
    })
  }

  #skip(message: string): void {
    this.#note('skipped_event', message)
    this.#skipped ??= { state: 'fail', code: 'invalid_event_json', message, ...this.#position() }
    if (this.ended) return
    if (this.#options.policy === 'strict') {
      this.#fail({ ...unreadableEvent(this.#eventCount, message, this.#retryable()), ...this.#position() })
      return
    }
    const why = `an event that could not be read came while this call was open: ${message}`
    this.#answer.calls.failOpen('invalid_event_json', 'event', why, this.#events)
  }

  #applyAll(chunks: readonly StreamChunk[]): void {
    for (const chunk of chunks) {
      if (this.ended) return
      this.#apply(chunk)
    }
  }

  #apply(chunk: StreamChunk): void {
    this.#options.onChunk?.(chunk)
    const fault = this.#answer.take(chunk, this.#events)
    if (fault !== undefined) {
      this.#fail({ ...fault, ...this.#position(), retryable: this.#lowered(fault.retryable) })
    }
  }

  /** The body is at its end, or as far as it will be read: was it a stream of events at all? */
  #checkFraming(): void {
    const { corrupt, kind } = this.#body
    if (corrupt !== undefined) {
      // Wrong bytes end the stream when they come; what is left over at the end of the body is half a message, however the transport closed.
      const cut = this.#cause !== undefined
      this.#fail(corruptFraming(corrupt.offset, corrupt.message, cut, this.#retryable()))
    } else if (kind === 'html') {
      this.#note('proxy_error_page')
      this.#fail(faultOfPage(this.#body.page))
    } else if (this.#answer.chunks === 0 && this.#isPlainText()) this.#fail(plainTextBody())
  }

  #isPlainText(): boolean {
    return this.#skipped === undefined && this.#diagnostics.has('unknown_sse_field') && !this.#machine.ended
  }

  /** The wire's own end, or the end of the body without it. */
  #conclude(): void {
    const output = this.#output
    output.clear()
    this.#machine.end(output)
    this.#applyAll(output.chunks)
    output.clear()
    if (this.ended) return
    const fault = this.#answer.calls.conflict ?? this.#wrongApi() ?? this.#nothingCame()
    if (fault !== undefined) {
      this.#fail({ ...this.#position(), ...fault, retryable: this.#lowered(fault.retryable) })
      return
    }
    const { adapter, policy = 'compat', batch = 'all' } = this.#options
    // Where the framing has an end of its own, it is due, whatever the format says of its own signal.
    const sentinel = this.#body.arrayIsOpen ? 'required' : adapter.sentinel
    const snapshot = this.#answer.accumulator.snapshot()
    // A choice that has said nothing yet is judged like the others.
    for (const index of this.#machine.choices) this.#answer.choices.get(index)
    for (const { index } of snapshot.choices) this.#answer.choices.get(index)
    noteChoices(
      {
        snapshot,
        choices: this.#answer.choices,
        calls: this.#answer.calls,
        machine: this.#machine,
        adapter,
        sentinel,
        request: this.#request,
        usage: this.#answer.usage,
      },
      (code, detail) => this.#note(code, detail),
    )
    const outcome = this.#answer.choices.judge(
      snapshot,
      {
        terminal: this.#machine.ended || this.#machine.wholeCompletion,
        terminalRequired: sentinel,
        finishRequired: adapter.finishReason,
        cleanEnd: this.#cause === undefined || this.#cause === 'eof',
        skipped: this.#skipped !== undefined,
        policy,
      },
      this.#answer.calls,
    )
    if (outcome === 'failed' || outcome === 'incomplete') {
      const guilty = this.#answer.choices.list().find(({ verdict }) => verdict?.outcome === outcome)
      this.#fail(faultOfChoice(outcome, guilty, this.#endFacts()))
      return
    }
    const { maxOutputTokens } = this.#request
    const tokensSpent = maxOutputTokens !== undefined && (this.#answer.usage?.outputTokens ?? 0) >= maxOutputTokens
    this.#answer.choices.settle(this.#answer.calls, batch, tokensSpent, this.#events)
    this.#finish(outcome, undefined)
  }

  /** Nothing in the body meant anything to this adapter, and its first event is known to be that of another format. */
  #wrongApi(): StreamFault | undefined {
    const first = this.#firstEvent
    if (this.committed || first === undefined) return undefined
    const { api } = this.#options.adapter
    const detected = detectEvent(first)
    return detected === undefined || detected.api === api ? undefined : wrongApi(api, detected)
  }

  /** A stream that ended well but said nothing at all. */
  #nothingCame(): StreamFault | undefined {
    if (this.#answer.choices.size > 0 || this.#answer.accumulator.snapshot().choices.length > 0) return undefined
    return nothingCame(
      this.#endFacts(),
      this.#skipped,
      this.#halfEvent || (this.#answer.chunks > 0 && !this.#machine.ended),
    )
  }

  #endFacts(): EndFacts {
    return {
      cause: this.#cause,
      transportDetail: this.#transportDetail,
      events: this.#eventCount,
      position: this.#position(),
      bodyBytes: this.#body.bytes,
      retryable: this.#retryable(),
    }
  }

  /** Ends the stream with a fault. What was received is kept, and no call of it is released. */
  #fail(fault: StreamFault): void {
    if (this.ended) return
    // Set first: what the adapter still held must come out before the terminal event, and must not fail the stream again.
    this.ended = true
    this.#fault = fault
    const held = new AdapterOutput((code, detail) => this.#note(code, detail))
    this.#machine.end(held)
    for (const chunk of held.chunks) if (chunk.type !== 'error') this.#apply(chunk)
    for (const choice of this.#answer.accumulator.snapshot().choices) this.#answer.choices.get(choice.index)
    const outcome = outcomeOfFault(fault.code)
    this.#answer.choices.refuse(outcome, fault.code, fault.phase, this.#answer.calls, this.#events)
    this.#finish(outcome, fault)
  }

  #finish(outcome: Outcome, fault: StreamFault | undefined): void {
    this.ended = true
    this.#outcome = outcome
    this.#timeline.terminal()
    this.#answer.accumulator.close()
    noteTransport(this.#body, this.#head, this.#timeline, (code, detail) =>
      this.#diagnostics.note(code, undefined, detail),
    )
    const finish = this.#answer.choices.finishes()
    if (fault === undefined) {
      this.#events.push({ type: 'stream_completed', outcome, finish })
      return
    }
    const { choice: _choice, ...rest } = fault
    this.#events.push({ type: 'stream_error', ...rest, outcome, finish })
  }

  #note(code: DiagnosticCode, detail?: string): void {
    this.#diagnostics.note(code, this.#position(), detail)
  }

  #position(): Position {
    const event = this.#eventCount
    if (event === 0) return {}
    return this.#eventOffset === undefined ? { event } : { event, offset: this.#eventOffset }
  }

  /** Nothing was given out: the request may be sent again as if it had never been. */
  #retryable(): Retryable {
    return this.committed ? 'restart' : 'yes'
  }

  #lowered(retryable: Retryable): Retryable {
    return retryable === 'yes' ? this.#retryable() : retryable
  }
}

function isObject(data: string): boolean {
  const first = data.charCodeAt(0)
  return first === 0x7b || first === 0x5b
}
