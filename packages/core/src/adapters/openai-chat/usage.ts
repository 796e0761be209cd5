import type { TokenUsage } from '../../chunk/usage.ts'
import { isKeepable } from '../kept-value.ts'

/**
 * Chat Completions usage as {@link TokenUsage}. Counters are taken as sent; `total = prompt + completion` does not hold for
 * every provider and is not assumed.
 */
export function usageOf(raw: Record<string, unknown>): TokenUsage {
  const completion = record(raw['completion_tokens_details'])
  const prompt = record(raw['prompt_tokens_details'])
  const inputTokens = count(raw['prompt_tokens'])
  const outputTokens = count(raw['completion_tokens'])
  const totalTokens = count(raw['total_tokens'])
  const reasoningTokens = count(completion?.['reasoning_tokens']) ?? count(raw['reasoning_tokens'])
  const cachedInputTokens = count(prompt?.['cached_tokens']) ?? count(raw['prompt_cache_hit_tokens'])
  return {
    ...(inputTokens !== undefined && { inputTokens }),
    ...(outputTokens !== undefined && { outputTokens }),
    ...(totalTokens !== undefined && { totalTokens }),
    ...(reasoningTokens !== undefined && { reasoningTokens }),
    ...(cachedInputTokens !== undefined && { cachedInputTokens }),
    ...(isKeepable(raw) && { raw }),
  }
}

function count(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined
}

function record(value: unknown): Record<string, unknown> | undefined {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined
}
