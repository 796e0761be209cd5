import { describe, expect, test } from 'vitest'
import { callsOf, engineFor, findingsOf, run, textOf, typesOf } from './run.ts'
import { DONE, bytesOf, chunk, chunkOf, finish, frag, sse, text, usage } from './wire.ts'

describe('F091 — finish reason stop although calls came', () => {
  const calls = [frag(0, 'c1', 'f', '{"a":1}'), frag(1, 'c2', 'g', '{}')]

  test.each(['stop', 'end_turn', 'STOP'])('%s is read as tool calls, and kept as it was sent', (raw) => {
    const result = run(sse(...calls, finish(raw), DONE))
    expect(callsOf(result)).toEqual(['f({"a":1}) ready', 'g({}) ready'])
    expect(result.report).toMatchObject({ outcome: 'completed', choices: [{ finish: { reason: 'tool-calls', raw } }] })
    expect(findingsOf(result)).toEqual(['finish_reason_mismatch'])
  })

  test.each([
    { raw: 'length', outcome: 'truncated', code: 'output_truncated', state: 'failed' },
    { raw: 'content_filter', outcome: 'refused', code: 'output_refused', state: 'failed' },
    { raw: 'error', outcome: 'failed', code: 'upstream_error', state: 'failed' },
    { raw: 'whatever', outcome: 'degraded', code: 'finish_unknown', state: 'held' },
  ])('$raw is never promoted', ({ raw, outcome, code, state }) => {
    const result = run(sse(...calls, finish(raw), DONE))
    expect(result.report.outcome).toBe(outcome)
    expect(callsOf(result)).toEqual([`f({"a":1}) ${state}: ${code}`, `g({}) ${state}: ${code}`])
    expect(result.report.choices[0]!.finish.raw).toBe(raw)
  })
})

test('F092 — finish reason tool_calls although the arguments were cut at the token limit', () => {
  const result = run(
    sse(frag(0, 'c1', 'f', '{"path":"/a","con'), finish('tool_calls'), chunkOf([], { usage: usage(10, 64) }), DONE),
    { request: { maxOutputTokens: 64 } },
  )
  expect(callsOf(result)).toEqual(['f({"path":"/a","con) failed: arguments_incomplete'])
  expect(result.report.choices[0]!.phase).toBe('failed')
  expect(result.report.verdict.tool_args_complete).toMatchObject({
    state: 'fail',
    code: 'arguments_incomplete',
    callId: 'c1',
  })
})

describe('F093 — finish reason length while a call is open', () => {
  test('the turn is truncated: no call runs, whole or not, and it is no fault of the upstream', () => {
    const result = run(sse(frag(0, 'c1', 'f', '{"city":"Oslo"}'), frag(1, 'c2', 'f', '{"ci'), finish('length'), DONE))
    expect(callsOf(result)).toEqual([
      'f({"city":"Oslo"}) failed: output_truncated',
      'f({"ci) failed: arguments_incomplete',
    ])
    expect(result.report).toMatchObject({
      outcome: 'truncated',
      error: null,
      choices: [{ finish: { reason: 'length', raw: 'length' } }],
    })
    expect(typesOf(result).at(-1)).toBe('stream_completed')
  })

  test('not even when its JSON happens to parse', () => {
    expect(callsOf(run(sse(frag(0, 'c1', 'f', '{"n":1}'), finish('length'), DONE)))).toEqual([
      'f({"n":1}) failed: output_truncated',
    ])
  })
})

test('F095 — the body ends in the middle of a call', () => {
  const result = run(sse(text('Let me write.'), frag(0, 'c1', 'write', '{"path":"x","content":"abc')))
  expect(result.report).toMatchObject({
    outcome: 'incomplete',
    error: { code: 'incomplete_stream', retryable: 'restart' },
  })
  expect(callsOf(result)).toEqual(['write({"path":"x","content":"abc) failed: incomplete_stream'])
  expect(textOf(result)).toBe('Let me write.')
  expect(result.report.choices[0]!.finish).toEqual({ reason: null, raw: null })
})

