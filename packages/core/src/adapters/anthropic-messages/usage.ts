import type { TokenUsage } from '../../chunk/usage.ts'
import { tokenUsage } from '../token-usage.ts'
import { count, isRecord } from '../wire-value.ts'

/**
 * Counters of one message. `message_start` has the first, `message_delta` the later ones: they are cumulative for the message, so a
 * counter that is there replaces the one before, one that is absent or null keeps it, and none is ever added (fault F165).
 */
export class MessageUsage {
  #raw: Record<string, unknown> = Object.create(null) as Record<string, unknown>

  /** Returns false when there are more counters than are kept. */
  overlay(counters: Record<string, unknown>): boolean {
    const next = Object.assign(Object.create(null) as Record<string, unknown>, this.#raw)
    let size = Object.keys(next).length
    let all = true
    for (const key of Object.keys(counters)) {
      if (counters[key] === null) continue
      if (!(key in next) && ++size > MOST_COUNTERS && !READ.has(key)) all = false
      else next[key] = counters[key]
    }
    this.#raw = next
    return all
  }

  get outputTokens(): number {
    return count(this.#raw['output_tokens']) ?? 0
  }

  /** As sent: `input_tokens` counts neither what was read from the cache nor what was written to it. */
  get tokens(): TokenUsage {
    const raw = this.#raw
    const details = raw['output_tokens_details']
    return tokenUsage(
      {
        inputTokens: raw['input_tokens'],
        outputTokens: raw['output_tokens'],
        reasoningTokens: isRecord(details) ? details['thinking_tokens'] : undefined,
        cachedInputTokens: raw['cache_read_input_tokens'],
      },
      raw,
    )
  }
}

/** A wire that makes up a new one in every event must not make every later one slower. */
const MOST_COUNTERS = 256
const READ: ReadonlySet<string> = new Set([
  'input_tokens',
  'output_tokens',
  'output_tokens_details',
  'cache_read_input_tokens',
])

/** Counters that say nothing at all, as some servers put into every event. */
export function saysNothing(counters: Record<string, unknown>): boolean {
  return (count(counters['input_tokens']) ?? 0) === 0 && (count(counters['output_tokens']) ?? 0) === 0
}
