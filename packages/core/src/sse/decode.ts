/**
 * Bytes → text, for reads that may be cut anywhere.
 *
 * The text of all reads put together is what a UTF-8 `TextDecoder` makes of the whole body, for every cut: one BOM at
 * byte 0 is dropped, a sequence that is not UTF-8 becomes U+FFFD. Bytes of a character that a read has cut are held
 * (three at most) and go in front of the next read, so each read is decoded as whole characters, in one piece.
 */

/** Above this size the choice of decoder matters; at or below it the one-shot form always wins. */
export const LARGE_READ_BYTES = 1024
/** The BOM at byte 0 is dropped here: a one-shot decoder would drop one from every read. */
const IGNORE_BOM: TextDecoderOptions = { ignoreBOM: true }
const STREAM: TextDecodeOptions = { stream: true }
const ONE_SHOT: TextDecoder = /* @__PURE__ */ new TextDecoder('utf-8', IGNORE_BOM)
/** One for all bodies: it is never left with something to carry over. */
const STREAMING: TextDecoder = /* @__PURE__ */ new TextDecoder('utf-8', IGNORE_BOM)
export const NO_BYTES: Uint8Array = new Uint8Array(0)
export const REPLACEMENT = '\ufffd'
const BOM = 0xfeff
const BOM_BYTES = 3

/** Where the decoder stands between two reads. */
export interface Utf8State {
  /** Bytes that wait for the rest of their character: 0 to 3. */
  held: Uint8Array
  /** Offset in the body of the next byte to be decoded: of the first held one, if there are any. */
  offset: number
  lastWasAscii: boolean
}

/**
 * Takes the next text: a whole read, or a part of one where some bytes were not UTF-8. It was made of `bytes`, which begin at
 * `state.offset` and may be a view on the caller's memory: not to be kept. `replaced`: the text is one U+FFFD that stands for a
 * sequence that is not UTF-8; in any other text each U+FFFD was sent as one.
 */
export type TakeText<State extends Utf8State> = (
  state: State,
  text: string,
  bytes: Uint8Array,
  replaced: boolean,
) => void

export function createUtf8State(): Utf8State {
  return { held: NO_BYTES, offset: 0, lastWasAscii: true }
}

/** The text of a small read, as it would be if it were the whole body: what it begins or ends inside of is U+FFFD. */
export function decodeWhole(bytes: Uint8Array): string {
  return ONE_SHOT.decode(bytes)
}

export function decodeRead<State extends Utf8State>(state: State, read: Uint8Array, take: TakeText<State>): void {
  const { held } = state
  let bytes = read
  if (held.length > 0) {
    bytes = new Uint8Array(held.length + read.length)
    bytes.set(held)
    bytes.set(read, held.length)
  }
  const cut = cutCharacterBytes(bytes)
  state.held = NO_BYTES
  if (cut > 0) {
    // Not `slice`: on a Node `Buffer` that is a view, and would keep the whole read.
    state.held = new Uint8Array(bytes.subarray(-cut))
    bytes = bytes.subarray(0, -cut)
  }
  const text = toText(state, bytes)
  if (text.indexOf(REPLACEMENT) < 0) return give(state, text, bytes, take)
  // Tells U+FFFD that were sent from those that stand for something else. Walks every byte: for reads that hold one.
  let from = 0
  for (let at = 0; at < bytes.length;) {
    const size = characterBytes(bytes, at)
    const next = at + Math.abs(size)
    if (size < 0) {
      const whole = bytes.subarray(from, at)
      if (at > from) give(state, toText(state, whole), whole, take)
      give(state, REPLACEMENT, bytes.subarray(at, next), take, true)
      from = next
    }
    at = next
  }
  const rest = bytes.subarray(from)
  give(state, toText(state, rest), rest, take)
}

/** The body is over: bytes still held are a character that never came whole, one U+FFFD. */
export function decodeEnd<State extends Utf8State>(state: State, take: TakeText<State>): void {
  const { held } = state
  state.held = NO_BYTES
  if (held.length > 0) give(state, REPLACEMENT, held, take, true)
}

function give<State extends Utf8State>(
  state: State,
  text: string,
  bytes: Uint8Array,
  take: TakeText<State>,
  replaced = false,
): void {
  if (state.offset === 0 && text.charCodeAt(0) === BOM) {
    state.offset = BOM_BYTES
    return give(state, text.slice(1), bytes.subarray(BOM_BYTES), take)
  }
  take(state, text, bytes, replaced)
  state.offset += bytes.length
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
  const text = streams ? STREAMING.decode(bytes, STREAM) : ONE_SHOT.decode(bytes)
  state.lastWasAscii = text.length === bytes.length
  return text
}

/** Number of bytes at the end that begin a character and may still become whole. */
function cutCharacterBytes(bytes: Uint8Array): number {
  for (let count = 1; count <= 3; count++) {
    const byte = bytes[bytes.length - count] ?? 0
    // The lead byte of a continuation byte is further to the left, or missing.
    if (byte < 0x80 || byte > 0xbf) {
      return byte > 0xc1 && byte < 0xf5 && characterBytes(bytes, bytes.length - count) === -count ? count : 0
    }
  }
  return 0
}

/**
 * How many bytes the character at `start` takes. Negative where there is none: how many belong to the longest part that could
 * have become one, or 1. The second byte has a narrower range after four of the leads (no overlong forms, surrogates,
 * or code points above U+10FFFF).
 *
 * @see https://encoding.spec.whatwg.org/#utf-8-decoder
 */
function characterBytes(bytes: Uint8Array, start: number): number {
  const lead = bytes[start]!
  const wanted = lead < 0x80 ? 1 : lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0
  let lower = lead === 0xe0 ? 0xa0 : lead === 0xf0 ? 0x90 : 0x80
  let upper = lead === 0xed ? 0x9f : lead === 0xf4 ? 0x8f : 0xbf
  let size = 1
  while (size < wanted && start + size < bytes.length) {
    const byte = bytes[start + size]!
    if (byte < lower || byte > upper) break
    lower = 0x80
    upper = 0xbf
    size++
  }
  return size === wanted ? size : -size
}
