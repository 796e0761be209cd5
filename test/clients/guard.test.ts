import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { guardFetch, StreamError } from 'streamfold'
import type { StreamReport } from 'streamfold/engine'
import type { EncodableApi } from 'streamfold/server'
import { startFakeEndpoint } from 'streamfold/testing'
import type { FakeAnswer, FakeEndpoint } from 'streamfold/testing'
import { afterEach, describe, expect, test } from 'vitest'
import { CLIENTS } from './clients.ts'
import type { Answer, Client } from './clients.ts'
import { BROKEN, GOOD, SILENT } from './wires.ts'

const open: FakeEndpoint[] = []
afterEach(async () => {
  await Promise.all(open.splice(0).map((endpoint) => endpoint.close()))
})

async function serve(answer: FakeAnswer): Promise<FakeEndpoint> {
  const endpoint = await startFakeEndpoint(() => answer)
  open.push(endpoint)
  return endpoint
}

/** What somebody who uses the client sees: an answer, or an error. */
async function outcomeOf(client: Client, answer: FakeAnswer, send: typeof fetch): Promise<Answer | Error> {
  const { url } = await serve(answer)
  // The AI SDK also throws what is no Error.
  return client.ask(url, send).catch((error: unknown) => (error instanceof Error ? error : new Error(String(error))))
}

/** The StreamError that a client was thrown, however it wraps it. */
function causeOf(error: unknown): StreamError | undefined {
  for (let inner = error; inner instanceof Error; inner = inner.cause) if (StreamError.is(inner)) return inner
  return undefined
}

describe.each(CLIENTS)('$name', (client) => {
  const { api } = client

  test.each(['observe', 'guard', 'normalise'] as const)('a good stream is read as without us: %s', async (mode) => {
    const alone = await outcomeOf(client, GOOD(api), fetch)
    expect(alone).toMatchObject({ text: 'Hello', calls: [] })
    const reports: StreamReport[] = []
    const send = guardFetch(fetch, { mode, onReport: (report) => reports.push(report) })
    expect(await outcomeOf(client, GOOD(api), send)).toEqual(alone)
    expect(reports).toMatchObject([{ api, outcome: 'completed', choices: [{ text: 'Hello' }] }])
  })

  test.each(BROKEN)('a stream that $name is never an answer', async ({ answer }) => {
    for (const mode of ['guard', 'normalise'] as const) {
      const got = await outcomeOf(client, answer(api), guardFetch(fetch, { mode }))
      expect(got).toBeInstanceOf(Error)
      expect(causeOf(got)).toBeDefined()
    }
  })

  test('a stream that goes silent is given up, and its socket let go', async () => {
    const endpoint = await serve(SILENT(api))
    const send = guardFetch(fetch, { timeouts: { idleMs: 20 } })
    const error: unknown = await client.ask(endpoint.url, send).catch((thrown: unknown) => thrown)
    expect(causeOf(error)).toMatchObject({ code: 'idle_timeout' })
    expect(await (await endpoint.request(1)).closed).toBe('gone')
    await endpoint.untilConnections(0)
  })
})

/**
 * What the clients make of these streams by themselves: the reason for all this. A row that changes with a new version of a client is
 * worth knowing; the test above does not depend on it.
 */
describe('alone, a client takes these for answers', () => {
  test('unless somebody looks', async () => {
    const taken: Record<string, readonly string[]> = {}
    for (const client of CLIENTS) {
      const names: string[] = []
      for (const { name, answer } of BROKEN) {
        if (!((await outcomeOf(client, answer(client.api), fetch)) instanceof Error)) names.push(name)
      }
      taken[client.name] = names
    }
    expect(taken).toMatchInlineSnapshot(`
      {
        "@anthropic-ai/sdk, messages.create": [
          "ends before the end",
          "is cut in an event",
          "is empty",
          "holds comments alone",
          "holds an error in the words of another API, and [DONE]",
          "is a page",
          "is plain text in events",
        ],
        "@anthropic-ai/sdk, messages.stream": [],
        "@langchain/openai, stream": [
          "ends before the end",
          "is cut in an event",
          "is empty",
          "holds comments alone",
          "holds an error in the words of another API, and [DONE]",
          "is a page",
        ],
        "ai, openai responses": [
          "ends before the end",
          "is cut in an event",
          "is empty",
          "holds comments alone",
          "is a page",
        ],
        "ai, openai-compatible": [],
        "openai, chat.completions.create": [
          "ends before the end",
          "is cut in an event",
          "is empty",
          "holds comments alone",
          "is a page",
        ],
        "openai, chat.completions.stream": [],
        "openai, responses.create": [
          "ends before the end",
          "is cut in an event",
          "is empty",
          "holds comments alone",
          "holds an error",
          "holds an error in the words of another API, and [DONE]",
          "is a page",
        ],
        "openai, responses.stream": [
          "ends before the end",
          "is cut in an event",
        ],
      }
    `)
  }, 60_000)
})

describe('a client that aborts its own stream', () => {
  const readers: readonly {
    name: string
    api: EncodableApi
    read: (url: string, send: typeof fetch) => Promise<number>
  }[] = [
    {
      name: 'openai',
      api: 'chat_completions',
      async read(url, send) {
        const client = new OpenAI({ apiKey: 'k', baseURL: `${url}/v1`, fetch: send, maxRetries: 0 })
        const messages = [{ role: 'user', content: 'hello' }] as const
        const stream = await client.chat.completions.create({ model: 'm', messages: [...messages], stream: true })
        let events = 0
        for await (const _ of stream) {
          events++
          stream.controller.abort()
        }
        return events
      },
    },
    {
      name: 'anthropic',
      api: 'anthropic_messages',
      async read(url, send) {
        const client = new Anthropic({ apiKey: 'k', baseURL: url, fetch: send, maxRetries: 0 })
        const messages = [{ role: 'user', content: 'hello' }] as const
        const stream = await client.messages.create({
          model: 'm',
          max_tokens: 9,
          messages: [...messages],
          stream: true,
        })
        let events = 0
        for await (const _ of stream) {
          events++
          stream.controller.abort()
        }
        return events
      },
    },
  ]

  test.each(readers)('$name: its loop ends as without us, and the socket goes', async ({ api, read }) => {
    const alone = await serve(SILENT(api))
    expect(await read(alone.url, fetch)).toBeGreaterThan(0)
    for (const mode of ['observe', 'guard', 'normalise'] as const) {
      const endpoint = await serve(SILENT(api))
      const reports: StreamReport[] = []
      const send = guardFetch(fetch, { mode, onReport: (report) => reports.push(report) })
      expect(await read(endpoint.url, send)).toBeGreaterThan(0)
      expect(await (await endpoint.request(1)).closed).toBe('gone')
      expect(reports).toMatchObject([{ outcome: 'cancelled' }])
    }
  })
})
