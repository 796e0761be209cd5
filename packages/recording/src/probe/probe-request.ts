import type { Api } from 'streamfold'

/** What one request of a probe is for. */
export const PROBE_KINDS = ['text', 'text-stream', 'error', 'limit-stream', 'tool-stream', 'parallel-stream'] as const
export type ProbeKind = (typeof PROBE_KINDS)[number]

export interface ProbeRequest {
  /** Behind the base URL. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export interface ProbeRequestOptions {
  readonly model: string
  readonly apiKey?: string | undefined
}

/** APIs that can be probed. */
export type ProbedApi = 'chat_completions' | 'responses' | 'anthropic_messages' | 'gemini' | 'ollama'
export const PROBED_APIS: readonly ProbedApi[] = [
  'chat_completions',
  'responses',
  'anthropic_messages',
  'gemini',
  'ollama',
]

export function isProbedApi(api: Api): api is ProbedApi {
  return (PROBED_APIS as readonly Api[]).includes(api)
}

type Json = Readonly<Record<string, unknown>>

/** What a kind of request is made of, before a wire format writes it down. */
interface Wanted {
  readonly prompt: string
  readonly stream: boolean
  readonly maxTokens: number
  readonly tool: boolean
  /** A request that the server has to refuse: a token limit below zero. */
  readonly broken: boolean
}

const WANTED: Readonly<Record<ProbeKind, Wanted>> = {
  text: { prompt: 'Count from 1 to 10 in words.', stream: false, maxTokens: 100, tool: false, broken: false },
  'text-stream': { prompt: 'Count from 1 to 10 in words.', stream: true, maxTokens: 100, tool: false, broken: false },
  error: { prompt: 'Hello.', stream: true, maxTokens: -1, tool: false, broken: true },
  'limit-stream': { prompt: 'Count from 1 to 100 in words.', stream: true, maxTokens: 16, tool: false, broken: false },
  'tool-stream': {
    // Long arguments: a server that streams them can't send these in one piece.
    prompt: 'Store the words for the numbers from 1 to 20, separated by spaces, with the tool. Call it once.',
    stream: true,
    maxTokens: 400,
    tool: true,
    broken: false,
  },
  'parallel-stream': {
    prompt: 'Store "left" and, in a second call of the tool in this same answer, "right".',
    stream: true,
    maxTokens: 400,
    tool: true,
    broken: false,
  },
}

export const PROBE_TOOL = 'store_text'
const DESCRIPTION = 'Stores a text. It does nothing else.'
const PARAMETERS = {
  type: 'object',
  properties: { text: { type: 'string', description: 'The text.' } },
  required: ['text'],
}

const BUILDERS: Readonly<
  Record<
    ProbedApi,
    (
      wanted: Wanted,
      options: ProbeRequestOptions,
    ) => { path: string; headers: Readonly<Record<string, string>>; body: Json }
  >
> = {
  chat_completions: ({ prompt, stream, maxTokens, tool }, { model, apiKey }) => ({
    path: '/chat/completions',
    headers: bearer(apiKey),
    body: {
      model,
      stream,
      ...(stream && { stream_options: { include_usage: true } }),
      temperature: 0,
      max_tokens: maxTokens,
      messages: [{ role: 'user', content: prompt }],
      ...(tool && {
        tools: [{ type: 'function', function: { name: PROBE_TOOL, description: DESCRIPTION, parameters: PARAMETERS } }],
        tool_choice: 'required',
      }),
    },
  }),
  responses: ({ prompt, stream, maxTokens, tool }, { model, apiKey }) => ({
    path: '/responses',
    headers: bearer(apiKey),
    body: {
      model,
      stream,
      store: false,
      max_output_tokens: maxTokens,
      input: prompt,
      ...(tool && {
        tools: [{ type: 'function', name: PROBE_TOOL, description: DESCRIPTION, parameters: PARAMETERS }],
        tool_choice: 'required',
      }),
    },
  }),
  anthropic_messages: ({ prompt, stream, maxTokens, tool }, { model, apiKey }) => ({
    path: '/messages',
    headers: { 'anthropic-version': '2023-06-01', ...(apiKey !== undefined && { 'x-api-key': apiKey }) },
    body: {
      model,
      stream,
      max_tokens: maxTokens,
      messages: [{ role: 'user', content: prompt }],
      ...(tool && {
        tools: [{ name: PROBE_TOOL, description: DESCRIPTION, input_schema: PARAMETERS }],
        tool_choice: { type: 'any' },
      }),
    },
  }),
  gemini: ({ prompt, stream, maxTokens, tool }, { model, apiKey }) => ({
    path: `/models/${encodeURIComponent(model)}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    headers: apiKey === undefined ? {} : { 'x-goog-api-key': apiKey },
    body: {
      contents: [{ role: 'user', parts: [{ text: prompt }] }],
      generationConfig: { temperature: 0, maxOutputTokens: maxTokens },
      ...(tool && {
        tools: [{ functionDeclarations: [{ name: PROBE_TOOL, description: DESCRIPTION, parameters: PARAMETERS }] }],
        toolConfig: { functionCallingConfig: { mode: 'ANY' } },
      }),
    },
  }),
  ollama: ({ prompt, stream, maxTokens, tool, broken }, { model, apiKey }) => ({
    path: '/api/chat',
    headers: bearer(apiKey),
    body: {
      // A token limit below zero means none here; a model that is not there is refused.
      model: broken ? `${model}-that-does-not-exist` : model,
      stream,
      options: { temperature: 0, ...(!broken && { num_predict: maxTokens }) },
      messages: [{ role: 'user', content: prompt }],
      ...(tool && {
        tools: [{ type: 'function', function: { name: PROBE_TOOL, description: DESCRIPTION, parameters: PARAMETERS } }],
      }),
    },
  }),
}

export function probeRequest(api: ProbedApi, kind: ProbeKind, options: ProbeRequestOptions): ProbeRequest {
  const { path, headers, body } = BUILDERS[api](WANTED[kind], options)
  return { path, headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) }
}

function bearer(apiKey: string | undefined): Readonly<Record<string, string>> {
  return apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }
}
