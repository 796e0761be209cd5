import { describe, expect, test } from 'vitest'
import type { JsonSchema } from '../../src/define/json-schema.ts'
import { frozenSchema } from '../../src/validate/frozen-schema.ts'
import { lintSchema } from '../../src/validate/lint-schema.ts'
import { SchemaError } from '../../src/validate/schema-error.ts'

const parse = (json: string) => JSON.parse(json) as JsonSchema
const errorsOf = (schema: JsonSchema) =>
  lintSchema(schema)
    .filter(({ severity }) => severity === 'error')
    .map(({ path }) => path)
const warningsOf = (schema: JsonSchema) =>
  lintSchema(schema)
    .filter(({ severity }) => severity === 'warning')
    .map(({ path }) => path)
const field = (schema: JsonSchema): JsonSchema => ({ type: 'object', properties: { a: schema } })

function nested(levels: number): JsonSchema {
  return levels === 0 ? { type: 'string' } : { type: 'object', properties: { a: nested(levels - 1) } }
}

describe('errors', () => {
  test.each([
    ['a field __proto__', parse('{"type":"object","properties":{"__proto__":{"type":"string"}}}'), '/properties'],
    ['a required __proto__', parse('{"type":"object","required":["__proto__"]}'), '/required'],
    [
      'a field __proto__ deep inside',
      field(parse('{"anyOf":[{"properties":{"__proto__":{}}}]}')),
      '/properties/a/anyOf/0/properties',
    ],
    ['arguments that are no object', { type: 'array' }, '/type'],
    ['a look-ahead', field({ type: 'string', pattern: '(?=a)' }), '/properties/a/pattern'],
    ['a look-ahead in a name', { type: 'object', patternProperties: { '(?=a)': {} } }, '/patternProperties/(?=a)'],
    [
      'uniqueItems over objects',
      field({ type: 'array', items: { type: 'object' }, uniqueItems: true }),
      '/properties/a/uniqueItems',
    ],
    ['uniqueItems over anything', field({ type: 'array', uniqueItems: true }), '/properties/a/uniqueItems'],
    [
      'uniqueItems over too many objects',
      field({ type: 'array', items: {}, uniqueItems: true, maxItems: 1001 }),
      '/properties/a/uniqueItems',
    ],
    ['a reference that leads out', field({ $ref: 'https://example.com/schema' }), '/properties/a/$ref'],
    ['a reference to nothing', field({ $ref: '#/$defs/gone' }), '/properties/a/$ref'],
    ['a type that is none', field({ type: 'strng' }), '/properties/a/type'],
    ['one of several types that is none', field({ type: ['string', 'date'] }), '/properties/a/type'],
    ['no type at all', field({ type: [] }), '/properties/a/type'],
    ['a type that is no name', field({ type: 5 }), '/properties/a/type'],
    ['a type at the top that is none', { type: 'objct' }, '/type'],
    ['65 levels', nested(65), '/properties/a'.repeat(65)],
    ['a megabyte', { type: 'object', description: 'x'.repeat(256 * 1024) }, ''],
  ])('%s', (_what, schema, path) => {
    expect(errorsOf(schema)).toEqual([path])
  })

  test.each([
    ['64 levels', nested(64)],
    ['uniqueItems over text', field({ type: 'array', items: { type: 'string' }, uniqueItems: true })],
    ['uniqueItems over a few objects', field({ type: 'array', items: {}, uniqueItems: true, maxItems: 1000 })],
    ['a reference to itself', { type: 'object', properties: { a: { $ref: '#' } } }],
    [
      'a field named like a keyword',
      { type: 'object', properties: { pattern: { type: 'string' }, $ref: { type: 'string' } } },
    ],
    ['no type at the top', { anyOf: [{ type: 'object' }] }],
  ])('none: %s', (_what, schema) => {
    expect(errorsOf(schema)).toEqual([])
  })
})

test('warnings name what is read differently elsewhere', () => {
  expect(
    warningsOf({
      type: 'object',
      properties: {
        a: { type: 'string', format: 'date', minLength: 1 },
        b: { oneOf: [{ const: 1 }] },
        c: { nullable: true },
      },
    }),
  ).toEqual(['/properties/a/format', '/properties/a/minLength', '/properties/b/oneOf', '/properties/c/nullable'])
  expect(
    warningsOf({ type: 'object', properties: { a: { type: 'string', description: 'plain' } }, required: ['a'] }),
  ).toEqual([])
})

describe('a required field that is no field', () => {
  const A = { type: 'string' }
  test.each<[string, JsonSchema, readonly string[]]>([
    ['at the top', { type: 'object', properties: { a: A }, required: ['a', 'p'] }, ['/required']],
    ['in a field', field({ type: 'object', properties: {}, required: ['p'] }), ['/properties/a/required']],
    [
      'where others are refused anyway',
      { type: 'object', properties: { a: A }, required: ['p'], additionalProperties: false },
      ['/required'],
    ],
    ['named like something inherited', { type: 'object', properties: {}, required: ['toString'] }, ['/required']],
  ])('%s', (_what, schema, expected) => {
    expect(warningsOf(schema)).toEqual(expected)
  })

  test.each<[string, JsonSchema]>([
    ['others are free', { type: 'object', properties: { a: A }, required: ['p'], additionalProperties: true }],
    ['no fields are named', { type: 'object', required: ['p'] }],
    ['one of several forms', { type: 'object', properties: { a: A }, anyOf: [{ properties: {}, required: ['a'] }] }],
  ])('not where %s', (_what, schema) => {
    expect(warningsOf(schema)).toEqual([])
  })
})

describe('frozenSchema', () => {
  test('is a copy that nobody can change', () => {
    const own = { type: 'object', properties: { a: { enum: ['x'] } }, title: undefined }
    const frozen = frozenSchema(own)
    own.properties.a.enum.push('y')
    expect(frozen).toEqual({ type: 'object', properties: { a: { enum: ['x'] } } })
    expect(() => ((frozen['properties'] as { a?: unknown }).a = 1)).toThrow(TypeError)
    expect('title' in frozen).toBe(false)
  })

  const circle: { type: string; self?: unknown } = { type: 'object' }
  circle.self = circle
  test.each([
    ['a function', { type: 'object', default: () => 1 }],
    ['a regular expression', { type: 'object', pattern: /a/ }],
    ['a number that is none', { minimum: NaN }],
    ['itself', circle],
    ['a __proto__ written in a literal', { type: 'object', properties: { __proto__: { type: 'string' } } }],
    ['a list', []],
  ])('refuses %s', (_what, schema) => {
    expect(() => frozenSchema(schema)).toThrow(SchemaError)
  })
})
