/**
 * Bytes → events: the machine behind `createEventStreamParser`.
 *
 * ```
 *   push(bytes) ──decode──▶ text ──parse──▶ lines ──block──▶ events
 *                           │               │                │
 *   held between two reads: a cut character │                │
 *      (≤ 3 bytes), reads of a few bytes    a cut line       the open block
 * ```
 *
 * A *block* is what stands between blank lines: fields, comments, anything. A blank line closes it, and if the block has
 * a `data` line it is an event. An event comes out with the first byte that closes it, so a lone CR counts at once and an
 * LF that may come next is skipped.
 *
 * It is fast because a read is decoded as a whole and then only searched natively: one `indexOf` per line, a few
 * `charCodeAt` to recognise a `data` line and the blank line after it. Of a cut line only the new part is searched, and reads of a
 * few bytes wait for the end of their line.
 * Byte offsets are free where text and bytes have the same length; elsewhere they are worked out only for who needs them.
 *
 * Because no cut changes anything, the rare cases are cuts as well: a read is cut where the open block reaches its limit, and
 * a sequence that is not UTF-8 is a text of its own. The loop over lines knows neither.
 */
import { addData, closeBlock, deliver, eventOf, rare, resetBlock, takeField } from './block.ts'
import type { BlockState } from './block.ts'
import { decodeEnd, decodeRead, decodeWhole, LARGE_READ_BYTES, NO_BYTES, REPLACEMENT } from './decode.ts'
import { detachSmall } from './detach.ts'
import type { ServerSentEvent } from './event.ts'
import { DEFAULT_MAX_EVENT_BYTES } from './framer.ts'
import type { EventStreamParser, EventStreamParserOptions } from './parser.ts'
import { gather, keepRest, NO_WORDS, SMALL_READ_BYTES, takeGathered } from './small-reads.ts'
import type { GatheringState } from './small-reads.ts'
import { appendText, textOf } from './text-builder.ts'
import type { TextBuilder } from './text-builder.ts'

export type {
  EventStreamCounts,
  EventStreamOverflow,
  EventStreamParser,
  EventStreamParserOptions,
  InvalidUtf8,
} from './parser.ts'

/** `data` and a line end. */
const SMALLEST_EVENT_BYTES = 5
/** Below the longest string of every engine, so that putting an event together cannot throw. */
const LARGEST_EVENT_BYTES = 256 * 1024 * 1024 - 64
/** A larger read is taken in pieces: its text might be larger than any string, and always larger than need be. */
const LARGEST_READ_BYTES = 1024 * 1024

const UTF8: TextEncoder = /* @__PURE__ */ new TextEncoder()
const LF = 0x0a
const CR = 0x0d
const SPACE = 0x20
/** What `indexOf` did not find is to the right of everything. */
const NOWHERE: number = -1 >>> 0

/**
 * Where a parser stands between two reads.
 *
 * A record and plain functions over it, not closures or a class: engines drop the code they have optimised for closures,
 * and for the hidden shapes of class fields, when the last of them is collected. The next stream would start cold.
 */
interface ParserState extends GatheringState, BlockState {
  readonly limit: number
  /** Largest read that may be an event by itself; 0 once nothing is taken any more. */
  liveBytes: number
  /** The line that the last text cut. */
  cutLine: TextBuilder | undefined
  /** The last text ended with a CR that ended a line: an LF that comes next belongs to it. */
  afterCr: boolean
  ended: boolean
}

/** Makes a parser for one body. Throws `TypeError` where `maxEventBytes` lets no event through, or is not a number. */
export function createEventStreamParser(options: EventStreamParserOptions = {}): EventStreamParser {
  const { maxEventBytes = DEFAULT_MAX_EVENT_BYTES } = options
  if (!(maxEventBytes >= SMALLEST_EVENT_BYTES)) {
    throw new TypeError(`maxEventBytes must be at least ${SMALLEST_EVENT_BYTES}, got ${maxEventBytes}`)
  }
  const limit = Math.floor(Math.min(maxEventBytes, LARGEST_EVENT_BYTES))
  // Spelled out: a record that is made with a spread takes V8 almost twice as long to work on.
  const state: ParserState = {
    held: NO_BYTES,
    offset: 0,
    lastWasAscii: true,
    gathered: NO_BYTES,
    gatheredLength: 0,
    gatheredWords: NO_WORDS,
    limit,
    liveBytes: Math.min(limit, LARGE_READ_BYTES),
    offsets: options.offsets === true,
    deliverFields: options.unknownFields === 'deliver',
    counts: { bytes: 0, events: 0, comments: 0, unknownFields: 0 },
    start: -1,
    data: undefined,
    eventType: '',
    rare: undefined,
    id: undefined,
    knownType: '',
    delivered: undefined,
    cutLine: undefined,
    afterCr: false,
    ended: false,
    parser: {
      push: (bytes) => push(state, bytes),
      end: () => end(state, options.onEnd === 'flush'),
      get counts() {
        return { ...state.counts }
      },
      lastEventId: undefined,
      retry: undefined,
      overflow: undefined,
      invalidUtf8: undefined,
      firstUnknownField: undefined,
    },
  }
  return state.parser
}

