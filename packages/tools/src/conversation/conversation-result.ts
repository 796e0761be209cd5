import type { ReportError } from 'streamfold'
import type { ToolResult } from '../executor/tool-result.ts'
import type { Spent } from './budget.ts'
import type { Message } from './message.ts'

/**
 * Why a conversation stopped before a final answer.
 * - `max_turns`, `budget`: a bound of its own.
 * - `truncated`, `refused`: the model's answer ended so; its calls were not run.
 * - `held`: the stream ended in a way that lets no call of it run, and asking again did not help.
 * - `failed`: the model could not be asked, or its answer broke off.
 * - `cancelled`: the signal aborted, or the run was cancelled in the ledger.
 * - `superseded`: someone else has taken the run on.
 */
export type StopReason =
  | 'max_turns'
  | 'budget'
  | 'truncated'
  | 'refused'
  | 'held'
  | 'failed'
  | 'cancelled'
  | 'superseded'

export type ConversationResult = ConversationState & {
  readonly runId: string
  /** Everything said so far, from the first message on. */
  readonly messages: readonly Message[]
  /** Answers there are by now. */
  readonly turns: number
  readonly spent: Spent
}

type ConversationState =
  /** `text` is the final answer. */
  | { readonly state: 'finished'; readonly text: string }
  /** Some calls wait, mostly for a person. `resumeConversation` goes on once they are decided. */
  | { readonly state: 'pending'; readonly waiting: readonly ToolResult[] }
  | { readonly state: 'stopped'; readonly reason: StopReason; readonly error?: ReportError }
