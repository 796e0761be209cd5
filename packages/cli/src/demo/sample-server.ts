import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import type { TimedWrite } from './sample-stream.ts'

export interface SampleServer {
  /** As a client wants it: without `/chat/completions`. */
  readonly baseUrl: string
  close(): void
}

/** Serves the writes to every `POST /v1/chat/completions`, on a free port of this machine only. */
export async function startSampleServer(writes: readonly TimedWrite[]): Promise<SampleServer> {
  const server = createServer((request, response) => {
    request.resume()
    if (request.method !== 'POST' || request.url !== '/v1/chat/completions') {
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
    void (async () => {
      for (const { bytes, pauseMs } of writes) {
        if (response.destroyed) return
        response.write(bytes)
        await pause(pauseMs)
      }
      response.end()
    })()
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
