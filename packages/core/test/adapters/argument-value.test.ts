import { expect, test } from 'vitest'
import { argumentText, isUnsafe, UNSAFE } from '../../src/adapters/argument-value.ts'

const place = (value: string): { event: { data: string }; pointer: string } => ({
  event: { data: `{"p":0.10000000000000000555,"calls":[{"args":${value},"argsBefore":9007199254740993}]}` },
  pointer: '/calls/0/args',
})

test.each<[string, unknown, string | undefined]>([
  ['an object', { a: [1, 'x'] }, '{"a":[1,"x"]}'],
  ['nothing', undefined, '{}'],
  ['null', null, '{}'],
  ['text, as it is', '{"a": 1}', '{"a": 1}'],
  ['a list', [1], '[1]'],
  ['a number', 7, '7'],
])('%s', (_, value, text) => {
  expect(argumentText(value, undefined)).toEqual({ text })
  expect(argumentText(value, place('{}'))).toEqual({ text })
})

test('a value that nests too deeply is not written down', () => {
  let deep: unknown = 1
  for (let i = 0; i < 100_000; i++) deep = [deep]
  // An engine whose `JSON.stringify` needs no stack (newer V8) has nothing to give up on.
  const whole = { text: `${'['.repeat(100_000)}1${']'.repeat(100_000)}` }
  const written = argumentText(deep, undefined)
  expect(written === undefined || written.text === whole.text).toBe(true)
})

const UNSAFE_TEXT: unknown = { text: '{}', unsafe: UNSAFE }

test.each([
  ['{"n":1.0,"m":1e2}', false],
  ['{"n":9007199254740993}', true],
  ['{"a":{"b":[0.10000000000000000555]}}', true],
  ['{"a":1,"a":1}', true],
  ['{"__proto__":1}', true],
  ['9007199254740993', true],
])('%s is unsafe: %s', (value, unsafe) => {
  expect(isUnsafe(place(value))).toBe(unsafe)
  expect(argumentText({}, place(value))).toEqual(unsafe ? UNSAFE_TEXT : { text: '{}' })
})

test('a key that is there twice on the way to the value is unsafe too', () => {
  expect(isUnsafe({ event: { data: '{"calls":[{"args":{}}],"calls":[{"args":{}}]}' }, pointer: '/calls/0/args' })).toBe(
    true,
  )
  expect(isUnsafe({ event: { data: '{"x":{"a":1,"a":2},"calls":[{"args":{}}]}' }, pointer: '/calls/0/args' })).toBe(
    false,
  )
})

test('what can not be looked through is unsafe: no JSON, more findings than are listed', () => {
  expect(isUnsafe({ event: { data: '{"a":1}\n{"a":2}' }, pointer: '/a' })).toBe(true)
  const many = Array.from({ length: 20 }, () => '9007199254740993').join(',')
  expect(isUnsafe({ event: { data: `{"x":[${many}],"a":1}` }, pointer: '/a' })).toBe(true)
})
