import { describe, expect, test } from 'vitest'
import { call, delta, play, RELEASE } from '../play.ts'

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
