import { describe, expect, test } from 'vitest'
import { goldenResultOf } from './golden-result.ts'
import { bodyOf, readSamples } from './sample.ts'

/** Larger bodies are cut around the borders of their events and at every so many bytes in between. */
const LARGE_BYTES = 4096
const STRIDE = 13
const AROUND = 8

describe('golden samples: in two pieces, cut at every byte', { timeout: 60_000 }, () => {
  test.each(readSamples())('$name', (sample) => {
    const golden = goldenResultOf(sample)
    const wrong = cutOffsets(bodyOf(sample)).find((offset) => !golden.holds([offset]))
    // Without a cut that differs this compares the sample in one piece.
    const cuts = wrong === undefined ? [] : [wrong]
    expect(golden.at(cuts), `cut at ${wrong}`).toEqual(golden.expected)
  })

  test('a large body is cut around every border', () => {
    const body = new TextEncoder().encode(`${'x'.repeat(5000)}\n\n${'y'.repeat(100)}`)
    const offsets = cutOffsets(body)
    expect(offsets.filter((offset) => Math.abs(offset - 5001) < 8).length).toBe(15)
    expect(offsets.length).toBeLessThan(500)
    expect(cutOffsets(body.subarray(0, 4096)).length).toBe(4095)
  })
})

function cutOffsets(body: Uint8Array): readonly number[] {
  const offsets: number[] = []
  let border = -Infinity
  for (let offset = 1; offset < body.length; offset++) {
    if (body[offset - 1] === 0x0a || body[offset - 1] === 0x0d) border = offset
    const next = body.subarray(offset, offset + AROUND).findIndex((byte) => byte === 0x0a || byte === 0x0d)
    const near = offset - border < AROUND || next >= 0
    if (body.length <= LARGE_BYTES || near || offset % STRIDE === 0) offsets.push(offset)
  }
  return offsets
}
