import type { JsonObject } from '../json/value.ts'

/**
 * One exchange on disk: JSON Lines, one line per network read, times in integer microseconds since the request.
 *
 * A file is valid up to its last whole line, so a recorder that died leaves a recording that can be read; several exchanges
 * may stand one after another, each begun by its own `head`. Bytes are the body after transfer coding and, unless
 * {@link RecordingHead.body} says otherwise, after content coding.
 */
export interface Recording {
  readonly head: RecordingHead
  readonly request?: RecordedRequest
  readonly response?: RecordedResponse
  /** In arrival order; offsets follow on each other without a gap. */
  readonly reads: readonly RecordedRead[]
  /** Absent when the recorder died before the stream ended. */
  readonly end?: RecordingEnd
  /** Every line in file order, those above and all others, unknown ones included: what a rewrite must keep. */
  readonly lines: readonly RecordingLine[]
  /** Number of a last line that was cut off in the middle of being written; it was left out. */
  readonly tornLine?: number
}

/** Every head line says it. */
export const RECORDING_FORMAT = 'streamfold/recording'
/** The newest version that is read here. Same version: unknown lines and keys are kept; higher: refused. */
export const RECORDING_VERSION = 1

/** What every line has. */
interface Line {
  /** Number in the file, from 1. */
  readonly line: number
  /** Keys that are not interpreted here, kept for a rewrite; absent when there are none. */
  readonly other?: JsonObject
}

/** Any line of a file. */
export type RecordingLine = RecordingHead | RecordedRequest | RecordedResponse | RecordedRead | RecordingEnd | OtherLine

/** Where the bytes were taken: at the socket, behind transfer coding, at `fetch`, or from another tool's file. */
export type CaptureLevel = 'socket' | 'http-data' | 'fetch' | 'imported'
/** `altered`: a redaction changed lengths, so offsets are those of the file, not those of the wire. */
export type BodyForm = 'decoded' | 'encoded' | 'altered'
/** `per-event`: times are of events, not of reads; `none`: times mean nothing. */
export type TimingKind = 'exact' | 'per-event' | 'none'

/** The first line of an exchange: what the bytes and times in it are. */
export interface RecordingHead extends Line {
  readonly t: 'head'
  readonly version: number
  readonly id?: string
  /** Wall clock, RFC 3339, once. */
  readonly created?: string
  readonly by?: string
  readonly level?: CaptureLevel
  /** Default `decoded`. */
  readonly body: BodyForm
  /** With `encoded`: the coding that is still on. */
  readonly contentEncoding?: string
  /** Default `exact`. */
  readonly timing: TimingKind
  readonly provider?: string
  readonly api?: string
}

/** What was sent. */
export interface RecordedRequest extends Line {
  readonly t: 'req'
  readonly atUs: number
  readonly method?: string
  readonly url?: string
  readonly headers: readonly HeaderPair[]
  /** Absent when the body was not recorded; then its length and hash may be known. */
  readonly body?: Uint8Array
  readonly bodyLength?: number
  readonly bodySha256?: string
}

/** The response head. */
export interface RecordedResponse extends Line {
  readonly t: 'res'
  readonly atUs: number
  readonly status: number
  readonly headers: readonly HeaderPair[]
}

/** In order, with original case and duplicates. */
export type HeaderPair = readonly [name: string, value: string]

/** What one read of the network brought. */
export interface RecordedRead extends Line {
  readonly t: 'b'
  readonly atUs: number
  /** Offset of the first byte in the body. */
  readonly offset: number
  readonly bytes: Uint8Array
}

/** `cut`: the framing promised more; `aborted`: by the consumer; `complete`: by the framing, which proves nothing else. */
export const END_KINDS = ['complete', 'cut', 'reset', 'aborted', 'timeout', 'error'] as const
export type EndKind = (typeof END_KINDS)[number]

/** How the body ended, as the recorder saw it. */
export interface RecordingEnd extends Line {
  readonly t: 'end'
  readonly atUs: number
  readonly kind: EndKind
  readonly code?: string
  readonly sha256?: string
}

/** `info`, `conn`, `tr`, `call`, `note`, and whatever is added later: kept whole, keys in `other`. */
export interface OtherLine extends Line {
  readonly t: 'other'
  /** The line's own `t`. */
  readonly type: string
  readonly other: JsonObject
}
