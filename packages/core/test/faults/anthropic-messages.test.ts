import { describe, expect, test } from 'vitest'
import {
  PING,
  STOP,
  USAGE_AT_START,
  called,
  close,
  delta,
  failure,
  finish,
  input,
  open,
  openText,
  openTool,
  readMessages,
  said,
  start,
  stream,
  text,
  thinking,
} from './messages-wire.ts'
import { callsOf, findingsOf, reasoningOf, textOf, typesOf } from './run.ts'
import { sse } from './wire.ts'

const oddDelta = (index: number): Record<string, unknown> => delta(index, { type: 'odd_delta', value: '1' })

const withStartInput = (atStart: unknown, ...pieces: readonly string[]): readonly string[] =>
  callsOf(
    readMessages(
      stream(
        start(),
        openTool(0, 't1', 'f', atStart),
        ...pieces.map((piece) => input(0, piece)),
        close(0),
        finish('tool_use'),
        STOP,
      ),
    ),
  )

const countersAfter = (...counters: readonly unknown[]): unknown =>
  readMessages(
    stream(
      start(),
      ...said(0, 'a'),
      ...counters.map((usage) => ({ type: 'message_delta', delta: {}, usage })),
      finish('end_turn', 15),
      STOP,
    ),
  ).report.usage

describe('F155 — an error event inside a 200', () => {
  const overloaded = failure('overloaded_error', 'Overloaded')

  test.each([
    { where: 'as the first event', before: [], retryable: 'yes', calls: [] },
    { where: 'after message_start and a ping', before: [start(), PING], retryable: 'yes', calls: [] },
    { where: 'after text', before: [start(), openText(0), text(0, 'a')], retryable: 'restart', calls: [] },
    {
      where: 'inside a call',
      before: [start(), openTool(0, 't1', 'f'), input(0, '{"a":')],
      retryable: 'restart',
      calls: ['f({"a":) failed: upstream_error'],
    },
  ])('$where', ({ before, retryable, calls }) => {
    const result = readMessages(stream(...before, overloaded))
    expect(result.report).toMatchObject({
      outcome: 'failed',
      error: {
        code: 'upstream_error',
        status: 529,
        retryable,
        provider: { type: 'overloaded_error', message: 'Overloaded' },
      },
    })
    expect(callsOf(result)).toEqual(calls)
  })

  test.each([
    ['invalid_request_error', 'upstream_error', 400, 'no'],
    ['authentication_error', 'upstream_error', 401, 'no'],
    ['billing_error', 'upstream_error', 402, 'no'],
    ['permission_error', 'upstream_error', 403, 'no'],
    ['not_found_error', 'upstream_error', 404, 'no'],
    ['request_too_large', 'upstream_error', 413, 'no'],
    ['rate_limit_error', 'rate_limited', 429, 'yes'],
    ['api_error', 'upstream_error', 500, 'yes'],
    ['timeout_error', 'upstream_error', 504, 'yes'],
    ['overloaded_error', 'upstream_error', 529, 'yes'],
  ])('%s is known by its type', (type, code, status, retryable) => {
    expect(readMessages(stream(failure(type, '429 rate limit'))).report.error).toMatchObject({
      code,
      status,
      retryable,
    })
  })
})

