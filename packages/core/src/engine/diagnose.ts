import type { DiagnosticCode } from '../chunk/diagnostic.ts'
import { clip } from '../json/clip.ts'
import { utf8Length } from '../json/utf8-length.ts'
import type { CallState } from '../tool-call/state.ts'
import { argumentFaultOf } from './argument-fault.ts'
import { HINTS } from './hint.ts'
import type { Hint, HintCode } from './hint.ts'
import type { ReportToolCall, StreamReport } from './report.ts'

/** What is known beside the report itself. */
export interface DiagnosisEvidence {
  /** Report of the same exchange, recorded on the other side of a hop. */
  readonly upstream?: StreamReport
  /**
   * What became of the released calls: rows of a ledger, for example. An empty list says that nothing was run. Leave it out where
   * nobody knows, or where the report says it itself (`reportWithResults` of `@streamfold/tools`).
   */
  readonly executions?: readonly ExecutionEvidence[]
}

export interface ExecutionEvidence {
  readonly callId: string
  readonly state: CallState
  readonly code?: string | null
}

/**
 * Where the evidence points, the likeliest cause first; empty where the report itself says all there is to say. Pure: it reads
 * nothing but what it is given, and gives out no content.
 */
export function diagnose(report: StreamReport, evidence: DiagnosisEvidence = {}): readonly Hint[] {
  const { upstream, executions } = evidence
  return [
    ...wrongApi(report),
    ...mixedCalls(report),
    ...(upstream === undefined ? [] : lostOnTheWay(report, upstream)),
    ...brokenArguments(report, upstream),
    ...missingCalls(report, upstream),
    ...buffering(report, upstream),
    ...silence(report),
    ...notExecuted(report, executions ?? executionsIn(report)),
  ]
}

function hint(code: HintCode, evidence: readonly string[], callId?: string): Hint {
  return { code, message: HINTS[code], evidence, ...(callId !== undefined && { callId }) }
}

function wrongApi({ error }: StreamReport): readonly Hint[] {
  return error?.code === 'wrong_api' ? [hint('wrong_api', [error.message])] : []
}

const NO_KEY: readonly DiagnosticCode[] = ['index_reused', 'missing_index', 'missing_id', 'id_repeated']

function mixedCalls(report: StreamReport): readonly Hint[] {
  const found = findings(report, NO_KEY)
  for (const { index, toolCalls } of report.choices) {
    const conflicting = toolCalls.filter(({ code }) => code === 'protocol_conflict')
    if (conflicting.length === 0 || (toolCalls.length < 2 && found.length === 0)) continue
    const told = conflicting.find(({ message }) => message !== undefined)?.message
    const of = `${conflicting.length} of ${counted(toolCalls.length, 'call')} in choice ${index} contradict each other`
    return [hint('calls_mixed', [told === undefined ? of : `${of}: ${clip(told, 200)}`, ...found])]
  }
  return found.some((text) => text.startsWith('index_reused')) ? [hint('index_reused', found)] : []
}

function lostOnTheWay(report: StreamReport, upstream: StreamReport): readonly Hint[] {
  const hints: Hint[] = []
  const [ours, theirs] = [report.counts.toolArgumentBytes, upstream.counts.toolArgumentBytes]
  const [calls, sent] = [callsOf(report).length, callsOf(upstream).length]
  if (calls < sent) {
    hints.push(
      hint('calls_lost_on_the_way', [
        `${counted(calls, 'call')} came, ${sent} were sent`,
        ...bytesOf(report, upstream),
      ]),
    )
  }
  if (ours < theirs && calls > 0) {
    const ended = `here the stream is ${report.outcome ?? 'open'}${codeOf(report)}, upstream ${upstream.outcome ?? 'open'}${codeOf(upstream)}`
    hints.push(
      hint('arguments_lost_on_the_way', [
        `${counted(ours, 'argument byte')} came, ${theirs} were sent`,
        ended,
        ...bytesOf(report, upstream),
        ...shorterCall(report, upstream),
      ]),
    )
  }
  return hints
}

