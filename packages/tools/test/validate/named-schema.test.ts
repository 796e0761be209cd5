import { describe, expect, test } from 'vitest'
import type { JsonSchema } from '../../src/define/json-schema.ts'
import { jsonSchemaValidator } from '../../src/validate/json-schema-validator.ts'

const DRAFTS = ['https://json-schema.org/draft/2020-12/schema', 'http://json-schema.org/draft-07/schema']

const ofType = (type: string): JsonSchema => ({ $id: 'urn:tool', type: 'object', properties: { a: { type } } })

describe.each(['compiled', 'interpreted'] as const)('%s', (engine) => {
  test.each(DRAFTS)('a schema that takes the name of %s takes nothing else', async (draft) => {
    const schema = (field: string): JsonSchema => ({
      $schema: draft,
      type: 'object',
      properties: { [field]: { type: 'string' } },
    })
    const named = jsonSchemaValidator({ ...schema('a'), $id: draft }, { engine })
    expect((await named.validate({ a: 'x' })).ok).toBe(true)
    expect((await named.validate({ a: 1 })).ok).toBe(false)
    const other = jsonSchemaValidator(schema('b'), { engine })
    expect((await other.validate({ b: 'x' })).ok).toBe(true)
    expect((await other.validate({ b: 1 })).ok).toBe(false)
  })

  test('two schemas of one name are two schemas', async () => {
    const text = jsonSchemaValidator(ofType('string'), { engine })
    const number = jsonSchemaValidator(ofType('number'), { engine })
    expect([(await text.validate({ a: 'x' })).ok, (await text.validate({ a: 1 })).ok]).toEqual([true, false])
    expect([(await number.validate({ a: 'x' })).ok, (await number.validate({ a: 1 })).ok]).toEqual([false, true])
  })

  test('a schema that goes on with itself is checked at every level', async () => {
    const validator = jsonSchemaValidator(
      { type: 'object', properties: { next: { $ref: '#' }, n: { type: 'integer' } } },
      { engine },
    )
    expect((await validator.validate({ next: { next: { n: 1 } } })).ok).toBe(true)
    expect((await validator.validate({ next: { next: { n: 'x' } } })).ok).toBe(false)
    expect((await validator.validate({ next: { next: { m: 1 } } })).ok).toBe(false)
  })
})
