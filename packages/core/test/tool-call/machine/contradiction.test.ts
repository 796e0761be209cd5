import { describe, expect, test } from 'vitest'
import { call, delta, outline, play, RELEASE_EACH } from '../play.ts'

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
