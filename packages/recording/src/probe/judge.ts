import { adapterFor, createStreamEngine } from 'streamfold'
import type { Api, DiagnosticCode, ProviderProfile, StreamReport } from 'streamfold'
import { replayInto, requestFactsOf } from 'streamfold/recording'
import type { Recording } from 'streamfold/recording'
import { counted } from '../counted.ts'
import type { CapabilityName, CapabilityState } from './capability.ts'
import type { ProbeKind } from './probe-request.ts'

/** One exchange of a probe, read. */
export interface ProbedExchange {
  readonly kind: ProbeKind
  readonly report: StreamReport
  /** Events that brought arguments. */
  readonly argumentFragments: number
  readonly status: number | undefined
  readonly contentType: string
  /** File name or id of the recording. */
  readonly evidence: string
}

export function readExchange(kind: ProbeKind, recording: Recording, api: Api, evidence: string): ProbedExchange {
  const engine = createStreamEngine({ adapter: adapterFor(api), request: requestFactsOf(recording.request) })
  const events = replayInto(engine, recording)
  const { response } = recording
  const contentType = response?.headers.find(([name]) => name.toLowerCase() === 'content-type')?.[1] ?? ''
  return {
    kind,
    report: engine.report({ kind: 'recording' }),
    argumentFragments: events.filter(({ type }) => type === 'tool_call_arguments_delta').length,
    status: response?.status,
    contentType: contentType.toLowerCase(),
    evidence,
  }
}

export interface Judgement {
  readonly state: CapabilityState
  readonly detail: string
}

export interface Judge {
  /** Which exchanges of a round it looks at. */
  readonly kinds: readonly ProbeKind[]
  /** `exchanges` are those of one round that took place, by kind. */
  judge(exchanges: ReadonlyMap<ProbeKind, ProbedExchange>, api: Api): Judgement
}

const unknown = (detail: string): Judgement => ({ state: 'unknown', detail })
const judged = (state: CapabilityState, detail: string): Judgement => ({ state, detail })

