import { beforeEach, describe, expect, test, vi } from 'vitest'
import { createPartialJsonReader } from '../../src/json/partial.ts'
import type * as PartialValue from '../../src/json/partial-value.ts'
import type { PartialJson, TextPiece } from '../../src/json/partial-value.ts'
import { textOf } from './partial-text.ts'

/**
 * Work counted instead of timed: every node that is made, every list of finished items that a view stands on (one list per
 * array or object means that no view has copied its items), and every step back through the pieces of a string.
 */
const made = vi.hoisted(() => ({ nodes: 0, lists: new Set<unknown>(), stepsBack: 0 }))

vi.mock('../../src/json/partial-value.ts', async (importOriginal) => {
  const original = await importOriginal<typeof PartialValue>()
  return {
    ...original,
    PartialString: counted(
      class extends original.PartialString {
        constructor(text: string, open: boolean, lastPiece?: TextPiece) {
          super(text, open, countSteps(lastPiece))
        }
      },
    ),
    PartialNumber: counted(original.PartialNumber),
    PartialArray: counted(original.PartialArray),
    PartialObject: counted(original.PartialObject),
  }
})

function counted<Class extends new (...args: never[]) => object>(node: Class): Class {
  return new Proxy(node, {
    construct(target, args: unknown[]) {
      made.nodes++
      if (typeof args[0] === 'object') made.lists.add(args[0])
      return new target(...(args as never[]))
    },
  })
}

beforeEach(() => {
  made.nodes = 0
  made.lists.clear()
  made.stepsBack = 0
})

function countSteps(piece: TextPiece | undefined): TextPiece | undefined {
  if (piece === undefined) return undefined
  return {
    text: piece.text,
    get before() {
      made.stepsBack++
      return countSteps(piece.before)
    },
  }
}

/** Pushes all pieces and takes a value after each. */
function readAll(pieces: Iterable<string>): PartialJson[] {
  const reader = createPartialJsonReader()
  const values: PartialJson[] = []
  for (const piece of pieces) {
    reader.push(piece)
    values.push(reader.value() as PartialJson)
  }
  expect(reader.state).toBe('whole')
  return values
}

const repeat = <Item>(count: number, piece: (at: number) => Item): Item[] =>
  Array.from({ length: count }, (_, at) => piece(at))

describe('nodes made with a value after every fragment', () => {
  test('a string of 32,768 fragments in an object: two nodes per fragment', () => {
    const fragments = 32_768
    const values = readAll(['{"text":"', ...repeat(fragments, (at) => `word ${at} `), '"}'])
    expect(new Set(values).size).toBe(fragments + 2)
    // One object and one string per value; at the end they are made once more, closed.
    expect(made.nodes).toBe(2 * (fragments + 2))
    expect(made.lists.size).toBe(1)
  })

  test('an array of 10,000 numbers: two nodes per number', () => {
    const count = 10_000
    const values = readAll(['[', ...repeat(count, (at) => `${at},`), '0]'])
    expect(made.nodes).toBe(2 * (count + 1) + 1)
    expect(made.lists.size).toBe(1)
    // The lists were shared, so the values must have been, too: read some of them whole.
    const last = values[values.length - 1] as PartialJson
    const items = last.kind === 'array' ? [...last] : []
    const differing = values.slice(0, -1).filter((value, at) => {
      if (value.kind !== 'array' || value.length !== at) return true
      const step = at % 997 === 0 ? 1 : 1000
      for (let place = 0; place < at; place += step) if (value.at(place) !== items[place]) return true
      return value.at(-1) !== items[at - 1]
    })
    expect(differing).toEqual([])
  })

  test('an object of 10,000 keys, three fragments a member: a node per member and value', () => {
    const count = 10_000
    const pieces = repeat(count, (at) => [`"key${at}`, `":"v`, `${at}",`]).flat()
    const values = readAll(['{', ...pieces, '"last":1}'])
    // Per member an object and a string when the value begins, and both again when it ends; the key alone makes nothing.
    expect(made.nodes).toBe(1 + 4 * count + 2)
    expect(made.lists.size).toBe(1)
    const last = values[values.length - 1] as PartialJson
    const middle = values[1 + 3 * 5000] as PartialJson
    if (last.kind !== 'object' || middle.kind !== 'object') throw new Error('no objects')
    expect([last.size, middle.size]).toEqual([count + 1, 5000])
    for (const at of [0, 17, 4999]) expect(middle.get(`key${at}`)).toBe(last.get(`key${at}`))
    expect([textOf(last.get('key5000')), textOf(middle.get('key5000'))]).toEqual(['"v5000"', ''])
  })

  test('depth counts, width does not', () => {
    const depth = 100
    const pieces = repeat(1000, () => 'x')
    readAll([`${'[1,2,3,'.repeat(depth)}"`, ...pieces, `"${']'.repeat(depth)}`])
    // One number per item, a view of every array and of the string per value, and the closed ones at the end.
    expect(made.nodes).toBe(3 * depth + (depth + 1) * (pieces.length + 1) + (depth + 1))
    expect(made.lists.size).toBe(depth)
  })

  test('a reader by cursor steps over what came since, not over what it has read', () => {
    const fragments = 10_000
    const reader = createPartialJsonReader()
    reader.push('"')
    let length = 0
    for (let at = 0; at < fragments; at++) {
      reader.push(`word ${at} `)
      const value = reader.value()
      if (value?.kind === 'string') length += value.textFrom(length).length
    }
    expect(made.stepsBack).toBe(fragments)
    reader.push('"')
    // Two more for its quotes.
    expect(textOf(reader.value())).toHaveLength(length + 2)
  })

  test('nothing is made while nobody asks but what is finished', () => {
    const reader = createPartialJsonReader()
    for (const piece of ['[1,[2,"a', ...repeat(1000, () => 'b'), '"],{"a":[']) reader.push(piece)
    expect(made.nodes).toBe(4)
    reader.value()
    reader.value()
    expect(made.nodes).toBe(7)
  })
})
