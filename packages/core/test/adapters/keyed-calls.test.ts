import { describe, expect, test } from 'vitest'
import { CallIds } from '../../src/adapters/call-id.ts'
import { ChoiceBlocks } from '../../src/adapters/choice-blocks.ts'
import { KeyedCalls } from '../../src/adapters/keyed-calls.ts'
import { WholeCalls } from '../../src/adapters/whole-calls.ts'
import { createOutput } from './collect.ts'

const EVENT = { data: '' }

function keyed(maxCalls = 9) {
  const { out, notes } = createOutput()
  const whole = new WholeCalls(new ChoiceBlocks(0), new CallIds('seed'), maxCalls, () => 'r')
  return { out, notes, whole, calls: new KeyedCalls(whole) }
}

const conflictsOf = ({ out }: ReturnType<typeof keyed>): number =>
  out.chunks.filter((chunk) => chunk.type === 'tool-call-delta' && chunk.conflict !== undefined).length

describe('calls under keys', () => {
  test('are opened, filled and closed', () => {
    const { out, calls, notes } = keyed()
    calls.start(1, { id: 'a', name: 'f' }, out)
    calls.append(1, '{"s":"\ud83c', EVENT, out)
    calls.append(1, '\udf0a"}', EVENT, out)
    expect(calls.end(1, out)).toBe(true)
    expect(out.chunks).toEqual([
      { type: 'tool-call-delta', index: 0, id: 'a', providerCallId: 'a', name: 'f', argumentsDelta: '' },
      { type: 'tool-call-delta', index: 0, id: 'a', argumentsDelta: '{"s":"' },
      { type: 'tool-call-delta', index: 0, id: 'a', argumentsDelta: '🌊"}' },
      { type: 'block-end', index: 0 },
    ])
    expect(notes).toEqual([])
  })

  test('a key without a call: its end says so, its arguments are a hole', () => {
    const { out, calls } = keyed()
    expect(calls.end(3, out)).toBe(false)
    calls.append(3, '{}', EVENT, out)
    expect(out.skipped).toHaveLength(1)
    expect(out.chunks).toEqual([])
  })

  test('a call that is started twice: the same again is nothing new, another is a conflict of both', () => {
    const same = keyed()
    same.calls.start(0, { id: 'a', name: 'f' }, same.out)
    same.calls.start(0, { id: 'a', name: 'f' }, same.out)
    expect(same.whole.written).toHaveLength(1)
    for (const other of [
      { id: 'b', name: 'f' },
      { id: 'a', name: 'g' },
    ]) {
      const twice = keyed()
      twice.calls.start(0, { id: 'a', name: 'f' }, twice.out)
      twice.calls.start(0, other, twice.out)
      expect(twice.whole.written).toHaveLength(2)
      expect(conflictsOf(twice)).toBe(2)
    }
  })

  test('a key that is used again behind its end is another call', () => {
    const again = keyed()
    again.calls.start(0, { id: 'a', name: 'f' }, again.out)
    again.calls.end(0, again.out)
    again.calls.start(0, { id: 'b', name: 'g' }, again.out)
    expect(conflictsOf(again)).toBe(0)
    expect(again.notes).toEqual(['index_reused'])
  })

  test('without a key: the only open call, else nobody', () => {
    const alone = keyed()
    alone.calls.start(undefined, { id: 'a', name: 'f' }, alone.out)
    alone.calls.append(undefined, '{}', EVENT, alone.out)
    alone.calls.end(undefined, alone.out)
    expect(alone.out.chunks.at(-1)).toEqual({ type: 'block-end', index: 0 })
    expect(alone.out.skipped).toEqual([])
    const two = keyed()
    two.calls.start(0, { id: 'a', name: 'f' }, two.out)
    two.calls.start(1, { id: 'b', name: 'g' }, two.out)
    two.calls.append(undefined, '{}', EVENT, two.out)
    expect([conflictsOf(two), two.out.skipped.length]).toEqual([2, 1])
  })

  test('arguments behind the end are a conflict, said once; white space is nothing', () => {
    const late = keyed()
    late.calls.start(0, { id: 'a', name: 'f' }, late.out)
    late.calls.end(0, late.out)
    late.calls.append(0, ' \n', EVENT, late.out)
    expect(conflictsOf(late)).toBe(0)
    for (let i = 0; i < 3; i++) late.calls.append(0, '{}', EVENT, late.out)
    expect(conflictsOf(late)).toBe(1)
  })

  test('bytes that were not UTF-8 mark their call', () => {
    const { out, calls } = keyed()
    calls.start(0, { id: 'a', name: 'f' }, out)
    calls.append(0, '{', { data: '', invalidUtf8: true }, out)
    expect(out.chunks.at(-1)).toMatchObject({ invalidUtf8: true })
  })

  test('the limit of calls, on both sides', () => {
    const { out, calls } = keyed(1)
    expect(calls.start(0, { id: 'a', name: 'f' }, out)).toBe(true)
    expect(calls.start(1, { id: 'b', name: 'g' }, out)).toBe(false)
    expect(out.chunks.at(-1)).toMatchObject({ type: 'error', error: { code: 'call_limit_exceeded' } })
  })
})

describe('whole calls', () => {
  test('ids: the provider’s, one that repeats, and none', () => {
    const { out, whole, notes } = keyed()
    for (const id of ['a', 'a', undefined]) whole.open({ id, name: 'f' }, out)
    const ids = out.chunks.flatMap((chunk) => (chunk.type === 'tool-call-delta' ? [chunk.id] : []))
    expect(new Set(ids).size).toBe(3)
    expect(notes).toEqual(['id_repeated', 'missing_id'])
  })

  test('those that the provider runs do not wait', () => {
    const { out, whole } = keyed()
    whole.open({ id: 'a', name: 'f', providerExecuted: true }, out)
    expect(whole.waiting).toBe(false)
    expect(out.chunks[0]).toMatchObject({ providerExecuted: true })
    whole.open({ id: 'b', name: 'f' }, out)
    expect(whole.waiting).toBe(true)
  })
})
