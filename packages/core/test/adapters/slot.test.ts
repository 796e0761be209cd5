import { describe, expect, test } from 'vitest'
import { SlotTable } from '../../src/adapters/slot.ts'
import type { CallSlot, IndexKey } from '../../src/adapters/slot.ts'

/** A fragment: what is left off says nothing. `freeze` closes the choice. */
type Step =
  | {
      readonly index?: IndexKey
      readonly id?: string
      readonly name?: string
      readonly args?: string
      readonly sibling?: true
    }
  | 'freeze'

interface TableOptions {
  readonly maxCalls?: number
  readonly idChange?: 'conflict' | 'keep-first'
}

/** Gives the steps to a table and tells what it made of each: `opened 0`, `continued 0`, `conflict 0`, `ambiguous 0 1`, `full`. */
function resolved(
  steps: readonly Step[],
  { maxCalls = 8, idChange = 'conflict' }: TableOptions = {},
): readonly string[] {
  const table = new SlotTable<CallSlot>({ maxCalls, idChange, create: (slot) => ({ ...slot }) })
  return steps.map((step) => {
    if (step === 'freeze') {
      table.freeze()
      return 'frozen'
    }
    const { index, id, name, args = '', sibling = false } = step
    const match = table.resolve({ index, id, name, hasArguments: args.trim() !== '', afterSibling: sibling })
    if (match.kind === 'full') return 'full'
    if (match.kind === 'ambiguous') return `ambiguous ${match.slots.map(({ ordinal }) => ordinal).join(' ')}`
    const { slot } = match
    if (match.kind !== 'conflict') {
      slot.arguments.push(args)
      slot.name ??= name
    }
    const flags =
      match.kind === 'opened' ? `${match.indexReused ? ' reused' : ''}${slot.idRepeated ? ' repeated' : ''}` : ''
    return `${match.kind} ${slot.ordinal}${flags}`
  })
}

