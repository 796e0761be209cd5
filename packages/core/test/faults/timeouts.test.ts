import { describe, expect, test } from 'vitest'
import { REASONING_TIMEOUTS } from '../../src/engine/deadlines.ts'
import type { StreamEngine } from '../../src/engine/stream-engine.ts'
import { engineFor, findingsOf, run } from './run.ts'
import type { RunOptions } from './run.ts'
import { DONE, bytesOf, chunk, finish, frag, sse, text } from './wire.ts'

function started(options: RunOptions = {}): StreamEngine {
  const engine = engineFor(options)
  engine.start(0)
  engine.response({ status: 200 }, 0)
  return engine
}

describe('F115 — a hop holds the stream back and lets it go in bursts', () => {
  const words = Array.from({ length: 40 }, (_, i) => sse(text(`${i} `)))

  /** Reads of this many events each, this far apart. */
  function arrive(perRead: number, gapMs: number): StreamEngine {
    const engine = started()
    let atMs = 200
    for (let i = 0; i < words.length; i += perRead) {
      engine.push(bytesOf(words.slice(i, i + perRead).join('')), atMs)
      atMs += gapMs
    }
    engine.push(bytesOf(sse(finish('stop'), DONE)), atMs)
    engine.end('eof', atMs)
    return engine
  }

  test('bursts: the finding names the headers to set', () => {
    const report = arrive(10, 1_000).report()
    expect(report.timing).toMatchObject({ streaming: 'bursty', longestGapMs: 1_000 })
    expect(report.diagnostics).toMatchObject([
      { code: 'bursty_arrival', hint: expect.stringMatching(/X-Accel-Buffering.*no-transform/) as string },
    ])
  })

  test('one by one: a real stream', () => {
    const report = arrive(1, 100).report()
    expect(report.timing.streaming).toBe('real')
    expect(report.diagnostics).toEqual([])
  })

  test('however it arrives, the text is the same', () => {
    expect(arrive(10, 1_000).report().choices).toEqual(arrive(1, 100).report().choices)
  })
})

test('F116 — an edge answers 524 with a page before the first token', () => {
  const page =
    '<!DOCTYPE html>\n<html lang="en-US"><head><title>api.example.com | 524: A timeout occurred</title></head>' +
    'x'.repeat(100_000)
  const result = run(page, {
    head: {
      status: 524,
      headers: [
        ['content-type', 'text/html; charset=UTF-8'],
        ['cf-ray', '8a1'],
      ],
    },
  })
  expect(result.report).toMatchObject({
    outcome: 'failed',
    error: { code: 'http_error', phase: 'headers', status: 524, retryable: 'yes' },
    attempts: [{ upstreamRequestId: '8a1' }],
    counts: { events: 0 },
  })
  expect(result.report.error!.message).toContain('524: A timeout occurred')
  expect(result.report.error!.message.length).toBeLessThan(400)
})

describe('F118 — the stream goes silent for ever', () => {
  test('the idle timer ends it: what came is kept, the open call does not run', () => {
    const engine = started()
    engine.push(bytesOf(sse(text('Hel'))), 100)
    engine.push(bytesOf(sse(text('lo'), frag(0, 'c1', 'f', '{"a"'))), 5_000)
    expect(engine.deadline()).toEqual({ atMs: 35_000, code: 'idle_timeout' })
    engine.end('timeout', 35_000)
    expect(engine.report()).toMatchObject({
      outcome: 'incomplete',
      error: { code: 'idle_timeout', retryable: 'restart' },
      choices: [{ text: 'Hello', toolCalls: [{ state: 'failed', code: 'idle_timeout' }] }],
    })
  })

  test('silent before the first byte', () => {
    const engine = started()
    expect(engine.deadline()).toEqual({ atMs: 30_000, code: 'first_byte_timeout' })
    engine.end('timeout', 30_000)
    expect(engine.report()).toMatchObject({
      outcome: 'incomplete',
      error: { code: 'first_byte_timeout', phase: 'headers', retryable: 'yes' },
    })
  })
})

describe('F119 — heartbeats keep the connection alive while the model is stuck', () => {
  test.each([
    { name: 'comments', beat: ': ping\n\n' },
    { name: 'a named ping', beat: 'event: ping\ndata: {"type":"ping"}\n\n' },
    { name: 'empty data', beat: 'data:\n\n' },
    { name: 'a name without data', beat: 'event: x\n\n' },
    { name: 'empty deltas', beat: sse(chunk({})) },
    { name: 'empty content', beat: sse(chunk({ role: 'assistant', content: '', tool_calls: [] })) },
    { name: 'fragments that carry nothing', beat: sse(frag(0, '', '', '')) },
  ])('$name are bytes, not progress', ({ beat }) => {
    const engine = started()
    engine.push(bytesOf(sse(text('a'), frag(0, 'c1', 'f', ''))), 1_000)
    for (let atMs = 11_000; atMs < 121_000; atMs += 10_000) {
      engine.push(bytesOf(beat), atMs)
      expect(engine.deadline()!.atMs).toBe(Math.min(atMs + 30_000, 121_000))
    }
    expect(engine.deadline()).toEqual({ atMs: 121_000, code: 'progress_timeout' })
    engine.end('timeout', 121_000)
    expect(engine.report()).toMatchObject({
      outcome: 'incomplete',
      error: { code: 'progress_timeout', phase: 'delta', retryable: 'restart' },
    })
  })

  test.each([
    { name: 'text', step: text('b') },
    { name: 'reasoning', step: chunk({ reasoning: 'b' }) },
    { name: 'a refusal', step: chunk({ refusal: 'b' }) },
    { name: 'arguments', step: frag(0, 'c1', 'f', '{"a"') },
  ])('$name is progress', ({ step }) => {
    const engine = started({ timeouts: { idleMs: Infinity } })
    engine.push(bytesOf(sse(text('a'))), 1_000)
    expect(engine.deadline()).toEqual({ atMs: 121_000, code: 'progress_timeout' })
    engine.push(bytesOf(sse(step)), 50_000)
    expect(engine.deadline()).toEqual({ atMs: 170_000, code: 'progress_timeout' })
  })

  test('the preset for models that think for minutes, named in the hint', () => {
    const engine = started({ timeouts: REASONING_TIMEOUTS })
    expect(engine.deadline()).toEqual({ atMs: 300_000, code: 'first_byte_timeout' })
    engine.push(bytesOf(': ping\n\n'), 1_000)
    expect(engine.deadline()).toEqual({ atMs: 300_000, code: 'progress_timeout' })
    engine.end('timeout', 300_000)
    expect(engine.report().error!.message).toContain('reasoning')
  })
})

test('F121 — a silent stream is ended by our own timer: the deadline that had passed names the code', () => {
  const engine = started({ timeouts: { idleMs: 300_000, progressMs: Infinity } })
  engine.push(bytesOf(sse(text('a'))), 1_000)
  engine.end('timeout', 301_000)
  expect(engine.report().error).toMatchObject({ code: 'idle_timeout', retryable: 'restart' })

  const early = started({ timeouts: { idleMs: 400_000, progressMs: Infinity } })
  early.push(bytesOf(sse(text('a'))), 1_000)
  early.end('timeout', 301_000)
  expect(early.report().error).toMatchObject({
    code: 'incomplete_stream',
    message: expect.stringContaining('a timer ended the stream') as string,
  })
  expect(findingsOf({ events: [], report: early.report(), snapshot: early.snapshot() })).toEqual([])
})
