import type { BatchPlace, BatchResult, ToolBatch } from '../executor/executor-api.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { Tool } from '../define/tool.ts'
import type { Budget } from './budget.ts'
import type { ConversationEvent } from './conversation-event.ts'
import type { ConversationModel } from './model.ts'

/** What a conversation needs of an executor; `createExecutor` gives one. */
export interface ConversationExecutor {
  readonly tenant: string
  readonly tools: readonly Tool[]
  readonly ledger: Pick<Ledger, 'startRun' | 'nextTurn' | 'saveAnswer' | 'readRun'>
  run(batch: ToolBatch, place: BatchPlace): Promise<BatchResult>
}

export interface ConversationOptions {
  readonly model: ConversationModel
  readonly executor: ConversationExecutor
  /** One conversation, one id; everything of it is found under it in the ledger. */
  readonly runId: string
  /** Answers of the model, over the whole run. Default 20. */
  readonly maxTurns?: number
  /** Requests for one answer: one that fails or breaks off before anything of it was run is made again. Default 2. */
  readonly maxAttempts?: number
  readonly budget?: Budget
  /** Stops the conversation here. It can be resumed; to forbid that, cancel the run through the executor. */
  readonly signal?: AbortSignal
  /** Told of everything as it happens, synchronously. What it throws ends the conversation. */
  readonly onEvent?: (event: ConversationEvent) => void
}

export interface ConversationLimits {
  readonly maxTurns: number
  readonly maxAttempts: number
}

/** @throws RangeError for a bound that is no whole number from 1 */
export function limitsOf({ maxTurns = 20, maxAttempts = 2 }: ConversationOptions): ConversationLimits {
  for (const [name, value] of Object.entries({ maxTurns, maxAttempts })) {
    if (!Number.isInteger(value) || value < 1)
      throw new RangeError(`${name} must be a whole number from 1, not ${value}`)
  }
  return { maxTurns, maxAttempts }
}
