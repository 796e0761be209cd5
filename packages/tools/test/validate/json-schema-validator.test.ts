import { afterEach, describe, expect, test, vi } from 'vitest'
import type { JsonObject } from 'streamfold'
import { createCompileCache } from '../../src/validate/compile-cache.ts'
import type { JsonSchema } from '../../src/define/json-schema.ts'
import { jsonSchemaValidator } from '../../src/validate/json-schema-validator.ts'
import { SchemaError } from '../../src/validate/schema-error.ts'

const ENGINES = ['compiled', 'interpreted'] as const

const ORDER: JsonSchema = {
  type: 'object',
  properties: {
    city: { type: 'string', minLength: 1, maxLength: 3 },
    days: { type: 'integer', minimum: 1, maximum: 7 },
    unit: { enum: ['c', 'f'] },
    kind: { const: 'daily' },
    price: { type: 'number', multipleOf: 0.01, exclusiveMinimum: 0 },
    tags: { type: 'array', items: { type: 'string' }, minItems: 1, maxItems: 2, uniqueItems: true },
    place: { type: 'object', properties: { lat: { type: 'number' } }, required: ['lat'] },
    when: { anyOf: [{ type: 'string' }, { type: 'null' }] },
    free: { type: 'object' },
    map: { type: 'object', additionalProperties: { type: 'integer' } },
    shared: { $ref: '#/$defs/point' },
  },
  required: ['city'],
  $defs: { point: { type: 'object', properties: { x: { type: 'number' } }, required: ['x'] } },
}

interface Row {
  readonly input: JsonObject
  /** `path: expected …`, all of them. */
  readonly lines: readonly string[]
}

// Expected lines are decided by the schema above, not by a validator.
const ROWS: readonly Row[] = [
  { input: { city: 'Bonn'.slice(0, 3), days: 7, unit: 'c', kind: 'daily', price: 0.07, tags: ['a', 'b'] }, lines: [] },
  {
    input: { city: 'a', place: { lat: 1 }, when: null, free: { any: { thing: 1 } }, map: { a: 1 }, shared: { x: 1 } },
    lines: [],
  },
  { input: {}, lines: ['/city: string; the field is required'] },
  { input: { city: 5 }, lines: ['/city: string'] },
  { input: { city: '' }, lines: ['/city: at least 1 character'] },
  { input: { city: 'Bonn' }, lines: ['/city: at most 3 characters'] },
  { input: { city: 'a', days: 0 }, lines: ['/days: a number >= 1'] },
  { input: { city: 'a', days: 8 }, lines: ['/days: a number <= 7'] },
  { input: { city: 'a', days: 1.5 }, lines: ['/days: integer'] },
  { input: { city: 'a', days: '3' }, lines: ['/days: integer'] },
  { input: { city: 'a', unit: 'k' }, lines: ['/unit: one of "c", "f"'] },
  { input: { city: 'a', kind: 'weekly' }, lines: ['/kind: "daily"'] },
  { input: { city: 'a', price: 0.001 }, lines: ['/price: a multiple of 0.01'] },
  { input: { city: 'a', price: 0 }, lines: ['/price: a number > 0'] },
  { input: { city: 'a', tags: [] }, lines: ['/tags: at least 1 item'] },
  { input: { city: 'a', tags: ['a', 'a'] }, lines: ['/tags: no item twice'] },
  { input: { city: 'a', tags: ['a', 1] }, lines: ['/tags/1: string'] },
  { input: { city: 'a', place: {} }, lines: ['/place/lat: number; the field is required'] },
  { input: { city: 'a', when: 5 }, lines: ['/when: string, or null'] },
  { input: { city: 'a', map: { a: 'x' } }, lines: ['/map/a: integer'] },
  { input: { city: 'a', shared: {} }, lines: ['/shared/x: number; the field is required'] },
  {
    input: { city: 'a', constructor: 1 },
    lines: [`/constructor: no such field; the fields are ${Object.keys(ORDER['properties'] as JsonObject).join(', ')}`],
  },
  { input: { city: 'a', place: { lat: 1, lng: 2 } }, lines: ['/place/lng: no such field; the fields are lat'] },
  { input: { city: 5, days: 0 }, lines: ['/city: string', '/days: a number >= 1'] },
]

