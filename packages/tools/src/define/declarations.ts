import type { Api, JsonValue } from 'streamfold'
import type { JsonSchema } from './json-schema.ts'
import type { Tool } from './tool.ts'

/** Wire formats that take tools. */
export type ToolApi = Exclude<Api, 'completions'>

type Declare = (tools: readonly Tool[]) => readonly JsonSchema[]

/** Members of the list that a request body carries, by API; what is around the list is the API's own. */
const DECLARE: Readonly<Record<ToolApi, Declare>> = {
  chat_completions: (tools) => tools.map((tool) => ({ type: 'function', function: chatFunction(tool) })),
  // Strict is the default there, and a schema that was not written for it would be refused.
  responses: (tools) => tools.map((tool) => ({ type: 'function', ...chatFunction(tool), strict: isStrict(tool) })),
  anthropic_messages: (tools) =>
    tools.map((tool) => ({
      name: tool.name,
      description: tool.description,
      input_schema: declaredSchema(tool),
      ...(isStrict(tool) ? { strict: true } : {}),
    })),
  gemini: (tools) =>
    tools.length === 0
      ? []
      : [
          {
            functionDeclarations: tools.map((tool) => ({
              name: tool.name,
              description: tool.description,
              parametersJsonSchema: declaredSchema(tool),
            })),
          },
        ],
  ollama: (tools) => tools.map((tool) => ({ type: 'function', function: plainFunction(tool) })),
  cohere: (tools) => tools.map((tool) => ({ type: 'function', function: plainFunction(tool) })),
  bedrock_converse: (tools) =>
    tools.map((tool) => ({
      toolSpec: { name: tool.name, description: tool.description, inputSchema: { json: declaredSchema(tool) } },
    })),
}

/**
 * The tools as a request of this API declares them: the value of its `tools` field (`toolConfig.tools` for Bedrock). The
 * schema a model is shown is the one its calls are checked against; of a tool that was defined `strict` it is the strict form.
 *
 * @throws TypeError for an API that takes no tools, and for two tools of one name
 */
export function toolDeclarations(tools: readonly Tool[], api: ToolApi): readonly JsonSchema[] {
  if (!Object.hasOwn(DECLARE, api)) {
    throw new TypeError(`"${api}" takes no tools; APIs that do are ${Object.keys(DECLARE).join(', ')}`)
  }
  const names = new Set<string>()
  for (const { name } of tools) {
    if (names.has(name)) throw new TypeError(`two tools have the name ${name}`)
    names.add(name)
  }
  return DECLARE[api](tools)
}

function chatFunction(tool: Tool): Record<string, JsonValue> {
  return { ...plainFunction(tool), ...(isStrict(tool) ? { strict: true } : {}) }
}

function plainFunction(tool: Tool): Record<string, JsonValue> {
  return { name: tool.name, description: tool.description, parameters: declaredSchema(tool) }
}

function isStrict(tool: Tool): boolean {
  return tool.strictSchema !== undefined
}

/** Providers want an object at the top, said outright, and know no `$schema`. */
function declaredSchema(tool: Tool): JsonSchema {
  const { $schema: _draft, ...schema } = tool.strictSchema ?? tool.inputSchema
  return schema['type'] === undefined ? { type: 'object', ...schema } : schema
}
