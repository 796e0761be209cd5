import { createServer } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { connect } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import type { StreamChunk } from '../../src/chunk/chunk.ts'
import { encodeEventStream, sendEventStream } from '../../src/server/index.ts'

const open: (() => Promise<void>)[] = []
afterEach(async () => {
  await Promise.all(open.splice(0).map((close) => close()))
})

interface Served {
  readonly port: number
  readonly outcome: Promise<'sent' | 'gone'>
}

async function serve(chunks: () => AsyncIterable<StreamChunk> | Iterable<StreamChunk>): Promise<Served> {
  let settle: (outcome: Promise<'sent' | 'gone'>) => void
  const outcome = new Promise<'sent' | 'gone'>((resolve) => (settle = resolve))
  const server = createServer((_request, response) => {
    settle(sendEventStream(response, encodeEventStream(chunks(), 'chat_completions'), { headers: { 'x-id': '1' } }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  open.push(
    () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  )
  return { port: (server.address() as AddressInfo).port, outcome }
}

async function dial(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  await new Promise((resolve) => socket.once('connect', resolve))
  socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n')
  return socket
}

const START: StreamChunk = { type: 'start', id: 'r', model: 'm' }

test('sends the head with its headers, the events and the end', async () => {
  const { port, outcome } = await serve(() => [
    START,
    { type: 'text-delta', index: 0, text: 'hi' },
    { type: 'finish', reason: 'stop' },
  ])
  const response = await fetch(`http://127.0.0.1:${port}/`)
  expect(response.headers.get('x-accel-buffering')).toBe('no')
  expect(response.headers.get('x-id')).toBe('1')
  expect(await response.text()).toMatch(/"content":"hi"[\s\S]*\[DONE\]\n\n$/)
  expect(await outcome).toBe('sent')
})

// The `node:http` of Bun takes everything that is written and never says that it is too much; servers there answer with a Response.
test.skipIf('Bun' in globalThis)(
  'a client that does not read stops the producer, and one that hangs up ends it',
  async () => {
    const state = { made: 0, left: false }
    const produce = function* (): Generator<StreamChunk> {
      try {
        yield START
        for (;;) {
          state.made++
          yield { type: 'text-delta', index: 0, text: 'x'.repeat(65_536) }
        }
      } finally {
        state.left = true
      }
    }
    const { port, outcome } = await serve(produce)
    const socket = await dial(port)
    socket.pause()
    // It stands still when every buffer between the two is full: two looks that far apart see the same.
    let before = -1
    while (state.made !== before) {
      before = state.made
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    // The buffers of the operating system are some megabytes.
    expect(state.made * 65_536).toBeLessThan(32 * 1024 * 1024)
    expect(state.left).toBe(false)
    socket.destroy()
    expect(await outcome).toBe('gone')
    expect(state.left).toBe(true)
  },
)

test('a client that has gone before is given nothing', async () => {
  let asked = false
  const produce = function* (): Generator<StreamChunk> {
    asked = true
    yield START
  }
  let gone: (() => void) | undefined
  const hungUp = new Promise<void>((resolve) => (gone = resolve))
  let settle: ((outcome: string) => void) | undefined
  const outcome = new Promise<string>((resolve) => (settle = resolve))
  const server = createServer((_request, response) => {
    response.once('close', () => {
      gone?.()
      void sendEventStream(response, encodeEventStream(produce(), 'chat_completions')).then(settle)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  open.push(() => new Promise((resolve) => server.close(() => resolve())))
  const socket = await dial((server.address() as AddressInfo).port)
  socket.destroy()
  await hungUp
  expect(await outcome).toBe('gone')
  expect(asked).toBe(false)
})

const RESPONSE = { writeHead: (): never => expect.unreachable('nothing is sent') }

test.each([
  ['chunks instead of their stream', RESPONSE, [START], 'what encodeEventStream(chunks, api) gives'],
  ['no stream', RESPONSE, undefined, 'what encodeEventStream(chunks, api) gives'],
  ['the stream first', encodeEventStream([], 'chat_completions'), RESPONSE, 'the response of a node:http server'],
  ['no response', null, encodeEventStream([], 'chat_completions'), 'the response of a node:http server'],
])('%s is a TypeError', async (_, response, stream, says) => {
  const send = sendEventStream as unknown as (...args: readonly unknown[]) => Promise<string>
  await expect(send(response, stream)).rejects.toThrow(TypeError)
  await expect(send(response, stream)).rejects.toThrow(says)
})
