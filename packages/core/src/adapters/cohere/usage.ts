import type { TokenUsage } from '../../chunk/usage.ts'
import { tokenUsage } from '../token-usage.ts'
import { isRecord } from '../wire-value.ts'

/** `tokens` are those the model read and wrote; `billed_units` leave some of them out, and stand in where they are all there is. */
export function usageOf(raw: Record<string, unknown>): TokenUsage {
  const billed = isRecord(raw['billed_units']) ? raw['billed_units'] : {}
  const tokens = isRecord(raw['tokens']) ? raw['tokens'] : billed
  return tokenUsage(
    {
      inputTokens: tokens['input_tokens'],
      outputTokens: tokens['output_tokens'],
      reasoningTokens: tokens['reasoning_tokens'],
      cachedInputTokens: raw['cached_tokens'],
    },
    raw,
  )
}
