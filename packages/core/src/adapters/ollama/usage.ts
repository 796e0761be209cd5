import type { TokenUsage } from '../../chunk/usage.ts'
import { tokenUsage } from '../token-usage.ts'
import { count, isNothing } from '../wire-value.ts'

/** Counters and durations (nanoseconds) that the last line has. */
export const USAGE_KEYS = [
  'prompt_eval_count',
  'eval_count',
  'total_duration',
  'load_duration',
  'prompt_eval_duration',
  'eval_duration',
] as const

/** Undefined when a line has none of the counters. A prompt that was cached has no count of its own. */
export function usageOf(line: Record<string, unknown>): TokenUsage | undefined {
  const { prompt_eval_count: inputTokens, eval_count: outputTokens } = line
  if (count(inputTokens) === undefined && count(outputTokens) === undefined) return undefined
  const raw: Record<string, unknown> = {}
  for (const key of USAGE_KEYS) if (!isNothing(line[key])) raw[key] = line[key]
  return tokenUsage({ inputTokens, outputTokens }, raw)
}
