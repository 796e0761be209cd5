import { expect, test } from 'vitest'
import { ollama } from '../../../src/adapters/ollama/adapter.ts'
import { collectWith } from '../collect-with.ts'
import { createOutput } from '../collect.ts'

const LAST = { done: true, done_reason: 'stop', prompt_eval_count: 3, eval_count: 4, total_duration: 5 }

test('the chunks of a chat', () => {
  const { chunks, notes, machine } = collectWith(ollama(), [
    { model: 'm', created_at: 't', message: { role: 'assistant', thinking: 'hm', content: '' }, done: false },
    { model: 'm', created_at: 't', message: { role: 'assistant', content: 'a', images: ['x'] }, done: false },
    { model: 'm', message: { content: '', tool_calls: [{ id: 'c', function: { name: 'f', arguments: { x: 1 } } }] } },
    { model: 'm', remote_host: 'h', logprobs: [{ token: 'a' }], message: { content: '' }, ...LAST },
  ])
  expect(chunks).toEqual([
    { type: 'start', model: 'm' },
    { type: 'reasoning-delta', index: 0, text: 'hm' },
    { type: 'block-end', index: 0 },
    { type: 'text-delta', index: 1, text: 'a' },
    { type: 'metadata', choice: 0, append: { images: ['x'] } },
    { type: 'block-end', index: 1 },
    { type: 'tool-call-delta', index: 2, id: 'c', providerCallId: 'c', name: 'f', argumentsDelta: '' },
    { type: 'tool-call-delta', index: 2, id: 'c', argumentsDelta: '{"x":1}' },
    { type: 'block-end', index: 2 },
    { type: 'metadata', choice: 0, append: { logprobs: [{ token: 'a' }] } },
    {
      type: 'usage',
      usage: { inputTokens: 3, outputTokens: 4, raw: { prompt_eval_count: 3, eval_count: 4, total_duration: 5 } },
    },
    { type: 'metadata', replace: { remote_host: 'h' } },
    { type: 'finish', reason: 'tool-calls', raw: 'stop' },
  ])
  expect(notes).toEqual([])
  expect(machine.ended).toBe(true)
})

test('a generation is the same without messages', () => {
  const { chunks } = collectWith(ollama(), [
    { response: 'a', done: false },
    { response: '', context: [1], ...LAST },
  ])
  expect(chunks.map(({ type }) => type)).toEqual(['start', 'text-delta', 'usage', 'metadata', 'block-end', 'finish'])
})

test('a line of another kind, an unreadable end, and the limit of calls', () => {
  expect(collectWith(ollama(), [{ status: 'pulling' }]).notes).toEqual(['unknown_event'])
  const strange = collectWith(ollama(), [{ response: 'a', done: 'yes' }])
  expect(strange.notes).toEqual(['unexpected_field: done'])
  expect(strange.machine.ended).toBe(false)
  const calls = { message: { tool_calls: [1, 2].map(() => ({ function: { name: 'f' } })) } }
  for (const [callsPerChoice, errors] of [
    [2, 0],
    [1, 1],
  ] as const) {
    const { chunks } = collectWith(ollama(), [calls], {}, { callsPerChoice })
    expect(chunks.filter(({ type }) => type === 'error')).toHaveLength(errors)
  }
})

test('a counter too deep to be kept leaves the others, and no raw usage', () => {
  const deep = `${'['.repeat(5_000)}${']'.repeat(5_000)}`
  const line = JSON.stringify({ response: 'a', ...LAST, load_duration: '@' }).replace('"@"', deep)
  const { chunks } = collectWith(ollama(), [line])
  expect(chunks.filter(({ type }) => type === 'usage')).toEqual([
    { type: 'usage', usage: { inputTokens: 3, outputTokens: 4 } },
  ])
})

test('after an error only usage is read', () => {
  const { machine } = collectWith(ollama(), [])
  const { out } = createOutput()
  machine.readUsageOnly({ data: JSON.stringify({ response: 'x', ...LAST }) }, out)
  expect(out.chunks.map(({ type }) => type)).toEqual(['usage'])
})
