import type { TokenUsage } from 'streamfold'

/** What a conversation may use up. Looked at before each request, so the last one may go beyond it. */
export interface Budget {
  readonly inputTokens?: number
  readonly outputTokens?: number
  /** Calls handed to the executor. */
  readonly toolCalls?: number
}

/**
 * What a conversation has used, as far as the endpoints said. It is rebuilt from the answers in the ledger; what an abandoned
 * attempt used counts only in the process that saw it.
 */
export interface Spent {
  readonly inputTokens: number
  readonly outputTokens: number
  readonly toolCalls: number
}

export const NOTHING_SPENT: Spent = { inputTokens: 0, outputTokens: 0, toolCalls: 0 }

export function spend(spent: Spent, usage: TokenUsage | null, toolCalls: number): Spent {
  return {
    inputTokens: spent.inputTokens + (usage?.inputTokens ?? 0),
    outputTokens: spent.outputTokens + (usage?.outputTokens ?? 0),
    toolCalls: spent.toolCalls + toolCalls,
  }
}

/** The first part of the budget that is used up; `undefined` when there is some of each left. */
export function usedUp(budget: Budget, spent: Spent): keyof Budget | undefined {
  const parts: readonly (keyof Budget)[] = ['inputTokens', 'outputTokens', 'toolCalls']
  // Negated, so that a budget of NaN is used up rather than endless.
  return parts.find((part) => budget[part] !== undefined && !(spent[part] < budget[part]))
}
