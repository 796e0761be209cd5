/**
 * Bytes → text, for reads that may be cut anywhere.
 *
 * The text of all reads put together is what a UTF-8 `TextDecoder` makes of the whole body, for every cut: one BOM at
 * byte 0 is dropped, a sequence that is not UTF-8 becomes U+FFFD. Bytes of a character that a read has cut are held
 * (three at most) and go in front of the next read, so each read is decoded as whole characters, in one piece.
 */

/** Above this size the choice of decoder matters; at or below it the one-shot form always wins. */
const LARGE_READ_BYTES = 1024
/** The BOM at byte 0 is dropped here: a one-shot decoder would drop one from every read. */
const IGNORE_BOM: TextDecoderOptions = { ignoreBOM: true }
const STREAM: TextDecodeOptions = { stream: true }
const ONE_SHOT: TextDecoder = /* @__PURE__ */ new TextDecoder('utf-8', IGNORE_BOM)
const NO_BYTES: Uint8Array = new Uint8Array(0)
const BOM = 0xfeff
const BOM_BYTES = 3

/** The sequences of one read that were not UTF-8, each a U+FFFD in its text. At least one. */
export interface ReplacedSequences {
  /** Where they stand in the text. Ascending. */
  readonly at: readonly number[]
  /** Where they end in the bytes, exclusive. Ascending. */
  readonly ends: readonly number[]
  /** Where the first one starts in the bytes. */
  readonly firstStart: number
}

export interface DecodedRead {
  readonly text: string
  /** The bytes that became `text`, and no others. May be a view on the caller's memory: not to be kept. */
  readonly bytes: Uint8Array
  /** Offset of the first of `bytes` in the body. */
  readonly offset: number
  /** Absent when every U+FFFD in `text` was sent as one. */
  readonly replaced: ReplacedSequences | undefined
}

/** Where the decoder stands between two reads. */
export interface Utf8State {
  /** Bytes that wait for the rest of their character: 0 to 3. */
  held: Uint8Array
  /** Offset in the body of the next byte to be decoded: of the first held one, if there are any. */
  offset: number
  lastWasAscii: boolean
  streaming: TextDecoder | undefined
}

export function createUtf8State(): Utf8State {
  return { held: NO_BYTES, offset: 0, lastWasAscii: true, streaming: undefined }
}

/**
 * The text of a small read that begins and ends with a character, and holds nothing that has to be looked into. Undefined for any
 * other read. The caller moves `offset` on if it takes the text.
 */
export function decodeWhole(state: Utf8State, bytes: Uint8Array): string | undefined {
  const length = bytes.length
  if (length > LARGE_READ_BYTES || state.held.length > 0) return undefined
  const text = ONE_SHOT.decode(bytes)
  return text.indexOf('\ufffd') < 0 ? text : undefined
}

export function decodeRead(state: Utf8State, read: Uint8Array): DecodedRead {
  let bytes = state.held.length === 0 ? read : concat(state.held, read)
  const cut = cutCharacterBytes(bytes)
  if (cut === 0) {
    state.held = NO_BYTES
  } else {
    const whole = bytes.length - cut
    // Not `slice`: on a Node `Buffer` that is a view, and would keep the whole read.
    state.held = new Uint8Array(bytes.subarray(whole))
    bytes = bytes.subarray(0, whole)
  }
  let text = toText(state, bytes)
  let offset = state.offset
  if (offset === 0 && text.charCodeAt(0) === BOM) {
    text = text.slice(1)
    bytes = bytes.subarray(BOM_BYTES)
    offset = BOM_BYTES
  }
  state.offset = offset + bytes.length
  return { text, bytes, offset, replaced: text.indexOf('\uFFFD') < 0 ? undefined : findReplaced(bytes) }
}

/** The body is over: bytes still held are a character that never came whole, one U+FFFD. */
export function decodeEnd(state: Utf8State): DecodedRead {
  const { held: bytes, offset } = state
  state.held = NO_BYTES
  state.offset += bytes.length
  if (bytes.length === 0) return { text: '', bytes, offset, replaced: undefined }
  return { text: '\uFFFD', bytes, offset, replaced: { at: [0], ends: [bytes.length], firstStart: 0 } }
}

