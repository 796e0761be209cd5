import type { JsonValue } from 'streamfold'
import { clip, isJsonObject } from 'streamfold/json'
import type { JsonSchema } from '../define/json-schema.ts'
import { messageOf } from '../thrown.ts'
import { resolveLocalRef } from './close-objects.ts'
import { compileLinearPattern } from './linear-pattern.ts'
import { inPlaceLoop } from './in-place-loop.ts'
import { subschemasOf } from './schema-walk.ts'

export interface SchemaFinding {
  /** An `error` makes the schema unusable; a `warning` names what providers or validators read differently. */
  readonly severity: 'error' | 'warning'
  /** JSON Pointer into the schema. */
  readonly path: string
  readonly message: string
}

/** Deepest nesting of subschemas. */
export const MAX_SCHEMA_DEPTH = 64

/** Longest schema, in UTF-16 units of its JSON. */
export const MAX_SCHEMA_CHARS: number = 256 * 1024

/** Greatest `maxItems` with which `uniqueItems` over objects is still cheap: its cost is the square of it. */
const MAX_UNIQUE_OBJECTS = 1000

/** What the strict modes of the providers agree on; the rest is often ignored by them, and still checked here. */
const PORTABLE = new Set(
  [
    'type properties required additionalProperties items enum const anyOf $ref $defs',
    'description title $schema $comment default examples deprecated',
  ].flatMap((line) => line.split(' ')),
)

const KNOWN = new Set([
  ...PORTABLE,
  ...[
    'allOf oneOf not if then else dependentSchemas dependentRequired dependencies',
    'patternProperties propertyNames unevaluatedProperties minProperties maxProperties',
    'prefixItems additionalItems unevaluatedItems contains minContains maxContains',
    'minItems maxItems uniqueItems minimum maximum exclusiveMinimum exclusiveMaximum',
    'multipleOf minLength maxLength pattern format readOnly writeOnly definitions',
    '$id $anchor $dynamicRef $dynamicAnchor $vocabulary',
    'contentEncoding contentMediaType contentSchema',
  ].flatMap((line) => line.split(' ')),
])

const SCALARS = new Set(['string', 'number', 'integer', 'boolean', 'null'])

const TYPES = ['string', 'number', 'integer', 'boolean', 'null', 'object', 'array']

/** Keywords beside `properties` that may name or allow further fields. */
const MAY_NAME_FIELDS = [
  'patternProperties additionalProperties unevaluatedProperties propertyNames allOf anyOf oneOf if $ref $dynamicRef',
  'dependentSchemas dependencies',
].flatMap((line) => line.split(' '))

/**
 * Looks at a tool's schema for what would make its checks wrong, slow or different elsewhere: properties that a validator
 * passes over, patterns that take exponential time, comparisons that grow with the square, references that lead out.
 */
