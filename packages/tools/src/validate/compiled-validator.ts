import { Ajv } from 'ajv'
import type { AnySchemaObject, ErrorObject, FuncKeywordDefinition, Options, ValidateFunction } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import type { JsonObject } from 'streamfold'
import type { JsonSchema } from '../define/json-schema.ts'
import { messageOf } from '../thrown.ts'
import { boundedWork, countStep, TOO_MUCH_WORK, TooMuchWork } from './bounded-work.ts'
import { describeViolations } from './describe-violation.ts'
import type { Violation } from './describe-violation.ts'
import { linearRegExp } from './linear-pattern.ts'
import { quickForm } from './quick-form.ts'
import { SchemaError } from './schema-error.ts'
import { mapSubschemas } from './schema-walk.ts'
import { addLengthKeywords } from './text-length.ts'
import type { SchemaValidator } from './validator.ts'

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
  code: { regExp: linearRegExp, process: ownFieldsOnly },
}

/**
 * Ajv looks up in plain objects which fields a branch has named. A field called `constructor` would be found in each of them, and
 * pass for a known one.
 */
function ownFieldsOnly(code: string): string {
  return code.replaceAll(/!(props\d+)\[(key\d+)\]/g, '!Object.hasOwn($1, $2)')
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
export function compileValidator(schema: JsonSchema, draft: Draft): SchemaValidator {
  const counted = withCountedReferences(schema)
  // Decides; what is wrong with what it refuses is told from the schema as it was written.
  const quick = withCountedReferences(quickForm(schema))
  const check = compile(quick, draft, false)
  const refers = JSON.stringify(quick).includes(STEP_KEYWORD)
  let nameFirst: ValidateFunction | undefined
  let nameAll: ValidateFunction | undefined
  /** All errors; `undefined` when they can't be had with bounded work. */
  const allErrors = (input: JsonObject): readonly ErrorObject[] | undefined => {
    nameAll ??= compile(counted, draft, true)
    const errors = errorsOf(nameAll, input)
    return errors === 'too much work' ? undefined : errors
  }
  const firstError = (input: JsonObject): readonly ErrorObject[] | undefined => {
    nameFirst ??= compile(counted, draft, false)
    const errors = errorsOf(nameFirst, input)
    return errors === 'too much work' ? undefined : errors
  }
  return {
    validate(input) {
      // Without references there is nothing to count: the work is bounded by the sizes of schema and input.
      if (!refers && check(input)) return { ok: true, value: input }
      const first = errorsOf(check, input)
      if (first === 'too much work') return { ok: false, issues: [TOO_MUCH_WORK] }
      if (first.length === 0) return { ok: true, value: input }
      const short = JSON.stringify(input).length <= MAX_CHARS_TO_NAME_ALL
      const errors = (short ? allErrors(input) : undefined) ?? firstError(input) ?? first
      return { ok: false, issues: describeViolations(errors.map((error) => violationOf(error))) }
    },
    unknownFields(input) {
      const first = errorsOf(check, input)
      if (first.length === 0) return []
      // One error hides the others, and only those about fields count.
      const errors = first === 'too much work' ? undefined : allErrors(input)
      if (errors === undefined) return [TOO_MUCH_WORK]
      return describeViolations(
        errors.filter(({ keyword }) => ABOUT_FIELDS.has(keyword)).map((error) => violationOf(error)),
      )
    },
  }
}

const ABOUT_FIELDS: ReadonlySet<string> = new Set(['additionalProperties', 'unevaluatedProperties', 'false schema'])

function errorsOf(check: ValidateFunction, input: JsonObject): readonly ErrorObject[] | 'too much work' {
  try {
    return boundedWork(input, () => (check(input) ? [] : (check.errors ?? [])))
  } catch (error) {
    if (error instanceof TooMuchWork) return 'too much work'
    throw error
  }
}

/** Says {@link countStep} before a reference is followed. */
const STEP_KEYWORD = 'streamfold:step'

function withCountedReferences(schema: JsonSchema): JsonSchema {
  const inner = mapSubschemas(schema, ({ schema: sub }) => withCountedReferences(sub))
  return Object.hasOwn(inner, '$ref') || Object.hasOwn(inner, '$dynamicRef')
    ? { ...inner, [STEP_KEYWORD]: true }
    : inner
}

function countingKeyword(): FuncKeywordDefinition {
  return {
    keyword: STEP_KEYWORD,
    before: '$ref',
    schema: false,
    errors: false,
    validate() {
      countStep()
      return true
    },
  }
}

/** With `unevaluatedProperties`, by which unknown fields are refused. */
function draft7(options: Options): Ajv {
  const ajv = new Ajv({ ...options, unevaluated: true })
  const keyword = new Ajv2020(options).getKeyword('unevaluatedProperties')
  if (typeof keyword === 'object') ajv.addKeyword(keyword)
  return ajv
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
    compiler = { ajv: draft === '7' ? draft7(options) : new Ajv2020(options), compilations: 0 }
    compiler.ajv.addKeyword(countingKeyword())
    addLengthKeywords(compiler.ajv)
    compilers.set(key, compiler)
  }
  compiler.compilations++
  // The draft was read from it already, and Ajv knows each under one spelling only. A name of its own, which no reference here
  // can use, could be that of another schema: forgetting the one would then forget the other.
  const { $schema: _draft, $id: _name, ...undeclared } = schema as AnySchemaObject
  try {
    return compiler.ajv.compile(undeclared)
  } catch (error) {
    throw new SchemaError(`the schema can't be compiled: ${messageOf(error)}`, [], { cause: error })
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
