import type { TokenUsage } from '../../chunk/usage.ts'
import { isKeepable } from '../kept-value.ts'
import { count } from '../wire-value.ts'

/** `metadata.usage`; InvokeModel spells the cache counters with a `Count` behind. */
export function usageOf(raw: Record<string, unknown>): TokenUsage {
  const inputTokens = count(raw['inputTokens'])
  const outputTokens = count(raw['outputTokens'])
  const totalTokens = count(raw['totalTokens'])
  const cachedInputTokens =
    count(raw['cacheReadInputTokens']) ??
    count(raw['cacheReadInputTokensCount']) ??
    count(raw['cacheReadInputTokenCount'])
  return {
    ...(inputTokens !== undefined && { inputTokens }),
    ...(outputTokens !== undefined && { outputTokens }),
    ...(totalTokens !== undefined && { totalTokens }),
    ...(cachedInputTokens !== undefined && { cachedInputTokens }),
    ...(isKeepable(raw) && { raw }),
  }
}
