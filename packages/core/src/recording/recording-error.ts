/**
 * - `not_a_recording`: the text does not begin with a head line.
 * - `unsupported_version`: a newer version of the format.
 * - `line_too_long`: a line exceeds 16 MiB.
 * - `invalid_json`: a line is not one JSON object, or holds keys or numbers on which JSON readers disagree.
 * - `invalid_field`: a field is missing, of the wrong type or out of range.
 * - `invalid_utf8`: a line is not UTF-8.
 * - `out_of_order`: a line stands where it can't.
 * - `offset_gap`: bytes are missing or doubled between two reads.
 * - `content_mismatch`: the body is not what the end line says it was.
 * - `body_encoded`: the body still has its content coding on, so it holds no events yet.
 */
export type RecordingErrorCode =
  | 'not_a_recording'
  | 'unsupported_version'
  | 'line_too_long'
  | 'invalid_json'
  | 'invalid_field'
  | 'invalid_utf8'
  | 'out_of_order'
  | 'offset_gap'
  | 'content_mismatch'
  | 'body_encoded'

/**
 * A recording that can't be trusted: which line, and why. It is no `StreamError`: nothing is said about the stream, only
 * about the file.
 */
export class RecordingError extends Error {
  override readonly name = 'RecordingError'
  readonly code: RecordingErrorCode
  /** Number of the line, from 1. */
  readonly line: number

  constructor(code: RecordingErrorCode, line: number, reason: string) {
    super(`line ${line}: ${reason}`)
    this.code = code
    this.line = line
  }
}
