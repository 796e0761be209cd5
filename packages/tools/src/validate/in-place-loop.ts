import type { JsonSchema } from '../define/json-schema.ts'
import { resolveLocalRef } from './close-objects.ts'
import { subschemasOf } from './schema-walk.ts'

/** Keywords whose subschemas speak about the same value. */
const SAME_VALUE = new Set(['allOf', 'anyOf', 'oneOf', 'not', 'if', 'then', 'else', 'dependentSchemas', 'dependencies'])

/** JSON Pointer of a reference that leads back to a schema it stands in, without a step into the value; `undefined` when there is none. */
export function inPlaceLoop(root: JsonSchema): string | undefined {
  const open = new Set<JsonSchema>()
  const done = new Set<JsonSchema>()
  return everywhere(root, '')

  function everywhere(part: JsonSchema, path: string): string | undefined {
    const found = follow(part, path)
    if (found !== undefined) return found
    for (const { schema, steps } of subschemasOf(part)) {
      const inside = everywhere(schema, pathOf(path, steps))
      if (inside !== undefined) return inside
    }
    return undefined
  }

  function follow(part: JsonSchema, path: string): string | undefined {
    if (done.has(part)) return undefined
    if (open.has(part)) return path
    open.add(part)
    const ref = part['$ref']
    const target = typeof ref === 'string' ? resolveLocalRef(root, ref) : undefined
    let found = target === undefined ? undefined : follow(target, `${path}/$ref`)
    for (const { schema, steps } of subschemasOf(part)) {
      if (found !== undefined) break
      if (SAME_VALUE.has(steps[0] as string)) found = follow(schema, pathOf(path, steps))
    }
    open.delete(part)
    done.add(part)
    return found
  }
}

function pathOf(path: string, steps: readonly string[]): string {
  return `${path}/${steps.map((step) => step.replaceAll('~', '~0').replaceAll('/', '~1')).join('/')}`
}
