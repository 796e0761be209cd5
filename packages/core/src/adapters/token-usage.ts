import type { TokenUsage } from '../chunk/usage.ts'
import { isKeepable } from './kept-value.ts'
import { count } from './wire-value.ts'

/** Each counter as it stands on the wire. */
type WireCounters = { readonly [Counter in Exclude<keyof TokenUsage, 'raw'>]?: unknown }

/** Counters as sent; one that is no number says nothing and is left out. `raw` is kept where it can leave again in a report. */
export function tokenUsage(counters: WireCounters, raw: Readonly<Record<string, unknown>>): TokenUsage {
  const inputTokens = count(counters.inputTokens)
  const outputTokens = count(counters.outputTokens)
  const totalTokens = count(counters.totalTokens)
  const reasoningTokens = count(counters.reasoningTokens)
  const cachedInputTokens = count(counters.cachedInputTokens)
  return {
    ...(inputTokens !== undefined && { inputTokens }),
    ...(outputTokens !== undefined && { outputTokens }),
    ...(totalTokens !== undefined && { totalTokens }),
    ...(reasoningTokens !== undefined && { reasoningTokens }),
    ...(cachedInputTokens !== undefined && { cachedInputTokens }),
    ...(isKeepable(raw) && { raw }),
  }
}
