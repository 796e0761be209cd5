import type { ServerSentEvent } from '../src/sse/event.ts'
import type { Framer } from '../src/sse/framer.ts'

/** The body in as many reads as there are cuts, plus one. Cuts may come in any order, repeat (an empty read) and lie behind the end. */
export function cutAt(body: Uint8Array, cuts: readonly number[]): Uint8Array[] {
  const ends = cuts.map((cut) => Math.min(cut, body.length)).toSorted((a, b) => a - b)
  return [...ends, body.length].map((end, at) => body.slice(at === 0 ? 0 : ends[at - 1], end))
}

export function byteByByte(body: Uint8Array): Uint8Array[] {
  return Array.from(body, (_, at) => body.slice(at, at + 1))
}

/** All events of a body. */
export function readAll(framer: Framer, reads: readonly Uint8Array[]): readonly ServerSentEvent[] {
  return [...reads.flatMap((read) => framer.push(read)), ...framer.end()]
}
