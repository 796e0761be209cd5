import type { TokenUsage } from '../../chunk/usage.ts'
import { isKeepable } from '../kept-value.ts'
import { count } from '../wire-value.ts'

/** `usageMetadata` as {@link TokenUsage}: running totals (fault F178). Candidates do not include thoughts. */
export function usageOf(raw: Record<string, unknown>): TokenUsage {
  const inputTokens = count(raw['promptTokenCount'])
  const outputTokens = count(raw['candidatesTokenCount'])
  const totalTokens = count(raw['totalTokenCount'])
  const reasoningTokens = count(raw['thoughtsTokenCount'])
  const cachedInputTokens = count(raw['cachedContentTokenCount'])
  return {
    ...(inputTokens !== undefined && { inputTokens }),
    ...(outputTokens !== undefined && { outputTokens }),
    ...(totalTokens !== undefined && { totalTokens }),
    ...(reasoningTokens !== undefined && { reasoningTokens }),
    ...(cachedInputTokens !== undefined && { cachedInputTokens }),
    ...(isKeepable(raw) && { raw }),
  }
}
