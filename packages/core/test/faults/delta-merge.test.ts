import { afterEach, describe, expect, test, vi } from 'vitest'
import type { ArgumentRepair } from '../../src/chunk/argument-repair.ts'
import { callsOf, findingsOf, readPieces, reasoningOf, run, textOf, typesOf } from './run.ts'
import type { Run, RunOptions } from './run.ts'
import { DONE, bytesOf, chunk, finish, frag, fragment, sse, text, tools } from './wire.ts'

afterEach(() => {
  vi.restoreAllMocks()
})

/** One call of `f` whose arguments come in these pieces. */
function call(pieces: readonly unknown[], options: RunOptions = {}): Run {
  const fragments = pieces.map((piece, i) =>
    i === 0 ? frag(0, 'c1', 'f', piece) : frag(0, undefined, undefined, piece),
  )
  return run(sse(...fragments, finish('tool_calls'), DONE), options)
}

function repaired(repair: ArgumentRepair, pieces: readonly unknown[], options: RunOptions = {}): Run {
  return call(pieces, { profile: { repairs: [repair] }, ...options })
}

/** The arguments of the one call that was released. */
function releasedArguments({ events }: Run): unknown {
  const batches = events.flatMap((event) => (event.type === 'tool_batch_ready' ? [event] : []))
  expect(batches).toHaveLength(1)
  expect(batches[0]!.calls).toHaveLength(1)
  return batches[0]!.calls[0]!.parsedArguments
}

/** A released call that was repaired: its raw text is what came, and event, report, outcome and findings all say so. */
function repairShown(result: Run): unknown {
  const [shown] = result.report.choices[0]!.toolCalls
  return {
    value: releasedArguments(result),
    calls: callsOf(result),
    repairs: shown!.repairs,
    inEvent: result.events.flatMap((event) => (event.type === 'tool_call_ready' ? [event.repairs] : [])),
    outcome: result.report.outcome,
    found: findingsOf(result).includes('arguments_repaired'),
  }
}

function repairedTo(value: unknown, repair: ArgumentRepair, raw: string): unknown {
  return { value, calls: [`f(${raw}) ready`], repairs: [repair], inEvent: [[repair]], outcome: 'degraded', found: true }
}

describe('F038 — arguments are a JSON value, not text', () => {
  test('an object is serialised once', () => {
    const result = call([{ command: 'echo ok' }])
    expect(releasedArguments(result)).toEqual({ command: 'echo ok' })
    expect(callsOf(result)).toEqual(['f({"command":"echo ok"}) ready'])
    expect(result.report.outcome).toBe('completed')
    expect(findingsOf(result)).toEqual(['arguments_as_object'])
  })

  test.each([
    { name: 'an array', value: [1], shown: '[1]' },
    { name: 'a number', value: 7, shown: '7' },
    { name: 'false', value: false, shown: 'false' },
  ])('$name is serialised, and is no arguments object', ({ value, shown }) => {
    expect(callsOf(call([value]))).toEqual([`f(${shown}) failed: arguments_invalid`])
  })
})

describe('F039 — every fragment repeats all arguments so far', () => {
  const pieces = ['{"q":', '{"q":"a', '{"q":"ab"}']

  test('not guessed at: the concatenation does not parse, and the call fails', () => {
    const result = call(pieces)
    expect(callsOf(result)).toEqual([`f(${pieces.join('')}) failed: arguments_invalid`])
    expect(result.report.outcome).toBe('completed')
  })

  test('repaired where the profile asks for it', () => {
    expect(repairShown(repaired('cumulative', pieces))).toEqual(repairedTo({ q: 'ab' }, 'cumulative', pieces.join('')))
  })

  test('a policy may refuse what was repaired', () => {
    expect(repaired('cumulative', pieces, { policy: 'strict' }).report).toMatchObject({
      outcome: 'failed',
      error: { code: 'arguments_invalid' },
    })
  })
})

