import type { JsonValue } from 'streamfold'
import { isJsonObject } from 'streamfold/json'
import type { JsonSchema } from '../define/json-schema.ts'
import { resolveLocalRef } from './close-objects.ts'
import { mapSubschemas, subschemasOf } from './schema-walk.ts'

/** Keywords that say of a field that it was looked at; what is left over is what `unevaluatedProperties` speaks about. */
const EVALUATING = ['properties', 'patternProperties', 'additionalProperties', 'unevaluatedProperties']
const NAMES_PLACES = ['$id', '$anchor', '$dynamicRef', '$dynamicAnchor', '$recursiveRef', 'id']
const PLAIN_REF = /^#(?:\/(?:\$defs|definitions)\/[^/]+)?$/

/**
 * A schema with the same verdict for every value, cheaper to check: `unevaluatedProperties: false` needs a list of fields that is
 * kept while checking, `additionalProperties: false` does not. It is put in its place where that is provably the same:
 *
 * - nothing beside the schema's own `properties` names fields;
 * - the fields come from the branches of one `anyOf` or `oneOf` that a field tells apart (in each it is required, and a `const` or
 *   `enum` of its own). That field then chooses the branch, so that the others are not tried.
 *
 * What is wrong with a value is for the schema as written to say.
 */
export function quickForm(schema: JsonSchema): JsonSchema {
  return refersPlainly(schema) ? quicken(schema, schema) : schema
}

/** All references lead to whole definitions, so nothing refers to a place that is rewritten. */
function refersPlainly(part: JsonSchema): boolean {
  if (NAMES_PLACES.some((keyword) => Object.hasOwn(part, keyword))) return false
  const ref = part['$ref']
  if (ref !== undefined && (typeof ref !== 'string' || !PLAIN_REF.test(ref))) return false
  return subschemasOf(part).every(({ schema: sub }) => refersPlainly(sub))
}

function quicken(part: JsonSchema, root: JsonSchema): JsonSchema {
  const inner = mapSubschemas(part, ({ schema: sub }) => quicken(sub, root))
  if (inner['unevaluatedProperties'] !== false || Object.hasOwn(inner, 'additionalProperties')) return inner
  const { unevaluatedProperties: _false, ...rest } = inner
  if (!inPlaceEvaluates(rest, [])) return { ...rest, additionalProperties: false }
  return choiceByField(rest, root) ?? inner
}

/** Does something in place of the value, other than under the keywords left out, name fields? */
function inPlaceEvaluates(part: JsonSchema, except: readonly string[]): boolean {
  if (Object.hasOwn(part, '$ref')) return true
  return subschemasOf(part).some(({ schema: sub, role, steps: [keyword = ''] }) => {
    // What an `if` looked at counts, when it holds.
    if ((role !== 'in-place' && keyword !== 'if') || except.includes(keyword)) return false
    return EVALUATING.some((each) => Object.hasOwn(sub, each)) || inPlaceEvaluates(sub, [])
  })
}

/** `if` the field has the value of a branch, `then` that branch and no other fields, `else` the same for the next one. */
function choiceByField(part: JsonSchema, root: JsonSchema): JsonSchema | undefined {
  const [keyword, other] = ['anyOf', 'oneOf'].filter((each) => Object.hasOwn(part, each))
  if (keyword === undefined || other !== undefined || Object.hasOwn(part, 'patternProperties')) return undefined
  if (inPlaceEvaluates(part, [keyword])) return undefined
  const { [keyword]: list, allOf = [], ...rest } = part
  if (!Array.isArray(list) || !Array.isArray(allOf)) return undefined
  const branches: JsonSchema[] = []
  for (const item of list as readonly JsonValue[]) {
    const branch = plainBranch(item, root)
    if (branch === undefined) return undefined
    branches.push(branch)
  }
  if (part['type'] !== 'object' && branches.some(({ type }) => type !== 'object')) return undefined
  const field = tellingField(branches, namesIn(part['required']))
  if (field === undefined) return undefined
  const beside: Beside = {
    field,
    names: Object.keys(objectIn(part['properties'])),
    required: namesIn(part['required']),
  }
  let chain: JsonValue = false
  for (const branch of branches.toReversed()) {
    const { [field]: telling } = objectIn(branch['properties'])
    chain = {
      if: { required: [field], properties: { [field]: telling ?? true } },
      // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
      then: closedBranch(branch, beside),
      else: chain,
    }
  }
  return { ...rest, allOf: [...(allOf as readonly JsonValue[]), chain] }
}

/** The branch itself, or what it refers to, when all its fields are its own `properties`. */
function plainBranch(item: JsonValue, root: JsonSchema): JsonSchema | undefined {
  if (!isJsonObject(item)) return undefined
  const ref = item['$ref']
  if (typeof ref === 'string') {
    // Something beside the reference may be annotation, or not.
    if (Object.keys(item).length > 1) return undefined
    const target = resolveLocalRef(root, ref)
    return target === undefined || Object.hasOwn(target, '$ref') ? undefined : plainBranch(target, root)
  }
  const spread = ['patternProperties', 'unevaluatedProperties'].some((keyword) => Object.hasOwn(item, keyword))
  return spread || inPlaceEvaluates(item, []) ? undefined : item
}

/** A field that is required everywhere and whose values differ from branch to branch: at most one branch fits. */
function tellingField(branches: readonly JsonSchema[], required: readonly string[]): string | undefined {
  const [first] = branches
  if (first === undefined) return undefined
  return Object.keys(objectIn(first['properties'])).find((field) => {
    const seen = new Set<JsonValue>()
    return branches.every((branch) => {
      if (!required.includes(field) && !namesIn(branch['required']).includes(field)) return false
      const values = valuesOf(objectIn(branch['properties'])[field])
      if (values === undefined || values.some((value) => seen.has(value))) return false
      for (const value of values) seen.add(value)
      return true
    })
  })
}

/** The values that a schema leaves a field, when they are given and are no objects or lists. */
function valuesOf(schema: JsonValue | undefined): readonly JsonValue[] | undefined {
  if (schema === undefined || !isJsonObject(schema)) return undefined
  const values = Object.hasOwn(schema, 'const') ? [schema['const'] as JsonValue] : schema['enum']
  if (!Array.isArray(values)) return undefined
  const scalars = values as readonly JsonValue[]
  return scalars.some((value) => typeof value === 'object' && value !== null) ? undefined : scalars
}

/** What holds beside a branch: the field that chose it, and what the schema around it names and requires. */
interface Beside {
  readonly field: string
  readonly names: readonly string[]
  readonly required: readonly string[]
}

/**
 * Takes its own fields and those that stand beside the choice; one that speaks about others already is left as it is. What was
 * checked before is not checked again.
 */
function closedBranch(branch: JsonSchema, { field, names, required }: Beside): JsonSchema {
  if (Object.hasOwn(branch, 'additionalProperties')) return branch
  const properties: Record<string, JsonValue> = { ...objectIn(branch['properties']) }
  for (const name of names) if (!Object.hasOwn(properties, name)) properties[name] = true
  const missing = namesIn(branch['required']).filter((name) => name !== field && !required.includes(name))
  return { ...branch, properties: { ...properties, [field]: true }, required: missing, additionalProperties: false }
}

function objectIn(value: JsonValue | undefined): Readonly<Record<string, JsonValue>> {
  return value !== undefined && isJsonObject(value) ? value : {}
}

function namesIn(value: JsonValue | undefined): readonly string[] {
  return Array.isArray(value) ? (value as readonly string[]) : []
}
