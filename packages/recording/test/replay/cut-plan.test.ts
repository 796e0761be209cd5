import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { cutOffsets, cutPlanText, cutScript, parseCutPlan, refineScript } from '../../src/replay/cut-plan.ts'
import type { CutPlan } from '../../src/replay/cut-plan.ts'
import { bodyOf, scriptOf } from '../../src/replay/replay-script.ts'
import { ReplaySyntaxError } from '../../src/replay/replay-syntax-error.ts'
import { bytesOf, recordingOf } from '../wire.ts'

const script = scriptOf(recordingOf(['data: 1\n', '\ndata: 2\n\nda', 'ta: 3\n\n']))
const body = 'data: 1\n\ndata: 2\n\ndata: 3\n\n'
const textsOf = (plan: string): readonly string[] =>
  cutScript(script, parseCutPlan(plan)).writes.map(({ bytes }) => new TextDecoder().decode(bytes))

describe('plans', () => {
  test.each<{ plan: string; texts: readonly string[] }>([
    { plan: 'recorded', texts: ['data: 1\n', '\ndata: 2\n\nda', 'ta: 3\n\n'] },
    { plan: 'whole', texts: [body] },
    { plan: 'event', texts: ['data: 1\n\n', 'data: 2\n\n', 'data: 3\n\n'] },
    { plan: 'byte', texts: body.split('') },
    { plan: 'size:20', texts: [body.slice(0, 20), body.slice(20)] },
    { plan: 'size:999', texts: [body] },
    { plan: 'at:5', texts: [body.slice(0, 5), body.slice(5)] },
    { plan: 'split@5,2', texts: [body.slice(0, 2), body.slice(2, 5), body.slice(5)] },
    { plan: 'at:0,5,999', texts: [body.slice(0, 5), body.slice(5)] },
  ])('$plan', ({ plan, texts }) => {
    expect(textsOf(plan)).toEqual(texts)
  })

  test('random ones are the same for the same seed', () => {
    const bytes = bytesOf(body)
    expect(cutOffsets({ kind: 'random', seed: 7 }, bytes)).toEqual(cutOffsets({ kind: 'random', seed: 7 }, bytes))
    const seeds = Array.from({ length: 20 }, (_, seed) => JSON.stringify(cutOffsets({ kind: 'random', seed }, bytes)))
    expect(new Set(seeds).size).toBeGreaterThan(15)
    expect(cutOffsets({ kind: 'random', seed: 1 }, bytesOf('x'))).toEqual([])
  })

  test('a piece is never sent before its last byte was there', () => {
    expect(cutScript(script, parseCutPlan('event')).writes.map(({ atUs }) => atUs)).toEqual([120_000, 120_000, 130_000])
    expect(cutScript(script, parseCutPlan('whole')).writes.map(({ atUs }) => atUs)).toEqual([130_000])
  })

  test('the text of a plan is read back as the same plan', () => {
    const plan = fc.oneof(
      fc.constantFrom<CutPlan>({ kind: 'recorded' }, { kind: 'whole' }, { kind: 'event' }, { kind: 'byte' }),
      fc.integer({ min: 1, max: 99 }).map((bytes): CutPlan => ({ kind: 'size', bytes })),
      fc.nat().map((seed): CutPlan => ({ kind: 'random', seed })),
      fc
        .uniqueArray(fc.nat({ max: 999 }), { minLength: 1 })
        .map((offsets): CutPlan => ({ kind: 'at', offsets: offsets.toSorted((a, b) => a - b) })),
    )
    fc.assert(
      fc.property(plan, (one) => {
        expect(parseCutPlan(cutPlanText(one))).toEqual(one)
      }),
      { seed: 20_261_130 },
    )
  })

  test.each(['', 'bite', 'size', 'size:0', 'size:-1', 'size:x', 'at:', 'at:1,x', 'random:', 'random:x', 'byte:2'])(
    '"%s" is none',
    (text) => {
      expect(() => parseCutPlan(text)).toThrow(ReplaySyntaxError)
    },
  )

  test('any cut or refinement keeps the bytes', () => {
    const offsets = fc.uniqueArray(fc.integer({ min: -1, max: 30 })).map((list) => list.toSorted((a, b) => a - b))
    fc.assert(
      fc.property(offsets, (list) => {
        expect(new TextDecoder().decode(bodyOf(refineScript(script, list)))).toBe(body)
        expect(new TextDecoder().decode(bodyOf(cutScript(script, { kind: 'at', offsets: list })))).toBe(body)
      }),
      { seed: 20_261_130 },
    )
  })

  test('a refinement cuts within reads and keeps their times', () => {
    const { writes } = refineScript(script, [3, 8, 10])
    expect(writes.map(({ atUs, bytes }) => [atUs, bytes.length])).toEqual([
      [110_000, 3],
      [110_000, 5],
      [120_000, 2],
      [120_000, 10],
      [130_000, 7],
    ])
  })
})
