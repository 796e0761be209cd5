import { sha256Hex } from '../validate/sha256.ts'

/** Place of a call in a run, made by us; ids from the model are part of it and never all of it. */
export interface CallPlace {
  readonly runId: string
  readonly turn: number
  readonly choice: number
  readonly ordinal: number
  readonly callId: string
}

/**
 * The key under which an operation is done once.
 *
 * With an operation id of the tool: the same business operation has the same key in every turn and run. Without one the place
 * stands for it, which protects only against replays of the same answer: a model that asks again really does it again.
 *
 * @param neverBegun how many executions of the operation there are that were claimed and then stopped before they began: their
 *   rows stay as evidence, and the operation has its next key
 */
export function operationKey(tool: string, operationId: string | undefined, place: CallPlace, neverBegun = 0): string {
  if (operationId !== undefined) {
    return `op:${sha256Hex(JSON.stringify(neverBegun === 0 ? [tool, operationId] : [tool, operationId, neverBegun]))}`
  }
  // Encoded as an array: parts that hold a separator can't run into each other.
  return `call:${sha256Hex(JSON.stringify([place.runId, place.turn, place.choice, place.ordinal, place.callId]))}`
}

/** What the other side sees: the same in every attempt, different for every tenant, 64 hexadecimal digits. */
export function idempotencyKey(tenant: string, key: string): string {
  return sha256Hex(JSON.stringify([tenant, key]))
}
