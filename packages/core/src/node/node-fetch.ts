import { Agent, fetch as fetchOfUndici } from 'undici'

export interface NodeFetchOptions {
  /** For the connection alone, not for the answer, in milliseconds. Default 10 000. */
  readonly connectTimeoutMs?: number
  /** Connections to one server at most; more requests wait. Default: no limit. */
  readonly connections?: number
  /** How long an unused connection is kept, in milliseconds. Default 4000. */
  readonly keepAliveMs?: number
  /** Speak HTTP/2 where the server offers it. Default false. */
  readonly http2?: boolean
}

export interface NodeFetch {
  readonly fetch: typeof fetch
  /** Settles when every request has ended and every connection is closed. */
  close(): Promise<void>
}

/**
 * A `fetch` for Node that leaves the clocks to the caller. The one that Node brings gives up by itself after 300 s without a head or
 * without a byte, whatever timers were asked for (fault F121); this one does not, and times the connection apart from the answer, so
 * `timeouts.connectMs` may be as long as a model takes to begin.
 *
 * Needs the package `undici`, which is an optional peer of this one.
 */
export function createNodeFetch(options: NodeFetchOptions = {}): NodeFetch {
  const { connectTimeoutMs = 10_000, connections, keepAliveMs = 4000, http2 = false } = options
  const dispatcher = new Agent({
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: { timeout: connectTimeoutMs },
    keepAliveTimeout: keepAliveMs,
    allowH2: http2,
    ...(connections !== undefined && { connections }),
  })
  const send = (input: unknown, init: object = {}): Promise<unknown> =>
    fetchOfUndici(input as Parameters<typeof fetchOfUndici>[0], { ...init, dispatcher })
  return { fetch: send as typeof fetch, close: () => dispatcher.close() }
}
