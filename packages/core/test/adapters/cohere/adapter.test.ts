import { expect, test } from 'vitest'
import { cohere } from '../../../src/adapters/cohere/adapter.ts'
import { collectWith } from '../collect-with.ts'
import { createOutput } from '../collect.ts'

const END = {
  type: 'message-end',
  delta: { finish_reason: 'TOOL_CALL', usage: { tokens: { input_tokens: 1, output_tokens: 2 } } },
}

test('the chunks of a message', () => {
  const { chunks, notes, skipped, machine } = collectWith(cohere(), [
    { type: 'message-start', id: 'm', delta: { message: { role: 'assistant' } } },
    { type: 'tool-plan-delta', delta: { message: { tool_plan: 'hm' } } },
    { type: 'content-start', index: 0, delta: { message: { content: { type: 'text', text: '' } } } },
    { type: 'content-delta', index: 0, delta: { message: { content: { text: 'a' } } } },
    { type: 'content-end', index: 0 },
    {
      type: 'tool-call-start',
      index: 0,
      delta: { message: { tool_calls: { id: 'c', function: { name: 'f', arguments: '' } } } },
    },
    { type: 'tool-call-delta', index: 0, delta: { message: { tool_calls: { function: { arguments: '{}' } } } } },
    { type: 'tool-call-end', index: 0 },
    { type: 'debug', prompt: 'p' },
    END,
  ])
  expect(chunks).toEqual([
    { type: 'start', id: 'm' },
    { type: 'reasoning-delta', index: 0, text: 'hm' },
    { type: 'text-delta', index: 1, text: 'a' },
    { type: 'block-end', index: 1 },
    { type: 'block-end', index: 0 },
    { type: 'tool-call-delta', index: 2, id: 'c', providerCallId: 'c', name: 'f', argumentsDelta: '' },
    { type: 'tool-call-delta', index: 2, id: 'c', argumentsDelta: '{}' },
    { type: 'block-end', index: 2 },
    {
      type: 'usage',
      usage: { inputTokens: 1, outputTokens: 2, raw: { tokens: { input_tokens: 1, output_tokens: 2 } } },
    },
    { type: 'finish', reason: 'tool-calls', raw: 'TOOL_CALL' },
  ])
  expect([notes, skipped, machine.ended]).toEqual([[], [], true])
})

const usageOf = (usage: object): unknown => {
  const { chunks } = collectWith(cohere(), [{ type: 'message-end', delta: { finish_reason: 'COMPLETE', usage } }])
  return chunks.find(({ type }) => type === 'usage')
}

test('usage: tokens before billed units, which stand in where they are alone', () => {
  const billed_units = { input_tokens: 3, output_tokens: 4 }
  const tokens = { input_tokens: 10, output_tokens: 5, reasoning_tokens: 1 }
  expect(usageOf({ billed_units, tokens, cached_tokens: 7 })).toMatchObject({
    usage: { inputTokens: 10, outputTokens: 5, reasoningTokens: 1, cachedInputTokens: 7 },
  })
  expect(usageOf({ billed_units })).toMatchObject({ usage: { inputTokens: 3, outputTokens: 4 } })
})

test('version 1: text, whole calls, what else it keeps', () => {
  const { chunks, notes, skipped, machine } = collectWith(cohere(), [
    { event_type: 'stream-start', generation_id: 'g' },
    { event_type: 'text-generation', text: 'a' },
    { event_type: 'search-results', documents: [{ id: 'd' }] },
    { event_type: 'tool-calls-chunk', tool_call_delta: { parameters: '{' } },
    { event_type: 'tool-calls-generation', tool_calls: [{ name: 'f', parameters: { x: 1 } }] },
    { event_type: 'later', x: 1 },
    { event_type: 'stream-end', finish_reason: 'COMPLETE', response: { meta: { billed_units: { input_tokens: 1 } } } },
  ])
  expect(chunks.map(({ type }) => type)).toEqual([
    'start',
    'text-delta',
    'metadata',
    'block-end',
    'tool-call-delta',
    'tool-call-delta',
    'block-end',
    'usage',
    'finish',
  ])
  expect(notes).toEqual(['missing_id', 'unknown_event: later'])
  expect([skipped, machine.ended]).toEqual([[], true])
})

test.each<[string, object]>([
  ['text', { event_type: 'text-generation', text: 7 }],
  ['calls', { event_type: 'tool-calls-generation', tool_calls: {} }],
  ['a call', { event_type: 'tool-calls-generation', tool_calls: ['f'] }],
])('version 1: %s that can not be read is a hole', (_, event) => {
  expect(collectWith(cohere(), [event]).skipped).toHaveLength(1)
})

test('after an error only usage is read', () => {
  const { machine } = collectWith(cohere(), [])
  const { out } = createOutput()
  machine.readUsageOnly({ data: JSON.stringify(END) }, out)
  expect(out.chunks.map(({ type }) => type)).toEqual(['usage'])
})
