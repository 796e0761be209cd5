import fc from 'fast-check'
import type { JsonObject, JsonValue } from 'streamfold'
import { expect, test } from 'vitest'
import type { JsonSchema } from '../../src/define/json-schema.ts'
import { jsonSchemaValidator } from '../../src/validate/json-schema-validator.ts'

const name = fc.constantFrom('a', 'b', 'c', 'constructor')
const scalar = fc.oneof(
  fc.constantFrom('', 'a', 'ab', 'B7', '😀'),
  fc.integer({ min: -3, max: 12 }),
  fc.constantFrom(0.07, 1.5, true, false, null),
)
const { value } = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    scalar,
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(name, tie('value'), { maxKeys: 3, noNullPrototype: true }),
  ),
}))

const { schema } = fc.letrec<{ schema: JsonSchema; object: JsonSchema }>((tie) => {
  const parts = fc.array(tie('schema'), { minLength: 1, maxLength: 2 })
  const object = fc.record(
    {
      type: fc.constant('object'),
      properties: fc.dictionary(name, tie('schema'), { maxKeys: 3, noNullPrototype: true }),
      required: fc.uniqueArray(name, { maxLength: 2 }),
      additionalProperties: fc.oneof(fc.boolean(), tie('schema')),
      minProperties: fc.nat(2),
      allOf: parts,
      anyOf: parts,
    },
    { requiredKeys: ['type', 'properties'] },
  )
  const schemas: fc.Arbitrary<JsonSchema>[] = [
    fc.record({ type: fc.constant('string'), minLength: fc.nat(2), maxLength: fc.nat(3) }, { requiredKeys: ['type'] }),
    fc.record({ type: fc.constant('string'), pattern: fc.constantFrom('^a', '[0-9]', '^(a+)+$', '^.$') }),
    fc.record(
      {
        type: fc.constantFrom('number', 'integer'),
        minimum: fc.integer({ min: -2, max: 5 }),
        multipleOf: fc.constantFrom(2, 0.01),
      },
      { requiredKeys: ['type'] },
    ),
    fc.record({ enum: fc.uniqueArray(scalar, { minLength: 1, maxLength: 3 }) }),
    fc.record({ const: scalar }),
    fc.record({ type: fc.constant(['boolean', 'null']) }),
    fc.record(
      { type: fc.constant('array'), items: tie('schema'), minItems: fc.nat(2), maxItems: fc.nat(3) },
      { requiredKeys: ['type'] },
    ),
    fc.record({ anyOf: parts }),
    fc.record({ oneOf: parts }),
    fc.record({ not: tie('schema') }),
    fc.constant({ $ref: '#/$defs/shared' }),
    tie('object'),
  ]
  return { schema: fc.oneof({ maxDepth: 3 }, ...schemas), object }
})

// Objects that name some fields, where unknown ones are refused, are what both engines have to agree on most.
const SHARED: JsonSchema = { type: 'object', properties: { a: { type: 'integer' } } }

test('compiled and interpreted schemas give the same verdicts', async () => {
  let accepted = 0
  let refused = 0
  await fc.assert(
    fc.asyncProperty(
      fc.dictionary(name, schema, { maxKeys: 3, noNullPrototype: true }),
      fc.array(fc.dictionary(name, value, { maxKeys: 3, noNullPrototype: true }), { minLength: 4, maxLength: 8 }),
      async (properties, inputs) => {
        const whole: JsonSchema = { type: 'object', properties, $defs: { shared: SHARED } }
        const compiled = jsonSchemaValidator(whole, { engine: 'compiled' })
        const interpreted = jsonSchemaValidator(whole, { engine: 'interpreted' })
        for (const input of inputs as readonly JsonObject[]) {
          const verdicts = [(await compiled.validate(input)).ok, (await interpreted.validate(input)).ok]
          if (verdicts[0] === true) accepted++
          else refused++
          expect(verdicts).toEqual([verdicts[0], verdicts[0]])
        }
      },
    ),
    { numRuns: 150 },
  )
  // Both kinds came up often enough to mean something.
  expect(Math.min(accepted, refused)).toBeGreaterThan(50)
})
