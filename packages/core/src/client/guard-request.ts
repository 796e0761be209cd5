import type { Api } from '../chunk/api.ts'
import type { RequestFacts } from '../chunk/request-facts.ts'
import type { JsonValue } from '../json/value.ts'
import { factsOfBody } from '../recording/request-facts.ts'
import { apiOfUrl, asksForStream } from './endpoint.ts'

/** A request of somebody else's client, as far as it can be seen from outside. */
export interface GuardedRequest {
  readonly api: Api
  readonly url: string
  readonly facts: RequestFacts
  /** Undefined when only the answer can tell. */
  readonly streams: boolean | undefined
  readonly signal: AbortSignal | undefined
}

type FetchInput = Parameters<typeof fetch>[0]

/**
 * The JSON body of a `Request`, read from a copy of it; undefined where there is none, or where it concerns us not.
 * Only of JSON: a body that is uploaded while it is made must not be waited for.
 */
export function bodyOfRequest(input: FetchInput, init: RequestInit = {}, api?: Api): Promise<string> | undefined {
  if (typeof input !== 'object' || !('clone' in input) || (init.body ?? undefined) !== undefined) return undefined
  if ((api ?? apiOfUrl(input.url)) === undefined || input.body === null || input.bodyUsed) return undefined
  if (!/[/+]json\b/i.test(input.headers.get('content-type') ?? '')) return undefined
  return input.clone().text()
}

/** Undefined for a request that is none of a model's stream: it is passed on untouched. `body` is that of a `Request`. */
export function readRequest(
  input: FetchInput,
  init: RequestInit = {},
  api?: Api,
  body?: string,
): GuardedRequest | undefined {
  const url = typeof input === 'string' ? input : input instanceof URL ? input.href : input.url
  const request = typeof input === 'object' && 'method' in input ? input : undefined
  if ((init.method ?? request?.method ?? 'GET').toUpperCase() !== 'POST') return undefined
  const spoken = api ?? apiOfUrl(url)
  if (spoken === undefined) return undefined
  const asked = parsed(textOf(init.body) ?? body)
  const streams = asksForStream(spoken, asked)
  if (streams === false) return undefined
  return {
    api: spoken,
    url,
    facts: asked === undefined ? {} : factsOfBody(asked),
    streams,
    signal: init.signal ?? request?.signal,
  }
}

/** Bodies of other kinds can't be looked at without using them up. */
function textOf(body: RequestInit['body']): string | undefined {
  if (typeof body === 'string') return body
  return body instanceof Uint8Array || body instanceof ArrayBuffer ? new TextDecoder().decode(body) : undefined
}

function parsed(body: string | undefined): JsonValue | undefined {
  try {
    return body === undefined ? undefined : (JSON.parse(body) as JsonValue)
  } catch {
    return undefined
  }
}
