import type { FaultCode, StreamReport } from 'streamfold'
import { durationText } from './quantities.ts'

/** What to do about a fault: one imperative sentence each. `docs/faults.md` has the evidence and the background. */
export const NEXT_STEPS: Readonly<Record<FaultCode, string>> = {
  connect_failed: 'check the base URL, that the server runs, and the proxy between',
  connect_timeout: 'check that the server is up; a slow start needs a higher connect limit',
  first_byte_timeout:
    'the server took the request and said nothing: look at its queue; raise the limit for a reasoning model',
  idle_timeout: 'the stream went silent: look at the server and at idle limits of the proxies between; then ask again',
  progress_timeout:
    'only heartbeats came: the model hangs; cancel and ask again, or raise the limit for a reasoning model',
  total_timeout: 'raise the total limit, or ask for a shorter answer',
  http_error: 'read the provider message; fix the request on a 4xx, try again on a 5xx',
  rate_limited: 'wait as long as the server asked, then try again with fewer requests at a time',
  wrong_api: 'read it with the --api that the message names',
  not_event_stream:
    'check the URL and what answers there: this is no model endpoint, or a proxy put a page in its place',
  empty_stream: 'try again; if it stays empty look at the log of the server: it closed without an answer',
  buffer_limit_exceeded: 'read faster, or raise the buffer limit',
  event_limit_exceeded: 'raise limits.eventBytes if such events are expected; else the server sends no blank lines',
  argument_limit_exceeded: 'raise limits.argumentBytes if such arguments are expected; else the model repeats itself',
  call_limit_exceeded:
    'raise limits.callsPerChoice if so many calls are expected; else the server miscounts its indexes',
  choice_limit_exceeded: 'raise limits.choices if so many choices were asked for',
  stream_limit_exceeded: 'raise limits.streamBytes if such answers are expected',
  invalid_utf8:
    'a hop cut or re-encoded characters: compare the bytes before and after each proxy; do not run these calls',
  invalid_event_json:
    'look at the bytes of that event: a hop cut, joined or rewrote it; report it to the operator of the server',
  upstream_error: 'the provider said this itself: read its message; retry only if the fault is retryable',
  incomplete_stream:
    'run none of its calls and ask again; if it repeats, look at limits of the proxies and the log of the server',
  protocol_conflict:
    'do not run these calls; the server contradicts itself: report it with this file, or set its profile',
  stream_splice: 'discard everything and ask again; a gateway joined two answers in one stream',
  output_truncated: 'raise max_tokens, or ask for less; never run a call of a cut answer',
  output_refused: 'show the refusal; change the request, do not retry it as it is',
  finish_unknown: 'look the finish reason up; if it is a good end add it to finishAliases of the profile',
  missing_finish_reason:
    'the server never said why it stopped: update it, or declare finishReason optional in its profile',
  event_skipped: 'text is usable, calls are not: look at the skipped event, then ask again',
  arguments_incomplete: 'ask again; the arguments were cut, look at max_tokens and at the tool parser of the server',
  arguments_invalid:
    'send the parse error back to the model, or look at the tool parser of the server; repairs are opt-in',
  arguments_unsafe: 'do not run the call: another parser may read its arguments differently; ask again',
  arguments_suspect: 'raise max_tokens: empty arguments at the limit are probably cut ones',
  missing_name: 'the call has no name: look at the tool parser or the chat template of the server',
  unknown_tool: 'declare the tool, or tell the model that it does not exist',
  schema_violation: 'send the violation back to the model as the result of the call',
  key_conflict: 'use a new idempotency key for other arguments',
  batch_held: 'fix the sibling that is not ready, or opt out with batch: "each"',
  provider_executed: 'nothing to do: the provider runs this call itself',
  tool_not_allowed: 'add a rule for the tool on purpose, or stop declaring it to the model',
  missing_call_id: 'hand over the calls of tool_batch_ready as they are; each has an id there',
  resource_denied: 'look at which resource was outside its boundary; tell the model what it may use',
  check_failed: 'repair the function of the tool or policy that the evidence names; nothing was run',
  not_authorized: 'allow it in the policy, or tell the model that it may not',
  approval_required: 'let a person decide, then hand the same batch over again',
  stale_attempt: 'nothing to do: a newer request of the run has taken over',
  in_progress: 'wait, then hand the same batch over again; never run it a second time',
  approval_denied: 'tell the model that the call was denied',
  duplicate_call: 'nothing to do: the same call came twice and is offered once',
  outcome_unknown: 'settle it by hand or by query; running it again may do it twice',
  execution_failed: 'look at the error of the tool, and send it back to the model',
  cancelled: 'nothing to do: the consumer stopped',
}

/** {@link NEXT_STEPS}, narrowed by what the report knows of the fault. */
export function nextStep(code: string, report: StreamReport): string | undefined {
  const narrowed =
    code === 'arguments_unsafe'
      ? unsafeStep(report)
      : report.error?.code === code && STATUS_CODES.has(code)
        ? statusStep(report.error)
        : undefined
  return narrowed ?? (code in NEXT_STEPS ? NEXT_STEPS[code as FaultCode] : undefined)
}

const STATUS_CODES: ReadonlySet<string> = new Set<FaultCode>(['http_error', 'rate_limited', 'upstream_error'])

function statusStep({ status = 0, retryable, retryAfterMs }: NonNullable<StreamReport['error']>): string | undefined {
  if (status === 401 || status === 403) return 'check the API key, and what it is allowed to use'
  if (status === 404) return 'check the base URL, which usually ends in /v1, and the name of the model'
  if (retryable === 'no') return status === 429 ? 'read the provider message: waiting does not help here' : undefined
  if (status === 429) {
    const wait = retryAfterMs === undefined ? 'wait, longer each time' : `wait ${durationText(retryAfterMs)}`
    return `${wait}, then try again with fewer requests at a time`
  }
  if (status < 500) return undefined
  const again = retryable === 'restart' ? 'discard what came and try again' : 'try again'
  return `${again}; if it repeats, the fault is on the side of the server: look at its status or log`
}

/** The call's message is the only place that tells the kinds apart; its ends can't be forged by a key's name. */
const UNSAFE_STEPS: readonly (readonly [RegExp, string])[] = [
  [/^the number at /, 'send big numbers as text in the schema; a parser would round this one'],
  [
    / is there twice, and which one counts depends on the reader$/,
    'ask again: only one of the two values can be meant',
  ],
  [
    /^the wire closed the call, and never stated its /,
    'do not take it for a call without arguments: look at what the server leaves out, and ask again',
  ],
  [
    / could change an object's prototype$/,
    'do not hand these arguments on; ask again, and rename the key if the schema has it',
  ],
]

function unsafeStep({ choices }: StreamReport): string | undefined {
  const calls = choices.flatMap(({ toolCalls }) => toolCalls)
  const message = calls.find(({ code }) => code === 'arguments_unsafe')?.message ?? ''
  return UNSAFE_STEPS.find(([kind]) => kind.test(message))?.[1]
}
