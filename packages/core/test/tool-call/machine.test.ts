import { describe, expect, test } from 'vitest'
import type { StreamChunk } from '../../src/chunk/chunk.ts'
import type { StreamEvent } from '../../src/chunk/stream-event.ts'
import { ToolCallMachine } from '../../src/tool-call/machine.ts'
import type { ToolCallMachineOptions } from '../../src/tool-call/machine.ts'
import { call, delta, outline, play, RELEASE, RELEASE_EACH } from './play.ts'

/** The end of call 0, with its arguments said once more. */
function restated(argumentsText: string): StreamChunk {
  const block = { type: 'tool-call', index: 0, callId: 'call_0', argumentsText, status: 'done' } as const
  return { type: 'block-end', index: 0, block }
}

/** A call whose arguments take this many bytes. */
function filled(bytes: number): StreamChunk {
  return call(0, 'f', `{"a":"${'x'.repeat(bytes - 8)}"}`)
}

/** A call whose arguments are nested this deep. */
function nested(depth: number): StreamChunk {
  return call(0, 'f', `{"a":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}}`)
}

describe('one call', () => {
  test('one that its response did not declare is unknown; the request, where known, has the last word', () => {
    const undeclared = [call(0, 'f', '{}', { undeclared: true })]
    const codeOf = (options: ToolCallMachineOptions): unknown => play(undeclared, RELEASE, options).calls[0]!.code
    expect(codeOf({})).toBe('unknown_tool')
    expect(codeOf({ tools: ['f'] })).toBeNull()
    expect(codeOf({ tools: ['g'] })).toBe('unknown_tool')
    expect(play([call(0, 'f', '{}', { undeclared: true, providerExecuted: true })]).calls[0]!.code).toBe(
      'provider_executed',
    )
  })

  test('is started, streamed, and ready with all it has', () => {
    const { events, calls, phase } = play([
      delta(0, { name: 'get_weather', providerCallId: 'call_abc', argumentsDelta: '{"ci', metadata: { a: 1 } }),
      delta(0, { argumentsDelta: 'ty":"Rom"}', metadata: { b: 2 } }),
      { type: 'block-end', index: 0 },
    ])
    const ready = {
      callId: 'call_0',
      providerCallId: 'call_abc',
      ordinal: 0,
      name: 'get_weather',
      argumentsText: '{"city":"Rom"}',
      parsedArguments: { city: 'Rom' },
      metadata: { a: 1, b: 2 },
    }
    expect(events).toEqual([
      { type: 'tool_call_started', choice: 0, callId: 'call_0', name: 'get_weather' },
      { type: 'tool_call_arguments_delta', choice: 0, callId: 'call_0', text: '{"ci' },
      { type: 'tool_call_arguments_delta', choice: 0, callId: 'call_0', text: 'ty":"Rom"}' },
      { type: 'tool_call_ready', choice: 0, ...ready },
      { type: 'tool_batch_ready', choice: 0, calls: [ready] },
    ])
    expect(phase).toBe('released')
    expect(calls).toEqual([
      {
        callId: 'call_0',
        providerCallId: 'call_abc',
        choice: 0,
        ordinal: 0,
        name: 'get_weather',
        argumentsText: '{"city":"Rom"}',
        parsedArguments: { city: 'Rom' },
        state: 'complete',
        code: null,
        providerExecuted: false,
      },
    ])
  })

  test('a late name replays the arguments that came before it', () => {
    const { events } = play([
      delta(0, { argumentsDelta: '{"a"' }),
      delta(0, { argumentsDelta: ':1' }),
      delta(0, { name: 'f' }),
      delta(0, { argumentsDelta: '}' }),
    ])
    expect(events.slice(0, 3)).toEqual([
      { type: 'tool_call_started', choice: 0, callId: 'call_0', name: 'f' },
      { type: 'tool_call_arguments_delta', choice: 0, callId: 'call_0', text: '{"a":1' },
      { type: 'tool_call_arguments_delta', choice: 0, callId: 'call_0', text: '}' },
    ])
    expect(outline(events).slice(3)).toEqual(['ready call_0', 'batch_ready call_0'])
  })

  test('the same name again is nothing new', () => {
    expect(outline(play([call(0, 'f', '{}'), delta(0, { name: 'f' })]).events)).toEqual([
      'started call_0',
      'arguments_delta call_0',
      'ready call_0',
      'batch_ready call_0',
    ])
  })

  test.each<{ name: string; chunks: StreamChunk[]; code: string; phase: string }>([
    { name: 'no name', chunks: [delta(0, { argumentsDelta: '{}' })], code: 'missing_name', phase: 'call' },
    { name: 'unknown tool', chunks: [call(0, 'g', '{}')], code: 'unknown_tool', phase: 'validate' },
    { name: 'names match exactly', chunks: [call(0, 'F', '{}')], code: 'unknown_tool', phase: 'validate' },
    { name: 'cut arguments', chunks: [call(0, 'f', '{"a":')], code: 'arguments_incomplete', phase: 'call' },
    { name: 'no JSON', chunks: [call(0, 'f', '{a:1}')], code: 'arguments_invalid', phase: 'call' },
    { name: 'an array', chunks: [call(0, 'f', '[1]')], code: 'arguments_invalid', phase: 'call' },
    {
      name: 'bytes that were not UTF-8',
      chunks: [call(0, 'f', '{"a":"\ufffd"}', { invalidUtf8: true })],
      code: 'invalid_utf8',
      phase: 'call',
    },
    {
      name: 'such bytes in an earlier piece',
      chunks: [call(0, 'f', '{"a":"\ufffd', { invalidUtf8: true }), delta(0, { argumentsDelta: '"}' })],
      code: 'invalid_utf8',
      phase: 'call',
    },
  ])('fails: $name', ({ chunks, code, phase }) => {
    const played = play(chunks, RELEASE, { tools: ['f'] })
    const [failed] = played.calls
    expect(failed).toMatchObject({ state: 'failed', code, parsedArguments: null })
    expect(failed!.message).not.toBe('')
    expect(played.events.at(-1)).toMatchObject({ type: 'tool_call_failed', callId: 'call_0', code, phase })
    expect(played.phase).toBe('failed')
    expect(played.machine.conflict).toBeUndefined()
  })

  test('a fault in the arguments says where it is, and keeps the text', () => {
    const { events, calls } = play([call(0, 'f', '{"a":1,}')])
    expect(events.at(-1)).toMatchObject({ code: 'arguments_invalid', argumentsOffset: 7 })
    expect(calls[0]).toMatchObject({ argumentsText: '{"a":1,}', argumentsOffset: 7 })
  })

  test.each(['', ' \n\t', '{}'])('arguments %j are an empty object', (text) => {
    const notes: string[] = []
    const { events } = play([call(0, 'f', text)], RELEASE, { note: (code) => notes.push(code) })
    expect(events.at(-1)).toMatchObject({
      type: 'tool_batch_ready',
      calls: [{ argumentsText: text, parsedArguments: {} }],
    })
    expect(notes).toEqual(text === '{}' ? [] : ['arguments_empty'])
  })

  test('empty arguments are held as suspect when the token limit was reached', () => {
    const decision = { ...RELEASE, holdEmptyArguments: true }
    const { events, calls } = play([call(0, 'f', ''), call(1, 'f', '{"a":1}')], decision)
    expect(outline(events).slice(-2)).toEqual(['held call_0 arguments_suspect', 'held call_1 batch_held'])
    expect(calls.map((held) => held.code)).toEqual(['arguments_suspect', 'batch_held'])
  })

  test.each([
    { name: 'a number that would be rounded', text: '{"id":9007199254740993}', offset: 6 },
    { name: 'a duplicate key', text: '{"a":1,"a":2}', offset: 7 },
    { name: 'a __proto__ key', text: '{"__proto__":{}}', offset: 1 },
  ])('is whole but held: $name', ({ text, offset }) => {
    const { calls, events, phase } = play([call(0, 'f', text)])
    expect(calls[0]).toMatchObject({
      state: 'complete',
      code: 'arguments_unsafe',
      parsedArguments: null,
      argumentsText: text,
      argumentsOffset: offset,
    })
    expect(outline(events).at(-1)).toBe('held call_0 arguments_unsafe')
    expect(phase).toBe('held')
  })

  test('free text is never parsed', () => {
    const { events } = play([call(0, 'shell', 'rm {"', { freeText: true })])
    expect(events.at(-1)).toMatchObject({
      type: 'tool_batch_ready',
      calls: [{ argumentsText: 'rm {"', parsedArguments: { input: 'rm {"' } }],
    })
  })
})

