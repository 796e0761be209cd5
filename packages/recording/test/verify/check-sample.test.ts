import type { StreamReport } from 'streamfold'
import { describe, expect, test } from 'vitest'
import { parseRecordings } from '../../src/file/recording-file.ts'
import { parseFaults } from '../../src/faults/fault-spec.ts'
import { checkSample } from '../../src/verify/check-sample.ts'
import type { SampleFailure } from '../../src/verify/check-sample.ts'
import { brokenPromise } from '../../src/verify/call-promise.ts'
import { readSample } from '../../src/verify/golden-sample.ts'
import { playSample } from '../../src/verify/play-sample.ts'
import { failingStream, saveFailures } from '../../src/verify/save-failure.ts'
import { cutsOf, parseVerifyPlans } from '../../src/verify/verify-plan.ts'
import { bytesOf, TWO_CALLS } from '../wire.ts'
import { temporaryFolder } from './temporary-folder.ts'

function reportOf(body: string): StreamReport {
  const sample = readSample(temporaryFolder().write('x.sse', body))
  return playSample(sample, sample.recording).full
}

const GOOD = reportOf(TWO_CALLS)
const NONE = reportOf(TWO_CALLS.slice(0, 500))
const OTHER = reportOf(TWO_CALLS.replace('1}', '7}'))
const FEWER = reportOf(
  TWO_CALLS.split('\n\n')
    .filter((event) => !event.includes('"index":1'))
    .join('\n\n'),
)
const LESS_TEXT = reportOf(TWO_CALLS.replace('So: ', ''))

describe('the promise about calls sees', () => {
  test.each<{ name: string; under: StreamReport; promise: 'same' | 'same-or-none'; broken: RegExp | undefined }>([
    { name: 'the same calls', under: GOOD, promise: 'same', broken: undefined },
    { name: 'the same calls, where none would do', under: GOOD, promise: 'same-or-none', broken: undefined },
    { name: 'no calls', under: NONE, promise: 'same-or-none', broken: undefined },
    { name: 'no calls where nothing is lost', under: NONE, promise: 'same', broken: /loses nothing/ },
    { name: 'another argument', under: OTHER, promise: 'same-or-none', broken: /other calls/ },
    { name: 'one call of two', under: FEWER, promise: 'same-or-none', broken: /other calls/ },
    { name: 'another text, which is no call', under: LESS_TEXT, promise: 'same-or-none', broken: undefined },
    { name: 'another text where nothing is lost', under: LESS_TEXT, promise: 'same', broken: /loses nothing/ },
  ])('$name', ({ under, promise, broken }) => {
    expect(brokenPromise(GOOD, under, promise, 'all')?.message ?? 'kept').toMatch(broken ?? /^kept$/)
  })

  test('with calls released one by one, some may be missing, and none may be another', () => {
    expect(brokenPromise(GOOD, FEWER, 'same-or-none', 'each')).toBeUndefined()
    expect(brokenPromise(GOOD, OTHER, 'same-or-none', 'each')).toBeDefined()
  })

  test('calls where there were none', () => {
    expect(brokenPromise(NONE, GOOD, 'same-or-none', 'all')).toBeDefined()
    // The stream speaks against its calls, and the fault may take that away.
    expect(brokenPromise(NONE, GOOD, 'same-or-unproven', 'all')).toBeUndefined()
    expect(brokenPromise(GOOD, OTHER, 'same-or-unproven', 'all')).toBeDefined()
  })
})

function texts(plans: string, length: number): readonly string[] {
  return [...cutsOf(parseVerifyPlans(plans), bytesOf('x'.repeat(length)))].map(({ text }) => text)
}

