import { describe, expect, test } from 'vitest'
import { readArguments } from '../../src/tool-call/arguments.ts'
import type { ArgumentsOptions } from '../../src/tool-call/arguments.ts'
import type { ArgumentRepair } from '../../src/chunk/argument-repair.ts'

const PLAIN: ArgumentsOptions = { maxDepth: 128, repairs: [], fragments: [] }

function repaired(text: string, ...repairs: ArgumentRepair[]) {
  return readArguments(text, { maxDepth: 128, repairs, fragments: [text] })
}

describe('readArguments', () => {
  test.each(['', ' ', '\n\t\r '])('%j is an empty object, and says so', (text) => {
    expect(readArguments(text, PLAIN)).toEqual({ ok: true, value: {}, empty: true })
  })

  test.each([
    { text: '{"a":[1,null]}', value: { a: [1, null] } },
    { text: ' {} ', value: {} },
  ])('$text', ({ text, value }) => {
    expect(readArguments(text, PLAIN)).toEqual({ ok: true, value })
  })

  test.each([
    { text: '[1]', what: 'an array' },
    { text: '"{}"', what: 'a string' },
    { text: '1', what: 'a number' },
    { text: 'null', what: 'null' },
    { text: 'true', what: 'a boolean' },
  ])('$text is $what, and arguments are an object', ({ text, what }) => {
    const result = readArguments(text, PLAIN)
    expect(result).toMatchObject({ ok: false, code: 'arguments_invalid', offset: 0 })
    expect(result).toHaveProperty('message', expect.stringContaining(what))
  })

  test.each([
    { text: '{"a":', code: 'arguments_incomplete', offset: 5 },
    { text: '{"a":"', code: 'arguments_incomplete', offset: 6 },
    { text: '{a', code: 'arguments_invalid', offset: 1 },
    { text: '{} x', code: 'arguments_invalid', offset: 3 },
    { text: "{'a':1}", code: 'arguments_invalid', offset: 1 },
  ])('$text: $code at $offset', ({ text, code, offset }) => {
    expect(readArguments(text, PLAIN)).toMatchObject({ ok: false, code, offset })
  })

  test.each([
    { text: '{"a":1,"a":1}', path: '/a', offset: 7 },
    { text: '{"a":{"__proto__":1}}', path: '/a/__proto__', offset: 6 },
    { text: '{"a":[1e400]}', path: '/a/0', offset: 6 },
  ])('$text is unsafe at $path', ({ text, path, offset }) => {
    const result = readArguments(text, PLAIN)
    expect(result).toMatchObject({ ok: 'unsafe', offset })
    expect(result).toHaveProperty('message', expect.stringContaining(path))
  })

  test('the first repair that gives an object is taken, and named', () => {
    expect(repaired('{"a":1}}', 'missing-brackets', 'extra-brackets', 'trailing-data')).toEqual({
      ok: true,
      value: { a: 1 },
      repair: 'extra-brackets',
    })
    expect(repaired('{"a":1}}', 'trailing-data', 'extra-brackets')).toMatchObject({ repair: 'trailing-data' })
  })

  test('a repair that does not help leaves the first fault as it was', () => {
    expect(repaired('{"a":"x', 'missing-brackets', 'repeated')).toMatchObject({
      ok: false,
      code: 'arguments_incomplete',
      offset: 7,
    })
  })

  test('repairs never make safe what is unsafe', () => {
    expect(repaired('{"a":1,"a":2}}', 'extra-brackets')).toMatchObject({ ok: 'unsafe' })
    expect(repaired('{"a":1,"a":2}', 'extra-brackets')).toMatchObject({ ok: 'unsafe' })
  })

  test('repairs do not stand in for an array, and do not lift the depth', () => {
    expect(repaired('[1]]', 'extra-brackets')).toMatchObject({ ok: false, code: 'arguments_invalid' })
    const deep = readArguments('{"a":[1]}}', { maxDepth: 1, repairs: ['extra-brackets'], fragments: [] })
    expect(deep).toMatchObject({ ok: false, code: 'arguments_invalid' })
  })
})
