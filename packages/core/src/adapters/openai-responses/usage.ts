import type { TokenUsage } from '../../chunk/usage.ts'
import { isKeepable } from '../kept-value.ts'
import { count, isRecord } from '../wire-value.ts'

/** `response.usage` as {@link TokenUsage}; counters are taken as sent. */
export function usageOf(raw: Record<string, unknown>): TokenUsage {
  const input = raw['input_tokens_details']
  const output = raw['output_tokens_details']
  const inputTokens = count(raw['input_tokens'])
  const outputTokens = count(raw['output_tokens'])
  const totalTokens = count(raw['total_tokens'])
  const reasoningTokens = isRecord(output) ? count(output['reasoning_tokens']) : undefined
  const cachedInputTokens = isRecord(input) ? count(input['cached_tokens']) : undefined
  return {
    ...(inputTokens !== undefined && { inputTokens }),
    ...(outputTokens !== undefined && { outputTokens }),
    ...(totalTokens !== undefined && { totalTokens }),
    ...(reasoningTokens !== undefined && { reasoningTokens }),
    ...(cachedInputTokens !== undefined && { cachedInputTokens }),
    ...(isKeepable(raw) && { raw }),
  }
}
