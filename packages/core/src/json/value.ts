/**
 * A JSON value as the strict reader gives it: what `JSON.parse` builds, seen as read-only.
 *
 * A key `__proto__` is an own property like any other. Never copy such an object by plain assignment (`target[key] = …`),
 * which would change the target's prototype; spread and `Object.entries` are safe.
 */
export type JsonValue = string | number | boolean | null | readonly JsonValue[] | { readonly [key: string]: JsonValue }

export type JsonObject = { readonly [key: string]: JsonValue }

/** True for a JSON object: not for `null`, not for an array. */
export function isJsonObject(value: JsonValue): value is JsonObject {
  return isRecord(value)
}

/** The same of a value that may be anything. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
