import { setMaxListeners } from 'node:events'
import { createServer as createTcpServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { gzipSync, createGzip, constants } from 'node:zlib'
import { guardFetch } from 'streamfold'
import type { StreamReport } from 'streamfold'
import { createNodeFetch } from 'streamfold/node'
import type { NodeFetch } from 'streamfold/node'
import { expectStream, startFakeEndpoint } from 'streamfold/testing'
import type { FakeAnswer, FakeEndpoint, FakeRequest } from 'streamfold/testing'
import { Agent, fetch as undici } from 'undici'
import { afterEach, describe, expect, test } from 'vitest'
import { ask, HELLO, WIRE } from './wire.ts'

const open: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of open.splice(0).toReversed()) await close()
})

async function serve(
  answers: readonly FakeAnswer[] | ((request: FakeRequest, n: number) => FakeAnswer),
): Promise<FakeEndpoint> {
  const endpoint = await startFakeEndpoint(answers)
  open.push(() => endpoint.close())
  return endpoint
}

function ownFetch(options: Parameters<typeof createNodeFetch>[0] = {}): NodeFetch {
  const own = createNodeFetch(options)
  open.push(() => own.close())
  return own
}

/** A server that is told every byte of its answer, heads and chunks included. */
async function serveRaw(answer: (socket: Socket) => void): Promise<string> {
  const server = createTcpServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => answer(socket))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  open.push(() => new Promise((resolve) => server.close(() => resolve(undefined))))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const HEAD = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n'
