import type { JsonObject, JsonValue } from 'streamfold'
import type { Decision } from '../authorize/decision.ts'
import type { Resource } from '../authorize/resource.ts'
import { LONGEST_TIMER_MS } from '../longest-timer.ts'
import { messageOf } from '../thrown.ts'
import { canonicalJson } from '../validate/canonical-json.ts'
import { frozenSchema } from '../validate/frozen-schema.ts'
import { jsonSchemaValidator, refuseErrors } from '../validate/json-schema-validator.ts'
import type { JsonSchemaValidatorOptions } from '../validate/json-schema-validator.ts'
import { lintSchema } from '../validate/lint-schema.ts'
import { SchemaError } from '../validate/schema-error.ts'
import { sha256Hex } from '../validate/sha256.ts'
import { derivedSchema, standardValidator } from '../validate/standard-validator.ts'
import type { ArgumentsValidator } from '../validate/validator.ts'
import type { ArgumentsOf, ToolParameters } from './infer-arguments.ts'
import type { JsonSchema } from './json-schema.ts'
import { isStandardSchema } from './standard-schema.ts'
import { strictForm, withoutPlaceholderNulls } from './strict-form.ts'
import { EFFECTS } from './tool.ts'
import type { ApprovalRule, Effect, GateContext, QueryAnswer, Tool, ToolContext } from './tool.ts'

/** Names that every provider takes. */
const TOOL_NAME = /^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/

export interface ToolDefinition<Parameters extends ToolParameters, Result> extends JsonSchemaValidatorOptions {
  /** Letters, digits, `_` and `-`; at most 64, no digit or `-` first. The model's spelling must match exactly. */
  readonly name: string
  /** For the model: what it does and when to use it. */
  readonly description: string
  /** A JSON Schema (draft 2020-12 or 07), or a schema of any library that follows Standard Schema. */
  readonly parameters: Parameters
  /** JSON Schema for the model, for a library that can't give one itself. */
  readonly inputSchema?: JsonSchema
  /** What a second run would do. There is no default: it is the one thing only the developer knows. */
  readonly effect: Effect
  /**
   * Declares the tool in the strict form of the provider: every field required, a field left out is null. Those nulls are taken
   * out before the arguments are checked.
   */
  readonly strict?: boolean
  /** Time one execution may take, in milliseconds. */
  readonly timeoutMs?: number
  /** Greatest size of the arguments in UTF-8 bytes. Default 1 MiB. */
  readonly maxArgumentBytes?: number
  /**
   * Whether a person has to agree. An `unsafe` tool without `operationId` needs approval when nothing is said here, for a model
   * that asks again would really do it again.
   */
  readonly approve?: ApprovalRule<ArgumentsOf<Parameters>>
  /** Null, or an empty text, names no operation: then the call is one by itself, as if this function were not there. */
  operationId?(args: ArgumentsOf<Parameters>, context: GateContext): JsonValue
  resources?(args: ArgumentsOf<Parameters>, context: GateContext): readonly Resource[] | Promise<readonly Resource[]>
  authorize?(args: ArgumentsOf<Parameters>, context: GateContext): Decision | Promise<Decision>
  redact?(input: JsonObject): JsonValue
  execute(args: ArgumentsOf<Parameters>, context: ToolContext): Promise<Result> | Result
  query?(key: string, context: ToolContext): Promise<QueryAnswer> | QueryAnswer
}

type SchemaSource = JsonSchemaValidatorOptions &
  Pick<ToolDefinition<ToolParameters, unknown>, 'name' | 'parameters' | 'inputSchema' | 'strict'>

/**
 * Defines a tool that a model may call. `args` of its functions has the type that `parameters` describes.
 *
 * @throws SchemaError for a schema that can't be used, naming everything that is wrong with it
 * @throws TypeError for any other mistake in the definition
 */
