import type { StreamFault } from '../chunk/fault.ts'

/** Beside an error in the words of an API: the code of `docs/faults.md`, whatever the provider called it. */
export interface FaultNote {
  readonly streamfold: Pick<StreamFault, 'code' | 'retryable' | 'callId'>
}

export function faultNote({ code, retryable, callId }: StreamFault): FaultNote {
  return { streamfold: { code, retryable, ...(callId !== undefined && { callId }) } }
}
