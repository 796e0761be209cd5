import type { StreamSnapshot } from '../accumulate/snapshot.ts'
import type { StreamAdapter } from '../adapters/adapter.ts'
import type { StreamChunk } from '../chunk/chunk.ts'
import type { StreamLimits } from '../chunk/limits.ts'
import type { RequestFacts } from '../chunk/request-facts.ts'
import type { StreamEvent } from '../chunk/stream-event.ts'
import type { CallSnapshot } from '../tool-call/record.ts'
import type { Deadline, Timeouts } from './deadlines.ts'
import type { Policy } from './outcome.ts'
import type { ReportSource, StreamReport } from './report.ts'
import type { ResponseHead } from './response-head.ts'

/** How the transport ended: `eof` cleanly; `cut` although its framing promised more; `aborted` by the consumer. */
export type EndCause = 'eof' | 'cut' | 'reset' | 'aborted' | 'timeout' | 'error'

export interface StreamEngineOptions {
  readonly adapter: StreamAdapter
  /** What is known of the request; arms the checks that need it. */
  readonly request?: RequestFacts
  readonly limits?: Partial<StreamLimits>
  /** `'reasoning'` is the preset for models that think for minutes before they speak: {@link REASONING_TIMEOUTS}. */
  readonly timeouts?: Partial<Timeouts> | 'reasoning'
  /** Default `compat`. */
  readonly policy?: Policy
  /** `all` (default): one call that is not ready holds its siblings. */
  readonly batch?: 'all' | 'each'
  /** Track byte offsets of events for findings. Default true. */
  readonly offsets?: boolean
  /** Number of this attempt, from 1. */
  readonly attempt?: number
  readonly requestId?: string
  readonly route?: string
  /** Seed of minted call ids; give each run its own. Default ''. */
  readonly idSeed?: string
  /** Sees every chunk before the events that it leads to are given out; for a shell that writes the response in another form. */
  readonly onChunk?: (chunk: StreamChunk) => void
}

/**
 * The protocol engine of one response. Bytes and clock readings go in, events come out; it does no I/O and owns no timer.
 * `push` and `end` never throw on what the wire sends, only on arguments of another type. Exactly one of `stream_completed` and `stream_error` ends the events.
 *
 * Clock readings are milliseconds of any monotonic clock, the same for all calls; leave them out and nothing is timed.
 */
export interface StreamEngine {
  /**
   * The request is on its way.
   *
   * @throws TypeError when it was started before: an engine reads one response
   */
  start(atMs: number): void
  /** A connection carries the request; only for a shell that can see it. From then on it is the answer that is waited for. */
  connected(atMs: number): void
  /** The response head is here. `nowMs` (since 1970) makes a `Retry-After` date readable. */
  response(head: ResponseHead, atMs?: number, nowMs?: number): void
  /** @throws TypeError for what is no `Uint8Array`: a string, a Response */
  push(bytes: Uint8Array, atMs?: number): readonly StreamEvent[]
  /**
   * The transport ended. For `timeout` the deadline that had passed names the code. `detail` is what the transport says of it
   * (`ECONNREFUSED`) and goes into the message.
   *
   * @throws TypeError for a cause that is none
   */
  end(cause: EndCause, atMs?: number, detail?: string): readonly StreamEvent[]
  /** Which timer fires next; undefined after the end or without a clock. */
  deadline(): Deadline | undefined
  /** The terminal event was given out: stop reading. */
  readonly ended: boolean
  /** Output was given out: from here on a retry would repeat it. */
  readonly committed: boolean
  snapshot(): StreamSnapshot
  /** Calls of a choice (default 0) with their states. */
  calls(choice?: number): readonly CallSnapshot[]
  report(source?: ReportSource): StreamReport
}
