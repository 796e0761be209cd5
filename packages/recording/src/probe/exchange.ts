import { request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { readRecordings } from 'streamfold/recording'
import type { EndKind, Recording } from 'streamfold/recording'
import { errorCode } from '../error-code.ts'
import { ExchangeRecorder } from '../record/exchange-recorder.ts'
import { headerPairs } from '../record/hop-headers.ts'
import { memorySink } from '../record/recording-sink.ts'
import { RedactionPolicy } from '../redact/redaction-policy.ts'

export interface ExchangeOptions {
  readonly url: URL
  readonly method: 'GET' | 'POST'
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  readonly api?: string
  readonly labels?: Readonly<Record<string, string>>
  /** From the request to the end of the body, in milliseconds; then it ends as `timeout`. */
  readonly timeoutMs: number
  readonly signal?: AbortSignal
}

export interface Exchange {
  /** Redacted; its lines are what a file would hold. */
  readonly recording: Recording
  readonly text: string
  /** What the network said where no response came. */
  readonly failure?: string
}

const BY = 'streamfold probe'

/** Sends one request and records what comes back, read by read. Never rejects for what the network does; for an abort it does. */
export async function exchange(options: ExchangeOptions): Promise<Exchange> {
  options.signal?.throwIfAborted()
  const { url, method, headers, body = '', timeoutMs, signal } = options
  const sink = memorySink()
  let failure: string | undefined
  await new Promise<void>((resolve) => {
    const recorder = new ExchangeRecorder(
      { method, url: url.href, headers: Object.entries(headers) },
      {
        sink: () => sink,
        policy: new RedactionPolicy(),
        level: 'http-data',
        by: BY,
        requestBody: true,
        onRecorded: () => resolve(),
        ...(options.api !== undefined && { api: options.api }),
        ...(options.labels !== undefined && { labels: options.labels }),
      },
    )
    recorder.requestBody(Buffer.from(body))
    recorder.requestEnd()
    let timedOut = false
    const send = url.protocol === 'https:' ? httpsRequest : httpRequest
    const request = send(url, { method, headers, agent: false, ...(signal !== undefined && { signal }) })
    const timer = setTimeout(() => {
      timedOut = true
      request.destroy()
    }, timeoutMs)
    const end = (kind: EndKind, code?: string): void => {
      clearTimeout(timer)
      recorder.end(timedOut ? 'timeout' : kind, code === undefined ? {} : { code })
    }
    let responded = false
    request.on('response', (response) => {
      responded = true
      recorder.response({
        status: response.statusCode ?? 0,
        headers: headerPairs(response.rawHeaders),
        http: response.httpVersion,
        ...(response.statusMessage !== undefined && { reason: response.statusMessage }),
      })
      response.on('data', (read: Uint8Array) => recorder.read(read))
      response.on('end', () => end(response.complete ? 'complete' : 'cut'))
      // The socket's own error comes at the request, and first; what is left is a connection that closed within the framing.
      response.on('error', (error) => end('cut', errorCode(error) ?? error.message))
    })
    request.on('error', (error) => {
      const code = errorCode(error) ?? error.message
      if (!responded) failure ??= timedOut ? `no response within ${timeoutMs} ms` : code
      end(code === 'ECONNRESET' ? 'reset' : 'error', code)
    })
    request.end(body)
  })
  signal?.throwIfAborted()
  const text = sink.text()
  return { recording: readRecordings(text)[0]!, text, ...(failure !== undefined && { failure }) }
}
