import { createWholenessScanner } from '../json/wholeness.ts'
import type { WholenessScanner } from '../json/wholeness.ts'
import { createUtf8State, decodeEnd, decodeRead } from '../sse/decode.ts'
import type { Utf8State } from '../sse/decode.ts'
import type { ServerSentEvent } from '../sse/event.ts'
import { DEFAULT_MAX_EVENT_BYTES } from '../sse/framer.ts'
import type { Framer, FramerOptions, FramerOverflow } from '../sse/framer.ts'

/**
 * A framer beside the SSE parser, for bodies that are JSON without any framing: one document per line (NDJSON), or one
 * document over many lines (a completion that was not streamed). Each document becomes one event with the document as
 * its data.
 *
 * The first line decides: when it is a whole document the body is line by line, and a later line that is not whole is still
 * one event, for its reader to reject. Otherwise lines are joined until the document is whole. A document that the body
 * ends in the middle of is marked `incomplete`, as the SSE parser marks a block that was never closed.
 */
export interface JsonLinesParser extends Framer {
  /** More than one document came, so this was a stream. */
  readonly lineByLine: boolean
}

export function createJsonLinesParser(options: FramerOptions = {}): JsonLinesParser {
  return new LineFramer(options)
}

const LF = 0x0a

class LineFramer implements JsonLinesParser {
  overflow: FramerOverflow | undefined
  lineByLine = false
  readonly #limit: number
  readonly #utf8: Utf8State = createUtf8State()
  #scanner: WholenessScanner = createWholenessScanner()
  #text = ''
  /** The document holds U+FFFD for bytes that were not UTF-8. */
  #replaced = false
  #start: number
  #offset: number
  #documents = 0

  constructor(options: FramerOptions) {
    this.#limit = options.maxEventBytes ?? DEFAULT_MAX_EVENT_BYTES
    this.#start = this.#offset = options.baseOffset ?? 0
  }

  push(bytes: Uint8Array): readonly ServerSentEvent[] {
    const events: ServerSentEvent[] = []
    let from = 0
    while (from < bytes.length && this.overflow === undefined) {
      const newline = bytes.indexOf(LF, from)
      const to = newline < 0 ? bytes.length : newline + 1
      if (this.#offset + to - from - this.#start > this.#limit + (newline < 0 ? 0 : 1)) {
        this.overflow = { offset: this.#start, limit: this.#limit }
        this.#text = ''
        break
      }
      decodeRead(this.#utf8, bytes.subarray(from, to), this.#take)
      this.#offset += to - from
      from = to
      if (newline >= 0) this.#line(events)
    }
    return events
  }

  end(): readonly ServerSentEvent[] {
    decodeEnd(this.#utf8, this.#take)
    const events: ServerSentEvent[] = []
    if (this.overflow !== undefined || this.#text.trim() === '') return events
    // The end of the body ends a number as white space would.
    const incomplete = this.#scanner.push('\n') !== 'whole'
    this.#emit(events, incomplete)
    return events
  }

  readonly #take = (_: Utf8State, text: string, _bytes: Uint8Array, replaced: boolean): void => {
    if (text === '') return
    this.#text += text
    this.#scanner.push(text)
    if (replaced) this.#replaced = true
  }

  /** A line has ended. */
  #line(events: ServerSentEvent[]): void {
    const { state } = this.#scanner
    if (state === 'empty') this.#begin()
    else if (state === 'whole' || state === 'trailing' || this.#documents > 0) this.#emit(events, false)
  }

  #emit(events: ServerSentEvent[], incomplete: boolean): void {
    const event: ServerSentEvent = { data: this.#text.trim(), offset: this.#start, endOffset: this.#offset }
    if (incomplete) event.incomplete = true
    if (this.#replaced) event.invalidUtf8 = true
    events.push(event)
    this.#documents++
    if (this.#documents > 1) this.lineByLine = true
    this.#begin()
  }

  #begin(): void {
    this.#text = ''
    this.#replaced = false
    this.#start = this.#offset
    this.#scanner = createWholenessScanner()
  }
}
