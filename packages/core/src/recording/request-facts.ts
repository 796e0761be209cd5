import type { RequestFacts } from '../chunk/request-facts.ts'
import { readStrict } from '../json/strict.ts'
import { isJsonObject } from '../json/value.ts'
import type { JsonObject, JsonValue } from '../json/value.ts'
import { declaredTools } from './declared-tools.ts'
import { own } from './own-field.ts'
import type { RecordedRequest } from './recording.ts'

/**
 * What a request tells about the answer to expect: its body or, where that was not recorded, the `facts` that the recorder
 * took from it. A body that is not JSON tells nothing, and neither does a field of an unexpected type: a fact arms a check,
 * so only what is certain is one.
 */
export function requestFactsOf(request: RecordedRequest | undefined): RequestFacts {
  if (request === undefined) return {}
  const startingAfter = startingAfterOf(request.url)
  return { ...bodyFactsOf(request), ...(startingAfter !== undefined && { startingAfter }) }
}

function bodyFactsOf(request: RecordedRequest): RequestFacts {
  if (request.body === undefined) return factsOf(request.other?.['facts'])
  const parsed = readStrict(new TextDecoder().decode(request.body))
  return parsed.ok ? factsOfBody(parsed.value) : {}
}

/** The same of a body alone, for whoever has parsed it already. */
export function factsOfBody(body: JsonValue): RequestFacts {
  if (!isJsonObject(body)) return {}
  // Gemini, Ollama and Bedrock keep the settings of the generation together.
  const config = inner(body, 'generationConfig') ?? inner(body, 'inferenceConfig') ?? inner(body, 'options') ?? {}
  const n = positive(own(body, 'n')) ?? positive(own(config, 'candidateCount'))
  const maxOutputTokens =
    positive(own(body, 'max_completion_tokens')) ??
    positive(own(body, 'max_output_tokens')) ??
    positive(own(body, 'max_tokens')) ??
    positive(own(config, 'maxOutputTokens')) ??
    positive(own(config, 'maxTokens')) ??
    positive(own(config, 'num_predict'))
  const tools = declaredTools(body)
  const options = own(body, 'stream_options')
  const usage = options !== undefined && isJsonObject(options) && own(options, 'include_usage') === true
  return {
    ...(n !== undefined && { n }),
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
    ...(tools !== undefined && { tools }),
    ...(usage && { usage }),
  }
}

/** A stored response of the Responses API is resumed by its address: `…/responses/resp_1?stream=true&starting_after=41`. */
function startingAfterOf(url: string | undefined): number | undefined {
  const value = url === undefined ? undefined : /[?&]starting_after=(\d{1,15})(?:[&#]|$)/.exec(url)?.[1]
  return value === undefined ? undefined : Number(value)
}

/** The facts by themselves, as a recorder leaves them when it leaves out the body. */
function factsOf(facts: JsonValue | undefined): RequestFacts {
  if (facts === undefined || !isJsonObject(facts)) return {}
  const n = positive(own(facts, 'n'))
  const maxOutputTokens = positive(own(facts, 'maxOutputTokens'))
  const tools = own(facts, 'tools')
  const named = Array.isArray(tools) && tools.every((name) => typeof name === 'string' && name !== '')
  return {
    ...(n !== undefined && { n }),
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
    ...(named && { tools: tools as readonly string[] }),
    ...(own(facts, 'usage') === true && { usage: true }),
  }
}

function inner(body: JsonObject, name: string): JsonObject | undefined {
  const value = own(body, name)
  return value !== undefined && isJsonObject(value) ? value : undefined
}

function positive(value: JsonValue | undefined): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : undefined
}
