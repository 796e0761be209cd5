import type { ContentBlock, ContentBlockType } from './content-block.ts'
import type { StreamFault } from './fault.ts'
import type { FinishReason } from './finish-reason.ts'
import type { TokenUsage } from './usage.ts'

/** A contradiction inside one call, found while fragments were matched to calls. */
export interface CallConflict {
  /** What contradicted what, in one sentence. */
  readonly message: string
}

/**
 * What came: the vendor-neutral, block-oriented form of a response, in arrival order.
 *
 * - `choice` is absent for choice 0.
 * - `index` is a block key that the adapter allocates in order of first appearance within its choice. Text, reasoning and
 *   each call of one choice are different blocks; blocks are shown in index order.
 * - `usage` comes before `finish`, and nothing follows `finish` for that choice: an adapter holds `finish` back until the
 *   wire's own end.
 * - `block-end` says the wire closed a block. It carries `block` where the wire restated the content; that value is
 *   authoritative for text, and for a call a contradiction is a conflict.
 */
export type StreamChunk =
  | { readonly type: 'start'; readonly id?: string; readonly model?: string }
  | {
      readonly type: 'block-start'
      readonly choice?: number
      readonly index: number
      readonly blockType: ContentBlockType
      /** As in `block-end`; also taken for a block that has begun already. */
      readonly metadata?: Readonly<Record<string, unknown>>
    }
  | { readonly type: 'text-delta'; readonly choice?: number; readonly index: number; readonly text: string }
  | { readonly type: 'reasoning-delta'; readonly choice?: number; readonly index: number; readonly text: string }
  | { readonly type: 'refusal-delta'; readonly choice?: number; readonly index: number; readonly text: string }
  | ToolCallDelta
  | {
      readonly type: 'block-end'
      readonly choice?: number
      readonly index: number
      readonly block?: ContentBlock
      /** Opaque provider fields of this block, to be echoed unchanged; merged key by key, the later value wins. */
      readonly metadata?: Readonly<Record<string, unknown>>
    }
  | {
      /** Opaque provider fields. Without `choice`, of the whole response. */
      readonly type: 'metadata'
      readonly choice?: number
      /** Replaces earlier values key by key. */
      readonly replace?: Readonly<Record<string, unknown>>
      /** Is appended to earlier lists key by key. */
      readonly append?: Readonly<Record<string, readonly unknown[]>>
    }
  | { readonly type: 'usage'; readonly usage: TokenUsage }
  | {
      readonly type: 'finish'
      readonly choice?: number
      readonly reason: FinishReason
      readonly raw?: string | null
    }
  | { readonly type: 'error'; readonly error: StreamFault }

/** A fragment of a call; the first one says that it exists. */
export interface ToolCallDelta {
  readonly type: 'tool-call-delta'
  readonly choice?: number
  readonly index: number
  /** Stable call id; see {@link ToolCallBlock.callId}. */
  readonly id: string
  readonly providerCallId?: string
  /** Present once, on the first delta for which the name is settled. */
  readonly name?: string
  readonly argumentsDelta: string
  /** The call's input is free text (a custom tool), not JSON; it is never parsed. */
  readonly freeText?: true
  /** The fragment holds U+FFFD where the body had bytes that are not UTF-8. */
  readonly invalidUtf8?: true
  readonly providerExecuted?: boolean
  readonly metadata?: Readonly<Record<string, unknown>>
  /** The response itself lists the tools that were declared, and this call's is not among them. */
  readonly undeclared?: true
  /** The arguments came as a JSON value that could not be read without loss, and why: the call is held. */
  readonly unsafeArguments?: string
  /** The call contradicts itself on the wire: it can no longer be run. */
  readonly conflict?: CallConflict
}