describe('F041 — the whole arguments are sent again at the end', () => {
  const document = '{"cmd":"ls"}'

  test.each([
    { name: 'whole and whole', pieces: ['', document, document] },
    { name: 'fragments, then whole', pieces: ['{"cmd"', ':"ls"}', document] },
    { name: 'three times', pieces: [document, document, document] },
  ])('$name', ({ pieces }) => {
    expect(callsOf(call(pieces))).toEqual([`f(${pieces.join('')}) failed: arguments_invalid`])
    expect(repairShown(repaired('repeated', pieces))).toEqual(repairedTo({ cmd: 'ls' }, 'repeated', pieces.join('')))
  })

  test('two different documents are not one', () => {
    expect(callsOf(repaired('repeated', [document, '{"cmd":"rm"}']))).toEqual([
      `f(${document}{"cmd":"rm"}) failed: arguments_invalid`,
    ])
  })

  test('sent again with id and name it is one call delivered twice', () => {
    const result = run(sse(frag(0, 'c1', 'f', document), frag(0, 'c1', 'f', document), finish('tool_calls'), DONE))
    expect(callsOf(result)).toEqual([`f(${document}) ready`, `f(${document}) failed: duplicate_call`])
    expect(releasedArguments(result)).toEqual({ cmd: 'ls' })
  })
})

describe('F042 — empty arguments of a tool without parameters', () => {
  test.each([
    { name: 'empty', piece: '', shown: '' },
    { name: 'white space', piece: ' \n\t', shown: ' \n\t' },
    { name: 'absent', piece: undefined, shown: '' },
  ])('$name is {} at the end of the call', ({ piece, shown }) => {
    const result = call([piece])
    expect(callsOf(result)).toEqual([`f(${shown}) ready`])
    expect(releasedArguments(result)).toEqual({})
    expect(result.report.outcome).toBe('completed')
    expect(findingsOf(result)).toEqual(['arguments_empty'])
  })

  test('but not before the end of the call: a cut one is not {}', () => {
    const result = run(sse(frag(0, 'c1', 'f', '')))
    expect(callsOf(result)).toEqual(['f() failed: incomplete_stream'])
    expect(result.report.choices[0]!.toolCalls[0]!.parsedArguments).toBe(null)
  })
})

test('F043 — arguments null beside the name', () => {
  const result = call([null, '{"a":', '1}'])
  expect(callsOf(result)).toEqual(['f({"a":1}) ready'])
  expect(result.report).toMatchObject({ outcome: 'completed', diagnostics: [] })
})

describe('F044 — arguments are a JSON string that holds the JSON', () => {
  const raw = JSON.stringify('{"n": 2}')

  test('a string is no object', () => {
    expect(callsOf(call([raw]))).toEqual([`f(${raw}) failed: arguments_invalid`])
  })

  test('unwrapped once where the profile asks for it', () => {
    expect(repairShown(repaired('double-encoded', [raw]))).toEqual(repairedTo({ n: 2 }, 'double-encoded', raw))
  })

  test('twice encoded is not unwrapped twice', () => {
    expect(callsOf(repaired('double-encoded', [JSON.stringify(raw)]))).toEqual([
      `f(${JSON.stringify(raw)}) failed: arguments_invalid`,
    ])
  })

  test('a string that holds no JSON stays one', () => {
    expect(callsOf(repaired('double-encoded', ['"{hello}"']))).toEqual(['f("{hello}") failed: arguments_invalid'])
  })

  test('a property that holds JSON as text is left to the schema', () => {
    const nested = JSON.stringify({ todos: '["a","b"]' })
    const result = repaired('double-encoded', [nested])
    expect(releasedArguments(result)).toEqual({ todos: '["a","b"]' })
    expect(result.report.outcome).toBe('completed')
  })
})

