import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { crc32 } from '../../src/aws-event-stream/crc32.ts'
import { crc32 as zlibCrc32 } from './zlib-crc32.ts'

const SEED = 22_360_680

describe('crc32', { timeout: 60_000 }, () => {
  test('gives the check value of the standard', () => {
    expect(crc32(new TextEncoder().encode('123456789'), 0, 9)).toBe(0xcbf43926)
    expect(crc32(new Uint8Array(0), 0, 0)).toBe(0)
  })

  test(`agrees with zlib, for any part and in two steps (seed ${SEED})`, () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), fc.nat(64), fc.nat(64), (bytes, a, b) => {
        const start = Math.min(a, b, bytes.length)
        const end = Math.min(Math.max(a, b), bytes.length)
        const whole = crc32(bytes, start, end)
        expect(whole).toBe(zlibCrc32(bytes.subarray(start, end)))
        const middle = (start + end) >> 1
        expect(crc32(bytes, middle, end, crc32(bytes, start, middle))).toBe(whole)
      }),
      { seed: SEED, numRuns: 200 },
    )
  })
})
