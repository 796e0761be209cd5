import { describe, expect, test } from 'vitest'
import { DEFAULT_TIMEOUTS, REASONING_TIMEOUTS } from '../../src/engine/deadlines.ts'
import type { Timeouts } from '../../src/engine/deadlines.ts'
import type { StreamEngine } from '../../src/engine/stream-engine.ts'
import { engineWith, readsOf } from './run.ts'
import type { RunOptions } from './run.ts'
import { call, DONE, finish, more, text } from './wire.ts'

/** Whole numbers that no two sums of which are equal. */
const TIMES: Timeouts = {
  connectMs: 10,
  firstByteMs: 200,
  idleMs: 3000,
  progressMs: 40_000,
  totalMs: 500_000,
  finishGraceMs: 70,
}

function push(engine: StreamEngine, body: string, atMs: number): void {
  for (const read of readsOf(body)) engine.push(read, atMs)
}

/** An engine whose head came at 5 and whose first text came at 100. */
function streaming(timeouts: Partial<Timeouts> = {}, options: RunOptions = {}): StreamEngine {
  const engine = engineWith({ ...options, timeouts: { ...TIMES, ...timeouts } })
  engine.start(0)
  engine.response({ status: 200 }, 5)
  push(engine, text('a'), 100)
  return engine
}

/** Codes of the next timer at the start, after the head, after text and after a finish reason. */
function codes(timeouts: Timeouts): readonly (string | undefined)[] {
  const engine = engineWith({ timeouts })
  engine.start(0)
  const seen = [engine.deadline()?.code]
  engine.response({ status: 200 }, 5)
  seen.push(engine.deadline()?.code)
  push(engine, text('a'), 100)
  seen.push(engine.deadline()?.code)
  push(engine, finish('stop'), 200)
  seen.push(engine.deadline()?.code)
  return seen
}

describe('the next deadline', () => {
  test('is none without a clock', () => {
    const engine = engineWith()
    expect(engine.deadline()).toBeUndefined()
    engine.response({ status: 200 })
    for (const read of readsOf(text('a') + finish('stop'))) engine.push(read)
    expect(engine.deadline()).toBeUndefined()
  })

  test('where the connection is seen, it is the answer that is waited for from then on', () => {
    const engine = engineWith({ timeouts: TIMES })
    engine.start(0)
    engine.connected(4)
    expect(engine.deadline()).toEqual({ atMs: 204, code: 'first_byte_timeout' })
    engine.response({ status: 200 }, 150)
    expect(engine.deadline()).toEqual({ atMs: 350, code: 'first_byte_timeout' })
    expect(engine.report().timing).toMatchObject({ timeToConnectMs: 4, timeToHeadersMs: 150 })
  })

  test('a connection that is told of too late changes nothing', () => {
    const engine = engineWith({ timeouts: TIMES })
    engine.start(0)
    engine.response({ status: 200 }, 5)
    engine.connected(6)
    expect(engine.deadline()).toEqual({ atMs: 205, code: 'first_byte_timeout' })
    expect(engine.report().timing.timeToConnectMs).toBeNull()
  })

  test('no answer on a connection that was seen', () => {
    const engine = engineWith({ timeouts: TIMES })
    engine.start(0)
    engine.connected(4)
    expect(engine.end('timeout', 204)).toMatchObject([{ type: 'stream_error', code: 'first_byte_timeout' }])
  })

  test('goes from timer to timer as the response comes', () => {
    const engine = engineWith({ timeouts: TIMES })
    engine.start(0)
    expect(engine.deadline()).toEqual({ atMs: 10, code: 'connect_timeout' })
    engine.response({ status: 200 }, 5)
    expect(engine.deadline()).toEqual({ atMs: 205, code: 'first_byte_timeout' })
    push(engine, ': up\n\n', 100)
    expect(engine.deadline()).toEqual({ atMs: 3100, code: 'idle_timeout' })
    push(engine, text('a'), 200)
    expect(engine.deadline()).toEqual({ atMs: 3200, code: 'idle_timeout' })
    push(engine, finish('stop'), 300)
    expect(engine.deadline()).toEqual({ atMs: 370, code: 'finish_grace' })
    push(engine, DONE, 310)
    expect(engine.deadline()).toBeUndefined()
  })

  test('is the total, once that is nearest', () => {
    expect(streaming({ totalMs: 3099 }).deadline()).toEqual({ atMs: 3099, code: 'total_timeout' })
    expect(streaming({ totalMs: 3101 }).deadline()?.code).toBe('idle_timeout')
    const waiting = engineWith({ timeouts: { ...TIMES, totalMs: 9 } })
    waiting.start(0)
    expect(waiting.deadline()).toEqual({ atMs: 9, code: 'total_timeout' })
  })

  test('heartbeats are bytes, but no progress', () => {
    const engine = streaming({ idleMs: 30_000 })
    for (let at = 1000; at <= 40_000; at += 1000) push(engine, ': still there\n\n', at)
    expect(engine.deadline()).toEqual({ atMs: 40_100, code: 'progress_timeout' })
    expect(engine.end('timeout', 40_100).at(-1)).toMatchObject({ code: 'progress_timeout', phase: 'delta' })
  })

  test.each([
    { name: 'text', body: text('b') },
    { name: 'a call', body: call(0, 'f', '') },
    { name: 'arguments', body: more(0, '{') },
  ])('$name is progress', ({ body }) => {
    const engine = streaming({ idleMs: Infinity })
    push(engine, body, 30_000)
    expect(engine.deadline()).toEqual({ atMs: 70_000, code: 'progress_timeout' })
  })

  test('before any output progress is awaited from the head on', () => {
    const engine = engineWith({ timeouts: { ...TIMES, idleMs: Infinity } })
    engine.start(0)
    engine.response({ status: 200 }, 5)
    push(engine, ': up\n\n', 100)
    expect(engine.deadline()).toEqual({ atMs: 40_005, code: 'progress_timeout' })
  })

  test('the grace counts from the finish reason, and a heartbeat does not prolong it', () => {
    const engine = streaming()
    push(engine, finish('stop'), 200)
    push(engine, ': heartbeat\n\n', 250)
    expect(engine.deadline()).toEqual({ atMs: 270, code: 'finish_grace' })
  })

  test('the grace waits for every choice that was asked for', () => {
    const engine = streaming({}, { request: { n: 2 } })
    push(engine, finish('stop'), 200)
    expect(engine.deadline()?.code).toBe('idle_timeout')
    push(engine, finish('stop', 1), 250)
    expect(engine.deadline()).toEqual({ atMs: 320, code: 'finish_grace' })
  })

  test('a choice that opens after all ends the grace', () => {
    const engine = streaming()
    push(engine, finish('stop'), 200)
    push(engine, text('b', { choice: 1 }), 250)
    expect(engine.deadline()?.code).toBe('idle_timeout')
    push(engine, finish('stop', 1), 300)
    expect(engine.deadline()).toEqual({ atMs: 370, code: 'finish_grace' })
  })

  test.each(['connectMs', 'firstByteMs', 'idleMs', 'progressMs', 'totalMs', 'finishGraceMs'] as const)(
    '%s: Infinity turns it off',
    (off) => {
      const never = Object.fromEntries(Object.keys(TIMES).map((name) => [name, Infinity])) as unknown as Timeouts
      expect(codes(never)).toEqual([undefined, undefined, undefined, undefined])
      const alone = codes({ ...never, [off]: TIMES[off] }).filter((code) => code !== undefined)
      expect(new Set(alone).size).toBe(1)
      expect(codes({ ...TIMES, [off]: Infinity })).not.toContain(alone[0])
    },
  )
})

