import type { StreamEvent, StreamReport, StreamSnapshot } from 'streamfold'
import type { Tool } from '../define/tool.ts'
import type { Message } from './message.ts'

/** One request to the model. */
export interface ModelRequest {
  readonly messages: readonly Message[]
  /** To be declared with `toolDeclarations`. */
  readonly tools: readonly Tool[]
  readonly runId: string
  /** Number of the request within its run; every attempt has a new one. */
  readonly turn: number
  /** Which try at the same answer this is, from 1. */
  readonly attempt: number
  /** Aborts when the answer is no longer wanted. */
  readonly signal: AbortSignal
}

/** A streamed answer, as `streamModel` gives it. It may throw at its end what its last event said. */
export interface ModelAnswer extends AsyncIterable<StreamEvent> {
  report(): StreamReport
  snapshot?(): StreamSnapshot
}

/** Starts a streamed request. Whatever it throws ends the conversation. */
export type ConversationModel = (request: ModelRequest) => ModelAnswer
