import type { JsonObject } from 'streamfold'
import { clip, isJsonObject } from 'streamfold/json'
import type { JsonSchema } from '../define/json-schema.ts'
import type { StandardIssue, StandardSchema } from '../define/standard-schema.ts'
import { MAX_ISSUES } from './describe-violation.ts'
import { jsonSchemaValidator } from './json-schema-validator.ts'
import type { JsonSchemaValidatorOptions } from './json-schema-validator.ts'
import { mapSubschemas } from './schema-walk.ts'
import type { ArgumentsValidator, SchemaIssue, ValidationResult } from './validator.ts'

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
      const unknown = unknownFields(await fields?.validate(input))
      return unknown.length > 0 ? { ok: false, issues: unknown } : { ok: true, value: result.value }
    },
  }
}

const NO_SUCH_FIELD = 'no such field'

function unknownFields(result: ValidationResult | undefined): readonly SchemaIssue[] {
  if (result === undefined || result.ok) return []
  // The library has the last word on values: its schema may take more than JSON Schema can say.
  return result.issues.filter(({ expected }) => expected.startsWith(NO_SUCH_FIELD))
}

/** Only the names of fields, and what is needed to tell alternatives apart, is checked by the derived schema. */
function fieldsValidator(inputSchema: JsonSchema, options: JsonSchemaValidatorOptions): ArgumentsValidator {
  return jsonSchemaValidator(skeletonOf(inputSchema), options)
}

const VALUE_KEYWORDS = new Set(
  [
    'pattern format minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength',
    'maxLength minItems maxItems uniqueItems contains minContains maxContains default',
    'minProperties maxProperties propertyNames contentEncoding contentMediaType $id',
  ].flatMap((line) => line.split(' ')),
)

function skeletonOf(schema: JsonSchema): JsonSchema {
  const inner = mapSubschemas(schema, ({ schema: sub }) => skeletonOf(sub))
  return Object.fromEntries(Object.entries(inner).filter(([keyword]) => !VALUE_KEYWORDS.has(keyword)))
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
