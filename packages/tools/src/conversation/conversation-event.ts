import type { FaultCode, ReadyToolCall, StreamEvent, StreamReport } from 'streamfold'
import type { ToolResult } from '../executor/tool-result.ts'

/** What happens in a conversation, for whoever shows or logs it. */
export type ConversationEvent =
  | { readonly type: 'turn_started'; readonly runId: string; readonly turn: number; readonly attempt: number }
  /** An event of the model's stream; only of the newest attempt. */
  | { readonly type: 'model_event'; readonly turn: number; readonly attempt: number; readonly event: StreamEvent }
  /** Take back what this turn showed: its answer does not count. */
  | {
      readonly type: 'turn_abandoned'
      readonly turn: number
      readonly attempt: number
      readonly code: FaultCode
      readonly message: string
    }
  | { readonly type: 'tools_started'; readonly turn: number; readonly calls: readonly ReadyToolCall[] }
  | {
      readonly type: 'tool_results'
      readonly turn: number
      readonly results: readonly ToolResult[]
      /** Of the answer's stream, completed by these results. Absent where the answer was taken from the ledger. */
      readonly report?: StreamReport
    }
