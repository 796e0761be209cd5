import { HISTORY_APIS } from 'streamfold/history'
import type { HistoryApi } from 'streamfold/history'
import { clip } from 'streamfold/json'

/** What the command line says about the endpoint. */
export interface EndpointFlags {
  readonly baseUrl?: string
  readonly api?: HistoryApi
  readonly model?: string
  readonly apiKeyEnv?: string
}

export interface ChatEndpoint {
  readonly api: HistoryApi
  readonly model: string
  readonly baseURL?: string
  readonly apiKey?: string
}

/** Where each API's own clients look for the key. */
const KEY_VARIABLES: Readonly<Record<HistoryApi, readonly string[]>> = {
  chat_completions: ['OPENAI_API_KEY'],
  responses: ['OPENAI_API_KEY'],
  anthropic_messages: ['ANTHROPIC_API_KEY'],
  gemini: ['GEMINI_API_KEY', 'GOOGLE_API_KEY'],
  ollama: ['OLLAMA_API_KEY'],
  cohere: ['COHERE_API_KEY', 'CO_API_KEY'],
  bedrock_converse: ['AWS_BEARER_TOKEN_BEDROCK'],
}

/** These listen on one's own machine, without a key. */
const LOCAL_APIS: ReadonlySet<HistoryApi> = new Set(['ollama'])

/** RFC 9110, field-content: no control characters but tab, and nothing beyond Latin-1. */
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]+$/

/** The endpoint that the flags name; undefined where they name none; a sentence where they name half of one. */
export function chatEndpoint(
  { baseUrl, api = 'chat_completions', model, apiKeyEnv }: EndpointFlags,
  env: Readonly<Record<string, string | undefined>>,
): ChatEndpoint | string | undefined {
  if (model === undefined) {
    return baseUrl === undefined && apiKeyEnv === undefined
      ? undefined
      : 'an endpoint needs --model NAME; leave out --base-url and --api-key-env for the bundled one'
  }
  if (baseUrl !== undefined && !/^https?:$/.test(URL.canParse(baseUrl) ? new URL(baseUrl).protocol : '')) {
    return `--base-url: "${clip(baseUrl, 100)}" is no http(s) URL`
  }
  if (baseUrl === undefined && api === 'bedrock_converse') return `${api} has no public address; give --base-url`
  const names = apiKeyEnv === undefined ? KEY_VARIABLES[api] : [apiKeyEnv]
  const variable = names.find((name) => (env[name] ?? '') !== '')
  const apiKey = variable === undefined ? undefined : env[variable]?.trim()
  if (apiKey === undefined) {
    if (apiKeyEnv !== undefined) return `the environment variable ${clip(apiKeyEnv, 60)} is not set`
    if (baseUrl === undefined && !LOCAL_APIS.has(api)) return `no key: set ${names.join(' or ')}, or name --api-key-env`
  } else if (!HEADER_VALUE.test(apiKey)) {
    // `fetch` would quote the whole key in its message.
    return `${clip(variable ?? '', 60)} holds characters that an HTTP header can't carry; copy it again`
  }
  return {
    api,
    model,
    ...(baseUrl !== undefined && { baseURL: baseUrl }),
    ...(apiKey !== undefined && { apiKey }),
  }
}

/** Names for `--api`. */
export const CHAT_APIS: readonly HistoryApi[] = HISTORY_APIS
