import type { Api } from '../chunk/api.ts'
import { clip } from '../json/clip.ts'
import { amongKnown, shown } from './check-call.ts'
import { withoutSecrets } from './without-secrets.ts'

/** Where requests of an API go, and what they need, as data. A base URL is written as the API's own clients take it. */
interface EndpointFacts {
  /** Used when no `baseURL` is given; absent where there is no public one. */
  readonly baseURL?: string
  /** After the base URL; `{model}` is the body's model. */
  readonly path: string
  /** A version that is part of the path, and that people also write into the base URL. */
  readonly version?: string
  readonly keyHeader: string
  /** Before the key: `Bearer ` for example. */
  readonly keyPrefix: string
  readonly headers?: Readonly<Record<string, string>>
  /** Its own clients read a JSON document per line; elsewhere they wait for events. */
  readonly jsonLines?: true
  /** How the body says that the answer is to be streamed; elsewhere the path says it. */
  readonly streamField: boolean
}

const BEARER = { keyHeader: 'authorization', keyPrefix: 'Bearer ' } as const
const OPENAI = { ...BEARER, baseURL: 'https://api.openai.com/v1', streamField: true } as const

const ENDPOINTS: Readonly<Record<Api, EndpointFacts>> = {
  chat_completions: { ...OPENAI, path: '/chat/completions' },
  completions: { ...OPENAI, path: '/completions' },
  responses: { ...OPENAI, path: '/responses' },
  anthropic_messages: {
    baseURL: 'https://api.anthropic.com',
    version: '/v1',
    path: '/messages',
    keyHeader: 'x-api-key',
    keyPrefix: '',
    headers: { 'anthropic-version': '2023-06-01' },
    streamField: true,
  },
  gemini: {
    baseURL: 'https://generativelanguage.googleapis.com/v1beta',
    path: '/models/{model}:streamGenerateContent?alt=sse',
    keyHeader: 'x-goog-api-key',
    keyPrefix: '',
    streamField: false,
  },
  ollama: { ...BEARER, baseURL: 'http://localhost:11434', path: '/api/chat', streamField: true, jsonLines: true },
  cohere: { ...BEARER, baseURL: 'https://api.cohere.com', version: '/v2', path: '/chat', streamField: true },
  // A key of the service itself; requests signed otherwise need a `fetch` that signs.
  bedrock_converse: { ...BEARER, path: '/model/{model}/converse-stream', streamField: false },
}

