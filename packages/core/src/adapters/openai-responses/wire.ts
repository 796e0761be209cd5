/**
 * Keys of the Responses API that are read or that only repeat the request; what is left of an object is the provider's own and is
 * kept.
 *
 * @see https://platform.openai.com/docs/api-reference/responses-streaming (read 2026-11-30)
 */
export const EVENT_KEYS: ReadonlySet<string> = new Set(['type', 'sequence_number', 'response', 'obfuscation'])

export const RESPONSE_KEYS: ReadonlySet<string> = new Set([
  'id',
  'object',
  'created_at',
  'completed_at',
  'status',
  'background',
  'error',
  'instructions',
  'max_output_tokens',
  'max_tool_calls',
  'metadata',
  'model',
  'output',
  'output_text',
  'parallel_tool_calls',
  'previous_response_id',
  'prompt',
  'prompt_cache_key',
  'prompt_cache_options',
  'prompt_cache_retention',
  'reasoning',
  'safety_identifier',
  'store',
  'temperature',
  'frequency_penalty',
  'presence_penalty',
  'text',
  'tool_choice',
  'tools',
  'top_logprobs',
  'top_p',
  'truncation',
  'usage',
  'user',
])

/** An index of the wire: `null` is absent, numeric text is its number, anything else can't be read. */
export function wireIndex(value: unknown): number | 'unreadable' | undefined {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? value : 'unreadable'
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'string' || value.trim() === '') return 'unreadable'
  const number = Number(value)
  return Number.isSafeInteger(number) ? number : 'unreadable'
}
