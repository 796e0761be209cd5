import type { FaultCode, JsonObject, StreamSnapshot } from 'streamfold'

/** One message of a conversation, in no provider's words. Plain data: it goes into the ledger as JSON. */
export type Message = InstructionMessage | AssistantMessage | ToolMessage

export interface InstructionMessage {
  readonly role: 'system' | 'user'
  /** Text, or content parts in the words of the API that will get them; those are passed on as they are. */
  readonly content: string | readonly JsonObject[]
}

export interface AssistantMessage {
  readonly role: 'assistant'
  readonly text: string
  readonly reasoning?: string
  readonly toolCalls: readonly RequestedCall[]
  /** Everything the model sent, signatures and other opaque parts included, for APIs that want them back. */
  readonly snapshot?: StreamSnapshot
  /** The wire format that the snapshot was read from. */
  readonly api?: string
}

/** A tool call as the model asked for it, run or not. */
export interface RequestedCall {
  readonly callId: string
  readonly providerCallId?: string
  readonly ordinal: number
  /** Empty when the model gave none. */
  readonly name: string
  /** Raw, perhaps not JSON. */
  readonly argumentsText: string
}

/** What came of one call. There is one for every call of the answer before it, in the same order. */
export interface ToolMessage {
  readonly role: 'tool'
  readonly callId: string
  readonly providerCallId?: string
  readonly name: string
  /** JSON of the result, or a sentence that says why there is none. */
  readonly content: string
  readonly status: 'succeeded' | 'failed' | 'unknown' | 'refused'
  readonly code?: FaultCode
}
