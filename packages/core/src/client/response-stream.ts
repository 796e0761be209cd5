import type { StreamEvent } from '../chunk/stream-event.ts'
import type { EndCause, StreamEngine } from '../engine/stream-engine.ts'
import { readerOf } from './byte-source.ts'
import type { ByteRead, ByteReader } from './byte-source.ts'
import { endCauseOf, isNetworkError, rootCauseOf } from './network-error.ts'

export interface ResponseStreamOptions {
  /** Cancels the request and ends the stream as `cancelled`. */
  readonly signal?: AbortSignal
  /** Monotonic milliseconds. Default `performance.now`. */
  readonly now?: () => number
}

/**
 * Drives an engine from a `fetch`: feeds it the head and the reads, keeps its timers, and stops reading once it has ended.
 * `request` gets a signal that it must pass to `fetch`. What goes wrong on the network becomes the engine's one terminal event.
 * Leaving the loop early cancels the request; the report then says `cancelled`. One engine reads one response.
 *
 * Nothing is read while the consumer is at work on an event, so that time is on no timer and in no timing of the report.
 *
 * @throws TypeError for an engine that was used before, or a `request` that gives no fresh Response; and whatever `request` throws
 * that is no network error, for a mistake in it would fail again in every retry
 */
export async function* streamResponse(
  engine: StreamEngine,
  request: (signal: AbortSignal) => Promise<Response>,
  options: ResponseStreamOptions = {},
): AsyncGenerator<StreamEvent, void, undefined> {
  const clock = options.now ?? (() => performance.now())
  /** Time in which the consumer kept us from reading: no timer of the upstream's may run then. */
  let heldMs = 0
  const now = (): number => clock() - heldMs
  const abort = new AbortController()
  let reader: ByteReader | undefined
  let cause: EndCause | undefined
  let detail: string | undefined
  const stop = (why: EndCause): void => {
    cause ??= why
    abort.abort()
    void reader?.cancel().catch(() => {})
  }
  const onAbort = (): void => stop('aborted')
  engine.start(now())
  options.signal?.addEventListener('abort', onAbort, { once: true })
  const watchdog = createWatchdog(engine, now, () => stop('timeout'))
  let left = true
  try {
    if (options.signal?.aborted === true) stop('aborted')
    else watchdog.arm()
    const response = cause === undefined ? await headOf(request, abort.signal) : undefined
    if (response !== undefined) {
      engine.response({ status: response.status, headers: [...response.headers] }, now(), Date.now())
      watchdog.arm()
      if (response.body !== null) reader = readerOf(response.body)
    }
    for (;;) {
      const { done, value: bytes } = (await reader?.read()) ?? NOTHING_TO_READ
      if (done === true || bytes === undefined || cause !== undefined) break
      const events = engine.push(bytes, now())
      if (events.length > 0) {
        watchdog.pause()
        const from = clock()
        yield* events
        heldMs += clock() - from
      }
      if (engine.ended) break
      watchdog.arm()
    }
    left = false
  } catch (error) {
    if (cause === undefined && reader === undefined && !isNetworkError(error)) throw error
    left = false
    // Without a response head there was no body that could have been cut.
    cause ??= reader === undefined ? 'error' : endCauseOf(error)
    detail = rootCauseOf(error)
  } finally {
    watchdog.stop()
    options.signal?.removeEventListener('abort', onAbort)
    // However this ends — the terminal event, an error, the consumer leaving the loop — the socket is let go.
    abort.abort()
    void reader?.cancel().catch(() => {})
    if (left) engine.end('aborted', now())
  }
  yield* engine.end(cause ?? 'eof', now(), detail)
}

/** A response without a body is at its end. */
const NOTHING_TO_READ: ByteRead = { done: true }

/** Waits for the head, but not longer than for the abort: a `request` need not heed its signal. */
async function headOf(
  request: (signal: AbortSignal) => Promise<Response>,
  signal: AbortSignal,
): Promise<Response | undefined> {
  let release: (() => void) | undefined
  const aborted = new Promise<void>((resolve) => {
    release = resolve
    signal.addEventListener('abort', release, { once: true })
  })
  try {
    const response = await Promise.race([request(signal), aborted])
    if (signal.aborted) return undefined
    if (typeof response?.status !== 'number' || typeof response.headers?.get !== 'function') {
      throw new TypeError('streamResponse: the request function must resolve to a Response, as fetch does')
    }
    if (response.bodyUsed) throw new TypeError('streamResponse: the body of this Response was read before')
    return response
  } finally {
    if (release !== undefined) signal.removeEventListener('abort', release)
  }
}

interface Watchdog {
  /** Waiting begins, or goes on. */
  arm(): void
  /** Nobody waits for the upstream until it is armed again. */
  pause(): void
  stop(): void
}

/** Timers beyond this fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

/** One timer for the whole stream: it is set to the next deadline and, when it fires early, set again. */
function createWatchdog(engine: StreamEngine, now: () => number, fire: () => void): Watchdog {
  let timer: ReturnType<typeof setTimeout> | undefined
  let setTo = Infinity
  let paused = false
  const arm = (): void => {
    paused = false
    const deadline = engine.deadline()
    if (deadline === undefined || deadline.atMs >= setTo) return
    clearTimeout(timer)
    setTo = deadline.atMs
    timer = setTimeout(check, Math.min(LONGEST_TIMER_MS, Math.max(0, deadline.atMs - now())))
  }
  const check = (): void => {
    setTo = Infinity
    if (paused) return
    const deadline = engine.deadline()
    if (deadline === undefined) return
    if (deadline.atMs <= now()) fire()
    else arm()
  }
  return {
    arm,
    pause() {
      paused = true
    },
    stop: () => clearTimeout(timer),
  }
}
