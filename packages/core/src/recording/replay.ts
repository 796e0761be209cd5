import type { StreamEvent } from '../chunk/stream-event.ts'
import type { EndCause, StreamEngine } from '../engine/stream-engine.ts'
import type { EndKind, Recording } from './recording.ts'
import { RecordingError } from './recording-error.ts'

/** What a recording is played into: an engine, or what notes down what one would hear. Times are milliseconds since the request. */
export type ReplayTarget = Pick<StreamEngine, 'start' | 'response' | 'push' | 'end'>

const CAUSES: Readonly<Record<EndKind, EndCause>> = {
  complete: 'eof',
  cut: 'cut',
  reset: 'reset',
  aborted: 'aborted',
  timeout: 'timeout',
  error: 'error',
}

/**
 * Plays a recording into an engine as it happened: the request at 0 ms, then head, reads and end at their times. No timer of
 * the engine fires in between: a recording ends as its end line says, and one without an end line was cut. Reads after the
 * engine's own end are played too, as evidence of what came.
 *
 * A recording whose times mean nothing is played without a clock.
 *
 * @throws RecordingError `body_encoded` for a body that still has its content coding on
 */
export function replayInto(target: ReplayTarget, recording: Recording): readonly StreamEvent[] {
  const { head, response, reads, end } = recording
  if (head.body === 'encoded') {
    const coding = head.contentEncoding ?? 'a content coding'
    throw new RecordingError(
      'body_encoded',
      head.line,
      `the body is recorded with ${coding} on; decode it before it is played`,
    )
  }
  const timed = head.timing !== 'none'
  const at = (atUs: number): number | undefined => (timed ? atUs / 1000 : undefined)
  if (timed) target.start(0)
  if (response !== undefined) {
    target.response({ status: response.status, headers: response.headers }, at(response.atUs), wallClock(recording))
  }
  const events: StreamEvent[] = []
  for (const { bytes, atUs } of reads) append(events, target.push(bytes, at(atUs)))
  const endedAtUs = end?.atUs ?? reads.at(-1)?.atUs ?? response?.atUs ?? 0
  append(events, target.end(end === undefined ? 'cut' : CAUSES[end.kind], at(endedAtUs)))
  return events
}

/** The time of day when the response head came, which makes a `Retry-After` date readable. */
function wallClock({ head, response }: Recording): number | undefined {
  const created = head.created === undefined ? NaN : Date.parse(head.created)
  return Number.isNaN(created) ? undefined : created + (response?.atUs ?? 0) / 1000
}

function append(all: StreamEvent[], some: readonly StreamEvent[]): void {
  for (const event of some) all.push(event)
}
