import type { Diagnostic, DiagnosticCode, Severity } from '../chunk/diagnostic.ts'

/** Where in the stream the reader is. */
export interface Position {
  /** Ordinal of the event, from 1; absent before the first. */
  readonly event?: number
  /** Byte offset of that event. */
  readonly offset?: number
}

/** Collects findings: one entry per code, with the first place and a count, so a hostile stream can't make it grow. */
export class DiagnosticLog {
  readonly #found = new Map<DiagnosticCode, { first: Omit<Diagnostic, 'count'>; count: number }>()

  note(code: DiagnosticCode, at: Position | undefined, detail?: string): void {
    const known = this.#found.get(code)
    if (known !== undefined) {
      known.count++
      return
    }
    const { severity, hint } = FINDINGS[code]
    this.#found.set(code, {
      count: 1,
      first: {
        code,
        severity,
        ...(at?.event !== undefined && { event: at.event }),
        ...(at?.offset !== undefined && { offset: at.offset }),
        hint: detail === undefined || detail === '' ? hint : `${hint} (${detail})`,
      },
    })
  }

  /** Sets a finding that is about the whole body, as it stands now. */
  put(code: DiagnosticCode, detail?: string): void {
    this.#found.delete(code)
    this.note(code, undefined, detail)
  }

  has(code: DiagnosticCode): boolean {
    return this.#found.has(code)
  }

  /** In order of first appearance. */
  list(): readonly Diagnostic[] {
    return [...this.#found.values()].map(({ first, count }) => ({ ...first, count }))
  }
}

