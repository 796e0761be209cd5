import { describe, expect, test } from 'vitest'
import { callsOf, engineFor, findingsOf, readPieces, reasoningOf, run, textOf } from './run.ts'
import type { RunOptions } from './run.ts'
import { DONE, bytesOf, chunk, chunkOf, finish, frag, sse, text, usage } from './wire.ts'

const headOf = (type: string): RunOptions => ({ head: { status: 200, headers: [['content-type', type]] } })

describe('F183 — 200, and then nothing', () => {
  test.each([
    { name: 'no bytes', body: '' },
    { name: 'blank lines', body: '\n\n\n' },
    { name: 'comments', body: ': wait\n\n: wait\n\n' },
    { name: '[DONE] alone', body: sse(DONE) },
  ])('$name: an empty stream, never a success', ({ body }) => {
    const { report } = run(body, headOf('text/event-stream'))
    expect(report).toMatchObject({
      outcome: 'failed',
      error: { code: 'empty_stream', phase: 'event', retryable: 'yes' },
    })
  })

  test('an event with nothing in it, and then the end: a cut, for an event did come', () => {
    const { report } = run(sse(chunkOf([])), headOf('text/event-stream'))
    expect(report).toMatchObject({ outcome: 'incomplete', error: { code: 'incomplete_stream', retryable: 'yes' } })
  })

  test.each([
    { name: 'in one line', body: '{"error":{"message":"no","code":503}}' },
    { name: 'pretty-printed', body: JSON.stringify({ error: { message: 'no', code: 503 } }, null, 2) },
    { name: 'with a line end', body: '{"error":{"message":"no","code":503}}\n' },
  ])('a bare error object $name is that error', ({ body }) => {
    const { report } = run(body, headOf('text/event-stream'))
    expect(report).toMatchObject({
      outcome: 'failed',
      error: { code: 'upstream_error', status: 503, retryable: 'yes', provider: { message: 'no' } },
    })
    expect(report.diagnostics.map(({ code }) => code)).toContain('content_type_mismatch')
  })

  test('plain text is no event stream', () => {
    expect(run('upstream went away\n').report).toMatchObject({
      outcome: 'failed',
      error: { code: 'not_event_stream', phase: 'framing' },
    })
  })
})

describe('F184 — one whole JSON completion instead of a stream', () => {
  const completion = {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    model: 'm-1',
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: 'hi',
          reasoning_content: 'plan',
          tool_calls: [
            { id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } },
            { id: 'c2', type: 'function', function: { name: 'f', arguments: '{"a":1}' } },
          ],
        },
        finish_reason: 'tool_calls',
      },
    ],
    usage: usage(7, 3),
  }

  test.each([
    { name: 'in one line', body: JSON.stringify(completion) },
    { name: 'pretty-printed', body: `${JSON.stringify(completion, null, 2)}\n` },
    { name: 'after blank lines', body: `\n\n${JSON.stringify(completion)}` },
    { name: 'as the one event of a stream', body: sse(completion) },
  ])('$name: the same events as a stream', ({ body }) => {
    const result = run(body)
    expect(result.events.map(({ type }) => type)).toEqual([
      'stream_started',
      'reasoning_delta',
      'text_delta',
      'tool_call_started',
      'tool_call_arguments_delta',
      'tool_call_started',
      'tool_call_arguments_delta',
      'usage',
      'tool_call_ready',
      'tool_call_ready',
      'tool_batch_ready',
      'stream_completed',
    ])
    expect(textOf(result)).toBe('hi')
    expect(reasoningOf(result)).toBe('plan')
    expect(callsOf(result)).toEqual(['f({}) ready', 'f({"a":1}) ready'])
    expect(result.report).toMatchObject({ outcome: 'completed', usage: { totalTokens: 10 } })
    expect(findingsOf(result)).toContain('downgraded_to_json')
  })

  test('cut in the middle it is incomplete', () => {
    const result = run(JSON.stringify(completion).slice(0, -20))
    expect(result.report.outcome).not.toBe('completed')
    expect(callsOf(result)).toEqual([])
  })

  test('without a finish reason it is not taken for a good end', () => {
    const { choices } = completion
    const result = run(JSON.stringify({ ...completion, choices: [{ ...choices[0], finish_reason: null }] }))
    expect(result.report.outcome).toBe('degraded')
    expect(callsOf(result)).toEqual(['f({}) held: missing_finish_reason', 'f({"a":1}) held: missing_finish_reason'])
  })
})

