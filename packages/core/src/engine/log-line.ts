import type { DiagnosticCode } from '../chunk/diagnostic.ts'
import type { FaultCode } from '../chunk/fault.ts'
import type { Outcome } from '../chunk/outcome.ts'
import { clip } from '../json/clip.ts'
import { utf8Length } from '../json/utf8-length.ts'
import type { CallState } from '../tool-call/state.ts'
import type { ReportToolCall, StreamReport } from './report.ts'

/** One call in a {@link LogLine}: what its arguments were like, never what they were. */
export interface LogLineCall {
  readonly call_id: string
  readonly tool: string | null
  readonly state: CallState
  /** Null exactly when the call was released. */
  readonly code: FaultCode | null
  /** With the name of the hash in front: `fnv1a32:811c9dc5`. */
  readonly argument_hash: string
  readonly argument_bytes: number
  /** Names of the fields at the top, sorted, at most 32 of them; null where the arguments did not parse. */
  readonly argument_keys: readonly string[] | null
}

/** One line per stream, for a log: how it went, in metadata alone. Times are milliseconds since the request. */
export interface LogLine {
  readonly api: string
  readonly outcome: Outcome | null
  /** What ended the stream; null where it ended by itself. */
  readonly code: FaultCode | null
  /** Of the last attempt, from 1. */
  readonly attempt: number
  readonly route: string | null
  readonly request_id: string | null
  readonly upstream_request_id: string | null
  readonly time_to_headers: number | null
  readonly time_to_first_event: number | null
  readonly event_count: number
  readonly text_delta_bytes: number
  readonly tool_argument_bytes: number
  /** Of every choice, in order, comma-separated where there are several; null where none came. */
  readonly finish_reason: string | null
  /** Why the bytes, or one event of them, could not be read. */
  readonly sse_parse_error: FaultCode | DiagnosticCode | null
  /** `none` without calls, `valid` when all were released, else why the first one was not. */
  readonly tool_validation_result: 'none' | 'valid' | FaultCode
  readonly tool_calls: readonly LogLineCall[]
}

export interface LogLineOptions {
  /** Names and computes a hash of arguments: `(text) => 'sha256:' + …`. Default {@link fnv1a32}, which is no cryptographic one. */
  readonly hash?: (text: string) => string
}

/** Names of fields come from the model, ids and request ids from a server. */
const MAX_KEYS = 32
const MAX_NAME_CHARS = 64
const MAX_ID_CHARS = 200

/**
 * The log line of a stream, from its report: `onReport: (report) => log(logLineOf(report))`. It holds no content: of arguments a
 * hash, a length and the names of fields, of text a length.
 */
export function logLineOf(report: StreamReport, { hash = fnv1a32 }: LogLineOptions = {}): LogLine {
  const { api, outcome, error, attempts, timing, counts, choices } = report
  const last = attempts.at(-1)
  const calls = choices.flatMap(({ toolCalls }) => toolCalls)
  const finishes = choices.map(({ finish }) => finish.reason ?? 'none')
  return {
    api,
    outcome,
    code: error?.code ?? null,
    attempt: last?.attempt ?? 1,
    route: last?.route ?? null,
    request_id: clipped(last?.requestId),
    upstream_request_id: clipped(last?.upstreamRequestId),
    time_to_headers: timing.timeToHeadersMs,
    time_to_first_event: timing.timeToFirstEventMs,
    event_count: counts.events,
    text_delta_bytes: counts.textDeltaBytes,
    tool_argument_bytes: counts.toolArgumentBytes,
    finish_reason: finishes.every((reason) => reason === 'none') ? null : finishes.join(','),
    sse_parse_error: parseErrorOf(report),
    tool_validation_result: validationOf(calls),
    tool_calls: calls.map((call) => callOf(call, hash)),
  }
}

function callOf(call: ReportToolCall, hash: (text: string) => string): LogLineCall {
  const { callId, name, state, code, argumentsText, parsedArguments } = call
  return {
    call_id: clip(callId, MAX_ID_CHARS),
    tool: name === null ? null : clip(name, MAX_NAME_CHARS),
    state,
    code,
    argument_hash: hash(argumentsText),
    argument_bytes: utf8Length(argumentsText),
    argument_keys:
      parsedArguments === null
        ? null
        : Object.keys(parsedArguments)
            .sort()
            .slice(0, MAX_KEYS)
            .map((key) => clip(key, MAX_NAME_CHARS)),
  }
}

function parseErrorOf({ verdict, diagnostics }: StreamReport): LogLine['sse_parse_error'] {
  if (verdict.sse_ok.state === 'fail') return verdict.sse_ok.code ?? 'incomplete_stream'
  return diagnostics.some(({ code }) => code === 'skipped_event') ? 'invalid_event_json' : null
}

/** A call that is held for the sake of another one does not say why. */
function validationOf(calls: readonly ReportToolCall[]): LogLine['tool_validation_result'] {
  if (calls.length === 0) return 'none'
  const refused = calls.flatMap(({ code }) => (code === null ? [] : [code]))
  return refused.find((code) => code !== 'batch_held') ?? refused[0] ?? 'valid'
}

function clipped(id: string | null | undefined): string | null {
  return id === null || id === undefined ? null : clip(id, MAX_ID_CHARS)
}

const encoder = new TextEncoder()

/**
 * FNV-1a, 32 bits, of the UTF-8 bytes. Tells whether two texts are the same, to whoever trusts both; no cryptographic hash, and
 * short texts can be guessed from it.
 *
 * @see http://www.isthe.com/chongo/tech/comp/fnv/
 */
export function fnv1a32(text: string): string {
  let hash = 0x811c9dc5
  for (const byte of encoder.encode(text)) hash = Math.imul(hash ^ byte, 0x01000193)
  return `fnv1a32:${(hash >>> 0).toString(16).padStart(8, '0')}`
}
