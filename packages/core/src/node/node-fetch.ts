import { Agent, fetch as fetchOfUndici } from 'undici'
import { connectionWatcher } from '../client/connection-watch.ts'

/** How connections are made and kept; the clocks of an answer are the caller's. */
export interface NodeFetchOptions {
  /** For the connection alone, not for the answer, in milliseconds. Default 10 000. */
  readonly connectTimeoutMs?: number | undefined
  /** Connections to one server at most; more requests wait. Default: no limit. */
  readonly connections?: number | undefined
  /** How long an unused connection is kept, in milliseconds. Default 4000. */
  readonly keepAliveMs?: number | undefined
  /** Speak HTTP/2 where the server offers it. Default false. */
  readonly http2?: boolean | undefined
}

/** A `fetch` and the connections behind it. */
export interface NodeFetch {
  readonly fetch: typeof fetch
  /** Settles when every request has ended and every connection is closed. */
  close(): Promise<void>
}

/**
 * A `fetch` for Node that leaves the clocks to the caller. The one that Node brings gives up by itself after 300 s without a head or
 * without a byte, whatever timers were asked for (fault F121); this one does not.
 *
 * It also sees the connection: with it, `timeouts.connectMs` of `streamModel` and `guardFetch` is for the connection alone,
 * `timeouts.firstByteMs` for the answer, and reports have a `timeToConnectMs` (near 0 on a connection that was kept).
 *
 * Needs the package `undici`, which is an optional peer of this one.
 */
export function createNodeFetch(options: NodeFetchOptions = {}): NodeFetch {
  const { connectTimeoutMs = 10_000, connections, keepAliveMs = 4000, http2 = false } = options
  const agent = new Agent({
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: { timeout: connectTimeoutMs },
    keepAliveTimeout: keepAliveMs,
    allowH2: http2,
    ...(connections !== undefined && { connections }),
  })
  const send: typeof fetch = (input, init) => {
    const signal = init?.signal ?? (typeof input === 'object' && 'signal' in input ? input.signal : undefined)
    const connected = connectionWatcher(signal)
    const dispatcher = connected === undefined ? agent : watched(agent, connected)
    type Input = Parameters<typeof fetchOfUndici>[0]
    type Init = NonNullable<Parameters<typeof fetchOfUndici>[1]>
    const sent = fetchOfUndici(input as Input, { ...(init as Init), dispatcher })
    return sent as Promise<unknown> as Promise<Response>
  }
  return { fetch: send, close: () => agent.close() }
}

type Dispatch = Agent['dispatch']

/** What undici calls on a handler when a connection begins to carry the request: up to its version 7, and from then on. */
const CONNECTED = ['onConnect', 'onRequestStart'] as const

function watched(agent: Agent, connected: () => void): Agent {
  const dispatch: Dispatch = (options, handler) => {
    for (const name of CONNECTED) {
      const original = handler[name] as ((...said: unknown[]) => void) | undefined
      if (original === undefined) continue
      handler[name] = function onConnection(this: unknown, ...said: unknown[]): void {
        connected()
        original.apply(this, said)
      }
    }
    return agent.dispatch(options, handler)
  }
  // All that `fetch` asks of a dispatcher.
  return { dispatch } as Agent
}
