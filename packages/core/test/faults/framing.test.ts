import { describe, expect, test } from 'vitest'
import { callsOf, engineFor, findingsOf, readPieces, run, textOf } from './run.ts'
import { cutAt } from '../reads.ts'
import { DONE, bytesOf, finish, frag, sse, text } from './wire.ts'

const whole = sse(text('Hel'), text('lo'), finish('stop'), DONE)

describe('F010 — comments keep the connection alive', () => {
  test('before and between events they carry nothing', () => {
    const result = run(
      `: WAIT\n\n: WAIT\n\n${sse(text('Hel'))}: ping\n\n:\n\n${sse(text('lo'), finish('stop'))}: keep-alive\n\n${sse(DONE)}`,
    )
    expect(textOf(result)).toBe('Hello')
    expect(result.report).toMatchObject({ outcome: 'completed', counts: { comments: 5, events: 4 } })
    expect(findingsOf(result)).toEqual(['comment_keepalive'])
  })

  test('they are a sign of life, not progress', () => {
    const engine = engineFor()
    engine.start(0)
    engine.response({ status: 200 }, 0)
    engine.push(bytesOf(sse(text('a'))), 1_000)
    for (const atMs of [20_000, 40_000, 60_000, 80_000, 100_000]) {
      engine.push(bytesOf(': ping\n\n'), atMs)
      expect(engine.deadline()).toEqual(
        atMs < 91_000 ? { atMs: atMs + 30_000, code: 'idle_timeout' } : { atMs: 121_000, code: 'progress_timeout' },
      )
    }
  })
})

describe('F012 — no space after the colon', () => {
  test.each([
    { name: 'data', body: whole.replaceAll('data: ', 'data:') },
    { name: 'event and data', body: whole.replaceAll('data: ', 'event:message\ndata:') },
    { name: 'a tab is part of the value, which is blank to JSON', body: whole.replaceAll('data: ', 'data:\t') },
    { name: 'two spaces: one is stripped, one is blank to JSON', body: whole.replaceAll('data: ', 'data:  ') },
  ])('$name', ({ body }) => {
    const result = run(body)
    expect(textOf(result)).toBe('Hello')
    expect(result.report).toMatchObject({ outcome: 'completed', diagnostics: [] })
  })
})

describe('F013 — line ends other than LF', () => {
  const wanted = run(whole)

  test.each([
    { name: 'CRLF', end: '\r\n' },
    { name: 'CR', end: '\r' },
  ])('$name', ({ end }) => {
    const result = run(whole.replaceAll('\n', end))
    expect(result.events).toEqual(wanted.events)
    expect(result.report.diagnostics).toEqual([])
  })
})

test('F014 — CR and LF of one line end in two reads', () => {
  const body = bytesOf(
    `data: {"choices":[{"index":0,\r\ndata: "delta":{"content":"pqr"},\r\ndata: "finish_reason":"stop"}]}\r\n\r\ndata: [DONE]\r\n\r\n`,
  )
  for (let at = 0; at <= body.length; at++) {
    for (const cuts of [[at], [at, at], [at, Math.min(at + 1, body.length)]]) {
      const result = readPieces(cutAt(body, cuts))
      expect(textOf(result)).toBe('pqr')
      expect(result.report).toMatchObject({ outcome: 'completed', counts: { events: 2 }, diagnostics: [] })
    }
  }
})

