import type { JsonValue } from 'streamfold'
import type { JsonSchema } from '../define/json-schema.ts'
import { MAX_SCHEMA_DEPTH } from './lint-schema.ts'
import { SchemaError } from './schema-error.ts'

/** A schema level is at most two levels of JSON: the keyword, and the name under it. */
const MAX_JSON_DEPTH = MAX_SCHEMA_DEPTH * 2 + 4

/**
 * A deep copy that nobody can change any more. Members that are `undefined` are left out, as `JSON.stringify` does.
 *
 * @throws SchemaError for what is not JSON, and for an object with a prototype of its own: a `__proto__` written in an object
 * literal would otherwise vanish unseen
 */
export function frozenSchema(schema: object): JsonSchema {
  if (Array.isArray(schema)) throw new SchemaError('a schema is an object, this is an array')
  return copy(schema, '', 0) as JsonSchema
}

function copy(value: unknown, path: string, depth: number): JsonValue {
  if (depth > MAX_JSON_DEPTH)
    throw new SchemaError(`the schema nests deeper than ${MAX_JSON_DEPTH} levels, or contains itself`)
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value
  if (typeof value === 'number' && Number.isFinite(value)) return value
  if (Array.isArray(value)) {
    return Object.freeze(value.map((item, at) => copy(item, `${path}/${at}`, depth + 1)))
  }
  if (typeof value !== 'object')
    throw new SchemaError(`the schema holds a ${typeof value} at ${path || 'its top'}, which JSON can't`)
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== null && prototype !== Object.prototype) {
    throw new SchemaError(
      `the schema holds an object with a prototype of its own at ${path || 'its top'}; was a "__proto__" written in a literal?`,
    )
  }
  const members: [string, JsonValue][] = []
  for (const [key, member] of Object.entries(value)) {
    if (member !== undefined) members.push([key, copy(member, `${path}/${key}`, depth + 1)])
  }
  // Not by assignment: a key `__proto__` must stay a key, for the linter to see.
  return Object.freeze(Object.fromEntries(members))
}