/**
 * On Node 20 to 24 the one-shot form is some five times faster than the streaming form on ASCII, and 1.6 times slower on
 * large texts that are not. The last read is the best guess at what this one holds.
 *
 * The two can take turns because the streaming decoder is never left with something to carry over: it gets no bytes that
 * end inside a character. Without the cut character they still may, where that one cuts short another.
 */
function toText(state: Utf8State, bytes: Uint8Array): string {
  const streams = bytes.length > LARGE_READ_BYTES && !state.lastWasAscii && cutCharacterBytes(bytes) === 0
  const text = streams
    ? (state.streaming ??= new TextDecoder('utf-8', IGNORE_BOM)).decode(bytes, STREAM)
    : ONE_SHOT.decode(bytes)
  state.lastWasAscii = text.length === bytes.length
  return text
}

function concat(first: Uint8Array, second: Uint8Array): Uint8Array {
  const both = new Uint8Array(first.length + second.length)
  both.set(first)
  both.set(second, first.length)
  return both
}

/** Number of bytes at the end that begin a character and may still become whole. */
function cutCharacterBytes(bytes: Uint8Array): number {
  const length = bytes.length
  for (let count = 1; count <= 3 && count <= length; count++) {
    const byte = bytes[length - count]!
    if (byte < 0x80) return 0
    // A continuation byte: its lead byte is further to the left, or missing.
    if (byte < 0xc0) continue
    return count < sequenceBytes(byte) && matchingBytes(bytes, length - count) === count ? count : 0
  }
  return 0
}

/** How long a sequence with this lead byte is; 0 for a byte that leads none. */
function sequenceBytes(lead: number): number {
  if (lead < 0x80) return 1
  if (lead < 0xc2) return 0
  if (lead < 0xe0) return 2
  if (lead < 0xf0) return 3
  return lead < 0xf5 ? 4 : 0
}

/**
 * How many bytes from `start` on are the beginning of a character: all of it, or the longest part that could be
 * one. The second byte has a narrower range after four of the leads (no overlong forms, surrogates, or code points
 * above U+10FFFF).
 *
 * @see https://encoding.spec.whatwg.org/#utf-8-decoder
 */
function matchingBytes(bytes: Uint8Array, start: number): number {
  const lead = bytes[start]!
  const end = Math.min(start + sequenceBytes(lead), bytes.length)
  let lower = lead === 0xe0 ? 0xa0 : lead === 0xf0 ? 0x90 : 0x80
  let upper = lead === 0xed ? 0x9f : lead === 0xf4 ? 0x8f : 0xbf
  let at = start + 1
  for (; at < end; at++) {
    const byte = bytes[at]!
    if (byte < lower || byte > upper) break
    lower = 0x80
    upper = 0xbf
  }
  return Math.min(at, end) - start
}

/** Tells U+FFFD that were sent from those that stand for something else. Walks every byte: for reads that hold one. */
function findReplaced(bytes: Uint8Array): ReplacedSequences | undefined {
  const at: number[] = []
  const ends: number[] = []
  let firstStart = -1
  let textAt = 0
  for (let start = 0; start < bytes.length; textAt++) {
    const wanted = sequenceBytes(bytes[start]!)
    const matching = wanted === 1 ? 1 : matchingBytes(bytes, start)
    if (wanted === 0 || matching < wanted) {
      if (firstStart < 0) firstStart = start
      at.push(textAt)
      start += Math.max(matching, 1)
      ends.push(start)
    } else {
      start += wanted
      // A pair of surrogates.
      if (wanted === 4) textAt++
    }
  }
  return firstStart < 0 ? undefined : { at, ends, firstStart }
}

/**
 * Bytes of a decoded text from `position` on, where nothing was replaced. There are no lone surrogates in it, so each half
 * of a pair stands for two bytes.
 */
export function utf8Bytes(text: string, position: number): number {
  let bytes = 0
  for (let at = position; at < text.length; at++) {
    const code = text.charCodeAt(at)
    bytes += code < 0x80 ? 1 : code < 0x800 || (code & 0xf800) === 0xd800 ? 2 : 3
  }
  return bytes
}
