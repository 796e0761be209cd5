import { describe, expect, test } from 'vitest'
import type { StreamEvent } from '../../../src/chunk/stream-event.ts'
import { ToolCallMachine } from '../../../src/tool-call/machine.ts'
import { call, outline, play, RELEASE, RELEASE_EACH } from '../play.ts'

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
