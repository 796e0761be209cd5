/** What a rule or hook says about one call. Several are combined as deny > ask > allow; none at all is a deny. */
export type Decision =
  | { readonly decision: 'allow'; readonly reason?: string }
  | { readonly decision: 'ask'; readonly reason: string; readonly expiresInMs?: number }
  | {
      readonly decision: 'deny'
      /** For the audit. */
      readonly reason: string
      /** For the model; without it the model learns only that the call is not allowed. */
      readonly tellModel?: string
    }

const RANK = { allow: 0, ask: 1, deny: 2 } as const

/** The strictest of the decisions, the first of equals; `undefined` when there is none. */
export function strictest(decisions: readonly Decision[]): Decision | undefined {
  let winner: Decision | undefined
  for (const decision of decisions) {
    if (winner === undefined || RANK[decision.decision] > RANK[winner.decision]) winner = decision
  }
  return winner
}

/** Whether a value that a hook gave is a decision; a hook is someone else's code. */
export function isDecision(value: unknown): value is Decision {
  if (typeof value !== 'object' || value === null || !('decision' in value)) return false
  return value.decision === 'allow' || value.decision === 'ask' || value.decision === 'deny'
}
