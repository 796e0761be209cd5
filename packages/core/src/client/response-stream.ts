import type { StreamEvent } from '../chunk/stream-event.ts'
import type { EndCause, StreamEngine } from '../engine/engine.ts'
import { readerOf } from './byte-source.ts'
import type { ByteReader } from './byte-source.ts'

export interface ResponseStreamOptions {
  /** Cancels the request and ends the stream as `cancelled`. */
  readonly signal?: AbortSignal
  /** Monotonic milliseconds. Default `performance.now`. */
  readonly now?: () => number
}

/**
 * Drives an engine from a `fetch`: feeds it the head and the reads, keeps its timers, and stops reading once it has ended.
 * `request` gets a signal that it must pass to `fetch`. What goes wrong becomes the engine's one terminal event; nothing is
 * thrown. Leaving the loop early cancels the request.
 */
export async function* streamResponse(
  engine: StreamEngine,
  request: (signal: AbortSignal) => Promise<Response>,
  options: ResponseStreamOptions = {},
): AsyncGenerator<StreamEvent, void, undefined> {
  const now = options.now ?? (() => performance.now())
  const abort = new AbortController()
  let reader: ByteReader | undefined
  let cause: EndCause | undefined
  const stop = (why: EndCause): void => {
    cause ??= why
    abort.abort()
    void reader?.cancel().catch(() => {})
  }
  const onAbort = (): void => stop('aborted')
  options.signal?.addEventListener('abort', onAbort, { once: true })
  engine.start(now())
  const watchdog = createWatchdog(engine, now, () => stop('timeout'))
  try {
    if (options.signal?.aborted === true) stop('aborted')
    else {
      watchdog.arm()
      const response = await request(abort.signal)
      engine.response({ status: response.status, headers: [...response.headers] }, now(), Date.now())
      watchdog.arm()
      if (response.body !== null) {
        reader = readerOf(response.body)
        for (;;) {
          const bytes = await reader.read()
          if (bytes === undefined || cause !== undefined) break
          yield* engine.push(bytes, now())
          if (engine.ended) break
          watchdog.arm()
        }
      }
    }
  } catch (error) {
    cause ??= causeOf(error)
  } finally {
    watchdog.stop()
    options.signal?.removeEventListener('abort', onAbort)
    // However this ends — the terminal event, an error, the consumer leaving the loop — the socket is let go.
    abort.abort()
    void reader?.cancel().catch(() => {})
  }
  yield* engine.end(cause ?? 'eof', now())
}

/** One timer for the whole stream: it is set to the next deadline and, when it fires early, set again. */
function createWatchdog(engine: StreamEngine, now: () => number, fire: () => void): { arm(): void; stop(): void } {
  let timer: ReturnType<typeof setTimeout> | undefined
  let setTo = Infinity
  const arm = (): void => {
    const deadline = engine.deadline()
    if (deadline === undefined || deadline.atMs >= setTo) return
    clearTimeout(timer)
    setTo = deadline.atMs
    timer = setTimeout(check, Math.max(0, deadline.atMs - now()))
  }
  const check = (): void => {
    setTo = Infinity
    const deadline = engine.deadline()
    if (deadline === undefined) return
    if (deadline.atMs <= now()) fire()
    else arm()
  }
  return { arm, stop: () => clearTimeout(timer) }
}

/** undici says `terminated` for a body that ended too early, with the socket's own error as its cause (fault F002). */
function causeOf(error: unknown): EndCause {
  const inner = error instanceof Error ? error.cause : undefined
  const code = typeof inner === 'object' && inner !== null && 'code' in inner ? inner.code : undefined
  if (code === 'UND_ERR_SOCKET') return 'cut'
  return code === 'ECONNRESET' || code === 'EPIPE' ? 'reset' : 'error'
}
