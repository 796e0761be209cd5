import { describe, expect, test } from 'vitest'
import type { EndCause } from '../../src/engine/stream-engine.ts'
import { callStates, engineWith, expectOneEnd, found, readsOf, released, run } from './run.ts'
import { call, DONE, finish, sse, text } from './wire.ts'

const CAUSES: readonly EndCause[] = ['eof', 'cut', 'reset', 'aborted', 'timeout', 'error']

const EVIDENCE = {
  nothing: '',
  text: text('hi'),
  finish: text('hi') + finish('stop'),
  'finish and [DONE]': text('hi') + finish('stop') + DONE,
} as const

type Evidence = keyof typeof EVIDENCE

// How the stream ends, by what was seen of it (rows) and how the transport ended (columns, as in CAUSES). A timer: the one
// that would fire first with the default times.
const MATRIX: Readonly<Record<Evidence, readonly string[]>> = {
  nothing: [
    'failed empty_stream yes',
    'incomplete incomplete_stream yes',
    'incomplete incomplete_stream yes',
    'cancelled cancelled no',
    'incomplete first_byte_timeout yes',
    'incomplete incomplete_stream yes',
  ],
  text: [
    'incomplete incomplete_stream restart',
    'incomplete incomplete_stream restart',
    'incomplete incomplete_stream restart',
    'cancelled cancelled no',
    'incomplete idle_timeout restart',
    'incomplete incomplete_stream restart',
  ],
  finish: ['degraded', 'degraded', 'degraded', 'cancelled cancelled no', 'degraded', 'degraded'],
  'finish and [DONE]': ['completed', 'completed', 'completed', 'completed', 'completed', 'completed'],
}

const FOREVER = 1e9

/** Feeds an engine that has a clock, and ends it, by default long after. */
function end(body: string, cause: EndCause, withHead = true, atMs = FOREVER) {
  const engine = engineWith()
  engine.start(0)
  if (withHead) engine.response({ status: 200, headers: [['content-type', 'text/event-stream']] }, 1)
  const events = readsOf(body).flatMap((read) => (read.length > 0 ? [...engine.push(read, 2)] : []))
  events.push(...engine.end(cause, atMs))
  const report = engine.report()
  return { engine, events, end: expectOneEnd(engine, events), report }
}

const cells = Object.entries(MATRIX).flatMap(([evidence, row]) =>
  row.map((want, column) => ({ evidence: evidence as Evidence, cause: CAUSES[column]!, want })),
)

describe('how the transport ended × what was seen', () => {
  test.each(cells)('$evidence, then $cause → $want', ({ evidence, cause, want }) => {
    const { end: last, report } = end(EVIDENCE[evidence], cause)
    const code = last.type === 'stream_error' ? ` ${last.code} ${last.retryable}` : ''
    expect(last.outcome + code).toBe(want)
    expect(report.outcome).toBe(last.outcome)
    // What was received is kept, whatever came of it.
    expect(report.choices.map((choice) => choice.text)).toEqual(evidence === 'nothing' ? [] : ['hi'])
    expect(last.finish).toEqual(
      evidence === 'nothing'
        ? []
        : [{ choice: 0, reason: evidence === 'text' ? null : 'stop', raw: evidence === 'text' ? null : 'stop' }],
    )
  })

  test.each(CAUSES)('%s: blocks that the wire did not end are interrupted', (cause) => {
    const statuses = (body: string): readonly string[] =>
      end(body, cause)
        .engine.snapshot()
        .choices.flatMap(({ blocks }) => blocks.map(({ status }) => status))
    expect(statuses(EVIDENCE.text)).toEqual(['interrupted'])
    expect(statuses(EVIDENCE.finish)).toEqual(['done'])
  })
})

describe('a call, by how its stream ended', () => {
  const open = call(0, 'f', '{"a":')
  const whole = call(0, 'f', '{"a":1}')
  const rows: { name: string; body: string; states: Partial<Record<EndCause, string>>; rest: string }[] = [
    {
      name: 'open',
      body: open,
      states: { aborted: 'failed cancelled', timeout: 'failed idle_timeout' },
      rest: 'failed incomplete_stream',
    },
    {
      name: 'whole, but not closed',
      body: whole,
      states: { aborted: 'failed cancelled', timeout: 'failed idle_timeout' },
      rest: 'failed incomplete_stream',
    },
    {
      name: 'closed by a finish reason',
      body: whole + finish('tool_calls'),
      states: { aborted: 'complete cancelled' },
      rest: 'complete null',
    },
    { name: 'closed, and [DONE]', body: whole + finish('tool_calls') + DONE, states: {}, rest: 'complete null' },
    {
      name: 'cut, though a finish reason closed it',
      body: open + finish('tool_calls') + DONE,
      states: {},
      rest: 'failed arguments_incomplete',
    },
  ]

  test.each(rows.flatMap((row) => CAUSES.map((cause) => ({ ...row, cause }))))(
    '$name, then $cause',
    ({ body, states, rest, cause }) => {
      const { report, events } = end(body, cause)
      const want = states[cause] ?? rest
      expect(callStates(report)).toEqual([want])
      expect(released(events)).toEqual(want === 'complete null' ? ['call_0'] : [])
      const ends = events.filter(({ type }) => ['tool_call_ready', 'tool_call_held', 'tool_call_failed'].includes(type))
      expect(ends).toHaveLength(1)
    },
  )
})

