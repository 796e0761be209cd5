import { Ajv } from 'ajv'
import type { AnySchemaObject, ErrorObject, Options, ValidateFunction } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import type { JsonObject } from 'streamfold'
import type { JsonSchema } from '../define/json-schema.ts'
import { describeViolations } from './describe-violation.ts'
import type { Violation } from './describe-violation.ts'
import { linearRegExp } from './linear-pattern.ts'
import { SchemaError } from './schema-error.ts'
import type { ArgumentsValidator } from './validator.ts'

/** The options that make Ajv safe to put before a tool. */
const SAFE: Options = {
  // One error decides; a list of all of them could be as long as the input.
  allErrors: false,
  // `constructor` and its kin are no fields of the arguments.
  ownProperties: true,
  strictNumbers: true,
  $data: false,
  multipleOfPrecision: 10,
  // Unknown keywords are the linter's to name; they are legal.
  strict: false,
  // A `format` describes. What must hold is said in a pattern, which every validator checks alike.
  validateFormats: false,
  verbose: true,
  logger: false,
  addUsedSchema: false,
  code: { regExp: linearRegExp },
}

/** Compilations one Ajv instance makes: it never forgets the values of its schemas. */
const COMPILATIONS_PER_INSTANCE = 256

/** Largest input that is checked again to name everything that is wrong with it. */
const MAX_CHARS_TO_NAME_ALL = 16 * 1024

type Draft = '2020-12' | '7'

/**
 * Compiles the schema to code with Ajv.
 *
 * @throws SchemaError when it is no valid schema
 */
export function compileValidator(schema: JsonSchema, draft: Draft): ArgumentsValidator {
  const check = compile(schema, draft, false)
  let nameAll: ValidateFunction | undefined
  return {
    validate(input: JsonObject) {
      if (check(input)) return { ok: true, value: input }
      let errors = check.errors ?? []
      if (JSON.stringify(input).length <= MAX_CHARS_TO_NAME_ALL) {
        nameAll ??= compile(schema, draft, true)
        nameAll(input)
        errors = nameAll.errors ?? errors
      }
      return { ok: false, issues: describeViolations(errors.map((error) => violationOf(error))) }
    },
  }
}

interface Compiler {
  readonly ajv: Ajv
  compilations: number
}

const compilers = new Map<string, Compiler>()

function compile(schema: JsonSchema, draft: Draft, allErrors: boolean): ValidateFunction {
  const key = `${draft} ${allErrors}`
  let compiler = compilers.get(key)
  if (compiler === undefined || compiler.compilations >= COMPILATIONS_PER_INSTANCE) {
    const options = { ...SAFE, allErrors }
    compiler = { ajv: draft === '7' ? new Ajv(options) : new Ajv2020(options), compilations: 0 }
    compilers.set(key, compiler)
  }
  compiler.compilations++
  // The draft was read from it already, and Ajv knows each under one spelling only.
  const { $schema: _draft, ...undeclared } = schema as AnySchemaObject
  try {
    return compiler.ajv.compile(undeclared)
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new SchemaError(`the schema can't be compiled: ${why}`, [], { cause: error })
  } finally {
    compiler.ajv.removeSchema(undeclared)
  }
}

function violationOf(error: ErrorObject): Violation {
  const params = error.params as Readonly<Record<string, unknown>>
  const field = params['missingProperty'] ?? params['additionalProperty'] ?? params['unevaluatedProperty']
  return {
    keyword: error.keyword,
    wanted: error.schema,
    parent: error.parentSchema,
    pointer: error.instancePath,
    data: error.data,
    schemaPath: error.schemaPath,
    ...(typeof field === 'string' ? { fields: [field] } : {}),
  }
}
