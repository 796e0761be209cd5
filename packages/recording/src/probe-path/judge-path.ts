import { counted } from '../counted.ts'
import { arrivalsOf, heldEvents, judgeArrival, rounded } from './judge-arrival.ts'
import { judgeBody } from './judge-body.ts'
import type { PathObservation } from './observe.ts'
import { PATH_SCHEMA, PATH_VERDICTS } from './path-document.ts'
import type { AddVerdict, PathDocument, PathVerdict } from './path-document.ts'
import type { SourceRun } from './path-source.ts'
import { eventsIn } from './received-event.ts'
import type { PathSchedule } from './schedule.ts'

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

/** Holds what arrived against what was sent. Pure: times are those that were measured. */
export function judgePath(
  url: string,
  schedule: PathSchedule,
  run: SourceRun | undefined,
  seen: PathObservation,
): PathDocument {
  const sent = run?.sent ?? []
  const sentEvents = sent.filter(({ kind }) => kind === 'event')
  const received = eventsIn(seen.body)
  const arrivals = arrivalsOf(sentEvents, received, seen)
  const delayMs = arrivals.length === 0 ? null : Math.min(...arrivals.map((one) => one.delayMs))
  const verdicts: PathVerdict[] = []
  const add: AddVerdict = (code, detail, value) => {
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
      add('pass_through', `${counted(received.length, 'event')} as sent`)
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