/** How each capability is read off one round of exchanges. */
export const JUDGES: Readonly<Record<CapabilityName, Judge>> = {
  non_streaming: {
    kinds: ['text'],
    judge: (exchanges) => {
      const text = exchanges.get('text')
      if (text === undefined) return unknown('not asked')
      if (text.status !== 200) return judged('no', `status ${text.status ?? 'none'}`)
      if (!said(text)) return judged('no', `no text, outcome ${text.report.outcome ?? 'open'}`)
      const isJson = text.contentType.startsWith('application/json') || found(text, 'downgraded_to_json')
      return isJson
        ? judged('yes', 'one JSON document')
        : judged('partial', 'an event stream although none was asked for')
    },
  },
  streaming: {
    kinds: ['text-stream'],
    judge: (exchanges) => {
      const stream = exchanges.get('text-stream')
      if (stream === undefined) return unknown('not asked')
      if (stream.status !== 200) return judged('no', `status ${stream.status ?? 'none'}`)
      if (found(stream, 'downgraded_to_json')) return judged('no', 'one JSON document although a stream was asked for')
      if (!said(stream)) return judged('no', `no text, outcome ${stream.report.outcome ?? 'open'}`)
      const { streaming } = stream.report.timing
      const events = counted(stream.report.counts.events, 'event')
      if (streaming === 'fake') return judged('partial', `${events}, all at once after the answer was made`)
      if (streaming === 'bursty') return judged('partial', `${events}, in bursts`)
      return judged('yes', `${events}${streaming === 'unknown' ? ', too few to see how they arrive' : ''}`)
    },
  },
  usage: {
    kinds: ['text-stream', 'text'],
    judge: (exchanges) => {
      const stream = exchanges.get('text-stream')
      if (stream === undefined || !said(stream)) return unknown('no stream to look at')
      const { usage } = stream.report
      if (usage !== null && !found(stream, 'downgraded_to_json'))
        return judged('yes', `${usage.inputTokens ?? '?'} in, ${usage.outputTokens ?? '?'} out`)
      const text = exchanges.get('text')
      return text?.report.usage ? judged('partial', 'without a stream only') : judged('no', 'no counters')
    },
  },
  sentinel: {
    kinds: ['text-stream'],
    judge: (exchanges, api) => {
      const stream = exchanges.get('text-stream')
      if (stream === undefined || !said(stream) || found(stream, 'downgraded_to_json'))
        return unknown('no stream to look at')
      const { terminator } = adapterFor(api)
      if (terminator === 'end-of-body') return unknown('this wire format has none')
      if (stream.report.verdict.sse_ok.state === 'fail') return unknown('the transport broke')
      const missing = found(stream, 'missing_sentinel') || stream.report.outcome === 'incomplete'
      return missing ? judged('no', 'the body ends without it') : judged('yes', terminator)
    },
  },
  errors: {
    kinds: ['error'],
    judge: (exchanges) => {
      const refused = exchanges.get('error')
      if (refused === undefined) return unknown('not asked')
      const { status = 0, report } = refused
      const { error } = report
      if (error === null) return unknown(`the request that should fail was answered (${report.outcome ?? 'open'})`)
      if (status === 200) return judged('partial', `in the body of a 200: ${error.code}`)
      if (error.provider?.message === undefined) return judged('partial', `status ${status} without a message`)
      return refused.contentType.includes('json')
        ? judged('yes', `status ${status} with a JSON body`)
        : judged('partial', `status ${status} with a body of ${refused.contentType || 'no type'}`)
    },
  },
  ends: {
    kinds: ['text-stream', 'limit-stream', 'tool-stream'],
    judge: (exchanges) => {
      const seen = [
        ['text-stream', 'stop'],
        ['limit-stream', 'length'],
        ['tool-stream', 'tool-calls'],
      ] as const
      const asked = seen.filter(([kind]) => exchanges.get(kind)?.status === 200)
      if (asked.length === 0) return unknown('no stream to look at')
      const right = asked.filter(([kind, reason]) => reasonOf(exchanges.get(kind)!) === reason)
      const detail = asked.map(([kind]) => `${kind} ${rawReasonOf(exchanges.get(kind)!) ?? 'none'}`).join(', ')
      if (right.length === asked.length) return judged('yes', detail)
      const none = asked.every(([kind]) => reasonOf(exchanges.get(kind)!) === null)
      return judged(none ? 'no' : 'partial', detail)
    },
  },
  tools: {
    kinds: ['tool-stream'],
    judge: (exchanges) => {
      const stream = exchanges.get('tool-stream')
      if (stream === undefined) return unknown('not asked')
      if (stream.status !== 200) return judged('no', `status ${stream.status ?? 'none'}`)
      const calls = callsOf(stream)
      if (calls.length === 0) {
        const printed = found(stream, 'tool_call_in_text')
        return judged('no', printed ? 'the call is printed as text' : 'no call although one was demanded')
      }
      const released = calls.filter(({ code }) => code === null)
      if (released.length === calls.length) return judged('yes', `${counted(calls.length, 'call')}, released`)
      return judged('partial', `not released: ${calls.find(({ code }) => code !== null)?.code ?? ''}`)
    },
  },
  incremental_arguments: {
    kinds: ['tool-stream'],
    judge: (exchanges) => {
      const stream = exchanges.get('tool-stream')
      if (stream === undefined || callsOf(stream).length === 0) return unknown('no call to look at')
      const { argumentFragments } = stream
      const bytes = stream.report.counts.toolArgumentBytes
      if (bytes < 40) return unknown(`${counted(bytes, 'byte')} of arguments can tell nothing; a longer call would`)
      const detail = `${bytes} bytes in ${counted(argumentFragments, 'piece')}`
      return judged(argumentFragments > callsOf(stream).length ? 'yes' : 'no', detail)
    },
  },
  parallel_calls: {
    kinds: ['parallel-stream'],
    judge: (exchanges) => {
      const stream = exchanges.get('parallel-stream')
      if (stream === undefined) return unknown('not asked')
      if (stream.status !== 200) return judged('no', `status ${stream.status ?? 'none'}`)
      const calls = callsOf(stream)
      if (calls.length === 0) return unknown('no call to look at')
      if (calls.length === 1) return judged('no', 'one call where two were asked for')
      const held = calls.find(({ code }) => code !== null)
      return held === undefined
        ? judged('yes', `${calls.length} calls, released`)
        : judged('partial', `${calls.length} calls, not released: ${held.code ?? ''}`)
    },
  },
}

function said({ report }: ProbedExchange): boolean {
  return report.choices.some(({ text, reasoning }) => text !== '' || reasoning !== '')
}

function found({ report }: ProbedExchange, code: DiagnosticCode): boolean {
  return report.diagnostics.some((diagnostic) => diagnostic.code === code)
}

function callsOf({ report }: ProbedExchange): StreamReport['choices'][number]['toolCalls'] {
  return report.choices.flatMap(({ toolCalls }) => toolCalls)
}

function reasonOf({ report }: ProbedExchange): string | null {
  return report.choices[0]?.finish.reason ?? null
}

function rawReasonOf({ report }: ProbedExchange): string | null {
  return report.choices[0]?.finish.raw ?? null
}

/** What the endpoint did differently each time that it could be seen. */
export function profileOf(exchanges: readonly ProbedExchange[]): ProviderProfile {
  const good = exchanges.filter(
    ({ kind, report, status }) =>
      kind.endsWith('-stream') && status === 200 && report.choices.some(({ finish }) => finish.reason !== null),
  )
  const always = (code: DiagnosticCode): boolean => good.length > 0 && good.every((one) => found(one, code))
  const ever = (code: DiagnosticCode): boolean => exchanges.some((one) => found(one, code))
  return {
    ...(always('missing_sentinel') && { sentinel: 'optional' }),
    ...(ever('think_tags') && { thinkTags: true }),
  }
}
