import { describe, expect, test } from 'vitest'
import { callsOf, findingsOf, reasoningOf, run, textOf, typesOf } from './run.ts'
import { DONE, chunk, chunkOf, finish, frag, fragment, named, sse, text, tools, usage } from './wire.ts'

test('F024 — Azure: a first chunk with no choices, no id and no model', () => {
  const first = {
    id: '',
    object: '',
    created: 0,
    model: '',
    choices: [],
    prompt_filter_results: [
      { prompt_index: 0, content_filter_results: { hate: { filtered: false, severity: 'safe' } } },
    ],
  }
  const result = run(sse(first, text('Hello'), finish('stop'), DONE))
  expect(result.events[0]).toEqual({
    type: 'stream_started',
    api: 'chat_completions',
    id: 'chatcmpl-1',
    model: 'm-1',
    attempt: 1,
  })
  expect(textOf(result)).toBe('Hello')
  expect(result.report).toMatchObject({ outcome: 'completed', diagnostics: [] })
  expect(result.snapshot.metadata).toMatchObject({ prompt_filter_results: first.prompt_filter_results })
})

describe('F025 — Azure: a choice without delta that only annotates', () => {
  const results = { hate: { filtered: false, severity: 'safe' } }
  const annotation = {
    id: '',
    choices: [
      {
        index: 0,
        finish_reason: null,
        content_filter_offsets: { check_offset: 10, start_offset: 10, end_offset: 40 },
        content_filter_results: results,
      },
    ],
  }

  test.each([
    { name: 'between content', events: [text('Hel'), annotation, text('lo'), finish('stop'), DONE] },
    { name: 'after the finish reason', events: [text('Hello'), finish('stop'), annotation, DONE] },
  ])('$name', ({ events }) => {
    const result = run(sse(...events))
    expect(textOf(result)).toBe('Hello')
    expect(result.report).toMatchObject({ outcome: 'completed', diagnostics: [] })
    expect(result.snapshot.choices[0]!.metadata).toMatchObject({ content_filter_results: results })
  })

  test('after a finish reason that closed a call, the call stays closed and is released', () => {
    const result = run(sse(frag(0, 'c1', 'f', '{}'), finish('tool_calls'), annotation, DONE))
    expect(callsOf(result)).toEqual(['f({}) ready'])
  })
})

test('F026 — a cumulative message beside the delta is ignored', () => {
  const deltas = [
    { delta: { content: 'a' }, message: { role: 'assistant', content: 'a' } },
    { delta: { content: ' b' }, message: { role: 'assistant', content: 'a b' } },
    { delta: {}, message: { role: 'assistant', content: 'a b' }, finish_reason: 'stop' },
  ]
  const result = run(sse(...deltas.map((each) => chunkOf([{ index: 0, ...each }])), DONE))
  expect(textOf(result)).toBe('a b')
  expect(result.report).toMatchObject({ outcome: 'completed', diagnostics: [] })
})

describe('F027 — usage on many chunks is replaced, never summed', () => {
  test.each([
    { name: 'cumulative', values: [usage(10, 0), usage(10, 40), usage(10, 90)] },
    { name: 'zeros first', values: [usage(0, 0), usage(0, 0), usage(10, 90)] },
    { name: 'null first', values: [null, null, usage(10, 90)] },
    { name: 'zeros after the real one', values: [usage(10, 40), usage(10, 90), usage(0, 0)] },
  ])('$name', ({ values }) => {
    const result = run(
      sse(...values.map((value) => chunk({ content: 'a' }, null, { usage: value })), finish('stop'), DONE),
    )
    expect(result.report.usage).toMatchObject({ inputTokens: 10, outputTokens: 90, totalTokens: 100 })
    expect(result.report.outcome).toBe('completed')
  })

  test('in the choice and at the top: one usage, not two', () => {
    const both = chunkOf([{ index: 0, delta: {}, finish_reason: 'stop', usage: usage(10, 90) }], {
      usage: usage(10, 90),
    })
    const result = run(sse(text('a'), both, DONE))
    expect(result.report.usage).toMatchObject({ totalTokens: 100 })
    expect(typesOf(result).filter((type) => type === 'usage')).toHaveLength(1)
  })

  test('usage is no end: without a finish reason the stream is cut', () => {
    const result = run(sse(text('a'), chunkOf([], { usage: usage(10, 90) })))
    expect(result.report).toMatchObject({ outcome: 'incomplete', usage: { totalTokens: 100 } })
  })
})

