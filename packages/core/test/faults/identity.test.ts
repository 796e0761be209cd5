import { describe, expect, test } from 'vitest'
import type { StreamChunk } from '../../src/chunk/chunk.ts'
import type { StreamEvent } from '../../src/chunk/stream-event.ts'
import { ToolCallMachine } from '../../src/tool-call/machine.ts'
import { callsOf, findingsOf, run, textOf, typesOf } from './run.ts'
import type { Run } from './run.ts'
import { DONE, chunk, finish, frag, fragment, part, sse, text, tools } from './wire.ts'

const end = [finish('tool_calls'), DONE]

const idsOf = ({ report }: Run, choice = 0): readonly string[] =>
  report.choices[choice]!.toolCalls.map(({ callId }) => callId)

describe('F064 — no index on any fragment', () => {
  test.each([
    { name: 'absent', index: undefined },
    { name: 'null', index: null },
  ])('two whole calls, index $name', ({ index }) => {
    const result = run(
      sse(frag(index, 'call_a1', 'lookup', '{"q":1}'), frag(index, 'call_b2', 'lookup', '{"q":2}'), ...end),
    )
    expect(callsOf(result)).toEqual(['lookup({"q":1}) ready', 'lookup({"q":2}) ready'])
    expect(idsOf(result)).toEqual(['call_a1', 'call_b2'])
    expect(result.report).toMatchObject({ outcome: 'completed', diagnostics: [{ code: 'missing_index', count: 2 }] })
  })

  test('a fragment with neither id nor index continues the only open call', () => {
    const result = run(
      sse(frag(undefined, 'call_a1', 'lookup', '{"q"'), frag(undefined, undefined, undefined, ':1}'), ...end),
    )
    expect(callsOf(result)).toEqual(['lookup({"q":1}) ready'])
    expect(result.report.outcome).toBe('completed')
  })

  test('with two calls open it is nobody knows whose: neither runs', () => {
    const result = run(
      sse(
        text('Hel'),
        frag(undefined, 'call_a1', 'lookup', '{"q"'),
        frag(undefined, 'call_b2', 'lookup', '{"q"'),
        frag(undefined, undefined, undefined, ':1}'),
        text('lo'),
        ...end,
      ),
    )
    expect(callsOf(result)).toEqual([
      'lookup({"q") failed: protocol_conflict',
      'lookup({"q") failed: protocol_conflict',
    ])
    expect(result.report).toMatchObject({
      outcome: 'failed',
      error: { code: 'protocol_conflict', phase: 'call', retryable: 'restart' },
    })
    expect(textOf(result)).toBe('Hello')
  })

  test('told apart by id, fragments may be interleaved', () => {
    const result = run(
      sse(
        frag(undefined, 'a', 'f', '{"q"'),
        frag(undefined, 'b', 'g', '{"r"'),
        frag(undefined, 'a', undefined, ':1}'),
        frag(undefined, 'b', undefined, ':2}'),
        ...end,
      ),
    )
    expect(callsOf(result)).toEqual(['f({"q":1}) ready', 'g({"r":2}) ready'])
  })
})

test('F065 — index 0 for every parallel call', () => {
  const result = run(
    sse(
      frag(0, 'c1', 'add', '{"t":"x"}'),
      frag(0, 'c2', 'add', '{"t":"y"}'),
      frag(0, 'c3', 'add', '{"t":"z"}'),
      ...end,
    ),
  )
  expect(callsOf(result)).toEqual(['add({"t":"x"}) ready', 'add({"t":"y"}) ready', 'add({"t":"z"}) ready'])
  expect(idsOf(result)).toEqual(['c1', 'c2', 'c3'])
  expect(typesOf(result).filter((type) => type === 'tool_call_started')).toHaveLength(3)
  expect(result.report).toMatchObject({ outcome: 'completed', diagnostics: [{ code: 'index_reused', count: 2 }] })
})

