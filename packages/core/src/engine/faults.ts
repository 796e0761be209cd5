import type { DetectedApi } from '../adapters/detect.ts'
import type { FaultCode, Retryable, StreamFault } from '../chunk/fault.ts'
import { clip } from '../json/clip.ts'
import type { TimeoutCode } from './deadlines.ts'
import type { EndCause } from './stream-engine.ts'

/** The faults that the engine itself finds, worded: what happened, and what to do next. */

/** Faults after which the answer is cut off rather than wrong. */
const INCOMPLETE_CODES: ReadonlySet<FaultCode> = new Set([
  'incomplete_stream',
  'missing_finish_reason',
  'connect_timeout',
  'first_byte_timeout',
  'idle_timeout',
  'progress_timeout',
  'total_timeout',
])

export function outcomeOfFault(code: FaultCode): 'cancelled' | 'incomplete' | 'failed' {
  if (code === 'cancelled') return 'cancelled'
  return INCOMPLETE_CODES.has(code) ? 'incomplete' : 'failed'
}

export function cancelled(): StreamFault {
  return {
    code: 'cancelled',
    phase: 'delta',
    retryable: 'no',
    message: 'the consumer cancelled the stream; no call of it is run',
  }
}

export function notConnected(detail: string | undefined): StreamFault {
  return {
    code: 'connect_failed',
    phase: 'connect',
    retryable: 'yes',
    message: `no answer came: the connection failed before a response head${said(detail)}; check the address, the port and the network`,
  }
}

export function wrongApi(api: string, detected: DetectedApi): StreamFault {
  const sure = detected.confidence === 'certain' ? 'is' : 'looks like'
  return {
    code: 'wrong_api',
    phase: 'delta',
    retryable: 'no',
    message: `nothing in this body means anything as ${api}: it ${sure} ${detected.api} (${detected.evidence}); read it as ${detected.api}`,
  }
}

export function eventTooLong(event: number, offset: number, limit: number): StreamFault {
  return {
    code: 'event_limit_exceeded',
    phase: 'framing',
    retryable: 'no',
    event,
    offset,
    message: `an event is longer than ${limit} bytes; raise limits.eventBytes if such events are expected`,
  }
}

export function streamTooLong(limit: number): StreamFault {
  return {
    code: 'stream_limit_exceeded',
    phase: 'framing',
    retryable: 'no',
    offset: limit,
    message: `the body is longer than ${limit} bytes; raise limits.streamBytes if such answers are expected`,
  }
}

export function corruptFraming(offset: number, what: string, cut: boolean, retryable: Retryable): StreamFault {
  return {
    code: cut ? 'incomplete_stream' : 'protocol_conflict',
    phase: 'framing',
    retryable,
    offset,
    message: cut
      ? `${what}: it was cut; run none of its calls and ask again`
      : `${what}; a hop changed the body: compare it with what the upstream sent`,
  }
}

export function plainTextBody(): StreamFault {
  return {
    code: 'not_event_stream',
    phase: 'framing',
    retryable: 'yes',
    offset: 0,
    message: 'the body holds no event: it is plain text, not an event stream; check the URL and what answers there',
  }
}

export function emptyBody(bytes: number): StreamFault {
  const sent = bytes === 0 ? 'an empty body' : 'no content, no call and no finish reason'
  return {
    code: 'empty_stream',
    phase: 'event',
    retryable: 'yes',
    message: `the server answered well but sent ${sent}; try again`,
  }
}

export function unreadableEvent(event: number, why: string, retryable: Retryable): StreamFault {
  return {
    code: 'invalid_event_json',
    phase: 'event',
    retryable,
    message: `event ${event} can't be read: ${why}`,
  }
}

export function timedOut(code: TimeoutCode, retryable: Retryable): StreamFault {
  return { code, phase: TIMERS[code].phase, retryable, message: TIMERS[code].message }
}

/** The strict policy does not take a terminal signal for a finish reason. */
export function noFinishReason(retryable: Retryable): StreamFault {
  return {
    code: 'missing_finish_reason',
    phase: 'event',
    retryable,
    message: 'the terminal signal came without any finish reason, which the strict policy does not accept; ask again',
  }
}

export interface WhereItEnded {
  readonly cause: EndCause
  /** What the transport says of it. */
  readonly detail: string | undefined
  readonly events: number
  /** Length of the body. */
  readonly bytes: number
  readonly retryable: Retryable
  /** The finish reason of the choice that makes the stream incomplete, if it had one. */
  readonly finishRaw: string | null | undefined
  readonly abortedByProvider: boolean
}

export function incomplete(where: WhereItEnded): StreamFault {
  const place = `after event ${where.events}, byte ${where.bytes}`
  const missing = where.finishRaw === undefined ? 'a finish reason' : 'its terminal signal'
  return {
    code: 'incomplete_stream',
    phase: where.abortedByProvider ? 'delta' : 'event',
    retryable: where.retryable,
    offset: where.bytes,
    ...(where.events > 0 && { event: where.events }),
    message: where.abortedByProvider
      ? `the provider aborted the answer (finish_reason "${clip(where.finishRaw ?? '', 80)}") ${place}; ask again`
      : `${ENDINGS[where.cause]}${said(where.detail)} ${place} without ${missing}; what was received is kept, ask again`,
  }
}

function said(detail: string | undefined): string {
  return detail === undefined ? '' : ` (${detail})`
}

const ENDINGS: Readonly<Record<EndCause, string>> = {
  eof: 'the body ended',
  cut: 'the body was cut',
  reset: 'the connection was reset',
  aborted: 'the stream was cancelled',
  timeout: 'a timer ended the stream',
  error: 'the transport failed',
}

const REASONING_HINT = 'for a model that thinks for minutes use the preset timeouts: "reasoning"'

const TIMERS: Readonly<Record<TimeoutCode, { readonly phase: StreamFault['phase']; readonly message: string }>> = {
  connect_timeout: {
    phase: 'connect',
    message:
      'no connection and no response head in time; check the address. Where fetch does not show the connection, this timer runs to the head: for a model that is slow to answer raise timeouts.connectMs, or use the fetch of streamfold/node',
  },
  first_byte_timeout: {
    phase: 'headers',
    message: `the server was reached, but no byte of an answer came in time; raise timeouts.firstByteMs (${REASONING_HINT})`,
  },
  idle_timeout: {
    phase: 'framing',
    message: `the stream went silent in the middle; raise timeouts.idleMs if that is expected (${REASONING_HINT})`,
  },
  progress_timeout: {
    phase: 'delta',
    message: `only heartbeats came for too long; raise timeouts.progressMs if that is expected (${REASONING_HINT})`,
  },
  total_timeout: { phase: 'delta', message: 'the whole answer took longer than timeouts.totalMs' },
}
