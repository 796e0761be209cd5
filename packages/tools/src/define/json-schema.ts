import type { JsonValue } from 'streamfold'

/** A JSON Schema as data, draft 2020-12 or 07. `true` and `false` stand only inside of one. */
export type JsonSchema = { readonly [keyword: string]: JsonValue }
