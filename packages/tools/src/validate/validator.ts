import type { JsonObject } from 'streamfold'

/** One thing that is wrong with the arguments, in words a model can act on. */
export interface SchemaIssue {
  /** JSON Pointer of the value, `''` for the arguments as a whole. */
  readonly path: string
  /** What would be right there: reads on after `expected`. */
  readonly expected: string
}

export type ValidationResult =
  | { readonly ok: true; readonly value: unknown }
  /** The issues in order of discovery; at least one. */
  | { readonly ok: false; readonly issues: readonly SchemaIssue[] }

/** Of a JSON Schema. */
export interface SchemaValidator extends ArgumentsValidator {
  /** Only the fields that no schema names; what values should be is not looked at. */
  unknownFields(input: JsonObject): readonly SchemaIssue[]
}

/** Checks arguments against one tool's schema. May throw on what it can't decide; the gate takes that as a refusal. */
export interface ArgumentsValidator {
  validate(input: JsonObject): ValidationResult | Promise<ValidationResult>
}
