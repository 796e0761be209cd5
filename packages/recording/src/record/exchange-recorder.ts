import { randomUUID } from 'node:crypto'
import type { JsonObject } from 'streamfold'
import { createRecordingWriter, requestFactsOf } from 'streamfold/recording'
import type { CaptureLevel, EndKind, HeaderPair, LineToWrite, RecordingWriter } from 'streamfold/recording'
import { runningSha256 } from '../file/sha256.ts'
import type { BodyRedactor } from '../redact/body-redactor.ts'
import { credentialsIn, redactHeaders } from '../redact/header-redaction.ts'
import { REDACTION_POLICY } from '../redact/redaction-policy.ts'
import type { RedactionPolicy } from '../redact/redaction-policy.ts'
import { redactUrl } from '../redact/redact-url.ts'
import { createContentDecoder } from './content-decoder.ts'
import type { ContentDecoder } from './content-decoder.ts'
import type { RecordingSink, SinkRequest } from './recording-sink.ts'

export interface ExchangeRecorderOptions {
  readonly sink: (exchange: SinkRequest) => RecordingSink
  readonly policy: RedactionPolicy
  /** What a read is here. */
  readonly level: CaptureLevel
  /** Name and version of what records. */
  readonly by: string
  /** Name of the wire format, where it is known. */
  readonly api?: string
  readonly labels?: Readonly<Record<string, string>>
  /** The body of the request too, redacted. Default false: its length, its hash and its facts. */
  readonly requestBody?: boolean
  /** How much may wait for the disk before the recording is given up. Default 16 MiB. */
  readonly maxPendingBytes?: number
  /** Reads come without their content coding, as `fetch` gives them. */
  readonly decodedReads?: boolean
  /** Monotonic milliseconds. Default `performance.now`. */
  readonly now?: () => number
  /** Called when all is on disk. */
  readonly onRecorded?: (exchange: RecordedExchange) => void
}

/** What there is to say of a recording that was just made. */
export interface RecordedExchange {
  readonly id: string
  readonly file?: string
  readonly method: string
  /** Redacted. */
  readonly url: string
  readonly status?: number
  /** Of the body, decoded. */
  readonly bytes: number
  readonly reads: number
  readonly kind: EndKind
  readonly code?: string
  /** Why the file is not whole, or not there. */
  readonly failure?: string
}

export interface RequestHead {
  readonly method: string
  readonly url: string
  readonly http?: string
  readonly headers: readonly HeaderPair[]
}

export interface ResponseHeadLine {
  readonly status: number
  readonly reason?: string
  readonly http?: string
  readonly headers: readonly HeaderPair[]
}

const MAX_PENDING_BYTES = 16 * 1024 * 1024
/** A request body is looked into up to this size; beyond it, its length and hash are kept. */
const MAX_REQUEST_BYTES = 4 * 1024 * 1024

/**
 * Writes one exchange while it happens. It takes what the network gave and keeps nobody waiting: it redacts, hands lines to
 * its sink, and gives up (`error`, code `recorder_overflow`) when the sink falls too far behind.
 */
export class ExchangeRecorder {
  readonly id: string = randomUUID()
  readonly #options: ExchangeRecorderOptions
  readonly #now: () => number
  readonly #startMs: number
  readonly #request: RequestHead
  readonly #secrets: readonly string[]
  readonly #sink: RecordingSink
  readonly #writer: RecordingWriter
  readonly #redactor: BodyRedactor
  readonly #requestHash = runningSha256()
  #requestPieces: Uint8Array[] | undefined = []
  #requestBytes = 0
  #requestEnded = false
  #requestWritten = false
  #status: number | undefined
  #decoder: ContentDecoder | undefined
  #bytes = 0
  #reads = 0
  #lastAtUs = 0
  #trailers: { readonly atUs: number; readonly headers: readonly HeaderPair[] } | undefined
  #ended = false
  /** Nothing more is taken. */
  #stopped = false

