import type { Recording } from 'streamfold/recording'
import { applyFaults } from '../faults/apply-faults.ts'
import { faultNamed } from '../faults/catalogue.ts'
import type { CallPromise } from '../faults/fault-definition.ts'
import { faultText } from '../faults/fault-spec.ts'
import type { FaultSpec } from '../faults/fault-spec.ts'
import { bodyOf, recordingOfScript, scriptOf } from '../replay/replay-script.ts'
import { brokenPromise, fateOf } from './call-promise.ts'
import { firstDifference } from './difference.ts'
import type { Difference } from './difference.ts'
import type { GoldenSample } from './golden-sample.ts'
import { playSample } from './play-sample.ts'
import type { PlayedSample } from './play-sample.ts'
import { cutsOf } from './verify-plan.ts'
import type { VerifyPlan } from './verify-plan.ts'

export interface CheckOptions {
  readonly plans: readonly VerifyPlan[]
  readonly faults: readonly (readonly FaultSpec[])[]
  /** For faults with a probability. Default 1. */
  readonly seed?: number
  /** What is known to become of this sample under faults, by the text of the fault plan. */
  readonly fates?: Readonly<Record<string, string>>
}

export interface SampleFailure {
  /**
   * `result`: not what the expected file says. `cut`: another result when the body is cut differently. `fault`: a promise about
   * calls is broken, or the code is another one. `fate`: not what was accepted for this fault.
   */
  readonly kind: 'result' | 'cut' | 'fault' | 'fate'
  readonly message: string
  /** A cut plan that a replay understands. */
  readonly plan?: string
  /** A fault plan that a replay understands. */
  readonly fault?: string
  readonly difference?: Difference
}

export interface SampleResult {
  readonly name: string
  readonly file: string
  /** Times that the sample was played and compared. */
  readonly checks: number
  readonly failures: readonly SampleFailure[]
  /** No expected file yet: only cuts and faults were compared. */
  readonly unexpected: boolean
  /** Fault plans that have no place in this stream, with the reason. */
  readonly missed: readonly string[]
  /** Fault plans without a trace on the wire under which other calls may be run: nothing that a reader could prevent. */
  readonly untold: readonly string[]
  /** What became of the sample under each fault plan. */
  readonly fates: Readonly<Record<string, string>>
  /** What the sample came to without cuts and faults; what `--update` writes. */
  readonly played: Pick<PlayedSample, 'events' | 'report'>
}

/** Wording is no promise: a result with another message is the same result. */
const NOT_COMPARED: ReadonlySet<string> = new Set(['message', 'hint'])
/** Enough of one kind; the others have the same cause. */
const MOST_FAILURES = 5

