import { describe, expect, test, vi } from 'vitest'
import type { StreamAdapter } from '../../../src/adapters/adapter.ts'
import { chatCompletions } from '../../../src/adapters/openai-chat/adapter.ts'
import type { StreamEvent } from '../../../src/chunk/stream-event.ts'
import { streamModel, streamModelWith } from '../../../src/client/model-stream.ts'
import { eventStream, fakeFetch, HELLO, openBody, WIRE } from '../fake-fetch.ts'
import { collect, open, types } from './open-stream.ts'

describe('a good answer', () => {
  test('as events', async () => {
    const stream = open([eventStream(HELLO)])
    const { items, error } = await collect(stream)
    expect(error).toBeUndefined()
    expect(types(items)).toEqual(['stream_started', 'text_delta', 'text_delta', 'stream_completed'])
    expect(stream.report()).toMatchObject({
      outcome: 'completed',
      source: { kind: 'live', url: 'https://api.openai.com/v1/chat/completions' },
      attempts: [{ attempt: 1, outcome: 'completed', code: null, retryReason: null }],
    })
  })

  test('as text', async () => {
    expect(await collect(open([eventStream(HELLO)]).text())).toEqual({ items: ['hel', 'lo'], error: undefined })
  })

  test('as text of another choice', async () => {
    const second = 'data: {"choices":[{"index":1,"delta":{"content":"two"}}]}\n\n'
    const stream = open([eventStream(second + HELLO)])
    expect((await collect(stream.text(1))).items).toEqual(['two'])
  })

  test('as batches: what one read gave', async () => {
    const { items } = await collect(open([eventStream(HELLO)]).batches())
    expect(items.map(types)).toEqual([['stream_started', 'text_delta', 'text_delta', 'stream_completed']])
  })

  test('as chunks, ended by why it finished', async () => {
    const { items } = await collect(open([eventStream(HELLO)]).chunks())
    expect(items.map(({ type }) => type)).toEqual(['start', 'text-delta', 'text-delta', 'block-end', 'finish'])
  })

  test('as a result, when nobody reads', async () => {
    const body = WIRE.call('c1', 'f', '{"a":1}') + WIRE.finish('tool_calls') + WIRE.done
    expect(await open([eventStream(body)]).result).toMatchObject({
      outcome: 'completed',
      text: '',
      toolCalls: [{ callId: 'c1', name: 'f', parsedArguments: { a: 1 } }],
      finish: [{ choice: 0, reason: 'tool-calls', raw: 'tool_calls' }],
      error: undefined,
    })
  })

  test('as a result beside a loop, asked for before or after it', async () => {
    const stream = open([eventStream(HELLO)])
    const loop = collect(stream)
    const [{ text }] = await Promise.all([stream.result, loop])
    expect(text).toBe('hello')
    expect((await stream.result).outcome).toBe('completed')
  })

  test('whole, as JSON, is the same events', async () => {
    const message = { role: 'assistant', content: 'hello' }
    const json = { id: 'r', model: 'm', choices: [{ index: 0, message, finish_reason: 'stop' }] }
    const stream = open([Response.json(json)])
    expect(types((await collect(stream)).items)).toEqual(['stream_started', 'text_delta', 'stream_completed'])
    expect(stream.report().diagnostics.map(({ code }) => code)).toContain('downgraded_to_json')
  })

  test('snapshot and report can be looked at before, between and after', async () => {
    const stream = open([eventStream(HELLO)])
    expect(stream.report()).toMatchObject({ outcome: null, choices: [] })
    const between: unknown[] = []
    for await (const event of stream) if (event.type === 'text_delta') between.push(stream.snapshot().choices[0])
    expect(between).toMatchObject([{ blocks: [{ type: 'text' }] }, { blocks: [{ type: 'text' }] }])
    expect(stream.snapshot()).toMatchObject({ ended: true, choices: [{ blocks: [{ text: 'hello' }] }] })
  })

  test('begins with the first event where no further attempt could follow', async () => {
    const body = openBody()
    body.write(WIRE.role)
    const events = open([() => Promise.resolve(body.response)])[Symbol.asyncIterator]()
    expect((await events.next()).value).toMatchObject({ type: 'stream_started', attempt: 1 })
    await events.return?.()
  })

  test('ends at [DONE] though the body stays open', async () => {
    const body = openBody()
    body.write(HELLO)
    expect((await open([() => Promise.resolve(body.response)]).result).outcome).toBe('completed')
    await vi.waitFor(() => expect(body.cancelled).toBe(true))
  })
})

