import { createEventStreamParser } from 'streamfold'
import type { PathObservation } from './observe.ts'
import type { SentBlock, SourceRun } from './path-source.ts'
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

/** Arrivals closer than this came together. */
const TOGETHER_MS = 5
/** A delay under this is that of any local hop. */
const NOTEWORTHY_MS = 20
/** Fewer held events than this are a hiccup of a busy machine. */
const FEW = 3

const TELLING_HEADERS = [
  'via',
  'server',
  'x-accel-buffering',
  'content-encoding',
  'transfer-encoding',
  'cf-ray',
  'x-cache',
  'connection',
  'content-type',
]

interface Arrival {
  readonly place: number
  readonly sentMs: number
  readonly atMs: number
  readonly delayMs: number
  /** Bytes that had been sent and not received when this event arrived late. */
  readonly waitedBytes: number
}

/** Holds what arrived against what was sent. Pure: times are those that were measured. */
export function judgePath(
  url: string,
  schedule: PathSchedule,
  run: SourceRun | undefined,
  seen: PathObservation,
): PathDocument {
  const sent = run?.sent ?? []
  const sentEvents = sent.filter(({ kind }) => kind === 'event')
  const received = eventsOf(seen)
  const arrivals = arrivalsOf(sentEvents, received, seen)
  const delayMs = arrivals.length === 0 ? null : Math.min(...arrivals.map((one) => one.delayMs))
  const verdicts: PathVerdict[] = []
  const add = (code: PathVerdictCode, detail: string, value?: number): void => {
    verdicts.push({ code, detail, hint: PATH_VERDICTS[code], ...(value !== undefined && { value: Math.round(value) }) })
  }
  const held = heldEvents(arrivals, delayMs ?? 0, schedule)
  const heldBytes = held.reduce((most, { waitedBytes }) => Math.max(most, waitedBytes), 0)
  const heldMs = arrivals.length === 0 ? null : Math.max(...arrivals.map((one) => one.delayMs)) - (delayMs ?? 0)
  if (run === undefined || seen.status !== 200) {
    const why = run === undefined ? 'the source was not asked' : 'the source was asked'
    add(
      'unreachable',
      `${seen.failure ?? (seen.status === undefined ? 'no response' : `status ${seen.status}`)}; ${why}`,
    )
  } else {
    judgeArrival({ arrivals, held, heldBytes, delayMs, sentEvents, schedule, run, seen, add })
    judgeBody(sent, received, seen, add)
    if (!verdicts.some(({ code }) => code !== 'adds_latency'))
      add('pass_through', `${received.length} events as they were sent`)
  }
  return {
    schema: PATH_SCHEMA,
    url,
    schedule,
    ok: verdicts.every(({ code }) => code === 'pass_through' || code === 'adds_latency'),
    verdicts,
    numbers: {
      status: seen.status ?? null,
      eventsSent: sentEvents.length,
      eventsReceived: received.length,
      reads: seen.networkReads,
      bytesSent: sent.reduce((sum, { bytes }) => sum + bytes.length, 0),
      bytesReceived: seen.body.length,
      delayMs: delayMs === null ? null : rounded(delayMs),
      heldMs: heldMs === null ? null : rounded(heldMs),
      heldBytes,
      end: seen.end,
    },
    headers: Object.fromEntries(Object.entries(seen.headers).filter(([name]) => TELLING_HEADERS.includes(name))),
  }
}

interface ReceivedEvent {
  readonly place: number
  readonly data: string
  readonly hasId: boolean
  readonly endOffset: number
}

function eventsOf({ body }: PathObservation): readonly ReceivedEvent[] {
  const parser = createEventStreamParser({ offsets: true })
  return [...parser.push(body), ...parser.end()].map(({ data, id, endOffset = 0 }) => {
    const place = Number.parseInt(data, 10)
    return { place, data, hasId: id === String(place), endOffset }
  })
}

function arrivalsOf(
  sentEvents: readonly SentBlock[],
  received: readonly ReceivedEvent[],
  { reads }: PathObservation,
): readonly Arrival[] {
  const arrivals: Arrival[] = []
  for (const { place, endOffset } of received) {
    const sent = sentEvents.find((block) => block.place === place)
    const read = reads.find(({ to }) => to >= endOffset)
    if (sent === undefined || read === undefined) continue
    const waiting = sentEvents.filter((block) => block.place >= place && block.sentMs < read.atMs - TOGETHER_MS)
    arrivals.push({
      place,
      sentMs: sent.sentMs,
      atMs: read.atMs,
      delayMs: Math.max(0, read.atMs - sent.sentMs),
      waitedBytes: waiting.reduce((sum, { bytes }) => sum + bytes.length, 0),
    })
  }
  return arrivals
}

/** Events that were still on the way when the next one had been sent, and then came together with it. */
function heldEvents(arrivals: readonly Arrival[], delayMs: number, { intervalMs }: PathSchedule): readonly Arrival[] {
  const late = Math.max(0.75 * intervalMs, NOTEWORTHY_MS)
  return arrivals.filter((arrival, i) => {
    const next = arrivals[i + 1]
    const together = next === undefined ? false : next.atMs - arrival.atMs < TOGETHER_MS
    return arrival.delayMs - delayMs > late && together
  })
}

interface ArrivalFacts {
  readonly arrivals: readonly Arrival[]
  readonly held: readonly Arrival[]
  readonly heldBytes: number
  readonly delayMs: number | null
  readonly sentEvents: readonly SentBlock[]
  readonly schedule: PathSchedule
  readonly run: SourceRun
  readonly seen: PathObservation
  readonly add: (code: PathVerdictCode, detail: string, value?: number) => void
}

