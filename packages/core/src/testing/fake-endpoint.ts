import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'

/**
 * One thing that an endpoint does: write this text or these bytes; wait for a promise of the test; end the body; reset the connection;
 * close it in the middle of the body; or stay silent until the client goes.
 */
export type FakeStep =
  | string
  | Uint8Array
  | { readonly until: Promise<unknown> }
  | { readonly end: 'body' | 'reset' | 'cut' | 'silence' }

/** What one request is answered with. */
export interface FakeAnswer {
  /** Default 200. */
  readonly status?: number
  /** Default: those of an event stream. */
  readonly headers?: Readonly<Record<string, string>>
  /** A body that says nothing of its end is ended. */
  readonly body?: FakeStep | readonly FakeStep[]
}

/** A request as it came. */
export interface FakeRequest {
  readonly method: string
  /** Path and query. */
  readonly path: string
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  /** Parsed where it is JSON, else the text. */
  readonly body: unknown
  /** Settles when the answer was ended or the client is gone. */
  readonly closed: Promise<'ended' | 'gone'>
}

/** A server that runs until it is closed. */
export interface FakeEndpoint {
  /** `http://127.0.0.1:…`, without a slash at the end. */
  readonly url: string
  /** In order of arrival. */
  readonly requests: readonly FakeRequest[]
  /** Connections that are open now. */
  readonly connections: number
  /** Connections that were ever opened. */
  readonly connected: number
  /** Settles with the n-th request, from 1. */
  request(n: number): Promise<FakeRequest>
  /** Settles when this many connections are open. */
  untilConnections(count: number): Promise<void>
  close(): Promise<void>
}

/**
 * A real HTTP server on this machine that answers as a test has written it down: one answer after the other, or a function of the
 * request. What is asked beyond that is answered with a 500 that says so. Needs Node, or what provides `node:http`.
 */
export async function startFakeEndpoint(
  answers: readonly FakeAnswer[] | ((request: FakeRequest, n: number) => FakeAnswer),
): Promise<FakeEndpoint> {
  const requests: FakeRequest[] = []
  const sockets = new Set<Socket>()
  const waiting = new Set<() => void>()
  let connected = 0
  const changed = (): void => {
    for (const check of waiting) check()
  }
  const until = async (holds: () => boolean): Promise<void> => {
    while (!holds()) {
      let wake: (() => void) | undefined
      const next = new Promise<void>((resolve) => (wake = resolve))
      waiting.add(wake!)
      await next
      waiting.delete(wake!)
    }
  }
  const server = createServer((message, response) => {
    void (async () => {
      const request = await requestOf(message, response)
      requests.push(request)
      changed()
      const n = requests.length
      await send(response, typeof answers === 'function' ? answers(request, n) : (answers[n - 1] ?? unexpected(n)))
    })().catch(() => response.destroy())
  })
  server.on('connection', (socket) => {
    connected++
    sockets.add(socket)
    changed()
    socket.once('close', () => {
      sockets.delete(socket)
      changed()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    get connections() {
      return sockets.size
    },
    get connected() {
      return connected
    },
    async request(n) {
      await until(() => requests.length >= n)
      return requests[n - 1]!
    },
    untilConnections: (count) => until(() => sockets.size === count),
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
}

async function requestOf(message: IncomingMessage, response: ServerResponse): Promise<FakeRequest> {
  const chunks: Uint8Array[] = []
  const closed = new Promise<'ended' | 'gone'>((resolve) => {
    response.once('close', () => resolve(response.writableFinished ? 'ended' : 'gone'))
  })
  for await (const chunk of message) chunks.push(chunk as Uint8Array)
  const text = await new Response(new Blob(chunks as BlobPart[])).text()
  return {
    method: message.method ?? 'GET',
    path: message.url ?? '/',
    headers: message.headers,
    body: parsed(text),
    closed,
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

async function send(response: ServerResponse, answer: FakeAnswer): Promise<void> {
  const { status = 200, headers = { 'content-type': 'text/event-stream; charset=utf-8' }, body = [] } = answer
  response.writeHead(status, { ...headers })
  response.flushHeaders()
  const steps = typeof body === 'object' && Symbol.iterator in body && !(body instanceof Uint8Array) ? body : [body]
  for (const step of steps) {
    if (response.destroyed) return
    if (typeof step === 'string' || step instanceof Uint8Array) {
      if (!response.write(step)) await drained(response)
    } else if ('until' in step) await step.until
    else if (step.end === 'silence') return
    else {
      await flushed(response)
      if (step.end === 'reset') response.socket?.resetAndDestroy()
      else if (step.end === 'cut') response.socket?.end()
      else response.end()
      return
    }
  }
  response.end()
}

/** The client has taken enough to be given more, or is gone. */
async function drained(response: ServerResponse): Promise<void> {
  await new Promise<void>((resolve) => {
    const done = (): void => {
      response.off('drain', done)
      response.off('close', done)
      resolve()
    }
    response.once('drain', done)
    response.once('close', done)
  })
}

/** What was written has left this process, so that a break comes after it. */
async function flushed(response: ServerResponse): Promise<void> {
  await new Promise<void>((resolve) => {
    const done = (): void => {
      response.off('close', done)
      resolve()
    }
    response.once('close', done)
    if (response.destroyed) done()
    else response.write('', done)
  })
}

function unexpected(n: number): FakeAnswer {
  return {
    status: 500,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ error: { message: `request ${n} was not expected: no answer is left for it` } }),
  }
}