function push(state: ParserState, bytes: Uint8Array): readonly ServerSentEvent[] {
  // First, because it is nearly every read of a live stream.
  if (bytes.length <= state.liveBytes && state.start < 0 && state.gatheredLength === 0 && state.held.length === 0) {
    const live = liveEvent(state, bytes)
    if (live !== undefined) {
      state.counts.bytes += bytes.length
      return [live]
    }
  }
  return pushRead(state, bytes)
}

function pushRead(state: ParserState, bytes: Uint8Array): readonly ServerSentEvent[] {
  const { limit } = state
  const { length } = bytes
  if (state.ended) return []
  state.counts.bytes += length
  if (state.parser.overflow !== undefined) return []
  if (length <= SMALL_READ_BYTES) {
    const lines = gather(state, bytes, state.start < 0 ? limit : state.start + limit - state.offset)
    if (lines !== undefined) return lines.length === 0 ? [] : takeGatheredLines(state, lines)
  }
  if (state.gatheredLength > 0) decodeRead(state, takeGathered(state), takeLines)
  return pushLines(state, bytes)
}

function pushLines(state: ParserState, bytes: Uint8Array): readonly ServerSentEvent[] {
  const { parser, limit } = state
  const { length } = bytes
  for (let at = 0; at < length;) {
    const { start, offset, held } = state
    // Where a block has not begun yet, it can begin with what is held.
    const room = start < 0 ? limit - held.length : start + limit - offset - held.length
    const size = room > 0 ? Math.min(room, LARGEST_READ_BYTES) : isBlankLine(state, bytes[at]!) ? 1 : 0
    if (size === 0) {
      // The open block is too large: nothing of it is kept, and nothing more is taken. The byte counts no more, but it may show that
      // what is held was not UTF-8.
      decodeRead(state, bytes.subarray(at, at + 1), (_state, _text, _bytes, replaced) => {
        if (replaced && state.offset === offset && held.length > 0) noteReplaced(state)
      })
      parser.overflow = { offset: start, limit }
      state.liveBytes = 0
      forget(state)
      break
    }
    decodeRead(state, at > 0 || size < length ? bytes.subarray(at, at + size) : bytes, takeLines)
    at += size
  }
  return takeEvents(state)
}

function takeGatheredLines(state: ParserState, lines: Uint8Array): readonly ServerSentEvent[] {
  const live = state.start < 0 ? liveEvent(state, lines) : undefined
  if (live === undefined) decodeRead(state, lines, takeLines)
  keepRest(state, lines.length)
  return live === undefined ? takeEvents(state) : [live]
}

function end(state: ParserState, flush: boolean): readonly ServerSentEvent[] {
  const { parser } = state
  if (state.ended) return []
  state.ended = true
  state.liveBytes = 0
  if (parser.overflow !== undefined) return []
  if (state.gatheredLength > 0) decodeRead(state, takeGathered(state), takeLines)
  decodeEnd(state, takeLines)
  const { lastEventId, retry } = parser
  if (flush && state.start >= 0) {
    const { cutLine } = state
    if (cutLine !== undefined) takeField(state, textOf(cutLine), cutLine.replaced)
    rare(state).incomplete = true
    closeBlock(state, state.offset)
  }
  parser.lastEventId = lastEventId
  parser.retry = retry
  forget(state)
  return takeEvents(state)
}

function takeEvents(state: ParserState): readonly ServerSentEvent[] {
  const { delivered = [] } = state
  state.delivered = undefined
  return delivered
}

/**
 * The event of bytes that are one `data` line and a blank line, as a live stream brings them: where nothing before them is open,
 * none of the bookkeeping for cuts is due. Undefined when they are anything else; they are then not taken.
 */
function liveEvent(state: ParserState, bytes: Uint8Array): ServerSentEvent | undefined {
  const { length } = bytes
  if (bytes[length - 1] !== LF || bytes[length - 2] !== LF || !beginsWithData(bytes)) return undefined
  const text = decodeWhole(bytes)
  const lineEnd = text.length - 2
  if (text.indexOf('\n') !== lineEnd || text.indexOf('\r') >= 0 || text.indexOf(REPLACEMENT) >= 0) return undefined
  const data = text.slice(bytes[5] === SPACE ? 6 : 5, lineEnd)
  const { offset } = state
  state.offset = offset + length
  // The blank line is not part of the block.
  return eventOf(state, data, offset, offset + length - 1)
}

