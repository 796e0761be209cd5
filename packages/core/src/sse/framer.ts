import type { ServerSentEvent } from './event.ts'

/** Bytes of one body → events. All framings are read through this, whatever stands between the events. */
export interface Framer {
  /** Takes the next bytes, cut anywhere, and gives the events they close. Never throws; the bytes are not kept. */
  push(bytes: Uint8Array): readonly ServerSentEvent[]
  /** The body is over: gives what it ended in the middle of, marked `incomplete`, where the framing delivers that. */
  end(): readonly ServerSentEvent[]
  /** Set once an event was larger than allowed; from then on nothing comes out. */
  readonly overflow: FramerOverflow | undefined
}

/** Where an event turned out to be too large, in bytes of the body. */
export interface FramerOverflow {
  /** Byte offset of the event's beginning. */
  readonly offset: number
  /** The limit in bytes. */
  readonly limit: number
}

export interface FramerOptions {
  /** Largest event, in bytes. Default 8 MiB. */
  readonly maxEventBytes?: number
  /** Byte offset in the body of the first byte pushed. Default 0. */
  readonly baseOffset?: number
}

export const DEFAULT_MAX_EVENT_BYTES: number = 8 * 1024 * 1024
