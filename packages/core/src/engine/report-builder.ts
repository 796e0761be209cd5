import type { StreamAccumulator } from '../accumulate/accumulator.ts'
import type { Diagnostic } from '../chunk/diagnostic.ts'
import type { StreamFault } from '../chunk/fault.ts'
import type { Outcome } from '../chunk/outcome.ts'
import type { TokenUsage } from '../chunk/usage.ts'
import type { ToolCallMachine } from '../tool-call/machine.ts'
import type { BodyReader } from './body.ts'
import { REFUSALS } from './choice-board.ts'
import type { ChoiceBoard } from './choice-board.ts'
import type { EndCause } from './stream-engine.ts'
import { REPORT_SCHEMA } from './report.ts'
import type { ReportChoice, ReportCounts, ReportError, ReportSource, ReportTiming, StreamReport } from './report.ts'
import { upstreamRequestId } from './response-head.ts'
import type { ResponseHead } from './response-head.ts'
import { verdictOf } from './verdict.ts'
import type { Rung } from './verdict.ts'

/** Everything a report is made of. */
export interface ReportParts {
  readonly api: string
  readonly source: ReportSource
  readonly attempt: number
  readonly requestId: string | null
  readonly route: string | null
  readonly head: ResponseHead | undefined
  readonly cause: EndCause | undefined
  readonly outcome: Outcome | undefined
  readonly fault: StreamFault | undefined
  readonly skipped: Rung | undefined
  readonly usage: TokenUsage | undefined
  readonly body: BodyReader
  readonly accumulator: StreamAccumulator
  readonly choices: ChoiceBoard
  readonly calls: ToolCallMachine
  readonly diagnostics: readonly Diagnostic[]
  readonly timing: ReportTiming
  readonly counts: ReportCounts
}

export function buildReport(parts: ReportParts): StreamReport {
  const {
    api,
    source,
    attempt,
    requestId,
    route,
    outcome = null,
    fault,
    usage = null,
    timing,
    counts,
    diagnostics,
  } = parts
  return {
    schema: REPORT_SCHEMA,
    api,
    source,
    verdict: verdict(parts),
    outcome,
    error: fault === undefined ? null : reportError(fault),
    choices: reportChoices(parts),
    attempts: [
      {
        attempt,
        requestId,
        upstreamRequestId: upstreamRequestId(parts.head),
        route,
        events: counts.events,
        outcome,
        code: fault?.code ?? null,
        retryReason: null,
        executed: false,
      },
    ],
    usage,
    timing,
    counts,
    diagnostics,
  }
}

function verdict(parts: ReportParts): StreamReport['verdict'] {
  const { outcome, fault, skipped, calls, counts, diagnostics } = parts
  return verdictOf({
    head: parts.head,
    ended: outcome !== undefined,
    outcome,
    fault,
    framing: framingRung(parts),
    skipped,
    missingEnd: findingRung(diagnostics, 'missing_sentinel') ?? findingRung(diagnostics, 'missing_finish_reason'),
    truncated:
      outcome === 'truncated'
        ? { state: 'fail', code: 'output_truncated', message: REFUSALS.output_truncated! }
        : undefined,
    calls: calls.choices.flatMap((choice) => calls.calls(choice)),
    sawEvents: counts.events > 0,
  })
}

function reportError(fault: StreamFault): ReportError {
  const { choice: _choice, ...error } = fault
  return error
}

function reportChoices({ accumulator, choices, calls }: ReportParts): readonly ReportChoice[] {
  return accumulator.snapshot().choices.map(({ index }) => {
    const { finish, verdict: judged, phase } = choices.get(index)
    return {
      index,
      text: accumulator.text(index),
      reasoning: accumulator.reasoning(index),
      refusal: accumulator.refusal(index),
      toolCalls: calls.calls(index).map(({ choice: _choice, ordinal: _ordinal, ...call }) => call),
      finish: { reason: finish?.reason ?? null, raw: finish?.raw ?? null },
      outcome: judged?.outcome ?? null,
      phase,
    }
  })
}

function framingRung({ body, cause, diagnostics }: ReportParts): Rung | undefined {
  const replaced = diagnostics.find(({ code }) => code === 'invalid_utf8')
  const offset = body.invalidUtf8?.firstOffset ?? replaced?.offset
  if (body.invalidUtf8 !== undefined || replaced !== undefined) {
    const message = 'the body holds bytes that are not UTF-8'
    return { state: 'fail', code: 'invalid_utf8', ...(offset !== undefined && { offset }), message }
  }
  const broken = cause === 'reset' || cause === 'cut' || cause === 'error'
  if (!broken || diagnostics.some(({ code }) => code === 'transport_error_after_end')) return undefined
  return { state: 'fail', code: 'incomplete_stream', offset: body.bytes, message: 'the transport did not end cleanly' }
}

function findingRung(diagnostics: readonly Diagnostic[], wanted: Diagnostic['code']): Rung | undefined {
  const found = diagnostics.find(({ code }) => code === wanted)
  if (found === undefined) return undefined
  const { code, hint: message, event, offset } = found
  return {
    state: 'pass',
    code,
    message,
    ...(event !== undefined && { event }),
    ...(offset !== undefined && { offset }),
  }
}
