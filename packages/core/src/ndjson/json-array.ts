import { createUtf8State, decodeEnd, decodeRead } from '../sse/decode.ts'
import type { Utf8State } from '../sse/decode.ts'
import type { ServerSentEvent } from '../sse/event.ts'
import { DEFAULT_MAX_EVENT_BYTES } from '../sse/framer.ts'
import type { Framer, FramerOptions, FramerOverflow } from '../sse/framer.ts'

/**
 * A framer beside the SSE parser, for a body that is one JSON array whose elements are sent as they are made (fault F176).
 * Each element becomes one event as soon as it is closed, without waiting for the comma or bracket behind it.
 *
 * Only brackets and strings are looked at: whether an element is JSON is for its reader to say. What is no object, array or
 * string ends at the next comma or bracket. What follows the closing bracket is one event too, for its reader to reject. An
 * element that the body ends in the middle of is marked `incomplete`.
 */
export interface JsonArrayParser extends Framer {
  /** The closing bracket came: nothing of the array is missing at its end. */
  readonly closed: boolean
}

/** The first byte that is pushed must be the opening bracket. */
export function createJsonArrayParser(options: FramerOptions = {}): JsonArrayParser {
  return new ElementFramer(options)
}

const QUOTE = 0x22
const COMMA = 0x2c
const BACKSLASH = 0x5c
const OPEN_BRACKET = 0x5b
const CLOSE_BRACKET = 0x5d
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d

class ElementFramer implements JsonArrayParser {
  overflow: FramerOverflow | undefined
  closed = false
  readonly #limit: number
  readonly #utf8: Utf8State = createUtf8State()
  /** Text of the element so far. */
  #text = ''
  #replaced = false
  /** Where the element begins in the body; undefined between elements. */
  #start: number | undefined
  /** Brackets that are open inside the element. */
  #depth = 0
  #inString = false
  #escaped = false
  #opened = false
  #offset: number

  constructor(options: FramerOptions) {
    this.#limit = options.maxEventBytes ?? DEFAULT_MAX_EVENT_BYTES
    this.#offset = options.baseOffset ?? 0
  }

  push(bytes: Uint8Array): readonly ServerSentEvent[] {
    const events: ServerSentEvent[] = []
    if (this.overflow !== undefined) return events
    const base = this.#offset
    let from = 0
    for (let at = 0; at < bytes.length; at++) {
      const byte = bytes[at]!
      if (this.#start === undefined) {
        if (!this.#opened && byte === OPEN_BRACKET) {
          this.#opened = true
          continue
        }
        if (isBlank(byte) || (!this.closed && byte === COMMA)) continue
        if (!this.closed && byte === CLOSE_BRACKET) {
          this.closed = true
          continue
        }
        this.#start = base + at
        from = at
      }
      const ends = this.closed ? false : this.#step(byte)
      const beyond = ends === 'before' ? at : at + 1
      if (base + beyond - this.#start > this.#limit) {
        this.overflow = { offset: this.#start, limit: this.#limit }
        this.#text = ''
        return events
      }
      if (ends === false) continue
      decodeRead(this.#utf8, bytes.subarray(from, beyond), this.#take)
      this.#emit(events, base + beyond, false)
      if (ends === 'before') at--
    }
    if (this.#start !== undefined) decodeRead(this.#utf8, bytes.subarray(from), this.#take)
    this.#offset = base + bytes.length
    return events
  }

  end(): readonly ServerSentEvent[] {
    const events: ServerSentEvent[] = []
    if (this.overflow !== undefined || this.#start === undefined) return events
    this.#emit(events, this.#offset, !this.closed)
    return events
  }

  /** Takes one byte of the element. `with`: the element ends with this byte; `before`: it ended in front of it. */
  #step(byte: number): 'with' | 'before' | false {
    if (this.#inString) {
      if (this.#escaped) this.#escaped = false
      else if (byte === BACKSLASH) this.#escaped = true
      else if (byte === QUOTE) {
        this.#inString = false
        return this.#depth === 0 ? 'with' : false
      }
      return false
    }
    switch (byte) {
      case QUOTE:
        this.#inString = true
        return false
      case OPEN_BRACE:
      case OPEN_BRACKET:
        this.#depth++
        return false
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        if (this.#depth === 0) return byte === CLOSE_BRACKET ? 'before' : 'with'
        return --this.#depth === 0 ? 'with' : false
      case COMMA:
        return this.#depth === 0 ? 'before' : false
      default:
        return false
    }
  }

  readonly #take = (_: Utf8State, text: string, _bytes: Uint8Array, replaced: boolean): void => {
    this.#text += text
    if (replaced) this.#replaced = true
  }

  #emit(events: ServerSentEvent[], endOffset: number, incomplete: boolean): void {
    decodeEnd(this.#utf8, this.#take)
    const event: ServerSentEvent = { data: this.#text.trim(), offset: this.#start!, endOffset }
    if (incomplete) event.incomplete = true
    if (this.#replaced) event.invalidUtf8 = true
    events.push(event)
    this.#text = ''
    this.#replaced = false
    this.#start = undefined
    this.#depth = 0
    this.#inString = this.#escaped = false
  }
}

function isBlank(byte: number): boolean {
  return byte === 0x20 || (byte >= 0x09 && byte <= 0x0d)
}
