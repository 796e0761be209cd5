import type { SchemaValidator } from './validator.ts'

/** Schemas may come with every request; compiling one takes milliseconds, and keeping all of them takes memory without end. */
export const MAX_COMPILED_SCHEMAS = 256

export interface CompileCache {
  /** The validator under the key, made with `compile` when it is not there. The one used longest ago makes room. */
  get(key: string, compile: () => SchemaValidator): SchemaValidator
  readonly size: number
}

export function createCompileCache(max: number = MAX_COMPILED_SCHEMAS): CompileCache {
  // A Map keeps the order of insertion: the first key is the one used longest ago.
  const entries = new Map<string, SchemaValidator>()
  return {
    get(key, compile) {
      const known = entries.get(key)
      if (known !== undefined) {
        entries.delete(key)
        entries.set(key, known)
        return known
      }
      const made = compile()
      entries.set(key, made)
      if (entries.size > max) {
        for (const oldest of entries.keys()) {
          entries.delete(oldest)
          break
        }
      }
      return made
    },
    get size() {
      return entries.size
    },
  }
}