describe('F045 — arguments parse to something that is no object', () => {
  const bad = ['"just text"', '[1]', 'null', '7', 'true']

  test.each(bad)('%s', (args) => {
    const result = call([args])
    expect(callsOf(result)).toEqual([`f(${args}) failed: arguments_invalid`])
    expect(result.report.outcome).toBe('completed')
  })

  test('the other call of the turn is held, or runs where the policy is each', () => {
    const body = sse(frag(0, 'c1', 'f', '[1]'), frag(1, 'c2', 'g', '{"a":1}'), finish('tool_calls'), DONE)
    expect(callsOf(run(body))).toEqual(['f([1]) failed: arguments_invalid', 'g({"a":1}) held: batch_held'])
    expect(callsOf(run(body, { batch: 'each' }))).toEqual(['f([1]) failed: arguments_invalid', 'g({"a":1}) ready'])
  })
})

describe('F046 — malformed arguments are never replaced', () => {
  test.each([
    { name: 'no JSON at all', args: 'file_path=foo', code: 'arguments_invalid', offset: 1 },
    {
      name: 'a raw line break in a string',
      args: '{"path":"a.txt","content":"line\n',
      code: 'arguments_invalid',
      offset: 31,
    },
    { name: 'cut in a string', args: '{"path":"a.txt","content":"line', code: 'arguments_incomplete', offset: 31 },
  ])('$name', ({ args, code, offset }) => {
    const result = call([args])
    const [shown] = result.report.choices[0]!.toolCalls
    expect(shown).toMatchObject({
      argumentsText: args,
      parsedArguments: null,
      state: 'failed',
      code,
      callId: 'c1',
      argumentsOffset: offset,
    })
    expect(result.report.choices[0]!.phase).toBe('failed')
  })
})

function said(...pieces: readonly string[]): string {
  return sse(...pieces.map((piece) => text(piece)), finish('stop'), DONE)
}

describe('F047 — think tags in the text', () => {
  const profile = { thinkTags: true }

  test.each([
    {
      name: 'cut over deltas',
      pieces: ['<th', 'ink>plan</th', 'ink>Answer <', ' b'],
      reasoning: 'plan',
      answer: 'Answer < b',
    },
    {
      name: 'one character at a time',
      pieces: Array.from('<think>plan</think>Answer < b'),
      reasoning: 'plan',
      answer: 'Answer < b',
    },
    { name: 'in one delta', pieces: ['<think>plan</think>Answer < b'], reasoning: 'plan', answer: 'Answer < b' },
    {
      name: 'a closing tag without an opening one',
      pieces: ['</thi', 'nk>Answer'],
      reasoning: '',
      answer: '</think>Answer',
    },
    {
      name: 'a tag in a code fence of the answer',
      pieces: ['Use:\n```\n<th', 'ink>\n```'],
      reasoning: '',
      answer: 'Use:\n```\n<think>\n```',
    },
    {
      name: 'a tag after the thinking',
      pieces: ['<think>a</think>b<think>c</think>'],
      reasoning: 'a',
      answer: 'b<think>c</think>',
    },
    { name: 'never closed', pieces: ['<think>plan</thi'], reasoning: 'plan</thi', answer: '' },
    { name: 'half an opening tag and no more', pieces: ['<thi'], reasoning: '', answer: '<thi' },
  ])('$name', ({ pieces, reasoning, answer }) => {
    const result = run(said(...pieces), { profile })
    expect(reasoningOf(result)).toBe(reasoning)
    expect(textOf(result)).toBe(answer)
  })

  test('the body ends after half a tag: nothing is lost', () => {
    const result = run(sse(text('<thi')), { profile })
    expect(textOf(result)).toBe('<thi')
    expect(result.report.outcome).toBe('incomplete')
  })

  test('without the profile tags are text, and a finding', () => {
    const result = run(said('<think>plan</think>Answer'))
    expect(textOf(result)).toBe('<think>plan</think>Answer')
    expect(result.report.outcome).toBe('completed')
    expect(findingsOf(result)).toEqual(['think_tags'])
  })
})

