import type { CallRecord } from '../ledger/run.ts'
import { executionResult, refusedResult } from '../executor/tool-result.ts'
import type { ToolResult } from '../executor/tool-result.ts'
import type { ToolMessage } from './message.ts'
import type { StoredAnswer } from './stored-answer.ts'

/** The results of all calls of an answer, in its order: those of the executor, and the refusals that came before it. */
export function resultsOf(answer: StoredAnswer, executed: readonly ToolResult[]): readonly ToolResult[] {
  const byId = new Map(executed.map((result) => [result.callId, result]))
  for (const { code, phase, reason, ...about } of answer.refused) {
    byId.set(about.callId, refusedResult(about, code, phase, reason))
  }
  return answer.message.toolCalls.flatMap(({ callId }) => byId.get(callId) ?? [])
}

/** The results as the model gets them. */
export function toolMessages(answer: StoredAnswer, executed: readonly ToolResult[]): readonly ToolMessage[] {
  const asked = new Map(answer.message.toolCalls.map((call) => [call.callId, call]))
  return resultsOf(answer, executed).map(({ callId, name, content, status, code }) => {
    const providerCallId = asked.get(callId)?.providerCallId
    return {
      role: 'tool',
      callId,
      ...(providerCallId === undefined ? {} : { providerCallId }),
      name,
      content,
      // Nothing goes on while a call is under way; should it, the model must not take it for done.
      status: status === 'pending' ? 'unknown' : status,
      ...(code === undefined ? {} : { code }),
    }
  })
}

/** What came of the calls of an earlier turn, from the ledger's rows alone. */
export function recordedResults(answer: StoredAnswer, records: readonly CallRecord[]): readonly ToolResult[] {
  const byId = new Map(records.filter(({ choice }) => choice === 0).map((record) => [record.callId, record]))
  return answer.calls.map(({ callId, ordinal, name }): ToolResult => {
    const about = { callId, ordinal, name }
    const record = byId.get(callId)
    if (record?.execution !== undefined) return executionResult(about, record.execution, true)
    const { code, phase, reason } = record ?? {}
    return refusedResult(
      about,
      (code ?? 'cancelled') as NonNullable<ToolResult['code']>,
      (phase ?? 'execute') as NonNullable<ToolResult['phase']>,
      reason ?? 'it was never handed over',
    )
  })
}
