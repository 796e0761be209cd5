import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { chatCompletions } from '../../src/adapters/openai-chat/index.ts'
import { createStreamEngine } from '../../src/engine/index.ts'
import { readRecordings, replayInto, requestFactsOf } from '../../src/recording/index.ts'
import type { EndKind, Recording, ReplayTarget } from '../../src/recording/index.ts'
import { base64Read, HEAD, lines, read } from './recording-lines.ts'

const only = (text: string): Recording => readRecordings(text)[0]!

/** Writes down what it is given. */
function notebook(): { readonly target: ReplayTarget; readonly notes: readonly unknown[][] } {
  const notes: unknown[][] = []
  return {
    notes,
    target: {
      start: (atMs) => void notes.push(['start', atMs]),
      response: (head, atMs, nowMs) => void notes.push(['response', head.status, head.headers, atMs, nowMs]),
      push: (bytes, atMs) => {
        notes.push(['push', new TextDecoder().decode(bytes), atMs])
        return [{ type: 'text_delta', choice: 0, block: 0, text: `${bytes.length}` }]
      },
      end: (cause, atMs) => {
        notes.push(['end', cause, atMs])
        return [{ type: 'stream_completed', outcome: 'completed', finish: [] }]
      },
    },
  }
}

test('plays head, reads and end at their times, in milliseconds', () => {
  const recording = only(
    lines(
      '{"t":"head","format":"streamfold/recording","v":1,"created":"2026-11-30T15:00:00.000Z"}',
      '{"t":"req","at":0}',
      '{"t":"res","at":500000,"status":200,"headers":[["A","b"]]}',
      read(512902, 0, 'one'),
      read(512903, 3, 'two'),
      '{"t":"end","at":600001,"kind":"complete"}',
    ),
  )
  const { target, notes } = notebook()
  const events = replayInto(target, recording)
  expect(notes).toEqual([
    ['start', 0],
    ['response', 200, [['A', 'b']], 500, Date.UTC(2026, 10, 30, 15, 0, 0, 500)],
    ['push', 'one', 512.902],
    ['push', 'two', 512.903],
    ['end', 'eof', 600.001],
  ])
  expect(events.map(({ type }) => type)).toEqual(['text_delta', 'text_delta', 'stream_completed'])
})

test.each<[EndKind, string]>([
  ['complete', 'eof'],
  ['cut', 'cut'],
  ['reset', 'reset'],
  ['aborted', 'aborted'],
  ['timeout', 'timeout'],
  ['error', 'error'],
])('the end %s is played as %s', (kind, cause) => {
  const { target, notes } = notebook()
  replayInto(target, only(lines(HEAD, `{"t":"end","at":7000,"kind":"${kind}"}`)))
  expect(notes).toEqual([
    ['start', 0],
    ['end', cause, 7],
  ])
})

test('a recording without an end line was cut when its last byte came', () => {
  const { target, notes } = notebook()
  replayInto(target, only(lines(HEAD, read(3000, 0, 'a'))))
  expect(notes.at(-1)).toEqual(['end', 'cut', 3])
})

test('a recording whose times mean nothing is played without a clock', () => {
  const { target, notes } = notebook()
  const head = '{"t":"head","format":"streamfold/recording","v":1,"timing":"none"}'
  replayInto(
    target,
    only(lines(head, '{"t":"res","at":0,"status":200}', read(5, 0, 'a'), '{"t":"end","at":9,"kind":"cut"}')),
  )
  expect(notes).toEqual([
    ['response', 200, [], undefined, undefined],
    ['push', 'a', undefined],
    ['end', 'cut', undefined],
  ])
})

test('a body that still has its content coding on is refused', () => {
  const head = '{"t":"head","format":"streamfold/recording","v":1,"body":"encoded","contentEncoding":"gzip"}'
  expect(() => replayInto(notebook().target, only(lines(head)))).toThrow(/line 1: the body is recorded with gzip on/)
})

const SAMPLE = [
  'data: {"id":"c1","model":"m","choices":[{"index":0,"delta":{"content":"héllo 🎉"}}]}\r\n\r\n',
  'data: {"id":"c1","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_1","function":{"name":"now","arguments":"{\\"tz\\":\\"日本\\"}"}}]}}]}\r\n\r\n',
  'data: {"id":"c1","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}\r\n\r\n',
  'data: [DONE]\r\n\r\n',
].join('')

function play(text: string): ReturnType<ReturnType<typeof createStreamEngine>['report']> {
  const recording = only(text)
  const engine = createStreamEngine({ adapter: chatCompletions(), request: requestFactsOf(recording.request) })
  replayInto(engine, recording)
  return engine.report({ kind: 'recording' })
}

describe('with the engine', () => {
  const bytes = new TextEncoder().encode(SAMPLE)

  test('a recording gives the report of its stream, times included', () => {
    const report = play(
      lines(
        HEAD,
        '{"t":"res","at":100000,"status":200,"headers":[["content-type","text/event-stream"],["x-request-id","r1"]]}',
        base64Read(150000, 0, ...bytes.subarray(0, 60)),
        base64Read(400000, 60, ...bytes.subarray(60)),
        '{"t":"end","at":500000,"kind":"complete"}',
      ),
    )
    expect(report.outcome).toBe('completed')
    expect(report.choices[0]).toMatchObject({
      text: 'héllo 🎉',
      toolCalls: [{ parsedArguments: { tz: '日本' }, code: null }],
    })
    expect(report.attempts[0]!.upstreamRequestId).toBe('r1')
    expect(report.timing).toMatchObject({
      timeToHeadersMs: 100,
      timeToFirstByteMs: 150,
      timeToTerminalMs: 400,
      longestGapMs: 250,
    })
    expect(report.verdict.http_ok).toEqual({ state: 'pass' })
  })

  test('any cut of the same bytes into reads, as text or base64, gives the same calls and text', () => {
    const seed = 20_261_130
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: bytes.length }), { maxLength: 12 }), (cuts) => {
        const borders = [0, ...[...new Set(cuts)].sort((a, b) => a - b), bytes.length]
        const reads = borders.slice(1).map((to, i) => recordRead(i, borders[i]!, bytes.subarray(borders[i], to)))
        const { choices, outcome } = play(lines(HEAD, ...reads, '{"t":"end","kind":"complete"}'))
        expect(outcome).toBe('completed')
        expect(choices[0]!.text).toBe('héllo 🎉')
        expect(choices[0]!.toolCalls).toMatchObject([{ callId: 'call_1', argumentsText: '{"tz":"日本"}', code: null }])
      }),
      { seed, numRuns: 100 },
    )
  })

  test('a cut recording is incomplete, and none of its calls is released', () => {
    const report = play(lines(HEAD, base64Read(1, 0, ...bytes.subarray(0, 200))))
    expect(report.outcome).toBe('incomplete')
    expect(report.verdict.sse_ok.state).toBe('fail')
    expect(report.choices[0]!.toolCalls.map(({ code }) => code)).not.toContain(null)
  })

  test('a cut after the terminal signal takes nothing away', () => {
    const report = play(lines(HEAD, base64Read(1, 0, ...bytes), '{"t":"end","at":2,"kind":"reset"}'))
    expect(report.outcome).toBe('completed')
    expect(report.diagnostics.map(({ code }) => code)).toContain('transport_error_after_end')
  })
})

/** As a recorder writes it: text where the read alone is UTF-8, else base64. */
function recordRead(at: number, off: number, bytes: Uint8Array): string {
  try {
    return read(at, off, new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes))
  } catch {
    return base64Read(at, off, ...bytes)
  }
}
