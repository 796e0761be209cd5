import type { StreamEvent } from '../chunk/stream-event.ts'
import type { EndCause, StreamEngine } from '../engine/stream-engine.ts'
import { readerOf } from './byte-source.ts'
import type { ByteRead, ByteReader } from './byte-source.ts'
import { watchConnection } from './connection-watch.ts'
import { letGo, readTrailing } from './let-go.ts'
import { connectionOf, endCauseOf, isNetworkError, rootCauseOf } from './network-error.ts'
import { createWatchdog, timerFired } from './watchdog.ts'

export interface ResponseStreamOptions {
  /** Cancels the request and ends the stream as `cancelled`. */
  readonly signal?: AbortSignal
  /** Monotonic milliseconds. Default `performance.now`. */
  readonly now?: () => number
}

/** What a shell of ours wants besides. */
export interface ResponseBatchesOptions extends ResponseStreamOptions {
  /** Where the request goes, for the message of a connection that failed. */
  readonly url?: string
  /** Gets what the network threw, where that ended the stream. */
  readonly onBroken?: (error: unknown) => void
}

/**
 * The events of a response, as many at a time as one read gave; never an empty batch. `streamResponse` says the rest.
 *
 * @throws as `streamResponse` does
 */
export async function* responseBatches(
  engine: StreamEngine,
  request: (signal: AbortSignal) => Promise<Response>,
  options: ResponseBatchesOptions = {},
): AsyncGenerator<readonly StreamEvent[], void, undefined> {
  const clock = options.now ?? (() => performance.now())
  /** Time in which the consumer kept us from reading: no timer of the upstream's may run then. */
  let heldMs = 0
  const now = (): number => clock() - heldMs
  const abort = new AbortController()
  let reader: ByteReader | undefined
  let cause: EndCause | undefined
  let detail: string | undefined
  const giveUp = (): void => {
    const reason = cause === 'timeout' ? timerFired() : undefined
    abort.abort(reason)
    void reader?.cancel(reason).catch(() => {})
  }
  const stop = (why: EndCause): void => {
    cause ??= why
    giveUp()
  }
  const onAbort = (): void => stop('aborted')
  engine.start(now())
  options.signal?.addEventListener('abort', onAbort, { once: true })
  const watchdog = createWatchdog(engine, now, () => stop('timeout'))
  let left = true
  let saidAll = false
  try {
    if (options.signal?.aborted === true) stop('aborted')
    else watchdog.arm()
    watchConnection(abort.signal, () => {
      engine.connected(now())
      watchdog.arm()
    })
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
      saidAll = events.at(-1)?.type === 'stream_completed'
      if (saidAll) {
        // What is left of the body matters to its connection only, however long the consumer takes over the last events.
        watchdog.stop()
        void letGo(reader!, giveUp)
      }
      if (events.length > 0) {
        watchdog.pause()
        const from = clock()
        yield events
        heldMs += clock() - from
      }
      if (engine.ended) {
        const last = events.at(-1)
        if (last?.type === 'stream_error' && last.provider !== undefined) {
          await readTrailing(
            reader!,
            (trailing) => engine.push(trailing, now()),
            () => stop('aborted'),
          )
        }
        break
      }
      watchdog.arm()
    }
    left = false
  } catch (error) {
    if (cause === undefined && reader === undefined && !isNetworkError(error)) throw error
    left = false
    if (cause === undefined) options.onBroken?.(error)
    // Without a response head there was no body that could have been cut.
    cause ??= reader === undefined ? 'error' : endCauseOf(error)
    detail = reader === undefined ? connectionOf(options.url, error) : rootCauseOf(error)
  } finally {
    watchdog.stop()
    options.signal?.removeEventListener('abort', onAbort)
    // However else this ends — an error, a cut, the consumer leaving the loop — the socket is let go at once.
    if (!saidAll) giveUp()
    if (left) engine.end('aborted', now())
  }
  const rest = engine.end(cause ?? 'eof', now(), detail)
  if (rest.length > 0) yield rest
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
    const answer = request(signal)
    const response = await Promise.race([answer, aborted])
    if (signal.aborted) {
      // One that comes after all, from a `request` that heeds no signal, must not keep its socket.
      void Promise.resolve(answer)
        .then((late) => late?.body?.cancel(), ignore)
        .catch(ignore)
      return undefined
    }
    if (typeof response?.status !== 'number' || typeof response.headers?.get !== 'function') {
      throw new TypeError('streamResponse: the request function must resolve to a Response, as fetch does')
    }
    if (response.bodyUsed) throw new TypeError('streamResponse: the body of this Response was read before')
    return response
  } finally {
    if (release !== undefined) signal.removeEventListener('abort', release)
  }
}

function ignore(): void {}
