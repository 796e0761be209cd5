import { createServer } from 'node:http'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach } from 'vitest'

export interface LoopbackServer {
  readonly url: string
  /** Settles when the first request is here. */
  readonly requested: Promise<void>
  /** Settles when the client has let the first request's connection go. */
  readonly released: Promise<void>
}

const open: (() => Promise<void>)[] = []

afterEach(async () => {
  await Promise.all(open.splice(0).map((close) => close()))
})

/** A real server on this machine; it is closed after the test, with all its connections. */
export async function serve(
  answer: (response: ServerResponse, request: IncomingMessage) => void,
): Promise<LoopbackServer> {
  let arrived: () => void
  let gone: () => void
  const requested = new Promise<void>((resolve) => (arrived = resolve))
  const released = new Promise<void>((resolve) => (gone = resolve))
  const listener: RequestListener = (request, response) => {
    request.socket.once('close', () => gone())
    arrived()
    answer(response, request)
  }
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  open.push(
    () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  )
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}/`, requested, released }
}

/** The address of a server that is not there any more. */
export async function closedPort(): Promise<string> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return `http://127.0.0.1:${port}/`
}

export function startEventStream(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.flushHeaders()
}
