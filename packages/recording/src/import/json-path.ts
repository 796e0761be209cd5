import type { JsonObject, JsonValue } from 'streamfold'
import { isJsonObject } from 'streamfold/json'
import { ImportError } from './import-error.ts'

/** A place in a JSON document, which knows its own name when it has to complain. */
export class JsonPlace {
  readonly value: JsonValue | undefined
  readonly path: string

  constructor(value: JsonValue | undefined, path: string) {
    this.value = value
    this.path = path
  }

  /** A member; undefined inside where it is absent or null. */
  at(name: string): JsonPlace {
    const { value } = this
    const member = value !== undefined && isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined
    return new JsonPlace(member ?? undefined, this.path === '' ? name : `${this.path}.${name}`)
  }

  /** The items of a list; none where it is absent. */
  items(): readonly JsonPlace[] {
    if (this.value === undefined) return []
    if (!Array.isArray(this.value)) throw this.error('must be a list')
    return (this.value as readonly JsonValue[]).map((item, index) => new JsonPlace(item, `${this.path}[${index}]`))
  }

  text(): string | undefined {
    if (this.value === undefined || typeof this.value === 'string') return this.value
    throw this.error('must be a text')
  }

  number(): number | undefined {
    if (this.value === undefined || typeof this.value === 'number') return this.value
    throw this.error('must be a number')
  }

  object(): JsonObject | undefined {
    if (this.value === undefined || isJsonObject(this.value)) return this.value
    throw this.error('must be an object')
  }

  error(reason: string): ImportError {
    return new ImportError(reason, { path: this.path })
  }
}