export function lintSchema(schema: JsonSchema): readonly SchemaFinding[] {
  const findings: SchemaFinding[] = []
  if (JSON.stringify(schema).length > MAX_SCHEMA_CHARS) {
    error('', `the schema is longer than ${MAX_SCHEMA_CHARS} characters`)
    return findings
  }
  const type = schema['type']
  if (type !== undefined && type !== 'object' && wrongType(type) === undefined) {
    error('/type', `arguments are an object, so the type at the top must be "object", not ${JSON.stringify(type)}`)
  }
  visit(schema, '', 0, true)
  const loop = inPlaceLoop(schema)
  if (loop !== undefined) {
    error(loop, 'the schema refers to itself for the same value, so that checking it would never end')
  }
  return findings

  /** `whole`: it alone says what its value is, as one of several subschemas for the same value does not. */
  function visit(part: JsonSchema, path: string, depth: number, whole: boolean): void {
    if (depth > MAX_SCHEMA_DEPTH) {
      error(path, `subschemas nest deeper than ${MAX_SCHEMA_DEPTH}`)
      return
    }
    for (const [keyword, value] of Object.entries(part)) lintKeyword(part, keyword, value, `${path}/${escape(keyword)}`)
    if (whole) lintRequired(part, path)
    for (const { schema: sub, role, steps } of subschemasOf(part)) {
      visit(sub, `${path}/${steps.map((step) => escape(step)).join('/')}`, depth + 1, role === 'child')
    }
  }

  function lintKeyword(part: JsonSchema, keyword: string, value: JsonValue, path: string): void {
    switch (keyword) {
      case 'properties':
      case 'dependentSchemas':
      case 'dependentRequired':
      case 'dependencies':
        if (isJsonObject(value) && Object.hasOwn(value, '__proto__')) noProto(path)
        return warnUnlessPortable(keyword, path)
      case 'type': {
        const wrong = wrongType(value)
        if (wrong !== undefined) error(path, wrong)
        return
      }
      case 'required':
        if (Array.isArray(value) && value.includes('__proto__')) noProto(path)
        return
      case 'pattern':
        if (typeof value === 'string') lintPattern(value, path)
        return warnUnlessPortable(keyword, path)
      case 'patternProperties':
        if (isJsonObject(value)) for (const name of Object.keys(value)) lintPattern(name, `${path}/${escape(name)}`)
        return warnUnlessPortable(keyword, path)
      case 'uniqueItems':
        if (value === true) lintUniqueItems(part, path)
        return warnUnlessPortable(keyword, path)
      case '$ref':
        if (typeof value === 'string') lintRef(value, path)
        return
      case '$id':
      case '$anchor':
      case '$dynamicRef':
      case '$dynamicAnchor':
        warning(path, `${keyword} is not needed within one schema, and providers do not read it; use $defs and $ref`)
        return
      case 'format':
        warning(path, 'format describes and is not checked; say what must hold in a pattern')
        return
      default:
        if (!KNOWN.has(keyword)) warning(path, `${keyword} is no keyword of JSON Schema and is ignored`)
        else warnUnlessPortable(keyword, path)
    }
  }

  function lintRequired(part: JsonSchema, path: string): void {
    const { required, properties } = part
    if (!Array.isArray(required) || !isJsonObject(properties ?? null)) return
    if (MAY_NAME_FIELDS.some((keyword) => part[keyword] !== undefined && part[keyword] !== false)) return
    for (const name of required as readonly JsonValue[]) {
      if (typeof name !== 'string' || Object.hasOwn(properties as JsonSchema, name) || name === '__proto__') continue
      warning(`${path}/required`, `${JSON.stringify(clip(name, 80))} is required, and is no field of properties`)
    }
  }

  function lintPattern(source: string, path: string): void {
    try {
      compileLinearPattern(source)
    } catch (thrown) {
      error(path, messageOf(thrown))
    }
  }

  function lintUniqueItems(part: JsonSchema, path: string): void {
    const items = part['items']
    if (isJsonObject(items ?? null) && isScalar(items as JsonSchema)) return
    const most = part['maxItems']
    if (typeof most === 'number' && most <= MAX_UNIQUE_OBJECTS) return
    error(
      path,
      `uniqueItems over values that may be objects compares each with each: set maxItems (at most ${MAX_UNIQUE_OBJECTS})`,
    )
  }

  function lintRef(ref: string, path: string): void {
    if (!ref.startsWith('#'))
      error(path, `the reference ${JSON.stringify(ref)} leads out of the schema; nothing is fetched`)
    else if ((ref === '#' || ref.startsWith('#/')) && resolveLocalRef(schema, ref) === undefined) {
      error(path, `the reference ${JSON.stringify(ref)} points to nothing`)
    }
  }

  function noProto(path: string): void {
    error(path, '"__proto__" can\'t be the name of a field: validators pass over it')
  }

  function warnUnlessPortable(keyword: string, path: string): void {
    if (PORTABLE.has(keyword)) return
    warning(path, `${keyword} is checked here, but not every provider reads it`)
  }

  function error(path: string, message: string): void {
    findings.push({ severity: 'error', path, message })
  }

  function warning(path: string, message: string): void {
    findings.push({ severity: 'warning', path, message })
  }
}

/** What is wrong with the value of `type`; `undefined` for one or several names of types. */
function wrongType(value: JsonValue): string | undefined {
  const names: readonly JsonValue[] = Array.isArray(value) ? value : [value]
  const unknown = names.find((name) => typeof name !== 'string' || !TYPES.includes(name))
  if (names.length > 0 && unknown === undefined) return undefined
  const said = clip(JSON.stringify(unknown ?? value), 80)
  return `${said} is no type; the types are ${TYPES.join(', ')}, or a list of them`
}

function escape(step: string): string {
  return step.replaceAll('~', '~0').replaceAll('/', '~1')
}

function isScalar(items: JsonSchema): boolean {
  const of = items['type']
  if (typeof of === 'string') return SCALARS.has(of)
  if (Array.isArray(of)) return of.every((one: JsonValue) => typeof one === 'string' && SCALARS.has(one))
  return Array.isArray(items['enum']) && items['enum'].every((one: JsonValue) => typeof one !== 'object')
}
