import type { StreamSnapshot } from '../../src/accumulate/index.ts'
import { adapterFor } from '../../src/adapters/index.ts'
import type { StreamEvent } from '../../src/chunk/index.ts'
import { createStreamEngine } from '../../src/engine/index.ts'
import type { StreamReport } from '../../src/engine/index.ts'
import { replayInto } from '../../src/recording/index.ts'
import type { RecordedRead } from '../../src/recording/index.ts'
import type { Sample } from './sample.ts'

export interface Played {
  readonly events: readonly StreamEvent[]
  readonly report: StreamReport
  readonly snapshot: StreamSnapshot
}

/** What is pushed between two pieces. */
export type Between = 'nothing' | 'empty-pushes'

/**
 * Plays a sample into a new engine, its reads further cut at these offsets of the body. A cut piece keeps the time of its
 * read, so that nothing but the cuts differs. Everything is played, whatever the engine says of its end.
 */
export function play(sample: Sample, cuts: readonly number[] = [], between: Between = 'nothing'): Played {
  const { api, intent, request, recording } = sample
  const { profile, ...options } = intent.options ?? {}
  const engine = createStreamEngine({ ...options, adapter: adapterFor(api, profile), request })
  const events = replayInto(engine, { ...recording, reads: cutReads(recording.reads, cuts, between) })
  return { events, report: engine.report(), snapshot: engine.snapshot() }
}

const NO_BYTES = new Uint8Array(0)

function cutReads(reads: readonly RecordedRead[], cuts: readonly number[], between: Between): readonly RecordedRead[] {
  if (cuts.length === 0) return reads
  const pieces: RecordedRead[] = []
  let next = 0
  for (const read of reads) {
    const { bytes, offset } = read
    let from = 0
    while (next < cuts.length && cuts[next]! <= offset) next++
    for (; next < cuts.length && cuts[next]! < offset + bytes.length; next++) {
      const to = cuts[next]! - offset
      pieces.push({ ...read, bytes: bytes.subarray(from, to) })
      if (between === 'empty-pushes') pieces.push({ ...read, bytes: NO_BYTES })
      from = to
    }
    pieces.push({ ...read, bytes: bytes.subarray(from) })
    if (between === 'empty-pushes') pieces.push({ ...read, bytes: NO_BYTES })
  }
  return pieces
}
