import { describe, expect, test } from 'vitest'
import type { StreamChunk } from '../../../src/chunk/chunk.ts'
import type { StreamEvent } from '../../../src/chunk/stream-event.ts'
import { ToolCallMachine } from '../../../src/tool-call/machine.ts'
import type { ToolCallMachineOptions } from '../../../src/tool-call/machine.ts'
import { call, delta, outline, play, RELEASE } from '../play.ts'

/** The end of call 0, with its arguments said once more. */
function restated(argumentsText: string): StreamChunk {
  const block = { type: 'tool-call', index: 0, callId: 'call_0', argumentsText, status: 'done' } as const
  return { type: 'block-end', index: 0, block }
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
