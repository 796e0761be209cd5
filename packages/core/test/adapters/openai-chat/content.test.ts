import { describe, expect, test } from 'vitest'
import { reasoningOf, textOfParts } from '../../../src/adapters/openai-chat/content.ts'

const nothing = { text: '', reasoning: '', refusal: '', otherParts: [] }

describe('textOfParts', () => {
  test.each([
    {
      name: 'text',
      parts: [
        { type: 'text', text: 'a' },
        { type: 'output_text', text: 'b' },
      ],
      want: { text: 'ab' },
    },
    { name: 'plain strings', parts: ['a', 'b'], want: { text: 'ab' } },
    {
      name: 'thinking as text parts',
      parts: [{ type: 'thinking', thinking: [{ type: 'text', text: 'a' }, 'b'] }],
      want: { reasoning: 'ab' },
    },
    { name: 'thinking as a string', parts: [{ type: 'thinking', thinking: 'a' }], want: { reasoning: 'a' } },
    {
      name: 'reasoning',
      parts: [
        { type: 'reasoning', reasoning: 'a' },
        { type: 'reasoning', text: 'b' },
      ],
      want: { reasoning: 'ab' },
    },
    {
      name: 'thinking that holds nothing to read',
      parts: [
        { type: 'thinking', thinking: 7 },
        { type: 'thinking' },
        { type: 'thinking', thinking: [{ type: 'image' }] },
      ],
      want: {},
    },
    { name: 'refusal', parts: [{ type: 'refusal', refusal: 'no' }], want: { refusal: 'no' } },
    {
      name: 'mixed',
      parts: [{ type: 'thinking', thinking: 'a' }, { type: 'text', text: 'b' }, 'c'],
      want: { reasoning: 'a', text: 'bc' },
    },
    { name: 'no parts', parts: [], want: {} },
  ])('$name', ({ parts, want }) => {
    expect(textOfParts(parts)).toEqual({ ...nothing, ...want })
  })

  test.each([
    [{ type: 'image_url', image_url: { url: 'x' } }],
    [{ type: 'text', text: 7 }],
    [{ type: 'text' }],
    [{ type: 'refusal' }],
    [{ text: 'no type' }],
    [{}],
    [7],
    [null],
    [['nested']],
  ])('%j is kept, not guessed at', (part) => {
    expect(textOfParts([part])).toEqual({ ...nothing, otherParts: [part] })
  })

  test('thinking in thinking in thinking is no recursion', () => {
    let part: unknown = { type: 'text', text: 'a' }
    for (let i = 0; i < 50_000; i++) part = { type: 'thinking', thinking: [part] }
    expect(textOfParts([part])).toEqual(nothing)
  })
})

describe('reasoningOf', () => {
  test.each([
    { name: 'reasoning', delta: { reasoning: 'a' }, text: 'a' },
    { name: 'reasoning_content', delta: { reasoning_content: 'a' }, text: 'a' },
    { name: 'reasoning_text', delta: { reasoning_text: 'a' }, text: 'a' },
    { name: 'an empty twin', delta: { reasoning: '', reasoning_content: 'a' }, text: 'a' },
    { name: 'a null twin', delta: { reasoning: null, reasoning_content: 'a' }, text: 'a' },
    {
      name: 'details: texts',
      delta: { reasoning_details: [{ type: 'reasoning.text', text: 'a' }, { text: 'b' }] },
      text: 'ab',
    },
    {
      name: 'details: a summary',
      delta: { reasoning_details: [{ type: 'reasoning.summary', summary: 'a' }] },
      text: 'a',
    },
    { name: 'details with holes', delta: { reasoning_details: [null, 7, {}, { text: 7 }, { text: 'a' }] }, text: 'a' },
  ])('$name', ({ delta, text }) => {
    expect(reasoningOf(delta)).toEqual({ text, duplicated: false, contradicts: false })
  })

  test('equal twins are one text', () => {
    expect(reasoningOf({ reasoning: 'a', reasoning_content: 'a' })).toEqual({
      text: 'a',
      duplicated: true,
      contradicts: false,
    })
  })

  test('twins that differ: `reasoning` is taken, and said to contradict', () => {
    expect(reasoningOf({ reasoning_content: 'a', reasoning: 'b' })).toEqual({
      text: 'b',
      duplicated: true,
      contradicts: true,
    })
  })

  test('the spelled-out text goes before the details that repeat it', () => {
    expect(reasoningOf({ reasoning: 'a', reasoning_details: [{ text: 'a' }] })).toEqual({
      text: 'a',
      duplicated: false,
      contradicts: false,
    })
  })

  test.each([
    {},
    { reasoning: null },
    { reasoning: '' },
    { reasoning: 7 },
    { reasoning: {} },
    { reasoning_details: 'a' },
    { reasoning_details: [] },
    { reasoning_details: [{ type: 'reasoning.encrypted', data: 'x' }] },
  ])('%j is none', (delta) => {
    expect(reasoningOf(delta)).toBeUndefined()
  })
})