describe('F156 — the body ends without message_delta or message_stop', () => {
  test('inside the input of a call: incomplete, and so is the call', () => {
    const result = readMessages(stream(start(), openTool(0, 't1', 'f'), input(0, '{"a":1')))
    expect(result.report).toMatchObject({ outcome: 'incomplete', error: { code: 'incomplete_stream' } })
    expect(callsOf(result)).toEqual(['f({"a":1) failed: incomplete_stream'])
  })

  test('behind closed blocks: the call is whole, and not released', () => {
    const result = readMessages(stream(start(), ...called(0, 't1', 'f', '{"a":1}')))
    expect(result.report.outcome).toBe('incomplete')
    expect(callsOf(result)).toEqual(['f({"a":1}) held: incomplete_stream'])
  })

  test('behind the stop reason: a success with a finding', () => {
    const result = readMessages(stream(start(), ...called(0, 't1', 'f', '{"a":1}'), finish('tool_use')))
    expect(result.report.outcome).toBe('degraded')
    expect(callsOf(result)).toEqual(['f({"a":1}) ready'])
    expect(findingsOf(result)).toEqual(['missing_sentinel'])
  })

  test('but not for the strict policy', () => {
    const body = stream(start(), ...called(0, 't1', 'f', '{"a":1}'), finish('tool_use'))
    const result = readMessages(body, { policy: 'strict' })
    expect(result.report.outcome).toBe('incomplete')
    expect(callsOf(result)).toEqual(['f({"a":1}) held: incomplete_stream'])
  })

  test('a profile may say that a server sends none', () => {
    const body = stream(start(), ...called(0, 't1', 'f', '{"a":1}'), finish('tool_use'))
    const result = readMessages(body, { profile: { sentinel: 'optional' } })
    expect(result.report).toMatchObject({ outcome: 'completed', diagnostics: [] })
    expect(readMessages(body, { profile: { sentinel: 'optional' }, end: 'reset' }).report.outcome).toBe('degraded')
  })
})

describe('F158 — events for a block that was never started', () => {
  test('gaps in the numbers mean nothing', () => {
    const body = stream(
      start(),
      ...said(0, 'a'),
      ...called(2, 't1', 'f', '{}'),
      ...said(7, 'b'),
      finish('tool_use'),
      STOP,
    )
    const result = readMessages(body)
    expect(result.report).toMatchObject({ outcome: 'completed', diagnostics: [] })
    expect([textOf(result), ...callsOf(result)]).toEqual(['ab', 'f({}) ready'])
  })

  test('input is given to no other call, and then none is run', () => {
    const body = stream(
      start(),
      ...called(1, 't0', 'g', '{"b":2}'),
      openTool(2, 't1', 'f'),
      input(3, '{"a":1}'),
      close(2),
      finish('tool_use'),
      STOP,
    )
    const result = readMessages(body)
    expect(result.report.outcome).toBe('degraded')
    expect(callsOf(result)).toEqual(['g({"b":2}) held: event_skipped', 'f() failed: invalid_event_json'])
    expect(findingsOf(result)).toEqual(['skipped_event'])
    expect(readMessages(body, { policy: 'strict' }).report).toMatchObject({
      outcome: 'failed',
      error: { code: 'invalid_event_json' },
    })
  })

  test.each([
    { what: 'text', event: text(4, 'x'), shown: ['x', ''] },
    { what: 'thinking', event: thinking(4, 'x'), shown: ['', 'x'] },
  ])('$what is shown in a block of its own', ({ event, shown }) => {
    const result = readMessages(stream(start(), event, event, close(4), finish('end_turn'), STOP))
    expect([textOf(result), reasoningOf(result)]).toEqual(shown.map((one) => one.repeat(2)))
    expect(findingsOf(result)).toEqual(['missing_block_start'])
    expect(result.snapshot.choices[0]!.blocks).toMatchObject([{ status: 'done' }])
  })

  test('input for a block that is text is given to nobody', () => {
    const body = stream(
      start(),
      openText(0),
      input(0, '{"a":1}'),
      ...called(1, 't1', 'f', '{}'),
      finish('tool_use'),
      STOP,
    )
    const result = readMessages(body)
    expect(callsOf(result)).toEqual(['f({}) held: event_skipped'])
  })

  test('the stop of an unknown block is passed over', () => {
    const result = readMessages(stream(start(), ...said(0, 'a'), close(5), finish('end_turn'), STOP))
    expect(result.report.outcome).toBe('completed')
    expect(findingsOf(result)).toEqual(['missing_block_start'])
  })
})