describe('a transport error', () => {
  test.each(['cut', 'reset', 'error'] as const)('%s behind the end changes nothing and is found', (cause) => {
    const { report } = run(EVIDENCE['finish and [DONE]'], cause)
    expect(found(report)).toEqual(['transport_error_after_end'])
    expect(report).toMatchObject({ outcome: 'completed', error: null, verdict: { sse_ok: { state: 'pass' } } })
  })

  test.each(['eof', 'aborted', 'timeout'] as const)('%s behind the end is nothing', (cause) => {
    expect(found(run(EVIDENCE['finish and [DONE]'], cause).report)).toEqual([])
  })

  test.each(['cut', 'reset', 'error'] as const)('%s before it fails the framing', (cause) => {
    for (const evidence of ['text', 'finish'] as const) {
      const { report } = run(EVIDENCE[evidence], cause)
      expect(report.verdict.sse_ok).toMatchObject({
        state: 'fail',
        code: 'incomplete_stream',
        offset: EVIDENCE[evidence].length,
      })
    }
  })

  test('in the middle of an event loses that event and says where', () => {
    const body = text('hi') + text('never').slice(0, 30)
    const { report, end: last } = run(body, 'reset')
    expect(report.choices[0]!.text).toBe('hi')
    expect(last).toMatchObject({ type: 'stream_error', code: 'incomplete_stream', offset: body.length })
    expect(found(report)).toEqual([])
  })

  test('in front of the blank line of the last event loses nothing', () => {
    const body = (text('hi') + finish('stop') + DONE).slice(0, -2)
    const { report } = run(body, 'eof')
    expect(report.outcome).toBe('completed')
    expect(found(report)).toEqual(['unterminated_last_event'])
  })
})

describe('before the response head', () => {
  test.each(['reset', 'error'] as const)('%s is a connection that failed', (cause) => {
    const { end: last, report } = end('', cause, false, 5)
    expect(last).toMatchObject({ code: 'connect_failed', phase: 'connect', retryable: 'yes' })
    expect(report.verdict.http_ok).toMatchObject({ state: 'fail', code: 'connect_failed' })
  })

  test('cut is what a recorder that died leaves behind', () => {
    expect(end('', 'cut', false, 5).end).toMatchObject({ code: 'incomplete_stream', outcome: 'incomplete' })
  })

  test('a timer is the connect timer', () => {
    const { end: last, report } = end('', 'timeout', false)
    expect(last).toMatchObject({ code: 'connect_timeout', phase: 'connect', outcome: 'incomplete' })
    expect(report.verdict.http_ok).toMatchObject({ state: 'fail', code: 'connect_timeout' })
  })

  test('a cancel is a cancel', () => {
    expect(end('', 'aborted', false).end).toMatchObject({ code: 'cancelled', outcome: 'cancelled' })
  })
})

describe('silence behind the terminal event', () => {
  const paths: { name: string; body: string }[] = [
    { name: '[DONE]', body: text('hi') + finish('stop') + DONE },
    { name: 'an error in the stream', body: text('hi') + sse({ error: { message: 'x' } }) },
    {
      name: 'a splice',
      body:
        text('hi') +
        sse({ id: 'other', model: 'n', choices: [{ index: 0, delta: { role: 'assistant', content: 'x' } }] }),
    },
  ]

  test.each(paths)('$name', ({ body }) => {
    const engine = engineWith()
    const events = readsOf(body).flatMap((read) => [...engine.push(read)])
    expect(engine.ended).toBe(true)
    const { outcome } = engine.report()
    for (const read of readsOf([text('late'), call(0, 'f', '{}'), finish('tool_calls'), DONE])) {
      expect(engine.push(read)).toEqual([])
    }
    expect(engine.end('eof')).toEqual([])
    expect(engine.report()).toMatchObject({ outcome })
    expectOneEnd(engine, events)
  })

  test('an empty read is nothing at any time', () => {
    const engine = engineWith()
    engine.start(0)
    engine.response({ status: 200 }, 1)
    expect(engine.push(new Uint8Array(0), 2)).toEqual([])
    // It is no byte: the first one is still awaited.
    expect(engine.deadline()?.code).toBe('first_byte_timeout')
  })
})

describe('committed', () => {
  test.each([
    { name: 'comments and empty deltas', body: `: hi\n\n${text('')}`, committed: false },
    { name: 'a finish reason alone', body: finish('stop'), committed: false },
    { name: 'text', body: text('x'), committed: true },
    { name: 'a call without arguments', body: call(0, 'f', ''), committed: true },
  ])('$name: $committed', ({ body, committed }) => {
    const engine = engineWith()
    expect(engine.committed).toBe(false)
    for (const read of readsOf(body)) engine.push(read)
    expect(engine.committed).toBe(committed)
  })
})

describe('a body of another wire format', () => {
  const responses = 'event: response.created\ndata: {"type":"response.created","response":{"id":"r"}}\n\n'

  test('fails and names the format that fits', () => {
    const { report } = run(responses)
    expect(report).toMatchObject({ outcome: 'failed', error: { code: 'wrong_api', phase: 'delta', retryable: 'no' } })
    expect(report.error?.message).toContain('it is responses (the event type "response.created")')
  })

  test('that is only likely is said to be', () => {
    expect(run('{"model":"m","message":{"content":"a"},"done":true}\n').report.error).toMatchObject({
      code: 'wrong_api',
      message: expect.stringContaining('it looks like ollama'),
    })
  })

  test('means nothing once there was content', () => {
    expect(run(text('Hi') + responses).report.error?.code).toBe('incomplete_stream')
  })
})
