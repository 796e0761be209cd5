import type { JsonObject } from '../json/value.ts'
import type { FaultCode, Phase, ProviderError, Retryable } from './fault.ts'
import type { FinishReason } from './finish-reason.ts'
import type { Outcome } from './outcome.ts'
import type { TokenUsage } from './usage.ts'

/** A call that passed every check of its batch. Only a `tool_batch_ready` event carries calls an executor may act on. */
export interface ReadyToolCall {
  readonly callId: string
  readonly providerCallId?: string
  /** Place of the call in its choice, from 0, in order of first appearance. */
  readonly ordinal: number
  readonly name: string
  /** Raw text as received: what is hashed, shown and sent back. */
  readonly argumentsText: string
  readonly parsedArguments: JsonObject
  /** Named repairs that were asked for and applied; absent when the text was parsed as it came. */
  readonly repairs?: readonly string[]
  readonly metadata?: Readonly<Record<string, unknown>>
}

/** Why a choice ended: null where the wire did not say, and `raw` in its own word. */
export interface FinishSummary {
  readonly choice: number
  readonly reason: FinishReason | null
  readonly raw: string | null
}

/**
 * What it means and what is safe. Exactly one of `stream_completed` and `stream_error` ends every stream; nothing follows it.
 */
export type StreamEvent =
  | {
      readonly type: 'stream_started'
      readonly api: string
      readonly id?: string
      readonly model?: string
      readonly attempt: number
    }
  | AttemptFailedEvent
  | { readonly type: 'text_delta'; readonly choice: number; readonly block: number; readonly text: string }
  | { readonly type: 'reasoning_delta'; readonly choice: number; readonly block: number; readonly text: string }
  | { readonly type: 'refusal_delta'; readonly choice: number; readonly block: number; readonly text: string }
  | ToolCallEvent
  | { readonly type: 'usage'; readonly usage: TokenUsage }
  | {
      readonly type: 'stream_completed'
      readonly outcome: Outcome
      readonly finish: readonly FinishSummary[]
    }
  | StreamErrorEvent

/**
 * An attempt failed before it had given out anything, and the request is sent again. Only a client that retries gives it out; what
 * follows is of the next attempt alone.
 */
export interface AttemptFailedEvent {
  readonly type: 'attempt_failed'
  /** Number of the attempt that failed, from 1. */
  readonly attempt: number
  readonly code: FaultCode
  readonly phase: Phase
  readonly message: string
  readonly status?: number
  /** What the server asked to wait, in milliseconds. */
  readonly retryAfterMs?: number
  /** Milliseconds until the next attempt starts; never less than `retryAfterMs`. */
  readonly delayMs: number
}

/** What becomes of a call, from its name to its batch. */
export type ToolCallEvent =
  | {
      readonly type: 'tool_call_started'
      readonly choice: number
      readonly callId: string
      readonly name: string
      readonly providerExecuted?: boolean
    }
  | {
      /** Raw JSON text, never parsed early. */
      readonly type: 'tool_call_arguments_delta'
      readonly choice: number
      readonly callId: string
      readonly text: string
    }
  | ({ readonly type: 'tool_call_ready'; readonly choice: number } & ReadyToolCall)
  | {
      /** The call is whole but not released; `code` says why. */
      readonly type: 'tool_call_held'
      readonly choice: number
      readonly callId: string
      readonly name: string
      readonly code: FaultCode
    }
  | {
      readonly type: 'tool_call_failed'
      readonly choice: number
      readonly callId: string
      readonly name?: string
      readonly code: FaultCode
      readonly phase: Phase
      readonly message: string
      /** UTF-16 offset in the arguments text, where the fault is a place in it. */
      readonly argumentsOffset?: number
    }
  | { readonly type: 'tool_batch_ready'; readonly choice: number; readonly calls: readonly ReadyToolCall[] }

/** The end of a stream that failed, is incomplete or was cancelled: `outcome` says which, `code` why. */
export interface StreamErrorEvent {
  readonly type: 'stream_error'
  readonly code: FaultCode
  readonly phase: Phase
  readonly message: string
  readonly retryable: Retryable
  readonly outcome: Outcome
  readonly status?: number
  readonly retryAfterMs?: number
  readonly provider?: ProviderError
  /** Ordinal of the event in which the fault was found, from 1. */
  readonly event?: number
  /** Byte offset of that event. */
  readonly offset?: number
  readonly callId?: string
  readonly finish: readonly FinishSummary[]
}
