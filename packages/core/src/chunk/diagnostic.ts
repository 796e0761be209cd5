/**
 * Non-fatal findings. They never change a result by themselves; what a finding means for the outcome is decided in
 * `engine/outcome.ts`. Each code has an anchor in `docs/faults.md`.
 */
export const DIAGNOSTIC_CODES = [
  'arguments_as_object',
  'arguments_empty',
  'arguments_repaired',
  'arguments_rewritten',
  'built_in_call',
  'bursty_arrival',
  'call_close_inferred',
  'comment_as_data',
  'comment_keepalive',
  'content_after_finish',
  'content_type_mismatch',
  'cumulative_text',
  'data_after_end',
  'deltas_incomplete',
  'downgraded_to_json',
  'empty_data_event',
  'finish_reason_empty',
  'finish_reason_mismatch',
  'finish_without_calls',
  'glued_events',
  'id_repeated',
  'index_reused',
  'invalid_utf8',
  'item_id_changed',
  'json_array_framing',
  'legacy_function_call',
  'missing_block_start',
  'missing_choice',
  'missing_finish_reason',
  'missing_id',
  'missing_index',
  'missing_sentinel',
  'missing_usage',
  'name_late',
  'ndjson_framing',
  'proxy_error_page',
  'reasoning_duplicated',
  'response_id_changed',
  'sequence_gap',
  'sequence_repeated',
  'skipped_event',
  'splice_suspected',
  'text_restated',
  'think_tags',
  'tool_arguments_not_streamed',
  'tool_call_in_text',
  'transport_error_after_end',
  'unexpected_field',
  'unknown_event',
  'unknown_finish_reason',
  'unknown_sse_field',
  'unterminated_last_event',
  'usage_decreased',
] as const

/** One of {@link DIAGNOSTIC_CODES}. */
export type DiagnosticCode = (typeof DIAGNOSTIC_CODES)[number]

/** `info`: worth knowing; `warning`: something was wrong and read all the same; `error`: something was lost. */
export type Severity = 'info' | 'warning' | 'error'

/** One kind of finding in a stream: the place where it was first seen, and how often it was. */
export interface Diagnostic {
  readonly code: DiagnosticCode
  readonly severity: Severity
  /** Ordinal of the first event that showed it, from 1; absent for findings about the whole body. */
  readonly event?: number
  /** Byte offset of that event. */
  readonly offset?: number
  readonly count: number
  /** One line: what it means and what to do. */
  readonly hint: string
}
