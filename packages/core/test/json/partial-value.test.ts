import { describe, expect, expectTypeOf, test } from 'vitest'
import type { ReadyToolCall } from '../../src/chunk/stream-event.ts'
import { createPartialJsonReader } from '../../src/json/partial.ts'
import { openPath, toPlain } from '../../src/json/partial-value.ts'
import type { PartialArray, PartialJson, PartialObject, PartialString } from '../../src/json/partial-value.ts'
import type { JsonObject, JsonValue } from '../../src/json/value.ts'
import { textOf } from './partial-text.ts'

function valueOf(...pieces: string[]): PartialJson | undefined {
  const reader = createPartialJsonReader()
  for (const piece of pieces) reader.push(piece)
  return reader.value()
}

function nodeOf<Kind extends PartialJson['kind']>(
  kind: Kind,
  ...pieces: string[]
): Extract<PartialJson, { kind: Kind }> {
  const value = valueOf(...pieces)
  if (value?.kind !== kind) throw new Error(`${pieces.join('')} is no ${kind}`)
  return value as Extract<PartialJson, { kind: Kind }>
}

// The compiler checks these (`npm run typecheck`): each one would be an error there if the types fitted.
describe('types', () => {
  test('a partial value fits nowhere a JSON value or the arguments of a call are expected', () => {
    expectTypeOf<PartialJson>().not.toExtend<JsonValue>()
    expectTypeOf<PartialObject>().not.toExtend<JsonObject>()
    expectTypeOf<PartialObject>().not.toExtend<Readonly<Record<string, unknown>>>()
    expectTypeOf<PartialArray>().not.toExtend<readonly JsonValue[]>()
    expectTypeOf<PartialString>().not.toExtend<JsonValue>()
    expectTypeOf<PartialObject>().not.toExtend<ReadyToolCall['parsedArguments']>()
    const partial = nodeOf('object', '{"path":"/tmp/a","text":"')
    // @ts-expect-error -- a preview is no argument of a call
    const parsedArguments: ReadyToolCall['parsedArguments'] = partial
    expect(Object.keys(parsedArguments)).not.toContain('path')
  })

  test('neither does its plain copy', () => {
    expectTypeOf(toPlain).returns.toEqualTypeOf<unknown>()
    // @ts-expect-error -- a preview is no argument of a call
    const parsedArguments: ReadyToolCall['parsedArguments'] = toPlain(valueOf('{"path":"/tmp/a'))
    expect(parsedArguments).toEqual({ path: '/tmp/a' })
  })

  test('and nothing else fits where a partial value is expected', () => {
    expectTypeOf<JsonValue>().not.toExtend<PartialJson>()
    expectTypeOf<{ kind: 'string'; open: boolean; text: string }>().not.toExtend<PartialJson>()
    expectTypeOf<{ kind: 'null'; open: false; value: null }>().not.toExtend<PartialJson>()
    // @ts-expect-error -- a partial value comes from the reader
    expect(textOf({ kind: 'null', open: false, value: null })).toBe('null')
  })
})

describe('string', () => {
  test('textFrom gives what came since, at every place', () => {
    const pieces = ['"', 'ab', '', 'c\\n', '\\ud83d', '\\ude00d', 'efgh']
    const string = nodeOf('string', ...pieces)
    expect(string.text).toBe('abc\n😀defgh')
    for (let start = 0; start <= string.text.length + 2; start++) {
      expect(string.textFrom(start)).toBe(string.text.slice(start))
    }
    const closed = nodeOf('string', ...pieces, 'i"')
    for (let start = 0; start <= closed.text.length + 2; start++) {
      expect(closed.textFrom(start)).toBe(closed.text.slice(start))
    }
  })

  test('the next string starts anew', () => {
    const array = nodeOf('array', '["ab', 'cd"', ',"ef', 'gh')
    const string = array.at(1)
    expect(string?.kind === 'string' && [0, 3, -3].map((start) => string.textFrom(start))).toEqual(['efgh', 'h', 'fgh'])
  })

  test.each([-3, -100, 1.5, Number.NaN, Infinity, -Infinity])('textFrom(%d) is text.slice(%d)', (start) => {
    const string = nodeOf('string', '"abc', 'def', 'g')
    expect(string.textFrom(start)).toBe('abcdefg'.slice(start))
  })

  test('a reader by cursor gets the whole text, and earlier values give no more than they had', () => {
    const reader = createPartialJsonReader()
    reader.push('"')
    const earlier: { string: PartialString; text: string }[] = []
    let read = ''
    for (const piece of ['one ', 'two\\', 'n', '\\u00', 'e9 \ud83d', '\ude00', ' end']) {
      reader.push(piece)
      const string = reader.value() as PartialString
      read += string.textFrom(read.length)
      earlier.push({ string, text: string.text })
    }
    expect(read).toBe('one two\né 😀 end')
    for (const { string, text } of earlier) expect(string.textFrom(0)).toBe(text)
  })
})

describe('number', () => {
  test('keeps what the text said beside the double', () => {
    const array = nodeOf('array', '[90071992547', '40993,1e2 ')
    expect([...array].map((node) => (node.kind === 'number' ? [node.text, node.value] : node))).toEqual([
      ['9007199254740993', 9_007_199_254_740_992],
      ['1e2', 100],
    ])
  })
})