describe('F028 — role null, empty or absent, and the call comes first', () => {
  test.each([
    { name: 'empty', role: { role: '' } },
    { name: 'null', role: { role: null } },
    { name: 'absent', role: {} },
  ])('$name', ({ role }) => {
    const first = chunk({ ...role, tool_calls: [fragment(0, 'c1', 'f', '')] })
    const result = run(sse(first, frag(0, undefined, undefined, '{"a":1}'), finish('tool_calls'), DONE))
    expect(callsOf(result)).toEqual(['f({"a":1}) ready'])
    expect(result.report).toMatchObject({ outcome: 'completed', diagnostics: [] })
  })
})

test('F029 — role on every delta is one message', () => {
  const result = run(
    sse(...['H', 'e', 'l', 'l', 'o'].map((content) => chunk({ role: 'assistant', content })), finish('stop'), DONE),
  )
  expect(result.snapshot.choices).toHaveLength(1)
  expect(result.snapshot.choices[0]!.blocks).toEqual([{ type: 'text', index: 0, text: 'Hello', status: 'done' }])
  expect(result.report).toMatchObject({ outcome: 'completed', diagnostics: [] })
})

describe('F030 — delta null, choices null', () => {
  test.each([
    { name: 'delta null with the finish reason', events: [text('a'), chunk(null, 'stop'), DONE] },
    { name: 'choices null before [DONE]', events: [text('a'), finish('stop'), chunkOf(null), DONE] },
    { name: 'choices null first', events: [chunkOf(null), text('a'), finish('stop'), DONE] },
    { name: 'null in choices', events: [chunkOf([null]), text('a'), finish('stop'), DONE] },
  ])('$name', ({ events }) => {
    const result = run(sse(...events))
    expect(textOf(result)).toBe('a')
    expect(result.report).toMatchObject({ outcome: 'completed', diagnostics: [] })
  })
})

describe('F031 — named events of a server inside the stream', () => {
  test('an unknown event without choices, error or usage is ignored and counted', () => {
    const progress = named('hermes.tool.progress', { tool: 'web_search', status: 'running' })
    const result = run(sse(text('Hel')) + progress + sse(text('lo')) + progress + sse(finish('stop'), DONE))
    expect(textOf(result)).toBe('Hello')
    expect(result.report).toMatchObject({
      outcome: 'completed',
      diagnostics: [{ code: 'unknown_event', event: 2, count: 2 }],
    })
  })

  test.each(['message', 'chunk', 'completion'])('a chunk in an event called %s is a chunk', (name) => {
    const result = run(named(name, text('Hello')) + named(name, finish('stop')) + named(name, DONE))
    expect(textOf(result)).toBe('Hello')
    expect(result.report).toMatchObject({ outcome: 'completed', diagnostics: [] })
  })

  test.each([
    { name: 'an error object', data: { error: { message: 'no', code: 503 } } },
    { name: 'the fields of one', data: { message: 'no', code: 503 } },
    { name: 'plain text', data: 'no' },
    { name: 'an object that says nothing', data: { reason: 'no' } },
    { name: 'a chunk', data: text('no') },
  ])('an event called error is an error: $name', ({ data }) => {
    const result = run(sse(text('Hel')) + named('error', data) + sse(DONE))
    expect(result.report).toMatchObject({ outcome: 'failed', error: { code: 'upstream_error', retryable: 'restart' } })
    expect(result.report.error!.message).toContain('no')
  })
})