describe('F067 — interleaved fragments, matched by index alone', () => {
  test.each([
    { name: '0 first', order: [0, 1] },
    { name: '1 first', order: [1, 0] },
  ])('$name: calls come in order of first appearance', ({ order: [a, b] }) => {
    const result = run(
      sse(
        frag(a, 'ca', 'f', ''),
        frag(b, 'cb', 'g', ''),
        frag(a, undefined, undefined, '{"a":'),
        frag(b, undefined, undefined, '{"b":'),
        frag(a, undefined, undefined, '1}'),
        frag(b, undefined, undefined, '2}'),
        ...end,
      ),
    )
    expect(callsOf(result)).toEqual(['f({"a":1}) ready', 'g({"b":2}) ready'])
    expect(result.report).toMatchObject({ outcome: 'completed', diagnostics: [] })
  })
})

describe('F068 — continuations carry an id that says nothing', () => {
  test.each(['', ' ', 'null', null])('%j', (id) => {
    const result = run(
      sse(frag(0, 'call_k', 'f', ''), frag(0, id, undefined, '{"x"'), frag(0, id, undefined, ':1}'), ...end),
    )
    expect(callsOf(result)).toEqual(['f({"x":1}) ready'])
    expect(idsOf(result)).toEqual(['call_k'])
    expect(typesOf(result).filter((type) => type === 'tool_call_started')).toHaveLength(1)
    expect(result.report).toMatchObject({ outcome: 'completed', diagnostics: [] })
  })
})

test('F069 — id, type and name on every fragment', () => {
  const result = run(sse(...['{"pa', 'th":', '"a.md"', '}'].map((piece) => frag(0, 't-5f', 'read_doc', piece)), ...end))
  expect(callsOf(result)).toEqual(['read_doc({"path":"a.md"}) ready'])
  expect(idsOf(result)).toEqual(['t-5f'])
  expect(result.report).toMatchObject({ outcome: 'completed', diagnostics: [] })
})

test('F071 — the name comes after the first arguments', () => {
  const result = run(
    sse(
      frag(0, 'c1', undefined, '{"cmd":'),
      frag(0, undefined, 'bash', undefined),
      frag(0, undefined, undefined, '"ls"}'),
      ...end,
    ),
  )
  expect(callsOf(result)).toEqual(['bash({"cmd":"ls"}) ready'])
  expect(typesOf(result)).toEqual([
    'stream_started',
    'tool_call_started',
    'tool_call_arguments_delta',
    'tool_call_ready',
    'tool_batch_ready',
    'stream_completed',
  ])
  expect(findingsOf(result)).toEqual(['name_late'])
  expect(result.report.outcome).toBe('completed')
})

describe('F072 — null instead of absent', () => {
  const empty = { index: 0, id: null, type: null, function: { name: null, arguments: '{"a"' } }

  test('after a good first fragment', () => {
    const result = run(
      sse(
        frag(0, 'c1', 'f', ''),
        tools(empty),
        chunk({ role: null, content: null, tool_calls: [{ ...empty, function: { name: null, arguments: ':1}' } }] }),
        ...end,
      ),
    )
    expect(callsOf(result)).toEqual(['f({"a":1}) ready'])
    expect(result.report).toMatchObject({ outcome: 'completed', diagnostics: [] })
  })

  test('in the first fragment', () => {
    const result = run(sse(tools(empty), frag(0, 'c1', 'f', ':1}'), ...end))
    expect(callsOf(result)).toEqual(['f({"a":1}) ready'])
    expect(result.report.outcome).toBe('completed')
  })
})

test('F073 — an empty name first, the real one later', () => {
  const result = run(sse(frag(0, 'c1', '', ''), frag(0, undefined, 'search', '{}'), ...end))
  expect(callsOf(result)).toEqual(['search({}) ready'])
  expect(result.events.filter(({ type }) => type === 'tool_call_started')).toEqual([
    { type: 'tool_call_started', choice: 0, callId: 'c1', name: 'search' },
  ])
})

