import { execFile, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { getRequestListener } from '@hono/node-server'
import OpenAI from 'openai'
import { startFakeEndpoint } from 'streamfold/testing'
import type { FakeAnswer, FakeEndpoint } from 'streamfold/testing'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { GOOD, SILENT } from './wires.ts'

const open: (() => Promise<unknown>)[] = []
afterEach(async () => {
  vi.unstubAllEnvs()
  vi.restoreAllMocks()
  for (const close of open.splice(0).toReversed()) await close()
})

const CUT: FakeAnswer = { body: 'data: {"id":"r","model":"m","choices":[{"index":0,"delta":{"content":"Hel"}}]}\n\n' }

async function upstream(answer: FakeAnswer): Promise<FakeEndpoint> {
  const endpoint = await startFakeEndpoint(() => answer)
  open.push(() => endpoint.close())
  vi.stubEnv('UPSTREAM_URL', `${endpoint.url}/v1`)
  vi.stubEnv('UPSTREAM_API_KEY', 'k')
  // What the examples write for whoever runs them.
  vi.spyOn(console, 'error').mockImplementation(() => {})
  return endpoint
}

async function listen(listener: (...args: Parameters<RequestListener>) => unknown): Promise<string> {
  const server = createServer((request, response) => void listener(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  open.push(
    () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve(undefined))
      }),
  )
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** As plain as their users write them: without types. */
const load = async <Module>(path: string): Promise<Module> =>
  (await import(fileURLToPath(new URL(`../../examples/${path}`, import.meta.url)))) as Module

const SERVERS: readonly { readonly name: string; readonly start: () => Promise<string> }[] = [
  {
    name: 'next-route.js',
    async start() {
      const { POST } = await load<{ POST: (request: Request) => Promise<Response> }>('next-route.js')
      return listen(getRequestListener(POST))
    },
  },
  {
    name: 'hono-server.js',
    async start() {
      const { app } = await load<{ app: { fetch: (request: Request) => Promise<Response> } }>('hono-server.js')
      return listen(getRequestListener(app.fetch))
    },
  },
  {
    name: 'express-server.js',
    async start() {
      const { app } = await load<{ app: RequestListener }>('express-server.js')
      return listen(app)
    },
  },
]

async function drain(items: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of items);
}

const ask = (url: string): OpenAI => new OpenAI({ apiKey: 'k', baseURL: `${url}/v1`, maxRetries: 0 })

describe.each(SERVERS)('$name', ({ start }) => {
  const body = { model: 'm', messages: [], stream: true as const }

  test('a good answer, read by the official client', async () => {
    const { requests } = await upstream(GOOD('chat_completions'))
    let text = ''
    for await (const { choices } of await ask(await start()).chat.completions.create(body)) {
      text += choices[0]?.delta.content ?? ''
    }
    expect(text).toBe('Hello')
    expect(requests).toMatchObject([{ path: '/v1/chat/completions', headers: { authorization: 'Bearer k' }, body }])
  })

  test('an upstream that breaks off is an error at the client too', async () => {
    await upstream(CUT)
    const stream = await ask(await start()).chat.completions.create(body)
    await expect(drain(stream)).rejects.toThrow(/without a finish reason/)
  })

  test('a client that hangs up ends the request to the upstream', async () => {
    const endpoint = await upstream(SILENT('chat_completions'))
    const stream = await ask(await start()).chat.completions.create(body)
    for await (const { choices } of stream) if (choices[0]?.delta.content === 'lo') break
    expect(await (await endpoint.request(1)).closed).toBe('gone')
  })
})

test('openai-guard.js', async () => {
  type Answer = (question: string, options: object) => Promise<void>
  const { answer } = await load<{ answer: Answer }>('openai-guard.js')
  let text = ''
  const write = (piece: string): void => void (text += piece)
  const good = await upstream(GOOD('chat_completions'))
  await answer('?', { apiKey: 'k', baseURL: `${good.url}/v1`, write })
  expect(text).toBe('Hello')
  const cut = await upstream(CUT)
  await expect(answer('?', { apiKey: 'k', baseURL: `${cut.url}/v1`, write })).rejects.toMatchObject({
    code: 'incomplete_stream',
  })
})

describe('ai-sdk-route.js', () => {
  const messages = [{ id: '1', role: 'user', parts: [{ type: 'text', text: '?' }] }]

  async function post(answer: FakeAnswer): Promise<string> {
    await upstream(answer)
    vi.resetModules()
    const { POST } = await load<{ POST: (request: Request) => Promise<Response> }>('ai-sdk-route.js')
    const request = new Request('http://localhost/', { method: 'POST', body: JSON.stringify({ messages }) })
    return (await POST(request)).text()
  }

  test('a good answer', async () => {
    expect(await post(GOOD('chat_completions'))).toMatch(/"delta":"Hel"[\s\S]*"type":"finish"/)
  })

  test('one that breaks off', async () => {
    expect(await post(CUT)).toMatch(/"delta":"Hel"[\s\S]*"type":"error","errorText":"[^"]*without a finish reason/)
  })
})

const CHROMIUM = process.env['CHROMIUM'] ?? '/usr/bin/chromium'

test.skipIf(spawnSync(CHROMIUM, ['--version']).status !== 0)('typewriter/, in a real browser', async () => {
  await upstream(GOOD('chat_completions'))
  const { app } = await load<{ app: RequestListener }>('express-server.js')
  // The page reads the library as it is built, and the tests the sources.
  const library = new URL('../../packages/core/dist/', import.meta.url)
  const url = await listen((request, response) => {
    const module = /^\/streamfold\/([\w/-]+\.js)$/.exec(request.url ?? '')?.[1]
    if (module === undefined) app(request, response)
    else response.writeHead(200, { 'content-type': 'text/javascript' }).end(readFileSync(new URL(module, library)))
  })
  const flags = ['--headless', '--no-sandbox', '--disable-gpu', '--virtual-time-budget=10000', '--dump-dom']
  const { stdout } = await promisify(execFile)(CHROMIUM, [...flags, `${url}/?ask=hello`])
  expect(stdout).toMatch(/<p id="answer"[^>]*>Hello<\/p>\s*<p id="status">completed<\/p>/)
})

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>
}
const manifestOf = (path: string): Manifest =>
  JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8')) as Manifest

test('the examples ask for the versions that are tested here', () => {
  const { streamfold, ...others } = manifestOf('../../examples/package.json').dependencies
  expect(manifestOf('package.json').dependencies).toMatchObject(others)
  // Not published yet: it is the one in the clone.
  expect(streamfold).toBe('file:../packages/core')
})