describe('F033 — content is an array of typed parts', () => {
  const parts = [
    { type: 'thinking', thinking: [{ type: 'text', text: 'plan' }] },
    { type: 'text', text: 'Hi' },
  ]

  test('thinking is reasoning, text is text, plain strings may follow', () => {
    const result = run(sse(chunk({ content: parts }), text(' there'), finish('stop'), DONE))
    expect(reasoningOf(result)).toBe('plan')
    expect(textOf(result)).toBe('Hi there')
    expect(result.report).toMatchObject({ outcome: 'completed', diagnostics: [] })
  })

  test('a part of an unknown type is kept and is no text', () => {
    const odd = { type: 'reference', reference_ids: [1, 2] }
    const result = run(sse(chunk({ content: [odd, ...parts] }), finish('stop'), DONE))
    expect(textOf(result)).toBe('Hi')
    expect(result.snapshot.choices[0]!.metadata).toMatchObject({ content: [odd] })
  })

  test.each([{ content: 7 }, { content: { a: 1 } }, { content: true }, { content: [[1], 7, null] }])(
    'a delta that no reader expects is a finding, never a crash and never a transport fault: $content',
    ({ content }) => {
      const result = run(sse(text('a'), chunk({ content }), text('b'), finish('stop'), DONE))
      expect(textOf(result)).toBe('ab')
      expect(result.report.outcome).toBe('completed')
    },
  )
})

test('F034 — empty tool_calls on every delta open and close nothing', () => {
  const empty = { tool_calls: [], function_call: null, refusal: null }
  const reasoning = Array.from({ length: 20 }, (_, i) => chunk({ reasoning: `r${i} `, content: '', ...empty }))
  const content = Array.from({ length: 20 }, (_, i) => chunk({ content: `t${i} `, reasoning: '', ...empty }))
  const result = run(sse(...reasoning, ...content, finish('stop', empty), DONE))
  expect(result.snapshot.choices[0]!.blocks.map(({ type, status }) => `${type} ${status}`)).toEqual([
    'reasoning done',
    'text done',
  ])
  expect(callsOf(result)).toEqual([])
  expect(result.report).toMatchObject({ outcome: 'completed', diagnostics: [] })
})

describe('F035 — the response id changes from chunk to chunk', () => {
  test('one message, under the first id', () => {
    const events = ['a1', 'a2', 'a3', 'a4'].map((id) => ({ ...chunk({ role: 'assistant', content: id }), id }))
    const result = run(sse(...events, { ...chunk({}, 'stop'), id: 'a5' }, DONE))
    expect(textOf(result)).toBe('a1a2a3a4')
    expect(result.events[0]).toMatchObject({ type: 'stream_started', id: 'a1' })
    expect(result.report).toMatchObject({
      outcome: 'completed',
      diagnostics: [{ code: 'response_id_changed', count: 4 }],
    })
  })

  test('a minted call id does not change with it', () => {
    const one = run(
      sse(
        { ...chunk({ tool_calls: [fragment(0, undefined, 'f', '{"a"')] }), id: 'a1' },
        { ...chunk({ tool_calls: [fragment(0, undefined, undefined, ':1}')] }), id: 'a2' },
        { ...chunk({}, 'tool_calls'), id: 'a3' },
        DONE,
      ),
    )
    expect(callsOf(one)).toEqual(['f({"a":1}) ready'])
    expect(new Set(one.events.flatMap((event) => ('callId' in event ? [event.callId] : []))).size).toBe(1)
  })
})

describe('F037 — stream_options is refused, or ignored', () => {
  test('a 400 that names the field: not retryable as it is, and the name is there to act on', () => {
    const body = JSON.stringify({
      error: {
        message: 'Unrecognized request argument supplied: stream_options',
        type: 'invalid_request_error',
        param: 'stream_options',
        code: null,
      },
    })
    const result = run(body, { head: { status: 400, headers: [['content-type', 'application/json']] } })
    expect(result.report).toMatchObject({
      outcome: 'failed',
      error: {
        code: 'http_error',
        status: 400,
        phase: 'headers',
        retryable: 'no',
        provider: { type: 'invalid_request_error' },
      },
    })
    expect(result.report.error!.message).toContain('stream_options')
  })

  test('a usage chunk that nobody asked for is read and ends nothing', () => {
    const result = run(sse(tools(), text('a'), finish('stop'), chunkOf([], { usage: usage(1, 2) }), DONE))
    expect(result.report).toMatchObject({ outcome: 'completed', usage: { totalTokens: 3 }, diagnostics: [] })
  })

  test('usage that was asked for and never came is a finding', () => {
    const result = run(sse(text('a'), finish('stop'), DONE), { request: { usage: true } })
    expect(result.report.outcome).toBe('completed')
    expect(findingsOf(result)).toEqual(['missing_usage'])
  })
})
