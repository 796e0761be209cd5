/**
 * The states of a tool call, in order. The core moves a call up to `complete`; the states after it belong to the executor,
 * which keeps them in a ledger. `succeeded` and `failed` are final.
 */
export const CALL_STATES = [
  'collecting',
  'complete',
  'validated',
  'authorized',
  'executing',
  'succeeded',
  'failed',
] as const

export type CallState = (typeof CALL_STATES)[number]

const NEXT: Readonly<Record<CallState, CallState | undefined>> = {
  collecting: 'complete',
  complete: 'validated',
  validated: 'authorized',
  authorized: 'executing',
  executing: 'succeeded',
  succeeded: undefined,
  failed: undefined,
}

/** Only forward, one step at a time; any state before `succeeded` may go to `failed`. Every other move is refused. */
export function mayMove(from: CallState, to: CallState): boolean {
  if (to === 'failed') return from !== 'succeeded' && from !== 'failed'
  return NEXT[from] === to
}

export function isFinal(state: CallState): boolean {
  return state === 'succeeded' || state === 'failed'
}
