import type { JsonObject, JsonValue } from 'streamfold'
import { isJsonObject } from 'streamfold/json'
import { resolveLocalRef } from '../validate/close-objects.ts'
import { SchemaError } from '../validate/schema-error.ts'
import { mapSubschemas } from '../validate/schema-walk.ts'
import type { JsonSchema } from './json-schema.ts'

/** Keywords that the strict mode of OpenAI's APIs takes. */
const TAKEN = new Set(
  [
    'type properties required additionalProperties items enum const anyOf $ref $defs',
    'description title pattern format minimum maximum exclusiveMinimum exclusiveMaximum',
    'multipleOf minItems maxItems definitions',
  ].flatMap((line) => line.split(' ')),
)

/** They say nothing that has to hold, so that leaving them out loses nothing. */
const LEFT_OUT = new Set(['$schema', '$comment', 'default', 'examples', 'deprecated', 'readOnly', 'writeOnly'])

/**
 * The schema in the form that strict modes ask for: every object closed, every field required, and a field that was optional
 * may be null instead. {@link withoutPlaceholderNulls} takes those nulls out again.
 *
 * @throws SchemaError for what has no such form; the message says what and where
 */
export function strictForm(schema: JsonSchema): JsonSchema {
  if (schema['anyOf'] !== undefined || schema['oneOf'] !== undefined) refuse('', 'alternatives at the top')
  return convert(schema, '', false)

  function convert(part: JsonSchema, path: string, inChoice: boolean): JsonSchema {
    const kept: Record<string, JsonValue> = {}
    for (const [keyword, value] of Object.entries(part)) {
      // Where exactly one may fit, at least one fits; what is sent is checked against the schema as it was written.
      if (keyword === 'oneOf' && part['anyOf'] === undefined) kept['anyOf'] = value
      else if (TAKEN.has(keyword)) kept[keyword] = value
      else if (!LEFT_OUT.has(keyword)) refuse(`${path}/${keyword}`, `the keyword ${keyword}`)
    }
    const inner = mapSubschemas(kept, ({ schema: sub, steps }) => {
      return convert(sub, `${path}/${steps.join('/')}`, steps[0] === 'anyOf')
    })
    if (!allowsObject(part)) return inner
    const open = part['additionalProperties']
    if (open !== undefined && open !== false) refuse(path, 'a map with free field names')
    const properties = part['properties']
    if (!isJsonObject(properties ?? null)) {
      if (part['type'] === 'object') return { ...inner, properties: {}, required: [], additionalProperties: false }
      return inner
    }
    const required = requiredOf(part)
    const members = Object.entries(inner['properties'] as JsonObject).map(([name, member]) => {
      if (required.has(name)) return [name, member] as const
      if (inChoice) refuse(`${path}/properties/${name}`, 'an optional field inside of alternatives')
      return [name, orNull(member as JsonSchema)] as const
    })
    return {
      ...inner,
      properties: Object.fromEntries(members),
      required: Object.keys(properties as JsonObject),
      additionalProperties: false,
    }
  }
}

/**
 * The input without the nulls that stand for "left out" in the strict form. A null that the schema itself allows stays.
 */
export function withoutPlaceholderNulls(input: JsonObject, schema: JsonSchema): JsonObject {
  return strip(input, schema) as JsonObject

  function strip(value: JsonValue, part: JsonSchema): JsonValue {
    const spoken = referred(part)
    if (Array.isArray(value)) {
      const items = spoken['items']
      if (!isJsonObject(items ?? null)) return value
      return value.map((item: JsonValue) => strip(item, items as JsonSchema))
    }
    const properties = spoken['properties']
    if (!isJsonObject(value) || !isJsonObject(properties ?? null)) return value
    const required = requiredOf(spoken)
    const members: [string, JsonValue][] = []
    for (const [name, member] of Object.entries(value)) {
      const field = Object.hasOwn(properties as JsonObject, name) ? (properties as JsonObject)[name] : undefined
      if (field === undefined || !isJsonObject(field)) members.push([name, member])
      else if (member !== null || required.has(name) || allowsNull(field)) members.push([name, strip(member, field)])
    }
    return Object.fromEntries(members)
  }

  function referred(part: JsonSchema): JsonSchema {
    const ref = part['$ref']
    return typeof ref === 'string' ? (resolveLocalRef(schema, ref) ?? part) : part
  }

  function allowsNull(field: JsonSchema): boolean {
    const part = referred(field)
    const type = part['type']
    if (Array.isArray(type)) return type.includes('null')
    if (type !== undefined) return type === 'null'
    if (Array.isArray(part['enum'])) return part['enum'].includes(null)
    if (part['const'] !== undefined) return part['const'] === null
    const branches = part['anyOf'] ?? part['oneOf']
    if (Array.isArray(branches)) return branches.some((branch: JsonValue) => isJsonObject(branch) && allowsNull(branch))
    return true
  }
}

function orNull(field: JsonSchema): JsonSchema {
  const type = field['type']
  if (field['enum'] === undefined && field['const'] === undefined) {
    if (typeof type === 'string') return type === 'null' ? field : { ...field, type: [type, 'null'] }
    if (Array.isArray(type)) return type.includes('null') ? field : { ...field, type: [...type, 'null'] }
  }
  const branches = field['anyOf']
  if (Array.isArray(branches)) return { ...field, anyOf: [...branches, { type: 'null' }] }
  return { anyOf: [field, { type: 'null' }] }
}

function allowsObject(part: JsonSchema): boolean {
  const type = part['type']
  if (type === undefined) return part['properties'] !== undefined
  return type === 'object' || (Array.isArray(type) && type.includes('object'))
}

function requiredOf(part: JsonSchema): ReadonlySet<JsonValue> {
  return new Set(Array.isArray(part['required']) ? part['required'] : [])
}

function refuse(path: string, what: string): never {
  throw new SchemaError(
    `${what} at ${path || '(top)'} has no strict form; write the schema without it, or define the tool without strict`,
  )
}