describe('the end of a block', () => {
  test('completes the call at once, before the choice is settled', () => {
    const machine = new ToolCallMachine()
    const out: StreamEvent[] = []
    machine.push(call(0, 'f', '{"a":1}'), out)
    expect(machine.calls(0)[0]).toMatchObject({ state: 'collecting', parsedArguments: null })
    machine.push({ type: 'block-end', index: 0 }, out)
    expect(machine.calls(0)[0]).toMatchObject({ state: 'complete', code: null, parsedArguments: { a: 1 } })
    expect(outline(out)).toEqual(['started call_0', 'arguments_delta call_0'])
  })

  test('restated arguments that are the same are nothing new', () => {
    expect(play([call(0, 'f', '{"a":1}'), restated('{"a":1}')]).phase).toBe('released')
  })

  test('restated arguments stand in for deltas that never came', () => {
    const { events } = play([call(0, 'f', ''), restated('{"a":1}')])
    expect(events).toContainEqual({
      type: 'tool_call_arguments_delta',
      choice: 0,
      callId: 'call_0',
      text: '{"a":1}',
    })
    expect(events.at(-1)).toMatchObject({ type: 'tool_batch_ready', calls: [{ parsedArguments: { a: 1 } }] })
  })

  test('restated arguments that differ are a conflict, and what was streamed is kept', () => {
    const { machine, calls } = play([call(0, 'f', '{"a":1}'), restated('{"a":2}')])
    expect(machine.conflict).toMatchObject({ code: 'protocol_conflict', phase: 'call', callId: 'call_0', choice: 0 })
    expect(calls[0]).toMatchObject({ state: 'failed', code: 'protocol_conflict', argumentsText: '{"a":1}' })
  })

  test('a restated name stands in for one that never came', () => {
    const named: StreamChunk = {
      type: 'block-end',
      index: 0,
      block: { type: 'tool-call', index: 0, callId: 'call_0', name: 'f', argumentsText: '{}', status: 'done' },
    }
    expect(play([delta(0, { argumentsDelta: '{}' }), named]).phase).toBe('released')
  })

  test('restated arguments that differ are a conflict also for a call that is already whole', () => {
    const { machine } = play([call(0, 'f', '{"a":1}'), { type: 'block-end', index: 0 }, restated('{"a":2}')])
    expect(machine.conflict?.code).toBe('protocol_conflict')
  })

  test('of an unknown or a text block means nothing to the machine', () => {
    const machine = new ToolCallMachine()
    const out: StreamEvent[] = []
    expect(machine.push({ type: 'block-end', index: 5 }, out)).toBeUndefined()
    expect(machine.push({ type: 'text-delta', index: 0, text: 'hi' }, out)).toBeUndefined()
    expect(machine.settle(0, RELEASE, out)).toBeNull()
    expect(out).toEqual([])
    expect(machine.choices).toEqual([])
  })

  test('arguments behind it are a conflict', () => {
    const { machine, calls, events } = play([
      call(0, 'f', '{}'),
      { type: 'block-end', index: 0 },
      delta(0, { argumentsDelta: ' ' }),
    ])
    expect(machine.conflict?.code).toBe('protocol_conflict')
    expect(calls[0]).toMatchObject({ state: 'failed', argumentsText: '{} ', parsedArguments: null })
    expect(outline(events).at(-1)).toBe('failed call_0 protocol_conflict')
  })
})