describe('F159 — a block type that is not known', () => {
  test('is kept whole, and the blocks behind it stay where they are', () => {
    const future = { type: 'future_block', payload: { a: [1] } }
    const body = stream(
      start(),
      open(0, future),
      delta(0, { type: 'future_delta', n: 1 }),
      close(0),
      ...said(1, 'a'),
      ...called(2, 't1', 'f', '{"a":1}'),
      finish('tool_use'),
      STOP,
    )
    const result = readMessages(body)
    expect(result.report.outcome).toBe('completed')
    expect(callsOf(result)).toEqual(['f({"a":1}) ready'])
    expect(result.snapshot.choices[0]!.blocks).toMatchObject([
      { type: 'opaque', text: '', status: 'done', metadata: { ...future, deltas: [{ type: 'future_delta', n: 1 }] } },
      { type: 'text', text: 'a' },
      { type: 'tool-call', name: 'f' },
    ])
    expect(findingsOf(result)).toEqual(['unknown_event'])
  })

  test('an unknown delta of text is passed over, one of a call holds the calls: it may have been input', () => {
    const inText = stream(
      start(),
      openText(0),
      text(0, 'a'),
      oddDelta(0),
      close(0),
      ...called(1, 't1', 'f', '{}'),
      finish('tool_use'),
      STOP,
    )
    expect(callsOf(readMessages(inText))).toEqual(['f({}) ready'])
    const inCall = stream(
      start(),
      openTool(0, 't1', 'f'),
      input(0, '{}'),
      oddDelta(0),
      close(0),
      finish('tool_use'),
      STOP,
    )
    expect(callsOf(readMessages(inCall))).toEqual(['f({}) failed: invalid_event_json'])
  })
})

describe('F160 — a block is opened before the one before it was stopped', () => {
  test('each is kept apart by its index', () => {
    const body = stream(
      start(),
      openText(0),
      text(0, 'a'),
      openTool(1, 't1', 'f'),
      input(1, '{"a":'),
      text(0, 'b'),
      input(1, '1}'),
      close(1),
      close(0),
      finish('tool_use'),
      STOP,
    )
    const result = readMessages(body)
    expect([textOf(result), ...callsOf(result)]).toEqual(['ab', 'f({"a":1}) ready'])
    expect(result.report.diagnostics).toEqual([])
  })

  test.each([
    { json: '{"a":1}', call: 'f({"a":1}) ready', found: ['call_close_inferred'] },
    { json: '{"a":', call: 'f({"a":) failed: arguments_incomplete', found: [] },
    { json: '', call: 'f() held: missing_finish_reason', found: ['arguments_empty'] },
  ])('without a stop, the end of the message closes $json only where it is whole', ({ json, call, found }) => {
    const result = readMessages(stream(start(), openTool(0, 't1', 'f'), input(0, json), finish('tool_use'), STOP))
    expect(callsOf(result)).toEqual([call])
    expect(findingsOf(result)).toEqual(found)
  })

  test('without message_stop nothing closes it', () => {
    const result = readMessages(stream(start(), openTool(0, 't1', 'f'), input(0, '{"a":1}'), finish('tool_use')))
    expect(callsOf(result)).toEqual(['f({"a":1}) held: missing_finish_reason'])
  })
})