/** The API that a request to this address speaks, as far as addresses tell. */
export function apiOfUrl(url: string): Api | undefined {
  const path = url.replace(/[?#].*$/s, '').replace(/\/+$/, '')
  // The longest ending wins: /completions ends two of them.
  let found: { readonly api: Api; readonly ending: string } | undefined
  for (const [api, facts] of Object.entries(ENDPOINTS)) {
    const ending = (facts.version ?? '') + facts.path.replace(/\?.*$/, '')
    const [before = '', after] = ending.split('{model}')
    const fits = after === undefined ? path.endsWith(ending) : path.endsWith(after) && path.includes(before)
    if (fits && ending.length > (found?.ending.length ?? 0)) found = { api: api as Api, ending }
  }
  return found?.api
}

/** @throws TypeError for a name that is that of no API */
export function checkApi(who: string, api: unknown): void {
  if (typeof api === 'string' && isKnownApi(api)) return
  const given =
    typeof api === 'string' ? `unknown API "${clip(api, 40)}"` : `api must be the name of an API, not ${shown(api)}`
  throw new TypeError(`${who}: ${given}; ${amongKnown(String(api), Object.keys(ENDPOINTS))}`)
}

/** Do the API's own clients read a body of JSON lines? */
export function readsJsonLines(api: Api): boolean {
  return ENDPOINTS[api].jsonLines === true
}

/** Does a request with this body ask for a stream? Undefined when only the answer can tell. */
export function asksForStream(api: Api, body: unknown): boolean | undefined {
  if (!ENDPOINTS[api].streamField) return true
  if (typeof body !== 'object' || body === null) return undefined
  const { stream } = body as { readonly stream?: unknown }
  // Ollama streams unless it is told not to.
  return stream === undefined ? api === 'ollama' : stream === true
}

export interface PreparedRequest {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export interface RequestParts {
  readonly api: string
  readonly baseURL?: string | undefined
  readonly apiKey?: string | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly body: object
}

/**
 * A request as it is sent.
 *
 * @throws TypeError where the address can't be built: an unknown API, no base URL or one that is none, or no model in the body of an API
 * that has it in the path
 */
export function prepareRequest({ api, baseURL, apiKey, headers, body }: RequestParts): PreparedRequest {
  if (!isKnownApi(api)) {
    const known = Object.keys(ENDPOINTS).join(', ')
    throw new TypeError(
      `streamModel: where requests of "${api}" go is not known; name the "api" they are sent to: ${known}`,
    )
  }
  const facts = ENDPOINTS[api]
  const base = baseURL ?? facts.baseURL
  if (base === undefined) throw new TypeError(`streamModel: ${api} has no public address; give a baseURL`)
  const { path, rest } = fillIn(facts.path, api, body)
  const sent = facts.streamField ? { ...rest, stream: rest['stream'] ?? true } : rest
  return {
    url: join(checkedBase(base, facts.path), facts.version ?? '', path),
    headers: {
      'content-type': 'application/json',
      // Servers that can do both choose by it; those that can't ignore it.
      accept: 'text/event-stream, application/json',
      ...facts.headers,
      ...(apiKey !== undefined && { [facts.keyHeader]: facts.keyPrefix + apiKey }),
      ...lowerCased(headers),
    },
    body: JSON.stringify(sent),
  }
}

/** Is it the name of an API? */
export function isKnownApi(api: string): api is Api {
  return Object.hasOwn(ENDPOINTS, api)
}

function fillIn(
  path: string,
  api: Api,
  body: object,
): { readonly path: string; readonly rest: Readonly<Record<string, unknown>> } {
  if (!path.includes('{model}')) return { path, rest: { ...body } }
  const { model, ...rest }: Record<string, unknown> = { ...body }
  if (typeof model !== 'string' || model === '') {
    throw new TypeError(`streamModel: ${api} has the model in its address; put it into the body as "model"`)
  }
  // Gemini names some models with their collection.
  const name = api === 'gemini' ? model.replace(/^models\//, '') : model
  return { path: path.replace('{model}', () => encodeURIComponent(name)), rest }
}

/** Paths that people copy whole; each client adds its own. */
const COPIED_PATHS = ['/chat/completions', '/completions', '/responses', '/messages'] as const

/** A page may ask its own host; nobody else has one. */
function checkedBase(base: string, path: string): string {
  const given = typeof base === 'string' ? `"${clip(withoutSecrets(base), 80)}"` : String(base)
  const relative = typeof base === 'string' && base.startsWith('/') && hasOwnHost()
  if (typeof base !== 'string' || (!relative && (!/^https?:\/\//i.test(base) || !URL.canParse(base)))) {
    throw new TypeError(
      `streamModel: baseURL ${given} is no address; give a whole one, "https://api.openai.com/v1" or "http://localhost:8080/v1" for example`,
    )
  }
  const address = base.replace(/[?#].*$/s, '').replace(/\/+$/, '')
  const copied = [path.replace(/\?.*$/, ''), ...COPIED_PATHS].find((ending) => address.endsWith(ending))
  if (copied !== undefined) {
    throw new TypeError(
      `streamModel: baseURL ${given} ends in "${copied}", and the path of the API is added to it; give "${clip(withoutSecrets(address.slice(0, -copied.length)), 80)}"`,
    )
  }
  return base
}

/** Deno has the name without a value, where no page was named. */
function hasOwnHost(): boolean {
  return (globalThis as { readonly location?: unknown }).location !== undefined
}

/** A base URL may end in a slash, in the version, and in a query that every request carries. */
function join(base: string, version: string, path: string): string {
  const [, address = '', query = ''] = /^([^?#]*)(\?[^#]*)?/.exec(base) ?? []
  const trimmed = address.replace(/\/+$/, '')
  const versioned = trimmed.endsWith(version) ? trimmed : trimmed + version
  return versioned + path + (path.includes('?') ? query.replace('?', '&') : query)
}

function lowerCased(headers: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
}