describe('a release that closes no calls', () => {
  const decision = { ...RELEASE, holdUnclosed: true }

  test('holds a call that nothing closed, and with it its siblings', () => {
    const { events, calls, phase } = play(
      [call(0, 'f', '{}'), { type: 'block-end', index: 0 }, call(1, 'g', '{}')],
      decision,
    )
    expect(outline(events).slice(-2)).toEqual(['held call_1 missing_finish_reason', 'held call_0 batch_held'])
    expect(calls.map((one) => one.state)).toEqual(['complete', 'complete'])
    expect(phase).toBe('held')
  })

  test('releases what the wire closed', () => {
    const { phase } = play([call(0, 'f', '{}'), { type: 'block-end', index: 0 }], decision)
    expect(phase).toBe('released')
  })

  test('says of a call that the provider runs only that', () => {
    const { calls } = play([call(0, 'f', '{}', { providerExecuted: true })], decision)
    expect(calls[0]!.code).toBe('provider_executed')
  })
})

describe('a batch', () => {
  const whole = call(0, 'f', '{"a":1}')
  const bad = call(1, 'f', '{"a":')

  test('goes out in order of first appearance, after every call of it', () => {
    const played = play([call(3, 'f', '{}'), call(1, 'g', '{}'), call(2, 'h', '{}')])
    expect(outline(played.events).slice(-4)).toEqual([
      'ready call_3',
      'ready call_1',
      'ready call_2',
      'batch_ready call_3+call_1+call_2',
    ])
    expect(played.calls.map((one) => one.ordinal)).toEqual([0, 1, 2])
  })

  test('one bad call holds its siblings', () => {
    const played = play([whole, bad])
    expect(outline(played.events).slice(-2)).toEqual(['failed call_1 arguments_incomplete', 'held call_0 batch_held'])
    expect(played.phase).toBe('held')
    expect(played.calls[0]).toMatchObject({ state: 'complete', code: 'batch_held', parsedArguments: { a: 1 } })
  })

  test('under the policy "each" it does not', () => {
    const played = play([whole, bad, call(2, 'f', '{"a":9007199254740993}'), call(3, 'g', '{}')], RELEASE_EACH)
    expect(outline(played.events).slice(-5)).toEqual([
      'failed call_1 arguments_incomplete',
      'held call_2 arguments_unsafe',
      'ready call_0',
      'ready call_3',
      'batch_ready call_0+call_3',
    ])
    expect(played.phase).toBe('released')
  })

  test('with nothing ready under "each" is held if a call is whole, failed if none is', () => {
    expect(play([bad, call(0, 'f', '{"a":1,"a":2}')], RELEASE_EACH).phase).toBe('held')
    expect(play([bad], RELEASE_EACH).phase).toBe('failed')
    expect(play([bad], RELEASE).phase).toBe('failed')
  })

  test('is held whole when nothing explicitly closed it', () => {
    const played = play([whole, call(1, 'g', '{}')], { kind: 'hold', code: 'missing_finish_reason' })
    expect(outline(played.events).slice(-2)).toEqual([
      'held call_0 missing_finish_reason',
      'held call_1 missing_finish_reason',
    ])
    expect(played.phase).toBe('held')
  })

  test('of failed calls alone is failed, not held', () => {
    expect(play([bad], { kind: 'hold', code: 'missing_finish_reason' }).phase).toBe('failed')
  })

  test('that is refused keeps whole calls as complete, and fails those that were open', () => {
    const played = play([whole, { type: 'block-end', index: 0 }, bad], {
      kind: 'refuse',
      code: 'output_refused',
      phase: 'call',
      message: 'refused',
    })
    expect(outline(played.events).slice(-2)).toEqual(['held call_0 output_refused', 'failed call_1 output_refused'])
    expect(played.calls.map((one) => one.state)).toEqual(['complete', 'failed'])
    expect(played.phase).toBe('failed')
  })

  test('cut at the token limit: whether the arguments are whole decides the code', () => {
    const played = play([whole, bad], { kind: 'refuse', code: 'output_truncated', phase: 'call', message: 'cut' })
    expect(outline(played.events).slice(-2)).toEqual([
      'failed call_0 output_truncated',
      'failed call_1 arguments_incomplete',
    ])
  })

  test('of each choice is its own', () => {
    const machine = new ToolCallMachine()
    const out: StreamEvent[] = []
    machine.push(call(0, 'f', '{}'), out)
    machine.push(call(0, 'g', '{', { choice: 1, id: 'call_c1' }), out)
    expect(machine.choices).toEqual([0, 1])
    expect(machine.settle(1, RELEASE, out)).toBe('failed')
    expect(machine.settle(0, RELEASE, out)).toBe('released')
    expect(machine.calls(1)).toMatchObject([{ callId: 'call_c1', choice: 1, ordinal: 0, name: 'g' }])
    expect(outline(out).slice(-3)).toEqual([
      'failed call_c1 arguments_incomplete',
      'ready call_0',
      'batch_ready call_0',
    ])
  })
})

