import type { StreamAdapter } from '../adapters/adapter.ts'
import { adapterFor } from '../adapters/registry.ts'
import type { ProviderProfile } from '../adapters/profile.ts'
import { readProfile } from '../adapters/read-profile.ts'
import type { Api } from '../chunk/api.ts'
import type { DiagnosticCode } from '../chunk/diagnostic.ts'
import type { StreamLimits } from '../chunk/limits.ts'
import type { Outcome } from '../chunk/outcome.ts'
import { StreamError } from '../chunk/stream-error.ts'
import { timeoutsOf } from '../engine/deadlines.ts'
import type { Timeouts } from '../engine/deadlines.ts'
import { createStreamEngine } from '../engine/engine.ts'
import { logLineOf } from '../engine/log-line.ts'
import type { LogLine } from '../engine/log-line.ts'
import type { Policy } from '../engine/outcome.ts'
import type { StreamReport } from '../engine/report.ts'
import { callAside } from '../server/call-aside.ts'
import { createEventStreamEncoder, ENCODABLE_APIS, faultOf } from '../server/encoder.ts'
import type { EncodableApi } from '../server/encoder.ts'
import { ChunkTap } from './chunk-tap.ts'
import { checkNames } from './check-call.ts'
import { checkApi, readsJsonLines } from './endpoint.ts'
import { observed } from './failure-recorder.ts'
import type { FailureRecorder } from './failure-recorder.ts'
import { GuardedBody } from './guarded-body.ts'
import type { Translation } from './guarded-body.ts'
import { bodyOfRequest, readRequest } from './guard-request.ts'
import type { GuardedRequest } from './guard-request.ts'
import { withoutSecrets } from './without-secrets.ts'

/** What is done with the streams of another client. */
export interface GuardOptions {
  /**
   * - `guard` (default): bytes pass unchanged, and a stream that was cut, stalled, broke off, contradicts itself or outgrew a limit
   *   ends with a StreamError where the client alone would see a good end.
   * - `observe`: nothing is changed, raised or timed; the report is all there is.
   * - `normalise`: the client reads a clean stream of its API, whatever the server made of it, and is guarded as well. For the APIs that
   *   `streamfold/server` writes; others are guarded.
   */
  readonly mode?: 'observe' | 'guard' | 'normalise' | undefined
  /** Default: told by the address of each request; a request to any other address passes untouched. */
  readonly api?: Api | undefined
  readonly profile?: ProviderProfile | undefined
  readonly timeouts?: Partial<Timeouts> | 'reasoning' | undefined
  readonly limits?: Partial<StreamLimits> | undefined
  readonly policy?: Policy | undefined
  /** Outcomes beside failed, incomplete and cancelled that are raised, `empty` or `truncated` for example. Default none. */
  readonly failOn?: readonly Outcome[] | undefined
  /** Raise when a call was refused although the stream ended well; else the client gets it and has to look itself. Default false. */
  readonly failOnRefusedCalls?: boolean | undefined
  /**
   * With `normalise`: how a failure is told. `throw` (default): the body errors with a StreamError. `event`: the client reads an error
   * event of its API, for clients that make more of one than of a body that errors (the AI SDK's response helpers, for example).
   */
  readonly errors?: 'throw' | 'event' | undefined
  /** Sees the report of every stream, once, when it has ended. What it throws disturbs nobody. */
  readonly onReport?: ((report: StreamReport) => void) | undefined
  /** The same in one line for a log, without any content. */
  readonly onLog?: ((line: LogLine) => void) | undefined
  /** Gets a redacted recording of a stream that failed: `recordFailures(callback)` of `@streamfold/recording`. Default: nothing. */
  readonly onFailure?: FailureRecorder | undefined
  /** Monotonic milliseconds. Default `performance.now`. */
  readonly now?: (() => number) | undefined
}

/** As {@link GuardOptions}; what the server does differently, the adapter was told when it was made. */
export interface GuardWithOptions extends Omit<GuardOptions, 'api' | 'profile'> {
  /**
   * What every request speaks, whatever its address. Default: a request to an address of the adapter's own API is guarded, and any other
   * passes untouched, one to another API as well.
   */
  readonly api?: Api | undefined
}

/**
 * The same protection as `streamModel`, for a client of somebody else's: a `fetch` that is given to it in place of the platform's.
 *
 * Requests that ask for no stream, go elsewhere, or are answered with an error status pass untouched, so the client's own retries and
 * error classes stay as they are. What fails inside a stream is thrown by its body, as a StreamError.
 *
 * @throws TypeError for an unknown option, mode, API, timer or field of a profile
 */
export function guardFetch(inner: typeof fetch = fetch, options: GuardOptions = {}): typeof fetch {
  checkNames('guardFetch', options, OPTIONS)
  if (typeof inner !== 'function') {
    throw new TypeError('guardFetch takes a fetch function first, then its options: guardFetch(fetch, { mode })')
  }
  checkOptions('guardFetch', options)
  // Now, and not with the first request: a mistake in a profile is one of whoever starts the program.
  if (options.profile !== undefined) readProfile(options.profile)
  return guarding(inner, options, (api) => adapterFor(api, options.profile))
}

/**
 * The same over one adapter, `chatCompletions()` for example, or one of your own. A bundle holds no other then: {@link guardFetch}
 * brings them all, because it learns with each request which one it needs.
 *
 * @throws TypeError for an unknown option, mode, API or timer, and for what is no adapter, or one of your own without `api`
 */
