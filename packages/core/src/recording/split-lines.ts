import { RecordingError } from './recording-error.ts'

/** Longest line that is read, in bytes of UTF-8 or, for text, in UTF-16 units. */
export const MAX_LINE_LENGTH: number = 16 * 1024 * 1024

export interface TextLine {
  readonly text: string
  /** From 1. */
  readonly number: number
  /** The last line of the file, without a line end: it may have been cut off while it was written. */
  readonly unterminated: boolean
}

/** Lines that are not blank. Bytes are decoded line by line, so that bytes which are not UTF-8 have a line number. */
export function* splitLines(source: string | Uint8Array): Generator<TextLine, void, undefined> {
  const isText = typeof source === 'string'
  const length = source.length
  let number = 0
  for (let from = 0; from < length;) {
    const found = isText ? source.indexOf('\n', from) : source.indexOf(0x0a, from)
    const to = found < 0 ? length : found
    number++
    const tooLong = to - from > MAX_LINE_LENGTH
    if (tooLong) throw new RecordingError('line_too_long', number, `the line is longer than ${MAX_LINE_LENGTH} bytes`)
    const unterminated = found < 0
    const text = isText ? source.slice(from, to) : decode(source.subarray(from, to), number, unterminated)
    // A byte order mark is only ever at the start, and only where text was not decoded here.
    const content = number === 1 && text.startsWith('\ufeff') ? text.slice(1) : text
    if (content.trim() !== '') yield { text: content, number, unterminated }
    from = to + 1
  }
}

function decode(bytes: Uint8Array, number: number, unterminated: boolean): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    // A line that was cut in the middle of a character is torn, not corrupt: the JSON reader refuses it in any case.
    if (unterminated) return new TextDecoder().decode(bytes)
    throw new RecordingError('invalid_utf8', number, 'the line holds bytes that are not UTF-8')
  }
}