describe('a contradiction', () => {
  test('keeps the first one, fails its call at once, and holds the siblings', () => {
    const { machine, events } = play([
      call(0, 'f', '{}'),
      call(1, 'g', '{}'),
      delta(0, { name: 'x' }),
      delta(1, { conflict: { message: 'the id changed' } }),
      call(2, 'h', '{}'),
    ])
    expect(machine.conflict).toMatchObject({
      code: 'protocol_conflict',
      phase: 'call',
      retryable: 'restart',
      choice: 0,
      callId: 'call_0',
    })
    expect(machine.conflict!.message).toContain('"f" to "x"')
    expect(outline(events)).toEqual([
      'started call_0',
      'arguments_delta call_0',
      'started call_1',
      'arguments_delta call_1',
      'failed call_0 protocol_conflict',
      'failed call_1 protocol_conflict',
      'started call_2',
      'arguments_delta call_2',
      'held call_2 batch_held',
    ])
  })

  test('holds the siblings also under the policy "each"', () => {
    const { events } = play([call(0, 'f', '{}'), delta(0, { name: 'x' }), call(1, 'g', '{}')], RELEASE_EACH)
    expect(outline(events)).not.toContain('ready call_1')
  })

  test('does not lose text: later arguments of the failed call are kept, and not shown', () => {
    const { events, calls } = play([
      call(0, 'f', '{"a"'),
      delta(0, { conflict: { message: 'the id changed' } }),
      delta(0, { argumentsDelta: ':1}' }),
    ])
    expect(calls[0]!.argumentsText).toBe('{"a":1}')
    expect(outline(events)).toEqual(['started call_0', 'arguments_delta call_0', 'failed call_0 protocol_conflict'])
  })

  test('in a call without a name fails it without one', () => {
    const { events } = play([delta(0, { conflict: { message: 'ambiguous' } }), delta(0, { name: 'f' })])
    expect(events).toEqual([
      {
        type: 'tool_call_failed',
        choice: 0,
        callId: 'call_0',
        code: 'protocol_conflict',
        phase: 'call',
        message: 'ambiguous',
      },
    ])
  })

  test('of a call that was already held does not end it twice', () => {
    const { events, calls, machine } = play([
      call(0, 'f', '{"a":1,"a":2}'),
      { type: 'block-end', index: 0 },
      delta(0, { conflict: { message: 'the id changed' } }),
    ])
    expect(machine.conflict?.code).toBe('protocol_conflict')
    expect(calls[0]).toMatchObject({ state: 'failed', code: 'protocol_conflict' })
    expect(outline(events)).toEqual(['started call_0', 'arguments_delta call_0', 'held call_0 arguments_unsafe'])
  })
})

