import type { ReadyToolCall } from 'streamfold'
import { clip } from 'streamfold/json'
import type { GateVerdict } from '../gate.ts'
import type { CheckedCall } from '../ledger/release-request.ts'
import { sha256Hex } from '../validate/sha256.ts'
import type { AboutCall } from './tool-result.ts'

export function aboutOf(call: ReadyToolCall): AboutCall {
  return { callId: call.callId, ordinal: call.ordinal, name: call.name }
}

/** Why the batch can't be taken: two calls of one batch with one identity can't be told apart afterwards. */
export function repeated(calls: readonly ReadyToolCall[]): string | undefined {
  const ids = new Set<string>()
  const ordinals = new Set<number>()
  for (const { callId, ordinal } of calls) {
    if (ids.has(callId)) return `two calls of this answer have the id ${clip(callId, 60)}`
    if (ordinals.has(ordinal)) return `two calls of this answer have the ordinal ${ordinal}`
    ids.add(callId)
    ordinals.add(ordinal)
  }
  return undefined
}

/** The gate's verdict as the ledger keeps it. */
export function checkedCall(call: ReadyToolCall, verdict: GateVerdict): CheckedCall {
  const about = { ordinal: call.ordinal, callId: call.callId, tool: call.name }
  if (verdict.kind === 'refuse') {
    const { code, phase, message } = verdict
    return {
      ...about,
      inputJson: call.argumentsText,
      argumentsHash: sha256Hex(call.argumentsText),
      verdict: 'refuse',
      code,
      phase,
      reason: message,
    }
  }
  const { inputJson, argumentsHash, tool, operationId, approval, policyRevision } = verdict
  return {
    ...about,
    inputJson,
    argumentsHash,
    verdict: 'pass',
    effect: tool.effect,
    ...(operationId === undefined ? {} : { operationId }),
    ...(policyRevision === undefined ? {} : { policyRevision }),
    ...(approval === undefined
      ? {}
      : {
          approval: {
            reason: approval.reason,
            shownJson: JSON.stringify(approval.shown),
            expiresInMs: approval.expiresInMs,
          },
        }),
  }
}
