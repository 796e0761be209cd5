import { describe, expect, test } from 'vitest'
import { ReplaySyntaxError } from '../../src/replay/replay-syntax-error.ts'
import { readSample } from '../../src/verify/golden-sample.ts'
import type { GoldenSample } from '../../src/verify/golden-sample.ts'
import { keepsFailure } from '../../src/verify/keep-failure.ts'
import { minimize, NothingToMinimize } from '../../src/verify/minimize.ts'
import { call, delta, sse } from '../wire.ts'
import { temporaryFolder } from './temporary-folder.ts'

const NOISE = Array.from({ length: 30 }, (_, i) => delta({ content: `word ${i} ` }))
/** A call whose arguments are broken, amid much that has nothing to do with it. */
const BROKEN = sse(
  delta({ role: 'assistant', content: '' }),
  ...NOISE.slice(0, 15),
  call(0, '{"a":', 'call_1', 'add'),
  ...NOISE.slice(15),
  call(0, 'oops}'),
  delta({}, 'tool_calls'),
  '[DONE]',
)

function sampleOf(body: string): GoldenSample {
  return readSample(temporaryFolder().write('broken.sse', body))
}

const textOf = (reads: readonly { readonly bytes: Uint8Array }[]): string =>
  reads.map(({ bytes }) => new TextDecoder().decode(bytes)).join('')

describe('minimize', () => {
  test('leaves what is needed to fail in the same way, and nothing else', async () => {
    const sample = sampleOf(BROKEN)
    const result = await minimize(sample.recording, keepsFailure(sample))
    expect(result).toMatchObject({ unitsBefore: 35, minimal: true })
    expect(textOf(result.recording.reads)).toBe(
      sse(call(0, '{"a":', 'call_1', 'add'), call(0, 'oops}'), delta({}, 'tool_calls'), '[DONE]'),
    )
    expect(result.unitsAfter).toBe(4)
    expect(result.bytesAfter).toBe(textOf(result.recording.reads).length)
  })

  test('no event can go from what is left', async () => {
    const sample = sampleOf(BROKEN)
    const fails = keepsFailure(sample)
    const { recording } = await minimize(sample.recording, fails)
    const again = await minimize(recording, fails)
    expect(again.unitsAfter).toBe(again.unitsBefore)
  })

  test('by a question of one’s own, which may be asked asynchronously', async () => {
    const sample = sampleOf(BROKEN)
    const result = await minimize(sample.recording, ({ reads }) => Promise.resolve(textOf(reads).includes('word 7 ')))
    expect(textOf(result.recording.reads)).toBe(sse(NOISE[7]!))
  })

  test('a question that is always true leaves nothing', async () => {
    expect((await minimize(sampleOf(BROKEN).recording, () => true)).unitsAfter).toBe(0)
  })

  test('is cut short by the number of tries, and says so', async () => {
    const sample = sampleOf(BROKEN)
    const result = await minimize(sample.recording, keepsFailure(sample), { maxTries: 3 })
    expect(result).toMatchObject({ tries: 3, minimal: false })
    expect(keepsFailure(sample)(result.recording)).toBe(true)
  })

  test('refuses what does not fail', async () => {
    await expect(minimize(sampleOf(BROKEN).recording, () => false)).rejects.toThrow(NothingToMinimize)
  })

  test('stops when it is interrupted', async () => {
    const abort = new AbortController()
    const asked = minimize(sampleOf(BROKEN).recording, () => (abort.abort(new Error('enough')), true), {
      signal: abort.signal,
    })
    await expect(asked).rejects.toThrow('enough')
  })
})

describe('what is kept', () => {
  test.each<{ keep: readonly string[]; body: string; holds: boolean }>([
    { keep: ['outcome'], body: sse(delta({ content: 'x' }), delta({}, 'stop'), '[DONE]'), holds: true },
    { keep: ['calls'], body: sse(delta({ content: 'x' }), delta({}, 'stop'), '[DONE]'), holds: false },
    { keep: ['error'], body: sse({ error: { message: 'x' } }), holds: false },
    { keep: ['all'], body: BROKEN, holds: true },
    { keep: ['findings'], body: BROKEN, holds: true },
  ])('$keep: $holds', ({ keep, body, holds }) => {
    expect(keepsFailure(sampleOf(BROKEN), keep)(sampleOf(body).recording)).toBe(holds)
  })

  test('is one of the known words', () => {
    expect(() => keepsFailure(sampleOf(BROKEN), ['mood'])).toThrow(ReplaySyntaxError)
  })
})