describe('F161 — input in the start of the block', () => {
  test.each<{ name: string; atStart: unknown; pieces: readonly string[]; call: string }>([
    { name: 'all of it', atStart: { a: 1 }, pieces: [], call: 'f({"a":1}) ready' },
    { name: 'all of it, and an empty piece', atStart: { a: 1 }, pieces: [''], call: 'f({"a":1}) ready' },
    { name: 'empty, and deltas', atStart: {}, pieces: ['{"a"', ':1}'], call: 'f({"a":1}) ready' },
    { name: 'null, and deltas', atStart: null, pieces: ['{"a":1}'], call: 'f({"a":1}) ready' },
    {
      name: 'the same in another order',
      atStart: { b: 2, a: 1 },
      pieces: ['{"a":1, "b":2}'],
      call: 'f({"a":1, "b":2}) ready',
    },
    { name: 'something else', atStart: { a: 2 }, pieces: ['{"a":1}'], call: 'f({"a":1}) held: arguments_unsafe' },
    { name: 'text', atStart: '{"a":1}', pieces: [], call: 'f({"a":1}) ready' },
    { name: 'a list', atStart: [1], pieces: [], call: 'f([1]) failed: arguments_invalid' },
  ])('$name', ({ atStart, pieces, call }) => {
    expect(withStartInput(atStart, ...pieces)).toEqual([call])
  })

  test('a number that would be rounded is held', () => {
    const event = `data: {"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t1","name":"f","input":{"n":9007199254740993}}}\n\n`
    const result = readMessages(stream(start(), event, close(0), finish('tool_use'), STOP))
    expect(result.report.choices[0]!.toolCalls).toMatchObject([{ code: 'arguments_unsafe', parsedArguments: null }])
  })

  test('content in message_start is played like blocks', () => {
    const content = [{ type: 'tool_use', id: 't1', name: 'f', input: { a: 1 } }]
    const result = readMessages(stream(start({ content, stop_reason: 'tool_use' }), STOP))
    expect(result.report).toMatchObject({ outcome: 'completed', choices: [{ finish: { raw: 'tool_use' } }] })
    expect(callsOf(result)).toEqual(['f({"a":1}) ready'])
  })
})

test('F163 — pieces of input are joined, and read once the block is stopped', () => {
  const pieces = ['{"file_', 'path":"a.py","cont', 'ent":"x"}']
  const result = readMessages(
    stream(
      start(),
      openTool(0, 't1', 'f'),
      ...pieces.map((piece) => input(0, piece)),
      close(0),
      finish('tool_use'),
      STOP,
    ),
  )
  expect(result.report.choices[0]!.toolCalls).toMatchObject([
    { argumentsText: '{"file_path":"a.py","content":"x"}', parsedArguments: { file_path: 'a.py', content: 'x' } },
  ])
  expect(result.report.diagnostics).toEqual([])
})

describe('F164 — stop reasons that are no normal end', () => {
  test.each([
    { raw: 'refusal', outcome: 'refused', reason: 'content-filter', call: 'f({}) held: output_refused' },
    { raw: 'max_tokens', outcome: 'truncated', reason: 'length', call: 'f({}) held: output_truncated' },
    {
      raw: 'model_context_window_exceeded',
      outcome: 'truncated',
      reason: 'length',
      call: 'f({}) held: output_truncated',
    },
    { raw: 'pause_turn', outcome: 'completed', reason: 'pause', call: 'f({}) ready' },
    { raw: 'new_reason', outcome: 'degraded', reason: 'unknown', call: 'f({}) held: finish_unknown' },
  ])('$raw', ({ raw, outcome, reason, call }) => {
    const result = readMessages(stream(start(), ...said(0, 'a'), ...called(1, 't1', 'f', '{}'), finish(raw), STOP))
    expect(result.report).toMatchObject({ outcome, choices: [{ finish: { reason, raw } }] })
    expect(callsOf(result)).toEqual([call])
  })

  test('max_tokens inside a call', () => {
    const body = stream(start(), openTool(0, 't1', 'f'), input(0, '{"a":"b'), close(0), finish('max_tokens'), STOP)
    expect(callsOf(readMessages(body))).toEqual(['f({"a":"b) failed: arguments_incomplete'])
    const unclosed = stream(start(), openTool(0, 't1', 'f'), input(0, '{"a":"b"}'), finish('max_tokens'), STOP)
    expect(callsOf(readMessages(unclosed))).toEqual(['f({"a":"b"}) held: output_truncated'])
  })
})

describe('F165 — counters are replaced, never added', () => {
  test('the start and one delta', () => {
    expect(countersAfter()).toEqual({
      inputTokens: 25,
      outputTokens: 15,
      raw: { ...USAGE_AT_START, output_tokens: 15 },
    })
  })

  test('several deltas, with counters that are null', () => {
    expect(
      countersAfter({ output_tokens: 7, input_tokens: null }, { output_tokens: 9, cache_read_input_tokens: 4 }),
    ).toEqual({
      inputTokens: 25,
      outputTokens: 15,
      cachedInputTokens: 4,
      raw: { input_tokens: 25, output_tokens: 15, cache_read_input_tokens: 4 },
    })
  })
})

