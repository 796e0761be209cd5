import type { ReadyToolCall, StreamErrorEvent } from '../chunk/stream-event.ts'
import type { ReportChoice, StreamReport } from '../engine/report.ts'

/**
 * The report of a stream whose reader left before it had seen an end that the engine had read already. It says what the reader saw: a
 * cancelled stream, of whose calls only those were released that were handed out.
 */
export function overtakenReport(
  report: StreamReport,
  cancel: StreamErrorEvent,
  handedOut: readonly ReadyToolCall[],
): StreamReport {
  const { type: _, finish: __, outcome, ...error } = cancel
  const { code, message } = error
  const kept = new Set(handedOut.map(({ callId }) => callId))
  const choices = report.choices.map((choice): ReportChoice => {
    const toolCalls = choice.toolCalls.map((call) =>
      call.code === null && !kept.has(call.callId) ? { ...call, code } : call,
    )
    const dropped = toolCalls.some((call, i) => call !== choice.toolCalls[i])
    return { ...choice, toolCalls, outcome, phase: dropped ? 'failed' : choice.phase }
  })
  return {
    ...report,
    verdict: { ...report.verdict, delta_ok: { state: 'fail', code, message } },
    outcome,
    error,
    choices,
    attempts: report.attempts.map((line, i, all) => (i === all.length - 1 ? { ...line, outcome, code } : line)),
  }
}
