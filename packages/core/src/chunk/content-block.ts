/** What kind of content a block holds. Media kinds may be added; treat an unknown kind as opaque. */
export type ContentBlockType = 'text' | 'reasoning' | 'refusal' | 'tool-call'

/** How far a block got: still growing, ended by the wire, or cut off when the stream ended without the wire's word. */
export type BlockStatus = 'streaming' | 'done' | 'interrupted'

export interface TextBlock {
  readonly type: 'text' | 'reasoning' | 'refusal'
  /** Block key within the choice, allocated in order of first appearance. */
  readonly index: number
  readonly text: string
  readonly status: BlockStatus
}

export interface ToolCallBlock {
  readonly type: 'tool-call'
  readonly index: number
  /** The provider's id where that is non-empty and unique in the response, else minted here; stable from start to end. */
  readonly callId: string
  /** What the wire sent as id, for echo only. Never an identity to act on: it may repeat (faults F076, F078). */
  readonly providerCallId?: string
  readonly name?: string
  /** Raw JSON text as received. Half a document is not a value; see the tool-call machine for parsed arguments. */
  readonly argumentsText: string
  readonly status: BlockStatus
  /** The provider runs this call itself; it is never offered for execution (fault F083). */
  readonly providerExecuted?: boolean
  /** Opaque provider fields of this call (a thought signature, for example), to be echoed unchanged (fault F179). */
  readonly metadata?: Readonly<Record<string, unknown>>
}

export type ContentBlock = TextBlock | ToolCallBlock
