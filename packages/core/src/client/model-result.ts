import type { StreamSnapshot } from '../accumulate/snapshot.ts'
import type { Outcome } from '../chunk/outcome.ts'
import type { FinishSummary, ReadyToolCall, StreamErrorEvent } from '../chunk/stream-event.ts'
import type { TokenUsage } from '../chunk/usage.ts'
import type { StreamReport } from '../engine/report.ts'
import type { AttemptLoop } from './attempt-loop.ts'

/** What a stream came to. Text and calls are of choice 0; the report has every choice. */
export interface ModelResult {
  readonly outcome: Outcome
  readonly text: string
  readonly reasoning: string
  readonly refusal: string
  /** The calls that were released, and no others. */
  readonly toolCalls: readonly ReadyToolCall[]
  readonly finish: readonly FinishSummary[]
  readonly usage: TokenUsage | undefined
  /** With `throwOnError: false`, what the stream failed of. */
  readonly error: StreamErrorEvent | undefined
  readonly snapshot: StreamSnapshot
  readonly report: StreamReport
}

export function resultOf(loop: AttemptLoop): ModelResult {
  const report = loop.report()
  const last = loop.last!
  const first = report.choices.find(({ index }) => index === 0)
  return {
    outcome: last.outcome,
    text: first?.text ?? '',
    reasoning: first?.reasoning ?? '',
    refusal: first?.refusal ?? '',
    toolCalls: loop.released,
    finish: last.finish,
    usage: report.usage ?? undefined,
    error: last.type === 'stream_error' ? last : undefined,
    snapshot: loop.engine.snapshot(),
    report,
  }
}
