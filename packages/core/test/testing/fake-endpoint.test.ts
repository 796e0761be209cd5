import { afterEach, describe, expect, test } from 'vitest'
import { streamModel } from '../../src/client/model-stream.ts'
import type { ModelStream, StreamModelOptions } from '../../src/client/model-stream.ts'
import { expectStream, startFakeEndpoint } from '../../src/testing/index.ts'
import type { FakeAnswer, FakeEndpoint } from '../../src/testing/index.ts'
import { HELLO, WIRE } from '../client/fake-fetch.ts'

const open: FakeEndpoint[] = []
afterEach(async () => {
  await Promise.all(open.splice(0).map((endpoint) => endpoint.close()))
})

async function serve(...answers: readonly FakeAnswer[]): Promise<FakeEndpoint> {
  const endpoint = await startFakeEndpoint(answers)
  open.push(endpoint)
  return endpoint
}

function ask({ url }: FakeEndpoint, options: Partial<StreamModelOptions> = {}): ModelStream {
  return streamModel({
    api: 'chat_completions',
    baseURL: `${url}/v1`,
    apiKey: 'k',
    body: { model: 'm' },
    throwOnError: false,
    retry: false,
    ...options,
  })
}

test('answers as it was told, and keeps what it was asked', async () => {
  const endpoint = await serve({ body: HELLO })
  const stream = ask(endpoint)
  await stream.result
  expectStream(stream.report()).toEnd('completed').toSay('hello')
  expect(endpoint.requests).toMatchObject([
    {
      method: 'POST',
      path: '/v1/chat/completions',
      headers: { authorization: 'Bearer k' },
      body: { model: 'm', stream: true },
    },
  ])
  expect(await endpoint.requests[0]!.closed).toBe('ended')
})

test('answers one after the other; one request too many is told so', async () => {
  const endpoint = await serve({ status: 503, body: 'busy' }, { body: HELLO })
  const stream = ask(endpoint, { retry: { baseDelayMs: 1 } })
  await stream.result
  expectStream(stream.report()).toTakeAttempts(2).toEnd('completed')
  const tooMany = ask(endpoint)
  await tooMany.result
  expect(tooMany.report().error).toMatchObject({
    status: 500,
    provider: { message: expect.stringContaining('request 3 was not expected') as string },
  })
})

test('answers by a function of the request', async () => {
  const endpoint = await startFakeEndpoint((request, n) => ({ body: `${n} ${request.path}`, headers: {} }))
  open.push(endpoint)
  expect(await (await fetch(`${endpoint.url}/a`)).text()).toBe('1 /a')
  expect(await (await fetch(`${endpoint.url}/b`, { method: 'POST', body: 'plain' })).text()).toBe('2 /b')
  expect(endpoint.requests[1]!.body).toBe('plain')
})

describe('breaks as it was told', () => {
  // Once the text is here: of a connection that was reset, `fetch` of Bun drops what has not been read yet.
  test.each(['reset', 'cut'] as const)('%s', async (end) => {
    let go: (() => void) | undefined
    const until = new Promise<void>((resolve) => (go = resolve))
    const endpoint = await serve({ body: [WIRE.text('hel'), { until }, { end }] })
    const stream = ask(endpoint)
    for await (const { type } of stream) if (type === 'text_delta') go?.()
    expectStream(stream.report()).toEnd('incomplete').toFailWith('incomplete_stream').toSay('hel')
  })

  test('waits for the test', async () => {
    let go: (() => void) | undefined
    const until = new Promise<void>((resolve) => (go = resolve))
    const endpoint = await serve({ body: [WIRE.text('hel'), { until }, WIRE.finish('stop') + WIRE.done] })
    const types: string[] = []
    for await (const event of ask(endpoint)) {
      types.push(event.type)
      if (event.type === 'text_delta') go?.()
    }
    expect(types).toEqual(['stream_started', 'text_delta', 'stream_completed'])
  })

  test('stays silent until the client goes; it sees that, and counts connections', async () => {
    const endpoint = await serve({ body: [WIRE.text('hel'), { end: 'silence' }] })
    for await (const event of ask(endpoint)) {
      if (event.type !== 'text_delta') continue
      expect(endpoint.connections).toBe(1)
      break
    }
    expect(await (await endpoint.request(1)).closed).toBe('gone')
    await endpoint.untilConnections(0)
  })
})