describe.each(ENGINES)('%s', (engine) => {
  test.each(ROWS)('$input', async ({ input, lines }) => {
    const result = await jsonSchemaValidator(ORDER, { engine }).validate(input)
    const said = result.ok ? [] : result.issues.map(({ path, expected }) => `${path}: ${expected}`)
    // The interpreter does not know which schema a `false` stood in, and stops at the first fault.
    const known =
      engine === 'compiled' ? lines : lines.slice(0, 1).map((line) => line.replace(/; the fields are .*/, ''))
    expect(said).toEqual(known)
  })

  test('a field that only the prototype has is missing', async () => {
    const validator = jsonSchemaValidator({ type: 'object', required: ['constructor'] }, { engine })
    expect(await validator.validate({})).toMatchObject({ ok: false })
  })

  test('format describes and is not checked', async () => {
    const validator = jsonSchemaValidator(
      { type: 'object', properties: { a: { type: 'string', format: 'email' } } },
      { engine },
    )
    expect(await validator.validate({ a: 'no mail' })).toMatchObject({ ok: true })
  })

  test('fields of a value that a reference and its own schema share are known to both', async () => {
    const schema: JsonSchema = {
      type: 'object',
      allOf: [{ $ref: '#/$defs/base' }, { properties: { b: { type: 'number' } } }],
      $defs: { base: { type: 'object', properties: { a: { type: 'number' } } } },
    }
    const validator = jsonSchemaValidator(schema, { engine })
    expect(await validator.validate({ a: 1, b: 2 })).toMatchObject({ ok: true })
    expect(await validator.validate({ a: 1, c: 2 })).toMatchObject({ ok: false, issues: [{ path: '/c' }] })
  })

  test('unknown fields pass when they are allowed, and where the schema says so', async () => {
    const schema: JsonSchema = { type: 'object', properties: { a: { type: 'number' } } }
    expect(await jsonSchemaValidator(schema, { engine, unknownFields: 'allow' }).validate({ z: 1 })).toMatchObject({
      ok: true,
    })
    expect(await jsonSchemaValidator(schema, { engine }).validate({ z: 1 })).toMatchObject({ ok: false })
    const open = { ...schema, additionalProperties: true }
    expect(await jsonSchemaValidator(open, { engine }).validate({ z: 1 })).toMatchObject({ ok: true })
  })

  test('a condition is not closed: it would select differently', async () => {
    const schema: JsonSchema = {
      type: 'object',
      properties: { a: { type: 'number' }, b: { type: 'number' } },
      if: { properties: { a: { const: 1 } }, required: ['a'] },
      // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
      then: { required: ['b'] },
    }
    const validator = jsonSchemaValidator(schema, { engine })
    expect(await validator.validate({ a: 1 })).toMatchObject({ ok: false })
    expect(await validator.validate({ a: 1, b: 2 })).toMatchObject({ ok: true })
    expect(await validator.validate({ a: 2 })).toMatchObject({ ok: true })
    expect(await validator.validate({ a: 2, c: 2 })).toMatchObject({ ok: false })
  })

  test('nor is what stands inside of a condition', async () => {
    const one = { type: 'object', properties: { x: { const: 1 } }, required: ['x'] }
    const schema: JsonSchema = {
      type: 'object',
      properties: { o: { type: 'object' }, p: { type: 'object' }, b: { type: 'number' } },
      if: { properties: { o: one }, required: ['o'] },
      // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
      then: { required: ['b'] },
      not: { properties: { p: one }, required: ['p'] },
    }
    const validator = jsonSchemaValidator(schema, { engine })
    expect(await validator.validate({ o: { x: 1, more: 2 } })).toMatchObject({ ok: false })
    expect(await validator.validate({ o: { x: 1, more: 2 }, b: 1 })).toMatchObject({ ok: true })
    expect(await validator.validate({ p: { x: 1, more: 2 } })).toMatchObject({ ok: false })
    expect(await validator.validate({ p: { x: 2, more: 2 } })).toMatchObject({ ok: true })
  })

  test('draft-07 is read as draft-07', async () => {
    const schema: JsonSchema = {
      $schema: 'http://json-schema.org/draft-07/schema#',
      type: 'object',
      properties: { pair: { type: 'array', items: [{ type: 'string' }, { type: 'number' }], additionalItems: false } },
    }
    const validator = jsonSchemaValidator(schema, { engine })
    expect(await validator.validate({ pair: ['a', 1] })).toMatchObject({ ok: true })
    expect(await validator.validate({ pair: ['a', 1, 2] })).toMatchObject({ ok: false })
    expect(await validator.validate({ other: 1 })).toMatchObject({ ok: false })
  })

  test.each<[string, JsonSchema]>([
    ['a reference at the top', { $ref: '#/definitions/order' }],
    ['a reference with others beside it', { allOf: [{ $ref: '#/definitions/order' }, { properties: { note: {} } }] }],
    ['a reference inside', { type: 'object', properties: { order: { $ref: '#/definitions/order' } } }],
  ])('draft-07: unknown fields behind %s are refused too', async (_, part) => {
    const validator = jsonSchemaValidator(
      {
        $schema: 'http://json-schema.org/draft-07/schema#',
        definitions: { order: { type: 'object', properties: { id: { type: 'string' } } } },
        ...part,
      },
      { engine },
    )
    const place = 'properties' in part ? (order: object) => ({ order }) : (order: object) => order
    expect(await validator.validate(place({ id: 'a' }) as JsonObject)).toMatchObject({ ok: true })
    expect(await validator.validate(place({ id: 1 }) as JsonObject)).toMatchObject({ ok: false })
    expect(await validator.validate(place({ id: 'a', extra: 1 }) as JsonObject)).toMatchObject({ ok: false })
  })

  test.each(Object.getOwnPropertyNames(Object.prototype).filter((name) => name !== '__proto__'))(
    'a field %s that no schema names is refused wherever it stands',
    async (name) => {
      const shared: JsonSchema = { type: 'object', properties: { a: { type: 'integer' } } }
      const other: JsonSchema = { type: 'object', properties: { b: { type: 'integer' } } }
      const $ref = '#/$defs/shared'
      for (const part of [
        shared,
        { $ref },
        { anyOf: [{ $ref }, other] },
        { oneOf: [{ $ref }] },
        { ...other, allOf: [{ $ref }] },
        { ...other, anyOf: [{ $ref }, { required: ['b'] }] },
        // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
        { ...other, if: { required: ['b'] }, then: { $ref } },
        { ...other, dependentSchemas: { b: { $ref } } },
      ] as JsonSchema[]) {
        const validator = jsonSchemaValidator(
          { type: 'object', properties: { c: part }, $defs: { shared } },
          { engine },
        )
        expect(await validator.validate({ c: {} })).toMatchObject({ ok: true })
        expect({ part, ...(await validator.validate({ c: { [name]: '' } })) }).toMatchObject({ ok: false })
      }
    },
  )

  test('wrong items by the hundred thousand give a short list', async () => {
    const validator = jsonSchemaValidator(
      { type: 'object', properties: { a: { type: 'array', items: { type: 'number' } } } },
      { engine },
    )
    const result = await validator.validate({ a: Array.from({ length: 100_000 }, () => 'x') })
    expect(result).toEqual({ ok: false, issues: [{ path: '/a/0', expected: 'number' }] })
  })

  test('a recursive schema checks deep input', async () => {
    const schema: JsonSchema = {
      type: 'object',
      properties: { next: { $ref: '#/$defs/node' } },
      $defs: { node: { type: 'object', properties: { next: { $ref: '#/$defs/node' }, v: { type: 'number' } } } },
    }
    const validator = jsonSchemaValidator(schema, { engine })
    const nest = (depth: number, inner: JsonObject): JsonObject =>
      depth === 0 ? inner : { next: nest(depth - 1, inner) }
    expect(await validator.validate(nest(60, { v: 1 }))).toMatchObject({ ok: true })
    expect(await validator.validate(nest(60, { v: 'x' }))).toMatchObject({ ok: false })
    expect(await validator.validate(nest(60, { w: 1 }))).toMatchObject({ ok: false })
  })
})

