import type { JsonObject, JsonValue } from '../json/value.ts'

/** A field of what was sent. Only own ones count: a body has no prototype. */
export function own(object: JsonObject, name: string): JsonValue | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined
}
