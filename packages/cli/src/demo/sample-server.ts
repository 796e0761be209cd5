import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text as readText } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import type { TimedWrite } from './sample-stream.ts'

export interface SampleServer {
  /** As a client wants it: without `/chat/completions`. */
  readonly baseUrl: string
  close(): void
}

/**
 * Answers every `POST /v1/chat/completions` with these writes, or those for the body of the request, on a free port of this
 * machine only.
 */
export async function startSampleServer(
  writes: readonly TimedWrite[] | ((body: string) => readonly TimedWrite[]),
): Promise<SampleServer> {
  const server = createServer((request, response) => {
    if (request.method !== 'POST' || request.url !== '/v1/chat/completions') {
      request.resume()
      response.writeHead(404).end()
      return
    }
    response.socket?.setNoDelay(true)
    response.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
      'x-request-id': 'req_demo',
    })
    response.flushHeaders()
    const answer = async (): Promise<void> => {
      const body = await readText(request)
      for (const { bytes, pauseMs } of typeof writes === 'function' ? writes(body) : writes) {
        if (response.destroyed) return
        response.write(bytes)
        await pause(pauseMs)
      }
      response.end()
    }
    // A client that went away needs no answer.
    answer().catch(() => response.destroy())
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(0, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}
