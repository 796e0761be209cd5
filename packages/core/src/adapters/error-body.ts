import { clip } from '../json/clip.ts'
import { isRecord } from '../json/value.ts'
import type { FaultCode, ProviderError, Retryable, StreamFault } from '../chunk/fault.ts'
import { printed } from './kept-value.ts'

/**
 * One normaliser for the dialects in which servers say "error", in a stream or instead of one. What kind of error it is
 * comes from its code, type or status, never from words in its message: a 502 whose text says "rate limit" is not a 429
 * (faults F107–F114, F155, F169).
 */

/**
 * The error in a parsed payload, or undefined when the payload is not one. `named` says that the event itself was called
 * `error`, which makes any payload an error.
 */
export function faultOfPayload(value: unknown, named = false): StreamFault | undefined {
  if (!isRecord(value)) return named ? fault({ message: textOf(value) }) : undefined
  const nested = value['error']
  if (isSaid(nested)) return isRecord(nested) ? faultOfRecord(nested, value) : faultOfString(textOf(nested), value)
  const groq = isRecord(value['x_groq']) ? value['x_groq']['error'] : undefined
  if (isSaid(groq)) return isRecord(groq) ? faultOfRecord(groq, value) : faultOfString(textOf(groq), value)
  const first: unknown = Array.isArray(value['errors']) ? value['errors'][0] : undefined
  if (isSaid(first) && !Array.isArray(value['choices'])) {
    return isRecord(first) ? faultOfRecord(first, value) : faultOfString(textOf(first), value)
  }
  if (named || value['object'] === 'error') return faultOfRecord(value, value)
  if (Array.isArray(value['choices'])) return undefined
  if (value['object'] === 'error' || value['type'] === 'error' || isBareError(value)) return faultOfRecord(value, value)
  return undefined
}

/**
 * Plain text where an event or a body was due: a status line (`429 Too Many Requests`) or the title of an HTML page that a
 * proxy put there. Undefined when the text names no status.
 */
export function faultOfPlainText(text: string): StreamFault | undefined {
  const html = /^\s*(?:<!doctype html|<html|<head|<title)/i.test(text.slice(0, 200))
  const source = html ? titleOf(text) : text
  const match = /^\D{0,20}?([45]\d\d)\b(?!\s*[.,:]?\d)/.exec(source.slice(0, 120))
  if (!html && (match === null || match.index !== 0 || !/^[45]\d\d(?:\s|$)/.test(text))) return undefined
  const status = match === null ? undefined : Number(match[1])
  const said = html ? `an HTML page${source === '' ? '' : ` titled "${clip(source, 80)}"`}` : `"${clip(text, 80)}"`
  return fault({
    status,
    message: `a proxy answered with ${said} in place of an event`,
    provider: { message: clip(html ? source : text, 200) },
  })
}

/** The title of an HTML page, `''` when it has none in its first 4 KiB. */
export function titleOf(html: string): string {
  const head = html.slice(0, 4096)
  const start = head.search(/<title[^>]{0,200}>/i)
  if (start < 0) return ''
  const from = head.indexOf('>', start) + 1
  const to = head.indexOf('<', from)
  return head.slice(from, to < 0 ? from + 120 : to).trim()
}

/** Retryable as far as the status goes; the engine lowers `yes` to `restart` once anything was generated. */
export function retryableOfStatus(status: number | undefined): Retryable {
  if (status === undefined) return 'yes'
  return status === 408 || status === 409 || status === 425 || status === 429 || status >= 500 ? 'yes' : 'no'
}

function faultOfRecord(error: Record<string, unknown>, whole: Record<string, unknown>): StreamFault {
  const metadata = isRecord(error['metadata']) ? error['metadata'] : {}
  const code = scalar(error['code']) ?? scalar(whole['code'])
  const type =
    scalar(error['type']) ??
    scalar(error['error_type']) ??
    scalar(metadata['error_type']) ??
    scalar(whole['error_type'])
  const message =
    scalar(error['message']) ?? detailOf(error['detail']) ?? scalar(whole['message']) ?? detailOf(whole['detail'])
  const status =
    statusOf(error['status_code']) ??
    statusOf(error['status']) ??
    statusOf(error['code']) ??
    statusOf(whole['status_code']) ??
    statusOf(whole['status']) ??
    statusOf(whole['code']) ??
    statusOfKind(code) ??
    statusOfKind(scalar(metadata['error_type'])) ??
    statusOfKind(type) ??
    statusOfKind(scalar(error['status']))
  return fault({
    status,
    message: message ?? textOf(error),
    retryAfterMs: retryDelayOf(error['details']),
    provider: {
      ...(code !== undefined && { code }),
      ...(type !== undefined && { type }),
      message: message ?? textOf(error),
    },
  })
}

/**
 * How long Google asks to wait: `google.rpc.RetryInfo` among the details of a `google.rpc.Status`, a protobuf duration in its JSON form
 * (`"34.074824224s"`), in milliseconds rounded up.
 */
function retryDelayOf(details: unknown): number | undefined {
  if (!Array.isArray(details)) return undefined
  const info: unknown = details.find(
    (detail) => isRecord(detail) && scalar(detail['@type'])?.endsWith('google.rpc.RetryInfo') === true,
  )
  const text = isRecord(info) ? scalar(info['retryDelay']) : undefined
  const seconds = /^(\d{1,12}(?:\.\d{1,9})?)s$/.exec(text ?? '')?.[1]
  return seconds === undefined ? undefined : Math.ceil(Number(seconds) * 1000)
}

