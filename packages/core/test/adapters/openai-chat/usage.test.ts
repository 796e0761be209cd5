import { describe, expect, test } from 'vitest'
import { usageOf } from '../../../src/adapters/openai-chat/usage.ts'

describe('usageOf', () => {
  test.each([
    {
      name: 'OpenAI',
      raw: {
        prompt_tokens: 7,
        completion_tokens: 3,
        total_tokens: 10,
        prompt_tokens_details: { cached_tokens: 4 },
        completion_tokens_details: { reasoning_tokens: 2 },
      },
      want: { inputTokens: 7, outputTokens: 3, totalTokens: 10, cachedInputTokens: 4, reasoningTokens: 2 },
    },
    {
      name: 'DeepSeek',
      raw: { prompt_tokens: 7, completion_tokens: 3, prompt_cache_hit_tokens: 4 },
      want: { inputTokens: 7, outputTokens: 3, cachedInputTokens: 4 },
    },
    {
      name: 'reasoning at the top',
      raw: { completion_tokens: 3, reasoning_tokens: 2 },
      want: { outputTokens: 3, reasoningTokens: 2 },
    },
    {
      name: 'zeros are counters',
      raw: { prompt_tokens: 0, completion_tokens: 0 },
      want: { inputTokens: 0, outputTokens: 0 },
    },
    {
      name: 'a total that does not add up is taken as sent',
      raw: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 9 },
      want: { inputTokens: 1, outputTokens: 1, totalTokens: 9 },
    },
    {
      name: 'wrong types',
      raw: {
        prompt_tokens: '7',
        completion_tokens: null,
        total_tokens: [],
        prompt_tokens_details: 'x',
        completion_tokens_details: { reasoning_tokens: {} },
      },
      want: {},
    },
    { name: 'a number that is none', raw: { prompt_tokens: Infinity, completion_tokens: NaN }, want: {} },
    {
      name: 'details null',
      raw: { prompt_tokens: 1, prompt_tokens_details: null, completion_tokens_details: null },
      want: { inputTokens: 1 },
    },
    { name: 'nothing', raw: {}, want: {} },
  ])('$name', ({ raw, want }) => {
    expect(usageOf(raw)).toEqual({ ...want, raw })
  })

  test('the raw object is kept untouched', () => {
    const raw = { prompt_tokens: 7, queue_time: 0.1 }
    expect(usageOf(raw).raw).toBe(raw)
  })

  test('but not one that could never be printed again', () => {
    const raw = { prompt_tokens: 7, deep: JSON.parse('['.repeat(50_000) + ']'.repeat(50_000)) as unknown }
    expect(usageOf(raw)).toEqual({ inputTokens: 7 })
  })
})
