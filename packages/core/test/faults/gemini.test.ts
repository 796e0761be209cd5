import { describe, expect, test } from 'vitest'
import { gemini } from '../../src/adapters/gemini/adapter.ts'
import { callsOf, findingsOf, reasoningOf, run, textOf, typesOf } from './run.ts'
import type { Run, RunOptions } from './run.ts'
import { DONE, finish, frag, fragment, sse, tools } from './wire.ts'
import type { Json } from './wire.ts'

/** One response of a stream: its first candidate has these parts and this finish reason. */
function response(parts?: readonly Json[], reason?: Json, extra: Readonly<Record<string, Json>> = {}): Json {
  const candidate = {
    ...(parts !== undefined && { content: { role: 'model', parts } }),
    ...(reason !== undefined && { finishReason: reason }),
  }
  return { candidates: [candidate], modelVersion: 'm-1', responseId: 'r-1', ...extra }
}

const text = (value: string, reason?: Json): Json => response([{ text: value }], reason)
const call = (name: string, args?: Json, reason?: Json): Json => response([{ functionCall: { name, args } }], reason)
/** A part of a call whose arguments come in pieces. */
const piece = (functionCall: Json): Json => response([{ functionCall }])
const STOP = response(undefined, 'STOP')

const signed = (value: string, signature: string): Json => ({ text: value, thoughtSignature: signature })

/** The events as this API writes them: CRLF. */
function read(events: readonly Json[], options: RunOptions = {}): Run {
  return run(sse(...events).replaceAll('\n', '\r\n'), { adapter: gemini(options.profile), ...options })
}

/** The same responses as a growing JSON array. */
function array(...elements: readonly Json[]): string {
  return `[${elements.map((element) => JSON.stringify(element, null, 2)).join('\n,\r\n')}\n]`
}

test('F170 — every chunk has a finish reason: the text is whole, and the body decides when it ends', () => {
  const result = read(['a', 'b', 'c', 'd', 'e'].map((letter) => text(letter, 'STOP')))
  expect(textOf(result)).toBe('abcde')
  expect(result.report).toMatchObject({ outcome: 'completed', choices: [{ finish: { reason: 'stop', raw: 'STOP' } }] })
})

test('F172 — a finish chunk without content and no sentinel: usage is taken, and it is a success', () => {
  const usageMetadata = { promptTokenCount: 4, candidatesTokenCount: 2, totalTokenCount: 6 }
  const result = read([text('hi'), response(undefined, 'STOP', { usageMetadata })])
  expect(result.report).toMatchObject({ outcome: 'completed', usage: { inputTokens: 4, outputTokens: 2 } })
  expect(findingsOf(result)).toEqual([])
})

test('F173 — a call, then STOP in an empty chunk: a tool turn', () => {
  const result = read([call('f', { a: 1 }), STOP])
  expect(callsOf(result)).toEqual(['f({"a":1}) ready'])
  expect(result.report.choices[0]!.finish).toEqual({ reason: 'tool-calls', raw: 'STOP' })
  expect(result.report.outcome).toBe('completed')
  // That is how this API ends a tool turn, and no mismatch.
  expect(findingsOf(result)).toEqual(['missing_id'])
})

test('F174 — parallel calls without ids, two of them equal: three calls with ids of their own', () => {
  const result = read([call('f', { c: 'A' }), call('f', { c: 'B' }), call('f', { c: 'B' }), STOP])
  expect(callsOf(result)).toEqual(['f({"c":"A"}) ready', 'f({"c":"B"}) ready', 'f({"c":"B"}) ready'])
  expect(new Set(result.report.choices[0]!.toolCalls.map(({ callId }) => callId)).size).toBe(3)
})

