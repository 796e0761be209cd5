import type { EndKind, HeaderPair } from 'streamfold/recording'
import { errorCode } from '../error-code.ts'
import { RedactionPolicy } from '../redact/redaction-policy.ts'
import type { RedactionOptions } from '../redact/redaction-policy.ts'
import { ExchangeRecorder } from './exchange-recorder.ts'
import type { ExchangeRecorderOptions } from './exchange-recorder.ts'

export interface RecordFetchOptions extends Omit<ExchangeRecorderOptions, 'policy' | 'level' | 'by' | 'decodedReads'> {
  /** What is wrapped. Default: the global `fetch`. */
  readonly fetch?: typeof globalThis.fetch
  readonly by?: string
  readonly redaction?: RedactionOptions
}

/**
 * A `fetch` that records. Requests and responses pass through as they are; a body is read only as fast as its consumer
 * reads it, so the time of a read is when the consumer got it. `fetch` joins pieces that arrive together: for exact reads,
 * record with the proxy.
 *
 * A body that the consumer leaves unread leaves its recording open until the response is dropped or cancelled.
 */
export function recordFetch(options: RecordFetchOptions): typeof globalThis.fetch {
  return recordingFetch(options, () => {})
}

/** The same, for whoever has to end a recording that its consumer leaves open. */
export function recordingFetch(
  options: RecordFetchOptions,
  opened: (recorder: ExchangeRecorder) => void,
): typeof globalThis.fetch {
  const { fetch: wrapped = globalThis.fetch, by = 'streamfold recordFetch' } = options
  const policy = new RedactionPolicy(options.redaction)
  return async (input, init) => {
    const request = input instanceof Request ? input : undefined
    const headers = new Headers(init?.headers ?? request?.headers)
    const recorder = new ExchangeRecorder(
      {
        method: init?.method ?? request?.method ?? 'GET',
        url: input instanceof Request ? input.url : String(input),
        headers: [...headers] as HeaderPair[],
      },
      { ...options, policy, by, level: 'fetch', decodedReads: true },
    )
    opened(recorder)
    const body = bytesOf(init?.body ?? request?.body)
    if (body !== undefined) {
      recorder.requestBody(body)
      recorder.requestEnd()
    }
    let response: Response
    try {
      response = await wrapped(input, init)
    } catch (error) {
      endBadly(recorder, error)
      throw error
    }
    recorder.response({
      status: response.status,
      reason: response.statusText,
      headers: [...response.headers] as HeaderPair[],
    })
    if (response.body === null) {
      recorder.end('complete')
      return response
    }
    return withBody(response, recorded(response.body, recorder))
  }
}

function recorded(body: ReadableStream<Uint8Array>, recorder: ExchangeRecorder): ReadableStream<Uint8Array> {
  const reader = body.getReader()
  return new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        try {
          const { done, value } = await reader.read()
          if (done) {
            recorder.end('complete')
            controller.close()
          } else {
            recorder.read(value)
            controller.enqueue(value)
          }
        } catch (error) {
          endBadly(recorder, error)
          controller.error(error)
        }
      },
      cancel: async (reason) => {
        recorder.end(isTimeout(reason) ? 'timeout' : 'aborted', { by: 'consumer' })
        await reader.cancel(reason)
      },
    },
    // Nothing is read ahead of the consumer.
    { highWaterMark: 0 },
  )
}

/** A constructed response has no address of its own. */
function withBody(response: Response, body: ReadableStream<Uint8Array>): Response {
  const { status, statusText, headers } = response
  const copy = new Response(body, { status, statusText, headers })
  for (const name of ['url', 'redirected', 'type'] as const)
    Object.defineProperty(copy, name, { value: response[name] })
  return copy
}

function endBadly(recorder: ExchangeRecorder, error: unknown): void {
  const code = errorCode(error)
  const timeout = isTimeout(error)
  const aborted = timeout || (error instanceof Error && error.name === 'AbortError')
  const kind: EndKind = aborted
    ? timeout
      ? 'timeout'
      : 'aborted'
    : code === 'ECONNRESET'
      ? 'reset'
      : code === 'UND_ERR_SOCKET'
        ? 'cut'
        : 'error'
  recorder.end(kind, { ...(code !== undefined && { code }), ...(aborted && { by: 'consumer' }) })
}

/** A timer of the consumer's, of `AbortSignal.timeout` for example. */
function isTimeout(reason: unknown): boolean {
  return reason instanceof Error && reason.name === 'TimeoutError'
}

/** A body that can be looked at without being used up; a stream can't. */
function bytesOf(body: unknown): Uint8Array | undefined {
  if (body === undefined || body === null) return new Uint8Array()
  if (typeof body === 'string' || body instanceof URLSearchParams) return Buffer.from(String(body))
  if (body instanceof Uint8Array) return body
  return body instanceof ArrayBuffer ? new Uint8Array(body) : undefined
}
