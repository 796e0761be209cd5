import type { FaultCode, Phase } from '../chunk/fault.ts'
import type { JsonObject } from '../json/value.ts'
import type { ArgumentRepair } from '../chunk/argument-repair.ts'
import type { CallState } from './state.ts'

/** One call as the machine keeps it. Raw text is kept for ever; it is what is hashed, shown and sent back. */
export interface CallRecord {
  readonly choice: number
  /** Block index of the call in its choice. */
  readonly block: number
  /** Place among the calls of its choice, from 0. */
  readonly ordinal: number
  readonly callId: string
  providerCallId: string | undefined
  name: string | undefined
  argumentsText: string
  /** UTF-8 length of `argumentsText`. */
  argumentBytes: number
  /** The pieces as they came; kept only when a repair may need them. */
  fragments: string[] | undefined
  state: CallState
  /** Why the call is not released; null exactly when it is. */
  code: FaultCode | null
  phase: Phase | undefined
  message: string | undefined
  argumentsOffset: number | undefined
  parsedArguments: JsonObject | null
  repair: ArgumentRepair | undefined
  /** Arguments were empty, white space or `{}`. */
  emptyArguments: boolean
  providerExecuted: boolean
  freeText: boolean
  /** The response lists the declared tools without this one. */
  undeclared: boolean
  invalidUtf8: boolean
  /** Why the arguments can't be trusted as they were sent. */
  unsafe: string | undefined
  metadata: Record<string, unknown> | undefined
  /** `tool_call_started` was given out. */
  started: boolean
  /** Its one terminal event was given out. */
  settled: boolean
}

/** A call as reports and views show it. */
export interface CallSnapshot {
  readonly callId: string
  readonly providerCallId?: string
  readonly choice: number
  readonly ordinal: number
  readonly name: string | null
  readonly argumentsText: string
  readonly parsedArguments: JsonObject | null
  readonly state: CallState
  readonly code: FaultCode | null
  readonly message?: string
  readonly argumentsOffset?: number
  readonly repairs?: readonly ArgumentRepair[]
  readonly providerExecuted: boolean
}

export function snapshotOf(record: CallRecord): CallSnapshot {
  return {
    callId: record.callId,
    ...(record.providerCallId !== undefined &&
      record.providerCallId !== record.callId && { providerCallId: record.providerCallId }),
    choice: record.choice,
    ordinal: record.ordinal,
    name: record.name ?? null,
    argumentsText: record.argumentsText,
    parsedArguments: record.parsedArguments,
    state: record.state,
    code: record.code,
    ...(record.message !== undefined && { message: record.message }),
    ...(record.argumentsOffset !== undefined && { argumentsOffset: record.argumentsOffset }),
    ...(record.repair !== undefined && { repairs: [record.repair] }),
    providerExecuted: record.providerExecuted,
  }
}
