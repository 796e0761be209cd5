import type { JsonObject } from 'streamfold'
import { describe, expect, test } from 'vitest'
import type { JsonSchema } from '../../src/define/json-schema.ts'
import { jsonSchemaValidator } from '../../src/validate/json-schema-validator.ts'
import { SchemaError } from '../../src/validate/schema-error.ts'

const ENGINES = ['compiled', 'interpreted'] as const

const TOO_MUCH = { path: '', expected: 'arguments that take less work to check; nest them less' }

/** Each definition asks for the next one twice: 2 ** levels looks at one value. */
function doubling(levels: number): JsonSchema {
  const $defs: Record<string, JsonSchema> = { [`d${levels}`]: { type: 'object' } }
  for (let level = 0; level < levels; level++) {
    const $ref = `#/$defs/d${level + 1}`
    $defs[`d${level}`] = { allOf: [{ $ref }, { $ref }] }
  }
  return { type: 'object', allOf: [{ $ref: '#/$defs/d0' }], $defs }
}

/** A tree of sums and products. Both alternatives look into `left` before they know whether they are meant. */
const EXPRESSION: JsonSchema = {
  type: 'object',
  properties: { tree: { $ref: '#/$defs/node' } },
  $defs: {
    node: {
      anyOf: ['sum', 'product'].map((kind) => ({
        type: 'object',
        properties: { left: { $ref: '#/$defs/node' }, kind: { const: kind } },
        required: ['kind'],
        additionalProperties: false,
      })),
    },
  },
}

function expression(depth: number, innermost: JsonObject): JsonObject {
  let tree = innermost
  for (let level = 0; level < depth; level++) tree = { left: tree, kind: 'product' }
  return { tree }
}

describe.each(ENGINES)('%s', (engine) => {
  test('definitions that double are given up, whatever the input', async () => {
    const validator = jsonSchemaValidator(doubling(40), { engine })
    expect(await validator.validate({})).toEqual({ ok: false, issues: [TOO_MUCH] })
    expect(validator.unknownFields({})).toEqual([TOO_MUCH])
  })

  test('alternatives that double with the depth of the input are given up', async () => {
    const validator = jsonSchemaValidator(EXPRESSION, { engine })
    expect((await validator.validate(expression(5, { kind: 'sum' }))).ok).toBe(true)
    expect((await validator.validate(expression(5, { kind: 'power' }))).ok).toBe(false)
    expect(await validator.validate(expression(60, { kind: 'power' }))).toEqual({ ok: false, issues: [TOO_MUCH] })
  })

  test('a large input that is only long is checked to its end', async () => {
    const validator = jsonSchemaValidator(
      {
        type: 'object',
        properties: { items: { type: 'array', items: { $ref: '#/$defs/item' } } },
        $defs: { item: { type: 'integer' } },
      },
      { engine },
    )
    const items: (number | string)[] = Array.from({ length: 150_000 }, (_, at) => at)
    expect((await validator.validate({ items })).ok).toBe(true)
    items.push('x')
    expect((await validator.validate({ items })).ok).toBe(false)
  })

  test('the work of one check is not counted for the next', async () => {
    const validator = jsonSchemaValidator(EXPRESSION, { engine })
    for (let round = 0; round < 50; round++) {
      expect((await validator.validate(expression(10, { kind: 'sum' }))).ok).toBe(true)
    }
  })
})

describe('a schema that refers to itself for the same value is refused when it is defined', () => {
  test.each<[string, JsonSchema]>([
    ['the top', { type: 'object', allOf: [{ $ref: '#' }] }],
    ['a definition', { type: 'object', properties: { a: { $ref: '#/$defs/a' } }, $defs: { a: { $ref: '#/$defs/a' } } }],
    [
      'two definitions',
      {
        type: 'object',
        properties: { a: { $ref: '#/$defs/a' } },
        $defs: { a: { anyOf: [{ type: 'null' }, { $ref: '#/$defs/b' }] }, b: { not: { $ref: '#/$defs/a' } } },
      },
    ],
  ])('%s', (_, schema) => {
    for (const engine of ENGINES) {
      expect(() => jsonSchemaValidator(schema, { engine })).toThrow(SchemaError)
      expect(() => jsonSchemaValidator(schema, { engine })).toThrow('would never end')
    }
  })

  test('but not one that goes on inside of the value', async () => {
    const schema: JsonSchema = { type: 'object', properties: { next: { $ref: '#' } } }
    for (const engine of ENGINES) {
      expect((await jsonSchemaValidator(schema, { engine }).validate({ next: { next: {} } })).ok).toBe(true)
    }
  })
})
