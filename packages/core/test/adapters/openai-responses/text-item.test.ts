import { describe, expect, test } from 'vitest'
import type { StreamChunk } from '../../../src/chunk/chunk.ts'
import { collectResponses, ofType } from './collect.ts'
import { added, completed, created, done, message, textDelta, textDone, wholeMessage } from './wire.ts'

const START: StreamChunk = { type: 'start', id: 'resp_1', model: 'm-1' }
const STOP: StreamChunk = { type: 'finish', reason: 'stop', raw: 'completed' }

function summaryDelta(at: number, text: string): unknown {
  return {
    type: 'response.reasoning_summary_text.delta',
    output_index: 0,
    item_id: 'rs_1',
    summary_index: at,
    delta: text,
  }
}

describe('text', () => {
  test('start, deltas, block-end, usage, finish, in this order', () => {
    const usage = { input_tokens: 3, output_tokens: 2, total_tokens: 5 }
    const { chunks, notes } = collectResponses([created(), ...wholeMessage(0, ['Hi', '.']), completed([], { usage })])
    expect(chunks).toEqual([
      START,
      { type: 'text-delta', index: 0, text: 'Hi' },
      { type: 'text-delta', index: 0, text: '.' },
      {
        type: 'block-end',
        index: 0,
        metadata: { item: { id: 'msg_1', type: 'message', role: 'assistant', status: 'completed' } },
      },
      { type: 'usage', usage: { inputTokens: 3, outputTokens: 2, totalTokens: 5, raw: usage } },
      STOP,
    ])
    expect(notes).toEqual([])
  })

  test('annotations and log probabilities are kept with the block; what the part restates counts', () => {
    const annotation = { type: 'url_citation', url: 'https://example.org/' }
    const logprobs = [{ token: 'Hi', logprob: -0.1 }]
    const added1 = {
      type: 'response.output_text.annotation.added',
      output_index: 0,
      item_id: 'msg_1',
      content_index: 0,
      annotation_index: 0,
      annotation,
    }
    const begun = [created(), added(0, message()), textDelta(0, 'Hi', { logprobs }), added1]
    const oneByOne = collectResponses([...begun, done(0, message('Hi'))])
    expect(ofType(oneByOne.chunks, 'block-end')).toMatchObject([{ metadata: { annotations: [annotation], logprobs } }])
    const part = { type: 'output_text', text: 'Hi', annotations: [annotation, annotation], logprobs: [] }
    const restated = collectResponses([
      ...begun,
      { type: 'response.content_part.done', output_index: 0, item_id: 'msg_1', content_index: 0, part },
    ])
    expect(ofType(restated.chunks, 'block-end')).toMatchObject([
      { metadata: { annotations: [annotation, annotation], logprobs } },
    ])
  })

  test('several parts and several messages are blocks of their own', () => {
    const two = { type: 'message', id: 'msg_2', role: 'assistant', content: [] }
    const { chunks } = collectResponses([
      created(),
      added(0, message()),
      textDelta(0, 'a'),
      textDelta(0, 'b', { content_index: 1 }),
      added(1, two),
      textDelta(1, 'c', { item_id: 'msg_2' }),
      textDelta(0, 'd'),
    ])
    expect(ofType(chunks, 'text-delta').map(({ index, text }) => [index, text])).toEqual([
      [0, 'a'],
      [1, 'b'],
      [2, 'c'],
      [0, 'd'],
    ])
  })

  test('a restated text that contradicts the deltas counts, and is said once', () => {
    const { chunks, notes } = collectResponses([
      created(),
      added(0, message()),
      textDelta(0, 'Hello wrld'),
      textDone(0, 'Hello world'),
      done(0, message('Hello world')),
      completed([message('Hello world')]),
    ])
    expect(notes).toEqual(['text_restated: text'])
    expect(ofType(chunks, 'block-end')).toMatchObject([
      { block: { type: 'text', index: 0, text: 'Hello world', status: 'done' } },
    ])
  })

  test('the final response may add to a text whose block had ended', () => {
    const { chunks, notes } = collectResponses([created(), ...wholeMessage(0, ['Hel']), completed([message('Hello')])])
    expect(ofType(chunks, 'text-delta').map(({ text }) => text)).toEqual(['Hel', 'lo'])
    expect(ofType(chunks, 'block-end')).toHaveLength(2)
    expect(notes).toEqual(['deltas_incomplete: text'])
  })

  test('parts that hold no text are kept', () => {
    const image = { type: 'output_image', url: 'https://example.org/a.png' }
    const { chunks } = collectResponses([created(), done(0, message('Hi', { content: [image] })), completed()])
    expect(chunks).toContainEqual({ type: 'metadata', choice: 0, append: { content: [image] } })
  })
})

describe('reasoning', () => {
  const whole = { id: 'rs_1', type: 'reasoning', encrypted_content: 'c2VjcmV0' }

  test('summary parts are blocks; the last keeps the item, to be sent back', () => {
    const summary = [
      { type: 'summary_text', text: 'One.' },
      { type: 'summary_text', text: 'Two.' },
    ]
    const { chunks } = collectResponses([
      created(),
      added(0, { ...whole, encrypted_content: '', summary: [] }),
      summaryDelta(0, 'One.'),
      summaryDelta(1, 'Two.'),
      done(0, { ...whole, summary }),
      completed([{ ...whole, summary }]),
    ])
    expect(chunks.slice(1)).toEqual([
      { type: 'reasoning-delta', index: 0, text: 'One.' },
      { type: 'reasoning-delta', index: 1, text: 'Two.' },
      { type: 'block-end', index: 0 },
      { type: 'block-end', index: 1, metadata: { item: { ...whole, summary } } },
      STOP,
    ])
  })

  test('without any text it is an empty block that keeps the item', () => {
    const { chunks } = collectResponses([created(), added(0, whole), done(0, whole), completed()])
    expect(chunks.slice(1)).toEqual([
      { type: 'block-start', index: 0, blockType: 'reasoning' },
      { type: 'block-end', index: 0, metadata: { item: whole } },
      STOP,
    ])
  })

  test('raw reasoning text, restated by its item', () => {
    const content = [{ type: 'reasoning_text', text: 'Hm, so.' }]
    const { chunks, notes } = collectResponses([
      created(),
      added(0, { ...whole, content: [] }),
      {
        type: 'response.reasoning_text.delta',
        output_index: 0,
        item_id: 'rs_1',
        content_index: 0,
        delta: 'Hm',
      },
      done(0, { ...whole, content }),
    ])
    expect(ofType(chunks, 'reasoning-delta').map(({ text }) => text)).toEqual(['Hm', ', so.'])
    expect(notes).toEqual(['deltas_incomplete: reasoning'])
  })
})
