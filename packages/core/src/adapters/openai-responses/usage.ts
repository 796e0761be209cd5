import type { TokenUsage } from '../../chunk/usage.ts'
import { tokenUsage } from '../token-usage.ts'
import { isRecord } from '../wire-value.ts'

/** `response.usage` as {@link TokenUsage}; counters are taken as sent. */
export function usageOf(raw: Record<string, unknown>): TokenUsage {
  const { input_tokens_details: input, output_tokens_details: output } = raw
  return tokenUsage(
    {
      inputTokens: raw['input_tokens'],
      outputTokens: raw['output_tokens'],
      totalTokens: raw['total_tokens'],
      reasoningTokens: isRecord(output) ? output['reasoning_tokens'] : undefined,
      cachedInputTokens: isRecord(input) ? input['cached_tokens'] : undefined,
    },
    raw,
  )
}
