import * as fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import { createStreamAccumulator } from '../../src/accumulate/accumulator.ts'
import type { StreamSnapshot } from '../../src/accumulate/snapshot.ts'
import type { StreamChunk } from '../../src/chunk/chunk.ts'
import { anyChunk } from './chunks.ts'
import { naiveSnapshot } from './naive.ts'

const SEED = 14_142_135

const anyChunks = fc.array(anyChunk, { maxLength: 24 })

/** A snapshot after each chunk, the empty one first. */
function snapshots(chunks: readonly StreamChunk[]): StreamSnapshot[] {
  const accumulator = createStreamAccumulator()
  return [accumulator.snapshot(), ...chunks.map((chunk) => (accumulator.push(chunk), accumulator.snapshot()))]
}

describe('snapshots', { timeout: 60_000 }, () => {
  test(`show what a fold of all chunks shows (seed ${SEED})`, () => {
    fc.assert(
      fc.property(anyChunks, (chunks) => {
        const { version: _, ...shown } = snapshots(chunks).at(-1)!
        expect(shown).toEqual(naiveSnapshot(chunks))
      }),
      { seed: SEED, numRuns: 1500 },
    )
  })

  test(`never change once they were taken (seed ${SEED})`, () => {
    fc.assert(
      fc.property(anyChunks, (chunks) => {
        const accumulator = createStreamAccumulator()
        const taken: { snapshot: StreamSnapshot; text: string }[] = []
        for (const chunk of chunks) {
          accumulator.push(deepFreeze(chunk))
          const snapshot = accumulator.snapshot()
          taken.push({ snapshot, text: JSON.stringify(snapshot) })
        }
        accumulator.close()
        accumulator.snapshot()
        accumulator.reset()
        for (const { snapshot, text } of taken) expect(JSON.stringify(snapshot)).toBe(text)
      }),
      { seed: SEED, numRuns: 500 },
    )
  })

  test(`with the same version are the same object, with another version another (seed ${SEED})`, () => {
    fc.assert(
      fc.property(anyChunks, (chunks) => {
        const all = snapshots(chunks)
        for (const [at, next] of all.slice(1).entries()) {
          const before = all[at]!
          expect(next.version >= before.version).toBe(true)
          expect(next === before).toBe(next.version === before.version)
          const shown = [at, at + 1].map((length) => JSON.stringify(naiveSnapshot(chunks.slice(0, length))))
          expect(next !== before || shown[0] === shown[1]).toBe(true)
        }
      }),
      { seed: SEED, numRuns: 500 },
    )
  })

  test(`share every choice and block that a chunk did not touch (seed ${SEED})`, () => {
    fc.assert(
      fc.property(anyChunks, (chunks) => {
        const all = snapshots(chunks)
        for (const [at, chunk] of chunks.entries()) {
          const before = all[at]!
          const next = all[at + 1]!
          const touched =
            'choice' in chunk || 'index' in chunk || chunk.type === 'finish' ? (chunk.choice ?? 0) : undefined
          for (const choice of before.choices) {
            const same = next.choices.find((one) => one.index === choice.index)!
            expect(same === choice || choice.index === touched).toBe(true)
            expect(same.blocks === choice.blocks || 'index' in chunk).toBe(true)
            const changed = choice.blocks.filter((block) => !same.blocks.includes(block)).map((block) => block.index)
            expect(changed.filter((index) => !('index' in chunk && index === chunk.index))).toEqual([])
          }
        }
      }),
      { seed: SEED, numRuns: 500 },
    )
  })

  test(`hold blocks and choices in index order, whatever the order of arrival (seed ${SEED})`, () => {
    fc.assert(
      fc.property(anyChunks, (chunks) => {
        const { choices } = snapshots(chunks).at(-1)!
        expect(choices.map((choice) => choice.index)).toEqual(ascending(choices.map((choice) => choice.index)))
        for (const { blocks } of choices) {
          expect(blocks.map((block) => block.index)).toEqual(ascending(blocks.map((block) => block.index)))
        }
      }),
      { seed: SEED, numRuns: 500 },
    )
  })

  test(`survive JSON and a structured clone (seed ${SEED})`, () => {
    fc.assert(
      fc.property(anyChunks, (chunks) => {
        const snapshot = snapshots(chunks).at(-1)!
        expect(JSON.parse(JSON.stringify(snapshot))).toEqual(snapshot)
        expect(structuredClone(snapshot)).toEqual(snapshot)
      }),
      { seed: SEED, numRuns: 300 },
    )
  })
})

describe('counted work', () => {
  const N = 2000
  const OTHERS = 40

  test('n snapshots of an n-delta answer build n blocks, n choices and n snapshots', () => {
    const accumulator = createStreamAccumulator()
    for (let index = 0; index < OTHERS; index++) {
      accumulator.push({ type: 'text-delta', index, text: 'earlier' })
      accumulator.push({ type: 'text-delta', choice: 1, index, text: 'beside it' })
    }
    accumulator.snapshot()
    const blocks = new Set<unknown>()
    const choices = new Set<unknown>()
    const whole = new Set<unknown>()
    for (let n = 0; n < N; n++) {
      accumulator.push({ type: 'text-delta', index: OTHERS, text: 'x' })
      // Asked for twice: the second one is free.
      for (const snapshot of [accumulator.snapshot(), accumulator.snapshot()]) {
        whole.add(snapshot)
        for (const choice of snapshot.choices) {
          choices.add(choice)
          for (const block of choice.blocks) blocks.add(block)
        }
      }
    }
    expect({ blocks: blocks.size, choices: choices.size, whole: whole.size }).toEqual({
      blocks: N + 2 * OTHERS,
      choices: N + 1,
      whole: N,
    })
  })

  test('lists that grow with every delta are not copied with every snapshot', () => {
    const accumulator = createStreamAccumulator()
    let copied = 0
    const slice = Array.prototype.slice
    const spy = vi.spyOn(Array.prototype, 'slice').mockImplementation(function (this: unknown[], ...range) {
      const copy = slice.apply(this, range)
      copied += copy.length
      return copy
    })
    try {
      for (let n = 0; n < N; n++) {
        accumulator.push({ type: 'text-delta', index: 0, text: 'x' })
        accumulator.push({ type: 'metadata', choice: 0, append: { logprobs: [n] } })
        accumulator.snapshot()
      }
    } finally {
      spy.mockRestore()
    }
    expect(copied).toBeLessThan(4 * N)
    expect(accumulator.snapshot().choices[0]!.metadata!['logprobs']).toHaveLength(N)
  })
})

function ascending(numbers: readonly number[]): number[] {
  return numbers.toSorted((a, b) => a - b)
}

function deepFreeze<Value>(value: Value): Value {
  if (typeof value === 'object' && value !== null) {
    Object.freeze(value)
    for (const inner of Object.values(value)) deepFreeze(inner)
  }
  return value
}
