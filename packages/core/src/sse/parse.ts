/**
 * Bytes → events: the machine behind `createEventStreamParser`.
 *
 * ```
 *   push(bytes) ──decode──▶ text ──parse──▶ lines ──block──▶ events
 *                           │               │                │
 *   held between two reads: a cut character │                │
 *                           (≤ 3 bytes)     a cut line       the open block
 * ```
 *
 * A *block* is what stands between blank lines: fields, comments, anything. A blank line closes it, and if the block has
 * a `data` line it is an event. An event comes out with the first byte that closes it, so a lone CR counts at once and an
 * LF that may come next is skipped.
 *
 * It is fast because a read is decoded as a whole and then only searched natively: one `indexOf` per line, a few
 * `charCodeAt` to recognise a `data` line and the blank line after it. Of a cut line only the new part is searched.
 * Byte offsets are free where text and bytes have the same length; elsewhere they are worked out only for who needs them.
 */
import { addData, closeBlock, createBlockState, deliver, forgetBlock, takeField } from './block.ts'
import type { BlockState } from './block.ts'
import { createUtf8State, decodeEnd, decodeRead, decodeWhole, utf8Bytes } from './decode.ts'
import type { DecodedRead, ReplacedSequences, Utf8State } from './decode.ts'
import { detachSmall } from './detach.ts'
import type { ServerSentEvent } from './event.ts'
import type { EventStreamOverflow, EventStreamParser, EventStreamParserOptions } from './parser.ts'
import { appendText, createTextBuilder, isEmptyText, takeText } from './text-builder.ts'
import type { TextBuilder } from './text-builder.ts'

export type {
  EventStreamCounts,
  EventStreamOverflow,
  EventStreamParser,
  EventStreamParserOptions,
  InvalidUtf8,
} from './parser.ts'

const DEFAULT_MAX_EVENT_BYTES = 8 * 1024 * 1024
/** `data` and a line end. */
const SMALLEST_EVENT_BYTES = 5
/** Below the longest string of every engine, so that putting an event together cannot throw. */
const LARGEST_EVENT_BYTES = 256 * 1024 * 1024 - 64
/** A larger read is taken in pieces: its text might be larger than any string, and always larger than need be. */
const LARGEST_READ_BYTES = 1024 * 1024

const LF = 0x0a
const CR = 0x0d
const SPACE = 0x20
/** What `indexOf` did not find is to the right of everything. */
const NOWHERE: number = Number.MAX_SAFE_INTEGER

/**
 * Where a parser stands between two reads.
 *
 * A record and plain functions over it, not closures or a class: engines drop the code they have optimised for closures,
 * and for the hidden shapes of class fields, when the last of them is collected. The next stream would start cold.
 */
interface ParserState {
  readonly limit: number
  readonly utf8: Utf8State
  readonly block: BlockState
  /** The line that the last read cut. */
  readonly cutLine: TextBuilder
  cutLineReplaced: boolean
  /** The last read ended with a CR that ended a line: an LF that comes next belongs to it. */
  afterCr: boolean
  ended: boolean
  overflow: EventStreamOverflow | undefined
  bytes: number
  events: number
  invalidCount: number
  firstInvalid: number
}

/** Makes a parser for one body. Throws `TypeError` where `maxEventBytes` lets no event through, or is not a number. */
export function createEventStreamParser(options: EventStreamParserOptions = {}): EventStreamParser {
  const { maxEventBytes = DEFAULT_MAX_EVENT_BYTES } = options
  if (!(maxEventBytes >= SMALLEST_EVENT_BYTES)) {
    throw new TypeError(`maxEventBytes must be at least ${SMALLEST_EVENT_BYTES}, got ${maxEventBytes}`)
  }
  const block = createBlockState(options.offsets === true, options.unknownFields === 'deliver')
  const state: ParserState = {
    limit: Math.min(maxEventBytes, LARGEST_EVENT_BYTES),
    utf8: createUtf8State(),
    block,
    cutLine: createTextBuilder(),
    cutLineReplaced: false,
    afterCr: false,
    ended: false,
    overflow: undefined,
    bytes: 0,
    events: 0,
    invalidCount: 0,
    firstInvalid: -1,
  }
  return {
    push: (bytes) => push(state, bytes),
    end: () => end(state, options.onEnd === 'flush'),
    get lastEventId() {
      return block.lastEventId
    },
    get retry() {
      return block.retry < 0 ? undefined : block.retry
    },
    get counts() {
      const { bytes, events } = state
      const { comments, unknownFields } = block
      return { bytes, events, comments, unknownFields }
    },
    get overflow() {
      return state.overflow
    },
    get invalidUtf8() {
      const { invalidCount: count, firstInvalid: firstOffset } = state
      return count === 0 ? undefined : { count, firstOffset }
    },
    get firstUnknownField() {
      return block.firstUnknownField
    },
  }
}

