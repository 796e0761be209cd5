import type { Diagnostic } from '../chunk/diagnostic.ts'
import type { FaultCode, Phase, ProviderError, Retryable } from '../chunk/fault.ts'
import type { FinishReason } from '../chunk/finish-reason.ts'
import type { Outcome } from '../chunk/outcome.ts'
import type { TokenUsage } from '../chunk/usage.ts'
import type { JsonObject } from '../json/value.ts'
import type { CallState } from '../tool-call/state.ts'
import type { Streaming } from './arrival.ts'
import type { Verdict } from './verdict.ts'

/** Versioned name of the report document. */
export const REPORT_SCHEMA = 'streamfold/report@1'

/** Where a report's bytes came from; filled in by the shell that fed them. */
export interface ReportSource {
  readonly kind: 'body' | 'recording' | 'live'
  readonly file?: string
  readonly url?: string
}

/** `streaming`: still open; `closed`: ended, without calls of its own; then what became of its batch. */
export type ChoicePhase = 'streaming' | 'closed' | 'released' | 'held' | 'failed'

export interface ReportToolCall {
  readonly callId: string
  readonly providerCallId?: string
  readonly name: string | null
  readonly argumentsText: string
  /** Null until the strict parse at the end succeeded; never partial. */
  readonly parsedArguments: JsonObject | null
  readonly state: CallState
  /** Null exactly when the call is released; otherwise why it is not. */
  readonly code: FaultCode | null
  readonly message?: string
  readonly argumentsOffset?: number
  readonly repairs?: readonly string[]
  readonly providerExecuted: boolean
}

export interface ReportChoice {
  readonly index: number
  readonly text: string
  readonly reasoning: string
  readonly refusal: string
  readonly toolCalls: readonly ReportToolCall[]
  readonly finish: { readonly reason: FinishReason | null; readonly raw: string | null }
  readonly outcome: Outcome | null
  readonly phase: ChoicePhase
}

export interface ReportError {
  readonly code: FaultCode
  readonly phase: Phase
  readonly message: string
  readonly retryable: Retryable
  readonly status?: number
  readonly retryAfterMs?: number
  readonly provider?: ProviderError
  readonly event?: number
  readonly offset?: number
  readonly callId?: string
}

export interface ReportAttempt {
  readonly attempt: number
  readonly requestId: string | null
  readonly upstreamRequestId: string | null
  readonly route: string | null
  readonly events: number
  readonly outcome: Outcome | null
  readonly code: FaultCode | null
  readonly retryReason: string | null
  readonly executed: boolean
}

/** Milliseconds since the request was started; null where no clock was given or it did not happen. */
export interface ReportTiming {
  readonly timeToConnectMs: number | null
  readonly timeToHeadersMs: number | null
  readonly timeToFirstByteMs: number | null
  readonly timeToFirstEventMs: number | null
  /** First text, reasoning, refusal or argument: what others call time to first token. */
  readonly timeToFirstOutputMs: number | null
  readonly timeToFirstTextMs: number | null
  readonly timeToFirstToolNameMs: number | null
  readonly timeToTerminalMs: number | null
  readonly timeToLastEventMs: number | null
  readonly timeToLastByteMs: number | null
  /** When the transport ended; far behind the terminal signal, the server keeps the connection. Null for a reader that left before. */
  readonly timeToEndOfBodyMs: number | null
  /** When the last piece of each call's arguments came. */
  readonly calls: readonly { readonly callId: string; readonly timeToLastArgumentMs: number }[]
  /** Longest time between two reads. */
  readonly longestGapMs: number | null
  /** Bytes and whole events before that gap ended. */
  readonly longestGapAt: { readonly offset: number; readonly event: number } | null
  /** Longest time between two pieces of output; heartbeats do not end it. */
  readonly longestProgressGapMs: number | null
  /** Half of the gaps between reads are no longer; to within 5 %. */
  readonly gapP50Ms: number | null
  /** Of 20 gaps between reads, 19 are no longer; to within 5 %. */
  readonly gapP95Ms: number | null
  /** High where something gathers events before it passes them on. */
  readonly eventsPerRead: number | null
  /** Share of the output (bytes) that came in the last tenth of the time: 1 for an answer that was held back until its end. */
  readonly burstRatio: number | null
  /** Output tokens by the wire's own count, from the first output to the terminal signal. */
  readonly outputTokensPerSecond: number | null
  readonly streaming: Streaming
}

export interface ReportCounts {
  readonly bytes: number
  readonly events: number
  readonly comments: number
  readonly textDeltaBytes: number
  readonly toolArgumentBytes: number
}

/** The one document that says what happened in a stream: the same from `engine.report()` and from `streamfold inspect --json`. */
export interface StreamReport {
  readonly schema: typeof REPORT_SCHEMA
  readonly api: string
  readonly source: ReportSource
  readonly verdict: Verdict
  /** Null while the stream is open. */
  readonly outcome: Outcome | null
  readonly error: ReportError | null
  readonly choices: readonly ReportChoice[]
  readonly attempts: readonly ReportAttempt[]
  readonly usage: TokenUsage | null
  readonly timing: ReportTiming
  readonly counts: ReportCounts
  readonly diagnostics: readonly Diagnostic[]
}