describe('an event that could not be read', () => {
  test('fails the calls that were open, of every choice, and no other', () => {
    const machine = new ToolCallMachine()
    const out: StreamEvent[] = []
    machine.push(call(0, 'f', '{}'), out)
    machine.push({ type: 'block-end', index: 0 }, out)
    machine.push(call(1, 'g', '{}'), out)
    machine.push(call(0, 'h', '{', { choice: 1, id: 'call_c1' }), out)
    machine.failOpen('invalid_event_json', 'event', 'a hole', out)
    machine.push(call(2, 'i', '{}'), out)
    expect(outline(out).filter((line) => line.startsWith('failed'))).toEqual([
      'failed call_1 invalid_event_json',
      'failed call_c1 invalid_event_json',
    ])
    expect(machine.calls(0).map((one) => one.state)).toEqual(['complete', 'failed', 'collecting'])
  })
})

describe('a call that the provider runs itself', () => {
  const own = call(0, 'web_search', '{"q":"x"}', { providerExecuted: true })

  test('is never offered, and holds nobody up', () => {
    const { events, calls } = play([own, call(1, 'f', '{}')], RELEASE, { tools: ['f'] })
    expect(events[0]).toMatchObject({ type: 'tool_call_started', providerExecuted: true })
    expect(outline(events).slice(-3)).toEqual(['held call_0 provider_executed', 'ready call_1', 'batch_ready call_1'])
    expect(calls[0]).toMatchObject({ providerExecuted: true, state: 'complete', code: 'provider_executed' })
  })

  test('leaves no batch when it is alone', () => {
    const { events, phase } = play([own])
    expect(phase).toBeNull()
    expect(outline(events).at(-1)).toBe('held call_0 provider_executed')
  })

  test('keeps its code when the choice is refused or held', () => {
    for (const decision of [
      { kind: 'hold', code: 'finish_unknown' },
      { kind: 'refuse', code: 'cancelled', phase: 'delta', message: 'x' },
    ] as const) {
      const { calls } = play([own, { type: 'block-end', index: 0 }], decision)
      expect(calls[0]).toMatchObject({ code: 'provider_executed', state: 'complete' })
    }
  })
})

