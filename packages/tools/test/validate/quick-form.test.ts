import { Validator } from '@cfworker/json-schema'
import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import type { JsonObject, JsonValue } from 'streamfold'
import { describe, expect, test } from 'vitest'
import type { JsonSchema } from '../../src/define/json-schema.ts'
import { closeObjects } from '../../src/validate/close-objects.ts'
import { quickForm } from '../../src/validate/quick-form.ts'

/** The schema as it is written, by another implementation: Ajv's list of fields takes `constructor` for one that was named. */
function writtenVerdictsOf(schema: JsonSchema): (input: JsonValue) => boolean {
  const validator = new Validator(schema, '2020-12', true)
  return (input) => validator.validate(input).valid
}

/** A compiler of its own, that knows nothing of ours. */
function verdictsOf(schema: JsonSchema): (input: JsonValue) => boolean {
  const check = new Ajv2020({ strict: false, ownProperties: true, logger: false }).compile(schema)
  return (input) => check(input)
}

const quick = (schema: JsonSchema): JsonSchema => quickForm(closeObjects(schema, '2020-12'))
const object = (properties: JsonSchema, more: JsonSchema = {}): JsonSchema => ({ type: 'object', properties, ...more })
const branch = (kind: string, properties: JsonSchema, more: JsonSchema = {}): JsonSchema =>
  object({ kind: { const: kind }, ...properties }, { required: ['kind'], ...more })
const mentions = (schema: JsonSchema, keyword: string): boolean => JSON.stringify(schema).includes(`"${keyword}"`)

const A = branch('a', { x: { type: 'number' } })
const B = branch('b', { y: { type: 'number' } })

describe('no list of fields has to be kept', () => {
  test.each<{ name: string; schema: JsonSchema }>([
    {
      name: 'what stands in place names no field',
      schema: object({ a: {}, b: {} }, { anyOf: [{ required: ['a'] }, { required: ['b'] }] }),
    },
    { name: 'a choice by a field', schema: { anyOf: [A, B] } },
    { name: 'exactly one of them', schema: { oneOf: [A, B] } },
    { name: 'with fields beside the choice', schema: object({ c: { type: 'number' } }, { oneOf: [A, B] }) },
    { name: 'by a field that the schema around requires', schema: object({}, { required: ['kind'], anyOf: [A, B] }) },
    {
      name: 'by lists of values',
      schema: {
        anyOf: [
          object({ k: { enum: [1, 2] } }, { required: ['k'] }),
          object({ k: { enum: [3] } }, { required: ['k'] }),
        ],
      },
    },
    {
      name: 'branches that are definitions',
      schema: { anyOf: [{ $ref: '#/$defs/a' }, { $ref: '#/$defs/b' }], $defs: { a: A, b: B } },
    },
    { name: 'inside of a field', schema: object({ in: { type: 'array', items: { anyOf: [A, B] } } }) },
    { name: 'beside a condition that names no field', schema: { anyOf: [A, B], allOf: [{ required: ['kind'] }] } },
  ])('$name', ({ schema }) => {
    expect(mentions(closeObjects(schema, '2020-12'), 'unevaluatedProperties')).toBe(true)
    expect(mentions(quick(schema), 'unevaluatedProperties')).toBe(false)
  })
})

describe('it is kept where it would not be the same', () => {
  test.each<{ name: string; schema: JsonSchema }>([
    { name: 'branches that both may fit', schema: { anyOf: [object({ a: {} }), object({ b: {} })] } },
    { name: 'the field is not required', schema: { anyOf: [A, { ...B, required: [] }] } },
    { name: 'the same value twice', schema: { anyOf: [A, branch('a', { y: {} })] } },
    { name: 'a value in two lists', schema: { anyOf: [A, { ...B, properties: { kind: { enum: ['b', 'a'] } } }] } },
    { name: 'values that are objects', schema: { anyOf: [A, { ...B, properties: { kind: { const: { b: 1 } } } }] } },
    { name: 'a branch for other values than objects', schema: { anyOf: [A, { ...B, type: ['object', 'null'] }] } },
    { name: 'a branch that takes fields from elsewhere', schema: { anyOf: [A, { ...B, allOf: [object({ z: {} })] }] } },
    { name: 'fields by a pattern', schema: { anyOf: [A, { ...B, patternProperties: { '^z': {} } }] } },
    { name: 'two choices', schema: { anyOf: [A, B], oneOf: [A, B] } },
    { name: 'an if that names fields', schema: { anyOf: [A, B], if: object({ z: {} }) } },
    {
      name: 'something beside a reference',
      schema: { anyOf: [A, { $ref: '#/$defs/b', minProperties: 1 }], $defs: { b: B } },
    },
    {
      name: 'a reference into a branch',
      schema: object({ first: { anyOf: [A, B] }, more: { $ref: '#/properties/first/anyOf/0' } }),
    },
    { name: 'places with names', schema: { anyOf: [A, { ...B, $anchor: 'b' }] } },
  ])('$name', ({ schema }) => {
    const closed = closeObjects(schema, '2020-12')
    expect(mentions(closed, 'unevaluatedProperties')).toBe(true)
    expect(mentions(quick(schema), 'unevaluatedProperties')).toBe(true)
  })
})

