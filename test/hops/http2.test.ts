import { createSecureServer } from 'node:http2'
import type { ServerHttp2Stream } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from 'node:http2'
import { expectStream } from 'streamfold/testing'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { ask, HELLO, WIRE } from './wire.ts'

const open: (() => Promise<unknown>)[] = []
let key = ''
let cert = ''
let folder = ''

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'http2-'))
  const files = ['-keyout', join(folder, 'key.pem'), '-out', join(folder, 'cert.pem')]
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-subj', '/CN=localhost']
  execFileSync('openssl', ['req', '-x509', '-days', '1', ...kind, ...files], { stdio: 'ignore' })
  key = readFileSync(join(folder, 'key.pem'), 'utf8')
  cert = readFileSync(join(folder, 'cert.pem'), 'utf8')
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))
afterEach(async () => {
  for (const close of open.splice(0).toReversed()) await close()
})

async function serve(answer: (stream: ServerHttp2Stream) => void): Promise<string> {
  const server = createSecureServer({ key, cert })
  server.on('stream', (stream) => {
    stream.on('error', () => {})
    stream.respond({ ':status': 200, 'content-type': 'text/event-stream' })
    answer(stream)
  })
  await new Promise<void>((resolve) => server.listen(0, 'localhost', resolve))
  open.push(() => new Promise((resolve) => server.close(resolve)))
  return `https://localhost:${(server.address() as AddressInfo).port}`
}

/** A `fetch` of one session, over `node:http2` itself, so that what the wire does is not hidden by a pool. */
function http2Fetch(): typeof fetch {
  return (input, init = {}) => {
    const url = new URL(input as string)
    const session = connect(url.origin, { ca: cert })
    open.push(
      () => new Promise((resolve) => (session.closed ? resolve(undefined) : session.close(() => resolve(undefined)))),
    )
    const stream = session.request({ ':method': 'POST', ':path': url.pathname })
    init.signal?.addEventListener('abort', () => stream.close(8))
    stream.end(init.body as string)
    return new Promise((resolve, reject) => {
      session.on('error', reject)
      stream.on('error', reject)
      stream.on('response', (headers) => {
        const body = new ReadableStream<Uint8Array>({
          start(controller) {
            stream.on('data', (bytes: Buffer) => controller.enqueue(new Uint8Array(bytes)))
            stream.on('end', () => {
              if (stream.rstCode === 0) controller.close()
            })
            stream.on('aborted', () => controller.error(Object.assign(new Error('aborted'), { code: 'ECONNRESET' })))
            stream.on('error', (error) => controller.error(error))
          },
          cancel: () => stream.close(8),
        })
        resolve(
          new Response(body, {
            status: headers[':status'] ?? 0,
            headers: { 'content-type': String(headers['content-type']) },
          }),
        )
      })
    })
  }
}

describe('HTTP/2', () => {
  test('a good stream', async () => {
    const url = await serve((stream) => stream.end(HELLO))
    const stream = ask(url, { fetch: http2Fetch() })
    await stream.result
    expectStream(stream.report()).toEnd('completed').toSay('hello')
  })

  test('RST_STREAM in the middle', async () => {
    const url = await serve((stream) => {
      stream.write(WIRE.text('hel'), () => stream.close(2))
    })
    const stream = ask(url, { fetch: http2Fetch() })
    await stream.result
    expectStream(stream.report()).toEnd('incomplete').toFailWith('incomplete_stream').toSay('hel')
  })

  test('END_STREAM before the end', async () => {
    const url = await serve((stream) => stream.end(WIRE.text('hel')))
    const stream = ask(url, { fetch: http2Fetch() })
    await stream.result
    expectStream(stream.report()).toEnd('incomplete').toFailWith('incomplete_stream').toSay('hel')
  })

  test('neither end nor error: the idle timer ends it, and the stream is closed (fault F004)', async () => {
    let closed: Promise<number> | undefined
    const url = await serve((stream) => {
      closed = new Promise((resolve) => stream.on('close', () => resolve(stream.rstCode ?? 0)))
      stream.write(WIRE.text('hel'))
    })
    const stream = ask(url, { fetch: http2Fetch(), timeouts: { idleMs: 50 } })
    await stream.result
    expectStream(stream.report()).toFailWith('idle_timeout')
    // CANCEL: the session and its other streams live on.
    expect(await closed).toBe(8)
  })
})

test('HTTP/2 by undici, as streamfold/node offers it', async () => {
  const { Agent, fetch: send } = await import('undici')
  const dispatcher = new Agent({ allowH2: true, connect: { ca: cert } })
  let version = ''
  const url = await serve((stream) => {
    version = stream.session?.alpnProtocol ?? ''
    stream.end(HELLO)
  })
  const own = ((input: string, init: object) => send(input, { ...init, dispatcher })) as unknown as typeof fetch
  const stream = ask(url, { fetch: own })
  await stream.result
  expectStream(stream.report()).toEnd('completed').toSay('hello')
  expect(version).toBe('h2')
  await dispatcher.destroy()
})