/** Plays one sample whole, in every plan, and under every fault in a few plans. `play` is what is under test. */
export function checkSample(sample: GoldenSample, options: CheckOptions, play: Play = playSample): SampleResult {
  const failures: SampleFailure[] = []
  const missed: string[] = []
  const untold: string[] = []
  const fates: Record<string, string> = {}
  const whole = play(sample, sample.recording)
  const { expected } = sample
  const unexpected = expected?.events === undefined || expected.report === undefined
  if (!unexpected) {
    const actual = asJson({ events: whole.events, report: whole.report })
    const wanted = { events: expected.events, report: expected.report }
    const difference = firstDifference(wanted, actual, { except: NOT_COMPARED })
    if (difference !== undefined) failures.push({ kind: 'result', message: changed(difference), difference })
  }
  const subject = { sample, play, failures }
  let checks = 1 + checkCuts(subject, sample.recording, whole, options.plans, undefined)
  for (const specs of options.faults) {
    const text = specs.map(faultText).join('+')
    const faulted = applyFaults(scriptOf(sample.recording), specs, {
      api: sample.api,
      profile: sample.options.profile,
      seed: options.seed,
    })
    if (faulted.missed.length > 0) {
      missed.push(...faulted.missed.map((one) => `${one.text}: ${one.reason}`))
      continue
    }
    const recording = recordingOfScript(faulted.script, sample.recording)
    const under = play(sample, recording)
    checks += 1 + checkCuts(subject, recording, under, FAULT_PLANS, text)
    const broken = brokenPromise(whole.full, under.full, promiseOf(specs), sample.options.batch ?? 'all')
    if (broken !== undefined) {
      if (promiseOf(specs) === 'untold') untold.push(text)
      else failures.push({ kind: 'fault', fault: text, ...broken })
    }
    const code = specs.length === 1 ? faultNamed(specs[0]!.name).code?.(specs[0]!.args) : undefined
    if (code !== undefined && under.full.error?.code !== code) {
      const difference = { path: 'error.code', expected: code, actual: under.full.error?.code ?? null }
      failures.push({ kind: 'fault', fault: text, message: `the fault is one that must fail with ${code}`, difference })
    }
    const fate = fateOf(under.full)
    fates[text] = fate
    const known = options.fates?.[text]
    if (known !== undefined && known !== fate) {
      const difference = { path: 'fate', expected: known, actual: fate }
      failures.push({
        kind: 'fate',
        fault: text,
        message: 'another end under this fault than was accepted',
        difference,
      })
    }
  }
  const { name, file } = sample
  const played = { events: whole.events, report: whole.report }
  return { name, file, checks, failures, unexpected, missed, untold, fates, played }
}

/** A faulted stream is read the same however it is cut, too; a few cuts say so. */
const FAULT_PLANS: readonly VerifyPlan[] = [
  { kind: 'one', plan: { kind: 'byte' } },
  { kind: 'seeds', from: 1, to: 2 },
]

type Play = typeof playSample

interface Subject {
  readonly sample: GoldenSample
  readonly play: Play
  readonly failures: SampleFailure[]
}

function checkCuts(
  { sample, play, failures }: Subject,
  recording: Recording,
  whole: PlayedSample,
  plans: readonly VerifyPlan[],
  fault: string | undefined,
): number {
  const wanted = textOf(whole)
  const body = bodyOf({ writes: recording.reads })
  let checks = 0
  let failed = 0
  for (const { text, cuts } of cutsOf(plans, body)) {
    checks++
    const actual = textOf(play(sample, recording, cuts))
    if (actual === wanted || ++failed > MOST_FAILURES) continue
    const difference = firstDifference(JSON.parse(wanted), JSON.parse(actual))
    failures.push({
      kind: 'cut',
      plan: text,
      ...(fault !== undefined && { fault }),
      message: 'cut like this the stream comes to something else',
      ...(difference !== undefined && { difference }),
    })
  }
  return checks
}

/** Comparing texts is what makes a hundred thousand cuts affordable. */
function textOf({ events, report, snapshot }: PlayedSample): string {
  const { timing } = report
  // A gap needs two reads, and a cut makes two of one: what counts reads is left out.
  const { gapP50Ms: _half, gapP95Ms: _most, eventsPerRead: _each, ...rest } = timing ?? {}
  const comparable =
    timing === undefined ? report : { ...report, timing: { ...rest, longestGapMs: timing.longestGapMs ?? 0 } }
  return JSON.stringify({ events, report: comparable, snapshot })
}

function asJson(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value))
}

/** The weakest promise of all faults holds. */
function promiseOf(specs: readonly FaultSpec[]): CallPromise {
  const all = specs.map(({ name }) => faultNamed(name).calls)
  return (['untold', 'same-or-unproven', 'same-or-none'] as const).find((calls) => all.includes(calls)) ?? 'same'
}

function changed({ path, expected, actual }: Difference): string {
  if (/^events\[\d+\]$/.test(path)) {
    return expected === undefined
      ? 'an event more than expected'
      : actual === undefined
        ? 'an event is missing'
        : 'another event'
  }
  if (path.endsWith('.type')) return 'another event, or another order of events'
  return `${path} is not as expected`
}