describe('F048 — reasoning under several names', () => {
  test('equal twins in one delta are one text', () => {
    const details = [{ type: 'reasoning.text', text: 'ab', signature: 's' }]
    const both = chunk({ reasoning: 'ab', reasoning_content: 'ab', reasoning_details: details })
    const result = run(
      sse(both, chunk({ reasoning_content: 'cd' }), chunk({ reasoning: 'ef' }), text('Hi'), finish('stop'), DONE),
    )
    expect(reasoningOf(result)).toBe('abcdef')
    expect(findingsOf(result)).toEqual(['reasoning_duplicated'])
    expect(result.snapshot.choices[0]!.metadata).toMatchObject({ reasoning_details: details })
    expect(result.report.outcome).toBe('completed')
  })

  test('only in reasoning_details: shown, and kept to be echoed', () => {
    const details = [{ type: 'reasoning.text', text: 'ab' }]
    const result = run(sse(chunk({ reasoning_details: details }), text('Hi'), finish('stop'), DONE))
    expect(reasoningOf(result)).toBe('ab')
    expect(result.snapshot.choices[0]!.metadata).toMatchObject({ reasoning_details: details })
  })
})

test('F049 — the reasoning is flushed into the text beside the finish reason', () => {
  const result = run(
    sse(chunk({ reasoning: 'plan' }), frag(0, 'c1', 'f', '{}'), chunk({ content: 'plan' }, 'tool_calls'), DONE),
  )
  expect(textOf(result)).toBe('plan')
  expect(reasoningOf(result)).toBe('plan')
  expect(callsOf(result)).toEqual(['f({}) ready'])
  expect(result.report).toMatchObject({ outcome: 'completed', diagnostics: [] })
  expect(result.snapshot.choices[0]!.blocks.map(({ type }) => type)).toEqual(['reasoning', 'tool-call', 'text'])
})

describe('F050 — a closing bracket missing, or one too many', () => {
  const missing = '{"city":"Rome"'
  const extra = '{"city":"Rome"}}'

  test('missing: incomplete, not closed for it', () => {
    expect(callsOf(call([missing]))).toEqual([`f(${missing}) failed: arguments_incomplete`])
    expect(repairShown(repaired('missing-brackets', [missing]))).toEqual(
      repairedTo({ city: 'Rome' }, 'missing-brackets', missing),
    )
  })

  test.each(['{"city":"Ro', '{"city":"Rome","n":', '{"city":"Rome",', '{"city":"Ro\\'])(
    '%s is not closed even by the repair',
    (args) => {
      expect(callsOf(repaired('missing-brackets', [args]))).toEqual([`f(${args}) failed: arguments_incomplete`])
    },
  )

  test('one too many: invalid', () => {
    expect(callsOf(call([extra]))).toEqual([`f(${extra}) failed: arguments_invalid`])
    expect(repairShown(repaired('extra-brackets', [extra]))).toEqual(
      repairedTo({ city: 'Rome' }, 'extra-brackets', extra),
    )
  })

  test('anything but brackets behind the object is not cut off', () => {
    expect(callsOf(repaired('extra-brackets', [`${extra}x`]))).toEqual([`f(${extra}x) failed: arguments_invalid`])
  })

  test('the first of two calls is cut, the second is whole: neither runs', () => {
    const result = run(sse(frag(0, 'c1', 'f', missing), frag(1, 'c2', 'g', '{"a":1}'), finish('tool_calls'), DONE))
    expect(callsOf(result)).toEqual([`f(${missing}) failed: arguments_incomplete`, 'g({"a":1}) held: batch_held'])
    expect(result.report.choices[0]!.phase).toBe('held')
  })
})

