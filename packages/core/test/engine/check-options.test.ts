import { describe, expect, test } from 'vitest'
import { chatCompletions } from '../../src/adapters/openai-chat/adapter.ts'
import { DEFAULT_TIMEOUTS, REASONING_TIMEOUTS, timeoutsOf } from '../../src/engine/deadlines.ts'
import { createStreamEngine } from '../../src/engine/engine.ts'
import type { StreamEngine } from '../../src/engine/stream-engine.ts'
import { finish, text } from './wire.ts'

/** As a caller without types passes it. */
function untyped(value: unknown): never {
  return value as never
}

function open(): StreamEngine {
  return createStreamEngine({ adapter: chatCompletions() })
}

describe('timeouts', () => {
  test.each([
    { name: 'nothing asked for', asked: undefined, want: DEFAULT_TIMEOUTS },
    { name: 'the preset', asked: 'reasoning' as const, want: REASONING_TIMEOUTS },
    { name: 'one timer', asked: { idleMs: 5 }, want: { ...DEFAULT_TIMEOUTS, idleMs: 5 } },
    { name: 'none at all', asked: { idleMs: Infinity }, want: { ...DEFAULT_TIMEOUTS, idleMs: Infinity } },
    { name: 'no time', asked: { idleMs: 0 }, want: { ...DEFAULT_TIMEOUTS, idleMs: 0 } },
    { name: 'a field that is undefined', asked: untyped({ idleMs: undefined }), want: DEFAULT_TIMEOUTS },
  ])('$name', ({ asked, want }) => {
    expect(timeoutsOf(asked)).toEqual(want)
  })

  test.each<{ asked: unknown; message: RegExp }>([
    {
      asked: 'reasonning',
      message: /^unknown timeouts "reasonning"; pass the preset 'reasoning', or an object of connectMs/,
    },
    { asked: 5000, message: /^unknown timeouts 5000; / },
    { asked: null, message: /^unknown timeouts null; / },
    { asked: { idle: 5 }, message: /^unknown timer "timeouts\.idle"; known are .*idleMs/ },
    { asked: { toString: 5 }, message: /^unknown timer "timeouts\.toString"/ },
    { asked: { idleMs: -1 }, message: /^timeouts\.idleMs must be milliseconds, 0 or more, not -1; Infinity/ },
    { asked: { connectMs: NaN }, message: /^timeouts\.connectMs must be .* not NaN/ },
    { asked: { totalMs: '5' }, message: /^timeouts\.totalMs must be .* not "5"/ },
    { asked: { totalMs: null }, message: /^timeouts\.totalMs must be .* not null/ },
  ])('$asked is refused', ({ asked, message }) => {
    const options = { adapter: chatCompletions(), timeouts: untyped(asked) }
    expect(() => createStreamEngine(options)).toThrow(TypeError)
    expect(() => createStreamEngine(options)).toThrow(message)
  })
})

describe('what an engine is fed', () => {
  test.each([
    { name: 'a string', given: text('a'), message: /^engine\.push takes a Uint8Array, not string; encode text/ },
    { name: 'an empty string', given: '', message: /not string/ },
    { name: 'an ArrayBuffer', given: new ArrayBuffer(4), message: /not another object; wrap it/ },
    { name: 'wider numbers', given: new Uint16Array(4), message: /not another object/ },
    { name: 'null', given: null, message: /not null/ },
    { name: 'nothing', given: undefined, message: /not undefined/ },
  ])('$name is refused, and the engine goes on', ({ given, message }) => {
    const engine = open()
    expect(() => engine.push(untyped(given))).toThrow(TypeError)
    expect(() => engine.push(untyped(given))).toThrow(message)
    engine.push(new TextEncoder().encode(text('a') + finish('stop')))
    expect(engine.end('eof').at(-1)).toMatchObject({ type: 'stream_completed' })
  })

  test.skipIf(typeof Buffer === 'undefined')('a Buffer is an array of bytes, and so is an empty one', () => {
    const engine = open()
    expect(engine.push(Buffer.alloc(0))).toEqual([])
    expect(engine.push(Buffer.from(text('a'))).map(({ type }) => type)).toContain('text_delta')
  })

  test.each(['bogus', 'toString', '', undefined])('an end of %s is refused, and is none', (cause) => {
    const engine = open()
    expect(() => engine.end(untyped(cause))).toThrow(TypeError)
    expect(() => engine.end(untyped(cause))).toThrow(
      `engine.end: unknown cause "${cause}"; known are eof, cut, reset, aborted, timeout, error`,
    )
    expect(engine.end('aborted').at(-1)).toMatchObject({ code: 'cancelled' })
  })
})
