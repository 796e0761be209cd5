import type { FaultCode, Phase } from 'streamfold'
import type { Effect } from '../define/tool.ts'
import type { CallState } from './states.ts'

/** A row of `streamfold_call`, without its place. */
export interface CallRow {
  readonly ordinal: number
  readonly call_id: string
  readonly tool: string
  readonly args: string
  readonly args_hash: string
  readonly op_key: string | null
  readonly effect: Effect | null
  readonly state: CallState
  readonly code: FaultCode | null
  readonly phase: Phase | null
  readonly reason: string | null
}
