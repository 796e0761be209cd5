import type { FaultCode, ReadyToolCall } from 'streamfold'
import { utf8Length } from 'streamfold/json'
import type { BatchPlace } from '../executor/executor-api.ts'
import type { ToolResult } from '../executor/tool-result.ts'
import { sha256Hex } from '../validate/sha256.ts'

/** One line per call for a log or an audit trail: what, when, how it ended. Hashes, lengths and names; never content. */
export interface CallLine {
  readonly runId: string
  readonly turn: number
  readonly choice: number
  readonly ordinal: number
  readonly callId: string
  readonly tool: string
  readonly status: ToolResult['status']
  readonly code: FaultCode | null
  /** Key in the ledger; `null` for a call that never came that far. */
  readonly key: string | null
  readonly replayed: boolean
  /** sha-256 of the text as the model sent it. */
  readonly argumentsHash: string
  readonly argumentBytes: number
  /** Names of the fields at the top, sorted. */
  readonly argumentKeys: readonly string[]
  readonly resultHash: string
  readonly resultBytes: number
  readonly truncated: boolean
}

/** Names of fields come from the model too. */
const MAX_KEYS = 32
const MAX_KEY_CHARS = 64

export function callLine(place: BatchPlace, choice: number, call: ReadyToolCall, result: ToolResult): CallLine {
  return {
    runId: place.runId,
    turn: place.turn,
    choice,
    ordinal: call.ordinal,
    callId: call.callId,
    tool: call.name.slice(0, MAX_KEY_CHARS),
    status: result.status,
    code: result.code ?? null,
    key: result.key ?? null,
    replayed: result.replayed,
    argumentsHash: sha256Hex(call.argumentsText),
    argumentBytes: utf8Length(call.argumentsText),
    argumentKeys: Object.keys(call.parsedArguments)
      .sort()
      .slice(0, MAX_KEYS)
      .map((key) => key.slice(0, MAX_KEY_CHARS)),
    resultHash: sha256Hex(result.content),
    resultBytes: utf8Length(result.content),
    truncated: result.truncated,
  }
}
