/**
 * States of an execution, which is one business operation, whoever asked for it.
 * - `ready`: released, and nobody has begun.
 * - `executing`: claimed; from here on it may have had its effect.
 * - `unknown`: it may have had its effect, and whoever knew is gone. Never run again; settled by a late report, by asking the
 *   other side, or by a person.
 * - `succeeded`, `failed`: settled. `failed` means that there was no effect, or none that counts.
 */
export const EXECUTION_STATES = ['ready', 'executing', 'unknown', 'succeeded', 'failed'] as const
export type ExecutionState = (typeof EXECUTION_STATES)[number]

/** What may follow what. The tables themselves refuse everything else. */
export const EXECUTION_MOVES: Readonly<Record<ExecutionState, readonly ExecutionState[]>> = {
  ready: ['executing'],
  executing: ['unknown', 'succeeded', 'failed'],
  unknown: ['succeeded', 'failed'],
  succeeded: [],
  failed: [],
}

/**
 * States of a call, which is what a model asked for in one place of one answer.
 * - `needs_approval`: a person has to agree first.
 * - `authorized`: may be released with its batch.
 * - `released`: the execution under its key stands for it from here on.
 * - `denied`: a policy or a person said no. `rejected`: it was wrong, or its batch was held. `cancelled`: the run was.
 */
export const CALL_STATES = ['needs_approval', 'authorized', 'released', 'denied', 'rejected', 'cancelled'] as const
export type CallState = (typeof CALL_STATES)[number]

export const CALL_MOVES: Readonly<Record<CallState, readonly CallState[]>> = {
  needs_approval: ['authorized', 'denied', 'rejected', 'cancelled'],
  authorized: ['released', 'rejected', 'cancelled'],
  released: ['cancelled'],
  denied: [],
  rejected: [],
  cancelled: [],
}

/** States of a batch, the calls of one choice: waiting for approvals, handed to execution, or not to be run. */
export const BATCH_STATES = ['open', 'released', 'refused'] as const
export type BatchState = (typeof BATCH_STATES)[number]

export const BATCH_MOVES: Readonly<Record<BatchState, readonly BatchState[]>> = {
  open: ['released', 'refused'],
  released: [],
  refused: [],
}

/** SQL list of words: `('a', 'b')`. */
export function sqlWords(words: readonly string[]): string {
  return `(${words.map((word) => `'${word}'`).join(', ')})`
}

/** SQL condition over OLD and NEW: the state changes to one that may not follow. */
export function illegalMove(moves: Readonly<Record<string, readonly string[]>>): string {
  const legal = Object.entries(moves)
    .filter(([, next]) => next.length > 0)
    .map(([from, next]) => `(OLD.state = '${from}' and NEW.state in ${sqlWords(next)})`)
  return `NEW.state <> OLD.state and not (${legal.join(' or ')})`
}
