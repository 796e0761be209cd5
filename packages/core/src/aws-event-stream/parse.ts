import type { ServerSentEvent } from '../sse/event.ts'
import { DEFAULT_MAX_EVENT_BYTES } from '../sse/framer.ts'
import type { Framer, FramerOptions, FramerOverflow } from '../sse/framer.ts'
import { crc32 } from './crc32.ts'

/**
 * A framer for `application/vnd.amazon.eventstream`, the binary framing of Amazon Bedrock: total length, length of headers,
 * CRC of these two, headers, payload, CRC of everything before; all big-endian.
 *
 * Each message becomes one event: its data is the payload as text, its `event` the `:event-type` or `:exception-type` header.
 * A payload of the form `{"bytes":"…"}` (InvokeModelWithResponseStream) is the model's own event in base64 and is unwrapped.
 *
 * @see https://docs.aws.amazon.com/AmazonS3/latest/API/RESTSelectObjectAppendix.html (the message format)
 */
export interface AwsEventStreamParser extends Framer {
  /** Set once a length or a checksum was wrong: where messages begin can't be known any more. */
  readonly corrupt: { readonly offset: number; readonly message: string } | undefined
}

export function createAwsEventStreamParser(options: Pick<FramerOptions, 'maxEventBytes'> = {}): AwsEventStreamParser {
  return new MessageFramer(options.maxEventBytes ?? DEFAULT_MAX_EVENT_BYTES)
}

const PRELUDE_BYTES = 12
const SMALLEST_MESSAGE_BYTES = 16
const STRING_HEADER = 7
/** Sizes of header values by type; type 6 and 7 carry their own length. */
const HEADER_SIZES: readonly (number | undefined)[] = [0, 0, 1, 2, 4, 8, undefined, undefined, 8, 16]

