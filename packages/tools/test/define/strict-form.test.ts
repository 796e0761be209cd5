import { describe, expect, test } from 'vitest'
import { defineTool } from '../../src/define/define-tool.ts'
import type { JsonSchema } from '../../src/define/json-schema.ts'
import { strictForm, withoutPlaceholderNulls } from '../../src/define/strict-form.ts'
import { SchemaError } from '../../src/validate/schema-error.ts'

const TRIP: JsonSchema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  properties: {
    from: { type: 'string' },
    days: { type: 'integer', default: 3 },
    unit: { enum: ['c', 'f'] },
    note: { type: ['string', 'null'] },
    stops: { type: 'array', items: { type: 'object', properties: { at: { type: 'string' } } } },
    where: { $ref: '#/$defs/place' },
  },
  required: ['from'],
  $defs: {
    place: { type: 'object', properties: { lat: { type: 'number' }, name: { type: 'string' } }, required: ['lat'] },
  },
}

test('every object is closed, every field required, what was optional may be null', () => {
  expect(strictForm(TRIP)).toEqual({
    type: 'object',
    properties: {
      from: { type: 'string' },
      days: { type: ['integer', 'null'] },
      unit: { anyOf: [{ enum: ['c', 'f'] }, { type: 'null' }] },
      note: { type: ['string', 'null'] },
      stops: {
        type: ['array', 'null'],
        items: {
          type: 'object',
          properties: { at: { type: ['string', 'null'] } },
          required: ['at'],
          additionalProperties: false,
        },
      },
      where: { anyOf: [{ $ref: '#/$defs/place' }, { type: 'null' }] },
    },
    required: ['from', 'days', 'unit', 'note', 'stops', 'where'],
    additionalProperties: false,
    $defs: {
      place: {
        type: 'object',
        properties: { lat: { type: 'number' }, name: { type: ['string', 'null'] } },
        required: ['lat', 'name'],
        additionalProperties: false,
      },
    },
  })
})

test('nulls that stand for "left out" go; a null that the schema allows stays', () => {
  expect(
    withoutPlaceholderNulls(
      { from: 'a', days: null, unit: null, note: null, stops: [{ at: null }], where: { lat: 1, name: null } },
      TRIP,
    ),
  ).toEqual({ from: 'a', note: null, stops: [{}], where: { lat: 1 } })
  // A required field may not be left out: its null stays, and the schema refuses it.
  expect(withoutPlaceholderNulls({ from: null }, TRIP)).toEqual({ from: null })
  expect(withoutPlaceholderNulls({ extra: null, where: null }, TRIP)).toEqual({ extra: null })
})

test('a strict tool checks what is left, and hands that to its functions', async () => {
  const tool = defineTool({
    name: 'trip',
    description: 'd',
    effect: 'read',
    strict: true,
    parameters: TRIP,
    execute: () => 1,
  })
  expect(await tool.validator.validate({ from: 'a', days: null, where: null })).toEqual({
    ok: true,
    value: { from: 'a' },
  })
  expect(await tool.validator.validate({ from: null })).toMatchObject({ ok: false, issues: [{ path: '/from' }] })
})

describe('what has no strict form is refused by name', () => {
  test.each<[string, JsonSchema]>([
    ['alternatives at the top', { anyOf: [{ type: 'object' }] }],
    ['allOf', { type: 'object', allOf: [{}] }],
    ['patternProperties', { type: 'object', patternProperties: {} }],
    ['a map with free field names', { type: 'object', additionalProperties: { type: 'string' } }],
    [
      'an optional field inside of alternatives',
      { type: 'object', properties: { a: { anyOf: [{ type: 'object', properties: { b: {} } }] } }, required: ['a'] },
    ],
  ])('%s', (what, schema) => {
    expect(() => strictForm(schema)).toThrow(SchemaError)
    expect(() => strictForm(schema)).toThrow(what)
  })
})

test('a tool without parameters has one', () => {
  expect(strictForm({ type: 'object' })).toEqual({
    type: 'object',
    properties: {},
    required: [],
    additionalProperties: false,
  })
})