describe('F016 — the last event has no blank line after it', () => {
  const last = sse(finish('stop')).trimEnd()

  test.each([
    { name: 'line end, then the body ends', tail: `${last}\n` },
    { name: 'nothing at all', tail: last },
  ])('whole JSON counts: $name', ({ tail }) => {
    const result = run(sse(text('Hello')) + tail)
    expect(result.report).toMatchObject({
      outcome: 'degraded',
      choices: [{ text: 'Hello', finish: { reason: 'stop' } }],
    })
    expect(findingsOf(result)).toEqual(['missing_sentinel', 'unterminated_last_event'])
  })

  test.each([
    { name: 'line end, then the body ends', tail: 'data: [DONE]\n' },
    { name: 'nothing at all', tail: 'data: [DONE]' },
  ])('[DONE] counts: $name', ({ tail }) => {
    const result = run(sse(text('Hello'), finish('stop')) + tail)
    expect(result.report.outcome).toBe('completed')
    expect(findingsOf(result)).toEqual(['unterminated_last_event'])
  })

  test.each([
    { name: 'half a document', tail: last.slice(0, -3) },
    { name: 'half a sentinel', tail: 'data: [DON' },
    { name: 'half a status line', tail: 'data: 429 Too' },
    { name: 'a field name', tail: 'dat' },
  ])('$name is a cut, not an event', ({ tail }) => {
    const result = run(sse(text('Hello')) + tail)
    expect(result.report).toMatchObject({
      outcome: 'incomplete',
      error: { code: 'incomplete_stream', retryable: 'restart' },
    })
    expect(textOf(result)).toBe('Hello')
    expect(findingsOf(result)).not.toContain('skipped_event')
  })
})

test('F018 — events without data are heartbeats', () => {
  const result = run(
    `data:\n\nretry: 1000\n\nid: 5\n\n${sse(text('Hel'))}data: \n\nevent: ping\n\ndata\n\n${sse(text('lo'), finish('stop'))}event: ping\ndata:\n\n${sse(DONE)}`,
  )
  expect(textOf(result)).toBe('Hello')
  expect(result.report.outcome).toBe('completed')
  expect(findingsOf(result)).toEqual(['empty_data_event'])
})

/** An event whose data is pretty-printed over several lines. */
function pretty(value: unknown): string {
  const lines = JSON.stringify(value, null, 2).split('\n')
  return `${lines.map((line) => `data: ${line}\n`).join('')}\n`
}

/** Events without the blank lines between them. */
function glued(...events: readonly unknown[]): string {
  return sse(...events).replaceAll('\n\ndata', '\ndata')
}

describe('F021 — one event over several data lines', () => {
  test('a pretty-printed chunk', () => {
    const result = run(pretty(text('Hel')) + pretty(text('lo')) + pretty(finish('stop')) + sse(DONE))
    expect(textOf(result)).toBe('Hello')
    expect(result.report).toMatchObject({ outcome: 'completed', diagnostics: [], counts: { events: 4 } })
  })

  test('a bare data line is an empty line of the document', () => {
    const result = run(
      `data: {"choices":[{"index":0,\ndata\ndata: "delta":{"content":"a"},"finish_reason":"stop"}]}\n\n${sse(DONE)}`,
    )
    expect(textOf(result)).toBe('a')
    expect(result.report).toMatchObject({ outcome: 'completed', diagnostics: [] })
  })

  test('an error event over two lines', () => {
    const result = run(`${sse(text('Hel'))}event: error\ndata: {"message":"busy",\ndata: "code":503}\n\n`)
    expect(result.report).toMatchObject({
      outcome: 'failed',
      error: { code: 'upstream_error', status: 503, retryable: 'restart', provider: { code: '503', message: 'busy' } },
    })
  })

  test('two events glued by a hop are read apart only when the join does not parse', () => {
    const result = run(glued(text('Hel'), text('lo')) + glued(frag(0, 'c1', 'f', '{}'), finish('tool_calls'), DONE))
    expect(textOf(result)).toBe('Hello')
    expect(callsOf(result)).toEqual(['f({}) ready'])
    expect(result.report.outcome).toBe('completed')
    expect(findingsOf(result)).toEqual(['glued_events'])
  })

  test('what is glued may be a chunk and an event of another kind', () => {
    const result = run(glued(text('Hello'), { tool: 'web_search' }, finish('stop')) + sse(DONE))
    expect(textOf(result)).toBe('Hello')
    expect(findingsOf(result)).toEqual(['glued_events', 'unknown_event'])
  })
})
