import { createServer } from 'node:http'
import type { ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { StreamReport } from 'streamfold/engine'
import { encodeEventStream, EVENT_STREAM_HEADERS, sendEventStream } from 'streamfold/server'
import type { StreamChunk } from 'streamfold/chunk'
import { expectStream } from 'streamfold/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hasNginx, startNginx } from './nginx.ts'
import type { Nginx } from './nginx.ts'
import { ask, WIRE } from './wire.ts'

/** Handlers of the server behind nginx, by the last part of the path. */
type Handler = (response: ServerResponse) => void | Promise<void>

const EVENTS = 12
const later = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

async function slowly(response: ServerResponse, headers: Record<string, string>): Promise<void> {
  response.writeHead(200, headers)
  response.flushHeaders()
  for (let i = 0; i < EVENTS; i++) {
    response.write(WIRE.text(`${i} `))
    await later(40)
  }
  response.end(WIRE.finish('stop') + WIRE.done)
}

async function* chunks(): AsyncGenerator<StreamChunk> {
  yield { type: 'start', id: 'r', model: 'm' }
  for (let i = 0; i < EVENTS; i++) {
    yield { type: 'text-delta', index: 0, text: `${i} ` }
    await later(40)
  }
  yield { type: 'finish', reason: 'stop' }
}

const HANDLERS: Readonly<Record<string, Handler>> = {
  plain: (response) => slowly(response, { 'content-type': 'text/event-stream' }),
  encoded: async (response) => {
    await sendEventStream(response, encodeEventStream(chunks(), 'chat_completions'))
  },
  cut: (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(WIRE.text('hel'), () => response.socket?.destroy())
  },
  silent: (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' })
    response.write(WIRE.text('hel'))
  },
}

let nginx: Nginx
let stop: () => Promise<void>

/** Each test names its hop: the location is the way through nginx. */
const hop = (location: string, handler: string): string => nginx.url(`${location}/${handler}`)

async function read(url: string): Promise<StreamReport> {
  const stream = ask(url, { timeouts: { idleMs: 5000 } })
  await stream.result
  return stream.report()
}

describe.skipIf(!hasNginx())('nginx between client and server', () => {
  beforeAll(async () => {
    const server = createServer((request, response) => {
      request.resume()
      const name = /\/(\w+)\/chat\/completions$/.exec(request.url ?? '')?.[1] ?? ''
      void HANDLERS[name]?.(response)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const upstream = `proxy_pass http://127.0.0.1:${(server.address() as AddressInfo).port};`
    nginx = await startNginx({
      // As nginx is without a word of configuration: HTTP/1.0 to the server, and its answer is held until a buffer is full.
      '/buffering': `${upstream} proxy_buffering on; proxy_http_version 1.0;`,
      '/unbuffered': `${upstream} proxy_buffering off;`,
      '/gzip': `${upstream} proxy_buffering off; gzip on; gzip_types text/event-stream; gzip_min_length 0;`,
      '/impatient': `${upstream} proxy_buffering off; proxy_read_timeout 300ms;`,
      '/nobody': 'proxy_pass http://127.0.0.1:1;',
    })
    stop = async () => {
      await nginx.stop()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    }
  })
  afterAll(() => stop())

  const TEXT = Array.from({ length: EVENTS }, (_, i) => `${i} `).join('')

  test('proxy_buffering on: nothing is lost, all of it comes late, and the report says so', async () => {
    const report = await read(hop('/buffering', 'plain'))
    expectStream(report).toEnd('completed').toSay(TEXT)
    expect(report.timing.streaming).not.toBe('real')
    expectStream(report).toHaveFinding('bursty_arrival')
  })

  test('proxy_buffering off: the events come as they were written', async () => {
    const report = await read(hop('/unbuffered', 'plain'))
    expectStream(report).toEnd('completed').toSay(TEXT)
    expect(report.timing.streaming).toBe('real')
    expect(report.diagnostics.map(({ code }) => code)).not.toContain('bursty_arrival')
  })

  test('proxy_buffering on, and our headers: nginx does not hold them back', async () => {
    const report = await read(hop('/buffering', 'encoded'))
    expectStream(report).toEnd('completed').toSay(TEXT)
    expect(EVENT_STREAM_HEADERS['x-accel-buffering']).toBe('no')
    expect(report.timing.streaming).toBe('real')
  })

  test('gzip on: decoded by fetch, whole and right', async () => {
    const report = await read(hop('/gzip', 'plain'))
    expectStream(report).toEnd('completed').toSay(TEXT)
    const { headers } = await fetch(`${hop('/gzip', 'plain')}/chat/completions`, { method: 'POST' })
    expect(headers.get('content-encoding')).toBe('gzip')
  })

  test.each(['/buffering', '/unbuffered'])(
    'a server that breaks off behind %s is never a good end',
    async (location) => {
      const report = await read(hop(location, 'cut'))
      expectStream(report).toEnd('incomplete').toFailWith('incomplete_stream')
    },
  )

  test('proxy_read_timeout: nginx cuts a silent stream, and it is no good end', async () => {
    const report = await read(hop('/impatient', 'silent'))
    expectStream(report).toEnd('incomplete').toFailWith('incomplete_stream').toSay('hel')
  })

  test('502: the page of nginx is an error, and may be tried again', async () => {
    const report = await read(hop('/nobody', 'plain'))
    expectStream(report).toFailWith('http_error').toHaveFinding('proxy_error_page')
    expect(report.error).toMatchObject({ status: 502, retryable: 'yes', provider: { message: '502 Bad Gateway' } })
  })
})
