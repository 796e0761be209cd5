import { randomUUID } from 'node:crypto'
import type { Effect } from '../../src/define/tool.ts'
import { sha256Hex } from '../../src/validate/sha256.ts'
import type { CheckedCall, ReleaseRequest } from '../../src/ledger/release-request.ts'

export const LEASE_MS = 30_000

/** A call that passed the gate. */
export function passed(
  ordinal: number,
  options: {
    readonly tool?: string
    readonly effect?: Effect
    readonly input?: string
    readonly operationId?: string
    readonly ask?: number
    readonly callId?: string
  } = {},
): CheckedCall {
  const {
    tool = 'pay',
    effect = 'unsafe',
    input = `{"n":${ordinal}}`,
    operationId,
    ask,
    callId = `c${ordinal}`,
  } = options
  return {
    ordinal,
    callId,
    tool,
    inputJson: input,
    argumentsHash: sha256Hex(input),
    verdict: 'pass',
    effect,
    ...(operationId === undefined ? {} : { operationId }),
    ...(ask === undefined ? {} : { approval: { reason: 'it costs money', shownJson: input, expiresInMs: ask } }),
  }
}

/** A call that the gate refused. */
export function refusedCall(ordinal: number): CheckedCall {
  return {
    ordinal,
    callId: `c${ordinal}`,
    tool: 'pay',
    inputJson: '{',
    argumentsHash: sha256Hex('{'),
    verdict: 'refuse',
    code: 'schema_violation',
    phase: 'validate',
    reason: 'n: expected a number',
  }
}

export function request(
  tenant: string,
  calls: readonly CheckedCall[],
  options: Partial<ReleaseRequest> = {},
): ReleaseRequest {
  return {
    tenant,
    runId: 'run',
    turn: 1,
    choice: 0,
    calls,
    contextJson: '{}',
    policy: 'hold-all',
    owner: 'worker-a',
    leaseMs: LEASE_MS,
    claimLimit: 0,
    ...options,
  }
}

/** Tests share a database, and each has a tenant of its own. */
export const newTenant = (): string => `tenant-${randomUUID()}`
