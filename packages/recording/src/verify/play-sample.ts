import { adapterFor, createStreamEngine } from 'streamfold'
import type { StreamReport, StreamSnapshot } from 'streamfold'
import { replayInto } from 'streamfold/recording'
import type { RecordedRead, Recording } from 'streamfold/recording'
import { mergeDeltas } from './expected-file.ts'
import type { GoldenResult } from './expected-file.ts'
import type { GoldenSample } from './golden-sample.ts'

export interface PlayedSample extends GoldenResult {
  readonly snapshot: StreamSnapshot
  /** The whole report, with its times. */
  readonly full: StreamReport
}

/** Plays a recording as this sample is to be played, its reads further cut at these offsets of the body, ascending. */
export function playSample(
  sample: Pick<GoldenSample, 'api' | 'options' | 'request' | 'kind'>,
  recording: Recording,
  cuts: readonly number[] = [],
): PlayedSample {
  const { profile, ...options } = sample.options
  const engine = createStreamEngine({ ...options, adapter: adapterFor(sample.api, profile), request: sample.request })
  const events = replayInto(
    engine,
    cuts.length === 0 ? recording : { ...recording, reads: cutReads(recording.reads, cuts) },
  )
  const full = engine.report()
  const { source: _, timing, ...rest } = full
  const report = sample.kind === 'recording' ? { ...rest, timing } : rest
  return { events: mergeDeltas(events), report, snapshot: engine.snapshot(), full }
}

/** A piece keeps the time of its read, so that nothing but the cuts differs. */
function cutReads(reads: readonly RecordedRead[], cuts: readonly number[]): readonly RecordedRead[] {
  const pieces: RecordedRead[] = []
  let next = 0
  for (const read of reads) {
    const { bytes, offset } = read
    let from = 0
    while (next < cuts.length && cuts[next]! <= offset) next++
    for (; next < cuts.length && cuts[next]! < offset + bytes.length; next++) {
      const to = cuts[next]! - offset
      pieces.push({ ...read, bytes: bytes.subarray(from, to) })
      from = to
    }
    pieces.push({ ...read, bytes: bytes.subarray(from) })
  }
  return pieces
}
