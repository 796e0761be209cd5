import { readFileSync } from 'node:fs'
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
  const { events, report } = JSON.parse(readFileSync(sample.expectedFile, 'utf8')) as Result
  const textAt = (cuts: readonly number[], between?: Between): string => {
    const played = play(sample, cuts, between)
    return JSON.stringify({ ...resultOf(sample, played), snapshot: played.snapshot })
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