function push(state: ParserState, bytes: Uint8Array): readonly ServerSentEvent[] {
  if (state.ended) return []
  state.bytes += bytes.length
  if (!state.block.open && bytes[bytes.length - 1] === LF) {
    const live = liveEvent(state, bytes)
    if (live !== undefined) return [live]
  }
  if (bytes.length <= LARGEST_READ_BYTES) takeRead(state, bytes)
  else {
    for (let at = 0; at < bytes.length; at += LARGEST_READ_BYTES) {
      takeRead(state, bytes.subarray(at, at + LARGEST_READ_BYTES))
    }
  }
  return takeEvents(state)
}

function end(state: ParserState, flush: boolean): readonly ServerSentEvent[] {
  if (state.ended) return []
  state.ended = true
  if (state.overflow !== undefined) return []
  const { block, cutLine, utf8 } = state
  const read = decodeEnd(utf8)
  if (read.replaced !== undefined) noteReplaced(state, read, read.replaced)
  if (flush) {
    const { lastEventId, retry } = block
    takeLines(state, read)
    if (!isEmptyText(cutLine)) takeField(block, takeText(cutLine), state.cutLineReplaced)
    closeBlock(block, utf8.offset, true)
    block.lastEventId = lastEventId
    block.retry = retry
  }
  forget(state)
  return takeEvents(state)
}

function takeEvents(state: ParserState): readonly ServerSentEvent[] {
  const { delivered } = state.block
  if (delivered === undefined) return []
  state.block.delivered = undefined
  state.events += delivered.length
  return delivered
}

function takeRead(state: ParserState, bytes: Uint8Array): void {
  if (bytes.length === 0 || state.overflow !== undefined) return
  const { block, utf8 } = state
  const read = decodeRead(utf8, bytes)
  takeLines(state, read)
  // The bytes of a cut character count already. Where they begin a block they are too few to matter.
  if (block.open && utf8.offset + utf8.held.length - block.offset > state.limit) refuse(state)
  if (read.replaced !== undefined) noteReplaced(state, read, read.replaced)
}

/**
 * The event of a read that is one `data` line and a blank line, as a live stream brings them: nothing before it is open and nothing
 * is left over, so none of the bookkeeping for cuts is due. Undefined when it is anything else; the read is then not taken.
 */
function liveEvent(state: ParserState, bytes: Uint8Array): ServerSentEvent | undefined {
  const { block, utf8 } = state
  const length = bytes.length
  if (
    bytes[length - 2] !== LF ||
    bytes[0] !== 0x64 ||
    bytes[4] !== 0x3a ||
    length > state.limit ||
    state.afterCr ||
    state.overflow !== undefined
  ) {
    return undefined
  }
  const text = decodeWhole(utf8, bytes)
  if (text === undefined) return undefined
  const lineEnd = text.length - 2
  if (text.indexOf('\n') !== lineEnd || text.indexOf('\r') >= 0) return undefined
  const data = dataValue(text, 0, lineEnd)
  if (data === undefined) return undefined
  const { offset } = utf8
  utf8.offset = offset + length
  state.events++
  // The blank line is not part of the block.
  const event: ServerSentEvent = block.offsets ? { data, offset, endOffset: utf8.offset - 1 } : { data }
  if (block.idBuffer !== undefined) event.id = block.idBuffer
  return event
}

/** The open block is too large: nothing of it is kept, and nothing more is taken. */
function refuse(state: ParserState): void {
  state.overflow = { offset: state.block.offset, limit: state.limit }
  forget(state)
}

function forget(state: ParserState): void {
  takeText(state.cutLine)
  forgetBlock(state.block)
}

/** Counts the sequences that were over before the byte that broke the limit: of later ones a read may not have all. */
function noteReplaced(state: ParserState, read: DecodedRead, replaced: ReplacedSequences): void {
  const { overflow } = state
  const known = overflow === undefined ? NOWHERE : overflow.offset + overflow.limit
  for (const sequenceEnd of replaced.ends) {
    if (read.offset + sequenceEnd > known) return
    if (state.invalidCount++ === 0) state.firstInvalid = read.offset + replaced.firstStart
  }
}

