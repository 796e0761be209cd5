import { HISTORY_APIS } from 'streamfold/history'
import type { HistoryApi } from 'streamfold/history'
import { clip } from 'streamfold/json'
import { isHeaderValue } from '../header-value.ts'
import { isHttpUrl } from '../http-url.ts'
import { firstSet, keyVariables } from '../key-variables.ts'

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

/** These listen on one's own machine, without a key. */
const LOCAL_APIS: ReadonlySet<HistoryApi> = new Set(['ollama'])

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
  if (baseUrl !== undefined && !isHttpUrl(baseUrl)) {
    return `--base-url: "${clip(baseUrl, 100)}" is no http(s) URL`
  }
  if (baseUrl === undefined && api === 'bedrock_converse') return `${api} has no public address; give --base-url`
  const names = keyVariables(api, apiKeyEnv)
  const key = firstSet(names, env)
  const apiKey = key?.value.trim()
  if (apiKey === undefined) {
    if (apiKeyEnv !== undefined) return `the environment variable ${clip(apiKeyEnv, 60)} is not set`
    if (baseUrl === undefined && !LOCAL_APIS.has(api)) return `no key: set ${names.join(' or ')}, or name --api-key-env`
  } else if (!isHeaderValue(apiKey)) {
    return `${clip(key?.name ?? '', 60)} holds characters that an HTTP header can't carry; copy it again`
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
