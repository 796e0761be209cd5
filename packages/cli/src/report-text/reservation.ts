import type { StreamReport } from 'streamfold'

type ToolCall = StreamReport['choices'][number]['toolCalls'][number]

/** What an accepted outcome does not say: that it is no clean one all the same. */
export type Reservation = 'calls not released' | 'a failed check'

/** A provider's own calls and repeats of a call are not released by design. */
export function unreleasedCalls({ choices }: StreamReport): readonly ToolCall[] {
  return choices
    .flatMap(({ toolCalls }) => toolCalls)
    .filter(({ code }) => code !== null && code !== 'provider_executed' && code !== 'duplicate_call')
}

export function reservationOf(report: StreamReport): Reservation | undefined {
  if (unreleasedCalls(report).length > 0) return 'calls not released'
  return Object.values(report.verdict).some(({ state }) => state === 'fail') ? 'a failed check' : undefined
}