describe('F176 — one JSON array in place of events', () => {
  const elements = [text('Hel'), text('lo, "x" ]['), call('f', { s: '}{' }), STOP]

  test('is read element by element, and means the same', () => {
    const result = run(array(...elements), { adapter: gemini() })
    expect(textOf(result)).toBe('Hello, "x" ][')
    expect(callsOf(result)).toEqual(['f({"s":"}{"}) ready'])
    expect(result.report.outcome).toBe('completed')
    expect(findingsOf(result)).toEqual(['json_array_framing', 'missing_id'])
    expect(result.events).toEqual(read(elements).events)
  })

  test('that is never closed lacks its end: strict does not take it', () => {
    const open = array(...elements).slice(0, -1)
    const result = run(open, { adapter: gemini() })
    expect(result.report.outcome).toBe('degraded')
    expect(findingsOf(result)).toContain('missing_sentinel')
    expect(run(open, { adapter: gemini(), policy: 'strict' }).report).toMatchObject({
      outcome: 'incomplete',
      error: { code: 'incomplete_stream' },
    })
  })

  test('cut inside an element is cut', () => {
    const body = array(text('Hello'), call('f', { a: 1 }, 'STOP'))
    const result = run(body.slice(0, body.indexOf('"f"')), { adapter: gemini() })
    expect(result.report).toMatchObject({ outcome: 'incomplete', error: { code: 'incomplete_stream' } })
    expect(textOf(result)).toBe('Hello')
  })

  test('that is empty is an empty stream', () => {
    expect(run('[]', { adapter: gemini() }).report).toMatchObject({
      outcome: 'failed',
      error: { code: 'empty_stream' },
    })
  })

  test('with an element that is no JSON has a hole: the call is not run', () => {
    const body = `[${JSON.stringify(call('f', { a: 1 }))},oops,${JSON.stringify(STOP)}]`
    const result = run(body, { adapter: gemini() })
    expect(callsOf(result)).toEqual(['f({"a":1}) held: event_skipped'])
    expect(result.report.outcome).toBe('degraded')
  })
})

test('F178 — usage on every chunk is a running total', () => {
  const counted = [3, 9, 14].map((count) =>
    response([{ text: 'x' }], count === 14 ? 'STOP' : undefined, {
      usageMetadata: { promptTokenCount: 5, candidatesTokenCount: count, totalTokenCount: 5 + count },
    }),
  )
  const result = read(counted)
  expect(result.report.usage).toMatchObject({ inputTokens: 5, outputTokens: 14, totalTokens: 19 })
})

describe('F179 — a thought signature is kept where it was, to be echoed', () => {
  test('on the first fragment of a call in Chat Completions', () => {
    const extra_content = { google: { thought_signature: 'c2ln' } }
    const result = run(
      sse(
        tools({ ...fragment(0, 'c1', 'f', '{"a"'), extra_content }),
        frag(0, undefined, undefined, ':1}'),
        frag(1, 'c2', 'g', '{}'),
        finish('tool_calls'),
        DONE,
      ),
    )
    expect(callsOf(result)).toEqual(['f({"a":1}) ready', 'g({}) ready'])
    const batch = result.events.find((event) => event.type === 'tool_batch_ready')
    expect(batch).toMatchObject({ calls: [{ callId: 'c1', metadata: { extra_content } }, { callId: 'c2' }] })
    expect(result.snapshot.choices[0]!.blocks).toMatchObject([{ metadata: { extra_content } }, { callId: 'c2' }])
    expect(result.snapshot.choices[0]!.blocks[1]).not.toHaveProperty('metadata')
  })

  test('on a functionCall part', () => {
    const first = { functionCall: { name: 'f', args: {} }, thoughtSignature: 'c2ln' }
    const result = read([response([first, { functionCall: { name: 'g', args: {} } }]), STOP])
    const batch = result.events.find((event) => event.type === 'tool_batch_ready')
    expect(batch).toMatchObject({ calls: [{ name: 'f', metadata: { thoughtSignature: 'c2ln' } }, { name: 'g' }] })
    expect(result.snapshot.choices[0]!.blocks[0]).toMatchObject({ metadata: { thoughtSignature: 'c2ln' } })
    expect(result.snapshot.choices[0]!.blocks[1]).not.toHaveProperty('metadata')
  })

  test('on the first part of a call whose arguments come in pieces', () => {
    const opening = { functionCall: { name: 'f', willContinue: true }, thoughtSignature: 'c2ln' }
    const result = read([response([opening]), piece({ partialArgs: [{ jsonPath: '$.a', numberValue: 1 }] }), STOP])
    expect(callsOf(result)).toEqual(['f({"a":1}) ready'])
    expect(result.snapshot.choices[0]!.blocks[0]).toMatchObject({ metadata: { thoughtSignature: 'c2ln' } })
  })

  test('on a text, on the empty text behind one, and on an empty text behind a call', () => {
    const thought = { text: 'hm', thought: true, thoughtSignature: 's1' }
    const result = read([
      response([thought]),
      response([{ text: 'one ' }]),
      response([signed('two', 's2'), { text: ' three' }]),
      response([signed('', 's3')]),
      response([{ functionCall: { name: 'f', args: {} } }]),
      response([signed('', 's4')], 'STOP'),
    ])
    expect(textOf(result)).toBe('one two three')
    expect(reasoningOf(result)).toBe('hm')
    expect(result.snapshot.choices[0]!.blocks).toMatchObject([
      { type: 'reasoning', text: 'hm', metadata: { thoughtSignature: 's1' } },
      { type: 'text', text: 'one two', metadata: { thoughtSignature: 's2' } },
      { type: 'text', text: ' three', metadata: { thoughtSignature: 's3' } },
      { type: 'tool-call', name: 'f' },
      { type: 'text', text: '', metadata: { thoughtSignature: 's4' } },
    ])
  })
})