describe('a timer that has fired', () => {
  test.each([
    { at: 0, code: 'connect_timeout', phase: 'connect', retryable: 'yes' },
    { at: 1, code: 'first_byte_timeout', phase: 'headers', retryable: 'yes' },
    { at: 2, code: 'idle_timeout', phase: 'framing', retryable: 'restart' },
  ])('$code', ({ at, code, phase, retryable }) => {
    const engine = engineWith({ timeouts: TIMES })
    engine.start(0)
    if (at > 0) engine.response({ status: 200 }, 5)
    if (at > 1) push(engine, text('a'), 100)
    const { atMs } = engine.deadline()!
    expect(engine.end('timeout', atMs).at(-1)).toMatchObject({
      type: 'stream_error',
      code,
      phase,
      retryable,
      outcome: 'incomplete',
    })
    expect(engine.report().timing.timeToTerminalMs).toBe(atMs)
  })

  test.each([
    { code: 'first_byte_timeout', setUp: (engine: StreamEngine) => engine.response({ status: 200 }, 5) },
    {
      code: 'idle_timeout',
      setUp(engine: StreamEngine) {
        engine.response({ status: 200 }, 5)
        push(engine, text('a'), 100)
      },
    },
  ])('$code names the preset for models that think', ({ code, setUp }) => {
    const engine = engineWith({ timeouts: TIMES })
    engine.start(0)
    setUp(engine)
    engine.end('timeout', engine.deadline()!.atMs)
    expect(engine.report().error).toMatchObject({ code, message: expect.stringContaining('reasoning') as string })
  })

  test('the grace is no fault: the stream is done without its terminal signal', () => {
    const engine = streaming()
    push(engine, finish('stop'), 200)
    expect(engine.end('timeout', 270).at(-1)).toMatchObject({ type: 'stream_completed', outcome: 'degraded' })
  })

  test('a timer of the caller’s own, before any deadline, ends the stream by what was seen', () => {
    expect(streaming().end('timeout', 101).at(-1)).toMatchObject({ code: 'incomplete_stream', outcome: 'incomplete' })
  })

  test('an HTTP error wins over the timer that waits for its body', () => {
    const engine = engineWith({ timeouts: TIMES })
    engine.start(0)
    engine.response({ status: 503 }, 5)
    expect(engine.end('timeout', engine.deadline()!.atMs).at(-1)).toMatchObject({ code: 'http_error', status: 503 })
  })
})

describe('the presets', () => {
  test('default', () => {
    expect(DEFAULT_TIMEOUTS).toEqual({
      connectMs: 10_000,
      firstByteMs: 30_000,
      idleMs: 30_000,
      progressMs: 120_000,
      totalMs: Infinity,
      finishGraceMs: 2000,
    })
  })

  test('for models that think: first byte, idle and progress are longer, and nothing else', () => {
    expect(REASONING_TIMEOUTS).toEqual({
      ...DEFAULT_TIMEOUTS,
      firstByteMs: 300_000,
      idleMs: 300_000,
      progressMs: 300_000,
    })
    const engine = engineWith({ timeouts: REASONING_TIMEOUTS })
    engine.start(0)
    engine.response({ status: 200 }, 0)
    expect(engine.deadline()).toEqual({ atMs: 300_000, code: 'first_byte_timeout' })
  })

  test('one timer may be set alone', () => {
    const engine = engineWith({ timeouts: { connectMs: 1 } })
    engine.start(0)
    expect(engine.deadline()).toEqual({ atMs: 1, code: 'connect_timeout' })
    engine.response({ status: 200 }, 0)
    expect(engine.deadline()).toEqual({ atMs: 30_000, code: 'first_byte_timeout' })
  })
})