const chunked = (text: string): string => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`

const FETCHES = [
  { name: "the platform's fetch", make: (): typeof fetch => fetch },
  { name: 'streamfold/node', make: (): typeof fetch => ownFetch().fetch },
]

describe.each(FETCHES)('HTTP/1.1, $name', ({ make }) => {
  test('a chunked body, its chunks cut anywhere', async () => {
    const url = await serveRaw((socket) => {
      const body = chunked(HELLO.slice(0, 50)) + chunked(HELLO.slice(50)) + '0\r\n\r\n'
      socket.write(`${HEAD}transfer-encoding: chunked\r\n\r\n`)
      for (let at = 0; at < body.length; at += 7) socket.write(body.slice(at, at + 7))
      socket.end()
    })
    const stream = ask(url, { fetch: make() })
    await stream.result
    expectStream(stream.report()).toEnd('completed').toSay('hello')
  })

  test.each([
    {
      name: 'chunked, FIN before the last chunk',
      head: 'transfer-encoding: chunked\r\n',
      body: chunked(WIRE.text('hel')),
    },
    { name: 'content-length, FIN too early', head: 'content-length: 9999\r\n', body: WIRE.text('hel') },
    { name: 'neither: the FIN is the end, and no good one', head: '', body: WIRE.text('hel') },
  ])('$name', async ({ head, body }) => {
    const url = await serveRaw((socket) => socket.end(`${HEAD}${head}\r\n${body}`))
    const stream = ask(url, { fetch: make() })
    await stream.result
    expectStream(stream.report()).toEnd('incomplete').toFailWith('incomplete_stream').toSay('hel')
  })

  test('a reset in the middle', async () => {
    const endpoint = await serve([{ body: [WIRE.text('hel'), { end: 'reset' }] }])
    const stream = ask(endpoint.url, { fetch: make() })
    await stream.result
    expectStream(stream.report()).toEnd('incomplete').toFailWith('incomplete_stream')
  })

  test('a reset after the terminal signal undoes nothing', async () => {
    const endpoint = await serve([{ body: [HELLO, { end: 'reset' }] }])
    const stream = ask(endpoint.url, { fetch: make() })
    await stream.result
    expectStream(stream.report()).toEnd('completed').toSay('hello')
  })

  test('half-open: nothing comes any more, and no FIN', async () => {
    const endpoint = await serve([{ body: [WIRE.text('hel'), { end: 'silence' }] }])
    const stream = ask(endpoint.url, { fetch: make(), timeouts: { idleMs: 50 } })
    await stream.result
    expectStream(stream.report()).toEnd('incomplete').toFailWith('idle_timeout').toSay('hel')
    await endpoint.untilConnections(0)
  })

  test('gzip, flushed event by event', async () => {
    const gzip = createGzip({ flush: constants.Z_SYNC_FLUSH })
    gzip.end(HELLO)
    const bytes: Buffer[] = []
    for await (const piece of gzip) bytes.push(piece as Buffer)
    const headers = { 'content-type': 'text/event-stream', 'content-encoding': 'gzip' }
    const endpoint = await serve([{ headers, body: bytes }])
    const stream = ask(endpoint.url, { fetch: make() })
    await stream.result
    expectStream(stream.report()).toEnd('completed').toSay('hello')
  })

  test.each([
    { name: 'cut', body: gzipSync(WIRE.text('hel')).subarray(0, 40) },
    { name: 'not gzip at all', body: WIRE.text('hel') },
  ])('gzip, $name', async ({ body }) => {
    const headers = { 'content-type': 'text/event-stream', 'content-encoding': 'gzip' }
    const endpoint = await serve([{ headers, body }])
    const stream = ask(endpoint.url, { fetch: make() })
    await stream.result
    expect(stream.report()).toMatchObject({ outcome: expect.stringMatching(/incomplete|failed/) as string })
    expect(stream.report().error?.code).toMatch(/incomplete_stream|empty_stream/)
  })

  test('one connection carries the next request, though [DONE] ends the reading', async () => {
    const endpoint = await serve(() => ({ body: HELLO }))
    const send = make()
    for (let n = 1; n <= 5; n++) {
      await ask(endpoint.url, { fetch: send }).result
      expect(await (await endpoint.request(n)).closed).toBe('ended')
    }
    // A request may start while the last bytes of the one before are still being read.
    expect(endpoint.connected).toBeLessThanOrEqual(2)
  })

  test('[DONE] ends it at once, though the socket stays open; then the socket goes', async () => {
    const endpoint = await serve([{ body: [HELLO, { end: 'silence' }] }])
    const stream = ask(endpoint.url, { fetch: make() })
    expect((await stream.result).outcome).toBe('completed')
    expect(await (await endpoint.request(1)).closed).toBe('gone')
    await endpoint.untilConnections(0)
  })

  test('50 loops that are left early leave no socket behind', async () => {
    const endpoint = await serve(() => ({ body: [WIRE.text('hel'), { end: 'silence' }] }))
    const send = make()
    for (let n = 0; n < 50; n++) {
      for await (const event of ask(endpoint.url, { fetch: send })) if (event.type === 'text_delta') break
    }
    await endpoint.untilConnections(0)
    expect(endpoint.requests).toHaveLength(50)
  })

  test('50 streams that are cancelled at once, with and without a byte so far', async () => {
    let go: (() => void) | undefined
    const never = new Promise<void>((resolve) => (go = resolve))
    const endpoint = await serve((_request, n) =>
      n % 2 === 0 ? { body: [{ until: never }] } : { body: [WIRE.text('hel'), { end: 'silence' }] },
    )
    const send = make()
    const abort = new AbortController()
    setMaxListeners(100, abort.signal)
    const streams = Array.from({ length: 50 }, () => ask(endpoint.url, { fetch: send, signal: abort.signal }))
    const results = streams.map((stream) => stream.result)
    const all = Promise.all(results)
    await endpoint.request(50)
    abort.abort()
    expect((await all).map(({ outcome }) => outcome)).toEqual(streams.map(() => 'cancelled'))
    await endpoint.untilConnections(0)
    go?.()
  })
})

test('streamfold/node: a server that nobody listens on, and one that does not answer', async () => {
  const { fetch: send } = ownFetch()
  const closed = await serve([])
  await closed.close()
  const refused = ask(closed.url, { fetch: send })
  await refused.result
  expectStream(refused.report()).toFailWith('connect_failed')
  const mute = await serveRaw(() => {})
  const waiting = ask(mute, { fetch: send, timeouts: { connectMs: 60_000, firstByteMs: 50 } })
  await waiting.result
  expectStream(waiting.report()).toFailWith('first_byte_timeout')
})

const hello = (): FakeAnswer => ({ body: HELLO })

describe('the time to connect', () => {
  test.each([{ guarded: false }, { guarded: true }])(
    'is known with streamfold/node, on a new connection and on one that was kept (guarded: $guarded)',
    async ({ guarded }) => {
      const endpoint = await serve(hello)
      const reports: StreamReport[] = []
      const { fetch: send } = ownFetch({ connections: 1 })
      for (let n = 1; n <= 2; n++) {
        if (guarded) {
          const watching = guardFetch(send, { onReport: (report) => reports.push(report) })
          const body = JSON.stringify({ model: 'm', stream: true })
          await (await watching(`${endpoint.url}/chat/completions`, { method: 'POST', body })).text()
        } else reports.push((await ask(endpoint.url, { fetch: send }).result).report)
      }
      expect(endpoint.connected).toBe(1)
      for (const { timing } of reports) {
        expect(timing.timeToConnectMs).toBeGreaterThanOrEqual(0)
        expect(timing.timeToConnectMs).toBeLessThanOrEqual(timing.timeToHeadersMs!)
      }
    },
  )

  test('is on the connect timer alone: an answer may take longer', async () => {
    let answer: (() => void) | undefined
    const asked = new Promise<void>((resolve) => (answer = resolve))
    const url = await serveRaw((socket) => {
      void asked.then(() => socket.end(`${HEAD}connection: close\r\n\r\n${HELLO}`))
    })
    // The connect timer has fired by the time that this one does.
    const stream = ask(url, { fetch: ownFetch().fetch, timeouts: { connectMs: 100, firstByteMs: 60_000 } })
    setTimeout(() => answer?.(), 300)
    await stream.result
    expectStream(stream.report()).toEnd('completed')
  })

  test('a queue for a connection is time to connect', async () => {
    let free: (() => void) | undefined
    const endpoint = await serve([
      { body: [WIRE.text('hel'), { until: new Promise<void>((resolve) => (free = resolve)) }, HELLO] },
    ])
    const { fetch: send } = ownFetch({ connections: 1 })
    const first = ask(endpoint.url, { fetch: send })
    // It begins when somebody waits for it.
    const reading = first.result.catch(() => {})
    await endpoint.request(1)
    const second = ask(endpoint.url, { fetch: send, timeouts: { connectMs: 50 } })
    await second.result
    expectStream(second.report()).toFailWith('connect_timeout')
    free?.()
    await reading
  })

  test('is not known with a fetch that does not see it', async () => {
    const endpoint = await serve(hello)
    expect((await ask(endpoint.url).result).report.timing.timeToConnectMs).toBeNull()
  })
})

test('200 MB through a slow reader: the server waits, and memory stays flat', async () => {
  // Padding that no snapshot keeps, as some servers send it.
  const filler = `data: ${JSON.stringify({ id: 'r', obfuscation: 'x'.repeat(65_000), choices: [{ index: 0, delta: { content: '.' } }] })}\n\n`
  const count = Math.ceil((200 * 1024 * 1024) / filler.length)
  let written = 0
  const body = function* (): Generator<string> {
    for (let i = 0; i < count; i++) {
      written++
      yield filler
    }
    yield WIRE.finish('stop') + WIRE.done
  }
  const endpoint = await serve([{ body: body() as unknown as readonly string[] }])
  const stream = ask(endpoint.url, { timeouts: { idleMs: 60_000 } })
  globalThis.gc?.()
  const before = process.memoryUsage()
  let seen = 0
  let ahead = 0
  let peak = 0
  for await (const event of stream) {
    if (event.type !== 'text_delta') continue
    seen++
    ahead = Math.max(ahead, written - seen)
    if (seen % 200 === 0) {
      // The reader is busy; whatever the network can bring in the meantime, it brings.
      await new Promise((resolve) => setTimeout(resolve, 5))
      globalThis.gc?.()
      const { heapUsed, external } = process.memoryUsage()
      peak = Math.max(peak, heapUsed + external - before.heapUsed - before.external)
    }
  }
  expect(stream.report()).toMatchObject({ outcome: 'completed', counts: { events: count + 2 } })
  console.log(
    `200 MB: at most ${((ahead * filler.length) / 2 ** 20).toFixed(1)} MiB ahead of the reader, heap +${(peak / 2 ** 20).toFixed(1)} MiB`,
  )
  // Buffers of two sockets and of the operating system.
  expect(ahead * filler.length).toBeLessThan(32 * 2 ** 20)
  expect(peak).toBeLessThan(48 * 2 ** 20)
})

/** Silent for 3 s in the middle: the timers of undici are as coarse as a second. */
const thinking = (): FakeAnswer => ({
  body: [
    WIRE.text('hel'),
    { until: new Promise((resolve) => setTimeout(resolve, 3000)) },
    WIRE.text('lo') + WIRE.finish('stop') + WIRE.done,
  ],
})

describe('a server that thinks for longer than the clock of undici runs (fault F121)', () => {
  test('with a limit as Node has one, only shorter, the answer is lost, and the message says why', async () => {
    const endpoint = await serve(thinking)
    const dispatcher = new Agent({ bodyTimeout: 1000 })
    const limited = ((input: string, init: object) => undici(input, { ...init, dispatcher })) as unknown as typeof fetch
    const stream = ask(endpoint.url, { fetch: limited })
    await stream.result
    expectStream(stream.report()).toEnd('incomplete').toSay('hel')
    expect(stream.report().error?.message).toContain('UND_ERR_BODY_TIMEOUT')
    expect(stream.report().error?.message).toContain('streamfold/node')
    await dispatcher.destroy()
  })

  test('with streamfold/node it comes whole', async () => {
    const endpoint = await serve(thinking)
    const stream = ask(endpoint.url, { fetch: ownFetch().fetch })
    await stream.result
    expectStream(stream.report()).toEnd('completed').toSay('hello')
  })
})