test('a field of the choice that is not among its values fits no branch', () => {
  const check = verdictsOf(quick(object({ c: {} }, { oneOf: [A, B] })))
  expect(
    [
      { kind: 'a', x: 1 },
      { kind: 'a', x: 1, c: 2 },
      { kind: 'b', y: 1 },
    ].map(check),
  ).toEqual([true, true, true])
  const wrong: JsonValue[] = [{ kind: 'c' }, { kind: 'a', y: 1 }, { kind: 'b', y: 'z' }, { x: 1 }, {}, [], 'a', null]
  expect(wrong.map(check)).toEqual(wrong.map(() => false))
})

const NAMES = ['kind', 'a', 'b', 'c', '__proto', 'constructor'] as const
const name = fc.constantFrom(...NAMES)
const leaf = fc.constantFrom<JsonSchema>({ type: 'number' }, { type: 'string' }, {}, { const: 1 })
const kind = fc.oneof(
  fc.record({ const: fc.constantFrom('p', 'q', 'r', 1) }),
  fc.record({ enum: fc.uniqueArray(fc.constantFrom('p', 'q', 'r', 's', 1, null), { minLength: 1, maxLength: 2 }) }),
)
const fields = fc.dictionary(name, leaf, { maxKeys: 2, noNullPrototype: true })
const demands = fc.constantFrom<JsonValue>([{ required: ['kind'] }], [{ minProperties: 1 }], [{ required: ['a'] }])
const objectBranch: fc.Arbitrary<JsonSchema> = fc
  .record(
    {
      type: fc.constantFrom<JsonValue>('object', 'object', 'object', ['object', 'null']),
      required: fc.oneof({ weight: 4, arbitrary: fc.constant(['kind']) }, fc.uniqueArray(name, { maxLength: 2 })),
      additionalProperties: fc.boolean(),
      minProperties: fc.nat(1),
      allOf: demands,
    },
    { requiredKeys: ['type', 'required'] },
  )
  .chain((rest) => fc.tuple(kind, fields).map(([tell, more]) => ({ ...rest, properties: { ...more, kind: tell } })))
const oddBranch = fc.constantFrom<JsonValue>(
  { $ref: '#/$defs/p' },
  { $ref: '#/$defs/q' },
  true,
  false,
  object({ a: {} }),
  {
    allOf: [object({ a: {} })],
  },
)
const DISJOINT: readonly JsonSchema[] = [{ const: 'p' }, { enum: ['q', 's'] }, { const: 1 }]
/** Told apart by their kinds, or as it comes. */
const branches: fc.Arbitrary<readonly JsonValue[]> = fc.oneof(
  fc.array(objectBranch, { minLength: 1, maxLength: 3 }).map((all) =>
    all.map((one, at) => ({
      ...one,
      properties: { ...(one['properties'] as JsonObject), kind: DISJOINT[at] ?? true },
    })),
  ),
  fc.array(fc.oneof({ weight: 3, arbitrary: objectBranch }, oddBranch), { minLength: 1, maxLength: 3 }),
)
const choice: fc.Arbitrary<JsonSchema> = fc
  .record(
    {
      type: fc.constant('object'),
      properties: fields,
      required: fc.constantFrom<JsonValue>([], ['kind'], ['a']),
      allOf: demands,
    },
    { requiredKeys: [] },
  )
  .chain((rest) =>
    fc
      .tuple(
        fc.constantFrom('anyOf', 'oneOf'),
        branches,
        fc.constantFrom({}, {}, {}, { patternProperties: { '^c': {} } }),
      )
      .map(([keyword, list, more]) => ({ ...rest, ...more, [keyword]: list, unevaluatedProperties: false })),
  )
const value: fc.Arbitrary<JsonValue> = fc.constantFrom<JsonValue>('p', 'q', 'r', 's', 1, 2, null)
const input: fc.Arbitrary<JsonValue> = fc.oneof(
  { weight: 3, arbitrary: fc.dictionary(name, value, { maxKeys: 4, noNullPrototype: true }) },
  {
    weight: 6,
    arbitrary: fc
      .tuple(
        fc.constantFrom('p', 'q', 's', 1),
        fc.dictionary(name, fc.constant(1), { maxKeys: 1, noNullPrototype: true }),
      )
      .map(([tell, more]) => ({ ...more, kind: tell })),
  },
  { weight: 1, arbitrary: fc.constantFrom<JsonValue>(null, 'p', []) },
)

test('the quick form gives the verdicts of the schema as written', () => {
  let changed = 0
  const seen = { accepted: 0, refused: 0 }
  fc.assert(
    fc.property(choice, fc.boolean(), fc.array(input, { minLength: 6, maxLength: 12 }), (part, inside, inputs) => {
      const $defs: JsonSchema = {
        p: branch('p', { a: {} }),
        q: branch('q', { b: { type: 'number' } }, { additionalProperties: false }),
      }
      const schema: JsonSchema = inside ? object({ in: part }, { $defs }) : { ...part, $defs }
      const fast = quickForm(schema)
      if (mentions(fast, 'unevaluatedProperties')) return
      changed++
      const [written, quickly] = [writtenVerdictsOf(schema), verdictsOf(fast)]
      for (const each of inputs) {
        const given: JsonValue = inside ? ({ in: each } satisfies JsonObject) : each
        const verdict = written(given)
        seen[verdict ? 'accepted' : 'refused']++
        expect(quickly(given)).toBe(verdict)
      }
    }),
    { numRuns: 400 },
  )
  // Enough of them were rewritten, and came out both ways, to mean something.
  expect(changed).toBeGreaterThan(60)

  expect(Math.min(seen.accepted, seen.refused)).toBeGreaterThan(50)
})
