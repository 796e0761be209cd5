import { describe, expect, test } from 'vitest'
import { GapHistogram, OutputHistogram } from '../../src/engine/arrival-spread.ts'
import { engineWith, readsOf } from './run.ts'
import { call, DONE, finish, more, text, usage } from './wire.ts'

function gapsOf(...gaps: readonly number[]): GapHistogram {
  const histogram = new GapHistogram()
  for (const gap of gaps) histogram.add(gap)
  return histogram
}

function outputsOf(...outputs: readonly (readonly [atMs: number, bytes: number])[]): OutputHistogram {
  const histogram = new OutputHistogram()
  for (const [at, bytes] of outputs) histogram.add(at, bytes)
  return histogram
}

/** From a request at 1000 with a head at 1010 to an end of the body at 2000. */
function play(...reads: readonly (readonly [body: string, atMs: number])[]) {
  const engine = engineWith()
  engine.start(1000)
  engine.response({ status: 200 }, 1010)
  for (const [body, at] of reads) for (const read of readsOf(body)) engine.push(read, at)
  engine.end('eof', 2000)
  return engine.report()
}

describe('GapHistogram', () => {
  test('without gaps there is no percentile', () => {
    expect(gapsOf().quantile(0.5)).toBeUndefined()
  })

  test.each([
    { gaps: [0], p50: 0, p95: 0 },
    { gaps: [20], p50: 20, p95: 20 },
    { gaps: Array.from({ length: 100 }, (_, n) => n + 1), p50: 50, p95: 95 },
    { gaps: [...Array.from({ length: 19 }, () => 10), 60_000], p50: 10, p95: 10 },
    { gaps: [...Array.from({ length: 18 }, () => 10), 60_000, 60_000], p50: 10, p95: 60_000 },
  ])('of $gaps.length gaps: $p50 and $p95, to within 5 %', ({ gaps, p50, p95 }) => {
    const histogram = gapsOf(...gaps)
    expect(Math.abs(histogram.quantile(0.5)! - p50)).toBeLessThanOrEqual(0.05 * p50)
    expect(Math.abs(histogram.quantile(0.95)! - p95)).toBeLessThanOrEqual(0.05 * p95)
  })

  test('the last bucket is open: a gap of years is only said to be long', () => {
    expect(gapsOf(1e12, 1e13).quantile(0.5)).toBeGreaterThan(1e11)
  })

  test('no percentile is above the longest gap', () => {
    for (let ms = 0.005; ms < 1e7; ms *= 1.37) expect(gapsOf(ms).quantile(0.95)).toBeLessThanOrEqual(ms)
  })
})

describe('OutputHistogram', () => {
  test('nothing, no time, and no bytes give no share', () => {
    expect(outputsOf().lateShare(0)).toBeUndefined()
    expect(outputsOf([5, 10]).lateShare(5)).toBeUndefined()
    expect(outputsOf([5, 0]).lateShare(0)).toBeUndefined()
  })

  test('held back until the end: all of it', () => {
    expect(outputsOf(...Array.from({ length: 50 }, () => [1000, 7] as const)).lateShare(0)).toBe(1)
  })

  test.each([100, 1000, 100_000, 10_000_000])('written steadily for %i ms: about a tenth', (totalMs) => {
    const histogram = outputsOf(...Array.from({ length: 1000 }, (_, n) => [(n * totalMs) / 1000, 3] as const))
    expect(histogram.lateShare(0)).toBeGreaterThan(0.09)
    expect(histogram.lateShare(0)).toBeLessThan(0.12)
  })

  test('bytes count, not pieces', () => {
    expect(outputsOf([1, 1], [2, 1], [1000, 8]).lateShare(0)).toBe(0.8)
  })
})

describe('in a report', () => {
  test('each kind of output has its own instant, each call its own end', () => {
    const { timing } = play(
      [call(0, 'f', '{"a":'), 1100],
      [call(1, 'g', '{}'), 1200],
      [more(0, '1}'), 1300],
      [text('done'), 1400],
      [finish('tool_calls') + usage(30) + DONE, 1600],
    )
    expect(timing).toMatchObject({
      timeToFirstOutputMs: 100,
      timeToFirstToolNameMs: 100,
      timeToFirstTextMs: 400,
      timeToTerminalMs: 600,
      timeToLastByteMs: 600,
      // The server kept the connection for 400 ms more.
      timeToEndOfBodyMs: 1000,
      calls: [
        { callId: 'call_0', timeToLastArgumentMs: 300 },
        { callId: 'call_1', timeToLastArgumentMs: 200 },
      ],
      longestGapMs: 200,
      longestProgressGapMs: 100,
      outputTokensPerSecond: 60,
    })
  })

  test('heartbeats fill gaps between reads, and none between outputs', () => {
    const { timing } = play([text('a'), 1100], [': ping\n\n', 1300], [text('b'), 1500], [finish('stop') + DONE, 1501])
    expect(timing).toMatchObject({
      longestGapMs: 200,
      longestGapAt: { offset: text('a').length, event: 1 },
      longestProgressGapMs: 400,
    })
  })

  test('a reader that leaves before sees no end of the body', () => {
    const engine = engineWith()
    engine.start(0)
    for (const read of readsOf(text('a'))) engine.push(read, 5)
    engine.end('aborted', 9)
    expect(engine.report().timing).toMatchObject({ timeToEndOfBodyMs: null, outputTokensPerSecond: null })
  })

  test('without a clock there is none of it', () => {
    const engine = engineWith()
    for (const read of readsOf(call(0, 'f', '{}') + text('a') + finish('tool_calls') + usage(3) + DONE))
      engine.push(read)
    engine.end('eof')
    expect(engine.report().timing).toEqual({
      timeToConnectMs: null,
      timeToHeadersMs: null,
      timeToFirstByteMs: null,
      timeToFirstEventMs: null,
      timeToFirstOutputMs: null,
      timeToFirstTextMs: null,
      timeToFirstToolNameMs: null,
      timeToTerminalMs: null,
      timeToLastEventMs: null,
      timeToLastByteMs: null,
      timeToEndOfBodyMs: null,
      calls: [],
      longestGapMs: null,
      longestGapAt: null,
      longestProgressGapMs: null,
      gapP50Ms: null,
      gapP95Ms: null,
      eventsPerRead: null,
      burstRatio: null,
      outputTokensPerSecond: null,
      streaming: 'unknown',
    })
  })
})