export function guardFetchWith(
  adapter: StreamAdapter,
  inner: typeof fetch = fetch,
  options: GuardWithOptions = {},
): typeof fetch {
  checkNames('guardFetchWith', options, OPTIONS_WITH)
  if (typeof adapter?.open !== 'function') {
    throw new TypeError('guardFetchWith takes an adapter first, chatCompletions() for example')
  }
  if (typeof inner !== 'function') {
    throw new TypeError(
      'guardFetchWith takes an adapter, a fetch function, then its options: guardFetchWith(adapter, fetch, { mode })',
    )
  }
  checkOptions('guardFetchWith', options)
  // By it alone is told which requests are meant.
  if (options.api === undefined) checkApi('guardFetchWith', adapter.api)
  return guarding(inner, options, (api) => ((options.api ?? adapter.api) === api ? adapter : undefined))
}

function checkOptions(who: string, { mode = 'guard', timeouts, api }: GuardWithOptions): void {
  timeoutsOf(timeouts)
  if (mode !== 'guard' && mode !== 'observe' && mode !== 'normalise') {
    throw new TypeError(`${who}: unknown mode "${String(mode)}"; known are guard, observe and normalise`)
  }
  if (api !== undefined) checkApi(who, api)
}

/** @param adapterOf what reads the streams of an API; undefined for one that is not guarded */
function guarding(
  inner: typeof fetch,
  options: GuardWithOptions,
  adapterOf: (api: Api) => StreamAdapter | undefined,
): typeof fetch {
  return async (input, init) => {
    const body = bodyOfRequest(input, init, options.api)
    const request = readRequest(input, init, options.api, body === undefined ? undefined : await body)
    const adapter = request === undefined ? undefined : adapterOf(request.api)
    return request === undefined || adapter === undefined
      ? inner(input, init)
      : guard(inner, input, init, request, adapter, options)
  }
}

/** The adapter was told its profile when it was made. */
const OPTIONS_WITH: Readonly<Record<keyof GuardWithOptions, true>> = {
  mode: true,
  api: true,
  timeouts: true,
  limits: true,
  policy: true,
  failOn: true,
  failOnRefusedCalls: true,
  errors: true,
  onReport: true,
  onLog: true,
  onFailure: true,
  now: true,
}

const OPTIONS: Readonly<Record<keyof GuardOptions, true>> = { ...OPTIONS_WITH, profile: true }

async function guard(
  inner: typeof fetch,
  input: Parameters<typeof fetch>[0],
  init: RequestInit | undefined,
  request: GuardedRequest,
  adapter: StreamAdapter,
  options: GuardWithOptions,
): Promise<Response> {
  const { mode = 'guard', failOn = [], now = () => performance.now(), onReport, onLog } = options
  const observation = observed(inner, options.onFailure)
  const translation = mode === 'normalise' ? translationFor(request.api, adapter, options) : undefined
  const engine = createStreamEngine({
    adapter,
    request: request.facts,
    timeouts: options.timeouts ?? {},
    ...(options.limits !== undefined && { limits: options.limits }),
    ...(options.policy !== undefined && { policy: options.policy }),
    ...(translation !== undefined && { onChunk: translation.onChunk }),
  })
  const body = new GuardedBody({
    engine,
    now,
    passive: mode === 'observe',
    failOn: new Set(failOn),
    failOnRefusedCalls: options.failOnRefusedCalls ?? false,
    unreadable: readsJsonLines(request.api) ? WHOLE : WHOLE_OR_LINES,
    translation,
    ended: () => {
      const source = { kind: 'live' as const, url: withoutSecrets(request.url) }
      const report = engine.report(source)
      if (onReport !== undefined) callAside(onReport, report)
      if (onLog !== undefined) callAside(onLog, logLineOf(report))
      void observation.ended(report)
    },
  })
  const response = await body.request((signal) => observation.fetch(input, { ...init, signal }), request.signal)
  const isStream = request.streams ?? response.headers.get('content-type')?.includes('event-stream') === true
  if (!response.ok || !isStream) {
    body.release()
    return response
  }
  const stream = body.guard(response)
  if (stream === undefined) return response
  const headers = new Headers(response.headers)
  // They are of the bytes on the wire, which `fetch` has decoded already.
  headers.delete('content-length')
  headers.delete('content-encoding')
  if (translation !== undefined) headers.set('content-type', 'text/event-stream; charset=utf-8')
  const guarded = new Response(stream, { status: response.status, statusText: response.statusText, headers })
  Object.defineProperty(guarded, 'url', { value: response.url })
  return guarded
}

const WHOLE: ReadonlySet<DiagnosticCode> = new Set(['downgraded_to_json'])
const WHOLE_OR_LINES: ReadonlySet<DiagnosticCode> = new Set(['downgraded_to_json', 'ndjson_framing'])

function translationFor(api: Api, adapter: StreamAdapter, options: GuardWithOptions): Translation | undefined {
  if (!isEncodable(api)) return undefined
  const tap = new ChunkTap({
    passRefused: !(options.failOnRefusedCalls ?? false),
    repairs: adapter.repairs.length > 0,
  })
  const encoder = createEventStreamEncoder(api)
  const bytes = new TextEncoder()
  return {
    onChunk: tap.begin(),
    take(events) {
      let text = ''
      for (const chunk of tap.take(events)) {
        if (chunk.type === 'error') return { bytes: bytes.encode(text), error: new StreamError(chunk.error) }
        text += encoder.push(chunk)
      }
      if (events.at(-1)?.type === 'stream_completed') text += encoder.end()
      return { bytes: bytes.encode(text), error: undefined }
    },
    fail: (error) => (options.errors === 'event' ? bytes.encode(encoder.fail(faultOf(error))) : undefined),
  }
}

function isEncodable(api: Api): api is EncodableApi {
  return (ENCODABLE_APIS as readonly string[]).includes(api)
}