function judgeArrival({
  arrivals,
  held,
  heldBytes,
  delayMs,
  sentEvents,
  schedule,
  run,
  seen,
  add,
}: ArrivalFacts): void {
  const lastSentMs = sentEvents.at(-1)?.sentMs ?? 0
  const first = arrivals[0]
  // Before the silence: a hop that ends the stream in it flushes what it holds.
  const flushedByEnd = run.brokenMs === undefined ? lastSentMs : run.brokenMs - NOTEWORTHY_MS
  if (first !== undefined && sentEvents.length > 1 && first.atMs >= flushedByEnd) {
    add(
      'buffers_until_end',
      `the first event was sent at ${secondsSince(first.sentMs, run)} and came at ${secondsSince(first.atMs, run)}, with the last`,
    )
  } else if (held.length >= FEW) {
    const beat = beatOf(arrivals)
    if (beat === undefined)
      add('buffers_bytes', `holds back about ${heldBytes} bytes, for up to ${rounded(maxDelay(held))} ms`, heldBytes)
    else add('coalesces', `events come together about every ${Math.round(beat)} ms`, beat)
  }
  if (delayMs !== null && delayMs >= NOTEWORTHY_MS && held.length < FEW) {
    add('adds_latency', `${rounded(delayMs)} ms`, delayMs)
  }
  const allSent = sentEvents.length === schedule.events + 1 && seen.end === 'complete'
  if (allSent) return
  const silent = sentEvents.length >= schedule.events
  const endedMs = run.brokenMs ?? seen.endMs
  const afterMs = endedMs - lastSentMs
  if (silent && (run.brokenMs !== undefined || seen.end !== 'complete')) {
    add(
      'cuts_idle',
      `after ${(afterMs / 1000).toFixed(1)} s of silence${seen.end === 'complete' ? ', with a clean end' : ''}`,
      afterMs,
    )
  } else {
    add(
      'cuts_stream',
      `${(endedMs - run.requestedMs).toFixed(0)} ms after the request, behind event ${sentEvents.length - 1}`,
      endedMs - run.requestedMs,
    )
  }
}

function maxDelay(held: readonly Arrival[]): number {
  return Math.max(...held.map(({ delayMs }) => delayMs))
}

/** The rhythm in which events come, where there is one: several groups, and the same time between them. */
function beatOf(arrivals: readonly Arrival[]): number | undefined {
  const starts: number[] = []
  let last = -Infinity
  // The last event comes after the silence, and has a time of its own.
  for (const { atMs } of arrivals.slice(0, -1)) {
    if (atMs - last >= TOGETHER_MS) starts.push(atMs)
    last = atMs
  }
  const gaps = starts.slice(1).map((start, i) => start - starts[i]!)
  // The first group may have begun at any time of the beat.
  const steady = gaps.slice(1)
  if (steady.length < FEW) return undefined
  const mean = steady.reduce((sum, gap) => sum + gap, 0) / steady.length
  const spread = Math.sqrt(steady.reduce((sum, gap) => sum + (gap - mean) ** 2, 0) / steady.length)
  return spread < 0.25 * mean ? mean : undefined
}

function judgeBody(
  sent: readonly SentBlock[],
  received: readonly ReceivedEvent[],
  seen: PathObservation,
  add: ArrivalFacts['add'],
): void {
  const coding = seen.headers['content-encoding']
  if (coding !== undefined && coding !== 'identity') add('compresses', coding)
  const wanted = Buffer.concat(sent.map(({ bytes }) => bytes))
  if (wanted.equals(seen.body)) return
  let told = false
  const tell: ArrivalFacts['add'] = (...verdict) => {
    told = true
    add(...verdict)
  }
  const last = received.at(-1)?.place ?? -1
  const due = sent.filter(({ place }) => place <= last)
  const events = eventsOf({ ...seen, body: Buffer.concat(due.map(({ bytes }) => bytes)) })
  const wrong = events.findIndex(({ data }, i) => received[i]?.data !== data)
  if (wrong >= 0 || received.length > events.length) {
    tell('alters_events', `event ${wrong < 0 ? events.length : wrong} is not the one that was sent`)
  }
  const ids = received.filter(({ hasId }) => !hasId).length
  if (ids > 0) tell('drops_fields', `${ids} of ${received.length} events have lost their id`, ids)
  const comments = commentsIn(seen.body)
  const dueComments = commentsIn(Buffer.concat(due.map(({ bytes }) => bytes)))
  if (comments < dueComments)
    tell('drops_comments', `${dueComments - comments} of ${dueComments}`, dueComments - comments)
  if (comments > dueComments)
    tell('injects_comments', `${comments - dueComments} more than were sent`, comments - dueComments)
  const dueBody = Buffer.concat(due.map(({ bytes }) => bytes))
  const [lineEnds, dueLineEnds] = [lineEndsOf(seen.body), lineEndsOf(dueBody)]
  if (lineEnds !== dueLineEnds) tell('rewrites_line_ends', `sent ${dueLineEnds}, received ${lineEnds}`)
  const isPrefix = wanted.subarray(0, seen.body.length).equals(seen.body)
  if (!told && !isPrefix) tell('reframes', `${wanted.length} bytes became ${seen.body.length}`)
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

function secondsSince(ms: number, { requestedMs }: SourceRun): string {
  return `${((ms - requestedMs) / 1000).toFixed(2)} s`
}

function rounded(ms: number): number {
  return Math.round(ms * 10) / 10
}
