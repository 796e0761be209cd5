import { describe, expect, test } from 'vitest'
import { readFunctionCall, readToolFragment } from '../../../src/adapters/openai-chat/tool-fragment.ts'

const NO_FIELDS = {
  index: undefined,
  id: undefined,
  name: undefined,
  argumentsDelta: '',
  serialised: false,
  freeText: false,
  metadata: undefined,
}

/** What a fragment says, but for its kind, which has a test of its own. */
function fields(raw: unknown): unknown {
  return withoutKind(readToolFragment(raw))
}

function fieldsOfCall(raw: unknown): unknown {
  return withoutKind(readFunctionCall(raw))
}

function withoutKind(fragment: ReturnType<typeof readToolFragment>): unknown {
  if (typeof fragment !== 'object') return fragment
  const { kind: _kind, ...rest } = fragment
  return rest
}

test('the kind is what the fragment holds', () => {
  expect(readToolFragment({ function: {} })).toMatchObject({ kind: 'function' })
  expect(readToolFragment({ custom: {} })).toMatchObject({ kind: 'custom' })
  expect(readToolFragment({ index: 0 })).toMatchObject({ kind: undefined })
})

describe('readToolFragment', () => {
  test('the plain shape', () => {
    expect(fields({ index: 0, id: 'c1', type: 'function', function: { name: 'f', arguments: '{' } })).toEqual({
      ...NO_FIELDS,
      index: 0,
      id: 'c1',
      name: 'f',
      argumentsDelta: '{',
    })
  })

  test.each([null, undefined])('%j is nothing at all', (raw) => {
    expect(fields(raw)).toBeUndefined()
  })

  test.each([7, 'f', true, [], [{ index: 0 }], { function: [] }, { name: 'f' }, { index: 0, arguments: '{}' }])(
    '%j can be no fragment',
    (raw) => {
      expect(fields(raw)).toEqual(expect.any(String))
    },
  )

  test.each([
    {},
    { index: null, id: null, type: null, function: null },
    { id: '', function: { name: '', arguments: null } },
    { id: ' ', function: { name: '\t' } },
    { id: 'null', function: { name: 'null' } },
    { id: {}, function: { name: [] } },
  ])('%j says nothing', (raw) => {
    expect(fields(raw)).toEqual(NO_FIELDS)
  })

  test.each([
    { raw: 0, index: 0 },
    { raw: -1, index: -1 },
    { raw: 1.5, index: 1.5 },
    { raw: '0', index: 0 },
    { raw: '12', index: 12 },
    { raw: 'x', index: 'text:x' },
    { raw: '', index: undefined },
    { raw: ' ', index: undefined },
    { raw: null, index: undefined },
    { raw: {}, index: undefined },
    { raw: false, index: undefined },
  ])('index $raw is $index', ({ raw, index }) => {
    expect(fields({ index: raw })).toEqual({ ...NO_FIELDS, index })
  })

  test('an id that is a number is its text', () => {
    expect(fields({ id: 17 })).toEqual({ ...NO_FIELDS, id: '17' })
  })

  test('blanks inside an id or a name stay', () => {
    expect(fields({ id: ' a ', function: { name: 'f ' } })).toEqual({ ...NO_FIELDS, id: ' a ', name: 'f ' })
  })

  test.each([
    { args: { a: 1 }, text: '{"a":1}' },
    { args: [1], text: '[1]' },
    { args: 7, text: '7' },
    { args: false, text: 'false' },
  ])('arguments $args are serialised once', ({ args, text }) => {
    expect(fields({ function: { arguments: args } })).toEqual({
      ...NO_FIELDS,
      argumentsDelta: text,
      serialised: true,
    })
  })

  test('arguments that nest too deeply to be written down are a hole, not a crash', () => {
    const text = '['.repeat(50_000) + ']'.repeat(50_000)
    const fragment = fields({ function: { arguments: JSON.parse(text) as unknown } })
    // An engine whose `JSON.stringify` needs no stack (newer V8) has nothing to give up on.
    expect([expect.any(String), { ...NO_FIELDS, argumentsDelta: text, serialised: true }]).toContainEqual(fragment)
  })

  test('a custom tool takes free text', () => {
    expect(fields({ index: 0, id: 'c1', type: 'custom', custom: { name: 'grep', input: 'a b' } })).toEqual({
      ...NO_FIELDS,
      index: 0,
      id: 'c1',
      name: 'grep',
      argumentsDelta: 'a b',
      freeText: true,
    })
  })

  test('fields of the provider are kept, without a prototype', () => {
    const raw = JSON.parse(
      '{"index":0,"extra_content":{"google":{"thought_signature":"s"}},"__proto__":{"a":1},"none":null}',
    ) as unknown
    const fragment = readToolFragment(raw)
    expect(fragment).toMatchObject({ metadata: { extra_content: { google: { thought_signature: 's' } } } })
    const { metadata } = fragment as { metadata: object }
    expect(Object.getPrototypeOf(metadata)).toBe(null)
    expect(Object.keys(metadata).toSorted()).toEqual(['__proto__', 'extra_content'])
  })
})

describe('readFunctionCall', () => {
  test('has one call, always the same', () => {
    const first = readFunctionCall({ name: 'f', arguments: '' })
    const second = readFunctionCall({ arguments: '{}' })
    expect(first).toMatchObject({ name: 'f', argumentsDelta: '', id: undefined })
    expect(second).toMatchObject({ name: undefined, argumentsDelta: '{}' })
    expect((first as { index: unknown }).index).toBe((second as { index: unknown }).index)
    expect((first as { index: unknown }).index).not.toBeUndefined()
  })

  test('null is nothing, anything else that is no object can be no call', () => {
    expect(fieldsOfCall(null)).toBeUndefined()
    expect(fieldsOfCall('f')).toEqual(expect.any(String))
    expect(fieldsOfCall([])).toEqual(expect.any(String))
  })
})
