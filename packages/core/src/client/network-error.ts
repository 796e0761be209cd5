import type { EndCause } from '../engine/stream-engine.ts'
import { clip } from '../json/clip.ts'

/** What runtimes say when a request or a body breaks on its way; none of them has a code for it on the error itself. */
const NETWORK_WORDS =
  /^(?:fetch failed|terminated|failed to fetch|load failed|networkerror|network|error sending request|error reading a body|unable to connect|the (?:socket )?connection|socket)/i

/**
 * Did the network fail, as against the code that asked? A mistake of the caller's (an address that is none, a header that can't be
 * sent) would fail the same way for ever and must not look like something to retry.
 */
export function isNetworkError(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if (error.name === 'AbortError' || error.name === 'TimeoutError' || NETWORK_WORDS.test(error.message)) return true
  const code = codeOf(error) ?? codeOf(error.cause)
  return code !== undefined && !code.startsWith('ERR_INVALID')
}

/** undici says `terminated` for a body that ended too early, with the socket's own error as its cause (fault F002). */
export function endCauseOf(error: unknown): EndCause {
  const code = error instanceof Error ? codeOf(error.cause) : undefined
  if (code === 'UND_ERR_SOCKET') return 'cut'
  if (code === 'UND_ERR_BODY_TIMEOUT') return 'timeout'
  return code === 'ECONNRESET' || code === 'EPIPE' ? 'reset' : 'error'
}

/** The innermost reason, for a message: a code where there is one. */
export function rootCauseOf(error: unknown): string | undefined {
  let inner = error
  for (let depth = 0; depth < 5 && inner instanceof Error && inner.cause instanceof Error; depth++) inner = inner.cause
  const said = codeOf(inner) ?? (inner instanceof Error ? inner.message : undefined)
  if (said === undefined || said === '') return undefined
  return NODE_LIMITS.has(said) ? `${said}: the limit of Node's own fetch; streamfold/node lifts it` : clip(said, 120)
}

/** Which connection failed, and of what. */
export function connectionOf(url: string | undefined, error: unknown): string | undefined {
  const said = rootCauseOf(error)
  if (url === undefined || !URL.canParse(url)) return said
  const { hostname, port, protocol } = new URL(url)
  const place = `${clip(hostname, 120)}:${port || (protocol === 'https:' ? 443 : 80)}`
  return said === undefined ? place : `${place}: ${said}`
}

/** Node's `fetch` ends a request by itself after 300 s without a head or a byte (fault F121). */
const NODE_LIMITS: ReadonlySet<string> = new Set(['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT'])

function codeOf(error: unknown): string | undefined {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined
  return typeof code === 'string' && code !== '' ? code : undefined
}
