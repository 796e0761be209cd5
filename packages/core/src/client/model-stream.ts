import type { StreamSnapshot } from '../accumulate/snapshot.ts'
import type { StreamAdapter } from '../adapters/adapter.ts'
import { adapterFor } from '../adapters/registry.ts'
import type { ProviderProfile } from '../adapters/profile.ts'
import type { Api } from '../chunk/api.ts'
import type { StreamChunk } from '../chunk/chunk.ts'
import type { StreamLimits } from '../chunk/limits.ts'
import type { StreamEvent } from '../chunk/stream-event.ts'
import type { Timeouts } from '../engine/deadlines.ts'
import { logLineOf } from '../engine/log-line.ts'
import type { LogLine } from '../engine/log-line.ts'
import type { Policy } from '../engine/outcome.ts'
import type { StreamReport } from '../engine/report.ts'
import type { JsonValue } from '../json/value.ts'
import { factsOfBody } from '../recording/request-facts.ts'
import { callAside } from '../server/call-aside.ts'
import { AttemptLoop } from './attempt-loop.ts'
import { checkBody, checkKey, checkNames } from './check-call.ts'
import { checkApi, prepareRequest } from './endpoint.ts'
import { observed } from './failure-recorder.ts'
import type { FailureRecorder } from './failure-recorder.ts'
import { FlatIterator } from './flat-iterator.ts'
import type { BatchOwner } from './flat-iterator.ts'
import { LazyPromise } from './lazy-promise.ts'
import { resultOf } from './model-result.ts'
import type { ModelResult } from './model-result.ts'
import { checkRetry } from './retry.ts'
import type { RetryOptions } from './retry.ts'
import { withoutSecrets } from './without-secrets.ts'

/** A request, and how its answer is read. */
export interface StreamModelOptions {
  /** The wire format. */
  readonly api: Api
  /** As the API's own clients take it, `https://api.openai.com/v1` for example. Default: the public address of the API. */
  readonly baseURL?: string | undefined
  readonly apiKey?: string | undefined
  /** Sent beside those that the API needs; they win over them. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** The body of the request in the words of the API. `stream: true` is added where it belongs there. */
  readonly body: object
  /** Cancels the stream: the request is aborted, and no new attempt is started. */
  readonly signal?: AbortSignal | undefined
  /** Milliseconds of each attempt; `totalMs` bounds all attempts and the waits between them. */
  readonly timeouts?: Partial<Timeouts> | 'reasoning' | undefined
  readonly limits?: Partial<StreamLimits> | undefined
  /** What the server is known to do differently. */
  readonly profile?: ProviderProfile | undefined
  /** Default `compat`. */
  readonly policy?: Policy | undefined
  /** `all` (default): one call that is not ready holds its siblings. */
  readonly batch?: 'all' | 'each' | undefined
  /** Before the first output only; `false` turns it off. */
  readonly retry?: RetryOptions | false | undefined
  /** Default: the platform's. */
  readonly fetch?: typeof fetch | undefined
  /** False: a failure is the last event, and nothing is thrown. Default true. */
  readonly throwOnError?: boolean | undefined
  /** For the report: your own id of this request, and the name of the upstream. */
  readonly requestId?: string | undefined
  readonly route?: string | undefined
  /** Seed of minted call ids; give each run its own. */
  readonly idSeed?: string | undefined
  /** Sees the report of every stream that was begun, once, when it has ended. What it throws disturbs nobody. */
  readonly onReport?: ((report: StreamReport) => void) | undefined
  /** The same in one line for a log, without any content. */
  readonly onLog?: ((line: LogLine) => void) | undefined
  /**
   * Gets a redacted recording of a stream that failed, with all its attempts: `recordFailures(callback)` of `@streamfold/recording`.
   * Default: nothing is recorded.
   */
  readonly onFailure?: FailureRecorder | undefined
  /** Monotonic milliseconds. Default `performance.now`. */
  readonly now?: (() => number) | undefined
}

