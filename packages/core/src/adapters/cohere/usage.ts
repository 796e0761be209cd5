import type { TokenUsage } from '../../chunk/usage.ts'
import { isKeepable } from '../kept-value.ts'
import { count, isRecord } from '../wire-value.ts'

/** `tokens` are those the model read and wrote; `billed_units` leave some of them out, and stand in where they are all there is. */
export function usageOf(raw: Record<string, unknown>): TokenUsage {
  const billed = isRecord(raw['billed_units']) ? raw['billed_units'] : {}
  const tokens = isRecord(raw['tokens']) ? raw['tokens'] : billed
  const inputTokens = count(tokens['input_tokens'])
  const outputTokens = count(tokens['output_tokens'])
  const reasoningTokens = count(tokens['reasoning_tokens'])
  const cachedInputTokens = count(raw['cached_tokens'])
  return {
    ...(inputTokens !== undefined && { inputTokens }),
    ...(outputTokens !== undefined && { outputTokens }),
    ...(reasoningTokens !== undefined && { reasoningTokens }),
    ...(cachedInputTokens !== undefined && { cachedInputTokens }),
    ...(isKeepable(raw) && { raw }),
  }
}
