/** The layer in which a fault was found, in the order in which a response passes through them. */
export type Phase =
  | 'connect'
  | 'headers'
  | 'framing'
  | 'event'
  | 'delta'
  | 'call'
  | 'validate'
  | 'authorize'
  | 'execute'

/**
 * May the request be sent again?
 * - `yes`: nothing was generated or forwarded.
 * - `restart`: a new generation is possible, nothing was executed; what was shown must be discarded.
 * - `no`: the same request would fail the same way.
 * - `unknown`: something may have run; ask the ledger.
 */
export type Retryable = 'yes' | 'restart' | 'no' | 'unknown'

/**
 * Every code a stream or a call can fail or be held with. Codes are API: each has an anchor in `docs/faults.md`, and none
 * is ever reused for another meaning.
 */
export const FAULT_CODES = [
  'connect_failed',
  'connect_timeout',
  'first_byte_timeout',
  'idle_timeout',
  'progress_timeout',
  'total_timeout',
  'http_error',
  'rate_limited',
  'not_event_stream',
  'wrong_api',
  'empty_stream',
  'buffer_limit_exceeded',
  'event_limit_exceeded',
  'argument_limit_exceeded',
  'call_limit_exceeded',
  'choice_limit_exceeded',
  'stream_limit_exceeded',
  'invalid_utf8',
  'invalid_event_json',
  'upstream_error',
  'incomplete_stream',
  'protocol_conflict',
  'stream_splice',
  'output_truncated',
  'output_refused',
  'finish_unknown',
  'missing_finish_reason',
  'event_skipped',
  'arguments_incomplete',
  'arguments_invalid',
  'arguments_unsafe',
  'arguments_suspect',
  'missing_name',
  'unknown_tool',
  'schema_violation',
  'key_conflict',
  'batch_held',
  'provider_executed',
  'tool_not_allowed',
  'missing_call_id',
  'resource_denied',
  'not_authorized',
  'check_failed',
  'approval_denied',
  'duplicate_call',
  'approval_required',
  'stale_attempt',
  'in_progress',
  'outcome_unknown',
  'execution_failed',
  'cancelled',
] as const

/** One of {@link FAULT_CODES}. */
export type FaultCode = (typeof FAULT_CODES)[number]

/** What the provider itself said about an error, as sent; numbers are kept as their decimal text. */
export interface ProviderError {
  readonly code?: string
  readonly type?: string
  readonly message?: string
}

/** A fault as data: what {@link StreamError} carries and what reports print. */
export interface StreamFault {
  readonly code: FaultCode
  readonly phase: Phase
  /** One sentence: what happened, to what, and what to do next. Wire text in it is clipped. */
  readonly message: string
  readonly retryable: Retryable
  /** HTTP status, or the status an in-band error stands for. */
  readonly status?: number
  /** Milliseconds the server asked to wait; a floor, not a suggestion. */
  readonly retryAfterMs?: number
  readonly provider?: ProviderError
  /** Ordinal of the event, from 1. */
  readonly event?: number
  /** Byte offset in the body. */
  readonly offset?: number
  readonly choice?: number
  readonly callId?: string
}
