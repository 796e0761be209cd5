import type { Api } from '../adapters/registry.ts'
import type { RequestFacts } from '../chunk/request-facts.ts'
import { requestFactsOf } from '../recording/request-facts.ts'
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
export function bodyOfRequest(input: FetchInput, init: RequestInit = {}, api?: Api): Promise<Uint8Array> | undefined {
  if (typeof input !== 'object' || !('clone' in input) || (init.body ?? undefined) !== undefined) return undefined
  if ((api ?? apiOfUrl(input.url)) === undefined || input.body === null || input.bodyUsed) return undefined
  if (!/[/+]json\b/i.test(input.headers.get('content-type') ?? '')) return undefined
  const copy = input.clone()
  return copy.arrayBuffer().then((buffer) => new Uint8Array(buffer))
}

/** Undefined for a request that is none of a model's stream: it is passed on untouched. `body` is that of a `Request`. */
export function readRequest(
  input: FetchInput,
  init: RequestInit = {},
  api?: Api,
  body?: Uint8Array,
): GuardedRequest | undefined {
  const url = typeof input === 'string' ? input : input instanceof URL ? input.href : input.url
  const request = typeof input === 'object' && 'method' in input ? input : undefined
  if ((init.method ?? request?.method ?? 'GET').toUpperCase() !== 'POST') return undefined
  const spoken = api ?? apiOfUrl(url)
  if (spoken === undefined) return undefined
  const bytes = bytesOf(init.body) ?? body
  const streams = asksForStream(spoken, bytes === undefined ? undefined : parsed(bytes))
  if (streams === false) return undefined
  return {
    api: spoken,
    url,
    facts: bytes === undefined ? {} : requestFactsOf({ t: 'req', line: 0, atUs: 0, headers: [], body: bytes }),
    streams,
    signal: init.signal ?? request?.signal,
  }
}

/** Bodies of other kinds can't be looked at without using them up. */
function bytesOf(body: RequestInit['body']): Uint8Array | undefined {
  if (typeof body === 'string') return new TextEncoder().encode(body)
  if (body instanceof Uint8Array) return body
  return body instanceof ArrayBuffer ? new Uint8Array(body) : undefined
}

function parsed(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes))
  } catch {
    return undefined
  }
}