test('F180 — MALFORMED_FUNCTION_CALL without content is a failure that may be tried again', () => {
  const result = read([{ candidates: [{ content: {}, finishReason: 'MALFORMED_FUNCTION_CALL' }] }])
  expect(result.report).toMatchObject({
    outcome: 'failed',
    error: { code: 'upstream_error', retryable: 'yes' },
    choices: [{ finish: { reason: 'error', raw: 'MALFORMED_FUNCTION_CALL' } }],
  })
})

describe('what rows of other sections look like in Gemini', () => {
  test('F038 — arguments are objects: a number that reading has rounded holds the call', () => {
    const body = sse(call('f', { n: 0 }), STOP).replace('"n":0', '"n":9007199254740993')
    expect(callsOf(run(body, { adapter: gemini() }))).toEqual(['f({"n":9007199254740992}) held: arguments_unsafe'])
  })

  test.each([
    ['a key that is there twice', '{"n":1,"n":2}'],
    ['a prototype key', '{"__proto__":{"a":1}}'],
  ])('F038 — %s holds the call', (_, args) => {
    const body = sse(call('f', { n: 0 }), STOP).replace('{"n":0}', args)
    expect(callsOf(run(body, { adapter: gemini() }))[0]).toMatch(/held: arguments_unsafe$/)
  })

  test('F038 — a long number elsewhere in the event is nothing to the call', () => {
    const body = sse(call('f', { n: 0 }), STOP).replace(
      '"candidates":[{',
      '"candidates":[{"avgLogprobs":-0.12345678901234567890,',
    )
    expect(callsOf(run(body, { adapter: gemini() }))).toEqual(['f({"n":0}) ready'])
  })

  test('F045 — arguments that are a list fail', () => {
    expect(callsOf(read([call('f', [1]), STOP]))).toEqual(['f([1]) failed: arguments_invalid'])
  })

  test('F057 — a text that was to continue and did not is no argument', () => {
    const result = read([
      piece({ name: 'f', willContinue: true }),
      piece({ partialArgs: [{ jsonPath: '$.a', stringValue: 'ha', willContinue: true }], willContinue: true }),
      piece({}),
      STOP,
    ])
    expect(callsOf(result)).toEqual(['f({"a":"ha") failed: arguments_incomplete'])
  })

  test('F059 — a call that was to continue is not run with nothing', () => {
    const result = read([piece({ name: 'f', willContinue: true }), STOP])
    expect(callsOf(result)).toEqual(['f({}) held: arguments_unsafe'])
  })

  test.each<{ name: string; events: Json[] }>([
    {
      name: 'a place that is written twice',
      events: [piece({ partialArgs: [{ jsonPath: '$.a', numberValue: 2 }], willContinue: true })],
    },
    {
      name: 'a path through a number',
      events: [piece({ partialArgs: [{ jsonPath: '$.a.b', numberValue: 2 }], willContinue: true })],
    },
    {
      name: 'a list with a hole',
      events: [piece({ partialArgs: [{ jsonPath: '$.b[1]', numberValue: 2 }], willContinue: true })],
    },
    {
      name: 'arguments stated whole that say something else',
      events: [piece({ args: { a: 2 }, willContinue: true })],
    },
    {
      name: 'pieces with the name again, which may be a new call',
      events: [piece({ name: 'f', partialArgs: [{ jsonPath: '$.c', numberValue: 2 }], willContinue: true })],
    },
  ])('F041 — $name is a conflict', ({ events }) => {
    const result = read([
      piece({ name: 'f', willContinue: true }),
      piece({ partialArgs: [{ jsonPath: '$.a', numberValue: 1 }], willContinue: true }),
      ...events,
      piece({}),
      STOP,
    ])
    expect(result.report).toMatchObject({ outcome: 'failed', error: { code: 'protocol_conflict' } })
    expect(typesOf(result)).not.toContain('tool_batch_ready')
  })

  test.each([
    ['a path that selects several places', [{ jsonPath: '$..a', numberValue: 1 }]],
    ['a path that is none', [{ jsonPath: 'a', numberValue: 1 }]],
    ['the whole document', [{ jsonPath: '$', numberValue: 1 }]],
    ['a value that is not known', [{ jsonPath: '$.a', structValue: {} }]],
    ['a value of the wrong type', [{ jsonPath: '$.a', numberValue: '1' }]],
    ['no list', { jsonPath: '$.a', numberValue: 1 }],
    ['no object', [null]],
  ])('F046 — a piece that can not be read, %s, is a hole and nothing is run', (_, partialArgs) => {
    const result = read([piece({ name: 'f', willContinue: true }), piece({ partialArgs }), STOP])
    expect(callsOf(result)[0]).toMatch(/failed: invalid_event_json$/)
    expect(result.report.outcome).toBe('degraded')
  })

  test('F083 — tools that the provider runs are never offered, even under the name of a local one', () => {
    const result = read(
      [
        response([{ executableCode: { language: 'PYTHON', code: '1' }, thoughtSignature: 's1' }]),
        response([{ codeExecutionResult: { outcome: 'OUTCOME_OK', output: '1' } }]),
        response([{ toolCall: { toolType: 'search', args: { q: 'x' }, id: 't1' } }]),
        response([{ toolResponse: { toolType: 'search', id: 't1', response: {} } }]),
        response([{ text: 'done' }], 'STOP'),
      ],
      { request: { tools: ['search', 'code_execution'] } },
    )
    expect(callsOf(result)).toEqual([
      'code_execution({"language":"PYTHON","code":"1"}) held: provider_executed',
      'search({"q":"x"}) held: provider_executed',
    ])
    expect(typesOf(result)).not.toContain('tool_batch_ready')
    expect(result.report).toMatchObject({ outcome: 'completed', choices: [{ finish: { reason: 'stop' } }] })
    expect(result.snapshot.choices[0]!.blocks).toMatchObject([
      { type: 'tool-call', metadata: { part: 'executableCode', thoughtSignature: 's1' } },
      { type: 'opaque', metadata: { codeExecutionResult: { output: '1' } } },
      { type: 'tool-call', providerCallId: 't1', metadata: { part: 'toolCall' } },
      { type: 'opaque', metadata: { toolResponse: { id: 't1' } } },
      { type: 'text', text: 'done' },
    ])
  })

  test('F093 — MAX_TOKENS: neither the whole call nor the open one is run', () => {
    const result = read([
      call('f', { a: 1 }),
      piece({ name: 'g', willContinue: true }),
      response(undefined, 'MAX_TOKENS'),
    ])
    expect(callsOf(result)).toEqual(['f({"a":1}) held: output_truncated', 'g({) failed: arguments_incomplete'])
    expect(result.report.outcome).toBe('truncated')
  })

  test('F095 — the body ends before any finish reason', () => {
    const result = read([text('hi'), call('f', { a: 1 })])
    expect(callsOf(result)).toEqual(['f({"a":1}) held: incomplete_stream'])
    expect(result.report).toMatchObject({ outcome: 'incomplete', error: { code: 'incomplete_stream' } })
  })

  test('F095 — a reset behind the finish reason leaves the end unproven', () => {
    expect(read([text('hi'), STOP], { end: 'reset' }).report.outcome).toBe('degraded')
  })

  test('F099 — a call behind the finish reason waits for another one', () => {
    expect(callsOf(read([text('hi', 'STOP'), call('f', { a: 1 })]))).toEqual(['f({"a":1}) held: missing_finish_reason'])
    expect(callsOf(read([text('hi', 'STOP'), call('f', { a: 1 }), STOP]))).toEqual(['f({"a":1}) ready'])
    expect(callsOf(read([text('hi', 'STOP'), call('f', { a: 1 }, 'STOP')]))).toEqual(['f({"a":1}) ready'])
  })

  test('F106 — a filter behind STOP is not taken back by STOP', () => {
    const result = read([call('f', { a: 1 }, 'STOP'), response(undefined, 'SAFETY'), STOP])
    expect(callsOf(result)).toEqual(['f({"a":1}) held: output_refused'])
    expect(result.report).toMatchObject({ outcome: 'refused', choices: [{ finish: { raw: 'SAFETY' } }] })
  })

  test.each([
    ['in an event', sse({ error: { code: 429, message: 'busy', status: 'RESOURCE_EXHAUSTED' } })],
    [
      'as the whole body',
      '{\n "error": {\n  "code": 429,\n  "message": "busy: wait",\n  "status": "RESOURCE_EXHAUSTED"\n }\n}\n',
    ],
    [
      'as an array',
      '[{\n "error": {\n  "code": 429,\n  "message": "busy",\n  "status": "RESOURCE_EXHAUSTED"\n }\n}\n]',
    ],
    ['by its status alone', sse({ error: { message: 'busy', status: 'RESOURCE_EXHAUSTED' } })],
  ])('F107 — an error %s', (_, body) => {
    expect(run(body, { adapter: gemini() }).report).toMatchObject({
      outcome: 'failed',
      error: { code: 'rate_limited', status: 429, retryable: 'yes' },
    })
  })

  test.each([
    ['indented', '{\n  "error": {\n    "code": 503,\n    "message": "over: loaded"\n  }\n}\n'],
    ['in one line', '{"error":{"code":503,"message":"over: loaded"}}\n'],
    ['in an array', '[{\n"error": {"code": 503, "message": "over: loaded"}\n}]\n'],
  ])('F107 — an error amid events that is bare JSON, %s', (_, error) => {
    for (const end of [error, `${error}\n`]) {
      const result = run(sse(text('hi')) + end, { adapter: gemini() })
      expect(textOf(result)).toBe('hi')
      expect(result.report.error).toMatchObject({ code: 'upstream_error', status: 503, retryable: 'restart' })
    }
  })

  test('F110 — a bad request is not tried again', () => {
    const error = { code: 400, message: 'API key not valid.', status: 'INVALID_ARGUMENT' }
    expect(read([{ error }]).report.error).toMatchObject({ code: 'upstream_error', status: 400, retryable: 'no' })
  })

  test('F111 — a finish reason that is not known holds the calls', () => {
    const result = read([call('f', { a: 1 }), response(undefined, 'FAKE_ENUM')])
    expect(callsOf(result)).toEqual(['f({"a":1}) held: finish_unknown'])
    expect(result.report).toMatchObject({ outcome: 'degraded', choices: [{ finish: { raw: 'FAKE_ENUM' } }] })
    const known = read([call('f', { a: 1 }), response(undefined, 'FAKE_ENUM')], {
      profile: { finishAliases: { FAKE_ENUM: 'stop' } },
    })
    expect(callsOf(known)).toEqual(['f({"a":1}) ready'])
  })

  test('F129 — a second generation in the stream: other id, other model', () => {
    const other = { responseId: 'r-2', modelVersion: 'm-2' }
    const result = read([text('one'), response([{ text: 'two' }], 'STOP', other)])
    expect(result.report).toMatchObject({ outcome: 'failed', error: { code: 'stream_splice' } })
    expect(textOf(result)).toBe('one')
  })
})

describe('a prompt that was blocked', () => {
  test('is refused, with no reason on any candidate', () => {
    const promptFeedback = { blockReason: 'PROHIBITED_CONTENT', blockReasonMessage: 'Reasons' }
    const result = read([{ promptFeedback }])
    expect(result.report).toMatchObject({
      outcome: 'refused',
      choices: [{ finish: { reason: 'content-filter', raw: null } }],
    })
    expect(result.snapshot.metadata).toMatchObject({ promptFeedback })
  })

  test('refuses what came beside it', () => {
    const result = read([call('f', { a: 1 }, 'STOP'), { promptFeedback: { blockReason: 'SAFETY' } }])
    expect(callsOf(result)).toEqual(['f({"a":1}) held: output_refused'])
  })

  test('is not one that was only rated', () => {
    const rated = { promptFeedback: { safetyRatings: [], blockReason: 'BLOCK_REASON_UNSPECIFIED' } }
    expect(read([rated, text('hi', 'STOP')]).report.outcome).toBe('completed')
  })
})
