import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Agent } from 'undici'
import type { Dispatcher } from 'undici'
import type { HeaderPair } from 'streamfold/recording'
import { errorCode } from '../error-code.ts'
import { listen } from '../listen.ts'
import type { ListenAddress } from '../listen.ts'
import { RedactionPolicy } from '../redact/redaction-policy.ts'
import type { RedactionOptions } from '../redact/redaction-policy.ts'
import { ExchangeRecorder } from './exchange-recorder.ts'
import type { ExchangeRecorderOptions, RecordedExchange } from './exchange-recorder.ts'
import { endToEnd, headerPairs } from './hop-headers.ts'

export interface RecordingProxyOptions
  extends
    Pick<ExchangeRecorderOptions, 'sink' | 'by' | 'api' | 'labels' | 'requestBody' | 'maxPendingBytes' | 'now'>,
    ListenAddress {
  /** Where requests go: scheme, host and perhaps a path that is put before theirs. */
  readonly to: URL | string
  readonly redaction?: RedactionOptions
  readonly onRecorded?: (exchange: RecordedExchange) => void
  /** Certificates of the upstream that are trusted besides the usual ones, PEM. */
  readonly ca?: string
}

export interface RecordingProxy {
  /** `http://127.0.0.1:PORT`, to be used in place of the upstream's own. */
  readonly url: string
  /** Ends open exchanges as `aborted`, and resolves once all recordings are on disk. */
  close(): Promise<void>
}

/**
 * A reverse proxy that records what passes. Requests go to `to`, and the client sees what the upstream sends, when it sends
 * it: same bytes in the same pieces, same headers, same end, a reset included. Only what belongs to one connection
 * (`Connection`, `Transfer-Encoding`, …) is the proxy's own. Recording never holds the stream up: an exchange whose recorder
 * falls behind goes on unrecorded.
 *
 * @throws TypeError for a `to` that is no http(s) URL; Error `EADDRINUSE` and the like when it can't listen
 */
export async function startRecordingProxy(options: RecordingProxyOptions): Promise<RecordingProxy> {
  const to = upstreamOf(options.to)
  const { ca } = options
  // No timer of the proxy's may end a stream that the client would have waited for.
  const agent = new Agent({ headersTimeout: 0, bodyTimeout: 0, ...(ca !== undefined && { connect: { ca } }) })
  const policy = new RedactionPolicy(options.redaction)
  const open = new Set<Exchange>()
  const unfinished = new Set<Promise<void>>()
  const server = createServer(
    { requestTimeout: 0, headersTimeout: 60_000, keepAliveTimeout: 5000 },
    (request, response) => {
      let recorded!: () => void
      const finished = new Promise<void>((resolve) => (recorded = resolve))
      unfinished.add(finished)
      const exchange = new Exchange(request, response, {
        ...options,
        to,
        agent,
        policy,
        onRecorded: (made) => {
          options.onRecorded?.(made)
          unfinished.delete(finished)
          recorded()
        },
      })
      open.add(exchange)
      response.once('close', () => open.delete(exchange))
      exchange.start()
    },
  )
  server.on('clientError', (_error, socket) => socket.destroy())
  return {
    url: await listen(server, options),
    close: async () => {
      server.close()
      for (const exchange of open) exchange.abort()
      server.closeAllConnections()
      await Promise.all(unfinished)
      await agent.destroy()
    },
  }
}

function upstreamOf(to: URL | string): URL {
  const url = URL.canParse(String(to)) ? new URL(to) : undefined
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url
  throw new TypeError(`"${String(to)}" is no http(s) URL; name the API's address, https://api.example.com for example`)
}

/** The recorder gets what has gathered in this time, or so many bytes at once. */
const RECORD_MS = 5
const RECORD_BYTES = 64 * 1024

interface ExchangeOptions extends Omit<RecordingProxyOptions, 'to'> {
  readonly to: URL
  readonly agent: Agent
  readonly policy: RedactionPolicy
}

/** One request through the proxy. */
class Exchange implements Dispatcher.DispatchHandler {
  readonly #request: IncomingMessage
  readonly #response: ServerResponse
  readonly #options: ExchangeOptions
  readonly #recorder: ExchangeRecorder
  readonly #path: string
  #controller: Dispatcher.DispatchController | undefined
  #ended = false
  /** Reads that went to the client and not yet to the recorder. */
  #unrecorded: (readonly [bytes: Buffer, atUs: number])[] = []
  #unrecordedBytes = 0
  #recordSoon: NodeJS.Timeout | undefined