/** Severity and one-line hint of each finding; `docs/faults.md` has the long form. */
export const FINDINGS: Readonly<Record<DiagnosticCode, { readonly severity: Severity; readonly hint: string }>> = {
  arguments_as_object: {
    severity: 'info',
    hint: 'arguments came as a JSON value instead of text and were serialised once',
  },
  arguments_empty: {
    severity: 'info',
    hint: 'a call has empty arguments, read as {}; its schema decides whether that is enough',
  },
  arguments_repaired: { severity: 'warning', hint: 'arguments did not parse and were repaired as the profile asks' },
  arguments_rewritten: {
    severity: 'info',
    hint: 'arguments were restated in other words; those that came first are kept',
  },
  built_in_call: {
    severity: 'warning',
    hint: "a built-in tool of the provider waits for your own code: answer it from the call's item; it is never released as a tool call",
  },
  bursty_arrival: {
    severity: 'warning',
    hint: 'events came in bursts: a hop buffers; set X-Accel-Buffering: no and Cache-Control: no-transform, and turn proxy buffering off',
  },
  call_close_inferred: {
    severity: 'info',
    hint: 'a call that nothing had closed was closed by what came next; its arguments were whole',
  },
  comment_as_data: { severity: 'info', hint: 'a comment was wrapped again as data by a hop; it was ignored' },
  comment_keepalive: { severity: 'info', hint: 'comments keep the connection alive; they are not progress' },
  content_after_finish: {
    severity: 'warning',
    hint: 'content came after a finish reason and was merged; the finish reason is provisional until the end',
  },
  content_type_mismatch: {
    severity: 'warning',
    hint: 'the content type does not say what the body is; the body was read by what it is',
  },
  cumulative_text: {
    severity: 'warning',
    hint: 'each delta repeats the text before it; if this server sends cumulative text, set cumulativeText in its profile',
  },
  data_after_end: { severity: 'info', hint: 'data came after the end of the response and was ignored' },
  deltas_incomplete: {
    severity: 'warning',
    hint: 'the wire restated more than its deltas said; what was missing was added',
  },
  downgraded_to_json: { severity: 'info', hint: 'the answer was one whole JSON completion; it was played as events' },
  empty_data_event: { severity: 'info', hint: 'an event without data was taken as a heartbeat' },
  finish_reason_empty: { severity: 'info', hint: 'finish_reason is an empty string, which is not an end' },
  finish_reason_mismatch: { severity: 'warning', hint: 'the finish reason does not fit what was streamed' },
  finish_without_calls: { severity: 'warning', hint: 'the finish reason says tool calls, and there are none to run' },
  glued_events: { severity: 'warning', hint: 'two events were glued together by a hop and were read apart' },
  id_repeated: { severity: 'warning', hint: 'a call id is used by more than one call; the later call got a local id' },
  index_reused: { severity: 'warning', hint: 'one tool index is used by several calls; they were told apart by id' },
  invalid_utf8: {
    severity: 'warning',
    hint: 'bytes that are not UTF-8 were replaced by U+FFFD; a call that holds them is not run',
  },
  json_array_framing: {
    severity: 'info',
    hint: 'the body is one JSON array, sent element by element; each element was read as an event (alt=sse asks for events)',
  },
  item_id_changed: {
    severity: 'info',
    hint: 'the id of an item changes from event to event; events were matched by output_index',
  },
  legacy_function_call: {
    severity: 'info',
    hint: 'the server uses function_call; answer with a function message, not a tool message',
  },
  missing_block_start: {
    severity: 'warning',
    hint: 'content came for a block that was never started, or already closed: text was shown, input is never given to a call',
  },
  missing_choice: { severity: 'warning', hint: 'fewer choices came than were asked for' },
  missing_finish_reason: {
    severity: 'warning',
    hint: 'the stream was ended without any finish reason; calls are held',
  },
  missing_id: { severity: 'info', hint: 'a call has no id; one was made here' },
  missing_index: { severity: 'info', hint: 'a call has no index; its fragments were matched by id' },
  missing_sentinel: {
    severity: 'warning',
    hint: 'the terminal signal of this API ([DONE], a stop event) never came; the finish reason is the only end evidence',
  },
  missing_usage: { severity: 'info', hint: 'usage was asked for and never came' },
  name_late: { severity: 'info', hint: 'a call got its name after its first arguments' },
  ndjson_framing: {
    severity: 'info',
    hint: 'the body is JSON lines, not server-sent events; each line was read as an event',
  },
  proxy_error_page: { severity: 'error', hint: 'a proxy put an HTML page in place of the answer' },
  reasoning_duplicated: { severity: 'info', hint: 'reasoning came under two names in one delta and was taken once' },
  response_id_changed: { severity: 'info', hint: 'the response id changes from chunk to chunk; the first one is kept' },
  sequence_gap: { severity: 'warning', hint: 'sequence numbers are missing: events were lost on the way' },
  sequence_repeated: { severity: 'info', hint: 'an event was delivered twice and read once' },
  skipped_event: {
    severity: 'error',
    hint: 'an event could not be read and was skipped; no call of this stream is run',
  },
  splice_suspected: { severity: 'warning', hint: 'two generations may have been joined in one stream' },
  text_restated: {
    severity: 'warning',
    hint: 'the wire restated a text that is not what its deltas said; the restated text counts, what was shown of it is wrong',
  },
  think_tags: {
    severity: 'info',
    hint: 'the text holds <think> tags; set thinkTags in the profile to read them as reasoning',
  },
  tool_arguments_not_streamed: {
    severity: 'info',
    hint: 'arguments came in one piece at the end: the server buffers them',
  },
  tool_call_in_text: {
    severity: 'warning',
    hint: 'a tool call seems to be printed as text; it is never run: check the tool parser or chat template of the server',
  },
  transport_error_after_end: {
    severity: 'info',
    hint: 'the connection broke after the response had ended; nothing was lost',
  },
  unexpected_field: { severity: 'warning', hint: 'a field has an unexpected type and was not read' },
  unknown_event: { severity: 'info', hint: 'events that are not chunks of this API were ignored' },
  unknown_finish_reason: {
    severity: 'warning',
    hint: 'the finish reason is not known; calls are held; add it to finishAliases if it is good',
  },
  unknown_sse_field: { severity: 'info', hint: 'a line has a field name that server-sent events do not know' },
  unterminated_last_event: { severity: 'info', hint: 'the last event has no blank line after it, and was whole' },
  usage_decreased: { severity: 'info', hint: 'a usage counter went down' },
}
