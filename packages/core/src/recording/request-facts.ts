import type { RequestFacts } from '../chunk/request-facts.ts'
import { readStrict } from '../json/strict.ts'
import { isJsonObject } from '../json/value.ts'
import type { JsonObject, JsonValue } from '../json/value.ts'
import type { RecordedRequest } from './recording.ts'

/**
 * What the body of a request tells about the answer to expect. A body that was not recorded or is not JSON tells nothing,
 * and neither does a field of an unexpected type: a fact arms a check, so only what is certain is one.
 */
export function requestFactsOf(request: RecordedRequest | undefined): RequestFacts {
  if (request?.body === undefined) return {}
  const parsed = readStrict(new TextDecoder().decode(request.body))
  if (!parsed.ok || !isJsonObject(parsed.value)) return {}
  const body = parsed.value
  const n = positive(own(body, 'n'))
  const maxOutputTokens = positive(own(body, 'max_completion_tokens')) ?? positive(own(body, 'max_tokens'))
  const tools = toolNames(own(body, 'tools'))
  const options = own(body, 'stream_options')
  const usage = options !== undefined && isJsonObject(options) && own(options, 'include_usage') === true
  return {
    ...(n !== undefined && { n }),
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
    ...(tools !== undefined && { tools }),
    ...(usage && { usage }),
  }
}

/** Names of all declared tools, or undefined as soon as one of them has none: a list with a hole accuses the innocent. */
function toolNames(tools: JsonValue | undefined): readonly string[] | undefined {
  if (!Array.isArray(tools)) return undefined
  const names: string[] = []
  for (const tool of tools as readonly JsonValue[]) {
    if (!isJsonObject(tool)) return undefined
    // A function tool, or a custom one, whose input is free text.
    const definition = own(tool, 'function') ?? own(tool, 'custom')
    const name = definition !== undefined && isJsonObject(definition) ? own(definition, 'name') : undefined
    if (typeof name !== 'string' || name === '') return undefined
    names.push(name)
  }
  return names
}

function positive(value: JsonValue | undefined): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : undefined
}

function own(object: JsonObject, name: string): JsonValue | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined
}