test('at most twenty issues are named', async () => {
  const validator = jsonSchemaValidator(
    { type: 'object', properties: { a: { type: 'array', items: { type: 'number' } } } },
    { engine: 'compiled' },
  )
  const result = await validator.validate({ a: Array.from({ length: 100 }, () => 'x') })
  expect(result.ok || result.issues.length).toBe(20)
})

describe('auto', () => {
  afterEach(() => {
    vi.unstubAllGlobals()
    vi.resetModules()
  })

  test('compiles where it may', async () => {
    expect(await jsonSchemaValidator({ type: 'object' }).validate({})).toMatchObject({ ok: true })
  })

  test('interprets where code generation is forbidden', async () => {
    vi.resetModules()
    vi.stubGlobal('Function', function forbidden() {
      throw new EvalError('Code generation from strings disallowed for this context')
    })
    const fresh = await import('../../src/validate/json-schema-validator.ts')
    const validator = fresh.jsonSchemaValidator(ORDER)
    expect(await validator.validate({ city: 'a' })).toMatchObject({ ok: true })
    expect(await validator.validate({ city: 5 })).toMatchObject({ ok: false, issues: [{ path: '/city' }] })
    expect(() => fresh.jsonSchemaValidator(ORDER, { engine: 'compiled' })).toThrow(/Code generation/)
  })
})