describe('array', () => {
  test('an open one counts its open item', () => {
    const array = nodeOf('array', '[1,null,"x')
    expect(array.length).toBe(3)
    expect([...array].map(textOf)).toEqual(['1', 'null', '"x'])
    expect([0, 1, 2, 3, -1, -2, -3, -4, 0.5, Number.NaN].map((at) => textOf(array.at(at)))).toEqual([
      '1',
      'null',
      '"x',
      '',
      '"x',
      'null',
      '1',
      '',
      '',
      '',
    ])
  })

  test('an earlier view does not see later items', () => {
    const reader = createPartialJsonReader()
    reader.push('[1,2,')
    const earlier = reader.value() as PartialArray
    reader.push('3,4,[')
    expect(textOf(reader.value())).toBe('[1,2,3,4,[')
    expect(earlier.length).toBe(2)
    expect([textOf(earlier.at(2)), textOf(earlier.at(3)), textOf(earlier.at(-1))]).toEqual(['', '', '2'])
  })
})

describe('object', () => {
  test('members by key and in order', () => {
    const object = nodeOf('object', '{"b":1,"a":[],"":null,"c":"x')
    expect(object.size).toBe(4)
    expect(object.openKey).toBe('c')
    expect([...object.entries()].map(([key, value]) => [key, textOf(value)])).toEqual([
      ['b', '1'],
      ['a', '[]'],
      ['', 'null'],
      ['c', '"x'],
    ])
    expect(['b', 'a', '', 'c', 'd'].map((key) => textOf(object.get(key)))).toEqual(['1', '[]', 'null', '"x', ''])
  })

  test('without an open member there is no openKey', () => {
    expect([nodeOf('object', '{"a":1').openKey, nodeOf('object', '{"a":"x","b').openKey]).toEqual([
      undefined,
      undefined,
    ])
    expect(nodeOf('object', '{"a":"x"}').openKey).toBeUndefined()
  })

  test('names from Object.prototype are keys like any other', () => {
    const object = nodeOf('object', '{"constructor":1,"__proto__":{"x":2},')
    const found = ['constructor', '__proto__', 'hasOwnProperty', 'toString'].map((key) => textOf(object.get(key)))
    expect(found).toEqual(['1', '{"x":2}', '', ''])
  })

  test('a key that came again hides the earlier value from get, not from earlier views', () => {
    const reader = createPartialJsonReader()
    const views: PartialObject[] = []
    for (const piece of ['{"a":1,', '"b":2,', '"a":3,', '"a":"x', '","c":4', '}']) {
      reader.push(piece)
      views.push(reader.value() as PartialObject)
    }
    const shown = (): unknown =>
      views.map((view) => [view.size, ...['a', 'b', 'c'].map((key) => textOf(view.get(key)))])
    const want = [
      [1, '1', '', ''],
      [2, '1', '2', ''],
      [3, '3', '2', ''],
      [4, '"x', '2', ''],
      [4, '"x"', '2', ''],
      [5, '"x"', '2', '4'],
    ]
    expect(shown()).toEqual(want)
    expect(shown()).toEqual(want)
    expect(toPlain(views[5])).toEqual({ a: 'x', b: 2, c: 4 })
  })

  test('a look-up between two values finds what came later, too', () => {
    const reader = createPartialJsonReader()
    reader.push('{"a":1,')
    expect(textOf((reader.value() as PartialObject).get('b'))).toBe('')
    reader.push('"b":2,')
    expect(textOf((reader.value() as PartialObject).get('b'))).toBe('2')
  })
})

describe('toPlain', () => {
  test.each([
    { text: '', want: undefined },
    { text: 'null', want: null },
    { text: '"a', want: 'a' },
    { text: '{', want: {} },
    { text: '{"a":[1,{"b":"c', want: { a: [1, { b: 'c' }] } },
    { text: '[[],{},[[false,tru', want: [[], {}, [[false]]] },
  ])('$text', ({ text, want }) => {
    expect(toPlain(valueOf(text))).toEqual(want)
  })

  test('a key __proto__ is an own property and changes no prototype', () => {
    const plain = toPlain(valueOf('{"__proto__":{"polluted":true},"a":{"__proto__":"x')) as Record<string, object>
    expect(Object.keys(plain)).toEqual(['__proto__', 'a'])
    expect(Object.getPrototypeOf(plain)).toBe(Object.prototype)
    expect(plain['polluted']).toBeUndefined()
    expect(Object.getOwnPropertyDescriptor(plain['a'], '__proto__')).toEqual({
      value: 'x',
      writable: true,
      enumerable: true,
      configurable: true,
    })
  })

  test('copies are independent', () => {
    const value = valueOf('{"a":[1,2]')
    ;(toPlain(value) as { a: number[] }).a.push(3)
    expect(toPlain(value)).toEqual({ a: [1, 2] })
  })
})

describe('openPath', () => {
  test.each([
    { text: '', want: undefined },
    { text: '{"a":1}', want: undefined },
    { text: '{', want: '' },
    { text: '"x', want: '' },
    { text: '{"a":', want: '' },
    { text: '{"a":12', want: '' },
    { text: '{"a":"x"', want: '' },
    { text: '{"a":"x', want: '/a' },
    { text: '{"a":{"b":[1,"x', want: '/a/b/1' },
    { text: '{"a":{"b":[1,', want: '/a/b' },
    { text: '[[[]],[', want: '/1' },
    { text: '{"":{"~/":"', want: '//~0~1' },
    { text: '{"\\n\\u202e":"', want: '/\n\u202e' },
    { text: '{"a":[1],"a":["', want: '/a/0' },
  ])('$text is open at $want', ({ text, want }) => {
    expect(openPath(valueOf(text))).toBe(want)
  })
})