describe('plans of a verification', () => {
  test('each names a plan that a replay understands', () => {
    expect(texts('every-byte', 4)).toEqual(['at:1', 'at:2', 'at:3'])
    expect(texts('random:3', 9)).toEqual(['random:1', 'random:2', 'random:3'])
    expect(texts('random:7..8,size:4,at:1/3', 9)).toEqual(['random:7', 'random:8', 'size:4', 'at:1,3'])
  })

  test('a large body is cut around the ends of its lines, and every so often', () => {
    const body = bytesOf(`${'x'.repeat(5000)}\n\n${'y'.repeat(100)}`)
    const offsets = [...cutsOf(parseVerifyPlans('every-byte'), body)].map(({ cuts }) => cuts[0]!)
    for (let offset = 4995; offset < 5008; offset++) expect(offsets).toContain(offset)
    expect(offsets.length).toBeLessThan(500)
  })
})

function check(play: typeof playSample, faults = ''): readonly SampleFailure[] {
  const sample = readSample(temporaryFolder().write('x.sse', TWO_CALLS))
  const options = { plans: parseVerifyPlans('every-byte'), faults: faults === '' ? [] : [parseFaults(faults)] }
  return checkSample(sample, options, play).failures
}

describe('a reader that is wrong is found', () => {
  const wrong = reportOf(TWO_CALLS.replace('1}', '7}'))

  test('when one cut makes a difference', () => {
    const failures = check((sample, recording, cuts) => {
      const played = playSample(sample, recording, cuts)
      return cuts?.[0] === 77 ? { ...played, report: { ...played.report, outcome: 'degraded' } } : played
    })
    expect(failures).toEqual([
      {
        kind: 'cut',
        plan: 'at:77',
        message: 'cut like this the stream comes to something else',
        difference: { path: 'report.outcome', expected: 'completed', actual: 'degraded' },
      },
    ])
  })

  test('when all of them do, with a few examples', () => {
    const failures = check((sample, recording, cuts) => {
      const played = playSample(sample, recording, cuts)
      return cuts === undefined ? played : { ...played, events: [] }
    })
    expect(failures.map(({ plan }) => plan)).toEqual(['at:1', 'at:2', 'at:3', 'at:4', 'at:5'])
  })

  test('when it runs other calls under a fault', () => {
    const failures = check((sample, recording, cuts) => {
      const played = playSample(sample, recording, cuts)
      return recording.end?.kind === 'reset' ? { ...played, full: wrong } : played
    }, 'cut:rst@100%')
    expect(failures.map(({ kind, fault, message }) => [kind, fault, message])).toEqual([
      ['fault', 'cut:rst@100%', 'other calls may be run than without the fault'],
    ])
  })

  test('when it fails with another code than the one there is for it', () => {
    const failures = check((sample, recording, cuts) => {
      const played = playSample(sample, recording, cuts)
      return recording.response?.status === 429 ? { ...played, full: { ...played.full, error: null } } : played
    }, 'status:429')
    expect(failures.map(({ difference }) => difference)).toEqual([
      { path: 'error.code', expected: 'rate_limited', actual: null },
    ])
  })
})

describe('a failure is kept', () => {
  test('as the stream it was seen in, which plays the same without the plan', () => {
    const folder = temporaryFolder()
    const sample = readSample(folder.write('two.sse', TWO_CALLS))
    const failure = { kind: 'cut', message: 'x', fault: 'crlf', plan: 'at:5,9' } as const
    const [file] = saveFailures(sample, [failure, { kind: 'result', message: 'y' }], `${folder.path}/failing`, 1)
    expect(file).toBe(`${folder.path}/failing/two.sse--crlf--at-5-9.stream.jsonl`.replace('two.sse', 'two'))
    const [kept] = parseRecordings(bytesOf(folder.read('failing/two--crlf--at-5-9.stream.jsonl')))
    expect(kept!.reads.map(({ bytes }) => bytes.length).slice(0, 2)).toEqual([5, 4])
    expect(kept!.head).toMatchObject({ api: 'chat_completions', other: { madeBy: 'verify crlf at:5,9' } })
    expect(new TextDecoder().decode(kept!.reads[1]!.bytes)).toHaveLength(4)
    expect(failingStream(sample, { fault: 'cut:fin@8' }, 1).reads.map(({ bytes }) => bytes.length)).toEqual([8])
    // And it is a sample by itself.
    expect(readSample(file!).kind).toBe('recording')
  })
})
