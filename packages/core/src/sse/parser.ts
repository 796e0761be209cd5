import type { ServerSentEvent } from './event.ts'
import type { Framer, FramerOverflow } from './framer.ts'

export interface EventStreamParserOptions {
  /** Put `offset` and `endOffset` on events. Default false. */
  offsets?: boolean
  /**
   * Largest block in bytes, from the first byte of its first line through the line end of its last line; the blank line
   * does not count. Default 8 MiB, at least 5, at most 256 MiB. A block is given up as soon as it is known to be larger.
   */
  maxEventBytes?: number
  /**
   * What becomes of a block that the body ends in the middle of. `'discard'` (default) is the standard's way; `'flush'`
   * delivers it, if it has a data line, marked `incomplete`. A last line without a line end counts as a line then.
   */
  onEnd?: 'discard' | 'flush'
  /**
   * What becomes of fields that are not the standard's. `'ignore'` (default) only counts them; `'deliver'` puts the first
   * 16 of a block on its event as `fields`, and such a block is an event even without data (its data is `''`).
   */
  unknownFields?: 'ignore' | 'deliver'
}

/**
 * The parser of one `text/event-stream` body.
 *
 * Whatever it tells does not depend on how the body was cut into reads: not the events and their flags, not the offsets,
 * counts and positions.
 */
export interface EventStreamParser extends Framer {
  /**
   * Takes the next bytes, cut anywhere, and gives the events they close. Never throws, whatever the bytes are; nothing
   * comes out after `end` or an `overflow`. The bytes are not kept: the caller may use their memory again.
   */
  push(bytes: Uint8Array): readonly ServerSentEvent[]
  /**
   * The body is over. Gives the unterminated block under `onEnd: 'flush'`; later calls give nothing. `lastEventId` and
   * `retry` stay as they were: they are for reconnecting, and a block that broke off is to be sent again.
   */
  end(): readonly ServerSentEvent[]
  /** The `id` in force since the last closed block, with or without data. `''` after an empty one, absent before any. */
  readonly lastEventId: string | undefined
  /** The last reconnection time sent, in milliseconds. */
  readonly retry: number | undefined
  readonly counts: EventStreamCounts
  /** Set once a block was larger than `maxEventBytes`; the events before it have been given. */
  readonly overflow: EventStreamOverflow | undefined
  readonly invalidUtf8: InvalidUtf8 | undefined
  /** Name of the first unknown field, at most 40 characters of it: what the body is, if it is not an event stream. */
  readonly firstUnknownField: string | undefined
}

/** What a parser has seen so far. */
export interface EventStreamCounts {
  /** Bytes pushed. */
  readonly bytes: number
  readonly events: number
  /** Comment lines. */
  readonly comments: number
  /** Lines whose field name is not one of the standard's four. */
  readonly unknownFields: number
}

/** Where a block turned out to be too large: `offset` is that of its first line, the byte that broke the limit is at `offset + limit`. */
export type EventStreamOverflow = FramerOverflow

/** Byte sequences that were not UTF-8, each replaced by one U+FFFD. */
export interface InvalidUtf8 {
  readonly count: number
  /** Byte offset of the first one. */
  readonly firstOffset: number
}