describe('what is sent', () => {
  test('nothing until it is read', async () => {
    const { fetch, sent } = fakeFetch(eventStream(HELLO))
    const stream = streamModel({ api: 'chat_completions', body: {}, fetch })
    expect(sent).toEqual([])
    await stream.result
    expect(sent).toHaveLength(1)
  })

  test('a redirect is not followed: it would carry the key along', async () => {
    let redirect: string | undefined
    const stream = open([], {
      fetch: async (_input, init) => {
        redirect = init?.redirect
        return new Response(null, { status: 307, headers: { location: 'https://elsewhere.example/' } })
      },
    })
    await expect(stream.result).rejects.toMatchObject({ code: 'http_error', status: 307, retryable: 'no' })
    expect(redirect).toBe('manual')
  })

  test('the request arms the checks of the answer', async () => {
    const tools = [{ type: 'function', function: { name: 'f' } }]
    const body = WIRE.call('c1', 'g', '{}') + WIRE.finish('tool_calls') + WIRE.done
    const stream = open([eventStream(body)], { body: { tools } })
    expect((await stream.result).report.choices[0]?.toolCalls).toMatchObject([{ name: 'g', code: 'unknown_tool' }])
  })

  test('keys in the address stay out of the report', async () => {
    const stream = open([eventStream(HELLO)], { baseURL: 'https://me:secret@host.example/v1?key=secret' })
    await stream.result
    expect(stream.report().source.url).toBe('https://host.example/v1/chat/completions')
  })
})

describe('over one adapter', () => {
  const request = { body: { model: 'm', messages: [] }, retry: false } as const

  test('the address and the wire format are those of the adapter', async () => {
    const { fetch, sent } = fakeFetch(eventStream(HELLO))
    const { text, report } = await streamModelWith(chatCompletions(), { ...request, fetch }).result
    expect(sent[0]?.url).toBe('https://api.openai.com/v1/chat/completions')
    expect({ text, api: report.api, outcome: report.outcome }).toEqual({
      text: 'hello',
      api: 'chat_completions',
      outcome: 'completed',
    })
  })

  test('one of your own is read by itself, and sent to where it says', async () => {
    const { fetch, sent } = fakeFetch(eventStream(HELLO))
    const own: StreamAdapter = { ...chatCompletions(), api: 'mine' }
    const options = { ...request, api: 'ollama', baseURL: 'http://h', fetch } as const
    const { text, report } = await streamModelWith(own, options).result
    expect(sent[0]?.url).toBe('http://h/api/chat')
    expect({ text, api: report.api }).toEqual({ text: 'hello', api: 'mine' })
    expect(() => streamModelWith(own, request)).toThrow(/name the "api" they are sent to/)
  })
})

describe('one reader', () => {
  test('a second one is told so', async () => {
    const stream = open([eventStream(HELLO)])
    const first = stream.text()
    expect(() => stream[Symbol.asyncIterator]()).toThrow(/already being read/)
    expect((await collect(first)).items).toEqual(['hel', 'lo'])
  })

  test('calls of next need not wait for each other', async () => {
    const events = open([eventStream(HELLO)])[Symbol.asyncIterator]()
    const all = await Promise.all(Array.from({ length: 6 }, () => events.next()))
    expect(all.map(({ value }) => (value as StreamEvent | undefined)?.type)).toEqual([
      'stream_started',
      'text_delta',
      'text_delta',
      'stream_completed',
      undefined,
      undefined,
    ])
  })
})
