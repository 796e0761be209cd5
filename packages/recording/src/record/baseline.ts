/** One request with everything in it, ready to be sent. */
export interface BaselineRequest {
  readonly api: string
  /** Behind the base URL. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export interface BaselineOptions {
  readonly model: string
  readonly apiKey?: string
}

const PROMPT = 'Use the tool to add 17 and 25.'
const MAX_TOKENS = 200
const TOOL = {
  name: 'add',
  description: 'Adds two numbers. It does nothing else.',
  parameters: {
    type: 'object',
    properties: { a: { type: 'number' }, b: { type: 'number' } },
    required: ['a', 'b'],
    additionalProperties: false,
  },
}

/**
 * The smallest request that shows how an endpoint streams a tool call: one turn, one pure tool (`add`) that is asked for by
 * name, so that the answer doesn't depend on wit, few tokens, and nothing that could have an effect. Nobody runs the call.
 */
const REQUESTS: Readonly<Record<string, (options: BaselineOptions) => Omit<BaselineRequest, 'api'>>> = {
  chat_completions: ({ model, apiKey }) => ({
    path: '/chat/completions',
    headers: bearer(apiKey),
    body: JSON.stringify({
      model,
      stream: true,
      stream_options: { include_usage: true },
      temperature: 0,
      max_tokens: MAX_TOKENS,
      messages: [{ role: 'user', content: PROMPT }],
      tools: [{ type: 'function', function: TOOL }],
      tool_choice: { type: 'function', function: { name: TOOL.name } },
    }),
  }),
  responses: ({ model, apiKey }) => ({
    path: '/responses',
    headers: bearer(apiKey),
    body: JSON.stringify({
      model,
      stream: true,
      store: false,
      max_output_tokens: MAX_TOKENS,
      input: PROMPT,
      tools: [{ type: 'function', ...TOOL, strict: true }],
      tool_choice: { type: 'function', name: TOOL.name },
    }),
  }),
  anthropic_messages: ({ model, apiKey }) => ({
    path: '/messages',
    headers: { 'anthropic-version': '2023-06-01', ...(apiKey !== undefined && { 'x-api-key': apiKey }) },
    body: JSON.stringify({
      model,
      stream: true,
      max_tokens: MAX_TOKENS,
      messages: [{ role: 'user', content: PROMPT }],
      tools: [{ name: TOOL.name, description: TOOL.description, input_schema: TOOL.parameters }],
      tool_choice: { type: 'tool', name: TOOL.name },
    }),
  }),
  gemini: ({ model, apiKey }) => ({
    path: `/models/${encodeURIComponent(model)}:streamGenerateContent?alt=sse`,
    headers: { ...(apiKey !== undefined && { 'x-goog-api-key': apiKey }) },
    body: JSON.stringify({
      contents: [{ role: 'user', parts: [{ text: PROMPT }] }],
      generationConfig: { temperature: 0, maxOutputTokens: MAX_TOKENS },
      tools: [
        {
          functionDeclarations: [
            {
              name: TOOL.name,
              description: TOOL.description,
              parameters: {
                type: 'object',
                properties: TOOL.parameters.properties,
                required: TOOL.parameters.required,
              },
            },
          ],
        },
      ],
      toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: [TOOL.name] } },
    }),
  }),
  ollama: ({ model, apiKey }) => ({
    path: '/api/chat',
    headers: bearer(apiKey),
    body: JSON.stringify({
      model,
      stream: true,
      options: { temperature: 0, num_predict: MAX_TOKENS },
      messages: [{ role: 'user', content: PROMPT }],
      tools: [{ type: 'function', function: TOOL }],
    }),
  }),
}

/** APIs that have a baseline request. */
export const BASELINE_APIS: readonly string[] = Object.keys(REQUESTS)

/** @throws TypeError for an API without a baseline request */
export function baselineRequest(api: string, options: BaselineOptions): BaselineRequest {
  const build = Object.hasOwn(REQUESTS, api) ? REQUESTS[api] : undefined
  if (build === undefined)
    throw new TypeError(`there is no baseline request for "${api}"; there is one for ${BASELINE_APIS.join(', ')}`)
  const { path, headers, body } = build(options)
  return { api, path, headers: { 'content-type': 'application/json', ...headers }, body }
}

function bearer(apiKey: string | undefined): Readonly<Record<string, string>> {
  return apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }
}
