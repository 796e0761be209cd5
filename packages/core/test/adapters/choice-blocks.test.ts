import { describe, expect, test } from 'vitest'
import { ChoiceBlocks } from '../../src/adapters/choice-blocks.ts'
import { createOutput } from './collect.ts'

describe('the blocks of a choice', () => {
  test('one after the other: another kind is another block, and a call ends the text before it', () => {
    const { out } = createOutput()
    const blocks = new ChoiceBlocks(0)
    blocks.text('text', 'a', out)
    blocks.text('text', '', out)
    blocks.text('text', 'b', out)
    blocks.text('reasoning', 'c', out)
    expect(blocks.begin(out)).toBe(2)
    blocks.text('text', 'd', out)
    expect(out.chunks).toEqual([
      { type: 'text-delta', index: 0, text: 'a' },
      { type: 'text-delta', index: 0, text: 'b' },
      { type: 'block-end', index: 0 },
      { type: 'reasoning-delta', index: 1, text: 'c' },
      { type: 'block-end', index: 1 },
      { type: 'text-delta', index: 3, text: 'd' },
    ])
  })

  test('under keys: they take turns, and a key that has ended begins another block', () => {
    const { out } = createOutput()
    const blocks = new ChoiceBlocks(2)
    blocks.text('text', 'a', out, 5)
    blocks.text('text', 'b', out, 4)
    blocks.text('text', 'c', out, 5)
    blocks.endText(out, 5)
    blocks.endText(out, 5)
    blocks.text('text', 'd', out, 5)
    expect(out.chunks).toEqual([
      { type: 'text-delta', choice: 2, index: 0, text: 'a' },
      { type: 'text-delta', choice: 2, index: 1, text: 'b' },
      { type: 'text-delta', choice: 2, index: 0, text: 'c' },
      { type: 'block-end', choice: 2, index: 0 },
      { type: 'text-delta', choice: 2, index: 2, text: 'd' },
    ])
  })

  test('provider fields stay with the text they sign, or get a block of their own', () => {
    const { out } = createOutput()
    const blocks = new ChoiceBlocks(0)
    blocks.text('text', 'a', out)
    blocks.sign('text', { s: 1 }, out)
    blocks.text('text', 'b', out)
    blocks.sign('reasoning', { s: 2 }, out)
    blocks.opaque({ o: 1 }, out)
    expect(out.chunks).toEqual([
      { type: 'text-delta', index: 0, text: 'a' },
      { type: 'block-end', index: 0, metadata: { s: 1 } },
      { type: 'text-delta', index: 1, text: 'b' },
      { type: 'block-end', index: 1 },
      { type: 'block-start', index: 2, blockType: 'reasoning' },
      { type: 'block-end', index: 2, metadata: { s: 2 } },
      { type: 'block-start', index: 3, blockType: 'opaque' },
      { type: 'block-end', index: 3, metadata: { o: 1 } },
    ])
  })

  test('a finish reason is provisional, but a bad one is not taken back', () => {
    const { out, notes } = createOutput()
    const blocks = new ChoiceBlocks(0)
    expect(blocks.close('STOP', 'stop', out)).toBe(true)
    blocks.text('text', 'a', out)
    expect([blocks.finishedEarly, blocks.hasContent]).toEqual([true, true])
    expect(blocks.close('SAFETY', 'content-filter', out)).toBe(false)
    expect(blocks.close('STOP', 'stop', out)).toBe(false)
    blocks.end(out, true)
    expect(out.chunks.at(-1)).toEqual({ type: 'finish', reason: 'content-filter', raw: 'SAFETY' })
    expect(notes).toEqual([
      'content_after_finish',
      'finish_reason_mismatch: "STOP" was followed by "SAFETY"',
      'finish_reason_mismatch: "SAFETY" was followed by "STOP"',
    ])
  })

  test('a stop with calls that wait is a tool turn', () => {
    for (const [waiting, reason] of [
      [true, 'tool-calls'],
      [false, 'stop'],
    ] as const) {
      const { out } = createOutput()
      const blocks = new ChoiceBlocks(0)
      blocks.close('STOP', 'stop', out)
      blocks.end(out, waiting)
      expect(out.chunks).toEqual([{ type: 'finish', reason, raw: 'STOP' }])
    }
  })

  test('half a character is given out at the end, with or without a finish reason', () => {
    for (const finished of [true, false]) {
      const { out } = createOutput()
      const blocks = new ChoiceBlocks(0)
      blocks.text('text', 'a\ud83c', out)
      if (finished) blocks.close('STOP', 'stop', out)
      blocks.end(out)
      const text = out.chunks.flatMap((chunk) => (chunk.type === 'text-delta' ? [chunk.text] : [])).join('')
      expect(text).toBe('a\ud83c')
      expect(out.chunks.some(({ type }) => type === 'block-end')).toBe(finished)
    }
  })

  test('think tags: text without a key only, and what was held back comes out before a call', () => {
    const { out } = createOutput()
    const blocks = new ChoiceBlocks(0, { thinkTags: true })
    blocks.text('text', '<think>', out, 1)
    blocks.text('text', '<thi', out)
    blocks.begin(out)
    const texts = out.chunks.flatMap((chunk) => ('text' in chunk ? [`${chunk.type} ${chunk.text}`] : []))
    expect(texts).toEqual(['text-delta <think>', 'text-delta <thi'])
  })
})
