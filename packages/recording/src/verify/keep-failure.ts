import type { StreamReport } from 'streamfold'
import type { Recording } from 'streamfold/recording'
import { ReplaySyntaxError } from '../replay/replay-syntax-error.ts'
import { fateOf } from './call-promise.ts'
import type { GoldenSample } from './golden-sample.ts'
import { playSample } from './play-sample.ts'

/** What a smaller recording must still show, read off the recording itself. */
const KEPT: Readonly<Record<string, (report: StreamReport) => readonly string[]>> = {
  outcome: ({ outcome }) => [outcome ?? 'open'],
  /** The code of the stream's error. */
  error: ({ error }) => [error?.code ?? 'none'],
  /** The codes of calls that are not released. */
  calls: ({ choices }) => [
    ...new Set(choices.flatMap(({ toolCalls }) => toolCalls.flatMap(({ code }) => (code === null ? [] : [code])))),
  ],
  /** Findings that are warnings or errors. */
  findings: ({ diagnostics }) => diagnostics.filter(({ severity }) => severity !== 'info').map(({ code }) => code),
  /** Outcome, error, and every call with its state and code. */
  all: (report) => [fateOf(report)],
}

export const KEEPABLE: readonly string[] = Object.keys(KEPT)

/**
 * A question for `minimize`: does a candidate still show the same of what is to be kept? Default: outcome, error and calls.
 *
 * @throws ReplaySyntaxError for a name that is not known
 */
export function keepsFailure(
  sample: Pick<GoldenSample, 'api' | 'options' | 'request' | 'kind' | 'recording'>,
  keep: readonly string[] = ['outcome', 'error', 'calls'],
): (candidate: Recording) => boolean {
  const readers = keep.map((name) => {
    const reader = Object.hasOwn(KEPT, name) ? KEPT[name] : undefined
    if (reader === undefined) throw new ReplaySyntaxError(`"${name}" can't be kept; known are ${KEEPABLE.join(', ')}`)
    return reader
  })
  const read = (recording: Recording): readonly (readonly string[])[] => {
    const { full } = playSample(sample, recording)
    return readers.map((reader) => reader(full))
  }
  const wanted = read(sample.recording)
  return (candidate) => {
    const has = read(candidate)
    // A smaller recording may have fewer calls or findings of a kind, as long as each kind is still there.
    return wanted.every(
      (codes, i) => codes.every((code) => has[i]!.includes(code)) && (codes.length > 0 || has[i]!.length === 0),
    )
  }
}