describe('F076 — no id ever comes', () => {
  const body = sse(frag(0, undefined, 'now', '{}'), ...end)

  test('one is made, the same from start to end, and the call is released once', () => {
    const result = run(body)
    expect(callsOf(result)).toEqual(['now({}) ready'])
    const ids = result.events.flatMap((event) => ('callId' in event ? [event.callId] : []))
    expect(new Set(ids).size).toBe(1)
    expect(ids[0]).toMatch(/^call_[0-9a-z]+_0_0$/)
    expect(findingsOf(result)).toEqual(['missing_id'])
    expect(result.report.choices[0]!.toolCalls[0]).not.toHaveProperty('providerCallId')
  })

  test('a replay makes the same one; another run, attempt or response makes another', () => {
    const other = body.replaceAll('chatcmpl-1', 'chatcmpl-2')
    const ids = [run(body), run(body, { idSeed: 'run-2' }), run(body, { attempt: 2 }), run(other)].map(
      (result) => idsOf(result)[0],
    )
    expect(new Set(ids).size).toBe(4)
    expect(idsOf(run(body))[0]).toBe(ids[0])
  })
})

describe('F078 — ids that repeat', () => {
  test('from turn to turn: each turn releases its own call', () => {
    const turns = ['{"cmd":"ls"}', '{"cmd":"rm"}'].map((args, i) =>
      run(sse(frag(0, 'bash:0', 'bash', args), ...end), { idSeed: `turn-${i}` }),
    )
    expect(turns.map((result) => callsOf(result))).toEqual([['bash({"cmd":"ls"}) ready'], ['bash({"cmd":"rm"}) ready']])
  })

  test('within one response, with other arguments: two calls, the second under a local id', () => {
    const result = run(
      sse(frag(0, 'bash:0', 'bash', '{"cmd":"ls"}'), frag(1, 'bash:0', 'bash', '{"cmd":"pwd"}'), ...end),
    )
    expect(callsOf(result)).toEqual(['bash({"cmd":"ls"}) ready', 'bash({"cmd":"pwd"}) ready'])
    expect(idsOf(result)[0]).toBe('bash:0')
    expect(idsOf(result)[1]).not.toBe('bash:0')
    expect(result.report.choices[0]!.toolCalls[1]!.providerCallId).toBe('bash:0')
    expect(findingsOf(result)).toEqual(['id_repeated'])
  })
})

describe('F080 — indexes that start at 1 or leave gaps', () => {
  test('text, then index 1 only', () => {
    const result = run(
      sse(text('Let me see.'), frag(1, 'c1', 'f', '{"a"'), frag(1, undefined, undefined, ':1}'), ...end),
    )
    expect(callsOf(result)).toEqual(['f({"a":1}) ready'])
    expect(result.snapshot.choices[0]!.blocks.map(({ index }) => index)).toEqual([0, 1])
    expect(result.report).toMatchObject({ outcome: 'completed', diagnostics: [] })
  })

  test.each([
    { name: '4 and 1', a: 4, b: 1 },
    { name: '-1 and 0', a: -1, b: 0 },
    { name: 'numeric text', a: '1', b: '0' },
    { name: 'text and number', a: 'x', b: 7 },
  ])('$name, interleaved', ({ a, b }) => {
    const result = run(
      sse(
        frag(a, 'ca', 'f', '{"a"'),
        frag(b, 'cb', 'g', '{"b"'),
        frag(a, undefined, undefined, ':1}'),
        frag(b, undefined, undefined, ':2}'),
        ...end,
      ),
    )
    expect(callsOf(result)).toEqual(['f({"a":1}) ready', 'g({"b":2}) ready'])
    expect(result.report).toMatchObject({ outcome: 'completed', diagnostics: [] })
  })
})

