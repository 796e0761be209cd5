import type { Execution } from '../ledger/execution.ts'
import { askGate } from './ask-gate.ts'
import type { RecheckAnswer } from './execute-once.ts'
import type { ExecutorOptions } from './executor-options.ts'
import { storedContext } from './stored-context.ts'

/** The gate's word on a stored call, at the moment it is about to run: for the tenant, workflow and people it was begun for. */
export async function recheck(
  execution: Execution,
  { tenant, gate, ledger }: Pick<ExecutorOptions, 'tenant' | 'gate' | 'ledger'>,
): Promise<RecheckAnswer> {
  if (execution.tenant !== tenant) return { kind: 'refuse', reason: 'it belongs to another tenant' }
  const stored = { callId: execution.callId, name: execution.tool, inputJson: execution.inputJson }
  const verdict = await askGate(() => gate.recheck(stored, storedContext(execution)))
  if (verdict.kind === 'refuse') return { kind: 'refuse', reason: verdict.message }
  if (verdict.argumentsHash !== execution.argumentsHash) {
    return { kind: 'refuse', reason: 'the stored arguments are not those that were authorized' }
  }
  // The policy may ask for more by now than it did when the call was released.
  if (verdict.approval !== undefined && !(await ledger.isApproved(execution))) {
    return { kind: 'refuse', reason: 'a person has to agree to it, and did not' }
  }
  return { kind: 'pass', pass: verdict }
}
