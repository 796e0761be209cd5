import type { JsonSchema } from '../define/json-schema.ts'
import { mapSubschemas, subschemasOf } from './schema-walk.ts'

/** Keywords that can bring in properties for the value that a schema speaks about. */
const IN_PLACE = ['allOf', 'anyOf', 'oneOf', 'then', 'else', 'dependentSchemas', 'dependencies', '$ref', '$dynamicRef']

/**
 * Refuses fields the schema does not name, wherever it names some and says nothing about others. A schema that names no
 * field (`{ "type": "object" }`) stays a free map, and `additionalProperties` or `unevaluatedProperties`, once written, is
 * left as it is.
 *
 * What is only a condition (`if`, `not`, `contains`) is left alone: closing it would change what it selects. Where fields may
 * come from several places (`allOf`, `$ref` …) it takes `unevaluatedProperties`. Draft-07 does not have it, but both validators do;
 * and there a `$ref` hides what stands beside it, so that it goes into an `allOf`.
 */
export function closeObjects(schema: JsonSchema, draft: '2020-12' | '7'): JsonSchema {
  return close(schema, true)

  /** `place`: the schema is the one that speaks for its value, not one of several in place. */
  function close(part: JsonSchema, place: boolean): JsonSchema {
    const inner = mapSubschemas(part, ({ schema: sub, role }) => {
      if (role === 'condition') return sub
      return close(sub, role === 'child')
    })
    if (!place || 'additionalProperties' in part || 'unevaluatedProperties' in part) return inner
    const mixed = IN_PLACE.some((keyword) => Object.hasOwn(part, keyword))
    if (!mixed) return namesFields(part) ? { ...inner, additionalProperties: false } : inner
    if (!mayNameFields(part)) return inner
    if (draft === '7' && inner['$ref'] !== undefined) {
      const { $ref, allOf = [], ...beside } = inner
      return { ...beside, allOf: [...(allOf as readonly JsonSchema[]), { $ref }], unevaluatedProperties: false }
    }
    return { ...inner, unevaluatedProperties: false }
  }

  function mayNameFields(part: JsonSchema): boolean {
    if (namesFields(part)) return true
    if (typeof part['$ref'] === 'string') return refersToFields(part['$ref'], new Set())
    return subschemasOf(part).some(({ role, schema: sub }) => role === 'in-place' && mayNameFields(sub))
  }

  function refersToFields(ref: string, seen: Set<string>): boolean {
    if (seen.has(ref)) return false
    seen.add(ref)
    const target = resolveLocalRef(schema, ref)
    if (target === undefined) return false
    if (namesFields(target)) return true
    if (typeof target['$ref'] === 'string' && refersToFields(target['$ref'], seen)) return true
    return subschemasOf(target).some(({ role, schema: sub }) => {
      if (role !== 'in-place') return false
      if (namesFields(sub)) return true
      return typeof sub['$ref'] === 'string' && refersToFields(sub['$ref'], seen)
    })
  }
}

function namesFields(part: JsonSchema): boolean {
  return Object.hasOwn(part, 'properties')
}

/** The schema that a reference of the form `#` or `#/…` points to; `undefined` for any other. */
export function resolveLocalRef(root: JsonSchema, ref: string): JsonSchema | undefined {
  if (ref === '#') return root
  if (!ref.startsWith('#/')) return undefined
  let at: unknown = root
  for (const step of ref.slice(2).split('/')) {
    const key = decodeStep(step)
    if (key === undefined || typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return undefined
    at = (at as Record<string, unknown>)[key]
  }
  return typeof at === 'object' && at !== null && !Array.isArray(at) ? (at as JsonSchema) : undefined
}

function decodeStep(step: string): string | undefined {
  try {
    return decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~')
  } catch {
    return undefined
  }
}
