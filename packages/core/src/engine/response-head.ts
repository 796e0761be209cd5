import { faultOfPayload, faultOfPlainText, retryableOfStatus, titleOf } from '../adapters/error-body.ts'
import type { StreamFault } from '../chunk/fault.ts'
import { clip } from '../json/clip.ts'

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
  const retryAfterMs = retryAfter(head, nowMs)
  const retryable = status >= 300 && status < 400 ? 'no' : retryableOfStatus(status)
  const next =
    status === 429 ? 'wait before the next attempt' : retryable === 'yes' ? 'try again' : 'change the request'
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

function readErrorBody(body: string): { readonly message: string; readonly provider?: StreamFault['provider'] } {
  const text = body.trim()
  for (const json of [text, ...dataOf(text)]) {
    try {
      const value: unknown = JSON.parse(json)
      // A list of one error, where a list of responses was due.
      const error: unknown = Array.isArray(value) && value.length === 1 ? value[0] : value
      const provider = faultOfPayload(error, true)?.provider
      if (provider !== undefined) return { message: provider.message ?? provider.code ?? provider.type ?? '', provider }
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

/** `retry-after-ms`, `retry-after` in seconds or as a date. A date needs the time of day, which only a shell knows. */
function retryAfter(head: ResponseHead, nowMs: number | undefined): number | undefined {
  const exact = quantity(headerOf(head, 'retry-after-ms'))
  if (exact !== undefined) return exact
  const value = headerOf(head, 'retry-after')
  if (value === undefined) return undefined
  const seconds = quantity(value)
  if (seconds !== undefined) return seconds * 1000
  const date = parseHttpDate(value)
  return date === undefined || nowMs === undefined ? undefined : Math.max(0, date - nowMs)
}

function quantity(text: string | undefined): number | undefined {
  const number = text === undefined || text.trim() === '' ? NaN : Number(text)
  return Number.isFinite(number) && number >= 0 ? number : undefined
}

const MONTHS = 'JanFebMarAprMayJunJulAugSepOctNovDec'

/** IMF-fixdate of RFC 9110 §5.6.7, in milliseconds since 1970. */
function parseHttpDate(text: string): number | undefined {
  const match = /^\w{3}, (\d\d) (\w{3}) (\d{4}) (\d\d):(\d\d):(\d\d) GMT$/.exec(text.trim())
  if (match === null) return undefined
  const month = MONTHS.indexOf(match[2]!) / 3
  if (!Number.isInteger(month) || month < 0) return undefined
  const year = Number(match[3])
  const days = daysSince1970(year, month, Number(match[1]))
  return (((days * 24 + Number(match[4])) * 60 + Number(match[5])) * 60 + Number(match[6])) * 1000
}

/** Days from 1970-01-01 in the proleptic Gregorian calendar; no clock and no time zone are involved. */
function daysSince1970(year: number, month: number, day: number): number {
  const shifted = month < 2 ? year - 1 : year
  const era = Math.floor(shifted / 400)
  const yearOfEra = shifted - era * 400
  const dayOfYear = Math.floor((153 * ((month + 10) % 12) + 2) / 5) + day - 1
  return era * 146_097 + yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear - 719_468
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
