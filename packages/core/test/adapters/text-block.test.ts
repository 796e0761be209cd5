import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { TextBlockWriter } from '../../src/adapters/text-block.ts'
import type { TextBlockType } from '../../src/adapters/text-block.ts'
import type { StreamChunk } from '../../src/chunk/chunk.ts'
import { createOutput } from './collect.ts'

const CONFIG = { seed: 2_718_281, numRuns: 200 }

function written(pieces: readonly string[], type: TextBlockType = 'text', choice = 0): readonly StreamChunk[] {
  const { out } = createOutput()
  const writer = new TextBlockWriter(type, choice, 4)
  for (const piece of pieces) writer.write(piece, out)
  writer.end(out)
  return out.chunks
}

describe('TextBlockWriter', () => {
  test.each([
    { type: 'text', delta: 'text-delta' },
    { type: 'reasoning', delta: 'reasoning-delta' },
    { type: 'refusal', delta: 'refusal-delta' },
  ] as const)('$type becomes $delta, and one block-end', ({ type, delta }) => {
    expect(written(['a', 'b'], type)).toEqual([
      { type: delta, index: 4, text: 'a' },
      { type: delta, index: 4, text: 'b' },
      { type: 'block-end', index: 4 },
    ])
  })

  test('another choice is named, choice 0 is not', () => {
    expect(written(['a'], 'text', 2)).toEqual([
      { type: 'text-delta', choice: 2, index: 4, text: 'a' },
      { type: 'block-end', choice: 2, index: 4 },
    ])
  })

  test('nothing is written for nothing', () => {
    expect(written(['', ''])).toEqual([{ type: 'block-end', index: 4 }])
  })

  test('a first half waits for the second', () => {
    expect(written(['a\ud83d', '\ude00b'])).toEqual([
      { type: 'text-delta', index: 4, text: 'a' },
      { type: 'text-delta', index: 4, text: '😀b' },
      { type: 'block-end', index: 4 },
    ])
  })

  test('a first half alone comes out at the end, as it was sent', () => {
    expect(written(['\ud83d'])).toEqual([
      { type: 'text-delta', index: 4, text: '\ud83d' },
      { type: 'block-end', index: 4 },
    ])
  })

  test('the whole is what was written, and no pair is cut over two deltas', () => {
    const units = fc.array(fc.constantFrom('a', '\ud83d', '\ude00', '😀', ''), { maxLength: 12 })
    fc.assert(
      fc.property(units, (pieces) => {
        const texts = written(pieces).flatMap((chunk) => (chunk.type === 'text-delta' ? [chunk.text] : []))
        expect(texts.join('')).toBe(pieces.join(''))
        expect(texts).not.toContain('')
        for (const [i, text] of texts.entries()) {
          const cut = /[\ud800-\udbff]$/.test(text) && /^[\udc00-\udfff]/.test(texts[i + 1] ?? '')
          expect(cut).toBe(false)
        }
      }),
      CONFIG,
    )
  })
})
