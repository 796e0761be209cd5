import { clip } from '../json/clip.ts'
import { readStrict } from '../json/strict.ts'
import { isJsonObject } from '../json/value.ts'
import type { JsonObject, JsonValue } from '../json/value.ts'
import { decodeBase64 } from './base64.ts'
import type { HeaderPair } from './recording.ts'
import { RecordingError } from './recording-error.ts'

const MAX_LINE_DEPTH = 64
/** In a regular expression that reads code points, half of a pair is a character of its own. */
const LONE_SURROGATE = /\p{Cs}/u

/** Parses one line. Keys `__proto__` and duplicate keys are refused: a rewrite could not keep them. */
export function parseLine(text: string, line: number): JsonObject {
  const result = readStrict(text, { maxDepth: MAX_LINE_DEPTH })
  if (!result.ok) throw new RecordingError('invalid_json', line, `not JSON: ${result.message}`)
  const issue =
    result.issues.find(({ code }) => code !== 'unsafe_number') ??
    (result.issueCount > result.issues.length ? result.issues[0] : undefined)
  if (issue !== undefined) {
    const what = {
      proto_key: 'a key __proto__',
      duplicate_key: 'a key twice',
      unsafe_number: 'too many numbers that lose digits',
    }
    throw new RecordingError('invalid_json', line, `the line holds ${what[issue.code]} at ${issue.path}`)
  }
  if (!isJsonObject(result.value)) throw new RecordingError('invalid_json', line, 'not a JSON object')
  return result.value
}

/** Reads the fields of one line and remembers which were asked for; the rest is what the reader does not know. */
export class LineFields {
  readonly line: number
  readonly #values: JsonObject
  readonly #known = new Set<string>()

  constructor(values: JsonObject, line: number) {
    this.#values = values
    this.line = line
  }

  /** A field, or undefined where it is absent or null. Only own keys count: a line has no prototype. */
  #get(name: string): JsonValue | undefined {
    this.#known.add(name)
    return Object.hasOwn(this.#values, name) ? (this.#values[name] ?? undefined) : undefined
  }

  text(name: string): string | undefined {
    const value = this.#get(name)
    if (value === undefined || typeof value === 'string') return value
    throw this.invalid(name, 'must be a text')
  }

  /** An integer from 0 that a double holds exactly. */
  count(name: string): number | undefined {
    const value = this.#get(name)
    if (value === undefined) return undefined
    if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value
    throw this.invalid(name, 'must be an integer from 0 to 2^53 - 1')
  }

  oneOf<Name extends string>(name: string, known: readonly Name[]): Name | undefined {
    const value = this.text(name)
    if (value === undefined) return undefined
    const found = known.find((candidate) => candidate === value)
    if (found === undefined) throw this.invalid(name, `is "${clip(value, 40)}"; known are ${known.join(', ')}`)
    return found
  }

  headers(): readonly HeaderPair[] {
    const value = this.#get('headers')
    if (value === undefined) return []
    if (!Array.isArray(value)) throw this.invalid('headers', 'must be a list of pairs')
    return (value as readonly JsonValue[]).map((pair) => {
      if (!Array.isArray(pair) || pair.length !== 2) throw this.invalid('headers', 'must be a list of pairs')
      const [name, content] = pair as readonly JsonValue[]
      if (typeof name !== 'string' || typeof content !== 'string')
        throw this.invalid('headers', 'must be pairs of texts')
      return [name, content] as const
    })
  }

  /** Bytes as text (`s`) or base64 (`x`); undefined where the line has neither. A stated `len` must agree. */
  bytes(): Uint8Array | undefined {
    const text = this.text('s')
    const base64 = this.text('x')
    const length = this.count('len')
    if (text === undefined && base64 === undefined) return undefined
    if (text !== undefined && base64 !== undefined) throw this.invalid('s', 'and "x" exclude each other')
    // An encoder would put U+FFFD in its place without a word.
    if (text !== undefined && LONE_SURROGATE.test(text)) throw this.invalid('s', 'holds half of a surrogate pair')
    const bytes = text === undefined ? decodeBase64(base64!) : new TextEncoder().encode(text)
    if (bytes === undefined) throw this.invalid('x', 'is not base64')
    if (length !== undefined && length !== bytes.length) {
      throw new RecordingError(
        'content_mismatch',
        this.line,
        `"len" says ${length} ${length === 1 ? 'byte' : 'bytes'}, the line holds ${bytes.length}`,
      )
    }
    return bytes
  }

  /** Every key that was not asked for. A spread or `Object.fromEntries` of it is safe: no key `__proto__` gets here. */
  other(): { readonly other?: JsonObject } {
    const rest = Object.entries(this.#values).filter(([name]) => !this.#known.has(name))
    return rest.length === 0 ? {} : { other: Object.fromEntries(rest) }
  }

  invalid(name: string, reason: string): RecordingError {
    return new RecordingError('invalid_field', this.line, `"${name}" ${reason}`)
  }
}