describe('one call delivered twice', () => {
  const first = call(0, 'f', '{"a":1,"b":[2]}', { providerCallId: 'p' })

  test.each([
    { name: 'the same text', text: '{"a":1,"b":[2]}' },
    { name: 'other white space and order of keys', text: '{ "b": [2], "a": 1 }' },
  ])('is run once: $name', ({ text }) => {
    const { events, phase } = play([first, call(1, 'f', text, { providerCallId: 'p' })])
    expect(outline(events).slice(-3)).toEqual(['failed call_1 duplicate_call', 'ready call_0', 'batch_ready call_0'])
    expect(phase).toBe('released')
  })

  test.each([
    { name: 'other arguments', second: call(1, 'f', '{"a":1,"b":[3]}', { providerCallId: 'p' }) },
    { name: 'fewer arguments', second: call(1, 'f', '{"a":1}', { providerCallId: 'p' }) },
    { name: 'another name', second: call(1, 'g', '{"a":1,"b":[2]}', { providerCallId: 'p' }) },
    { name: 'another id', second: call(1, 'f', '{"a":1,"b":[2]}', { providerCallId: 'q' }) },
    { name: 'no id', second: call(1, 'f', '{"a":1,"b":[2]}') },
    { name: 'an array for an object', second: call(1, 'f', '{"a":1,"b":{"0":2}}', { providerCallId: 'p' }) },
  ])('two calls: $name', ({ second }) => {
    expect(outline(play([first, second]).events).at(-1)).toBe('batch_ready call_0+call_1')
  })

  test('equal calls without ids are two calls', () => {
    expect(outline(play([call(0, 'f', '{}'), call(1, 'f', '{}')]).events).at(-1)).toBe('batch_ready call_0+call_1')
  })

  test('two calls that are both unsafe, with other arguments, are two calls', () => {
    const { calls } = play([
      call(0, 'f', '{"id":9007199254740993}', { providerCallId: 'p' }),
      call(1, 'f', '{"id":9007199254740995}', { providerCallId: 'p' }),
    ])
    expect(calls.map((one) => one.code)).toEqual(['arguments_unsafe', 'arguments_unsafe'])
  })

  test('a call whose first delivery failed is not a duplicate', () => {
    const { calls } = play([
      call(0, 'f', '{"a":', { providerCallId: 'p' }),
      call(1, 'f', '{"a":', { providerCallId: 'p' }),
    ])
    expect(calls.map((one) => one.code)).toEqual(['arguments_incomplete', 'arguments_incomplete'])
  })
})

