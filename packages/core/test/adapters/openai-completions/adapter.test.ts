import { expect, test } from 'vitest'
import { completions } from '../../../src/adapters/openai-completions/adapter.ts'
import { collectWith } from '../collect-with.ts'
import { createOutput } from '../collect.ts'

const USAGE = { usage: { prompt_tokens: 1, completion_tokens: 2 } }

test('the chunks of a completion', () => {
  const { chunks, notes, skipped, machine } = collectWith(completions(), [
    { id: 'c', model: 'm', choices: [{ index: 0, text: 'a', logprobs: { tokens: ['a'] } }] },
    { id: 'c', model: 'm', choices: [{ index: 0, text: '', finish_reason: 'stop' }] },
    { id: 'c', model: 'm', choices: [], ...USAGE },
    '[DONE]',
  ])
  expect(chunks).toEqual([
    { type: 'start', id: 'c', model: 'm' },
    { type: 'text-delta', index: 0, text: 'a' },
    { type: 'metadata', choice: 0, append: { 'logprobs.tokens': ['a'] } },
    { type: 'block-end', index: 0 },
    { type: 'usage', usage: { inputTokens: 1, outputTokens: 2, raw: USAGE.usage } },
    { type: 'finish', reason: 'stop', raw: 'stop' },
  ])
  expect([notes, skipped, machine.ended]).toEqual([[], [], true])
})

const chunk = (id: string): object => ({ id, choices: [{ index: 0, text: 'a' }] })

test('an id that changes, an event of another kind, and the limit of choices', () => {
  expect(collectWith(completions(), [chunk('a'), chunk('b'), { x: 1 }]).notes).toEqual([
    'response_id_changed',
    'unknown_event',
  ])
  const two = { choices: [{ text: 'a' }, { text: 'b' }] }
  for (const [choices, errors] of [
    [2, 0],
    [1, 1],
  ] as const) {
    const { chunks } = collectWith(completions(), [two], {}, { choices })
    expect(chunks.filter(({ type }) => type === 'error')).toHaveLength(errors)
  }
})

test('all choices have to finish', () => {
  const done = { choices: [{ index: 0, text: 'a', finish_reason: 'stop' }] }
  expect(collectWith(completions(), [done]).machine.finished).toBe(true)
  expect(collectWith(completions(), [done], { n: 2 }).machine.finished).toBe(false)
})

test('after an error only usage is read', () => {
  const { machine } = collectWith(completions(), [])
  const { out } = createOutput()
  machine.readUsageOnly({ data: JSON.stringify({ choices: [{ text: 'x' }], ...USAGE }) }, out)
  expect(out.chunks.map(({ type }) => type)).toEqual(['usage'])
})
