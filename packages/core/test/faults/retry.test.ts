import { describe, expect, test } from 'vitest'
import { callsOf, engineFor, run, textOf, typesOf } from './run.ts'
import { DONE, bytesOf, chunk, finish, frag, sse, text } from './wire.ts'

describe('F124 — a retry after partial output would repeat it', () => {
  test.each([
    { name: 'text', event: text('Hel') },
    { name: 'reasoning', event: chunk({ reasoning: 'plan' }) },
    { name: 'a refusal', event: chunk({ refusal: 'I' }) },
    { name: 'the start of a call', event: frag(0, 'c1', 'f', '') },
  ])('$name is the commit point', ({ event }) => {
    const engine = engineFor()
    engine.push(bytesOf(sse(chunk({ role: 'assistant', content: '' }))))
    expect(engine.committed).toBe(false)
    engine.push(bytesOf(sse(event)))
    expect(engine.committed).toBe(true)
    engine.end('reset')
    expect(engine.report()).toMatchObject({
      outcome: 'incomplete',
      error: { code: 'incomplete_stream', retryable: 'restart' },
    })
  })

  test.each([
    { name: 'nothing', body: '' },
    { name: 'comments', body: ': wait\n\n' },
    { name: 'the role', body: sse(chunk({ role: 'assistant', content: '' })) },
    { name: 'an empty reasoning delta', body: sse(chunk({ reasoning: '', tool_calls: [] })) },
  ])('before it ($name) the request may be sent again', ({ body }) => {
    const { report } = run(body, { end: 'reset' })
    expect(report.error).toMatchObject({ code: 'incomplete_stream', retryable: 'yes' })
  })

  test('the second attempt says that it is one, and starts from nothing', () => {
    const first = run(sse(text('Hel')), { end: 'reset', attempt: 1 })
    const second = run(sse(text('Hello'), finish('stop'), DONE), { attempt: 2 })
    expect(textOf(first)).toBe('Hel')
    expect(textOf(second)).toBe('Hello')
    expect(second.events[0]).toMatchObject({ type: 'stream_started', attempt: 2 })
    expect(second.report.attempts).toMatchObject([{ attempt: 2, outcome: 'completed' }])
  })
})

describe('F127 — a call whose arguments parse, and then the stream fails', () => {
  test.each([
    { name: 'an error event', tail: sse({ error: { code: 500, message: 'no' } }), end: 'eof' },
    { name: 'the end of the body', tail: '', end: 'eof' },
    { name: 'a reset', tail: '', end: 'reset' },
    { name: 'an abort', tail: '', end: 'aborted' },
  ] as const)('$name: it was never given to be run', ({ tail, end }) => {
    const result = run(sse(frag(0, 'c1', 'f', '{"a":1}')) + tail, { end })
    expect(typesOf(result)).not.toContain('tool_call_ready')
    expect(callsOf(result)[0]).toMatch(/^f\(\{"a":1\}\) failed: /)
  })

  test('closed by a finish reason, then a reset without [DONE]: the finish reason is enough', () => {
    const body = sse(frag(0, 'c1', 'f', '{"a":1}'), finish('tool_calls'))
    expect(callsOf(run(body, { end: 'reset' }))).toEqual(['f({"a":1}) ready'])
    expect(callsOf(run(body, { end: 'reset', policy: 'strict' }))).toEqual(['f({"a":1}) held: incomplete_stream'])
  })
})

describe('F128 — the stream breaks after the first byte', () => {
  const tokens = Array.from({ length: 40 }, (_, i) => text(`${i} `))

  test('40 tokens, then the connection closes: no silent failover, a restart at most', () => {
    expect(run(sse(...tokens), { end: 'cut' }).report.error).toMatchObject({
      code: 'incomplete_stream',
      retryable: 'restart',
    })
  })

  test('20 tokens, then 30 s of silence', () => {
    const engine = engineFor()
    engine.start(0)
    engine.response({ status: 200 }, 0)
    engine.push(bytesOf(sse(...tokens.slice(0, 20))), 500)
    expect(engine.deadline()).toEqual({ atMs: 30_500, code: 'idle_timeout' })
    engine.end('timeout', 30_500)
    expect(engine.report().error).toMatchObject({ code: 'idle_timeout', retryable: 'restart' })
  })

  test('one bad event among good ones is not worth a failover: text goes on', () => {
    const result = run(sse(...tokens.slice(0, 20), '{"choices":[{"del', ...tokens.slice(20), finish('stop'), DONE))
    expect(textOf(result)).toBe(Array.from({ length: 40 }, (_, i) => `${i} `).join(''))
    expect(result.report).toMatchObject({ outcome: 'degraded', error: null })
    expect(run(sse(...tokens, '{"choices":[{"del', finish('stop'), DONE), { policy: 'strict' }).report).toMatchObject({
      outcome: 'failed',
      error: { code: 'invalid_event_json', phase: 'event', retryable: 'restart' },
    })
  })
})

test('F129 — frames without content do not commit, so a failed attempt may stay unseen', () => {
  const engine = engineFor()
  engine.push(
    bytesOf(`: ping\n\n${sse(chunk({ role: 'assistant', content: '' }), chunk({ content: '', reasoning: '' }))}`),
  )
  const events = engine.push(bytesOf(sse({ error: { code: 529, message: 'overloaded' } })))
  expect(engine.committed).toBe(false)
  expect(events.at(-1)).toMatchObject({ type: 'stream_error', status: 529, retryable: 'yes' })
})

describe('F137 — how long the server asks to wait', () => {
  const nowMs = Date.UTC(2026, 10, 30, 12, 0, 0)

  test.each([
    { name: 'seconds', headers: [['retry-after', '3']], want: 3_000 },
    { name: 'a date', headers: [['Retry-After', 'Mon, 30 Nov 2026 12:00:05 GMT']], want: 5_000 },
    { name: 'a date that has passed', headers: [['retry-after', 'Mon, 30 Nov 2026 11:59:55 GMT']], want: 0 },
    { name: 'milliseconds', headers: [['retry-after-ms', '250']], want: 250 },
    {
      name: 'milliseconds before seconds',
      headers: [
        ['retry-after', '3'],
        ['retry-after-ms', '2500'],
      ],
      want: 2_500,
    },
    { name: 'no header', headers: [], want: undefined },
    { name: 'nonsense', headers: [['retry-after', 'soon']], want: undefined },
    { name: 'less than nothing', headers: [['retry-after', '-3']], want: undefined },
  ] as { name: string; headers: [string, string][]; want: number | undefined }[])(
    '429 with $name',
    ({ headers, want }) => {
      const engine = engineFor()
      engine.response({ status: 429, headers }, 0, nowMs)
      engine.push(bytesOf('{"error":{"message":"slow down"}}'))
      engine.end('eof')
      const { error } = engine.report()
      expect(error).toMatchObject({ code: 'rate_limited', status: 429, retryable: 'yes' })
      expect(error!.retryAfterMs).toBe(want)
    },
  )

  test('a date means nothing to an engine without the time of day', () => {
    const engine = engineFor()
    engine.response({ status: 503, headers: [['retry-after', 'Mon, 30 Nov 2026 12:00:05 GMT']] })
    engine.end('eof')
    expect(engine.report().error).not.toHaveProperty('retryAfterMs')
  })

  test('in the stream there is no header: the same kind, without a time', () => {
    const { error } = run(sse({ error: { code: 429, message: 'slow down' } })).report
    expect(error).toMatchObject({ code: 'rate_limited', status: 429, retryable: 'yes' })
    expect(error).not.toHaveProperty('retryAfterMs')
  })
})
