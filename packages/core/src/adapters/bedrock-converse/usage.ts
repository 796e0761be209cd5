import type { TokenUsage } from '../../chunk/usage.ts'
import { tokenUsage } from '../token-usage.ts'
import { count } from '../wire-value.ts'

/** `metadata.usage`; InvokeModel spells the cache counters with a `Count` behind. */
export function usageOf(raw: Record<string, unknown>): TokenUsage {
  return tokenUsage(
    {
      inputTokens: raw['inputTokens'],
      outputTokens: raw['outputTokens'],
      totalTokens: raw['totalTokens'],
      cachedInputTokens:
        count(raw['cacheReadInputTokens']) ??
        count(raw['cacheReadInputTokensCount']) ??
        raw['cacheReadInputTokenCount'],
    },
    raw,
  )
}
