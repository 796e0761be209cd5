import { readFileSync } from 'node:fs'
import type { StreamReport } from '../../src/engine/index.ts'
import { resultOf } from './expected.ts'
import type { Result } from './expected.ts'
import { play } from './play.ts'
import type { Between } from './play.ts'
import type { Sample } from './sample.ts'

/** What a sample must come to however its body is cut: its expected file, and the snapshot of the sample played whole. */
export interface GoldenResult {
  readonly expected: unknown
  /** What came of it with these cuts. */
  at(cuts: readonly number[], between?: Between): unknown
  /** The same as `at` being equal to `expected`, and fast enough to be asked a hundred thousand times. */
  holds(cuts: readonly number[], between?: Between): boolean
}

export function goldenResultOf(sample: Sample): GoldenResult {
  const { events, report } = withoutReads(JSON.parse(readFileSync(sample.expectedFile, 'utf8')) as Result)
  const textAt = (cuts: readonly number[], between?: Between): string => {
    const played = play(sample, cuts, between)
    return JSON.stringify({ ...withoutReads(resultOf(sample, played)), snapshot: played.snapshot })
  }
  const snapshot: unknown = JSON.parse(JSON.stringify(play(sample).snapshot))
  const expected = { events, report, snapshot }
  const expectedText = JSON.stringify(expected)
  return {
    expected,
    at: (cuts, between) => JSON.parse(textAt(cuts, between)) as unknown,
    holds: (cuts, between) => textAt(cuts, between) === expectedText,
  }
}

/** Figures that count reads are those of the reads, not of the body: a cut makes two of one. */
function withoutReads({ events, report }: Result): Result {
  if (report.timing === undefined) return { events, report }
  const { gapP50Ms: _half, gapP95Ms: _most, eventsPerRead: _each, ...timing } = report.timing
  return { events, report: { ...report, timing: timing as StreamReport['timing'] } }
}
