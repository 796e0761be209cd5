/**
 * What kind of content a block holds. An `opaque` block is content that only its provider can read (the result of a tool that it
 * ran itself, a compacted history): it has no text, and what was sent is kept in its metadata, in its place, to be echoed.
 * Kinds may be added; treat an unknown kind as opaque.
 */
export type ContentBlockType = 'text' | 'reasoning' | 'refusal' | 'opaque' | 'tool-call'

/** How far a block got: still growing, ended by the wire, or cut off when the stream ended without the wire's word. */
export type BlockStatus = 'streaming' | 'done' | 'interrupted'

/** Any block but a call. */
export interface TextBlock {
  readonly type: Exclude<ContentBlockType, 'tool-call'>
  /** Block key within the choice, allocated in order of first appearance. */
  readonly index: number
  readonly text: string
  readonly status: BlockStatus
  /** Opaque provider fields of this block (a thinking signature, encrypted reasoning), to be echoed unchanged (fault F179). */
  readonly metadata?: Readonly<Record<string, unknown>>
}

/** A call as it is shown; whether it may be run, only the tool-call machine says. */
export interface ToolCallBlock {
  readonly type: 'tool-call'
  readonly index: number
  /** The provider's id where that is non-empty and unique in the response, else minted here; stable from start to end. */
  readonly callId: string
  /** What the wire sent as id, for echo only. Never an identity to act on: it may repeat (faults F076, F078). */
  readonly providerCallId?: string
  readonly name?: string
  /** The input is free text (a custom tool), not JSON. */
  readonly freeText?: boolean
  /** Raw JSON text as received. Half a document is not a value; see the tool-call machine for parsed arguments. */
  readonly argumentsText: string
  readonly status: BlockStatus
  /** The provider runs this call itself; it is never offered for execution (fault F083). */
  readonly providerExecuted?: boolean
  /** Opaque provider fields of this call (a thought signature, for example), to be echoed unchanged (fault F179). */
  readonly metadata?: Readonly<Record<string, unknown>>
}

/** A part of an answer, as a snapshot has it. */
export type ContentBlock = TextBlock | ToolCallBlock
