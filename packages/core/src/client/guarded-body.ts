import type { StreamChunk } from '../chunk/chunk.ts'
import type { DiagnosticCode } from '../chunk/diagnostic.ts'
import type { Outcome } from '../chunk/outcome.ts'
import { StreamError } from '../chunk/stream-error.ts'
import type { StreamEvent } from '../chunk/stream-event.ts'
import type { EndCause, StreamEngine } from '../engine/stream-engine.ts'
import { readerOf } from './byte-source.ts'
import type { ByteReader } from './byte-source.ts'
import { watchConnection } from './connection-watch.ts'
import { letGo } from './let-go.ts'
import { endCauseOf, rootCauseOf } from './network-error.ts'
import { isRefused } from './refused-call.ts'
import type { RefusedCall } from './refused-call.ts'
import { createWatchdog, timerFired } from './watchdog.ts'
import type { Watchdog } from './watchdog.ts'

/** Writes anew what the engine has read. */
export interface Translation {
  readonly onChunk: (chunk: StreamChunk) => void
  /** What the client gets for these events of the engine. */
  take(events: readonly StreamEvent[]): { readonly bytes: Uint8Array; readonly error: StreamError | undefined }
  /** The failure as an event of the API, where it is not to be thrown. */
  fail(error: StreamError): Uint8Array | undefined
}

export interface GuardedBodyOptions {
  readonly engine: StreamEngine
  readonly now: () => number
  /** Nothing is raised and nothing timed. */
  readonly passive: boolean
  readonly failOn: ReadonlySet<Outcome>
  readonly failOnRefusedCalls: boolean
  /** Findings that say that the engine could read the body, and the client can't. */
  readonly unreadable: ReadonlySet<DiagnosticCode>
  readonly translation: Translation | undefined
  readonly ended: () => void
}

type Terminal = Extract<StreamEvent, { readonly type: 'stream_completed' | 'stream_error' }>

const NO_BYTES = new Uint8Array(0)

/** Stands between a response and the client that reads it. Pull-based: it reads when the client does, one read at a time. */
export class GuardedBody {
  readonly #options: GuardedBodyOptions
  readonly #abort = new AbortController()
  readonly #watchdog: Watchdog
  #reader: ByteReader | undefined
  #cause: EndCause | undefined
  /** Time in which the client was at work: no timer of the upstream's runs then. */
  #heldMs = 0
  #idleSince: number | undefined
  /** Bytes that the engine has seen and the client has got. */
  #passed = 0
  #refused: RefusedCall | undefined
  /** What the client is thrown. */
  #failure: { readonly error: unknown } | undefined
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined
  #over = false
  #unlink: () => void = () => {}