describe('F185 — the content type does not say what the body is', () => {
  const stream = sse(text('Hello'), finish('stop'), DONE)

  test.each(['application/json', 'text/plain', 'text/html; charset=utf-8'])('%s and server-sent events', (type) => {
    const result = run(stream, headOf(type))
    expect(textOf(result)).toBe('Hello')
    expect(result.report.outcome).toBe('completed')
    expect(findingsOf(result)).toEqual(['content_type_mismatch'])
  })

  test('text/event-stream and server-sent events', () => {
    expect(run(stream, headOf('text/event-stream; charset=utf-8')).report).toMatchObject({
      outcome: 'completed',
      diagnostics: [],
    })
  })

  test('an event stream wrapped in data once more is read as what it says', () => {
    const result = run(sse(': wait', text('Hello'), finish('stop'), DONE))
    expect(textOf(result)).toBe('Hello')
    expect(findingsOf(result)).toEqual(['comment_as_data'])
  })
})

describe('F187 — JSON lines instead of server-sent events', () => {
  const lines = [text('I'), text(' am'), frag(0, 'c1', 'f', '{}'), finish('tool_calls')].map((event) =>
    JSON.stringify(event),
  )

  test.each([
    { name: 'LF', body: `${lines.join('\n')}\n` },
    { name: 'CRLF', body: `${lines.join('\r\n')}\r\n` },
    { name: 'blank lines between', body: `${lines.join('\n\n')}\n` },
    { name: 'no line end at the end', body: lines.join('\n') },
  ])('$name: the same events', ({ body }) => {
    const result = run(body, headOf('application/x-ndjson'))
    expect(textOf(result)).toBe('I am')
    expect(callsOf(result)).toEqual(['f({}) ready'])
    expect(result.report.outcome).toBe('degraded')
    expect(findingsOf(result)).toEqual(['missing_sentinel', 'ndjson_framing'])
  })

  test('a [DONE] line is the sentinel', () => {
    const result = run(`${lines.join('\n')}\n[DONE]\n`)
    expect(result.report.outcome).toBe('completed')
    expect(findingsOf(result)).toEqual(['ndjson_framing'])
  })
})

describe('F188 — a tool call printed as text', () => {
  test.each([
    { name: 'JSON', pieces: ['{"name":"read_', 'file","argu', 'ments":{"path":"t"}}'] },
    { name: 'JSON in a fence', pieces: ['```json\n{"name":"read_file",', '"arguments":{"path":"t"}}\n```'] },
    { name: 'a tag', pieces: ['<tool_', 'call>{"name":"read_file","arguments":{}}</tool_call>'] },
  ])('$name: named, never run', ({ pieces }) => {
    const result = run(sse(...pieces.map((piece) => text(piece)), finish('stop'), DONE), {
      request: { tools: ['read_file'] },
    })
    expect(textOf(result)).toBe(pieces.join(''))
    expect(callsOf(result)).toEqual([])
    expect(result.report.outcome).toBe('completed')
    expect(findingsOf(result)).toEqual(['tool_call_in_text'])
  })

  test('text that only speaks of one is text', () => {
    const result = run(sse(text('Use <tool_call> to call. {"name":"x"}'), finish('stop'), DONE))
    expect(findingsOf(result)).toEqual([])
  })
})

test('F191 — no head, no byte, no event: each has its own timer', () => {
  const engine = engineFor()
  engine.start(0)
  expect(engine.deadline()).toEqual({ atMs: 10_000, code: 'connect_timeout' })
  engine.response({ status: 200 }, 4_000)
  expect(engine.deadline()).toEqual({ atMs: 34_000, code: 'first_byte_timeout' })
  engine.push(bytesOf(': wait\n\n'), 20_000)
  expect(engine.deadline()).toEqual({ atMs: 50_000, code: 'idle_timeout' })
  engine.push(bytesOf(sse(text('a'))), 21_000)
  engine.push(bytesOf(sse(finish('stop'), DONE)), 22_000)
  expect(engine.report().timing).toMatchObject({
    timeToHeadersMs: 4_000,
    timeToFirstByteMs: 20_000,
    timeToFirstEventMs: 21_000,
    timeToFirstOutputMs: 21_000,
    timeToTerminalMs: 22_000,
  })

  const held = engineFor()
  held.start(0)
  expect(held.end('timeout', 10_000).at(-1)).toMatchObject({
    code: 'connect_timeout',
    phase: 'connect',
    outcome: 'incomplete',
    retryable: 'yes',
  })
})

test('F195 — the server gives up in the middle of a call and just closes', () => {
  const result = run(sse(frag(0, 'c1', 'f', '{"a":1}'), frag(1, 'c2', 'g', '{"b":')), { end: 'cut' })
  expect(result.report).toMatchObject({
    outcome: 'incomplete',
    error: { code: 'incomplete_stream', retryable: 'restart' },
  })
  expect(callsOf(result)).toEqual(['f({"a":1}) failed: incomplete_stream', 'g({"b":) failed: incomplete_stream'])
})

