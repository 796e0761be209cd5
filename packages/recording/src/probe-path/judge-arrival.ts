import { counted } from '../counted.ts'
import type { PathObservation } from './observe.ts'
import type { AddVerdict } from './path-document.ts'
import type { SentBlock, SourceRun } from './path-source.ts'
import type { ReceivedEvent } from './received-event.ts'
import type { PathSchedule } from './schedule.ts'

/** Arrivals closer than this came together. */
const TOGETHER_MS = 5
/** A delay under this is that of any local hop. */
const NOTEWORTHY_MS = 20
/** Fewer held events than this are a hiccup of a busy machine. */
const FEW = 3

/** An event that was sent, and came. */
export interface Arrival {
  readonly place: number
  readonly sentMs: number
  readonly atMs: number
  readonly delayMs: number
  /** Bytes that had been sent and not received when this event arrived late. */
  readonly waitedBytes: number
}

export function arrivalsOf(
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
export function heldEvents(
  arrivals: readonly Arrival[],
  delayMs: number,
  { intervalMs }: PathSchedule,
): readonly Arrival[] {
  const late = Math.max(0.75 * intervalMs, NOTEWORTHY_MS)
  return arrivals.filter((arrival, i) => {
    const next = arrivals[i + 1]
    const together = next === undefined ? false : next.atMs - arrival.atMs < TOGETHER_MS
    return arrival.delayMs - delayMs > late && together
  })
}

export interface ArrivalFacts {
  readonly arrivals: readonly Arrival[]
  readonly held: readonly Arrival[]
  readonly heldBytes: number
  readonly delayMs: number | null
  readonly sentEvents: readonly SentBlock[]
  readonly schedule: PathSchedule
  readonly run: SourceRun
  readonly seen: PathObservation
  readonly add: AddVerdict
}

/** When events came: held back, late, or cut off. */
export function judgeArrival({
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
      add(
        'buffers_bytes',
        `holds back about ${counted(heldBytes, 'byte')}, for up to ${rounded(maxDelay(held))} ms`,
        heldBytes,
      )
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

function secondsSince(ms: number, { requestedMs }: SourceRun): string {
  return `${((ms - requestedMs) / 1000).toFixed(2)} s`
}

/** To a tenth of a millisecond. */
export function rounded(ms: number): number {
  return Math.round(ms * 10) / 10
}
