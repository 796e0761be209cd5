import { format, Validator } from '@cfworker/json-schema'
import type { OutputUnit } from '@cfworker/json-schema'
import type { JsonObject, JsonValue } from 'streamfold'
import type { JsonSchema } from '../define/json-schema.ts'
import { boundedWork, countStep, TOO_MUCH_WORK, TooMuchWork } from './bounded-work.ts'
import { describeViolations } from './describe-violation.ts'
import type { Violation } from './describe-violation.ts'
import { compileLinearPattern } from './linear-pattern.ts'
import type { LinearPattern } from './linear-pattern.ts'
import { SchemaError } from './schema-error.ts'
import { mapSubschemas } from './schema-walk.ts'
import type { SchemaValidator } from './validator.ts'

/**
 * Walks the schema with every check instead of compiling it: for runtimes that forbid code generation. Same verdicts as the
 * compiled form, at some hundred times the cost.
 *
 * @throws SchemaError for `patternProperties`, whose patterns the interpreter can't be kept from matching in exponential time
 */
export function interpretValidator(schema: JsonSchema, draft: '2020-12' | '7'): SchemaValidator {
  const patterns = new Map<string, LinearPattern>()
  const prepared = withLinearPatterns(schema, patterns)
  const counted = withCountedReferences(prepared)
  const first = new Validator(counted, draft, true)
  let all: Validator | undefined
  const violations = (check: Validator, input: JsonObject): readonly Violation[] | 'too much work' => {
    // Formats are the one hook the interpreter has, and its table is global: ours are in it only while it works.
    for (const [name, pattern] of patterns) format[name] = (text) => pattern.test(text)
    try {
      const { valid, errors } = boundedWork(input, () => check.validate(input))
      return valid ? [] : errors.map((error) => violationOf(error, prepared, input))
    } catch (error) {
      // Its lists of errors grow with the work, until they no longer fit on the stack.
      if (error instanceof TooMuchWork || error instanceof RangeError) return 'too much work'
      throw error
    } finally {
      for (const name of patterns.keys()) delete format[name]
    }
  }
  return {
    validate(input) {
      const found = violations(first, input)
      if (found === 'too much work') return { ok: false, issues: [TOO_MUCH_WORK] }
      return found.length === 0 ? { ok: true, value: input } : { ok: false, issues: describeViolations(found) }
    },
    unknownFields(input) {
      const any = violations(first, input)
      if (any.length === 0) return []
      // One violation hides the others, and only those about fields count.
      all ??= new Validator(withCountedReferences(prepared), draft, false)
      const found = any === 'too much work' ? any : violations(all, input)
      if (found === 'too much work') return [TOO_MUCH_WORK]
      return describeViolations(found.filter(({ keyword }) => keyword === 'false'))
    },
  }
}

/** A copy whose references say {@link countStep} when they are read: the interpreter reads them once for each value. */
function withCountedReferences(schema: JsonSchema): JsonSchema {
  const copy: Record<string, JsonValue> = { ...mapSubschemas(schema, ({ schema: sub }) => withCountedReferences(sub)) }
  const target = copy['$ref']
  if (target === undefined) return copy
  return Object.defineProperty(copy, '$ref', {
    enumerable: true,
    get(): JsonValue {
      countStep()
      return target
    },
  })
}

const PATTERN_FORMAT = 'streamfold-pattern:'

/** Each `pattern` becomes a format of that name; each real `format` goes, for it describes and is not checked. */
function withLinearPatterns(schema: JsonSchema, patterns: Map<string, LinearPattern>): JsonSchema {
  if (Object.hasOwn(schema, 'patternProperties')) {
    throw new SchemaError(
      "patternProperties can't be checked safely where code generation is forbidden; use additionalProperties with propertyNames",
    )
  }
  const {
    pattern,
    format: _describes,
    ...rest
  } = mapSubschemas(schema, ({ schema: sub }) => withLinearPatterns(sub, patterns))
  if (typeof pattern !== 'string') return rest
  const name = PATTERN_FORMAT + pattern
  if (!patterns.has(name)) patterns.set(name, compileLinearPattern(pattern))
  return { ...rest, format: name }
}

function violationOf(error: OutputUnit, schema: JsonSchema, input: JsonObject): Violation {
  const pointer = error.instanceLocation.slice(1)
  const place = lookUp(schema, error.keywordLocation)
  const ofFormat = error.keyword === 'format'
  // A boolean schema `false` names the field by where it is; the wrapper around it says the same again.
  const keyword = CARRIES_FALSE.has(error.keyword) ? 'allOf' : error.keyword
  return {
    keyword: ofFormat ? 'pattern' : keyword,
    wanted: ofFormat && typeof place.value === 'string' ? place.value.slice(PATTERN_FORMAT.length) : place.value,
    parent: place.parent,
    pointer,
    data: valueAt(input, pointer),
    schemaPath: error.keywordLocation,
  }
}

const CARRIES_FALSE = new Set(['additionalProperties', 'unevaluatedProperties'])

function lookUp(
  schema: JsonSchema,
  location: string,
): { value: JsonValue | undefined; parent: JsonSchema | undefined } {
  let parent: JsonSchema | undefined
  let value: JsonValue | undefined = schema
  for (const step of stepsOf(location.slice(1))) {
    // Locations pass through references: `#/properties/a/$ref/type`.
    if (typeof value === 'string' && value.startsWith('#')) value = valueAt(schema, value.slice(1))
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step))
      return { value: undefined, parent: undefined }
    parent = value as JsonSchema
    value = parent[step]
  }
  return { value, parent }
}

function valueAt(root: JsonValue, pointer: string): JsonValue | undefined {
  let at: JsonValue | undefined = root
  for (const step of stepsOf(pointer)) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, step)) return undefined
    at = (at as JsonObject)[step]
  }
  return at
}

function stepsOf(pointer: string): readonly string[] {
  if (pointer === '') return []
  return pointer
    .slice(1)
    .split('/')
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
}