describe('F196 — all arguments come in one event, after a long silence', () => {
  const args = JSON.stringify({ text: 'x'.repeat(20_000) })

  test('the result is right, and heartbeats carry the wait below the progress limit', () => {
    const engine = engineFor()
    engine.start(0)
    engine.response({ status: 200 }, 0)
    engine.push(bytesOf(sse(text('Let me write.'), frag(0, 'c1', 'f', ''))), 1_000)
    for (const atMs of [15_000, 28_000, 41_000]) {
      expect(engine.deadline()!.atMs).toBeGreaterThan(atMs)
      engine.push(bytesOf(': ping\n\n'), atMs)
    }
    engine.push(bytesOf(sse(frag(0, undefined, undefined, args), finish('tool_calls'), DONE)), 41_500)
    expect(engine.report()).toMatchObject({
      outcome: 'completed',
      choices: [{ toolCalls: [{ argumentsText: args, code: null }] }],
    })
  })

  test('a finding says that the server does not stream arguments', () => {
    const engine = engineFor()
    engine.start(0)
    engine.push(bytesOf(sse(text('Let me write.'), frag(0, 'c1', 'f', ''))), 1_000)
    engine.push(bytesOf(sse(frag(0, undefined, undefined, args), finish('tool_calls'), DONE)), 29_000)
    expect(engine.report().diagnostics).toMatchObject([{ code: 'tool_arguments_not_streamed' }])
  })
})

describe('F199 — what a reader stumbles over is no connection error', () => {
  test('usage is a number', () => {
    const result = run(sse(text('Hel'), chunk({}, null, { usage: 5 }), text('lo'), finish('stop'), DONE))
    expect(textOf(result)).toBe('Hello')
    expect(result.report).toMatchObject({ outcome: 'completed', error: null })
  })

  test.each([
    { name: 'an array', event: [1, 2] },
    { name: 'a tool call that is no object', event: chunk({ tool_calls: ['f'] }) },
    { name: 'choices that are an object', event: chunkOf({ index: 0 }) },
    { name: 'choices that are text', event: chunkOf('none') },
    { name: 'a choice that is no object', event: chunkOf(['x']) },
    { name: 'a delta that is an array', event: chunk([1]) },
    { name: 'tool_calls that are text', event: chunk({ tool_calls: 'none' }) },
    { name: 'a function that is text', event: chunk({ tool_calls: [{ index: 0, function: '{}' }] }) },
    { name: 'arguments outside of the function', event: chunk({ tool_calls: [{ index: 0, arguments: '{}' }] }) },
    { name: 'a refusal that is a list', event: chunk({ refusal: ['no'] }) },
  ])('$name is a hole at its event, and may hold calls back', ({ event }) => {
    const result = run(sse(text('Hel'), event, frag(0, 'c1', 'f', '{}'), finish('tool_calls'), DONE))
    expect(result.report).toMatchObject({
      outcome: 'degraded',
      error: null,
      verdict: { delta_ok: { state: 'fail', code: 'invalid_event_json', event: 2 } },
    })
    expect(callsOf(result)).toEqual(['f({}) held: event_skipped'])
  })
})

function judged(reads: readonly { readonly atMs: number; readonly body: string }[]): string {
  const engine = engineFor()
  engine.start(0)
  engine.response({ status: 200 }, 0)
  for (const { atMs, body } of reads) engine.push(bytesOf(body), atMs)
  engine.end('eof', reads.at(-1)!.atMs)
  return engine.report().timing.streaming
}

describe('F201 — a stream that is none', () => {
  const words = Array.from({ length: 64 }, (_, i) => sse(text(`${i} `)))
  const tail = sse(finish('stop'), DONE)

  test('all at once after the whole time: fake', () => {
    expect(judged([{ atMs: 4_000, body: words.join('') + tail }])).toBe('fake')
    expect(judged(words.map((body, i) => ({ atMs: 4_000 + i / 64, body })))).toBe('fake')
  })

  test('equal bursts: bursty', () => {
    expect(
      judged([0, 1, 2, 3].map((i) => ({ atMs: 1_000 + i * 4_000, body: words.slice(i * 16, i * 16 + 16).join('') }))),
    ).toBe('bursty')
  })

  test('one by one: real', () => {
    expect(judged(words.map((body, i) => ({ atMs: 200 + i * 30, body })))).toBe('real')
  })

  test('too little to tell, or no clock: unknown', () => {
    expect(judged([{ atMs: 4_000, body: words[0]! + tail }])).toBe('unknown')
    expect(readPieces([bytesOf(words.join('') + tail)]).report.timing.streaming).toBe('unknown')
  })
})
