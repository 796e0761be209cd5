import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { callsOf, findingsOf, readPieces, readWhole, textOf } from '../run.ts'
import { DONE, bytesOf, chunk, finish, frag, sse, text } from '../wire.ts'
import { CONFIG, end, expectNothingReleased } from './generators.ts'

describe('the last event without its blank line', () => {
  const last = bytesOf(sse(chunk({ content: ' end' }, 'stop')))
  const before = bytesOf(sse(text('The')))
  /** Where its JSON is whole: the closing bracket is the third byte from the end. */
  const whole = last.length - 2

  test('counts exactly when its data is whole JSON', () => {
    for (let at = 1; at <= last.length; at++) {
      const result = readPieces([before, last.slice(0, at)])
      expect(textOf(result)).toBe(at >= whole ? 'The end' : 'The')
      expect(result.report.outcome).toBe(at >= whole ? 'degraded' : 'incomplete')
      expect(findingsOf(result)).toEqual(
        at < whole ? [] : at < last.length ? ['missing_sentinel', 'unterminated_last_event'] : ['missing_sentinel'],
      )
    }
  })

  test('or when it is [DONE]', () => {
    const sentinel = bytesOf(sse(DONE))
    for (let at = 1; at <= sentinel.length; at++) {
      const { report } = readPieces([before, last, sentinel.slice(0, at)])
      expect(report.outcome).toBe(at >= sentinel.length - 2 ? 'completed' : 'degraded')
    }
  })

  test('a call in half an event is not a call', () => {
    const open = bytesOf(sse(frag(0, 'a', 'f', '{}'))).slice(0, -4)
    expect(callsOf(readPieces([before, open]))).toEqual([])
  })
})

describe('several data lines in one event', () => {
  const chunkEvents = fc.array(
    fc.string({ maxLength: 6 }).map((content) => text(content)),
    { minLength: 1, maxLength: 5 },
  )

  test('are joined first', () => {
    fc.assert(
      fc.property(chunkEvents, fc.constantFrom(1, 2, 4, '\t'), (events, indent) => {
        const all = [...events, finish('stop')]
        const pretty = all
          .map((event) =>
            JSON.stringify(event, null, indent)
              .split('\n')
              .map((line) => `data: ${line}\n`)
              .join(''),
          )
          .join('\n')
        const result = readWhole(`${pretty}\n${sse(DONE)}`)
        expect(result.events).toEqual(readWhole(sse(...all, DONE)).events)
        expect(findingsOf(result)).toEqual([])
      }),
      CONFIG,
    )
  })

  test('are read apart when the join does not parse and every line parses alone', () => {
    fc.assert(
      fc.property(chunkEvents, (events) => {
        const all = [...events, finish('stop')]
        const glued = `${all.map((event) => `data: ${JSON.stringify(event)}\n`).join('')}data: [DONE]\n\n`
        const result = readWhole(glued)
        expect(result.events).toEqual(readWhole(sse(...all, DONE)).events)
        expect(findingsOf(result)).toEqual(['glued_events'])
      }),
      CONFIG,
    )
  })

  test('are one bad event when only some of them parse alone', () => {
    const result = readWhole(
      `data: ${JSON.stringify(text('a'))}\ndata: {"choices":\n\n${sse(text('b'), finish('stop'), DONE)}`,
    )
    expect(textOf(result)).toBe('b')
    expect(findingsOf(result)).toEqual(['skipped_event'])
  })
})

describe('a bad event amid good ones', () => {
  const good = [
    text('a'),
    frag(0, 'c1', 'f', '{"x":1}'),
    text('b'),
    frag(1, 'c2', 'g', '{"y"'),
    frag(1, undefined, undefined, ':2}'),
    text('c'),
    ...end,
  ]
  const bad = fc.oneof(
    fc.constantFrom('{', '{"choices":[{"delta":{"content":"x', 'null', '12', '"text"', '[1]', 'nope', '{}}'),
    fc.string({ minLength: 1 }).map((junk) => `{${JSON.stringify(junk)}`),
  )

  test('text goes on, nothing of the stream is released, and strict fails', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: good.length - 1 }), bad, (at, junk) => {
        const body = sse(...good.slice(0, at), junk, ...good.slice(at))
        const result = readWhole(body)
        expect(textOf(result)).toBe('abc')
        expect(findingsOf(result)).toContain('skipped_event')
        expect(result.report.outcome).toBe('degraded')
        expectNothingReleased(result)
        const codes = new Set(result.report.choices[0]!.toolCalls.map(({ code }) => code))
        for (const code of codes) expect(['invalid_event_json', 'event_skipped']).toContain(code)

        expect(readWhole(body, { policy: 'strict' }).report).toMatchObject({
          outcome: 'failed',
          error: { code: 'invalid_event_json', phase: 'event', event: at + 1 },
        })
      }),
      CONFIG,
    )
  })

  test('calls that were open when it came fail, later ones are held', () => {
    const result = readWhole(sse(frag(0, 'c1', 'f', '{"x":1}'), 'nope', frag(1, 'c2', 'g', '{}'), ...end))
    expect(callsOf(result)).toEqual(['f({"x":1}) failed: invalid_event_json', 'g({}) held: event_skipped'])
  })

  test('calls that were closed before it came are held', () => {
    const result = readWhole(sse(frag(0, 'c1', 'f', '{"x":1}'), finish('tool_calls'), 'nope', DONE))
    expect(callsOf(result)).toEqual(['f({"x":1}) held: event_skipped'])
  })

  test('without it everything is released', () => {
    expect(callsOf(readWhole(sse(...good)))).toEqual(['f({"x":1}) ready', 'g({"y":2}) ready'])
  })
})