function beginsWithData(bytes: Uint8Array): boolean {
  return bytes[0] === 0x64 && bytes[1] === 0x61 && bytes[2] === 0x74 && bytes[3] === 0x61 && bytes[4] === 0x3a
}

/** Whether this byte closes the open block, and is no part of it. */
function isBlankLine(state: ParserState, byte: number): boolean {
  return (byte === CR || (byte === LF && !state.afterCr)) && state.held.length === 0 && state.cutLine === undefined
}

/** Drops the open block, and all that came with it. */
function forget(state: ParserState): void {
  state.cutLine = undefined
  state.knownType = ''
  state.id = state.parser.lastEventId
  resetBlock(state)
}

/** Counts a sequence that was not UTF-8: the bytes from `state.offset` on. */
function noteReplaced({ parser, offset }: ParserState): void {
  const { invalidUtf8 } = parser
  parser.invalidUtf8 = { count: (invalidUtf8?.count ?? 0) + 1, firstOffset: invalidUtf8?.firstOffset ?? offset }
}

function takeLines(state: ParserState, text: string, bytes: Uint8Array, replaced: boolean): void {
  const { length } = text
  const { offset } = state
  const aligned = length === bytes.length
  const findBytes = !aligned && state.offsets
  /** Where a line starts in the body is its position in the text plus this; unless `aligned` or `findBytes`, a guess. */
  let shift = offset
  let position = 0
  /** Position of the open block, if it began in this text. */
  let openedAt = 0
  let lf = -1
  let cr = -1

  if (length > 0) {
    if (state.afterCr && text.charCodeAt(0) === LF) position = 1
    state.afterCr = false
  }
  while (position < length) {
    const first = text.charCodeAt(position)
    if (state.cutLine === undefined && (first === LF || first === CR)) {
      // The LF of a blank CRLF finds no block any more.
      if (state.start >= 0) closeBlock(state, position + shift)
      position++
      continue
    }
    if (state.start < 0) {
      state.start = position + shift
      openedAt = position
    }

    if (lf < position) lf = text.indexOf('\n', position) >>> 0
    if (cr < position) cr = text.indexOf('\r', position) >>> 0
    const lineEnd = lf < cr ? lf : cr
    if (lineEnd === NOWHERE) {
      if (replaced) noteReplaced(state)
      state.cutLine = appendText(state.cutLine, detachSmall(text.slice(position), length), replaced)
      break
    }
    let next = lineEnd + 1
    if (lineEnd === cr) {
      if (next === lf) next++
      else if (next === length) state.afterCr = true
    }
    // A character takes at least a byte, so the line end is no further to the left than in the text.
    if (findBytes) {
      const byte = text.charCodeAt(lineEnd)
      let at = lineEnd + shift - offset
      while (bytes[at] !== byte) at++
      shift = offset + at - lineEnd
    }

    let line = text
    let from = position
    let to = lineEnd
    let lineReplaced = false
    if (state.cutLine !== undefined) {
      const whole = appendText(state.cutLine, text.slice(position, lineEnd), false)
      state.cutLine = undefined
      line = textOf(whole)
      from = 0
      to = line.length
      lineReplaced = whole.replaced
    }

    const value = dataValue(line, from, to)
    const following = next < length ? text.charCodeAt(next) : 0
    if (value === undefined) {
      takeField(state, line.slice(from, to), lineReplaced)
    } else if ((following === LF || following === CR) && state.data === undefined) {
      // Nearly every event of a model's stream comes this way: its only data line, then the blank line.
      deliver(state, value, next + shift, lineReplaced)
      next++
    } else {
      addData(state, detachSmall(value, line.length), lineReplaced)
    }
    position = next
  }
  if (state.start >= 0 && openedAt > 0 && !aligned && !findBytes) {
    state.start = offset + bytes.length - UTF8.encode(text.slice(openedAt)).length
  }
}

/** The value of a line `data:…`, without the one space that may follow the colon; `undefined` for any other line. */
function dataValue(text: string, from: number, to: number): string | undefined {
  const start = from + 5
  if (
    start > to ||
    text.charCodeAt(from) !== 0x64 ||
    text.charCodeAt(from + 1) !== 0x61 ||
    text.charCodeAt(from + 2) !== 0x74 ||
    text.charCodeAt(from + 3) !== 0x61 ||
    text.charCodeAt(from + 4) !== 0x3a
  ) {
    return undefined
  }
  return text.slice(text.charCodeAt(start) === SPACE ? start + 1 : start, to)
}