const rows: {
  readonly name: string
  readonly steps: readonly Step[]
  readonly want: readonly string[]
  readonly options?: TableOptions
}[] = [
  {
    name: 'by index',
    steps: [
      { index: 0, id: 'a', name: 'f' },
      { index: 1, id: 'b', name: 'g' },
      { index: 0, args: '{' },
      { index: 1, args: '{' },
    ],
    want: ['opened 0', 'opened 1', 'continued 0', 'continued 1'],
  },
  {
    name: 'by id, where there is no index',
    steps: [
      { id: 'a', name: 'f' },
      { id: 'b', name: 'g' },
      { id: 'a', args: '{' },
      { id: 'b', args: '{' },
    ],
    want: ['opened 0', 'opened 1', 'continued 0', 'continued 1'],
  },
  {
    name: 'the index left off on continuations: by the id',
    steps: [
      { index: 3, id: 'a', name: 'f' },
      { index: 4, id: 'b', name: 'g' },
      { id: 'a', args: '{' },
    ],
    want: ['opened 0', 'opened 1', 'continued 0'],
  },
  {
    name: 'neither: the only open call',
    steps: [{ id: 'a', name: 'f' }, { args: '{' }, { name: 'f', args: '"a"' }],
    want: ['opened 0', 'continued 0', 'continued 0'],
  },
  {
    name: 'neither, and nothing open: a call of its own',
    steps: [{ name: 'f', args: '{}' }],
    want: ['opened 0'],
  },
  {
    name: 'neither, and two open',
    steps: [{ id: 'a', name: 'f' }, { id: 'b', name: 'g' }, { args: '{' }],
    want: ['opened 0', 'opened 1', 'ambiguous 0 1'],
  },
  {
    name: 'neither, one whole and another name: a new call',
    steps: [
      { name: 'f', args: '{}' },
      { name: 'g', args: '{}' },
      { name: 'h', args: '{}' },
    ],
    want: ['opened 0', 'opened 1', 'opened 2'],
  },
  {
    name: 'neither, one whole and the same name: only as a sibling is it a new call',
    steps: [
      { name: 'f', args: '{}' },
      { name: 'f', args: '{}' },
    ],
    want: ['opened 0', 'continued 0'],
  },
  {
    name: 'neither, as a sibling in one array',
    steps: [
      { name: 'f', args: '{}' },
      { name: 'f', args: '{}', sibling: true },
      { name: 'f', args: '{}', sibling: true },
    ],
    want: ['opened 0', 'opened 1', 'opened 2'],
  },
  {
    name: 'a new id with a name on an open index: a new call',
    steps: [
      { index: 0, id: 'a', name: 'f', args: '{' },
      { index: 0, id: 'b', name: 'f', args: '{' },
    ],
    want: ['opened 0', 'opened 1 reused'],
  },
  {
    name: 'a new id on an index whose call is whole: a new call',
    steps: [
      { index: 0, id: 'a', name: 'f', args: '{}' },
      { index: 0, id: 'b' },
      { index: 0, name: 'g', args: '{}' },
    ],
    want: ['opened 0', 'opened 1 reused', 'continued 1'],
  },
  {
    name: 'a new id without a name inside a call: a conflict',
    steps: [
      { index: 0, id: 'a', name: 'f', args: '{' },
      { index: 0, id: 'b', args: '}' },
    ],
    want: ['opened 0', 'conflict 0'],
  },
  {
    name: 'the same, where the first id is kept',
    steps: [
      { index: 0, id: 'a', name: 'f', args: '{' },
      { index: 0, id: 'b', args: '}' },
      { index: 0, id: 'c', name: 'f' },
    ],
    want: ['opened 0', 'continued 0', 'opened 1 reused'],
    options: { idChange: 'keep-first' },
  },
  {
    name: 'an index rebound before its call was whole: id-less fragments fit either',
    steps: [
      { index: 0, id: 'a', name: 'f', args: '{' },
      { index: 0, id: 'b', name: 'f', args: '{' },
      { index: 0, args: '}' },
      { index: 0, id: 'a', args: '}' },
    ],
    want: ['opened 0', 'opened 1 reused', 'ambiguous 0 1', 'continued 0'],
  },
  {
    name: 'an index rebound after its call was whole',
    steps: [
      { index: 0, id: 'a', name: 'f', args: '{}' },
      { index: 0, id: 'b', name: 'f', args: '{' },
      { index: 0, args: '}' },
    ],
    want: ['opened 0', 'opened 1 reused', 'continued 1'],
  },
  {
    name: 'other indexes are not touched by that',
    steps: [
      { index: 1, id: 'x', name: 'f', args: '{' },
      { index: 0, id: 'a', name: 'f', args: '{' },
      { index: 0, id: 'b', name: 'f', args: '{' },
      { index: 1, args: '}' },
    ],
    want: ['opened 0', 'opened 1', 'opened 2 reused', 'continued 0'],
  },
  {
    name: 'an id that comes late',
    steps: [
      { index: 0, name: 'f', args: '{' },
      { index: 0, id: 'a' },
      { index: 0, id: 'a', args: '}' },
    ],
    want: ['opened 0', 'continued 0', 'continued 0'],
  },
  {
    name: 'an id that comes late, with the name',
    steps: [
      { index: 0, args: '{' },
      { index: 0, id: 'a', name: 'f', args: '}' },
    ],
    want: ['opened 0', 'continued 0'],
  },
  {
    name: 'an id with a name where a named call has begun without one: a new call',
    steps: [
      { index: 0, name: 'f', args: '{' },
      { index: 0, id: 'a', name: 'f', args: '{' },
    ],
    want: ['opened 0', 'opened 1 reused'],
  },
  {
    name: 'an id with arguments where a whole call has none: a new call',
    steps: [
      { index: 0, name: 'f', args: '{}' },
      { index: 0, id: 'a', args: '{}' },
    ],
    want: ['opened 0', 'opened 1 reused'],
  },
  {
    name: 'an id for the only open call that has neither',
    steps: [
      { name: 'f', args: '{' },
      { id: 'a', args: '}' },
    ],
    want: ['opened 0', 'continued 0'],
  },
  {
    name: 'a known id under another index: another call of that id',
    steps: [
      { index: 0, id: 'a', name: 'f', args: '{}' },
      { index: 1, id: 'a', name: 'f', args: '{}' },
    ],
    want: ['opened 0', 'opened 1 repeated'],
  },
  {
    name: 'the same before the first one is whole, and both go on',
    steps: [
      { index: 0, id: 'a', name: 'f', args: '{' },
      { index: 1, id: 'a', name: 'g', args: '{' },
      { index: 0, id: 'a', name: 'f', args: '}' },
      { index: 1, id: 'a', args: '}' },
    ],
    want: ['opened 0', 'opened 1 repeated', 'continued 0', 'continued 1'],
  },
  {
    name: 'a known id without an index: its call',
    steps: [
      { index: 0, id: 'a', name: 'f', args: '{' },
      { id: 'a', args: '}' },
    ],
    want: ['opened 0', 'continued 0'],
  },
  {
    name: 'a known id again with a name and arguments, when its call is whole',
    steps: [
      { index: 0, id: 'a', name: 'f', args: '{}' },
      { index: 0, id: 'a', name: 'f', args: '{}' },
    ],
    want: ['opened 0', 'opened 1 repeated'],
  },
  {
    name: 'a known id again with a name and no arguments: nothing new',
    steps: [
      { index: 0, id: 'a', name: 'f', args: '{}' },
      { index: 0, id: 'a', name: 'f', args: ' ' },
    ],
    want: ['opened 0', 'continued 0'],
  },
  {
    name: 'a frozen call takes arguments only to contradict it',
    steps: [{ index: 0, id: 'a', name: 'f', args: '{}' }, 'freeze', { index: 0, args: '{' }, { args: '{' }],
    want: ['opened 0', 'frozen', 'continued 0', 'continued 0'],
  },
  {
    name: 'after a freeze a name opens a new call',
    steps: [{ id: 'a', name: 'f', args: '{}' }, 'freeze', { name: 'g', args: '{' }, { args: '}' }],
    want: ['opened 0', 'frozen', 'opened 1', 'continued 1'],
  },
  {
    name: 'after a freeze a new id on the index opens a new call',
    steps: [
      { index: 0, id: 'a', name: 'f', args: '{' },
      'freeze',
      { index: 0, id: 'b', args: '{' },
      { index: 0, args: '}' },
    ],
    want: ['opened 0', 'frozen', 'opened 1 reused', 'continued 1'],
  },
  {
    name: 'indexes are keys of any kind',
    steps: [
      { index: -1, id: 'a', name: 'f' },
      { index: 'x', id: 'b', name: 'g' },
      { index: -1, args: '{' },
      { index: 'x', args: '{' },
    ],
    want: ['opened 0', 'opened 1', 'continued 0', 'continued 1'],
  },
  {
    name: 'no more calls than allowed, and those that are open go on',
    steps: [
      { index: 0, id: 'a', name: 'f' },
      { index: 1, id: 'b', name: 'g' },
      { index: 2, id: 'c', name: 'h' },
      { index: 1, args: '{' },
    ],
    want: ['opened 0', 'opened 1', 'full', 'continued 1'],
    options: { maxCalls: 2 },
  },
]

describe('SlotTable', () => {
  test.each(rows)('$name', ({ steps, want, options }) => {
    expect(resolved(steps, options)).toEqual(want)
  })

  test('messages name what contradicts, clipped', () => {
    const table = new SlotTable<CallSlot>({ maxCalls: 8, idChange: 'conflict', create: (slot) => ({ ...slot }) })
    const fragment = { index: 0, name: undefined, hasArguments: true, afterSibling: false }
    const opened = table.resolve({ ...fragment, id: 'first', name: 'f' })
    expect(opened.kind).toBe('opened')
    const match = table.resolve({ ...fragment, id: 'x'.repeat(1_000_000) })
    expect(match).toMatchObject({ kind: 'conflict', message: expect.stringContaining('"first"') as string })
    expect('message' in match && match.message.length).toBeLessThan(200)
  })
})
