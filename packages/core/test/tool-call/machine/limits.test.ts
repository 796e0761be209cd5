import { describe, expect, test } from 'vitest'
import type { StreamChunk } from '../../../src/chunk/chunk.ts'
import { call, delta, outline, play, RELEASE } from '../play.ts'

/** A call whose arguments take this many bytes. */
function filled(bytes: number): StreamChunk {
  return call(0, 'f', `{"a":"${'x'.repeat(bytes - 8)}"}`)
}

/** A call whose arguments are nested this deep. */
function nested(depth: number): StreamChunk {
  return call(0, 'f', `{"a":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}}`)
}

describe('limits', () => {
  test.each([
    { name: 'ASCII', text: '{"a":"xyz"}', bytes: 11 },
    { name: 'CJK', text: '{"a":"日本語"}', bytes: 17 },
    { name: 'emoji', text: '{"a":"😀👍"}', bytes: 16 },
    { name: 'Latin', text: '{"a":"éü"}', bytes: 12 },
  ])('argument bytes, $name: $bytes pass, one fewer does not', ({ text, bytes }) => {
    // Split between characters: half a surrogate pair never reaches the machine.
    for (const pieces of [[text], Array.from(text)]) {
      const chunks = pieces.map((piece, at) => delta(0, { argumentsDelta: piece, ...(at === 0 && { name: 'f' }) }))
      expect(play(chunks, RELEASE, { maxArgumentBytes: bytes }).phase).toBe('released')
      const { fault, events, calls } = play(chunks, RELEASE, { maxArgumentBytes: bytes - 1 })
      expect(fault).toMatchObject({
        code: 'argument_limit_exceeded',
        phase: 'call',
        retryable: 'no',
        choice: 0,
        callId: 'call_0',
      })
      expect(outline(events).at(-1)).toBe('failed call_0 argument_limit_exceeded')
      expect(calls[0]!.argumentsText).toBe(pieces.slice(0, -1).join(''))
    }
  })

  test('argument bytes count for each call alone', () => {
    const chunks = [call(0, 'f', '{"a":1}'), call(1, 'f', '{"a":2}')]
    expect(play(chunks, RELEASE, { maxArgumentBytes: 7 }).phase).toBe('released')
  })

  test('argument bytes hold for restated arguments too', () => {
    const chunks: StreamChunk[] = [
      call(0, 'f', ''),
      {
        type: 'block-end',
        index: 0,
        block: { type: 'tool-call', index: 0, callId: 'call_0', argumentsText: '{"a":1}', status: 'done' },
      },
    ]
    expect(play(chunks, RELEASE, { maxArgumentBytes: 7 }).fault).toBeUndefined()
    expect(play(chunks, RELEASE, { maxArgumentBytes: 6 }).fault?.code).toBe('argument_limit_exceeded')
  })

  test('default argument bytes are 1 MiB', () => {
    expect(play([filled(2 ** 20)]).phase).toBe('released')
    expect(play([filled(2 ** 20 + 1)]).fault?.code).toBe('argument_limit_exceeded')
  })

  test.each([
    { maxDepth: 3, text: '{"a":[[1]]}', ok: true },
    { maxDepth: 3, text: '{"a":[[[1]]]}', ok: false },
    { maxDepth: 1, text: '{"a":1}', ok: true },
    { maxDepth: 1, text: '{"a":{}}', ok: false },
  ])('depth $maxDepth, $text: $ok', ({ maxDepth, text, ok }) => {
    const { phase, calls } = play([call(0, 'f', text)], RELEASE, { maxDepth })
    expect(phase).toBe(ok ? 'released' : 'failed')
    expect(calls[0]!.code).toBe(ok ? null : 'arguments_invalid')
  })

  test('default depth is 128', () => {
    expect(play([nested(128)]).phase).toBe('released')
    expect(play([nested(129)]).phase).toBe('failed')
  })
})