describe('F081 — two choices both use tool index 0', () => {
  const interleaved = [
    part(0, { tool_calls: [fragment(0, 'c0', 'f', '{"a"')] }),
    part(1, { tool_calls: [fragment(0, 'c1', 'g', '{"b"')] }),
    part(0, { tool_calls: [fragment(0, undefined, undefined, ':1}')] }),
    part(1, { tool_calls: [fragment(0, undefined, undefined, ':2}')] }),
    part(0, {}, 'tool_calls'),
  ]

  test('each choice has its own calls, finish and batch', () => {
    const result = run(sse(...interleaved, part(1, {}, 'tool_calls'), DONE), { request: { n: 2 } })
    expect(callsOf(result, 0)).toEqual(['f({"a":1}) ready'])
    expect(callsOf(result, 1)).toEqual(['g({"b":2}) ready'])
    expect(result.events.filter(({ type }) => type === 'tool_batch_ready')).toHaveLength(2)
    expect(result.report).toMatchObject({ outcome: 'completed', diagnostics: [] })
  })

  test('the end needs the finish reason of both', () => {
    const result = run(sse(...interleaved), { request: { n: 2 } })
    expect(result.report.outcome).toBe('incomplete')
    expect(callsOf(result, 0)).toEqual(['f({"a":1}) held: incomplete_stream'])
    expect(callsOf(result, 1)).toEqual(['g({"b":2}) failed: incomplete_stream'])
  })

  test('one may be released while the other is held', () => {
    const result = run(sse(...interleaved, part(1, {}, 'later'), DONE), { request: { n: 2 } })
    expect(callsOf(result, 0)).toEqual(['f({"a":1}) ready'])
    expect(callsOf(result, 1)).toEqual(['g({"b":2}) held: finish_unknown'])
    expect(result.report.outcome).toBe('degraded')
    expect(result.report.choices.map(({ phase }) => phase)).toEqual(['released', 'held'])
  })

  test('fewer choices than asked for is a finding', () => {
    const result = run(sse(text('a'), finish('stop'), DONE), { request: { n: 2 } })
    expect(findingsOf(result)).toEqual(['missing_choice'])
  })
})

describe('F082 — finish reason tool_calls without any call', () => {
  test.each([null, []])('tool_calls %j and nothing else: empty', (list) => {
    const result = run(sse(chunk({ reasoning: 'plan' }), chunk({ tool_calls: list }, 'tool_calls'), DONE))
    expect(result.report.outcome).toBe('empty')
    expect(findingsOf(result)).toEqual(['finish_without_calls'])
    expect(typesOf(result)).not.toContain('tool_batch_ready')
  })

  test('with text: usable, and a finding', () => {
    const result = run(sse(text('Hello'), finish('tool_calls'), DONE))
    expect(result.report.outcome).toBe('degraded')
    expect(findingsOf(result)).toEqual(['finish_without_calls'])
    expect(typesOf(result)).not.toContain('tool_batch_ready')
  })
})

/** What the machine makes of these chunks when their batch is released. */
function settle(chunks: readonly StreamChunk[]): {
  readonly machine: ToolCallMachine
  readonly events: readonly StreamEvent[]
} {
  const machine = new ToolCallMachine({ tools: ['web_search'] })
  const events: StreamEvent[] = []
  for (const each of chunks) machine.push(each, events)
  machine.settle(0, { kind: 'release', batch: 'all', holdEmptyArguments: false }, events)
  return { machine, events }
}

