import { isJsonObject } from '../json/value.ts'
import type { JsonObject, JsonValue } from '../json/value.ts'
import { own } from './own-field.ts'

/** Tools of the Responses API that the provider runs, or that a host answers by their item: no function of their name is called. */
const BUILT_IN: ReadonlySet<string> = new Set([
  'apply_patch',
  'code_interpreter',
  'computer',
  'computer_use_preview',
  'file_search',
  'image_generation',
  'local_shell',
  'mcp',
  'shell',
  'web_search',
  'web_search_preview',
])

/**
 * Names of the tools that a request declares, in the words of any API. Undefined where none are declared, and as soon as one has no
 * name that is understood: a list with a hole accuses the innocent.
 */
export function declaredTools(body: JsonObject): readonly string[] | undefined {
  const tools = own(body, 'tools') ?? bedrockTools(body)
  if (!Array.isArray(tools)) return undefined
  // Only the Responses API has `input` in place of messages; there, built-in tools have a type and no name.
  const isResponses = own(body, 'input') !== undefined && own(body, 'messages') === undefined
  const names: string[] = []
  for (const tool of tools as readonly JsonValue[]) {
    const declared = isJsonObject(tool) ? namesOf(tool, isResponses) : undefined
    if (declared === undefined) return undefined
    names.push(...declared)
  }
  return names
}

function namesOf(tool: JsonObject, isResponses: boolean): readonly string[] | undefined {
  const functions = own(tool, 'functionDeclarations') ?? own(tool, 'function_declarations')
  if (functions !== undefined) return geminiNames(functions)
  const type = own(tool, 'type')
  if (isResponses && typeof type === 'string' && BUILT_IN.has(type)) return []
  // A function tool, or a custom one, whose input is free text; other APIs than Chat Completions have the name outside.
  const definition = own(tool, 'function') ?? own(tool, 'custom') ?? own(tool, 'toolSpec') ?? tool
  const name = nameOf(definition)
  return name === undefined || type === 'namespace' ? undefined : [name]
}

function geminiNames(functions: JsonValue): readonly string[] | undefined {
  if (!Array.isArray(functions)) return undefined
  const names = (functions as readonly JsonValue[]).map(nameOf)
  return names.every((name) => name !== undefined) ? names : undefined
}

function bedrockTools(body: JsonObject): JsonValue | undefined {
  const config = own(body, 'toolConfig')
  return config !== undefined && isJsonObject(config) ? own(config, 'tools') : undefined
}

function nameOf(definition: JsonValue): string | undefined {
  const name = isJsonObject(definition) ? own(definition, 'name') : undefined
  return typeof name === 'string' && name !== '' ? name : undefined
}
