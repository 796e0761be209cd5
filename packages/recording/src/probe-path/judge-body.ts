import { createEventStreamParser } from 'streamfold'
import { counted } from '../counted.ts'
import type { PathObservation } from './observe.ts'
import type { AddVerdict } from './path-document.ts'
import type { SentBlock } from './path-source.ts'
import { eventsIn } from './received-event.ts'
import type { ReceivedEvent } from './received-event.ts'

/** What came: whole, and as it was written. */
export function judgeBody(
  sent: readonly SentBlock[],
  received: readonly ReceivedEvent[],
  seen: PathObservation,
  add: AddVerdict,
): void {
  const coding = seen.headers['content-encoding']
  if (coding !== undefined && coding !== 'identity') add('compresses', coding)
  const wanted = Buffer.concat(sent.map(({ bytes }) => bytes))
  if (wanted.equals(seen.body)) return
  let told = false
  const tell: AddVerdict = (...verdict) => {
    told = true
    add(...verdict)
  }
  const last = received.at(-1)?.place ?? -1
  const due = Buffer.concat(sent.filter(({ place }) => place <= last).map(({ bytes }) => bytes))
  const events = eventsIn(due)
  const wrong = events.findIndex(({ data }, i) => received[i]?.data !== data)
  if (wrong >= 0 || received.length > events.length) {
    tell('alters_events', `event ${wrong < 0 ? events.length : wrong} is not the one that was sent`)
  }
  const ids = received.filter(({ hasId }) => !hasId).length
  if (ids > 0) tell('drops_fields', `${ids} of ${counted(received.length, 'event')} without the id that was sent`, ids)
  const comments = commentsIn(seen.body)
  const dueComments = commentsIn(due)
  if (comments < dueComments)
    tell('drops_comments', `${dueComments - comments} of ${dueComments}`, dueComments - comments)
  if (comments > dueComments)
    tell('injects_comments', `${comments - dueComments} more than were sent`, comments - dueComments)
  const [lineEnds, dueLineEnds] = [lineEndsOf(seen.body), lineEndsOf(due)]
  if (lineEnds !== dueLineEnds) tell('rewrites_line_ends', `sent ${dueLineEnds}, received ${lineEnds}`)
  const isPrefix = wanted.subarray(0, seen.body.length).equals(seen.body)
  if (!told && !isPrefix) tell('reframes', `${counted(wanted.length, 'byte')} became ${seen.body.length}`)
}

function commentsIn(body: Uint8Array): number {
  const parser = createEventStreamParser()
  parser.push(body)
  return parser.counts.comments
}

/** The kinds of line ends in a body: `LF and CRLF`. */
function lineEndsOf(body: Uint8Array): string {
  const text = Buffer.from(body).toString('latin1')
  const kinds = new Set(text.match(/\r\n|\r|\n/g) ?? [])
  const names = [
    ['\n', 'LF'],
    ['\r\n', 'CRLF'],
    ['\r', 'CR'],
  ] as const
  return names.flatMap(([end, name]) => (kinds.has(end) ? [name] : [])).join(' and ') || 'none'
}