/** The first call that came shorter than it was sent. */
function shorterCall(report: StreamReport, upstream: StreamReport): readonly string[] {
  const sent = callsOf(upstream)
  for (const [i, { callId, argumentsText }] of callsOf(report).entries()) {
    const other = sent[i]?.argumentsText
    if (other === undefined || other.length <= argumentsText.length) continue
    const same = other.startsWith(argumentsText)
    return [
      `call ${clip(callId, 60)} ${same ? 'ends' : 'differs'} ${same ? `after ${utf8Length(argumentsText)} of ${utf8Length(other)} bytes` : 'before its end'}`,
    ]
  }
  return []
}

function bytesOf({ counts: ours }: StreamReport, { counts: theirs }: StreamReport): readonly string[] {
  return [
    `${counted(ours.events, 'event')} in ${counted(ours.bytes, 'byte')} came, ${theirs.events} in ${theirs.bytes} were sent`,
  ]
}

const BROKEN_HINTS = {
  cut: 'arguments_cut',
  merged: 'arguments_merged',
  escaped: 'arguments_escaped',
  broken: 'arguments_broken',
} as const

/** The events are fine and the stream was not cut, and yet the arguments are no JSON. */
function brokenArguments(report: StreamReport, upstream: StreamReport | undefined): readonly Hint[] {
  const { verdict, outcome, counts, timing } = report
  // A cut answer has cut arguments; what did that is another question.
  if (outcome !== 'completed' && outcome !== 'degraded') return []
  if (verdict.sse_ok.state !== 'pass') return []
  const sent = upstream === undefined ? [] : callsOf(upstream)
  return callsOf(report).flatMap((call, i): readonly Hint[] => {
    if (call.code !== 'arguments_invalid' && call.code !== 'arguments_incomplete') return []
    const fault = argumentFaultOf(call.argumentsText)
    const theirs = sent[i]?.argumentsText
    if (fault === undefined || (theirs !== undefined && theirs.length > call.argumentsText.length)) return []
    const bytes = utf8Length(call.argumentsText)
    const first =
      timing.timeToFirstEventMs === null ? '' : `, the first after ${Math.round(timing.timeToFirstEventMs)} ms`
    const evidence = [
      `${counted(counts.events, 'event')} read well${first}`,
      `${bytes} argument bytes: ${fault.evidence}`,
    ]
    if (theirs === call.argumentsText) evidence.push('the upstream sent them like that: no hop changed them')
    return [hint(BROKEN_HINTS[fault.kind], evidence, call.callId)]
  })
}

function missingCalls(report: StreamReport, upstream: StreamReport | undefined): readonly Hint[] {
  const printed = findings(report, ['tool_call_in_text'])
  if (printed.length > 0) return [hint('call_in_text', printed)]
  const announced = findings(report, ['finish_without_calls'])
  if (announced.length === 0 || (upstream !== undefined && callsOf(upstream).length > 0)) return []
  return [hint('calls_missing', [...announced, ...findings(report, ['unknown_event', 'skipped_event'])])]
}

function buffering({ timing, counts }: StreamReport, upstream: StreamReport | undefined): readonly Hint[] {
  const { streaming, timeToFirstOutputMs, timeToTerminalMs, eventsPerRead } = timing
  const theirs = upstream?.timing
  const late = theirs !== undefined && isHeldBack(timing, theirs)
  if (streaming !== 'fake' && streaming !== 'bursty' && !late) return []
  const evidence = [
    streaming === 'fake' || late
      ? `${counted(counts.events, 'event')} in one burst at the end: the first output ${ms(timeToFirstOutputMs)} after the request, the end ${ms(timeToTerminalMs)} after it`
      : `events come in bursts${eventsPerRead === null ? '' : `, ${eventsPerRead.toFixed(1)} in a read`}`,
  ]
  if (theirs !== undefined) {
    const from = `there the first output came after ${ms(theirs.timeToFirstOutputMs)}, the end after ${ms(theirs.timeToTerminalMs)}`
    evidence.push(
      late || theirs.streaming === 'real'
        ? `the upstream streamed: ${from}; the hop in between buffers`
        : `the upstream gathered them already: ${from}; the hop in between is not to blame`,
    )
  }
  return [hint('buffering_hop', evidence)]
}

/** A shorter stream can't be told from one that came at once. */
const NOTABLE_SPAN_MS = 300

