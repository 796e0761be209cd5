import { describe, expect, test } from 'vitest'
import { collectResponses, ofType } from './collect.ts'
import { added, argumentsDelta, completed, created, done, functionCall, message, textDelta, textDone } from './wire.ts'

describe('fields of the wrong type', () => {
  const begun = [created(), added(0, functionCall('')), added(1, message())]

  test.each<[string, unknown, number]>([
    ['a delta that is an object', argumentsDelta(0, { city: 'Oslo' }), 1],
    ['a delta that is a number', argumentsDelta(0, 7), 1],
    ['a delta that is missing', { type: 'response.function_call_arguments.delta', output_index: 0 }, 1],
    ['a delta that is null', argumentsDelta(0, null), 0],
    ['a text delta that is a list', textDelta(1, ['x']), 1],
    ['a text delta that is null', textDelta(1, null), 0],
    ['a text delta that is missing', { type: 'response.output_text.delta', output_index: 1, content_index: 0 }, 1],
    ['a whole text that is missing', { type: 'response.output_text.done', output_index: 1, content_index: 0 }, 0],
    ['an index that is a fraction', argumentsDelta(0.5, '{}'), 1],
    ['an index that is an object', argumentsDelta({}, '{}'), 1],
    ['an index that is empty text', argumentsDelta('', '{}'), 1],
    ['an index that is numeric text', argumentsDelta('0', '{}'), 0],
    ['an index that is null', argumentsDelta(null, '{}'), 0],
    ['a content index that is an object', textDelta(1, 'x', { content_index: {} }), 1],
    ['a part that is text', { type: 'response.content_part.done', output_index: 1, content_index: 0, part: 'x' }, 1],
    ['a part that is null', { type: 'response.content_part.done', output_index: 1, content_index: 0, part: null }, 0],
    ['a whole text that is a number', textDone(1, 5), 1],
    ['content that is text', done(1, message('x', { content: 'x' })), 1],
    ['a part whose text is a number', done(1, message('x', { content: [{ type: 'output_text', text: 5 }] })), 1],
    ['an output that is an object', completed({ a: 1 }), 1],
    ['an output item that is text', completed(['x']), 1],
    ['an output item that is null', completed([null]), 0],
    ['an output item without a type', completed([{ id: 'x' }]), 1],
    ['a final response that is text', { type: 'response.completed', response: 'x' }, 1],
    ['a lifecycle response that is text', { type: 'response.in_progress', response: 'x' }, 0],
    ['a list in place of an event', [], 1],
    ['a usage that is text', completed([], { usage: 'x' }), 0],
  ])('%s: %#', (_name, event, holes) => {
    expect(collectResponses([...begun, event]).skipped).toHaveLength(holes)
  })

  test('values too deep to be kept or written down', () => {
    const deep = `${'['.repeat(5_000)}${']'.repeat(5_000)}`
    const call = JSON.stringify(done(0, functionCall('@', { arguments: '@' }))).replace('"@"', deep)
    const { skipped } = collectResponses([...begun, call])
    expect(skipped.length).toBeLessThanOrEqual(1)
    const item = JSON.stringify(done(2, { id: 'x', type: 'compaction', data: '@' })).replace('"@"', deep)
    expect(ofType(collectResponses([...begun, item]).chunks, 'block-start')).toEqual([])
  })
})