export function defineTool<const Parameters extends ToolParameters, Result>(
  definition: ToolDefinition<Parameters, Result>,
): Tool<ArgumentsOf<Parameters>, Result> {
  const { name } = definition
  if (typeof name !== 'string' || !TOOL_NAME.test(name)) {
    throw new TypeError(`${JSON.stringify(name)} can't be the name of a tool: letters, digits, "_" and "-", at most 64`)
  }
  if (typeof definition.description !== 'string' || definition.description.trim() === '') {
    throw new TypeError(`tool ${name}: without a description a model can't know when to use it`)
  }
  if (!EFFECTS.includes(definition.effect)) {
    throw new TypeError(`tool ${name}: effect must be one of ${EFFECTS.join(', ')}, not ${definition.effect}`)
  }
  if (typeof definition.execute !== 'function') throw new TypeError(`tool ${name}: execute must be a function`)
  if ((definition.effect === 'queryable') !== (definition.query !== undefined)) {
    throw new TypeError(`tool ${name}: a queryable tool needs a query function, and no other tool has one`)
  }
  requirePositive(name, 'timeoutMs', definition.timeoutMs, LONGEST_TIMER_MS)
  requirePositive(name, 'maxArgumentBytes', definition.maxArgumentBytes, Number.MAX_SAFE_INTEGER)

  try {
    const inputSchema = inputSchemaOf(definition)
    const { approve, timeoutMs, maxArgumentBytes } = definition
    return Object.freeze({
      ...optionalFunctions(definition),
      ...(approve === undefined ? {} : { approve }),
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
      ...(maxArgumentBytes === undefined ? {} : { maxArgumentBytes }),
      name,
      description: definition.description,
      effect: definition.effect,
      inputSchema,
      ...(definition.strict === true ? { strictSchema: strictForm(inputSchema) } : {}),
      schemaHash: sha256Hex(canonicalJson(inputSchema)),
      schemaFindings: lintSchema(inputSchema).filter(({ severity }) => severity === 'warning'),
      validator: validatorOf(definition, inputSchema),
      execute: definition.execute.bind(definition),
    })
  } catch (error) {
    if (!(error instanceof SchemaError)) throw error
    throw new SchemaError(`tool ${name}: ${error.message}`, error.findings, { cause: error })
  }
}

function inputSchemaOf(definition: SchemaSource): JsonSchema {
  const { parameters } = definition
  if (!isStandardSchema(parameters)) {
    if (definition.inputSchema !== undefined)
      throw new TypeError(`tool ${definition.name}: parameters is the JSON Schema`)
    if (typeof parameters !== 'object' || parameters === null) throw new SchemaError('parameters must be a schema')
    return frozenSchema(parameters)
  }
  if (definition.inputSchema !== undefined) return frozenSchema(definition.inputSchema)
  let derived: object | undefined
  try {
    derived = derivedSchema(parameters)
  } catch (error) {
    throw new SchemaError(`no JSON Schema can be derived (${messageOf(error)}); give one as inputSchema`, [], {
      cause: error,
    })
  }
  if (derived === undefined) {
    const { vendor } = parameters['~standard']
    throw new SchemaError(`${vendor} gives no JSON Schema for the model; give one as inputSchema`)
  }
  // Patterns of a library are its own to run; the model may read them.
  return frozenSchema(JSON.parse(JSON.stringify(derived)) as object)
}

function validatorOf(definition: SchemaSource, inputSchema: JsonSchema): ArgumentsValidator {
  const { parameters, unknownFields, engine } = definition
  const options = { ...(unknownFields && { unknownFields }), ...(engine && { engine }) }
  if (!isStandardSchema(parameters)) refuseErrors(inputSchema)
  const validator = isStandardSchema(parameters)
    ? standardValidator(parameters, inputSchema, options)
    : jsonSchemaValidator(inputSchema, options)
  if (definition.strict !== true) return validator
  return { validate: (input) => validator.validate(withoutPlaceholderNulls(input, inputSchema)) }
}

/** The functions that are there, bound: `this` stays the definition, and what is absent stays absent. */
function optionalFunctions<Parameters extends ToolParameters, Result>(
  definition: ToolDefinition<Parameters, Result>,
): Pick<Tool<ArgumentsOf<Parameters>, Result>, 'operationId' | 'resources' | 'authorize' | 'redact' | 'query'> {
  return {
    ...(definition.operationId && { operationId: definition.operationId.bind(definition) }),
    ...(definition.resources && { resources: definition.resources.bind(definition) }),
    ...(definition.authorize && { authorize: definition.authorize.bind(definition) }),
    ...(definition.redact && { redact: definition.redact.bind(definition) }),
    ...(definition.query && { query: definition.query.bind(definition) }),
  }
}

function requirePositive(name: string, field: string, value: number | undefined, most: number): void {
  if (value === undefined || (value > 0 && value <= most)) return
  throw new TypeError(`tool ${name}: ${field} must be a positive number, at most ${most}, not ${value}`)
}
