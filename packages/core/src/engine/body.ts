import { createAwsEventStreamParser } from '../aws-event-stream/parse.ts'
import type { AwsEventStreamParser } from '../aws-event-stream/parse.ts'
import { createJsonLinesParser } from '../ndjson/parse.ts'
import type { JsonLinesParser } from '../ndjson/parse.ts'
import type { ServerSentEvent } from '../sse/event.ts'
import { createEventStreamParser } from '../sse/parse.ts'
import type { EventStreamParser } from '../sse/parse.ts'

/** What the body turned out to be, whatever its content type says (faults F183–F187). */
export type BodyKind = 'sse' | 'json' | 'html' | 'aws-event-stream'

const BOM = [0xef, 0xbb, 0xbf] as const
/** Enough of an HTML page to find its title. */
const PAGE_BYTES = 4096
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
  #json: JsonLinesParser | undefined
  #aws: AwsEventStreamParser | undefined
  #page: number[] = []
  #bomBytes = 0
  /** The body ends inside a character of an event that did not count: that is a cut, and no bad bytes. */
  #cutCharacter = false

  constructor(options: BodyReaderOptions) {
    this.#options = options
    this.#sse = createEventStreamParser({
      maxEventBytes: options.maxEventBytes,
      offsets: options.offsets,
      onEnd: 'flush',
      unknownFields: 'deliver',
    })
  }

  push(bytes: Uint8Array): readonly ServerSentEvent[] {
    let from = 0
    if (this.kind === undefined) {
      from = this.#sniff(bytes)
      if (this.kind === undefined || this.kind === 'sse') from = 0
    }
    const rest = from === 0 ? bytes : bytes.subarray(from)
    const offset = this.bytes + from
    this.bytes += bytes.length
    switch (this.kind) {
      case undefined:
      case 'sse':
        return this.#sse.push(rest)
      case 'json':
        this.#json ??= createJsonLinesParser({ maxEventBytes: this.#options.maxEventBytes, baseOffset: offset })
        return this.#json.push(rest)
      case 'aws-event-stream':
        this.#aws ??= createAwsEventStreamParser({ maxEventBytes: this.#options.maxEventBytes })
        return this.#aws.push(rest)
      case 'html':
        for (let i = 0; i < rest.length && this.#page.length < PAGE_BYTES; i++) this.#page.push(rest[i]!)
        return NOTHING
    }
  }

  end(): readonly ServerSentEvent[] {
    if (this.#json !== undefined) return this.#json.end()
    if (this.#aws !== undefined) return this.#aws.end()
    if (this.kind === 'html') return NOTHING
    const before = this.#sse.invalidUtf8
    const events = this.#sse.end()
    this.#cutCharacter = before === undefined && !events.some((event) => event.invalidUtf8)
    return events
  }

  get comments(): number {
    return this.#sse.counts.comments
  }

  get invalidUtf8(): EventStreamParser['invalidUtf8'] {
    return this.#cutCharacter ? undefined : this.#sse.invalidUtf8
  }

  get overflow(): { readonly offset: number; readonly limit: number } | undefined {
    return this.#json?.overflow ?? this.#aws?.overflow ?? this.#sse.overflow
  }

  get corrupt(): AwsEventStreamParser['corrupt'] {
    return this.#aws?.corrupt
  }

  get lineByLine(): boolean {
    return this.#json?.lineByLine === true
  }

  /** The beginning of an HTML page; complete once {@link pageIsComplete}. */
  get page(): string {
    return new TextDecoder().decode(Uint8Array.from(this.#page))
  }

  get pageIsComplete(): boolean {
    return this.#page.length >= PAGE_BYTES
  }

  /** Decides on the kind; returns where in `bytes` the deciding byte is. */
  #sniff(bytes: Uint8Array): number {
    for (let i = 0; i < bytes.length; i++) {
      const byte = bytes[i]!
      const at = this.bytes + i
      if (this.#bomBytes === at && at < BOM.length && byte === BOM[at]) {
        this.#bomBytes++
        continue
      }
      if (byte === 0x20 || (byte >= 0x09 && byte <= 0x0d)) continue
      this.kind = at === 0 && byte === 0 ? 'aws-event-stream' : kindOf(byte)
      return i
    }
    return 0
  }
}

function kindOf(byte: number): BodyKind {
  if (byte === 0x7b || byte === 0x5b) return 'json'
  return byte === 0x3c ? 'html' : 'sse'
}