describe('F051 — a burst of arguments is replaced by {} in the server', () => {
  const body = sse(
    frag(0, 'c1', 'f', undefined),
    frag(0, undefined, undefined, '{}'),
    finish('tool_calls'),
    chunk({}, null, { usage: { prompt_tokens: 5, completion_tokens: 100 } }),
    DONE,
  )

  test('{} is given as it came: whether it is enough is for the schema to say', () => {
    const result = run(body)
    expect(releasedArguments(result)).toEqual({})
    expect(callsOf(result)).toEqual(['f({}) ready'])
  })

  test('with every token of the limit spent it is suspect', () => {
    expect(callsOf(run(body, { request: { maxOutputTokens: 100 } }))).toEqual(['f({}) held: arguments_suspect'])
    expect(callsOf(run(body, { request: { maxOutputTokens: 101 } }))).toEqual(['f({}) ready'])
  })
})

test('F052 — the arguments are parsed once, not at every delta', () => {
  const letters = 4096
  const pieces = ['{"a":"', ...Array.from({ length: letters }, () => 'x'), '"}']
  const body = sse(
    ...pieces.map((piece, i) => frag(0, i === 0 ? 'c1' : undefined, i === 0 ? 'f' : undefined, piece)),
    finish('tool_calls'),
    DONE,
  )
  let parsed = 0
  const parse = JSON.parse
  vi.spyOn(JSON, 'parse').mockImplementation((value: string) => {
    parsed += value.length
    return parse(value) as unknown
  })
  const result = readPieces([bytesOf(body)])
  vi.restoreAllMocks()
  expect(callsOf(result)).toEqual([`f({"a":"${'x'.repeat(letters)}"}) ready`])
  // Every event once and the arguments once.
  expect(parsed).toBeLessThan(body.length + letters + 64)
})

test('F053 — text between the fragments of a call', () => {
  const result = run(
    sse(
      frag(0, 'c1', 'f', ''),
      text('\n'),
      frag(0, undefined, undefined, '{"a":1}'),
      text(' '),
      frag(1, 'c2', 'g', '{"b"'),
      text('\n'),
      frag(1, undefined, undefined, ':2}'),
      finish('tool_calls'),
      DONE,
    ),
  )
  expect(callsOf(result)).toEqual(['f({"a":1}) ready', 'g({"b":2}) ready'])
  expect(textOf(result)).toBe('\n \n')
  expect(result.report).toMatchObject({ outcome: 'completed', diagnostics: [] })
})

describe('F055 — a document, then prose or template tokens', () => {
  const trailing = ['{"q":"x"}\n\nI will now search', '{"q":"x"}<|call|>', '{"q":"x"}</tool_call>']

  test.each(trailing)('%j is invalid, and says where', (args) => {
    const result = call([args])
    expect(callsOf(result)).toEqual([`f(${args}) failed: arguments_invalid`])
    expect(result.report.choices[0]!.toolCalls[0]!.argumentsOffset).toBe(args.startsWith('{"q":"x"}\n') ? 11 : 9)
  })

  test.each(trailing)('%j is cut where the profile asks for it', (args) => {
    expect(repairShown(repaired('trailing-data', [args]))).toEqual(repairedTo({ q: 'x' }, 'trailing-data', args))
  })

  test('{} before another document is not taken', () => {
    expect(callsOf(repaired('trailing-data', ['{}{"a":1}']))).toEqual(['f({}{"a":1}) failed: arguments_invalid'])
  })

  test('a first value that is no object is not taken', () => {
    expect(callsOf(repaired('trailing-data', ['[1] and more']))).toEqual(['f([1] and more) failed: arguments_invalid'])
  })
})

