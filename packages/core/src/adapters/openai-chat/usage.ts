import type { TokenUsage } from '../../chunk/usage.ts'
import { tokenUsage } from '../token-usage.ts'
import { count, isRecord } from '../wire-value.ts'

/**
 * Chat Completions usage as {@link TokenUsage}. Counters are taken as sent; `total = prompt + completion` does not hold for
 * every provider and is not assumed.
 */
export function usageOf(raw: Record<string, unknown>): TokenUsage {
  const { completion_tokens_details: completion, prompt_tokens_details: prompt } = raw
  return tokenUsage(
    {
      inputTokens: raw['prompt_tokens'],
      outputTokens: raw['completion_tokens'],
      totalTokens: raw['total_tokens'],
      reasoningTokens:
        (isRecord(completion) ? count(completion['reasoning_tokens']) : undefined) ?? raw['reasoning_tokens'],
      cachedInputTokens:
        (isRecord(prompt) ? count(prompt['cached_tokens']) : undefined) ?? raw['prompt_cache_hit_tokens'],
    },
    raw,
  )
}
