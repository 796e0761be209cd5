import { expect, test } from 'vitest'
import { finishOf, isUnderWay } from '../../../src/adapters/openai-responses/finish.ts'
import { usageOf } from '../../../src/adapters/openai-responses/usage.ts'
import { wireIndex } from '../../../src/adapters/openai-responses/wire.ts'

const details = (reason: unknown): Record<string, unknown> => ({ status: 'incomplete', incomplete_details: { reason } })

test.each<[Record<string, unknown>, string | undefined, boolean, unknown]>([
  [{ status: 'completed' }, 'completed', false, { reason: 'stop', raw: 'completed' }],
  [{ status: 'completed' }, 'completed', true, { reason: 'tool-calls', raw: 'completed' }],
  [{}, 'completed', false, { reason: 'stop', raw: 'completed' }],
  [{}, undefined, false, undefined],
  [{ status: ['failed'] }, 'completed', true, { reason: 'unknown', raw: '["failed"]', unknown: '["failed"]' }],
  [{ ...details('max_output_tokens'), status: 'completed' }, 'completed', true, { reason: 'length', raw: 'completed' }],
  [{ status: 'completed' }, 'incomplete', true, { reason: 'aborted', raw: 'completed', unknown: 'no reason' }],
  [{ status: 'completed' }, 'failed', true, { reason: 'error', raw: 'completed' }],
  [{ status: 'failed' }, 'completed', true, { reason: 'error', raw: 'failed' }],
  [{ status: 'cancelled' }, undefined, false, { reason: 'aborted', raw: 'cancelled' }],
  [details('max_output_tokens'), 'incomplete', true, { reason: 'length', raw: 'incomplete' }],
  [details('content_filter'), 'incomplete', false, { reason: 'content-filter', raw: 'incomplete' }],
  [details('steered'), 'incomplete', false, { reason: 'aborted', raw: 'incomplete' }],
  [details('toString'), 'incomplete', false, { reason: 'aborted', raw: 'incomplete', unknown: 'toString' }],
  [details({}), 'incomplete', false, { reason: 'aborted', raw: 'incomplete', unknown: 'no reason' }],
  [{ status: 'in_progress' }, 'completed', true, { reason: 'unknown', raw: 'in_progress', unknown: 'in_progress' }],
  [{ status: 'Completed' }, 'completed', true, { reason: 'unknown', raw: 'Completed', unknown: 'Completed' }],
])('%o in a %s event, with calls %s', (response, status, hasCalls, expected) => {
  expect(finishOf(response, status, hasCalls, {})).toEqual(expected)
})

test('aliases of a profile are for the status and for the reason', () => {
  expect(finishOf({ status: 'done' }, 'completed', true, { done: 'tool-calls' })).toEqual({
    reason: 'tool-calls',
    raw: 'done',
  })
  expect(finishOf(details('budget'), 'incomplete', false, { budget: 'length' })).toEqual({
    reason: 'length',
    raw: 'incomplete',
  })
})

test('a response that goes on', () => {
  expect(['queued', 'in_progress', 'completed', undefined, 1].map(isUnderWay)).toEqual([
    true,
    true,
    false,
    false,
    false,
  ])
})

test('usage is taken as sent; what is no number says nothing', () => {
  const raw = {
    input_tokens: 7,
    input_tokens_details: { cached_tokens: 3 },
    output_tokens: 5,
    output_tokens_details: { reasoning_tokens: 2 },
    total_tokens: 12,
  }
  expect(usageOf(raw)).toEqual({
    inputTokens: 7,
    outputTokens: 5,
    totalTokens: 12,
    reasoningTokens: 2,
    cachedInputTokens: 3,
    raw,
  })
  const odd = { input_tokens: '7', output_tokens: null, output_tokens_details: [], input_tokens_details: 'x' }
  expect(usageOf(odd)).toEqual({ raw: odd })
})

test('an index is a whole number or numeric text; null is absent', () => {
  const values = [0, 7, -1, '3', null, undefined, 1.5, '', ' ', 'x', {}, [], true, Number.NaN, 2 ** 60]
  expect(values.map(wireIndex)).toEqual([
    0,
    7,
    -1,
    3,
    undefined,
    undefined,
    ...Array.from({ length: 9 }, () => 'unreadable'),
  ])
})