describe('F096 — [DONE] without any finish reason', () => {
  test('text: usable, with a finding', () => {
    const result = run(sse(text('Hel'), text('lo'), DONE))
    expect(result.report.outcome).toBe('degraded')
    expect(findingsOf(result)).toEqual(['missing_finish_reason'])
    expect(typesOf(result).at(-1)).toBe('stream_completed')
  })

  test('whole calls are held: nothing closed them', () => {
    const result = run(sse(frag(0, 'c1', 'f', '{"a":1}'), frag(1, 'c2', 'g', '{"b"'), DONE))
    expect(callsOf(result)).toEqual(['f({"a":1}) held: missing_finish_reason', 'g({"b") failed: arguments_incomplete'])
    expect(result.report.outcome).toBe('degraded')
  })

  test('the strict policy takes it for incomplete', () => {
    expect(run(sse(text('Hello'), DONE), { policy: 'strict' }).report).toMatchObject({
      outcome: 'incomplete',
      error: { code: 'missing_finish_reason' },
    })
  })

  test('a server that never sends one is told by its profile', () => {
    const result = run(sse(frag(0, 'c1', 'f', '{"a":1}'), DONE), { profile: { finishReason: 'optional' } })
    expect(callsOf(result)).toEqual(['f({"a":1}) ready'])
    expect(result.report.outcome).toBe('completed')
  })
})

test('F098 — finish reason is an empty string on every chunk', () => {
  const result = run(sse(text('Hel', ''), text('lo', ''), finish(''), DONE))
  expect(textOf(result)).toBe('Hello')
  expect(result.report).toMatchObject({ outcome: 'degraded', choices: [{ finish: { reason: null, raw: null } }] })
  expect(findingsOf(result)).toEqual(['finish_reason_empty', 'missing_finish_reason'])
})

describe('F099 — finish reason on the first chunk, content to follow', () => {
  const first = chunk({ role: 'assistant', content: '' }, 'stop')

  test('it is provisional: later text is merged, with a finding', () => {
    const result = run(sse(first, text('Hel'), text('lo'), finish('stop'), DONE))
    expect(textOf(result)).toBe('Hello')
    expect(result.report.outcome).toBe('completed')
    expect(findingsOf(result)).toEqual(['content_after_finish'])
    expect(result.snapshot.choices[0]!.blocks).toEqual([{ type: 'text', index: 0, text: 'Hello', status: 'done' }])
  })

  test('later calls are closed by the later finish reason', () => {
    const result = run(
      sse(first, frag(0, 'c1', 'f', '{"a"'), frag(0, undefined, undefined, ':1}'), finish('tool_calls'), DONE),
    )
    expect(callsOf(result)).toEqual(['f({"a":1}) ready'])
  })

  test('but arguments for a call that was closed contradict it', () => {
    const result = run(
      sse(
        frag(0, 'c1', 'f', '{"a":1}'),
        finish('stop'),
        frag(0, undefined, undefined, '{"b":2}'),
        finish('stop'),
        DONE,
      ),
    )
    expect(callsOf(result)).toEqual(['f({"a":1}) failed: protocol_conflict'])
    expect(result.report).toMatchObject({ outcome: 'failed', error: { code: 'protocol_conflict' } })
  })

  test('the wait for [DONE] starts anew with everything that still comes', () => {
    const engine = engineFor()
    engine.start(0)
    engine.response({ status: 200 }, 0)
    engine.push(bytesOf(sse(first)), 1_000)
    engine.push(bytesOf(sse(text('Hel'))), 2_900)
    expect(engine.deadline()!.atMs).toBeGreaterThanOrEqual(2_900 + 2_000)
  })
})

describe('F100 — the last content and the finish reason share a chunk', () => {
  test.each([
    { reason: 'length', outcome: 'truncated' },
    { reason: 'stop', outcome: 'completed' },
  ])('$reason: the delta is applied first', ({ reason, outcome }) => {
    const result = run(sse(text('The'), text(' end.', reason), DONE))
    expect(textOf(result)).toBe('The end.')
    expect(result.report).toMatchObject({ outcome, diagnostics: [] })
  })

  test('arguments too', () => {
    const result = run(
      sse(
        frag(0, 'c1', 'f', '{"a"'),
        chunk({ tool_calls: [{ index: 0, function: { arguments: ':1}' } }] }, 'tool_calls'),
        DONE,
      ),
    )
    expect(callsOf(result)).toEqual(['f({"a":1}) ready'])
    expect(result.report).toMatchObject({ outcome: 'completed', diagnostics: [] })
  })
})