describe('F166 — input that is not validated while it streams', () => {
  test('what does not parse is kept as it was sent', () => {
    const json = '{"who": Bob, "when":"2d"}'
    const result = readMessages(stream(start(), ...called(0, 't1', 'f', json), finish('tool_use'), STOP))
    expect(callsOf(result)).toEqual([`f(${json}) failed: arguments_invalid`])
    expect(result.report.choices[0]!.toolCalls[0]!.argumentsOffset).toBe(8)
  })

  test('what parses and is not what was meant is for the schema', () => {
    const json = String.raw`{"oldText":"a\",\"newText\":\"b"}`
    const result = readMessages(stream(start(), ...called(0, 't1', 'f', json), finish('tool_use'), STOP))
    expect(result.report.choices[0]!.toolCalls).toMatchObject([
      { state: 'complete', parsedArguments: { oldText: 'a","newText":"b' } },
    ])
  })
})

describe('F168 — [DONE] in a Messages stream', () => {
  test('behind message_stop it says nothing', () => {
    const result = readMessages(stream(start(), ...said(0, 'a'), finish('end_turn'), STOP, sse('[DONE]')))
    expect(result.report).toMatchObject({ outcome: 'completed', diagnostics: [] })
  })

  test('in place of message_stop it proves nothing', () => {
    const calls = called(0, 't1', 'f', '{}')
    expect(readMessages(stream(start(), ...calls, sse('[DONE]'))).report.outcome).toBe('incomplete')
    const finished = readMessages(stream(start(), ...calls, finish('tool_use'), sse('[DONE]')))
    expect(finished.report.outcome).toBe('degraded')
    expect(findingsOf(finished)).toEqual(['missing_sentinel', 'unknown_event'])
  })
})

describe('F169 — an error in the words of another API', () => {
  test.each([
    { name: 'no name, no type', body: sse({ error: { message: 'upstream died', code: 502 } }) },
    { name: 'a name, no type', body: `event: error\n${sse({ message: 'upstream died', code: 502 })}` },
    { name: 'a field of its own', body: 'error: {"message":"upstream died","code":502}\n\n' },
    { name: 'a bare error', body: sse({ detail: 'upstream died', status: 502 }) },
  ])('$name', ({ body }) => {
    const result = readMessages(stream(start(), openText(0), text(0, 'a'), body))
    expect(result.report).toMatchObject({
      outcome: 'failed',
      error: { code: 'upstream_error', status: 502, retryable: 'restart' },
    })
    expect(typesOf(result).at(-1)).toBe('stream_error')
  })
})

describe('F190 — a hop drops the event lines', () => {
  const events = [start(), PING, ...said(0, 'a'), ...called(1, 't1', 'f', '{}'), finish('tool_use'), STOP]

  test('the type in the data says the same', () => {
    const named = readMessages(stream(...events))
    const bare = readMessages(sse(...events))
    expect(typesOf(bare)).toEqual(typesOf(named))
    expect(callsOf(bare)).toEqual(['f({}) ready'])
    expect(bare.report.outcome).toBe('completed')
  })

  test('and a hop that drops the types leaves the names', () => {
    const body = events.map(({ type, ...rest }) => `event: ${String(type)}\ndata: ${JSON.stringify(rest)}\n\n`).join('')
    expect(callsOf(readMessages(body))).toEqual(['f({}) ready'])
  })

  test('with neither, content is a hole in the evidence', () => {
    const { type: _, ...untyped } = text(0, 'x')
    const body = stream(
      start(),
      openText(0),
      sse(untyped),
      close(0),
      ...called(1, 't1', 'f', '{}'),
      finish('tool_use'),
      STOP,
    )
    expect(callsOf(readMessages(body))).toEqual(['f({}) held: event_skipped'])
  })
})