/** What came over time upstream came here when it was over there. */
function isHeldBack(ours: StreamReport['timing'], theirs: StreamReport['timing']): boolean {
  const { timeToFirstOutputMs: first, timeToLastEventMs: last } = ours
  const { timeToFirstOutputMs: sentFirst, timeToLastEventMs: sentLast } = theirs
  if (first === null || last === null || sentFirst === null || sentLast === null) return false
  const sentSpan = sentLast - sentFirst
  return sentSpan >= NOTABLE_SPAN_MS && last - first <= sentSpan / 10
}

const NOTABLE_SILENCE_MS = 5000

/** A cut right after a byte is a crash; one after a silence is a timer. */
function silence({ error, timing }: StreamReport): readonly Hint[] {
  const { timeToLastByteMs, timeToHeadersMs, timeToEndOfBodyMs } = timing
  const last = timeToLastByteMs ?? timeToHeadersMs
  if (error?.code !== 'incomplete_stream' || last === null || timeToEndOfBodyMs === null) return []
  const silentMs = timeToEndOfBodyMs - last
  if (silentMs < NOTABLE_SILENCE_MS) return []
  return [
    hint('silence_before_the_cut', [
      `the last byte came ${ms(last)} after the request, and the cut ${ms(silentMs)} after it`,
    ]),
  ]
}

/** What an executor has written into the report; undefined where none has. */
function executionsIn(report: StreamReport): readonly ExecutionEvidence[] | undefined {
  const { tool_authorized: authorized, tool_executed: executed, tool_args_complete: whole } = report.verdict
  const stopped = [authorized, executed].some(({ state, code }) => state === 'fail' || code !== undefined)
  if (whole.state !== 'pass' || !stopped) return undefined
  const taken = callsOf(report).filter(({ state, code }) => PAST_THE_STREAM.has(state) && code !== 'duplicate_call')
  return taken.length === 0 ? undefined : taken
}

/** The stream itself moves a whole call no further than to `complete`. */
const PAST_THE_STREAM: ReadonlySet<CallState> = new Set(['validated', 'authorized', 'executing', 'succeeded', 'failed'])

function notExecuted(report: StreamReport, executions: readonly ExecutionEvidence[] | undefined): readonly Hint[] {
  if (executions === undefined) return []
  const rows = new Map(executions.map((row) => [row.callId, row]))
  const evidence: string[] = []
  let released = 0
  for (const { callId, code, providerExecuted } of callsOf(report)) {
    const row = rows.get(callId)
    // Not released, or released and refused by an executor.
    if (providerExecuted || (code !== null && row?.code !== code)) continue
    released++
    if (row?.state === 'succeeded' || row?.code === 'execution_failed') continue
    evidence.push(`call ${clip(callId, 60)}: ${whereItStopped(row)}`)
  }
  if (evidence.length === 0) return []
  return [hint('not_executed', [`${counted(released, 'call')} whole, valid and released`, ...evidence.slice(0, 5)])]
}

function whereItStopped(row: ExecutionEvidence | undefined): string {
  if (row === undefined) return 'nothing took it over; was the batch handed to an executor?'
  const because = row.code === null || row.code === undefined ? '' : ` (${clip(row.code, 60)})`
  switch (row.state) {
    case 'collecting':
    case 'complete':
      return `not validated yet${because}`
    case 'validated':
      return `waits for authorization${because}`
    case 'authorized':
      return `authorized, and no worker has taken it: look at the queue${because}`
    case 'executing':
      return `was begun and has not reported back${because}`
    case 'succeeded':
      return 'succeeded'
    case 'failed':
      return `refused or failed${because}`
  }
}

function callsOf({ choices }: StreamReport): readonly ReportToolCall[] {
  return choices.flatMap(({ toolCalls }) => toolCalls)
}

function findings({ diagnostics }: StreamReport, codes: readonly DiagnosticCode[]): readonly string[] {
  return diagnostics
    .filter(({ code }) => codes.includes(code))
    .map(({ code, event, offset, count }) => {
      const place = event === undefined ? '' : ` at event ${event}${offset === undefined ? '' : `, byte ${offset}`}`
      return `${code}${place}${count === 1 ? '' : `, ${count} times`}`
    })
}

function codeOf({ error }: StreamReport): string {
  return error === null ? '' : ` (${error.code})`
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

function ms(value: number | null): string {
  return value === null ? 'never' : `${Math.round(value)} ms`
}