/** As {@link StreamModelOptions}; what the server does differently, the adapter was told when it was made. */
export interface StreamModelWithOptions extends Omit<StreamModelOptions, 'api' | 'profile'> {
  /** Whose address and headers the request gets. Default: those of the adapter's own wire format. */
  readonly api?: Api | undefined
}

/**
 * One request to a model, begun when it is first read from, and read once: as events, as batches, as text or as chunks.
 *
 * Exactly one of `stream_completed` and `stream_error` is the last event. After a `stream_error` the loop throws it as a
 * StreamError, unless `throwOnError` is false; a loop over the text alone learns of a failure in this way only (fault F208).
 * Leaving a loop early cancels the request.
 */
export interface ModelStream extends AsyncIterable<StreamEvent> {
  [Symbol.asyncIterator](): AsyncIterableIterator<StreamEvent>
  /** The events, as many at a time as one read gave. */
  batches(): AsyncIterableIterator<readonly StreamEvent[]>
  /** The text of one choice, piece by piece. Default choice 0. */
  text(choice?: number): AsyncIterableIterator<string>
  /**
   * What came, for writing it in another form (`streamfold/server`). A failure is the last chunk, of type `error`, and nothing is
   * thrown. So is a call that was refused although the wire closed it well: nobody downstream may run it.
   */
  chunks(): AsyncIterableIterator<StreamChunk>
  /** Settles when the stream has ended. Awaited while nobody reads, it reads the stream itself. Rejects as the loops throw. */
  readonly result: Promise<ModelResult>
  /** What may be shown so far, of the current attempt. */
  snapshot(): StreamSnapshot
  /** The report so far: of the last attempt, with one line for each attempt. */
  report(): StreamReport
  /** Aborts the request at once. One `stream_error` with the code `cancelled` follows, then silence. */
  cancel(reason?: unknown): void
}

/**
 * Streams an answer of a model.
 *
 * @throws TypeError for options that can't work; what goes wrong later is the stream's last event, and thrown where it is read
 */
export function streamModel(options: StreamModelOptions): ModelStream {
  checkNames('streamModel', options, OPTIONS)
  checkApi('streamModel', options.api)
  return new RequestedStream(adapterFor(options.api, options.profile), options)
}

/**
 * The same over one adapter, `chatCompletions()` for example, or one of your own. A bundle holds no other then: {@link streamModel}
 * brings them all, because it learns the name at run time.
 *
 * @throws TypeError as {@link streamModel}; and for an adapter of your own without `api`
 */
export function streamModelWith(adapter: StreamAdapter, options: StreamModelWithOptions): ModelStream {
  checkNames('streamModelWith', options, OPTIONS_WITH)
  if (typeof adapter?.open !== 'function') {
    throw new TypeError('streamModelWith takes an adapter first, chatCompletions() for example')
  }
  return new RequestedStream(adapter, options)
}

/** The adapter was told its profile when it was made. */
const OPTIONS_WITH: Readonly<Record<keyof StreamModelWithOptions, true>> = {
  api: true,
  baseURL: true,
  apiKey: true,
  headers: true,
  body: true,
  signal: true,
  timeouts: true,
  limits: true,
  policy: true,
  batch: true,
  retry: true,
  fetch: true,
  throwOnError: true,
  requestId: true,
  route: true,
  idSeed: true,
  onReport: true,
  onLog: true,
  onFailure: true,
  now: true,
}

const OPTIONS: Readonly<Record<keyof StreamModelOptions, true>> = { ...OPTIONS_WITH, profile: true }

class RequestedStream implements ModelStream {
  readonly #loop: AttemptLoop
  readonly result: Promise<ModelResult>
  #settle: (() => void) | undefined
  #fail: ((error: unknown) => void) | undefined
  /** A recorder is still at work on the failure. */
  #kept: Promise<void> | undefined

