import type { TokenUsage } from '../../chunk/usage.ts'
import { tokenUsage } from '../token-usage.ts'

/** `usageMetadata` as {@link TokenUsage}: running totals (fault F178). Candidates do not include thoughts. */
export function usageOf(raw: Record<string, unknown>): TokenUsage {
  return tokenUsage(
    {
      inputTokens: raw['promptTokenCount'],
      outputTokens: raw['candidatesTokenCount'],
      totalTokens: raw['totalTokenCount'],
      reasoningTokens: raw['thoughtsTokenCount'],
      cachedInputTokens: raw['cachedContentTokenCount'],
    },
    raw,
  )
}
