import { describe, expect, test } from 'vitest'
import { SequenceCheck } from '../../../src/adapters/openai-responses/sequence.ts'
import { createOutput } from '../collect.ts'

/** `read` or `ignore` for each event, the findings, and the holes. */
function check(events: readonly unknown[], after?: number): readonly [string, readonly string[], readonly string[]] {
  const sequence = new SequenceCheck(after)
  const { out, notes } = createOutput()
  const verdicts = events.map((event) => {
    const record = event as Record<string, unknown>
    const type = typeof record['type'] === 'string' ? record['type'] : 'a'
    return sequence.check(record, type, type === 'response.created', JSON.stringify(event), out)
  })
  return [verdicts.map((verdict) => verdict[0]).join(''), notes, out.skipped.map(({ message }) => message)]
}

const at = (sequence_number: unknown, delta = `d${String(sequence_number)}`): unknown => ({ sequence_number, delta })

const long = (text: string): unknown => ({ sequence_number: 1, item: text.repeat(5_000) })

describe('in order', () => {
  test.each<[string, readonly unknown[]]>([
    ['from 0', [at(0), at(1), at(2)]],
    ['numeric text', [at('0'), at('1')]],
    ['events without a number in between', [at(0), {}, at(1), { sequence_number: null }, at(2)]],
    ['from any number, where it is the start', [{ type: 'response.created', sequence_number: 7 }, at(8)]],
    ['no numbers', [{}, {}]],
  ])('%s', (_name, events) => {
    expect(check(events)).toEqual(['r'.repeat(events.length), [], []])
  })
})

describe('gaps', () => {
  test.each<[string, readonly unknown[], number | undefined, string]>([
    ['one number', [at(0), at(2)], undefined, 'number 1'],
    ['several numbers', [at(0), at(5)], undefined, 'numbers 1 to 4'],
    ['the beginning', [at(3)], undefined, 'numbers 0 to 2'],
    ['behind the last number that a caller had', [at(9)], 7, 'number 8'],
  ])('%s: read on, with a hole', (_name, events, after, missing) => {
    const [verdicts, notes, holes] = check(events, after)
    expect(verdicts).toBe('r'.repeat(events.length))
    expect(notes).toEqual([`sequence_gap: ${missing}`])
    expect(holes).toEqual([`events were lost on the way: sequence ${missing} never came`])
  })

  test('no gap: resumed right behind the last number, or from the beginning again', () => {
    expect(check([at(8), at(9)], 7)).toEqual(['rr', [], []])
    expect(check([at(0), at(1)], 7)).toEqual(['rr', [], []])
  })

  test('what was missing and comes late is read; the hole stays', () => {
    expect(check([at(0), at(2), at(1), at(3)])).toEqual([
      'rrrr',
      ['sequence_gap: number 1'],
      ['events were lost on the way: sequence number 1 never came'],
    ])
  })
})

describe('repeats', () => {
  test('the same event again, whatever its padding, is ignored', () => {
    const padded = { sequence_number: 1, delta: 'd1', obfuscation: 'abc' }
    expect(check([at(0), at(1), padded, at(1), at(2)])).toEqual([
      'rriir',
      ['sequence_repeated: number 1', 'sequence_repeated: number 1'],
      [],
    ])
  })

  test('a whole overlap of a resumed stream', () => {
    const overlap = [at(1), at(2), at(3)]
    expect(check([at(0), ...overlap, ...overlap, at(4)])[0]).toBe('rrrriiir')
  })

  test('long events are compared too', () => {
    expect(check([at(0), long('a'), long('a')])[0]).toBe('rri')
    const [verdicts, , holes] = check([at(0), long('a'), long('b')])
    expect([verdicts, holes.length]).toEqual(['rrr', 1])
  })

  test('other content under the same number is a hole, and is read', () => {
    const others: readonly unknown[] = [
      at(1, 'x'),
      { ...(at(1) as object), type: 'b' },
      { ...(at(1) as object), output_index: 4 },
    ]
    for (const other of others) {
      const [verdicts, notes, holes] = check([at(0), at(1), other, at(2)])
      expect([verdicts, notes]).toEqual(['rrrr', []])
      expect(holes).toEqual(['two different events have the sequence number 1: streams were mixed'])
    }
  })

  test('too far back to be compared: ignored, with a hole', () => {
    const many = Array.from({ length: 100 }, (_, i) => at(i))
    const [verdicts, notes, holes] = check([...many, at(3)])
    expect(verdicts).toBe(`${'r'.repeat(100)}i`)
    expect([notes, holes.length]).toEqual([['sequence_repeated: number 3'], 1])
    expect(check([...many, at(60)])[0]).toBe(`${'r'.repeat(100)}i`)
  })
})

describe('numbers that are none', () => {
  test('a server that writes 0 into every event does not count: said once, and never used', () => {
    const events = ['a', 'b', 'c', 'a'].map((text) => at(0, text))
    expect(check(events)).toEqual(['rrrr', ['unexpected_field: sequence_number does not count'], []])
  })

  test.each([
    ['text', 'x'],
    ['a fraction', 1.5],
    ['an object', {}],
  ])('%s is a finding', (_name, number) => {
    expect(check([at(0), at(number), at(1)])).toEqual(['rrr', ['unexpected_field: sequence_number'], []])
  })
})

test('another generation counts from its own beginning', () => {
  const sequence = new SequenceCheck(undefined)
  const { out, notes } = createOutput()
  const read = (number: number): string =>
    sequence.check({ sequence_number: number, delta: 'd' }, 'response.created', true, '', out)
  expect([read(0), read(1)]).toEqual(['read', 'read'])
  sequence.reset()
  expect([read(0), read(1), notes, out.skipped]).toEqual(['read', 'read', [], []])
})