class MessageFramer implements AwsEventStreamParser {
  overflow: FramerOverflow | undefined
  corrupt: { offset: number; message: string } | undefined
  readonly #limit: number
  readonly #text = new LossyDecoder()
  /** The message being read; grows only as its bytes come. */
  #buffer = new Uint8Array(1024)
  #length = 0
  #offset = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  push(bytes: Uint8Array): readonly ServerSentEvent[] {
    const events: ServerSentEvent[] = []
    let from = 0
    while (from < bytes.length && this.corrupt === undefined && this.overflow === undefined) {
      const wanted = this.#length < PRELUDE_BYTES ? PRELUDE_BYTES : this.#messageLength()
      const take = Math.min(wanted - this.#length, bytes.length - from)
      this.#append(bytes.subarray(from, from + take))
      from += take
      if (this.#length < wanted) break
      if (wanted === PRELUDE_BYTES && this.#length === PRELUDE_BYTES) {
        this.#checkPrelude()
        continue
      }
      this.#message(events)
    }
    return events
  }

  end(): readonly ServerSentEvent[] {
    if (this.#length > 0 && this.corrupt === undefined && this.overflow === undefined) {
      this.corrupt = { offset: this.#offset, message: 'the body ends inside a message' }
    }
    return []
  }

  #messageLength(): number {
    return view(this.#buffer).getUint32(0)
  }

  #append(bytes: Uint8Array): void {
    const needed = this.#length + bytes.length
    if (needed > this.#buffer.length) {
      const grown = new Uint8Array(Math.max(needed, this.#buffer.length * 2))
      grown.set(this.#buffer.subarray(0, this.#length))
      this.#buffer = grown
    }
    this.#buffer.set(bytes, this.#length)
    this.#length = needed
  }

  #checkPrelude(): void {
    const prelude = view(this.#buffer)
    const total = prelude.getUint32(0)
    const headers = prelude.getUint32(4)
    if (prelude.getUint32(8) !== crc32(this.#buffer, 0, 8)) {
      this.corrupt = { offset: this.#offset, message: 'the checksum of a message prelude is wrong' }
    } else if (total < SMALLEST_MESSAGE_BYTES || headers > total - SMALLEST_MESSAGE_BYTES) {
      this.corrupt = { offset: this.#offset, message: 'the lengths of a message contradict each other' }
    } else if (total > this.#limit) {
      this.overflow = { offset: this.#offset, limit: this.#limit }
    }
  }

  #message(events: ServerSentEvent[]): void {
    const total = this.#length
    const bytes = this.#buffer
    if (view(bytes).getUint32(total - 4) !== crc32(bytes, 0, total - 4)) {
      this.corrupt = { offset: this.#offset, message: 'the checksum of a message is wrong' }
      return
    }
    const headersEnd = PRELUDE_BYTES + view(bytes).getUint32(4)
    const headers = readHeaders(bytes, PRELUDE_BYTES, headersEnd, this.#text)
    this.#text.replaced = false
    const payload = this.#text.decode(bytes.subarray(headersEnd, total - 4))
    const kind = headers.get(':message-type')
    // Frames that carry a fault name it, also where their type got lost.
    const failed =
      kind === 'exception' ||
      kind === 'error' ||
      (kind !== 'event' && (headers.has(':exception-type') || headers.has(':error-code')))
    const name = failed ? 'error' : headers.get(':event-type')
    const data = failed ? errorData(payload, headers) : unwrap(payload, this.#text)
    const event: ServerSentEvent = { data, offset: this.#offset, endOffset: this.#offset + total }
    if (name !== undefined && name !== 'chunk') event.event = name
    if (this.#text.replaced) event.invalidUtf8 = true
    events.push(event)
    this.#offset += total
    this.#length = 0
  }
}

/** Puts U+FFFD for bytes that are not UTF-8, and says so. */
class LossyDecoder {
  replaced = false
  readonly #strict = new TextDecoder('utf-8', { fatal: true })
  readonly #lossy = new TextDecoder()

  decode(bytes: Uint8Array): string {
    try {
      return this.#strict.decode(bytes)
    } catch {
      this.replaced = true
      return this.#lossy.decode(bytes)
    }
  }
}

function view(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

/** String headers by name; headers of other types are passed over. */
function readHeaders(bytes: Uint8Array, start: number, end: number, text: LossyDecoder): Map<string, string> {
  const headers = new Map<string, string>()
  const data = view(bytes)
  let at = start
  while (at < end) {
    const nameEnd = at + 1 + bytes[at]!
    if (nameEnd >= end) break
    const name = text.decode(bytes.subarray(at + 1, nameEnd))
    const type = bytes[nameEnd]!
    at = nameEnd + 1
    const fixed = HEADER_SIZES[type]
    const size = fixed ?? (at + 2 <= end && (type === 6 || type === STRING_HEADER) ? 2 + data.getUint16(at) : end)
    if (type === STRING_HEADER && at + size <= end) headers.set(name, text.decode(bytes.subarray(at + 2, at + size)))
    at += size
  }
  return headers
}

function unwrap(payload: string, text: LossyDecoder): string {
  let value: unknown
  try {
    value = JSON.parse(payload)
  } catch {
    return payload
  }
  const wrapped = typeof value === 'object' && value !== null ? (value as { bytes?: unknown }).bytes : undefined
  if (wrapped === undefined) return payload
  // What is no base64 goes on as it is: the model's event was lost, and a reader of JSON has to stumble over it.
  if (typeof wrapped !== 'string') return 'bytes of an event that are no text'
  try {
    return text.decode(Uint8Array.from(atob(wrapped), (char) => char.charCodeAt(0)))
  } catch {
    return `bytes of an event that are no base64: ${wrapped}`
  }
}

function errorData(payload: string, headers: Map<string, string>): string {
  const code = headers.get(':exception-type') ?? headers.get(':error-code')
  const message = headers.get(':error-message') ?? messageOf(payload)
  return JSON.stringify({ error: { ...(code !== undefined && { code }), message } })
}

function messageOf(payload: string): string {
  try {
    const value: unknown = JSON.parse(payload)
    const message = typeof value === 'object' && value !== null ? (value as { message?: unknown }).message : undefined
    return typeof message === 'string' ? message : payload
  } catch {
    return payload
  }
}