describe('F101 — a finish reason and no [DONE]', () => {
  test('the body ends: usable, with a finding, and the calls were closed', () => {
    const result = run(sse(frag(0, 'c1', 'f', '{}'), finish('tool_calls')))
    expect(result.report.outcome).toBe('degraded')
    expect(callsOf(result)).toEqual(['f({}) ready'])
    expect(findingsOf(result)).toEqual(['missing_sentinel'])
  })

  test('the strict policy takes it for incomplete', () => {
    expect(run(sse(text('a'), finish('stop')), { policy: 'strict' }).report).toMatchObject({
      outcome: 'incomplete',
      error: { code: 'incomplete_stream' },
    })
  })

  test('a server that never sends one is told by its profile', () => {
    const profile = { sentinel: 'optional' as const }
    expect(run(sse(text('a'), finish('stop')), { profile }).report).toMatchObject({
      outcome: 'completed',
      diagnostics: [],
    })
    expect(run(sse(text('a'), finish('stop')), { profile, end: 'reset' }).report.outcome).toBe('degraded')
  })

  test('the socket stays open: a short grace, then the same end', () => {
    const engine = engineFor()
    engine.start(0)
    engine.response({ status: 200 }, 0)
    engine.push(bytesOf(sse(text('a'), finish('stop'))), 1_000)
    expect(engine.deadline()).toEqual({ atMs: 3_000, code: 'finish_grace' })
    expect(engine.ended).toBe(false)
    const events = engine.end('timeout', 3_000)
    expect(events.map(({ type }) => type)).toEqual(['stream_completed'])
    expect(engine.report()).toMatchObject({ outcome: 'degraded', error: null })
  })
})

test('F102 — [DONE], and the socket stays open', () => {
  const engine = engineFor()
  engine.start(0)
  engine.response({ status: 200 }, 0)
  const events = engine.push(bytesOf(sse(text('a'), finish('stop'), DONE)), 1_000)
  expect(events.at(-1)).toMatchObject({ type: 'stream_completed', outcome: 'completed' })
  expect(engine.ended).toBe(true)
  expect(engine.deadline()).toBeUndefined()
  expect(engine.end('aborted', 2_000)).toEqual([])
  expect(engine.report()).toMatchObject({ outcome: 'completed', diagnostics: [] })
})

describe('F104 — usage comes after the finish reason', () => {
  test('it is read', () => {
    const result = run(sse(text('a'), finish('stop'), chunkOf([], { usage: usage(7, 3) }), DONE))
    expect(result.report).toMatchObject({
      outcome: 'completed',
      usage: { inputTokens: 7, outputTokens: 3, totalTokens: 10 },
      diagnostics: [],
    })
  })

  test('and comes before the end in the events, after every choice has finished', () => {
    const both = chunkOf([{ index: 0, delta: { content: 'a' }, finish_reason: 'stop' }])
    const other = chunkOf([{ index: 1, delta: { content: 'b' }, finish_reason: 'length' }])
    const result = run(sse(both, other, chunkOf([], { usage: usage(7, 3) }), DONE), { request: { n: 2 } })
    expect(typesOf(result).slice(-2)).toEqual(['usage', 'stream_completed'])
    expect(result.report).toMatchObject({ outcome: 'truncated', usage: { totalTokens: 10 } })
  })
})

describe('F105 — a success that says nothing', () => {
  test.each([
    { name: 'no content', events: [chunk({ role: 'assistant', content: '' })], reason: 'stop' },
    { name: 'end_turn', events: [chunk({ role: 'assistant', content: '' })], reason: 'end_turn' },
    { name: 'reasoning alone', events: [chunk({ reasoning: 'plan' })], reason: 'stop' },
  ])('$name: empty, which is an outcome of its own', ({ events, reason }) => {
    const result = run(sse(...events, finish(reason), DONE))
    expect(result.report).toMatchObject({ outcome: 'empty', error: null })
    expect(typesOf(result).at(-1)).toBe('stream_completed')
  })

  test('nothing was given out, so it may be asked again', () => {
    const engine = engineFor()
    engine.push(bytesOf(sse(chunk({ role: 'assistant', content: '' }), finish('stop'), DONE)))
    expect(engine.committed).toBe(false)
  })
})

describe('F106 — finish reason content_filter, then the body ends', () => {
  test('after content: refused, complete without [DONE], not a fault of the upstream', () => {
    const result = run(sse(...Array.from({ length: 70 }, (_, i) => text(`${i} `)), finish('content_filter')))
    expect(result.report).toMatchObject({
      outcome: 'refused',
      error: null,
      choices: [{ finish: { reason: 'content-filter', raw: 'content_filter' } }],
    })
    expect(textOf(result)).toMatch(/69 $/)
  })

  test('with a call open: the call does not run', () => {
    const result = run(sse(frag(0, 'c1', 'f', '{"a":1}'), frag(1, 'c2', 'g', '{"b'), finish('content_filter'), DONE))
    expect(result.report.outcome).toBe('refused')
    expect(callsOf(result)).toEqual(['f({"a":1}) failed: output_refused', 'g({"b) failed: output_refused'])
  })
})