describe('rows of other sections that reach Messages', () => {
  test('F042: empty input', () => {
    expect(callsOf(readMessages(stream(start(), ...called(0, 't1', 'f', ''), finish('tool_use'), STOP)))).toEqual([
      'f() ready',
    ])
  })

  test('F076: without an id one is made, and said so', () => {
    const result = readMessages(stream(start(), openTool(0, '', 'f'), close(0), finish('tool_use'), STOP))
    expect(result.report.choices[0]!.toolCalls[0]!.callId).toMatch(/^call_/)
    expect(findingsOf(result)).toEqual(['arguments_empty', 'missing_id'])
  })

  test('F078: one id for two different calls', () => {
    const body = stream(
      start(),
      ...called(0, 't1', 'f', '{"a":1}'),
      ...called(1, 't1', 'f', '{"a":2}'),
      finish('tool_use'),
      STOP,
    )
    const result = readMessages(body)
    expect(callsOf(result)).toEqual(['f({"a":1}) ready', 'f({"a":2}) ready'])
    expect(findingsOf(result)).toEqual(['id_repeated'])
  })

  test('F078: one call delivered twice is one call', () => {
    const body = stream(
      start(),
      ...called(0, 't1', 'f', '{"a":1}'),
      ...called(1, 't1', 'f', '{"a":1}'),
      finish('tool_use'),
      STOP,
    )
    expect(callsOf(readMessages(body))).toEqual(['f({"a":1}) ready', 'f({"a":1}) failed: duplicate_call'])
  })

  test('F065: one index for blocks that follow each other', () => {
    const body = stream(
      start(),
      ...said(0, 'a'),
      ...called(0, 't1', 'f', '{"a":1}'),
      ...called(0, 't2', 'g', '{"b":2}'),
      finish('tool_use'),
      STOP,
    )
    const result = readMessages(body)
    expect([textOf(result), ...callsOf(result)]).toEqual(['a', 'f({"a":1}) ready', 'g({"b":2}) ready'])
    expect(findingsOf(result)).toEqual(['index_reused'])
  })

  test('F065: one index for calls that are open at once: nobody knows whose the input is', () => {
    const body = stream(
      start(),
      openTool(0, 't1', 'f'),
      openTool(0, 't2', 'g'),
      input(0, '{"a":1}'),
      close(0),
      finish('tool_use'),
      STOP,
    )
    const result = readMessages(body)
    expect(result.report).toMatchObject({ outcome: 'failed', error: { code: 'protocol_conflict' } })
    expect(callsOf(result)).toEqual(['f() failed: protocol_conflict', 'g() failed: protocol_conflict'])
  })

  test('F083: what the provider runs itself is never offered, whatever it is called', () => {
    const body = stream(
      start(),
      open(0, { type: 'server_tool_use', id: 's1', name: 'web_search', input: {} }),
      input(0, '{"query":"x"}'),
      close(0),
      open(1, { type: 'web_search_tool_result', tool_use_id: 's1', content: [] }),
      close(1),
      open(2, { type: 'mcp_tool_use', id: 'm1', name: 'f', server_name: 'docs', input: {} }),
      close(2),
      ...called(3, 't1', 'f', '{}'),
      finish('tool_use'),
      STOP,
    )
    const result = readMessages(body, { request: { tools: ['f'] } })
    expect(callsOf(result)).toEqual([
      'web_search({"query":"x"}) held: provider_executed',
      'f() held: provider_executed',
      'f({}) ready',
    ])
    expect(result.snapshot.choices[0]!.blocks).toMatchObject([
      { type: 'tool-call', providerExecuted: true, metadata: { type: 'server_tool_use' } },
      { type: 'opaque', metadata: { type: 'web_search_tool_result', tool_use_id: 's1', content: [] } },
      { type: 'tool-call', providerExecuted: true, metadata: { type: 'mcp_tool_use', server_name: 'docs' } },
      { type: 'tool-call', name: 'f' },
    ])
  })

  test('F091: end_turn with a whole call is read as a tool turn, but not for calls of the provider', () => {
    const own = readMessages(stream(start(), ...called(0, 't1', 'f', '{}'), finish('end_turn'), STOP))
    expect(own.report.choices[0]!.finish).toEqual({ reason: 'tool-calls', raw: 'end_turn' })
    const server = stream(
      start(),
      open(0, { type: 'server_tool_use', id: 's', name: 'w', input: { q: 1 } }),
      close(0),
      finish('end_turn'),
      STOP,
    )
    expect(readMessages(server).report.choices[0]!.finish).toEqual({ reason: 'stop', raw: 'end_turn' })
  })

  test('F105: nothing but a stop reason', () => {
    expect(readMessages(stream(start(), finish('end_turn', 0), STOP)).report.outcome).toBe('empty')
    expect(readMessages(stream(start(), openText(0), close(0), finish('end_turn'), STOP)).report.outcome).toBe('empty')
  })

  test('F129: frames of a first server that said nothing', () => {
    const body = stream(start(), PING, openText(0), start({ id: 'msg_2' }), ...said(0, 'a'), finish('end_turn'), STOP)
    const result = readMessages(body)
    expect(result.report.outcome).toBe('completed')
    expect(typesOf(result).filter((type) => type === 'stream_started')).toHaveLength(1)
    expect(findingsOf(result)).toEqual(['response_id_changed'])
  })

  test('F124: two messages in one stream are no answer', () => {
    const body = stream(start(), ...said(0, 'a'), start({ id: 'msg_2' }), ...said(0, 'b'), finish('end_turn'), STOP)
    const result = readMessages(body)
    expect(result.report).toMatchObject({ outcome: 'failed', error: { code: 'stream_splice' } })
    expect(textOf(result)).toBe('a')
  })

  test('F179: the signature of thinking is kept beside it, and what was redacted too', () => {
    const body = stream(
      start(),
      open(0, { type: 'thinking', thinking: '', signature: '' }),
      thinking(0, 'hm'),
      delta(0, { type: 'signature_delta', signature: 'c2ln' }),
      close(0),
      open(1, { type: 'redacted_thinking', data: 'eA==' }),
      close(1),
      ...said(2, 'a'),
      finish('end_turn'),
      STOP,
    )
    const result = readMessages(body)
    expect(result.snapshot.choices[0]!.blocks).toEqual([
      { type: 'reasoning', index: 0, text: 'hm', status: 'done', metadata: { type: 'thinking', signature: 'c2ln' } },
      { type: 'reasoning', index: 1, text: '', status: 'done', metadata: { type: 'redacted_thinking', data: 'eA==' } },
      { type: 'text', index: 2, text: 'a', status: 'done' },
    ])
  })

  test('F184: one whole message', () => {
    const message = {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'm',
      content: [
        { type: 'text', text: 'a' },
        { type: 'tool_use', id: 't1', name: 'f', input: { a: 1 } },
      ],
      stop_reason: 'tool_use',
      usage: { input_tokens: 3, output_tokens: 4 },
    }
    const result = readMessages(JSON.stringify(message))
    expect(result.report).toMatchObject({ outcome: 'completed', usage: { inputTokens: 3, outputTokens: 4 } })
    expect([textOf(result), ...callsOf(result)]).toEqual(['a', 'f({"a":1}) ready'])
    expect(findingsOf(result)).toEqual(['arguments_as_object', 'downgraded_to_json'])
  })

  test('F203: half a character at the end of a delta waits for its other half', () => {
    const [high, low] = ['\ud83d', '\ude00']
    const body = stream(
      start(),
      openText(0),
      text(0, `a${high}`),
      text(0, `${low}b`),
      close(0),
      openTool(1, 't1', 'f'),
      input(1, `{"a":"${high}`),
      input(1, `${low}"}`),
      close(1),
      finish('tool_use'),
      STOP,
    )
    const result = readMessages(body)
    expect([textOf(result), ...callsOf(result)]).toEqual(['a😀b', 'f({"a":"😀"}) ready'])
  })
})
