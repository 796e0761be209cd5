import { detectApi } from 'streamfold'
import { counted } from '../counted.ts'
import { apiOfRecording, recordedBody } from '../file/recording-report.ts'
import type { GoldenSample } from '../verify/golden-sample.ts'
import type { Evidence, Found } from './gather-evidence.ts'

/** One thing that a question asks for: the files that show it, or what is missing. */
export interface Part {
  readonly shown: readonly { readonly file: string; readonly shows: string }[]
  readonly missing: string
}

export interface Question {
  readonly id: string
  readonly question: string
  readonly parts: (evidence: Evidence) => readonly Part[]
}

const VERIFY = 'streamfold verify … --json > verify.json, beside the samples'

/** What a release of an application on streamed tool calls is asked, in the order of the stages. */
export const QUESTIONS: readonly Question[] = [
  {
    id: 'recorded',
    question: 'Are raw headers and the redacted sequence of events recorded?',
    parts: ({ recordings }) => [
      part(
        recordings.filter(({ it: { recording } }) => (recording.response?.headers.length ?? 0) > 0),
        ({ it: { recording } }) =>
          `${counted(recording.response!.headers.length, 'response header')}, ${counted(recording.reads.length, 'read')}, end ${recording.end?.kind ?? 'missing'}`,
        'a recording with response headers: streamfold record',
      ),
      part(
        recordings.filter(({ it: { recording } }) => isRedacted(recording.head.other?.['redaction'])),
        () => 'redacted when it was written',
        'a recording that says it is redacted: streamfold record, or redact --in-place',
      ),
    ],
  },
  {
    id: 'cuts',
    question: 'Is it proven that no cut changes anything, inside a character included?',
    parts: ({ verified, verifications }) => [
      part(
        verifications.filter(({ it }) => it.ok && it.totals.samples > 0 && it.plans.split(',').includes('every-byte')),
        ({ it }) =>
          `${counted(it.totals.samples, 'sample')} cut at every byte, ${counted(it.totals.checks, 'check')}, none failed`,
        `a good result with every-byte: ${VERIFY}`,
      ),
      part(
        verified.filter(({ it }) => MULTIBYTE.test(contentOf(it))),
        () => 'holds characters of several bytes, and is verified',
        'a verified sample with characters of several bytes',
      ),
    ],
  },
  {
    id: 'accumulation',
    question: 'Are deltas put together by choice and by index?',
    parts: ({ verified }) => [
      part(
        verified.filter(({ it }) => choicesOf(it).length > 1),
        ({ it }) => `${choicesOf(it).length} choices, verified`,
        'a verified sample with several choices',
      ),
      part(
        verified.filter(({ it }) => mostCalls(it) > 1),
        ({ it }) => `${mostCalls(it)} calls in one choice, verified`,
        'a verified sample with several calls in one choice',
      ),
    ],
  },
  {
    id: 'release',
    question: 'Is a call executed only after the strict parse and its schema?',
    parts: ({ verified, ledgers }) => [
      part(
        verified.filter(({ it }) => brokenCalls(it).length > 0),
        ({ it }) => `a call with ${brokenCalls(it)[0]!} is not released, verified`,
        'a verified sample in which a call with broken arguments is not released',
      ),
      part(
        ledgers.filter(({ it }) => it.includes('streamfold_call')),
        () => 'the ledger of an executor that checks the schema before it executes',
        'the ledger of an executor: what ran is in no recording',
      ),
    ],
  },
  {
    id: 'null_finish',
    question: 'Is a null finish reason taken for a state in the middle, and not for an end?',
    parts: ({ verified }) => [
      part(
        verified.filter(({ it }) => hasNullFinish(it) && choicesOf(it).some(({ finish }) => finish.reason !== null)),
        ({ it }) => `null comes first, the end is "${choicesOf(it)[0]!.finish.reason ?? 'none'}", verified`,
        'a verified sample with null before the real finish reason',
      ),
      part(
        verified.filter(({ it }) => choicesOf(it).some(({ finish }) => finish.reason === null) && releasesNothing(it)),
        ({ it }) => `never gets one: ${it.expected?.report?.outcome ?? 'open'}, and no call is released, verified`,
        'a verified sample that never gets a finish reason',
      ),
    ],
  },
  {
    id: 'adapters',
    question: 'Does each API have its own adapter?',
    parts: adapterParts,
  },
  {
    id: 'arrival',
    question: 'Are buffering, the first event and the idle timeout measured?',
    parts: ({ paths, recordings }) => [
      part(
        paths.filter(({ it }) => it.numbers.eventsReceived > 0),
        ({ it }) => `${it.url}: ${it.verdicts.map(({ code }) => code).join(', ')}`,
        'what the path does to a stream: streamfold probe-path URL --json > path.json',
      ),
      part(
        paths.filter(({ it }) => it.numbers.eventsReceived > 0 && it.schedule.idleMs >= LONG_IDLE_MS),
        ({ it }) =>
          `silent for ${it.schedule.idleMs / 1000} s: ${it.verdicts.some(({ code }) => code === 'cuts_idle') ? 'cut' : 'held'}`,
        `a silence of ${LONG_IDLE_MS / 1000} s or more: streamfold probe-path URL --idle 70000`,
      ),
      part(
        recordings.filter(({ it: { report } }) => report.timing.timeToFirstEventMs !== null),
        ({ it: { report } }) => `the first event after ${Math.round(report.timing.timeToFirstEventMs!)} ms`,
        'a recording with times',
      ),
    ],
  },
  {
    id: 'errors',
    question: 'Are errors told apart?',
    parts: ({ verified, capabilities }) => {
      const byCode = new Map(verified.flatMap(({ file, it }) => errorCodes(it).map((code) => [code, file] as const)))
      const measured = capabilities.filter(({ it }) => it.capabilities.errors.state === 'yes')
      return [
        {
          shown: [
            ...(byCode.size >= ENOUGH_CODES
              ? [...byCode].map(([code, file]) => ({ file, shows: `ends with ${code}, verified` }))
              : []),
            ...measured.map(({ file, it }) => ({ file, shows: `${it.endpoint}: ${it.capabilities.errors.detail}` })),
          ],
          missing: `verified samples with ${ENOUGH_CODES} different error codes (there are ${byCode.size}), or a probe that says so`,
        },
      ]
    },
  },
  {
    id: 'execution',
    question: 'Are idempotency, bounds of retries and an audit trail in place?',
    parts: ({ ledgers, logs }) => [
      part(
        ledgers.filter(({ it }) => it.includes('streamfold_execution')),
        () => 'a ledger of executions, one row per operation',
        'the ledger of an executor',
      ),
      part(
        ledgers.filter(({ it }) => it.includes('streamfold_audit')),
        () => 'the ledger keeps an audit trail',
        'a ledger with an audit trail',
      ),
      part(
        logs.filter(({ it }) => it.some(({ attempt }) => attempt > 1)),
        ({ it }) =>
          `${counted(it.length, 'stream')}, none with more than ${Math.max(...it.map(({ attempt }) => attempt))} attempts`,
        'log lines with a retry in them, which show where retries end: logLineOf, or inspect --log',
      ),
    ],
  },
  {
    id: 'replay',
    question: 'Are there samples that can be played again?',
    parts: ({ samples, verified, verifications, unreadable }) => [
      {
        shown:
          samples.length > 0 && verified.length === samples.length && verifications.every(({ it }) => it.ok)
            ? verifications.map(({ file, it }) => ({
                file,
                shows: `${counted(it.totals.samples, 'sample plays', 'samples play')} as expected`,
              }))
            : [],
        missing:
          samples.length === 0
            ? `samples with expected files: streamfold verify FOLDER --update, then ${VERIFY}`
            : `a good result for every sample (${verified.length} of ${samples.length}): ${VERIFY}`,
      },
      ...unreadable.map(({ file, reason }) => ({ shown: [], missing: `${file} can't be read: ${reason}` })),
    ],
  },
]