function takeLines(state: ParserState, read: DecodedRead): void {
  const { block, cutLine, limit } = state
  const { text, bytes, replaced } = read
  const length = text.length
  // One code unit per byte; a byte that is not UTF-8 has one too.
  const aligned = length === bytes.length
  // Otherwise no block that is open or begins in this read can reach the limit in it.
  const nearLimit = read.offset + bytes.length - (block.open ? block.offset : read.offset) > limit
  const findBytes = !aligned && (block.offsets || nearLimit || replaced !== undefined)
  /** Where a line starts in the body is its position in the text plus this; unless `aligned` or `findBytes`, a guess. */
  let shift = read.offset
  let position = 0
  /** Position of the open block, if it began in this text. */
  let openedAt = 0
  let replacedSeen = 0

  if (state.afterCr && length > 0) {
    state.afterCr = false
    if (text.charCodeAt(0) === LF) {
      if (block.open && shift >= block.offset + limit) return refuse(state)
      position = 1
    }
  }

  let resumed = !isEmptyText(cutLine)
  let lf = -1
  let cr = find(text, '\r', position)
  while (position < length) {
    if (!resumed) {
      const first = text.charCodeAt(position)
      if (first === LF || first === CR) {
        // The LF of a blank CRLF finds no block any more.
        if (block.open) closeBlock(block, position + shift)
        position++
        continue
      }
    }

    if (lf < position) lf = find(text, '\n', position)
    if (cr < position) cr = find(text, '\r', position)
    const lineEnd = lf < cr ? lf : cr
    if (lineEnd === NOWHERE) break
    let next = lineEnd + 1
    if (lineEnd === cr) {
      if (next === lf) next++
      else if (next === length) state.afterCr = true
    }

    if (!block.open) {
      block.open = true
      block.offset = position + shift
      openedAt = position
    }
    if (findBytes) {
      // A character takes at least a byte, so the line end is no further to the left than in the text.
      const byte = text.charCodeAt(lineEnd)
      let at = lineEnd + shift - read.offset
      while (bytes[at] !== byte) at++
      shift = read.offset + at - lineEnd
    }
    if (nearLimit && lineEnd + shift >= block.offset + limit) return refuse(state)
    // Only the LF of a CRLF can be too much now. The line itself is taken even so, as it is when a cut parts the two.
    const endFits = !nearLimit || next - 1 + shift < block.offset + limit

    let lineReplaced = false
    if (replaced !== undefined) {
      const before = replacedSeen
      while (replacedSeen < replaced.at.length && replaced.at[replacedSeen]! < lineEnd) replacedSeen++
      lineReplaced = replacedSeen > before
    }
    let source = text
    let from = position
    let to = lineEnd
    if (resumed) {
      resumed = false
      appendText(cutLine, text.slice(position, lineEnd))
      source = takeText(cutLine)
      from = 0
      to = source.length
      lineReplaced ||= state.cutLineReplaced
      state.cutLineReplaced = false
    }

    const value = dataValue(source, from, to)
    const following = next < length ? text.charCodeAt(next) : 0
    if (value === undefined) {
      takeField(block, source.slice(from, to), lineReplaced)
    } else if ((following === LF || following === CR) && !block.hasData && endFits) {
      // Nearly every event of a model's stream comes this way: its only data line, then the blank line.
      if (lineReplaced) block.replaced = true
      deliver(block, value, next + shift)
      next++
    } else {
      addData(block, detachSmall(value, source.length), lineReplaced)
    }
    if (!endFits) return refuse(state)
    position = next
  }

  if (position < length) {
    if (!block.open) {
      block.open = true
      block.offset = position + shift
      openedAt = position
    }
    appendText(cutLine, detachSmall(text.slice(position), length))
    if (replaced !== undefined && replacedSeen < replaced.at.length) state.cutLineReplaced = true
  }
  if (block.open && openedAt > 0 && !aligned && !findBytes) {
    block.offset = read.offset + bytes.length - utf8Bytes(text, openedAt)
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

function find(text: string, character: string, position: number): number {
  const index = text.indexOf(character, position)
  return index < 0 ? NOWHERE : index
}