  constructor(adapter: StreamAdapter, options: StreamModelWithOptions) {
    const { onReport, onLog } = options
    checkBody('streamModel', options.body)
    checkKey('streamModel', options.apiKey)
    checkRetry('streamModel', options.retry)
    const request = prepareRequest({ ...options, api: options.api ?? adapter.api })
    const { fetch: send, ended } = observed(options.fetch ?? fetch, options.onFailure)
    this.#loop = new AttemptLoop({
      engine: {
        adapter,
        // By the same rules as of a recorded request: what it asks for arms the checks of the answer.
        request: factsOfBody(JSON.parse(request.body) as JsonValue),
        ...(options.limits !== undefined && { limits: options.limits }),
        ...(options.policy !== undefined && { policy: options.policy }),
        ...(options.batch !== undefined && { batch: options.batch }),
        ...(options.requestId !== undefined && { requestId: options.requestId }),
        ...(options.route !== undefined && { route: options.route }),
        ...(options.idSeed !== undefined && { idSeed: options.idSeed }),
      },
      timeouts: options.timeouts,
      retry: options.retry === false ? { attempts: 1 } : (options.retry ?? {}),
      url: withoutSecrets(request.url),
      throwOnError: options.throwOnError ?? true,
      now: options.now ?? (() => performance.now()),
      ...(options.signal !== undefined && { signal: options.signal }),
      request: (signal) =>
        send(request.url, {
          method: 'POST',
          headers: request.headers,
          body: request.body,
          signal,
          // Followed, a redirect would carry the key to whatever host the answer names.
          redirect: 'manual',
        }),
      ended: () => {
        const report = this.report()
        if (onReport !== undefined) callAside(onReport, report)
        if (onLog !== undefined) callAside(onLog, logLineOf(report))
        this.#kept = ended(report)
        this.#tell()
      },
    })
    this.result = new LazyPromise<ModelResult>((resolve, reject) => {
      this.#settle = () => resolve(resultOf(this.#loop))
      this.#fail = reject
      const { over, begun } = this.#loop
      if (over) this.#tell()
      else if (!begun) void this.#drain()
    })
  }

  [Symbol.asyncIterator](): AsyncIterableIterator<StreamEvent> {
    return new FlatIterator(this.#loop.read(), (batch) => batch, this.#loop)
  }

  batches(): AsyncIterableIterator<readonly StreamEvent[]> {
    return new FlatIterator(this.#loop.read(), (batch) => [batch], this.#ofOthers())
  }

  text(choice = 0): AsyncIterableIterator<string> {
    return new FlatIterator(
      this.#loop.read(),
      (batch) => batch.flatMap((event) => (event.type === 'text_delta' && event.choice === choice ? event.text : [])),
      this.#ofOthers(),
    )
  }

  chunks(): AsyncIterableIterator<StreamChunk> {
    return new FlatIterator(this.#loop.readChunks(), (batch) => batch, this.#ofOthers())
  }

  snapshot(): StreamSnapshot {
    return this.#loop.engine.snapshot()
  }

  report(): StreamReport {
    return this.#loop.report()
  }

  cancel(reason?: unknown): void {
    this.#loop.cancel(reason)
  }

  /** Not before what was recorded of a failure is kept: the process may end with the error. */
  #tell(): void {
    const tell = (): void => {
      const { failure } = this.#loop
      if (failure === undefined) this.#settle?.()
      else this.#fail?.(failure)
    }
    if (this.#kept === undefined) tell()
    else void this.#kept.then(tell)
  }

  /** For readers of something else than events. */
  #ofOthers<Item>(): BatchOwner<Item> {
    const loop = this.#loop
    return {
      get cancelled() {
        return loop.cancelled
      },
      drop: () => loop.drop(),
      leave: () => loop.leave(),
      cancel: (reason) => loop.cancel(reason),
    }
  }

  async #drain(): Promise<void> {
    try {
      for await (const _ of this.#loop.read());
    } catch {
      // `ended` has passed it on.
    }
  }
}