  constructor(request: RequestHead, options: ExchangeRecorderOptions) {
    this.#options = options
    this.#now = options.now ?? (() => performance.now())
    this.#startMs = this.#now()
    this.#request = request
    this.#secrets = credentialsIn(request.headers)
    this.#writer = createRecordingWriter({ sha256: runningSha256 })
    this.#redactor = options.policy.body(this.#secrets)
    if (options.decodedReads === true) this.#decoder = this.#decoderFor(undefined)
    const created = new Date().toISOString()
    const url = this.#text(redactUrl(request.url))
    this.#sink = options.sink({ id: this.id, created, url })
    const { level, by, api, labels } = options
    this.#write({
      t: 'head',
      id: this.id,
      created,
      by,
      level,
      ...(api !== undefined && { api }),
      other: {
        clock: 'monotonic-us',
        ...(labels !== undefined && { labels }),
        redaction: { policy: REDACTION_POLICY, applied: true },
      },
    })
  }

  requestBody(bytes: Uint8Array): void {
    this.#requestBytes += bytes.length
    this.#requestHash.update(bytes)
    if (this.#requestBytes > MAX_REQUEST_BYTES) this.#requestPieces = undefined
    this.#requestPieces?.push(bytes)
  }

  requestEnd(): void {
    this.#requestEnded = true
    this.#writeRequest()
  }

  /** A response head below 200. */
  informational({ status, headers }: ResponseHeadLine): void {
    this.#writeRequest()
    const shown = redactHeaders(headers, this.#text) as readonly (readonly string[])[]
    this.#write({ t: 'other', type: 'info', other: { at: this.#at(), status, headers: shown } })
  }

  response({ status, reason, http, headers }: ResponseHeadLine): void {
    if (this.#stopped) return
    this.#writeRequest()
    this.#status = status
    const other = { ...(reason !== undefined && reason !== '' && { reason }), ...(http !== undefined && { http }) }
    this.#write({ t: 'res', atUs: this.#at(), status, headers: redactHeaders(headers, this.#text), other })
    if (this.#options.decodedReads === true) return
    const coding = headers.filter(([name]) => name.toLowerCase() === 'content-encoding').map(([, value]) => value)
    this.#decoder = this.#decoderFor(coding.length === 0 ? undefined : coding.join(', '))
    // Nothing can be redacted in a body that can't be seen, so nothing of it may touch the disk.
    if (this.#decoder === undefined) this.#giveUp('unknown_content_encoding')
  }

  /** Microseconds since the request, of the recorder's own clock. */
  nowUs(): number {
    return this.#at()
  }

  /** One read of the response's body; `atUs` where it came earlier than now. */
  read(bytes: Uint8Array, atUs: number = this.#at()): void {
    if (this.#stopped || this.#decoder === undefined) return
    this.#decoder.push(bytes, atUs)
    const pending = this.#sink.pendingBytes + this.#decoder.pendingBytes
    if (pending > (this.#options.maxPendingBytes ?? MAX_PENDING_BYTES)) this.#giveUp('recorder_overflow')
    if (this.#sink.failure !== undefined) this.#giveUp('recorder_failed')
  }

  trailers(headers: readonly HeaderPair[]): void {
    if (headers.length > 0) this.#trailers = { atUs: this.#at(), headers }
  }

  /** `by`: who aborted. Only the first call counts. */
  end(kind: EndKind, { code, by }: { readonly code?: string; readonly by?: string } = {}): void {
    if (this.#ended) return
    this.#ended = true
    const atUs = this.#at()
    if (this.#stopped) return
    const finish = (): void => this.#finish(kind, atUs, code, by === undefined ? {} : { by })
    if (this.#decoder === undefined) finish()
    else this.#decoder.end(finish)
  }

  #decoderFor(contentEncoding: string | undefined): ContentDecoder | undefined {
    return createContentDecoder(contentEncoding, {
      read: (bytes, atUs) => this.#take(bytes, atUs),
      failed: () => this.#giveUp('content_decoding_failed'),
    })
  }

  #giveUp(code: string): void {
    if (this.#stopped) return
    this.#finish('error', this.#at(), code, { by: 'recorder' })
  }

  #finish(kind: EndKind, atUs: number, code: string | undefined, other: JsonObject): void {
    if (this.#stopped) return
    this.#writeRequest()
    for (const { bytes, atUs: readUs } of this.#redactor.end()) this.#writeRead(bytes, readUs)
    if (this.#trailers !== undefined) {
      const shown = redactHeaders(this.#trailers.headers, this.#text) as readonly (readonly string[])[]
      this.#write({ t: 'other', type: 'tr', other: { at: this.#trailers.atUs, headers: shown } })
    }
    const redactions = this.#redactor.redactions().map(({ off, len, kind: what }) => ({ off, len, kind: what }))
    this.#write({
      t: 'end',
      atUs: Math.max(atUs, this.#lastAtUs),
      kind,
      ...(code !== undefined && { code }),
      other: { ...other, ...(redactions.length > 0 && { redactions }) },
    })
    this.#stopped = true
    void this.#sink.close().then(() =>
      this.#options.onRecorded?.({
        id: this.id,
        ...(this.#sink.file !== undefined && { file: this.#sink.file }),
        method: this.#request.method,
        url: this.#text(redactUrl(this.#request.url)),
        ...(this.#status !== undefined && { status: this.#status }),
        bytes: this.#bytes,
        reads: this.#reads,
        kind,
        ...(code !== undefined && { code }),
        ...(this.#sink.failure !== undefined && { failure: this.#sink.failure.message }),
      }),
    )
  }

  #take(bytes: Uint8Array, atUs: number): void {
    if (this.#stopped) return
    for (const read of this.#redactor.push(bytes, atUs)) this.#writeRead(read.bytes, read.atUs)
  }

  #writeRead(bytes: Uint8Array, atUs: number): void {
    this.#bytes += bytes.length
    this.#reads++
    this.#lastAtUs = atUs
    this.#write({ t: 'b', atUs, bytes })
  }

  /** Before anything of the response; its body may still be on the way then. */
  #writeRequest(): void {
    if (this.#requestWritten || this.#stopped) return
    this.#requestWritten = true
    const { method, url, http, headers } = this.#request
    const body = this.#requestPieces === undefined ? undefined : Buffer.concat(this.#requestPieces)
    this.#requestPieces = undefined
    const facts =
      body === undefined
        ? {}
        : (requestFactsOf({ t: 'req', line: 0, atUs: 0, headers: [], body }) as unknown as JsonObject)
    const shown = this.#options.requestBody === true && body !== undefined && this.#requestEnded
    this.#write({
      t: 'req',
      atUs: 0,
      method,
      url: this.#text(redactUrl(url)),
      headers: redactHeaders(headers, this.#text),
      ...(shown && { body: this.#options.policy.bytes(body, this.#secrets) }),
      ...(!shown &&
        this.#requestEnded &&
        this.#requestBytes > 0 && { bodyLength: this.#requestBytes, bodySha256: this.#requestHash.hex() }),
      other: {
        ...(http !== undefined && { http }),
        ...(!shown && Object.keys(facts).length > 0 && { facts }),
        ...(!this.#requestEnded && { bodyIncomplete: true }),
      },
    })
  }

  /** Keys of the request are masked wherever they come back. */
  readonly #text = (value: string): string => this.#options.policy.text(value, this.#secrets)

  #write(line: LineToWrite): void {
    if (!this.#stopped) this.#sink.write(this.#writer.line(line))
  }

  #at(): number {
    return Math.max(0, Math.round((this.#now() - this.#startMs) * 1000))
  }
}
