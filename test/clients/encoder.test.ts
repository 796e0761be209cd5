import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import type { StreamChunk } from 'streamfold/chunk'
import { encodeEventStream, sendEventStream } from 'streamfold/server'
import type { EncodableApi } from 'streamfold/server'
import { afterEach, describe, expect, test } from 'vitest'
import { CLIENTS } from './clients.ts'

const open: (() => Promise<void>)[] = []
afterEach(async () => {
  await Promise.all(open.splice(0).map((close) => close()))
})

/** A server that writes these chunks, as our users write them. */
async function serve(chunks: readonly StreamChunk[], api: EncodableApi): Promise<string> {
  const server = createServer((_request, response) => {
    void sendEventStream(response, encodeEventStream(chunks, api))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  open.push(
    () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  )
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const START: StreamChunk = { type: 'start', id: 'r1', model: 'm1' }
const USAGE: StreamChunk = { type: 'usage', usage: { inputTokens: 11, outputTokens: 7, totalTokens: 18 } }
const TEXT: readonly StreamChunk[] = [
  START,
  { type: 'reasoning-delta', index: 0, text: 'hm' },
  { type: 'block-end', index: 0 },
  { type: 'text-delta', index: 1, text: 'Grüße, ' },
  { type: 'text-delta', index: 1, text: '世界 👩‍👩‍👧' },
  { type: 'block-end', index: 1 },
  USAGE,
  { type: 'finish', reason: 'stop', raw: 'stop' },
]
const CALLS: readonly StreamChunk[] = [
  START,
  { type: 'text-delta', index: 0, text: 'Looking.' },
  { type: 'tool-call-delta', index: 1, id: 'call_1', name: 'get_weather', argumentsDelta: '{"city":' },
  { type: 'tool-call-delta', index: 2, id: 'call_2', name: 'get_weather', argumentsDelta: '{"city"' },
  { type: 'tool-call-delta', index: 1, id: 'call_1', argumentsDelta: '"Oslo"}' },
  { type: 'tool-call-delta', index: 2, id: 'call_2', argumentsDelta: ':"Rome"}' },
  { type: 'block-end', index: 1 },
  { type: 'block-end', index: 2 },
  USAGE,
  { type: 'finish', reason: 'tool-calls' },
]

describe.each(CLIENTS)('$name reads what we write', ({ api, ask }) => {
  test('text', async () => {
    const { text, calls } = await ask(await serve(TEXT, api), fetch)
    expect({ text, calls }).toEqual({ text: 'Grüße, 世界 👩‍👩‍👧', calls: [] })
  })

  test('two calls at once, after text', async () => {
    const { text, calls } = await ask(await serve(CALLS, api), fetch)
    expect(text).toBe('Looking.')
    expect(calls).toEqual([
      { name: 'get_weather', arguments: { city: 'Oslo' } },
      { name: 'get_weather', arguments: { city: 'Rome' } },
    ])
  })

  test('an error after some text', async () => {
    const error = { code: 'idle_timeout', phase: 'framing', retryable: 'restart', message: 'went silent' } as const
    const url = await serve([...TEXT.slice(0, 4), { type: 'error', error }], api)
    await expect(ask(url, fetch)).rejects.toThrow(/went silent/)
  })

  test('an error before anything else', async () => {
    const error = {
      code: 'rate_limited',
      phase: 'headers',
      status: 429,
      retryable: 'yes',
      message: 'slow down',
    } as const
    await expect(ask(await serve([{ type: 'error', error }], api), fetch)).rejects.toThrow(/slow down/)
  })

  test('a source that ends without a finish is an error too', async () => {
    await expect(ask(await serve(TEXT.slice(0, 4), api), fetch)).rejects.toThrow(/without a finish/)
  })
})

test('openai reads n choices and the usage', async () => {
  const second = TEXT.slice(1, -2).map((chunk) => ({ ...chunk, choice: 1 }) as StreamChunk)
  const chunks = [
    ...TEXT.slice(0, -1),
    ...second,
    TEXT.at(-1)!,
    { type: 'finish', choice: 1, reason: 'length' } as const,
  ]
  const client = new OpenAI({ apiKey: 'k', baseURL: await serve(chunks, 'chat_completions'), maxRetries: 0 })
  const stream = await client.chat.completions.create({ model: 'm', messages: [], n: 2, stream: true })
  const texts = ['', '']
  const finishes: string[] = []
  let usage: unknown
  for await (const { choices, usage: counters } of stream) {
    for (const { index, delta, finish_reason: finish } of choices) {
      texts[index] += delta.content ?? ''
      if (finish !== null) finishes[index] = finish
    }
    usage = counters ?? usage
  }
  expect(texts).toEqual(['Grüße, 世界 👩‍👩‍👧', 'Grüße, 世界 👩‍👩‍👧'])
  expect(finishes).toEqual(['stop', 'length'])
  expect(usage).toEqual({ prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 })
})

test('anthropic and openai read the usage of the other two', async () => {
  const anthropic = new Anthropic({ apiKey: 'k', baseURL: await serve(TEXT, 'anthropic_messages'), maxRetries: 0 })
  const message = await anthropic.messages.stream({ model: 'm', max_tokens: 9, messages: [] }).finalMessage()
  expect(message.usage).toMatchObject({ input_tokens: 11, output_tokens: 7 })
  const openai = new OpenAI({ apiKey: 'k', baseURL: await serve(TEXT, 'responses'), maxRetries: 0 })
  const response = await openai.responses.stream({ model: 'm', input: '' }).finalResponse()
  expect(response.usage).toMatchObject({ input_tokens: 11, output_tokens: 7, total_tokens: 18 })
})
