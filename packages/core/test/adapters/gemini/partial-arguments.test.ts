import { describe, expect, test } from 'vitest'
import { PartialArguments } from '../../../src/adapters/gemini/partial-arguments.ts'

const text = (jsonPath: string, stringValue: string, willContinue?: boolean): object => ({
  jsonPath,
  stringValue,
  ...(willContinue !== undefined && { willContinue }),
})

function build(...lists: readonly unknown[]): { text: string; fault: string | undefined } {
  const pieces = new PartialArguments()
  let fault: string | undefined
  for (const list of lists) fault ??= pieces.apply(list)?.kind
  return { text: pieces.toText(), fault }
}

describe('arguments in pieces', () => {
  test.each<{ name: string; lists: unknown[]; text: string }>([
    { name: 'nothing', lists: [[]], text: '{}' },
    { name: 'one text', lists: [[text('$.a', 'x')]], text: '{"a":"x"}' },
    {
      name: 'a text that continues',
      lists: [[text('$.a', 'x', true)], [text('$.a', 'y', true)], [text('$.a', '')]],
      text: '{"a":"xy"}',
    },
    { name: 'two spellings of one path', lists: [[text('$.a', 'x', true), text("$['a']", 'y')]], text: '{"a":"xy"}' },
    {
      name: 'two texts that take turns',
      lists: [
        [text('$.a', '1', true), text('$.b', '2', true)],
        [text('$.a', '3'), text('$.b', '4')],
      ],
      text: '{"a":"13","b":"24"}',
    },
    {
      name: 'every kind of value',
      lists: [
        [
          { jsonPath: '$.n', numberValue: 1.5 },
          { jsonPath: '$.b', boolValue: false },
          { jsonPath: '$.z', nullValue: 'NULL_VALUE' },
          { jsonPath: '$.y', nullValue: null },
        ],
      ],
      text: '{"n":1.5,"b":false,"z":null,"y":null}',
    },
    {
      name: 'a value beside nulls',
      lists: [[{ jsonPath: '$.a', stringValue: 'x', numberValue: null }]],
      text: '{"a":"x"}',
    },
    {
      name: 'containers',
      lists: [[text('$.a[0].b', 'x'), text('$.a[0].c', 'y'), text('$.a[1].b', 'z')]],
      text: '{"a":[{"b":"x","c":"y"},{"b":"z"}]}',
    },
    { name: 'a prototype key', lists: [[text('$.__proto__.a', 'x')]], text: '{"__proto__":{"a":"x"}}' },
    { name: 'an empty text', lists: [[text('$.a', '')]], text: '{"a":""}' },
  ])('$name', ({ lists, text: wanted }) => {
    expect(build(...lists)).toEqual({ text: wanted, fault: undefined })
    expect({}).not.toHaveProperty('a')
  })

  test('are not whole while a text is to be continued', () => {
    expect(build([text('$.a', 'x', true)]).text).toBe('{"a":"x"')
    expect(() => JSON.parse(build([text('$.a', 'x', true), text('$.b', 'y')]).text) as unknown).toThrow(SyntaxError)
  })

  test.each<{ name: string; list: unknown; fault: 'unreadable' | 'contradiction' }>([
    { name: 'no list', list: {}, fault: 'unreadable' },
    { name: 'no piece', list: [null], fault: 'unreadable' },
    { name: 'no path', list: [{ stringValue: 'x' }], fault: 'unreadable' },
    { name: 'a path to everything', list: [text('$', 'x')], fault: 'unreadable' },
    { name: 'a path to several places', list: [text('$.*', 'x')], fault: 'unreadable' },
    { name: 'no value', list: [{ jsonPath: '$.a' }], fault: 'unreadable' },
    { name: 'a number as text', list: [{ jsonPath: '$.a', numberValue: '1' }], fault: 'unreadable' },
    { name: 'a text that is closed', list: [text('$.a', 'x'), text('$.a', 'y')], fault: 'contradiction' },
    { name: 'a value over a container', list: [text('$.a.b', 'x'), text('$.a', 'y')], fault: 'contradiction' },
    { name: 'a container over a value', list: [text('$.a', 'x'), text('$.a.b', 'y')], fault: 'contradiction' },
    { name: 'an index of an object', list: [text('$.a.b', 'x'), text('$.a[0]', 'y')], fault: 'contradiction' },
    { name: 'a key of a list', list: [text('$.a[0]', 'x'), text('$.a.b', 'y')], fault: 'contradiction' },
    { name: 'a hole in a list', list: [text('$.a[1000000]', 'x')], fault: 'contradiction' },
    { name: 'an index at the root', list: [text('$[0]', 'x')], fault: 'contradiction' },
    {
      name: 'a text that goes on as a number',
      list: [text('$.a', 'x', true), { jsonPath: '$.a', numberValue: 1 }],
      fault: 'contradiction',
    },
  ])('$name: $fault', ({ list, fault }) => {
    expect(build(list).fault).toBe(fault)
  })

  test('know about how long they are', () => {
    const pieces = new PartialArguments()
    pieces.apply([text('$.a', 'é'.repeat(50))])
    expect(pieces.bytes).toBeGreaterThanOrEqual(100)
    expect(pieces.bytes).toBeLessThan(120)
  })
})
