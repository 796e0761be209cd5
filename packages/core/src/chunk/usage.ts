/**
 * Token counters as the wire sent them, latest cumulative value. Never summed over events: providers repeat or grow the
 * counters, they do not send increments (faults F027, F165, F178).
 */
export interface TokenUsage {
  /** Prompt tokens, as sent. */
  readonly inputTokens?: number
  /** Completion tokens, as sent. Some providers count reasoning in, some do not. */
  readonly outputTokens?: number
  readonly totalTokens?: number
  readonly reasoningTokens?: number
  readonly cachedInputTokens?: number
  /** The provider's own usage object, untouched. */
  readonly raw?: unknown
}
