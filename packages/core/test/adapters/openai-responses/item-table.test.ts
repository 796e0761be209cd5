import { describe, expect, test } from 'vitest'
import { ItemTable } from '../../../src/adapters/openai-responses/item-table.ts'
import type { OutputItem } from '../../../src/adapters/openai-responses/item-table.ts'
import { OpaqueItem } from '../../../src/adapters/openai-responses/opaque-item.ts'
import { matchOutput } from '../../../src/adapters/openai-responses/final-output.ts'
import { callKindOf } from '../../../src/adapters/openai-responses/call-kind.ts'
import { CallItem } from '../../../src/adapters/openai-responses/call-item.ts'
import { createOutput } from '../collect.ts'

let block = 0
const blocks = { next: () => block++ }

function item(id: string | undefined, type = 'thing'): OutputItem {
  return new OpaqueItem(type, id === undefined ? {} : { id }, blocks)
}

function call(callId: string, id?: string): CallItem {
  const raw = { call_id: callId, name: 'f', ...(id !== undefined && { id }) }
  const context = { blocks, assignId: () => callId, declares: () => true }
  const made = new CallItem('function_call', callKindOf('function_call')!, raw, 0, context, false)
  made.open(raw, false, createOutput().out)
  return made
}

function tableOf(...entries: readonly (readonly [OutputItem, number | undefined])[]): ItemTable {
  const table = new ItemTable()
  for (const [entry, index] of entries) table.add(entry, index)
  return table
}

describe('which item an event of its content means', () => {
  const a = item('a')
  const b = item('b')

  test.each<[string, number | undefined, string | undefined, unknown]>([
    ['index and id', 0, 'a', { kind: 'found', item: a, idChanged: false }],
    ['the index alone', 1, undefined, { kind: 'found', item: b, idChanged: false }],
    ['the index and an id that is new', 1, 'z', { kind: 'found', item: b, idChanged: true }],
    ['the id alone', undefined, 'b', { kind: 'found', item: b, idChanged: false }],
    ['an unknown index', 7, undefined, { kind: 'none' }],
    ['an unknown index with a known id', 7, 'a', expect.objectContaining({ kind: 'ambiguous' })],
    ['an index and the id of another item', 0, 'b', expect.objectContaining({ kind: 'ambiguous' })],
    ['an unknown id alone', undefined, 'z', { kind: 'none' }],
    ['neither, while two are open', undefined, undefined, expect.objectContaining({ kind: 'ambiguous' })],
  ])('%s', (_name, index, id, expected) => {
    expect(tableOf([a, 0], [b, 1]).resolve(index, id)).toEqual(expected)
  })

  test('neither index nor id: the only open item, or none', () => {
    const table = tableOf([a, 0], [b, 1])
    table.close(a)
    expect(table.resolve(undefined, undefined)).toMatchObject({ kind: 'found', item: b })
    table.close(b)
    expect(table.resolve(undefined, undefined)).toEqual({ kind: 'none' })
  })

  test('one index for several items: the id, else the only open one', () => {
    const [first, second] = [item('a'), item('b')]
    const table = tableOf([first, 0], [second, 0])
    expect(table.resolve(0, 'b')).toMatchObject({ kind: 'found', item: second })
    expect(table.resolve(0, undefined)).toMatchObject({ kind: 'ambiguous' })
    first.done = true
    expect(table.resolve(0, undefined)).toMatchObject({ kind: 'found', item: second })
    for (let i = 0; i < 10; i++) table.add(item(`x${i}`), 0)
    expect(table.resolve(0, undefined)).toMatchObject({ kind: 'ambiguous' })
  })

  test('the calls that a contradiction concerns', () => {
    const [first, second] = [call('c1', 'f1'), call('c2', 'f2')]
    const table = tableOf([first, 0], [second, 1])
    expect(table.resolve(0, 'f2')).toMatchObject({ kind: 'ambiguous', calls: [first, second] })
  })
})

