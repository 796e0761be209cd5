import type { HeaderPair } from 'streamfold/recording'

/**
 * Headers that explain a stream and hold no secret. Everything else keeps its name and the length of its value: a list of
 * what is secret would be one header short.
 */
const SHOWN: ReadonlySet<string> = new Set([
  'accept',
  'accept-encoding',
  'age',
  'allow',
  'anthropic-beta',
  'anthropic-version',
  'cache-control',
  'cf-cache-status',
  'cf-ray',
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'date',
  'expires',
  'host',
  'keep-alive',
  'openai-beta',
  'openai-processing-ms',
  'openai-version',
  'pragma',
  'request-id',
  'retry-after',
  'retry-after-ms',
  'server',
  'server-timing',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'user-agent',
  'vary',
  'via',
  'x-accel-buffering',
  'x-amzn-requestid',
  'x-cache',
  'x-request-id',
  'x-should-retry',
])
const SHOWN_PREFIXES = ['x-ratelimit-', 'ratelimit', 'anthropic-ratelimit-', 'x-stainless-', 'x-streamfold-']

const REDACTED = /^\[redacted:\d+\]$/

/** Headers whose values are keys: where they are known, they are looked for in bodies as well. */
const CREDENTIALS: ReadonlySet<string> = new Set([
  'authorization',
  'proxy-authorization',
  'x-api-key',
  'api-key',
  'x-goog-api-key',
])

/** Short values are words, not keys; masking them everywhere would hide what the stream says. */
const SHORTEST_CREDENTIAL = 8

/** What stands for a value: its length in bytes still tells an empty key from a real one. */
export function placeholderFor(value: string): string {
  return `[redacted:${Buffer.byteLength(value)}]`
}

export function isPlaceholder(value: string): boolean {
  return REDACTED.test(value)
}

export function isShownHeader(name: string): boolean {
  const lower = name.toLowerCase()
  return SHOWN.has(lower) || SHOWN_PREFIXES.some((prefix) => lower.startsWith(prefix))
}

/** `text` masks secrets inside the values that are shown. */
export function redactHeaders(headers: readonly HeaderPair[], text: (value: string) => string): readonly HeaderPair[] {
  return headers.map(([name, value]) => {
    if (isPlaceholder(value)) return [name, value] as const
    return [name, isShownHeader(name) ? text(value) : placeholderFor(value)] as const
  })
}

/** The keys that a request was sent with, to be looked for in what comes back: some servers quote them in their errors. */
export function credentialsIn(headers: readonly HeaderPair[]): readonly string[] {
  return headers.flatMap(([name, value]) => {
    if (!CREDENTIALS.has(name.toLowerCase()) || isPlaceholder(value)) return []
    const secret = value.replace(/^[A-Za-z]+ +/, '').trim()
    return Buffer.byteLength(secret) < SHORTEST_CREDENTIAL ? [] : [secret]
  })
}
