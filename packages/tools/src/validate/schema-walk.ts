import type { JsonValue } from 'streamfold'
import { isJsonObject } from 'streamfold/json'
import type { JsonSchema } from '../define/json-schema.ts'

/** How a subschema relates to the value its parent speaks about. */
export type SubschemaRole =
  /** It speaks about a member or an item. */
  | 'child'
  /** It speaks about the same value. */
  | 'in-place'
  /** It is only tested: what it refuses is not refused by that alone. */
  | 'condition'
  /** It applies where something refers to it. */
  | 'definition'

const ONE: Readonly<Record<string, SubschemaRole>> = {
  additionalProperties: 'child',
  unevaluatedProperties: 'child',
  items: 'child',
  additionalItems: 'child',
  unevaluatedItems: 'child',
  propertyNames: 'condition',
  contains: 'condition',
  not: 'condition',
  if: 'condition',
  // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
  then: 'in-place',
  else: 'in-place',
}
const LIST: Readonly<Record<string, SubschemaRole>> = {
  allOf: 'in-place',
  anyOf: 'in-place',
  oneOf: 'in-place',
  prefixItems: 'child',
  items: 'child',
}
const TABLE: Readonly<Record<string, SubschemaRole>> = {
  properties: 'child',
  patternProperties: 'child',
  dependentSchemas: 'in-place',
  dependencies: 'in-place',
  $defs: 'definition',
  definitions: 'definition',
}

export interface Subschema {
  readonly schema: JsonSchema
  readonly role: SubschemaRole
  /** Steps from the parent: the keyword, then a name or an index where the keyword holds several. */
  readonly steps: readonly string[]
}

/** The subschemas directly inside of `schema`; boolean schemas are left out. */
export function subschemasOf(schema: JsonSchema): readonly Subschema[] {
  const found: Subschema[] = []
  for (const [keyword, value] of Object.entries(schema)) {
    if (Array.isArray(value)) {
      const role = roleIn(LIST, keyword)
      if (role !== undefined) value.forEach((item: JsonValue, at) => add(item, role, [keyword, String(at)]))
      continue
    }
    const one = roleIn(ONE, keyword)
    if (one !== undefined) add(value, one, [keyword])
    const table = roleIn(TABLE, keyword)
    if (table !== undefined && isJsonObject(value)) {
      for (const [name, member] of Object.entries(value)) add(member, table, [keyword, name])
    }
  }
  return found

  function add(value: JsonValue, role: SubschemaRole, steps: readonly string[]): void {
    if (isJsonObject(value)) found.push({ schema: value, role, steps })
  }
}

/** Rebuilds a schema with `change` applied to every subschema in it, innermost last; definitions included. */
export function mapSubschemas(schema: JsonSchema, change: (subschema: Subschema) => JsonSchema): JsonSchema {
  const copy: Record<string, JsonValue> = { ...schema }
  for (const subschema of subschemasOf(schema)) {
    const [keyword, key] = subschema.steps as [string, string?]
    const changed = change(subschema)
    if (key === undefined) {
      copy[keyword] = changed
      continue
    }
    const holder = copy[keyword] as JsonValue
    if (Array.isArray(holder))
      copy[keyword] = holder.map((item: JsonValue, at) => (String(at) === key ? changed : item))
    else copy[keyword] = { ...(holder as JsonSchema), [key]: changed }
  }
  return copy
}

/** Names come from a schema: look-ups see own members only. */
function roleIn(table: Readonly<Record<string, SubschemaRole>>, keyword: string): SubschemaRole | undefined {
  return Object.hasOwn(table, keyword) ? table[keyword] : undefined
}
