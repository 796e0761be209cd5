import type { ReportChoice, ReportToolCall, StreamReport } from 'streamfold'
import type { Rung } from 'streamfold/engine'
import type { ToolResult } from '../executor/tool-result.ts'
import { callState, fateOf } from './call-fate.ts'
import type { CallFate } from './call-fate.ts'

/** The results of the calls of one choice. */
export interface ChoiceResults {
  /** Default 0. */
  readonly choice?: number
  readonly results: readonly ToolResult[]
}

/**
 * The report of a stream, completed by what came of its calls: the rungs `tool_authorized` and `tool_executed` with their first
 * evidence, the state of every call that was handed over, and whether the attempt has led to an execution. The report that was
 * given is left as it is.
 *
 * A rung passes when every call of the stream passed it. It fails with the first call that was refused (`tool_authorized`), or
 * that did not end as `succeeded` (`tool_executed`). It stays `not_reached` while calls wait, and where some never came so far;
 * a stream without calls of its own has nothing to answer.
 *
 * A call that was handed over has a `code` when it was refused, failed, waits or is unknown, not only when it was not released.
 */
export function reportWithResults(report: StreamReport, batches: readonly ChoiceResults[]): StreamReport {
  const given = new Map<string, ToolResult>()
  for (const { choice = 0, results } of batches) {
    for (const result of results) given.set(placeOf(choice, result.callId), result)
  }
  const fates: CallFate[] = []
  const choices = report.choices.map((choice): ReportChoice => {
    const toolCalls = choice.toolCalls.map((call): ReportToolCall => {
      if (call.providerExecuted || call.code === 'duplicate_call') return call
      // Only a released call can have been handed over; of another one the results repeat why it was not.
      const result = call.code === null ? given.get(placeOf(choice.index, call.callId)) : undefined
      const fate = fateOf(call, result)
      fates.push(fate)
      return result === undefined ? call : { ...call, ...callState(result, fate) }
    })
    return { ...choice, toolCalls }
  })
  if (fates.length === 0) return report
  const { verdict } = report
  return {
    ...report,
    choices,
    attempts: withExecution(
      report.attempts,
      fates.some(({ mayHaveRun }) => mayHaveRun),
    ),
    verdict: {
      ...verdict,
      tool_authorized: worst(fates.map(({ authorized }) => authorized)),
      tool_executed: worst(fates.map(({ executed }) => executed)),
    },
  }
}

const placeOf = (choice: number, callId: string): string => `${choice}/${callId}`

/** Calls are released at the end of a stream, so they are those of its last attempt. */
function withExecution(attempts: StreamReport['attempts'], executed: boolean): StreamReport['attempts'] {
  return attempts.map((attempt, at) => (at === attempts.length - 1 && executed ? { ...attempt, executed } : attempt))
}

function worst(rungs: readonly Rung[]): Rung {
  return (
    rungs.find(({ state }) => state === 'fail') ??
    rungs.find(({ state }) => state === 'not_reached') ?? { state: 'pass' }
  )
}