  constructor(options: GuardedBodyOptions) {
    this.#options = options
    this.#watchdog = createWatchdog(
      options.engine,
      () => this.#now(),
      () => this.#stop('timeout'),
    )
  }

  /** Sends the request. What the network says is thrown as it is, except that our own timer says so itself. */
  async request(send: (signal: AbortSignal) => Promise<Response>, signal: AbortSignal | undefined): Promise<Response> {
    const { engine, passive } = this.#options
    const onAbort = (): void => {
      this.#cause ??= 'aborted'
      this.#abort.abort(signal?.reason)
      this.#leave(signal?.reason)
    }
    signal?.addEventListener('abort', onAbort, { once: true })
    this.#unlink = () => signal?.removeEventListener('abort', onAbort)
    if (signal?.aborted === true) onAbort()
    engine.start(this.#now())
    if (!passive) this.#watchdog.arm()
    watchConnection(this.#abort.signal, () => {
      engine.connected(this.#now())
      if (!passive) this.#watchdog.arm()
    })
    try {
      const response = await send(this.#abort.signal)
      engine.response({ status: response.status, headers: [...response.headers] }, this.#now(), Date.now())
      return response
    } catch (error) {
      const last = engine.end(this.#cause ?? 'error', this.#now(), rootCauseOf(error)).at(-1)
      this.#close()
      if (this.#cause === 'timeout' && last?.type === 'stream_error') throw new StreamError(last, { cause: error })
      throw error
    }
  }

  /** The response is none of ours after all. */
  release(): void {
    this.#watchdog.stop()
    this.#over = true
    // Its body is still to be read, and the client's signal has to reach it.
  }

  /**
   * The body as the client reads it; undefined where there is none.
   *
   * @throws StreamError where there is none although a stream was due
   */
  guard(response: Response): ReadableStream<Uint8Array> | undefined {
    if (response.body === null) {
      const failure = this.#failureOf(this.#options.engine.end('eof', this.#now()))
      this.#close()
      if (failure !== undefined && !this.#options.passive) throw failure
      return undefined
    }
    this.#reader = readerOf(response.body)
    this.#idleSince = this.#options.now()
    this.#watchdog.pause()
    const stream = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller
        },
        pull: (controller) => this.#pull(controller),
        cancel: (reason) => this.#cancel(reason),
      },
      { highWaterMark: 0 },
    )
    // Aborted after the head, and before anybody could read.
    if (this.#cause === 'aborted') this.#leave(this.#abort.signal.reason)
    return stream
  }

  async #pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    const { now, passive } = this.#options
    if (this.#failure !== undefined) {
      controller.error(this.#failure.error)
      return
    }
    if (this.#idleSince !== undefined) this.#heldMs += now() - this.#idleSince
    this.#idleSince = undefined
    while (!this.#over) {
      if (!passive) this.#watchdog.arm()
      // oxlint-disable-next-line no-await-in-loop -- one read at a time is the point
      const bytes = await this.#readInto(controller)
      if (bytes.length === 0) continue
      controller.enqueue(bytes)
      break
    }
    this.#watchdog.pause()
    this.#idleSince = now()
    if (this.#over && this.#failure === undefined) closeQuietly(controller)
  }

  /** One read. Gives back what the client gets of it; an end or a failure without anything before it is told at once. */
  async #readInto(controller: ReadableStreamDefaultController<Uint8Array>): Promise<Uint8Array> {
    const { engine, passive } = this.#options
    let bytes: Uint8Array | undefined
    let broken: { readonly error: unknown } | undefined
    try {
      const read = await this.#reader!.read()
      if (read.done !== true && this.#cause === undefined) bytes = read.value
    } catch (error) {
      broken = { error }
    }
    // The client has aborted, and was told so.
    if (this.#over) return NO_BYTES
    const cause = this.#cause ?? (broken === undefined ? 'eof' : endCauseOf(broken.error))
    const events = bytes === undefined ? this.#end(cause, broken?.error) : engine.push(bytes, this.#now())
    if (passive) {
      if (bytes !== undefined) return bytes
      this.#close()
      if (broken !== undefined) {
        this.#failure = broken
        controller.error(broken.error)
      }
      return NO_BYTES
    }
    const { given, failure } = this.#judge(bytes ?? NO_BYTES, events)
    if (failure !== undefined) {
      this.#failure = { error: failure }
      this.#stop('aborted')
      this.#close()
      // After an error nothing that is queued would be read: what is good goes out first, and the error with the next pull.
      if (given.length === 0) controller.error(failure)
    } else if (engine.ended) {
      // A client that reads to the end of the body must not wait for a socket that nobody closes.
      if (events.at(-1)?.type === 'stream_error') this.#giveUp()
      else if (bytes !== undefined) void letGo(this.#reader!, () => this.#giveUp())
      this.#close()
    }
    return given
  }

  #end(cause: EndCause, error: unknown): readonly StreamEvent[] {
    return this.#options.engine.end(cause, this.#now(), error === undefined ? undefined : rootCauseOf(error))
  }

  #judge(
    bytes: Uint8Array,
    events: readonly StreamEvent[],
  ): { readonly given: Uint8Array; readonly failure: StreamError | undefined } {
    const before = this.#passed
    this.#passed += bytes.length
    const { translation } = this.#options
    if (translation !== undefined) {
      const { bytes: given, error } = translation.take(events)
      const failure = this.#failureOf(events) ?? error
      const said = failure === undefined ? undefined : translation.fail(failure)
      return said === undefined ? { given, failure } : { given: joined(given, said), failure: undefined }
    }
    const failure = this.#failureOf(events)
    if (failure === undefined) return { given: bytes, failure }
    // Up to the event that was the end of it: what comes with it might be read as a good end.
    const until = failure.offset === undefined ? 0 : Math.min(bytes.length, Math.max(0, failure.offset - before))
    return { given: bytes.subarray(0, until), failure }
  }

  #failureOf(events: readonly StreamEvent[]): StreamError | undefined {
    this.#refused ??= events.find(isRefused)
    const last = events.at(-1)
    if (last?.type === 'stream_error') return new StreamError(last)
    return last?.type === 'stream_completed' ? this.#failureOfEnd(last) : undefined
  }

  #failureOfEnd({ outcome }: Terminal): StreamError | undefined {
    const { failOn, failOnRefusedCalls, unreadable, translation, engine } = this.#options
    const refused = this.#refused
    if (failOnRefusedCalls && refused !== undefined) {
      const { code, callId } = refused
      return raised(code, `the call ${callId} was refused: ${code}`)
    }
    if (failOn.has(outcome)) {
      return raised(OUTCOME_CODES[outcome] ?? 'upstream_error', `the stream ended as ${outcome}, which failOn names`)
    }
    // The engine reads such a body, but the client waits for events in it and would find none.
    const whole = engine.report().diagnostics.find(({ code }) => unreadable.has(code))
    if (whole === undefined || translation !== undefined) return undefined
    return raised('not_event_stream', `${whole.hint}; the client can't read it: use mode "normalise"`)
  }

  #now(): number {
    return this.#options.now() - this.#heldMs
  }

  #stop(cause: EndCause): void {
    this.#cause ??= cause
    this.#giveUp()
  }

  /** The client aborted, which looks as with any `fetch`: clients tell their own abort by its reason. */
  #leave(reason: unknown): void {
    if (this.#controller === undefined || this.#over) return
    this.#end('aborted', undefined)
    this.#failure = { error: reason }
    this.#controller.error(reason)
    void this.#reader?.cancel(reason).catch(() => {})
    this.#close()
  }

  #giveUp(): void {
    const reason = this.#cause === 'timeout' ? timerFired() : undefined
    this.#abort.abort(reason)
    void this.#reader?.cancel(reason).catch(() => {})
  }

  async #cancel(reason: unknown): Promise<void> {
    if (!this.#over) this.#end('aborted', undefined)
    this.#close()
    this.#abort.abort(reason)
    await this.#reader?.cancel(reason).catch(() => {})
  }

  #close(): void {
    if (this.#over) return
    this.#over = true
    this.#watchdog.stop()
    this.#unlink()
    this.#options.ended()
  }
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(first.length + second.length)
  bytes.set(first)
  bytes.set(second, first.length)
  return bytes
}

const OUTCOME_CODES: Partial<Record<Outcome, StreamError['code']>> = {
  truncated: 'output_truncated',
  refused: 'output_refused',
  empty: 'empty_stream',
}

function raised(code: StreamError['code'], message: string): StreamError {
  return new StreamError({ code, phase: 'delta', retryable: 'restart', message })
}

/** The client may have cancelled it in the meantime. */
function closeQuietly(controller: ReadableStreamDefaultController<Uint8Array>): void {
  try {
    controller.close()
  } catch {
    // It is closed.
  }
}
