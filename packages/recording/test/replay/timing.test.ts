import { describe, expect, test } from 'vitest'
import { scriptOf } from '../../src/replay/replay-script.ts'
import { ReplaySyntaxError } from '../../src/replay/replay-syntax-error.ts'
import { parseTiming, retime } from '../../src/replay/timing.ts'
import { recordingOf } from '../wire.ts'

const script = scriptOf(recordingOf(['a', 'b']))
const times = (text: string): readonly number[] => {
  const { head, writes, end } = retime(script, parseTiming(text))
  return [head!.atUs, ...writes.map(({ atUs }) => atUs), end.atUs]
}

describe('timings', () => {
  test.each<{ timing: string; at: readonly number[] }>([
    { timing: 'original', at: [100_000, 110_000, 120_000, 130_000] },
    { timing: 'none', at: [0, 0, 0, 0] },
    { timing: 'x4', at: [25_000, 27_500, 30_000, 32_500] },
    { timing: '×0.5', at: [200_000, 220_000, 240_000, 260_000] },
    { timing: 'fixed:20ms', at: [20_000, 40_000, 60_000, 60_000] },
    { timing: 'cap:50ms', at: [50_000, 60_000, 70_000, 80_000] },
    { timing: 'cap:1.5s', at: [100_000, 110_000, 120_000, 130_000] },
  ])('$timing', ({ timing, at }) => {
    expect(times(timing)).toEqual(at)
  })

  test.each(['', 'fast', 'x', 'x0', 'x-1', 'fixed:', 'cap:soon', 'cap:-1'])('"%s" is none', (text) => {
    expect(() => parseTiming(text)).toThrow(ReplaySyntaxError)
  })
})
