import { createServer, request } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Hop {
  readonly url: string
  close(): Promise<void>
}

/** What a hand-made hop does with the answer of the upstream. */
export type Forward = (answer: IncomingMessage, response: ServerResponse) => void

/** A hop in front of `upstream` that forwards answers in its own way. */
export async function startHop(upstream: string, forward: Forward): Promise<Hop> {
  const server = createServer((incoming, response) => {
    const outgoing = request(upstream, { method: incoming.method, agent: false }, (answer) => {
      answer.on('error', () => response.destroy())
      forward(answer, response)
    })
    outgoing.on('error', () => response.destroy())
    response.on('close', () => outgoing.destroy())
    outgoing.end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** Forwards block by block what `change` makes of it. */
export function perBlock(change: (block: string) => string): Forward {
  return (answer, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    let rest = ''
    answer.setEncoding('utf8').on('data', (text: string) => {
      rest += text
      for (;;) {
        const end = /\r\n\r\n|\n\n/.exec(rest)
        if (end === null) break
        const to = end.index + end[0].length
        response.write(change(rest.slice(0, to)))
        rest = rest.slice(to)
      }
    })
    answer.on('end', () => response.end(rest))
  }
}
