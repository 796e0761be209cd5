import { createEventStreamParser } from 'streamfold/sse'
import type { Recording } from 'streamfold/recording'
import { bodyUnits } from '../replay/body-units.ts'
import type { BodyFraming } from '../replay/body-units.ts'

/** One event, or one line of a body of JSON lines. */
export interface ShapeEvent {
  readonly data: string
  readonly event?: string
  readonly id?: string
  readonly retry?: number
  readonly offset: number
  /** When the read came that completed it; microseconds since the request. */
  readonly atUs: number
}

/** What a hop may change in a body without changing what it says, counted. */
export interface BodyShape {
  readonly framing: BodyFraming
  readonly bom: boolean
  readonly crlf: number
  readonly lf: number
  readonly cr: number
  readonly comments: number
  readonly emptyLines: number
  readonly events: readonly ShapeEvent[]
}

/** Takes a recorded body apart. */
export function bodyShape(recording: Pick<Recording, 'reads'>): BodyShape {
  const body = Buffer.concat(recording.reads.map(({ bytes }) => bytes))
  const { framing, units } = bodyUnits(body)
  const bom = body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf
  const counts = countLines(bom ? body.subarray(3) : body)
  if (framing === 'sse') return { framing, bom, ...counts, events: eventsOf(recording) }
  const arrivals = arrivalsOf(recording)
  const events = units.map(({ from, to }) => ({
    data: body.subarray(from, to).toString().trimEnd(),
    offset: from,
    atUs: arrivals(to),
  }))
  return { framing, bom, ...counts, comments: 0, events }
}

function eventsOf({ reads }: Pick<Recording, 'reads'>): readonly ShapeEvent[] {
  const parser = createEventStreamParser({ offsets: true })
  const events: ShapeEvent[] = []
  let lastUs = 0
  for (const { bytes, atUs } of reads) {
    lastUs = atUs
    for (const event of parser.push(bytes)) events.push(shapeEvent(event, atUs))
  }
  for (const event of parser.end()) events.push(shapeEvent(event, lastUs))
  return events
}

type Parsed = ReturnType<ReturnType<typeof createEventStreamParser>['push']>[number]

function shapeEvent({ data, event, id, retry, offset = 0 }: Parsed, atUs: number): ShapeEvent {
  return {
    data,
    ...(event !== undefined && { event }),
    ...(id !== undefined && { id }),
    ...(retry !== undefined && { retry }),
    offset,
    atUs,
  }
}

function arrivalsOf({ reads }: Pick<Recording, 'reads'>): (end: number) => number {
  return (end) => reads.find(({ offset, bytes }) => offset + bytes.length >= end)?.atUs ?? 0
}

function countLines(body: Uint8Array): Pick<BodyShape, 'crlf' | 'lf' | 'cr' | 'comments' | 'emptyLines'> {
  const counts = { crlf: 0, lf: 0, cr: 0, comments: 0, emptyLines: 0 }
  let lineFrom = 0
  for (let at = 0; at < body.length; at++) {
    const byte = body[at]
    if (byte !== 0x0a && byte !== 0x0d) continue
    const both = byte === 0x0d && body[at + 1] === 0x0a
    counts[both ? 'crlf' : byte === 0x0a ? 'lf' : 'cr']++
    if (at === lineFrom) counts.emptyLines++
    else if (body[lineFrom] === 0x3a) counts.comments++
    if (both) at++
    lineFrom = at + 1
  }
  return counts
}