describe('what cannot be compiled', () => {
  test.each([
    ['an unknown draft', { $schema: 'https://example.com/my-draft', type: 'object' }],
    ['a keyword with a wrong value', { type: 'object', properties: { a: { type: 'strin' } } }],
  ])('%s', (_what, schema) => {
    expect(() => jsonSchemaValidator(schema, { engine: 'compiled' })).toThrow(SchemaError)
  })

  test('patternProperties, where there is no code generation', () => {
    const schema = { type: 'object', patternProperties: { '^a': { type: 'number' } } }
    expect(() => jsonSchemaValidator(schema, { engine: 'interpreted' })).toThrow(/patternProperties/)
    expect(() => jsonSchemaValidator(schema, { engine: 'compiled' })).not.toThrow()
  })
})

describe('the cache', () => {
  test('an equal schema gives the same validator, whatever the order of its keys', () => {
    const one = jsonSchemaValidator({ type: 'object', title: 'same' })
    expect(jsonSchemaValidator({ title: 'same', type: 'object' })).toBe(one)
    expect(jsonSchemaValidator({ title: 'other', type: 'object' })).not.toBe(one)
    expect(jsonSchemaValidator({ type: 'object', title: 'same' }, { unknownFields: 'allow' })).not.toBe(one)
  })

  test('is bounded; the one used longest ago makes room', () => {
    const cache = createCompileCache(2)
    const made: string[] = []
    const get = (key: string) =>
      cache.get(key, () => {
        made.push(key)
        return { validate: (input) => ({ ok: true, value: input }), unknownFields: () => [] }
      })
    for (const key of ['a', 'b', 'a', 'c', 'a', 'b']) get(key)
    expect(made).toEqual(['a', 'b', 'c', 'b'])
    expect(cache.size).toBe(2)
  })

  test('what fails to compile is not kept', () => {
    const cache = createCompileCache(2)
    expect(() =>
      cache.get('a', () => {
        throw new Error('no')
      }),
    ).toThrow('no')
    expect(cache.size).toBe(0)
  })
})
