import type { JsonValue } from 'streamfold'
import { clip, isJsonObject } from 'streamfold/json'
import type { SchemaIssue } from './validator.ts'

/** One keyword of a schema that was not met, as any validator can tell it. */
export interface Violation {
  readonly keyword: string
  /** Value of the keyword in the schema. */
  readonly wanted: unknown
  /** The schema that holds the keyword. */
  readonly parent: unknown
  /** JSON Pointer of the value that does not fit. */
  readonly pointer: string
  readonly data: unknown
  /** Where the keyword stands in the schema. */
  readonly schemaPath: string
  /** The fields the validator named, for keywords about fields. */
  readonly fields?: readonly string[]
}

/** Issues given per call; more would not help a model to put the arguments right. */
export const MAX_ISSUES = 20

const MAX_LISTED_CHARS = 160

/** They only pass on what a schema inside of them said. */
const CARRIERS = new Set(
  [
    'properties patternProperties items prefixItems allOf $ref dependentSchemas propertyNames',
    'if anyOf oneOf $dynamicRef additionalItems unevaluatedItems dependencies',
  ].flatMap((line) => line.split(' ')),
)

/** Puts violations in words: what is expected where. Carriers are left out when what they carry is there. */
export function describeViolations(violations: readonly Violation[]): readonly SchemaIssue[] {
  const telling = violations.filter(({ keyword }) => !CARRIERS.has(keyword))
  const lines = new Map<string, { path: string; expected: string[]; choice: boolean }>()
  for (const violation of telling.length > 0 ? telling : violations) {
    const choice = /\/(?:anyOf|oneOf)\//.test(violation.schemaPath)
    for (const { path, expected } of issuesOf(violation)) {
      // What the branches of a choice want of one value are alternatives; everything else stands for itself.
      const key = choice ? `${path}\0choice` : `${path}\0${expected}`
      const line = lines.get(key)
      if (line === undefined) {
        if (lines.size < MAX_ISSUES) lines.set(key, { path, expected: [expected], choice })
      } else if (!line.expected.includes(expected) && line.expected.length < 5) line.expected.push(expected)
    }
  }
  return [...lines.values()].map(({ path, expected }) => ({ path, expected: expected.join(', or ') }))
}

function issuesOf(violation: Violation): readonly SchemaIssue[] {
  const { keyword, wanted, parent, pointer, data } = violation
  if (keyword === 'required' || keyword === 'dependentRequired') {
    const missing = violation.fields ?? (Array.isArray(wanted) ? wanted.filter((name) => !hasField(data, name)) : [])
    return missing.map((name) => ({
      path: `${pointer}/${escape(String(name))}`,
      expected: requiredField(parent, String(name)),
    }))
  }
  if (keyword === 'additionalProperties' || keyword === 'unevaluatedProperties' || keyword === 'false') {
    const paths = violation.fields?.map((name) => `${pointer}/${escape(name)}`) ?? [pointer]
    return paths.map((path) => ({
      path: clip(path, MAX_LISTED_CHARS),
      expected: `no such field${knownFields(parent)}`,
    }))
  }
  return [{ path: clip(pointer, MAX_LISTED_CHARS), expected: expectationOf(keyword, wanted) }]
}

function expectationOf(keyword: string, wanted: unknown): string {
  switch (keyword) {
    case 'type':
      return typeNames(wanted)
    case 'enum':
      return `one of ${listed(Array.isArray(wanted) ? wanted : [])}`
    case 'const':
      return listed([wanted])
    case 'minimum':
      return `a number >= ${String(wanted)}`
    case 'maximum':
      return `a number <= ${String(wanted)}`
    case 'exclusiveMinimum':
      return `a number > ${String(wanted)}`
    case 'exclusiveMaximum':
      return `a number < ${String(wanted)}`
    case 'multipleOf':
      return `a multiple of ${String(wanted)}`
    case 'minLength':
      return `at least ${counted(wanted, 'character')}`
    case 'maxLength':
      return `at most ${counted(wanted, 'character')}`
    case 'pattern':
      return `text matching ${clip(String(wanted), MAX_LISTED_CHARS)}`
    case 'minItems':
      return `at least ${counted(wanted, 'item')}`
    case 'maxItems':
      return `at most ${counted(wanted, 'item')}`
    case 'uniqueItems':
      return 'no item twice'
    case 'minProperties':
      return `at least ${counted(wanted, 'field')}`
    case 'maxProperties':
      return `at most ${counted(wanted, 'field')}`
    case 'contains':
    case 'minContains':
    case 'maxContains':
      return 'the right number of items of the described kind'
    case 'not':
      return 'a value that the schema does not exclude'
    case 'anyOf':
    case 'oneOf':
      return keyword === 'oneOf' ? 'exactly one of the forms in the schema' : 'one of the forms in the schema'
    default:
      return `what "${keyword}" in the schema says`
  }
}

function requiredField(parent: unknown, name: string): string {
  const properties = isSchema(parent) ? parent['properties'] : undefined
  const field = isSchema(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined
  if (!isSchema(field)) return 'a value; the field is required'
  if ('type' in field) return `${typeNames(field['type'])}; the field is required`
  if (Array.isArray(field['enum'])) return `one of ${listed(field['enum'])}; the field is required`
  return 'a value; the field is required'
}

function knownFields(parent: unknown): string {
  const properties = isSchema(parent) ? parent['properties'] : undefined
  const names = isSchema(properties) ? Object.keys(properties) : []
  return names.length === 0 ? '' : `; the fields are ${clip(names.join(', '), MAX_LISTED_CHARS)}`
}

function typeNames(wanted: unknown): string {
  return Array.isArray(wanted) ? wanted.join(' or ') : String(wanted)
}

function counted(count: unknown, noun: string): string {
  return `${String(count)} ${noun}${count === 1 ? '' : 's'}`
}

function listed(values: readonly unknown[]): string {
  return clip(values.map((value) => JSON.stringify(value)).join(', '), MAX_LISTED_CHARS)
}

function hasField(data: unknown, name: unknown): boolean {
  return typeof data === 'object' && data !== null && typeof name === 'string' && Object.hasOwn(data, name)
}

function isSchema(value: unknown): value is { readonly [keyword: string]: JsonValue } {
  return isJsonObject((value ?? null) as JsonValue)
}

function escape(step: string): string {
  return step.replaceAll('~', '~0').replaceAll('/', '~1')
}