function faultOfString(message: string, whole: Record<string, unknown>): StreamFault {
  const type = scalar(whole['error_type']) ?? scalar(whole['type'])
  const code = scalar(whole['code'])
  const status =
    statusOf(whole['status_code']) ??
    statusOf(whole['status']) ??
    statusOf(whole['code']) ??
    statusOfKind(code) ??
    statusOfKind(type)
  return fault({
    status,
    message,
    provider: { ...(code !== undefined && { code }), ...(type !== undefined && { type }), message },
  })
}

function fault(from: {
  status?: number | undefined
  message: string
  retryAfterMs?: number | undefined
  provider?: ProviderError
}): StreamFault {
  const { status, retryAfterMs } = from
  const code: FaultCode = status === 429 ? 'rate_limited' : 'upstream_error'
  const retryable = retryableOfStatus(status)
  const next =
    status === 429
      ? 'wait before the next attempt'
      : retryable === 'no'
        ? 'change the request, the same one would fail again'
        : 'a new attempt may succeed'
  return {
    code,
    phase: 'delta',
    message: `the provider reported an error${status === undefined ? '' : ` (${status})`}: ${clip(from.message, 300)}; ${next}`,
    retryable,
    ...(status !== undefined && { status }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    provider: from.provider ?? { message: clip(from.message, 2000) },
  }
}

/** `{"code":429,"message":"busy"}`, `{"detail":"…"}`: an error without any wrapper. */
function isBareError(value: Record<string, unknown>): boolean {
  if ('usage' in value || 'delta' in value) return false
  const detail = isSaid(value['detail'])
  if (!detail && scalar(value['message']) === undefined) return false
  // An id alone may be that of a response; with a status beside it, it is that of an error.
  if ('id' in value) return statusOf(value['code']) !== undefined || statusOf(value['status_code']) !== undefined
  return (
    detail ||
    statusOf(value['code']) !== undefined ||
    statusOf(value['status']) !== undefined ||
    statusOf(value['status_code']) !== undefined ||
    statusOfKind(scalar(value['code'])) !== undefined ||
    statusOfKind(scalar(value['type'])) !== undefined
  )
}

/** The HTTP status that a provider's error word stands for. */
function statusOfKind(kind: string | undefined): number | undefined {
  return kind === undefined ? undefined : STATUS_OF_KIND[kind.toLowerCase()]
}

const STATUS_OF_KIND: Readonly<Record<string, number | undefined>> = Object.assign(Object.create(null), {
  invalid_request_error: 400,
  invalid_request: 400,
  invalid_prompt: 400,
  invalid_argument: 400,
  badrequesterror: 400,
  bad_request: 400,
  validation: 400,
  validation_error: 400,
  context_length_exceeded: 400,
  string_above_max_length: 400,
  tool_use_failed: 400,
  content_filter: 400,
  failed_precondition: 400,
  // Codes of the Responses API; those of images say that the request must change.
  bio_policy: 400,
  misalignment_policy_violation: 400,
  data_residency_mismatch: 400,
  invalid_image: 400,
  invalid_image_format: 400,
  invalid_base64_image: 400,
  invalid_image_url: 400,
  invalid_image_mode: 400,
  image_too_large: 400,
  image_too_small: 400,
  image_parse_error: 400,
  image_content_policy_violation: 400,
  image_file_too_large: 413,
  image_file_not_found: 404,
  unsupported_image_media_type: 400,
  empty_image_file: 400,
  failed_to_download_image: 400,
  vector_store_timeout: 504,
  authentication_error: 401,
  invalid_api_key: 401,
  unauthenticated: 401,
  insufficient_quota: 402,
  billing_error: 402,
  permission_error: 403,
  permission_denied: 403,
  not_found_error: 404,
  model_not_found: 404,
  not_found: 404,
  request_too_large: 413,
  rate_limit_error: 429,
  rate_limit_exceeded: 429,
  rate_limit: 429,
  rate_limited: 429,
  too_many_requests: 429,
  tokens: 429,
  requests: 429,
  resource_exhausted: 429,
  server_error: 500,
  internal_server_error: 500,
  internal_error: 500,
  internal: 500,
  api_error: 500,
  generation: 500,
  bad_gateway: 502,
  upstream_error: 502,
  overloaded: 503,
  service_unavailable: 503,
  unavailable: 503,
  deadline_exceeded: 504,
  timeout: 504,
  timeout_error: 504,
  overloaded_error: 529,
  // Exceptions of Amazon Bedrock.
  throttlingexception: 429,
  servicequotaexceededexception: 402,
  validationexception: 400,
  accessdeniedexception: 403,
  resourcenotfoundexception: 404,
  modelerrorexception: 502,
  modelstreamerrorexception: 502,
  internalserverexception: 500,
  serviceunavailableexception: 503,
  modelnotreadyexception: 503,
  modeltimeoutexception: 504,
})

function statusOf(value: unknown): number | undefined {
  const status = typeof value === 'string' && /^\d{3}$/.test(value) ? Number(value) : value
  return typeof status === 'number' && Number.isInteger(status) && status >= 400 && status <= 599 ? status : undefined
}

function scalar(value: unknown): string | undefined {
  if (typeof value === 'string') return value === '' ? undefined : value
  return typeof value === 'number' ? String(value) : undefined
}

/** A text, or what a validating framework says of each field. */
function detailOf(value: unknown): string | undefined {
  return typeof value === 'object' && value !== null ? textOf(value) : scalar(value)
}

function isSaid(value: unknown): boolean {
  return value !== undefined && value !== null && value !== false && value !== '' && value !== 0
}

function textOf(value: unknown): string {
  return clip(typeof value === 'string' ? value : printed(value), 300)
}
