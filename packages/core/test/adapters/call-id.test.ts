import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { CallIds } from '../../src/adapters/call-id.ts'

const CONFIG = { seed: 1_414_213, numRuns: 200 }

function made(seed: string, response: string | undefined, choice: number, ordinal: number): string {
  return new CallIds(seed).assign(undefined, response, choice, ordinal)
}

describe('CallIds', () => {
  test("the provider's id, where it is not used yet", () => {
    const ids = new CallIds('run')
    expect(ids.assign('a', 'resp', 0, 0)).toBe('a')
    expect(ids.assign('b', 'resp', 0, 1)).toBe('b')
    expect(ids.assign('c', undefined, 3, 0)).toBe('c')
  })

  test('a repeated id is the first call’s alone', () => {
    const ids = new CallIds('run')
    expect(ids.assign('a', 'resp', 0, 0)).toBe('a')
    expect(ids.assign('a', 'resp', 0, 1)).toMatch(/^call_[0-9a-z]+_0_1$/)
    expect(ids.assign('a', 'resp', 1, 0)).toMatch(/^call_[0-9a-z]+_1_0$/)
  })

  test('a made id depends on seed, response, choice and place, and on nothing else', () => {
    const all = [
      made('run', 'resp', 0, 0),
      made('run', 'resp', 0, 1),
      made('run', 'resp', 1, 0),
      made('run', 'other', 0, 0),
      made('run', undefined, 0, 0),
      made('other', 'resp', 0, 0),
    ]
    expect(new Set(all).size).toBe(all.length)
    expect(made('run', 'resp', 0, 0)).toBe(all[0])
  })

  test('seed and response are not run together', () => {
    expect(new CallIds('a').assign(undefined, 'bc', 0, 0)).not.toBe(new CallIds('ab').assign(undefined, 'c', 0, 0))
  })

  test('a made id that the provider has used gives way', () => {
    const taken = made('run', 'resp', 0, 1)
    const ids = new CallIds('run')
    expect(ids.assign(taken, 'resp', 0, 0)).toBe(taken)
    expect(ids.assign(undefined, 'resp', 0, 1)).toBe(`${taken}_1`)
    expect(ids.assign(`${taken}_2`, 'resp', 0, 2)).toBe(`${taken}_2`)
  })

  test('no two calls of a response share an id', () => {
    fc.assert(
      fc.property(
        fc.array(fc.option(fc.constantFrom('a', 'b', 'call_0'), { nil: undefined }), { maxLength: 20 }),
        (provided) => {
          const ids = new CallIds('run')
          const given = provided.map((id, i) => ids.assign(id, 'resp', i % 3, Math.floor(i / 3)))
          expect(new Set(given).size).toBe(given.length)
        },
      ),
      CONFIG,
    )
  })
})
