import type { JsonObject, JsonValue } from 'streamfold'
import type { JsonSchema } from './json-schema.ts'
import type { StandardSchema } from './standard-schema.ts'

/** What a tool's `parameters` may be. */
export type ToolParameters = JsonSchema | StandardSchema

/** The type of `args` of a tool with these `parameters`: the output of a Standard Schema, or what a JSON Schema describes. */
export type ArgumentsOf<Parameters> =
  Parameters extends StandardSchema<infer _Input, infer Output>
    ? Output
    : Parameters extends JsonSchema
      ? JsonSchema extends Parameters
        ? JsonObject
        : FromJsonSchema<Parameters>
      : never

/**
 * The type a JSON Schema describes, as far as types can say it. What they can't (numbers in a range, references) is the next
 * wider type: `unknown` for a `$ref`.
 */
export type FromJsonSchema<Schema> = Schema extends true
  ? unknown
  : Schema extends { readonly const: infer Value }
    ? Value
    : Schema extends { readonly enum: readonly (infer Value)[] }
      ? Value
      : Schema extends { readonly $ref: string }
        ? unknown
        : Schema extends { readonly anyOf: readonly (infer Branch)[] }
          ? FromJsonSchema<Branch>
          : Schema extends { readonly oneOf: readonly (infer Branch)[] }
            ? FromJsonSchema<Branch>
            : Schema extends { readonly type: infer Type }
              ? FromType<Type extends readonly (infer One)[] ? One : Type, Schema>
              : Schema extends { readonly properties: object }
                ? FromObject<Schema>
                : unknown

type FromType<Type, Schema> = Type extends 'string'
  ? string
  : Type extends 'number' | 'integer'
    ? number
    : Type extends 'boolean'
      ? boolean
      : Type extends 'null'
        ? null
        : Type extends 'array'
          ? FromArray<Schema>
          : Type extends 'object'
            ? FromObject<Schema>
            : unknown

type FromArray<Schema> = Schema extends { readonly items: infer Items } ? FromJsonSchema<Items>[] : unknown[]

type FromObject<Schema> = Schema extends { readonly properties: infer Properties }
  ? Flat<
      { -readonly [Name in Extract<keyof Properties, RequiredOf<Schema>>]: FromJsonSchema<Properties[Name]> } & {
        -readonly [Name in Exclude<keyof Properties, RequiredOf<Schema>>]?: FromJsonSchema<Properties[Name]>
      }
    >
  : Schema extends { readonly additionalProperties: infer Members }
    ? Members extends object
      ? { [name: string]: FromJsonSchema<Members> }
      : { [name: string]: JsonValue }
    : { [name: string]: JsonValue }

type RequiredOf<Schema> = Schema extends { readonly required: readonly (infer Name)[] } ? Name : never

/** One object type in place of an intersection. */
type Flat<Type> = { [Name in keyof Type]: Type[Name] }
