import { createAwsEventStreamParser } from '../aws-event-stream/parse.ts'
import type { AwsEventStreamParser } from '../aws-event-stream/parse.ts'
import { createJsonArrayParser } from '../ndjson/json-array.ts'
import type { JsonArrayParser } from '../ndjson/json-array.ts'
import { createJsonLinesParser } from '../ndjson/parse.ts'
import type { JsonLinesParser } from '../ndjson/parse.ts'
import type { ServerSentEvent } from '../sse/event.ts'
import type { Framer } from '../sse/framer.ts'
import { createEventStreamParser } from '../sse/parse.ts'
import type { EventStreamParser } from '../sse/parse.ts'

/** What the body turned out to be, whatever its content type says (faults F183–F187). */
export type BodyKind = 'sse' | 'json' | 'json-array' | 'html' | 'aws-event-stream'

const BOM = [0xef, 0xbb, 0xbf] as const
/** Enough of an HTML page to find its title. */
const PAGE_BYTES = 4096
/** More white space than this in front of a body is no JSON worth waiting for. */
const MOST_HELD_BYTES = 1024
const NOTHING: readonly ServerSentEvent[] = []

export interface BodyReaderOptions {
  readonly maxEventBytes: number
  readonly offsets: boolean
}

/**
 * Bytes of a body to events, by what the body is: its first byte that is not white space decides. Until then bytes go to the
 * SSE parser, for which leading blank lines mean nothing.
 */
export class BodyReader {
  kind: BodyKind | undefined
  /** Bytes taken so far. */
  bytes = 0
  readonly #options: BodyReaderOptions
  readonly #sse: EventStreamParser
  #framer: Framer
  #json: JsonLinesParser | undefined
  #array: JsonArrayParser | undefined
  #aws: AwsEventStreamParser | undefined
  #page: number[] = []
  #bomBytes = 0
  #held: number[] = []
  #cleanUntilEnd = false
  #cutCharacter = false

  constructor(options: BodyReaderOptions) {
    this.#options = options
    this.#sse = createEventStreamParser({
      maxEventBytes: options.maxEventBytes,
      offsets: options.offsets,
      onEnd: 'flush',
      unknownFields: 'deliver',
    })
    this.#framer = this.#sse
  }

  push(bytes: Uint8Array): readonly ServerSentEvent[] {
    if (this.kind === undefined) return this.#pushUndecided(bytes)
    this.bytes += bytes.length
    return this.#frame(bytes)
  }

  #frame(bytes: Uint8Array): readonly ServerSentEvent[] {
    if (this.kind !== 'html') return this.#framer.push(bytes)
    for (let i = 0; i < bytes.length && this.#page.length < PAGE_BYTES; i++) this.#page.push(bytes[i]!)
    return NOTHING
  }

  /** The kind is known, and where in the body it begins. */
  #open(kind: BodyKind, baseOffset: number): void {
    this.kind = kind
    const { maxEventBytes } = this.#options
    if (kind === 'json') this.#framer = this.#json = createJsonLinesParser({ maxEventBytes, baseOffset })
    else if (kind === 'json-array') this.#framer = this.#array = createJsonArrayParser({ maxEventBytes, baseOffset })
    else if (kind === 'aws-event-stream') this.#framer = this.#aws = createAwsEventStreamParser({ maxEventBytes })
  }

  end(): readonly ServerSentEvent[] {
    if (this.kind === 'html') return NOTHING
    if (this.#framer !== this.#sse) return this.#framer.end()
    const before = this.#sse.invalidUtf8
    const events = this.#sse.end()
    this.#cleanUntilEnd = before === undefined
    if (events.length === 0) this.dropLast()
    return events
  }

  /** The half event at the end did not count. If the body ends inside a character of it, that is a cut, and no bad bytes. */
  dropLast(): void {
    this.#cutCharacter = this.#cleanUntilEnd
  }

  get comments(): number {
    return this.#sse.counts.comments
  }

  get invalidUtf8(): EventStreamParser['invalidUtf8'] {
    return this.#cutCharacter ? undefined : this.#sse.invalidUtf8
  }

  get overflow(): Framer['overflow'] {
    return this.#framer.overflow
  }

  get corrupt(): AwsEventStreamParser['corrupt'] {
    return this.#aws?.corrupt
  }

  get lineByLine(): boolean {
    return this.#json?.lineByLine === true
  }

  /** The body is a JSON array whose closing bracket has not come. */
  get arrayIsOpen(): boolean {
    return this.#array !== undefined && !this.#array.closed
  }

  /** The beginning of an HTML page; complete once {@link pageIsComplete}. */
  get page(): string {
    return new TextDecoder().decode(Uint8Array.from(this.#page))
  }

  get pageIsComplete(): boolean {
    return this.#page.length >= PAGE_BYTES
  }

  #pushUndecided(bytes: Uint8Array): readonly ServerSentEvent[] {
    const at = this.#sniff(bytes)
    this.bytes += bytes.length
    if (at >= 0 && this.kind !== 'sse') return this.#frame(bytes.subarray(at))
    return at < 0 ? this.#holdBlank(bytes) : [...this.#release(), ...this.#sse.push(bytes)]
  }

  /**
   * Line ends in front of everything mean nothing to any framing. From the first blank on, bytes wait: to the SSE parser they
   * are the beginning of a field, to JSON they are nothing.
   */
  #holdBlank(bytes: Uint8Array): readonly ServerSentEvent[] {
    let from = 0
    if (this.#held.length === 0) while (from < bytes.length && !isBlank(bytes[from]!)) from++
    if (from > 0) this.#sse.push(bytes.subarray(0, from))
    for (let i = from; i < bytes.length; i++) this.#held.push(bytes[i]!)
    if (this.#held.length <= MOST_HELD_BYTES) return NOTHING
    this.kind = 'sse'
    return this.#release()
  }

  #release(): readonly ServerSentEvent[] {
    const held = Uint8Array.from(this.#held)
    this.#held = []
    return this.#sse.push(held)
  }

  /** Decides on the kind by the first byte that is not white space; returns where it is, or -1. */
  #sniff(bytes: Uint8Array): number {
    for (let i = 0; i < bytes.length; i++) {
      const byte = bytes[i]!
      const at = this.bytes + i
      if (this.#bomBytes === at && at < BOM.length && byte === BOM[at]) {
        this.#bomBytes++
        continue
      }
      if (isBlank(byte) || byte === 0x0a || byte === 0x0d) continue
      this.#open(at === 0 && byte === 0 ? 'aws-event-stream' : kindOf(byte), at)
      return i
    }
    return -1
  }
}

/** White space that is no line end. */
function isBlank(byte: number): boolean {
  return byte === 0x20 || byte === 0x09 || byte === 0x0b || byte === 0x0c
}

function kindOf(byte: number): BodyKind {
  if (byte === 0x7b) return 'json'
  if (byte === 0x5b) return 'json-array'
  return byte === 0x3c ? 'html' : 'sse'
}