  constructor(request: IncomingMessage, response: ServerResponse, options: ExchangeOptions) {
    this.#request = request
    this.#response = response
    this.#options = options
    const { to } = options
    // A client that takes it for a forward proxy asks for a whole URL; it goes where all go.
    const asked = (request.url ?? '/').replace(/^https?:\/\/[^/]*/i, '')
    this.#path = joinPaths(to.pathname, asked)
    this.#recorder = new ExchangeRecorder(
      {
        method: request.method ?? 'GET',
        url: `${to.origin}${this.#path}`,
        http: request.httpVersion,
        headers: headerPairs(request.rawHeaders),
      },
      { ...options, level: 'http-data' },
    )
  }

  start(): void {
    const request = this.#request
    const { to, agent } = this.#options
    const hasBody =
      request.headers['content-length'] !== undefined || request.headers['transfer-encoding'] !== undefined
    request.on('data', (bytes: Buffer) => this.#recorder.requestBody(bytes))
    request.on('end', () => this.#recorder.requestEnd())
    // The listener above has set it flowing; the upstream takes it at its own pace.
    request.pause()
    this.#response.on('close', () => {
      if (!this.#response.writableFinished) this.#abortedByClient()
    })
    const headers = endToEnd(headerPairs(request.rawHeaders)).filter(([name]) => name.toLowerCase() !== 'host')
    agent.dispatch(
      {
        origin: to.origin,
        path: this.#path,
        method: request.method ?? 'GET',
        headers: headers.flat(),
        body: hasBody ? request : null,
      },
      this,
    )
    if (!hasBody) request.resume()
  }

  /** The proxy is going away. */
  abort(): void {
    this.#finish('aborted', 'proxy')
    this.#controller?.abort(new Error('the recording proxy was closed'))
    this.#response.destroy()
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    if (this.#ended) controller.abort(new Error('the client went away'))
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, _headers: unknown, reason?: string): void {
    const headers = headerPairs((controller.rawHeaders ?? []) as readonly Buffer[])
    if (status < 200) {
      this.#recorder.informational({ status, headers })
      return
    }
    this.#recorder.response({ status, headers, ...(reason !== undefined && { reason }) })
    const response = this.#response
    response.sendDate = false
    try {
      response.writeHead(status, reason ?? '', endToEnd(headers).flat())
    } catch (error) {
      // A head that Node takes and would not send: it can't be passed on, so the client must not take it for another one.
      controller.abort(error instanceof Error ? error : new Error(String(error)))
      return
    }
    response.flushHeaders()
    response.socket?.setNoDelay(true)
  }

  onResponseData(controller: Dispatcher.DispatchController, bytes: Buffer): void {
    const more = this.#response.write(bytes)
    // The client first. Its processor may be this one, so reads are recorded a few at a time.
    this.#unrecorded.push([bytes, this.#recorder.nowUs()])
    this.#unrecordedBytes += bytes.length
    if (this.#unrecordedBytes < RECORD_BYTES) this.#recordSoon ??= setTimeout(this.#record, RECORD_MS)
    else process.nextTick(this.#record)
    if (more) return
    controller.pause()
    this.#response.once('drain', () => controller.resume())
  }

  onResponseEnd(controller: Dispatcher.DispatchController): void {
    const trailers = headerPairs((controller.rawTrailers ?? []) as readonly Buffer[])
    if (trailers.length > 0)
      this.#response.addTrailers(trailers.map(([name, value]): [string, string] => [name, value]))
    this.#response.end()
    this.#record()
    this.#recorder.trailers(trailers)
    this.#finish('complete')
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (this.#ended) return
    const code = errorCode(error) ?? error.name
    const reset = code === 'ECONNRESET' || code === 'EPIPE'
    if (this.#response.headersSent) {
      this.#finish(reset ? 'reset' : 'cut', undefined, code)
      breakOff(this.#response, reset)
      return
    }
    this.#finish(reset || code === 'UND_ERR_SOCKET' ? 'reset' : 'error', undefined, code)
    if (reset) breakOff(this.#response, true)
    else if (code === 'UND_ERR_SOCKET') breakOff(this.#response, false)
    else this.#answerFor(code)
  }

  /** Where a client of its own would have got no connection, this one has one: it gets an answer. */
  #answerFor(code: string): void {
    const message = `streamfold record: the upstream ${this.#options.to.origin} gave no response (${code})`
    const body = JSON.stringify({ error: { message, type: 'upstream_failed', code } })
    const headers: HeaderPair[] = [
      ['content-type', 'application/json'],
      ['content-length', String(Buffer.byteLength(body))],
      ['connection', 'close'],
    ]
    // Named, for a reason that could not be passed on would stand here still.
    this.#response.writeHead(502, 'Bad Gateway', headers.flat()).end(body)
  }

  #abortedByClient(): void {
    if (this.#ended) return
    this.#finish('aborted', 'client')
    this.#controller?.abort(new Error('the client went away'))
  }

  readonly #record = (): void => {
    const reads = this.#unrecorded
    this.#unrecorded = []
    this.#unrecordedBytes = 0
    clearTimeout(this.#recordSoon)
    this.#recordSoon = undefined
    for (const [bytes, atUs] of reads) this.#recorder.read(bytes, atUs)
  }

  #finish(kind: Parameters<ExchangeRecorder['end']>[0], by?: string, code?: string): void {
    this.#ended = true
    this.#record()
    this.#recorder.end(kind, { ...(by !== undefined && { by }), ...(code !== undefined && { code }) })
  }
}

/** Base URLs are written with and without `/v1`, on both sides: what both have is not doubled. */
function joinPaths(base: string, asked: string): string {
  const before = base.replace(/\/$/, '')
  const path = asked.startsWith('/') ? asked : `/${asked}`
  return before !== '' && (path === before || path.startsWith(`${before}/`)) ? path : before + path
}

/** The client's connection ends as the upstream's did: with a reset, or closed in the middle of the body. */
function breakOff(response: ServerResponse, reset: boolean): void {
  const { socket } = response
  if (reset && socket !== null && 'resetAndDestroy' in socket) socket.resetAndDestroy()
  else response.destroy()
}