describe('limits', () => {
  test.each([
    { name: 'ASCII', text: '{"a":"xyz"}', bytes: 11 },
    { name: 'CJK', text: '{"a":"日本語"}', bytes: 17 },
    { name: 'emoji', text: '{"a":"😀👍"}', bytes: 16 },
    { name: 'Latin', text: '{"a":"éü"}', bytes: 12 },
  ])('argument bytes, $name: $bytes pass, one fewer does not', ({ text, bytes }) => {
    // Split between characters: half a surrogate pair never reaches the machine.
    for (const pieces of [[text], Array.from(text)]) {
      const chunks = pieces.map((piece, at) => delta(0, { argumentsDelta: piece, ...(at === 0 && { name: 'f' }) }))
      expect(play(chunks, RELEASE, { maxArgumentBytes: bytes }).phase).toBe('released')
      const { fault, events, calls } = play(chunks, RELEASE, { maxArgumentBytes: bytes - 1 })
      expect(fault).toMatchObject({
        code: 'argument_limit_exceeded',
        phase: 'call',
        retryable: 'no',
        choice: 0,
        callId: 'call_0',
      })
      expect(outline(events).at(-1)).toBe('failed call_0 argument_limit_exceeded')
      expect(calls[0]!.argumentsText).toBe(pieces.slice(0, -1).join(''))
    }
  })

  test('argument bytes count for each call alone', () => {
    const chunks = [call(0, 'f', '{"a":1}'), call(1, 'f', '{"a":2}')]
    expect(play(chunks, RELEASE, { maxArgumentBytes: 7 }).phase).toBe('released')
  })

  test('argument bytes hold for restated arguments too', () => {
    const chunks: StreamChunk[] = [
      call(0, 'f', ''),
      {
        type: 'block-end',
        index: 0,
        block: { type: 'tool-call', index: 0, callId: 'call_0', argumentsText: '{"a":1}', status: 'done' },
      },
    ]
    expect(play(chunks, RELEASE, { maxArgumentBytes: 7 }).fault).toBeUndefined()
    expect(play(chunks, RELEASE, { maxArgumentBytes: 6 }).fault?.code).toBe('argument_limit_exceeded')
  })

  test('default argument bytes are 1 MiB', () => {
    expect(play([filled(2 ** 20)]).phase).toBe('released')
    expect(play([filled(2 ** 20 + 1)]).fault?.code).toBe('argument_limit_exceeded')
  })

  test.each([
    { maxDepth: 3, text: '{"a":[[1]]}', ok: true },
    { maxDepth: 3, text: '{"a":[[[1]]]}', ok: false },
    { maxDepth: 1, text: '{"a":1}', ok: true },
    { maxDepth: 1, text: '{"a":{}}', ok: false },
  ])('depth $maxDepth, $text: $ok', ({ maxDepth, text, ok }) => {
    const { phase, calls } = play([call(0, 'f', text)], RELEASE, { maxDepth })
    expect(phase).toBe(ok ? 'released' : 'failed')
    expect(calls[0]!.code).toBe(ok ? null : 'arguments_invalid')
  })

  test('default depth is 128', () => {
    expect(play([nested(128)]).phase).toBe('released')
    expect(play([nested(129)]).phase).toBe('failed')
  })
})

describe('repairs', () => {
  test('are off by default', () => {
    expect(play([call(0, 'f', '{"a":1}}')]).calls[0]).toMatchObject({ state: 'failed', code: 'arguments_invalid' })
  })

  test('are named in the event, the snapshot and a finding, and the raw text stays', () => {
    const notes: string[] = []
    const { events, calls, machine } = play([call(0, 'f', '{"a":1}}')], RELEASE, {
      repairs: ['extra-brackets'],
      note: (code, detail) => notes.push(`${code} ${detail}`),
    })
    expect(events.at(-1)).toMatchObject({
      type: 'tool_batch_ready',
      calls: [{ argumentsText: '{"a":1}}', parsedArguments: { a: 1 }, repairs: ['extra-brackets'] }],
    })
    expect(calls[0]).toMatchObject({ argumentsText: '{"a":1}}', repairs: ['extra-brackets'] })
    expect(notes).toEqual(['arguments_repaired extra-brackets'])
    expect(machine.isRepaired(0)).toBe(true)
    expect(machine.isRepaired(1)).toBe(false)
  })

  test('are not looked at when the text parses as it came', () => {
    const { calls, machine } = play([call(0, 'f', '{"a":'), delta(0, { argumentsDelta: '1}' })], RELEASE, {
      repairs: ['cumulative', 'missing-brackets'],
    })
    expect(calls[0]).not.toHaveProperty('repairs')
    expect(machine.isRepaired(0)).toBe(false)
  })

  test('the machine keeps fragments for them, empty ones left out', () => {
    const { calls } = play([call(0, 'f', '{"a"'), delta(0), delta(0, { argumentsDelta: '{"a":1}' })], RELEASE, {
      repairs: ['cumulative'],
    })
    expect(calls[0]).toMatchObject({ parsedArguments: { a: 1 }, argumentsText: '{"a"{"a":1}', repairs: ['cumulative'] })
  })
})
