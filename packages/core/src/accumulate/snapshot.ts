import type { ContentBlock } from '../chunk/content-block.ts'
import type { FinishReason } from '../chunk/finish-reason.ts'
import type { TokenUsage } from '../chunk/usage.ts'

/** Opaque provider fields, newest value by key; lists that the wire sends in pieces are joined. */
export type ProviderMetadata = Readonly<Record<string, unknown>>

export interface ChoiceSnapshot {
  readonly index: number
  /** In index order. A block that did not change since an earlier snapshot is the same object. */
  readonly blocks: readonly ContentBlock[]
  readonly finish?: { readonly reason: FinishReason; readonly raw: string | null }
  readonly metadata?: ProviderMetadata
}

/**
 * What may be shown so far. Immutable and serialisable; parts that did not change since an earlier snapshot keep their
 * identity, so a view can compare by reference, and a snapshot taken after each of n deltas costs O(n) in all.
 */
export interface StreamSnapshot {
  /** Grows with every change; equal versions are the same object. */
  readonly version: number
  readonly id?: string
  readonly model?: string
  /** In index order. */
  readonly choices: readonly ChoiceSnapshot[]
  readonly usage?: TokenUsage
  readonly metadata?: ProviderMetadata
  /** The stream has ended: no block is `streaming` any more. */
  readonly ended: boolean
}