describe('F083 — a call that the provider runs itself', () => {
  const own: StreamChunk = {
    type: 'tool-call-delta',
    index: 0,
    id: 'srv_1',
    name: 'web_search',
    argumentsDelta: '{"q":1}',
    providerExecuted: true,
  }
  const ours: StreamChunk = {
    type: 'tool-call-delta',
    index: 1,
    id: 'c1',
    name: 'web_search',
    argumentsDelta: '{"q":2}',
  }

  test('is shown and never offered, even under the name of a local tool', () => {
    const { machine, events } = settle([own, ours])
    expect(machine.calls(0).map(({ callId, code, providerExecuted }) => ({ callId, code, providerExecuted }))).toEqual([
      { callId: 'srv_1', code: 'provider_executed', providerExecuted: true },
      { callId: 'c1', code: null, providerExecuted: false },
    ])
    const batch = events.find((event) => event.type === 'tool_batch_ready')
    expect(batch).toMatchObject({ calls: [{ callId: 'c1' }] })
  })

  test('alone it makes no batch', () => {
    expect(settle([own]).events.map(({ type }) => type)).toEqual([
      'tool_call_started',
      'tool_call_arguments_delta',
      'tool_call_held',
    ])
  })
})

test('F085 — only the first call has an id', () => {
  const result = run(sse(frag(0, 'call_1', 'f', '{"a":1}'), frag(1, null, 'g', '{}'), ...end))
  expect(callsOf(result)).toEqual(['f({"a":1}) ready', 'g({}) ready'])
  expect(idsOf(result)[0]).toBe('call_1')
  expect(idsOf(result)[1]).toMatch(/^call_[0-9a-z]+_0_1$/)
  expect(findingsOf(result)).toEqual(['missing_id'])
})

test('F086 — the plain shape: id and name first, then index and arguments', () => {
  const result = run(
    sse(
      frag(0, 'c1', 'f', ''),
      ...['{"', 'a":', '1', '}'].map((piece) => frag(0, undefined, undefined, piece)),
      ...end,
    ),
  )
  expect(callsOf(result)).toEqual(['f({"a":1}) ready'])
  expect(result.report).toMatchObject({ outcome: 'completed', diagnostics: [] })
})

describe('F087 — two whole calls in one delta', () => {
  test.each([
    { name: 'by index', a: 0, b: 1 },
    { name: 'without index', a: undefined, b: undefined },
    { name: 'under one index', a: 0, b: 0 },
  ])('$name, with the finish reason in the same chunk', ({ a, b }) => {
    const result = run(
      sse(
        chunk({ tool_calls: [fragment(a, 'c1', 'f', '{"a":1}'), fragment(b, 'c2', 'f', '{"a":2}')] }, 'tool_calls'),
        DONE,
      ),
    )
    expect(callsOf(result)).toEqual(['f({"a":1}) ready', 'f({"a":2}) ready'])
    expect(result.report.outcome).toBe('completed')
  })

  test('without index and without id the array itself tells them apart', () => {
    const result = run(
      sse(
        chunk(
          {
            tool_calls: [
              fragment(undefined, undefined, 'f', '{"a":1}'),
              fragment(undefined, undefined, 'f', '{"a":2}'),
            ],
          },
          'tool_calls',
        ),
        DONE,
      ),
    )
    expect(callsOf(result)).toEqual(['f({"a":1}) ready', 'f({"a":2}) ready'])
  })
})

describe('F090 — legacy function_call', () => {
  test('one call with a minted id', () => {
    const result = run(
      sse(
        chunk({ function_call: { name: 'f', arguments: '' } }),
        chunk({ function_call: { arguments: '{"a"' } }),
        chunk({ function_call: { arguments: ':1}' } }),
        finish('function_call'),
        DONE,
      ),
    )
    expect(callsOf(result)).toEqual(['f({"a":1}) ready'])
    expect(result.report).toMatchObject({
      outcome: 'completed',
      choices: [{ finish: { reason: 'tool-calls', raw: 'function_call' } }],
    })
    expect(findingsOf(result)).toEqual(['legacy_function_call', 'missing_id'])
  })

  test('beside tool_calls the two are two calls', () => {
    const both = chunk({
      tool_calls: [fragment(0, 'c1', 'g', '{}')],
      function_call: { name: 'f', arguments: '{"a":1}' },
    })
    const result = run(sse(both, finish('tool_calls'), DONE))
    expect(callsOf(result)).toEqual(['g({}) ready', 'f({"a":1}) ready'])
  })
})
