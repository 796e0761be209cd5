import type { ReadyToolCall } from 'streamfold'
import type { CancelAnswer } from '../ledger/cancel.ts'
import type { Execution } from '../ledger/execution.ts'
import type { ToolResult } from './tool-result.ts'

/** The calls of one choice: a `tool_batch_ready` event. */
export interface ToolBatch {
  readonly choice: number
  readonly calls: readonly ReadyToolCall[]
}

/** Where a batch stands: the run, and the request of it that the batch answers. */
export interface BatchPlace {
  readonly runId: string
  /** From {@link Ledger.nextTurn}, taken before the request was sent. */
  readonly turn: number
  /** Attempt of that request, from 1. Default 1. */
  readonly attempt?: number
  /** Cancels the calls of the batch that have not begun, and tells running tools to stop. It does not cancel the run. */
  readonly signal?: AbortSignal
}

export interface BatchResult {
  /**
   * - `done`: every call has a result that stays.
   * - `pending`: some wait for a person, or are still under way; hand the same batch over again later.
   */
  readonly state: 'done' | 'pending'
  /** One for each call, in the order of the batch. */
  readonly results: readonly ToolResult[]
}

/** What one look for work of dead workers came to. */
export interface RecoveryReport {
  /** Run to their end by this look. */
  readonly finished: readonly Execution[]
  /** Given up as unknown. */
  readonly unknown: readonly Execution[]
}

export interface Executor {
  readonly tenant: string
  /** Names this executor in the ledger; new for every executor. */
  readonly owner: string
  /**
   * Takes the calls of one `tool_batch_ready` event through the gate and the ledger, runs each once, and gives the results.
   * The same batch again is answered from the ledger.
   * @throws {StoreError} when the batch could not be recorded; then nothing of it has run
   */
  run(batch: ToolBatch, place: BatchPlace): Promise<BatchResult>
  /** Looks once for what crashed workers left, and runs or settles it. Also done in the background. */
  recover(): Promise<RecoveryReport>
  /** Cancels a run: nothing of it begins any more, and running tools of it are told to stop. */
  cancel(runId: string, by: string): Promise<CancelAnswer>
  /** Takes no new work, waits for running tools, and stops the background work. Does not close the store. */
  close(): Promise<void>
}