describe('begun again, or done', () => {
  test('a repeated beginning is the same item', () => {
    const [a, c] = [item('a'), call('c1', 'f1')]
    const table = tableOf([a, 0], [c, 1])
    expect(table.repeated({ type: 'thing', id: 'a' }, 0)).toBe(a)
    expect(table.repeated({ type: 'thing', id: 'a' }, 3)).toBeUndefined()
    expect(table.repeated({ type: 'other', id: 'a' }, 0)).toBeUndefined()
    expect(table.repeated({ type: 'function_call', call_id: 'c1', id: 'new' }, 1)).toBe(c)
    expect(table.repeated({ type: 'function_call', call_id: 'c2', id: 'f1' }, 1)).toBeUndefined()
  })

  test('an item without any id is repeated by its place', () => {
    const a = item(undefined)
    expect(tableOf([a, 0]).repeated({ type: 'thing' }, 0)).toBe(a)
    expect(tableOf([a, 0]).repeated({ type: 'thing', id: 'x' }, 0)).toBeUndefined()
    expect(tableOf([a, undefined]).repeated({ type: 'thing' }, undefined)).toBeUndefined()
  })

  test('done: by call id, by index under a new id, by id, or the only open one of its type', () => {
    const [a, c] = [item('a'), call('c1')]
    const table = tableOf([a, 0], [c, 1])
    expect(table.ended({ type: 'function_call', call_id: 'c1' }, 1)).toBe(c)
    expect(table.ended({ type: 'thing', id: 'new' }, 0)).toBe(a)
    expect(table.ended({ type: 'thing', id: 'a' }, undefined)).toBe(a)
    expect(table.ended({ type: 'thing' }, undefined)).toBe(a)
    expect(table.ended({ type: 'thing' }, 5)).toBeUndefined()
    expect(table.ended({ type: 'function_call', call_id: 'c9' }, undefined)).toBeUndefined()
  })

  test('done under another name than an item that was done: another item under a used index', () => {
    const a = item('a')
    a.done = true
    expect(tableOf([a, 0]).ended({ type: 'thing', id: 'b' }, 0)).toBeUndefined()
    expect(tableOf([a, 0]).ended({ type: 'thing' }, 0)).toBe(a)
  })

  test('what can’t be told stays so', () => {
    const first = call('c1')
    const shared = tableOf([first, undefined], [call('c1'), undefined])
    expect(shared.ended({ type: 'function_call', call_id: 'c1' }, undefined)).toBe('ambiguous')
    shared.close(first)
    expect(shared.ended({ type: 'function_call', call_id: 'c1' }, undefined)).toBe('ambiguous')
    const two = tableOf([item(undefined), undefined], [item(undefined), undefined])
    expect(two.ended({ type: 'thing' }, undefined)).toBe('ambiguous')
    const many = new ItemTable()
    for (let i = 0; i < 20; i++) many.add(item(undefined, `type ${i}`), undefined)
    expect(many.ended({ type: 'type 3' }, undefined)).toBe('ambiguous')
  })
})

describe('the final response beside what was streamed', () => {
  const [m, r, c] = [item('m', 'message'), item('r', 'reasoning'), call('c1', 'f1')]
  const streamed = [r, m, c]
  const match = (output: readonly unknown[]): unknown => matchOutput(streamed, output).map((each) => each.item)

  test.each<[string, readonly unknown[], readonly unknown[]]>([
    [
      'by their ids, in any order',
      [
        { type: 'message', id: 'm' },
        { type: 'reasoning', id: 'r' },
      ],
      [m, r],
    ],
    ['a call by its call id, whatever its item id', [{ type: 'function_call', id: 'x', call_id: 'c1' }], [c]],
    [
      'new ids, by place',
      [
        { type: 'reasoning', id: 'x' },
        { type: 'message', id: 'y' },
      ],
      [r, m],
    ],
    ['new ids and items left out, by type', [{ type: 'message', id: 'y' }, { type: 'function_call' }], [m, c]],
    [
      'an item that only came here',
      [
        { type: 'message', id: 'm' },
        { type: 'message', id: 'z' },
      ],
      [m, undefined],
    ],
    [
      'one item, told twice, restates once',
      [
        { type: 'message', id: 'm' },
        { type: 'message', id: 'm' },
      ],
      [m, undefined],
    ],
    ['an id under another type is no match', [{ type: 'other', id: 'm' }], [undefined]],
    ['what is no object is left out', [null, 'x', { type: 'message', id: 'm' }], [m]],
    ['nothing', [], []],
  ])('%s', (_name, output, expected) => {
    expect(match(output)).toEqual(expected)
  })

  test('places are those of the list, with what is no object counted', () => {
    expect(matchOutput([], [null, { type: 'message' }])).toMatchObject([{ at: 1 }])
  })

  test('long lists take no longer than their length', () => {
    const many = Array.from({ length: 20_000 }, (_, i) => item(`i${i}`, 'message'))
    const output = many.map((_, i) => ({ type: 'message', id: `j${i}` }))
    expect(matchOutput(many, output).every((each, i) => each.item === many[i])).toBe(true)
  })
})
