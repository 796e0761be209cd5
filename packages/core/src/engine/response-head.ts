import { faultOfPayload, faultOfPlainText, retryableOfStatus, titleOf } from '../adapters/error-body.ts'
import type { Retryable, StreamFault } from '../chunk/fault.ts'
import { clip } from '../json/clip.ts'
import { retryAfterOf } from './retry-after.ts'

/** Status and headers of the response, as far as a shell knows them. */
export interface ResponseHead {
  readonly status: number
  /** Pairs as received; names in any case. */
  readonly headers?: readonly (readonly [string, string])[]
}

export function headerOf(head: ResponseHead | undefined, name: string): string | undefined {
  return head?.headers?.find(([key]) => key.toLowerCase() === name)?.[1]
}

/** The id under which the upstream's operator finds this request, by the names that are in use. */
export function upstreamRequestId(head: ResponseHead | undefined): string | null {
  for (const name of REQUEST_ID_HEADERS) {
    const value = headerOf(head, name)
    if (value !== undefined) return value
  }
  return null
}

const REQUEST_ID_HEADERS = [
  'x-request-id',
  'request-id',
  'apim-request-id',
  'x-amzn-requestid',
  'x-generation-id',
  'cf-ray',
]

/** The fault of a response whose status is not 2xx. Its body is an error body, never an event stream (faults F114, F116). */
export function faultOfStatus(head: ResponseHead, body: string, nowMs: number | undefined): StreamFault {
  const { status } = head
  const said = readErrorBody(body)
  const retryAfterMs = longerOf(retryAfterOf(head.headers ?? [], nowMs), said.retryAfterMs)
  const retryable = status >= 300 && status < 400 ? 'no' : retryableOfStatus(status)
  const next = nextStep(status, retryable, said)
  return {
    code: status === 429 ? 'rate_limited' : 'http_error',
    phase: 'headers',
    status,
    retryable,
    message: `the server answered ${status}${said.message === '' ? ' without a message' : `: ${clip(said.message, 300)}`}; ${next}`,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(said.provider !== undefined && { provider: said.provider }),
  }
}

function nextStep(status: number, retryable: Retryable, { json = false }: ErrorBodyWords): string {
  if (status === 429) return 'wait before the next attempt'
  if (status >= 300 && status < 400) return 'it is not followed, for it would take the key along: check the address'
  if (status === 401) return 'check the API key'
  if (status === 403) return 'check the API key and what it is allowed to do'
  // An API that knows its own address says in JSON what it did not find; anything else answered in its place.
  if (status === 404 && json) return 'check the name of the model and the URL'
  if (status === 404 || status === 405) return 'check the URL: the API does not answer there'
  return retryable === 'yes' ? 'try again' : 'change the request'
}

/** Both are floors. */
function longerOf(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? (a ?? b) : Math.max(a, b)
}

interface ErrorBodyWords {
  readonly message: string
  readonly provider?: StreamFault['provider']
  readonly retryAfterMs?: number | undefined
  /** The server spoke as an API does. */
  readonly json?: boolean
}

function readErrorBody(body: string): ErrorBodyWords {
  const text = body.trim()
  for (const json of [text, ...dataOf(text)]) {
    try {
      const value: unknown = JSON.parse(json)
      // A list of one error, where a list of responses was due.
      const error: unknown = Array.isArray(value) && value.length === 1 ? value[0] : value
      const { provider, retryAfterMs } = faultOfPayload(error, true) ?? {}
      if (provider === undefined) continue
      return { message: provider.message ?? provider.code ?? provider.type ?? '', provider, retryAfterMs, json: true }
    } catch {
      // Not JSON: an event stream, a page or plain text.
    }
  }
  const message = text.startsWith('<') ? titleOf(text) : text
  return message === '' ? { message } : { message, provider: { message: clip(message, 200) } }
}

/** Data of the events in an error body that is an event stream. */
function dataOf(text: string): readonly string[] {
  if (!/^(?:data|event):/.test(text)) return []
  const blocks = text.split(/(?:\r\n?|\n){2}/)
  return blocks.map((block) =>
    block
      .split(/\r\n?|\n/)
      .filter((line) => line.startsWith('data:'))
      .map((line) => line.slice(5))
      .join('\n'),
  )
}

export function looksLikePage(body: string): boolean {
  return body.trimStart().startsWith('<')
}

/** The fault of a 2xx whose body is an HTML page. */
export function faultOfPage(page: string): StreamFault {
  const fault = faultOfPlainText(page)
  const title = titleOf(page)
  return {
    code: 'not_event_stream',
    phase: 'framing',
    retryable: fault?.retryable ?? 'yes',
    ...(fault?.status !== undefined && { status: fault.status }),
    message: `the body is an HTML page${title === '' ? '' : ` titled "${clip(title, 80)}"`}, not an event stream: a proxy or a wrong URL answered`,
    ...(title !== '' && { provider: { message: clip(title, 200) } }),
  }
}
