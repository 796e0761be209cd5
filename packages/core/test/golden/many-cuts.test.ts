import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { goldenResultOf } from './golden-result.ts'
import { bodyOf, readSamples } from './sample.ts'

/** Kept, so that a failure can be had again; fast-check prints it with the cuts. */
const SEED = 20_261_130

describe('golden samples: in many pieces', { timeout: 60_000 }, () => {
  test.each(readSamples())('$name', (sample) => {
    const golden = goldenResultOf(sample)
    const { length } = bodyOf(sample)
    const everyByte = Array.from({ length: Math.max(0, length - 1) }, (_, i) => i + 1)
    expect(golden.at(everyByte)).toEqual(golden.expected)
    expect(golden.at(everyByte, 'empty-pushes')).toEqual(golden.expected)
    if (length < 2) return
    const cuts = fc
      .uniqueArray(fc.integer({ min: 1, max: length - 1 }), { minLength: 1, maxLength: 12 })
      .map((offsets) => offsets.toSorted((a, b) => a - b))
    const between = fc.constantFrom('nothing' as const, 'empty-pushes' as const)
    fc.assert(
      fc.property(cuts, between, (places, pushes) => golden.holds(places, pushes)),
      { seed: SEED, numRuns: 25 },
    )
  })
})
