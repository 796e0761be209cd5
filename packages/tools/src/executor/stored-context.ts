import type { Principal } from '../authorize/principal.ts'
import type { CallContext } from '../define/tool.ts'
import type { Execution } from '../ledger/execution.ts'

interface StoredContext {
  readonly workflow?: string
  readonly principal?: Principal
}

/** What goes with an execution to whoever runs it. */
export function contextJson(context: { readonly workflow?: string; readonly principal?: Principal }): string {
  return JSON.stringify({ workflow: context.workflow, principal: context.principal })
}

/** What one worker began goes on under the workflow and for the people it was begun for. */
export function storedContext(execution: Execution): CallContext {
  const { workflow, principal } = JSON.parse(execution.contextJson) as StoredContext
  const { tenant, runId, turn, choice } = execution
  return {
    tenant,
    runId,
    turn,
    choice,
    attempt: 1,
    ...(workflow === undefined ? {} : { workflow }),
    ...(principal === undefined ? {} : { principal }),
  }
}
