import type { PathObservation } from './observe.ts'
import type { PathSchedule } from './schedule.ts'

/** What a path does to a stream. */
export const PATH_VERDICTS = {
  pass_through: 'nothing is held back, and nothing changed',
  unreachable: 'the path does not lead to the source; check what it points at',
  buffers_until_end:
    'no event comes before the source has ended; switch the buffering of responses off (nginx: proxy_buffering off)',
  buffers_bytes: 'events wait until so many bytes have come; switch buffering and compression off',
  coalesces: 'events wait for the next beat of a clock; lower or switch off its interval',
  adds_latency: 'every event comes later by this much',
  cuts_idle: 'a silent stream is cut; raise the idle timeout (nginx: proxy_read_timeout), or send heartbeats',
  cuts_stream: 'the stream is cut although it is not silent; look for a limit on the time or size of a response',
  compresses:
    'the body is compressed on the way; an event may wait in the compressor (send no-transform, or switch it off)',
  rewrites_line_ends: 'line ends are not those that were sent; harmless to a parser that follows the standard',
  drops_comments: 'comments are lost, and with them heartbeats that keep idle connections open',
  injects_comments: 'comments come that were not sent',
  drops_fields: 'id fields are lost, and with them resumption',
  alters_events: 'events are lost, doubled or changed',
  reframes: 'the same events are written down differently',
} as const

export type PathVerdictCode = keyof typeof PATH_VERDICTS

export interface PathVerdict {
  readonly code: PathVerdictCode
  /** With numbers: `holds back 8192 bytes`. */
  readonly detail: string
  readonly hint: string
  /** Bytes, milliseconds or a count, as the detail says. */
  readonly value?: number
}

export const PATH_SCHEMA = 'streamfold/path@1'

export interface PathDocument {
  readonly schema: typeof PATH_SCHEMA
  readonly url: string
  readonly schedule: PathSchedule
  /** Nothing is held back, cut or changed; a constant delay is allowed. */
  readonly ok: boolean
  readonly verdicts: readonly PathVerdict[]
  readonly numbers: {
    readonly status: number | null
    readonly eventsSent: number
    readonly eventsReceived: number
    readonly reads: number
    readonly bytesSent: number
    readonly bytesReceived: number
    /** Smallest delay of an event. */
    readonly delayMs: number | null
    /** Longest that an event was held back beyond that. */
    readonly heldMs: number | null
    readonly heldBytes: number
    readonly end: PathObservation['end']
  }
  /** Headers that hops leave or act on. */
  readonly headers: Readonly<Record<string, string>>
}

/** Takes a verdict down; `value` as the detail says. */
export type AddVerdict = (code: PathVerdictCode, detail: string, value?: number) => void