/** Proxies cut silent streams after 30 s at the earliest, as they come. */
const LONG_IDLE_MS = 30_000
const ENOUGH_CODES = 3

function part<T>(found: readonly Found<T>[], says: (one: Found<T>) => string, missing: string): Part {
  return { shown: found.map((one) => ({ file: one.file, shows: says(one) })), missing }
}

function adapterParts({ recordings, verified }: Evidence): readonly Part[] {
  const spoken = new Set<string>(recordings.map(({ it: { recording } }) => apiOfRecording(recording)))
  const shown = new Map<string, string>(verified.map(({ file, it }) => [it.api, file]))
  const wanted = spoken.size === 0 ? [...shown.keys()] : [...spoken]
  const wrong = recordings.flatMap(({ file, it: { recording, report } }) => {
    const seen = detectApi({ body: recordedBody(recording) })
    const other = seen?.confidence === 'certain' && seen.api !== report.api
    return other || report.error?.code === 'wrong_api' ? [`${file} is read as ${report.api}, and is not`] : []
  })
  return [
    ...(wanted.length === 0 ? [{ shown: [], missing: 'a verified sample of each API that is used' }] : []),
    ...wanted.map((api) => {
      const file = shown.get(api)
      return {
        shown: file === undefined ? [] : [{ file, shows: `${api}, verified` }],
        missing: `a verified sample of ${api}, which recordings speak`,
      }
    }),
    ...wrong.map((missing) => ({ shown: [], missing })),
  ]
}

type Choices = NonNullable<NonNullable<GoldenSample['expected']>['report']>['choices']

function choicesOf({ expected }: GoldenSample): Choices {
  return expected?.report?.choices ?? []
}

/** Checksums of a binary framing are no characters, so the body itself says nothing. */
const MULTIBYTE = /[^\p{ASCII}]/u

function contentOf(sample: GoldenSample): string {
  return choicesOf(sample)
    .flatMap(({ text, reasoning, toolCalls }) => [text, reasoning, ...toolCalls.map((call) => call.argumentsText)])
    .join('')
}

function mostCalls(sample: GoldenSample): number {
  return Math.max(0, ...choicesOf(sample).map(({ toolCalls }) => toolCalls.length))
}

const BROKEN: ReadonlySet<string> = new Set([
  'arguments_invalid',
  'arguments_incomplete',
  'arguments_unsafe',
  'schema_violation',
])

/** Codes of calls whose arguments are no good, in a sample that releases none of them. */
function brokenCalls(sample: GoldenSample): readonly string[] {
  return choicesOf(sample).flatMap(({ toolCalls }) =>
    toolCalls.flatMap(({ code }) => (code !== null && BROKEN.has(code) ? [code] : [])),
  )
}

function releasesNothing(sample: GoldenSample): boolean {
  return choicesOf(sample).every(({ toolCalls }) => toolCalls.every(({ code }) => code !== null))
}

const NULL_FINISH = /"(?:finish_reason|stop_reason|finishReason)"\s*:\s*null/

function hasNullFinish({ recording }: GoldenSample): boolean {
  return NULL_FINISH.test(Buffer.from(recordedBody(recording)).toString('latin1'))
}

function errorCodes({ expected }: GoldenSample): readonly string[] {
  const code = expected?.report?.error?.code
  return code === undefined ? [] : [code]
}

function isRedacted(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'applied' in value && value.applied === true
}
