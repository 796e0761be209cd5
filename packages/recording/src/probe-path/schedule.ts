/** What the reference source sends, and when: known in advance, so that whatever else arrives is the path's doing. */
export interface PathSchedule {
  readonly events: number
  /** Pause between two events. */
  readonly intervalMs: number
  /** Bytes of the data of the events, in turn. */
  readonly sizes: readonly number[]
  /** Silence before the last event; a hop that cuts idle streams shows then. */
  readonly idleMs: number
}

/** 40 events, 100 ms apart, of 20 bytes to 8 kB, then 2 s of silence, then one more: about 6 s. */
export const DEFAULT_SCHEDULE: PathSchedule = {
  events: 40,
  intervalMs: 100,
  sizes: [20, 20, 20, 200, 20, 20, 20, 2000, 20, 20, 20, 8000],
  idleMs: 2000,
}

/** One block that the source sends. */
export interface ScheduledBlock {
  readonly kind: 'event' | 'comment'
  /** Place in the schedule, from 0; comments have places of their own. */
  readonly place: number
  /** After the request. */
  readonly atMs: number
  readonly bytes: Uint8Array
}

/** Every so many events there is a comment; and one event has CRLF in its own line ends, so that a rewrite of either kind shows. */
const COMMENT_EVERY = 8

/** Compresses badly, so that a hop which compresses still has to send something. */
function filler(length: number, seed: number): string {
  let state = (seed * 2654435761) >>> 0
  let text = ''
  while (text.length < length) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    text += state.toString(36)
  }
  return text.slice(0, length)
}

/** The blocks of a schedule. Each event says its place in its data. */
export function blocksOf({ events, intervalMs, sizes, idleMs }: PathSchedule): readonly ScheduledBlock[] {
  const encoder = new TextEncoder()
  const blocks: ScheduledBlock[] = []
  for (let place = 0; place <= events; place++) {
    const isLast = place === events
    const atMs = isLast ? (place - 1) * intervalMs + idleMs : place * intervalMs
    if (place % COMMENT_EVERY === 0 && !isLast) {
      blocks.push({ kind: 'comment', place, atMs, bytes: encoder.encode(`: streamfold ${place}\n\n`) })
    }
    const size = sizes.length === 0 ? 20 : sizes[place % sizes.length]!
    const end = place === 1 ? '\r\n' : '\n'
    const data = `${place} ${filler(size, place + 1)}`
    blocks.push({ kind: 'event', place, atMs, bytes: encoder.encode(`id: ${place}${end}data: ${data}${end}${end}`) })
  }
  return blocks
}