describe('F056 — raw control characters in strings', () => {
  const args = '{"text":"a\nb\u001b[0m"}'

  test('in the arguments: invalid, or escaped without loss where the profile asks for it', () => {
    expect(callsOf(call([args]))).toEqual([`f(${args}) failed: arguments_invalid`])
    expect(repairShown(repaired('control-characters', [args]))).toEqual(
      repairedTo({ text: 'a\nb\u001b[0m' }, 'control-characters', args),
    )
  })

  test('in the JSON of the event: never skipped in silence', () => {
    const broken = sse(frag(0, undefined, undefined, '1')).replace('"1"', '"\u001b"')
    const result = run(
      sse(text('Hel'), frag(0, 'c1', 'f', '{"a":')) +
        broken +
        sse(text('lo'), frag(0, undefined, undefined, '}'), finish('tool_calls'), DONE),
    )
    expect(result.report.outcome).toBe('degraded')
    expect(textOf(result)).toBe('Hello')
    expect(callsOf(result)).toEqual(['f({"a":}) failed: invalid_event_json'])
    expect(findingsOf(result)).toEqual(['skipped_event'])
    expect(result.report.verdict.delta_ok).toMatchObject({ state: 'fail', code: 'invalid_event_json', event: 3 })
  })
})

describe('F057 — arguments that look whole are no end', () => {
  test('a document, then more: not two merges, not the first one', () => {
    expect(callsOf(call(['{"q":"test"}', '{"limit":10}']))).toEqual([
      'f({"q":"test"}{"limit":10}) failed: arguments_invalid',
    ])
  })

  test('a number goes on in the next fragment', () => {
    expect(releasedArguments(call(['{"n":1', '0}']))).toEqual({ n: 10 })
  })

  test('cut in a string: never closed and run', () => {
    const result = run(sse(frag(0, 'c1', 'f', '{"path":"/a","content":"half')))
    expect(callsOf(result)).toEqual(['f({"path":"/a","content":"half) failed: incomplete_stream'])
  })
})

test('F059 — empty first arguments start no call before its end', () => {
  const result = call(['', '{"a"', ':1}'])
  expect(typesOf(result)).toEqual([
    'stream_started',
    'tool_call_started',
    'tool_call_arguments_delta',
    'tool_call_ready',
    'tool_batch_ready',
    'stream_completed',
  ])
  const open = readPieces([bytesOf(sse(frag(0, 'c1', 'f', ''), frag(0, undefined, undefined, '{"a":1}')))])
  expect(typesOf(open)).not.toContain('tool_call_ready')
  expect(releasedArguments(result)).toEqual({ a: 1 })
})

describe('F060 — every delta holds the whole text so far', () => {
  const growing = ['Gre', 'Green', 'Green tea', 'Green tea is', 'Green tea is good', 'Green tea is good.']

  test('told by the profile: only what is new is given, for each kind of text on its own', () => {
    const body = sse(
      ...growing.map((part, i) => chunk({ content: part, reasoning_content: growing[Math.max(0, i - 1)] })),
      finish('stop'),
      DONE,
    )
    const result = run(body, { profile: { cumulativeText: true } })
    expect(textOf(result)).toBe('Green tea is good.')
    expect(reasoningOf(result)).toBe('Green tea is good')
    expect(result.report).toMatchObject({ outcome: 'completed', diagnostics: [] })
  })

  test('never guessed: at most a finding', () => {
    const result = run(sse(...growing.map((part) => text(part)), finish('stop'), DONE))
    expect(textOf(result)).toBe(growing.join(''))
    expect(result.report.outcome).toBe('completed')
    expect(findingsOf(result)).toEqual(['cumulative_text'])
  })

  test('honest repeats survive', () => {
    const result = run(sse(...['ha', 'ha', 'haha', '!', 'ha'].map((part) => text(part)), finish('stop'), DONE))
    expect(textOf(result)).toBe('hahahaha!ha')
    expect(findingsOf(result)).toEqual([])
  })

  test('with the profile an unchanged text is nothing new', () => {
    const result = run(
      sse(text('Green'), text('Green'), tools(fragment(0, 'c1', 'f', '{}')), text('Green tea', 'tool_calls'), DONE),
      { profile: { cumulativeText: true } },
    )
    expect(textOf(result)).toBe('Green tea')
    expect(callsOf(result)).toEqual(['f({}) ready'])
  })
})
