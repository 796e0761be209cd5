import type { JsonObject } from 'streamfold'
import { clip, isJsonObject } from 'streamfold/json'
import type { JsonSchema } from '../define/json-schema.ts'
import type { StandardIssue, StandardSchema } from '../define/standard-schema.ts'
import { MAX_ISSUES } from './describe-violation.ts'
import { jsonSchemaValidator } from './json-schema-validator.ts'
import type { JsonSchemaValidatorOptions } from './json-schema-validator.ts'
import { mapSubschemas } from './schema-walk.ts'
import type { ArgumentsValidator, SchemaIssue, SchemaValidator, ValidationResult } from './validator.ts'

/**
 * Checks with the library's own `validate`, whose output is what the tool gets. Most libraries drop fields they do not know
 * without a word; unless `unknownFields` is `allow`, those are refused by the JSON Schema that the model was shown.
 *
 * A schema may be asynchronous, but must not do I/O: it runs again when a stored call is taken up after a crash.
 */
export function standardValidator(
  schema: StandardSchema,
  inputSchema: JsonSchema,
  options: JsonSchemaValidatorOptions = {},
): ArgumentsValidator {
  const fields = options.unknownFields === 'allow' ? undefined : fieldsValidator(inputSchema, options)
  return {
    async validate(input: JsonObject): Promise<ValidationResult> {
      const result = await schema['~standard'].validate(structuredClone(input))
      if (result.issues !== undefined) {
        const issues = result.issues.slice(0, MAX_ISSUES).map((issue) => issueOf(issue))
        // An empty list would be a refusal without a reason; it is still a refusal.
        return { ok: false, issues: issues.length > 0 ? issues : [{ path: '', expected: 'valid arguments' }] }
      }
      // The library has the last word on values: its schema may take more than JSON Schema can say.
      const unknown = fields?.unknownFields(input) ?? []
      return unknown.length > 0 ? { ok: false, issues: unknown } : { ok: true, value: result.value }
    },
  }
}

/** Only the names of fields, and what is needed to tell alternatives apart, is checked by the derived schema. */
function fieldsValidator(inputSchema: JsonSchema, options: JsonSchemaValidatorOptions): SchemaValidator {
  return jsonSchemaValidator(skeletonOf(inputSchema, false), options)
}

const VALUE_KEYWORDS = new Set(
  [
    'pattern format minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength',
    'maxLength minItems maxItems uniqueItems contains minContains maxContains default',
    'minProperties maxProperties propertyNames contentEncoding contentMediaType $id',
  ].flatMap((line) => line.split(' ')),
)

/** They tell alternatives apart; elsewhere they only say what the library says itself. */
const TELLING_KEYWORDS = new Set(['type', 'enum', 'const', 'required'])

function skeletonOf(schema: JsonSchema, inChoice: boolean): JsonSchema {
  // A definition may be referred to from an alternative.
  const inner = mapSubschemas(schema, ({ schema: sub, role }) => skeletonOf(sub, inChoice || role !== 'child'))
  return Object.fromEntries(
    Object.entries(inner).filter(([keyword]) => {
      return !VALUE_KEYWORDS.has(keyword) && (inChoice || !TELLING_KEYWORDS.has(keyword))
    }),
  )
}

function issueOf({ message, path }: StandardIssue): SchemaIssue {
  const steps = (path ?? []).map((step) => String(typeof step === 'object' ? step.key : step))
  const pointer = steps.map((step) => `/${step.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
  const expected = /expected (.+)$/is.exec(message)?.[1]
  return { path: clip(pointer, 160), expected: clip(expected ?? `another value (${message})`, 300) }
}

/**
 * The JSON Schema that a Standard Schema says its input has; `undefined` when the library can't tell.
 *
 * @throws what the library throws for a schema that JSON Schema can't express
 */
export function derivedSchema(schema: StandardSchema): object | undefined {
  const derived = schema['~standard'].jsonSchema?.input({ target: 'draft-2020-12' })
  return derived !== undefined && isJsonObject(derived as JsonObject) ? derived : undefined
}
