/**
 * Reads of a few bytes → whole lines. A call of the decoder costs the same for 37 bytes as for a whole event, and a line that came
 * in seven reads would be decoded in seven calls and glued. The bytes wait here for the end of their line instead.
 *
 * Only what cannot show anything before its line ends is gathered: ASCII without a CR, inside the limit. Any other read goes
 * the usual way, after what was gathered.
 */
import { NO_BYTES } from './decode.ts'
import type { Utf8State } from './decode.ts'

/** Above this size a read is as good as its line. */
export const SMALL_READ_BYTES = 64
/** A longer line is decoded in parts of this size. */
const GATHERED_BYTES = 1024

const LF = 0x0a
const CR = 0x0d
/** In each byte of a word: one more than CR, and the highest bit. */
const ABOVE_CR = 0x0e0e0e0e
const HIGH_BITS = 0x80808080

export interface GatheringState extends Utf8State {
  /** Bytes of small reads, from `offset` on: the beginning of a line. The first `gatheredLength` count. */
  gathered: Uint8Array
  gatheredLength: number
  /** The same memory as words. */
  gatheredWords: Int32Array
}

export const NO_WORDS: Int32Array = new Int32Array(0)

/**
 * Takes a small read, if it may wait and the open block has `room` for it and what waits already. Gives the lines that are whole
 * now, or no bytes; `keepRest` is due once they are taken.
 */
export function gather(state: GatheringState, read: Uint8Array, room: number): Uint8Array | undefined {
  const { gatheredLength } = state
  const size = gatheredLength + read.length
  if (size > GATHERED_BYTES || size > room || state.held.length > 0) return undefined
  if (state.gathered.length === 0) {
    state.gathered = new Uint8Array(GATHERED_BYTES)
    state.gatheredWords = new Int32Array(state.gathered.buffer)
  }
  const { gathered, gatheredWords } = state
  gathered.set(read, gatheredLength)
  // Four bytes at a time, because most reads are plain text from end to end: a byte up to CR borrows into its highest bit when 14 is
  // taken from it, a byte that is not ASCII has that bit. The first and the last word may hold bytes of others, which only costs time.
  let marks = 0
  const lastWord = (size + 3) >> 2
  for (let at = gatheredLength >> 2; at < lastWord; at++) {
    const word = gatheredWords[at]!
    marks |= (word - ABOVE_CR) | word
  }
  let linesEnd = 0
  if ((marks & HIGH_BITS) !== 0) {
    for (let at = gatheredLength; at < size; at++) {
      const byte = gathered[at]!
      if (byte > 0x7f || byte === CR) return undefined
      if (byte === LF) linesEnd = at + 1
    }
  }
  state.gatheredLength = size
  return linesEnd === 0 ? NO_BYTES : gathered.subarray(0, linesEnd)
}

/** The beginning of the line after those that were taken. */
export function keepRest(state: GatheringState, linesEnd: number): void {
  state.gathered.copyWithin(0, linesEnd, state.gatheredLength)
  state.gatheredLength -= linesEnd
}

/** All that waits, which is then no longer here. */
export function takeGathered(state: GatheringState): Uint8Array {
  const waiting = state.gathered.subarray(0, state.gatheredLength)
  state.gatheredLength = 0
  return waiting
}
