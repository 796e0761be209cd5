import type { StreamSnapshot } from '../accumulate/snapshot.ts'
import type { AdapterMachine, Evidence, StreamAdapter } from '../adapters/adapter.ts'
import type { DiagnosticCode } from '../chunk/diagnostic.ts'
import type { RequestFacts } from '../chunk/request-facts.ts'
import type { TokenUsage } from '../chunk/usage.ts'
import { clip } from '../json/clip.ts'
import type { BodyReader } from './body.ts'
import type { ChoiceBoard } from './choice-board.ts'
import { looksLikeThinking, looksLikeToolCall } from './leaked-markup.ts'
import { headerOf } from './response-head.ts'
import type { ResponseHead } from './response-head.ts'
import type { Timeline } from './timeline.ts'
import type { ToolCallMachine } from '../tool-call/machine.ts'

type Note = (code: DiagnosticCode, detail?: string) => void

export interface EndedResponse {
  readonly snapshot: StreamSnapshot
  readonly choices: ChoiceBoard
  readonly calls: ToolCallMachine
  readonly machine: AdapterMachine
  readonly adapter: StreamAdapter
  /** Is a terminal signal due? Usually what the adapter says. */
  readonly sentinel: Evidence
  readonly request: RequestFacts
  readonly usage: TokenUsage | undefined
}

/** Findings that only the end of a response can show. A finish of `stop` with calls is promoted here (fault F091). */
export function noteChoices(response: EndedResponse, note: Note): void {
  const { snapshot, choices, calls, machine, adapter, sentinel, request, usage } = response
  const finished = choices.list().filter(({ finish }) => finish !== undefined)
  const terminal = machine.ended || machine.wholeCompletion
  if (!terminal && sentinel === 'required' && finished.length > 0) note('missing_sentinel')
  if (terminal && adapter.finishReason === 'required' && finished.length < snapshot.choices.length) {
    note('missing_finish_reason')
  }
  const seen = snapshot.choices.length
  if (request.n !== undefined && seen < request.n) note('missing_choice', `${seen} of ${request.n}`)
  if (request.usage === true && usage === undefined) note('missing_usage')
  for (const { index, blocks } of snapshot.choices) {
    const state = choices.get(index)
    const hasCalls = blocks.some((block) => block.type === 'tool-call')
    const text = blocks.find((block) => block.type === 'text')
    if (text?.type === 'text') {
      if (looksLikeThinking(text.text)) note('think_tags')
      if (!hasCalls && looksLikeToolCall(text.text)) note('tool_call_in_text')
    }
    const { finish } = state
    const refused = blocks.some((block) => block.type === 'refusal')
    // Calls that the provider runs itself are over when it stops.
    const whole = calls.calls(index).some((call) => call.state === 'complete' && !call.providerExecuted)
    if (finish?.reason === 'stop' && !refused && whole) {
      note('finish_reason_mismatch', `"${clip(finish.raw ?? '', 60)}" with tool calls is read as tool calls`)
      state.finish = { reason: 'tool-calls', raw: finish.raw }
    } else if (!hasCalls && finish?.reason === 'tool-calls') note('finish_without_calls')
  }
}

/** Findings about how the body came. */
export function noteTransport(body: BodyReader, head: ResponseHead | undefined, timeline: Timeline, note: Note): void {
  const { streaming } = timeline
  if (streaming === 'bursty' || streaming === 'fake') note('bursty_arrival', streaming)
  if (timeline.argumentsInOnePiece) note('tool_arguments_not_streamed')
  const type = headerOf(head, 'content-type')
  if (type === undefined || body.kind === undefined) return
  if (CONTENT_TYPES[body.kind].some((known) => type.toLowerCase().includes(known))) return
  note('content_type_mismatch', `"${clip(type, 60)}" for a body that is ${body.kind}`)
}

const CONTENT_TYPES = {
  sse: ['text/event-stream'],
  json: ['application/json', 'ndjson', 'jsonl', 'application/x-json'],
  'json-array': ['application/json', 'application/x-json'],
  html: ['text/html'],
  'aws-event-stream': ['application/vnd.amazon.eventstream'],
} as const
