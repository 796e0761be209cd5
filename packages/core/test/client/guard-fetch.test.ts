import { describe, expect, test, vi } from 'vitest'
import type { StreamAdapter } from '../../src/adapters/adapter.ts'
import { chatCompletions } from '../../src/adapters/openai-chat/adapter.ts'
import { StreamError } from '../../src/chunk/stream-error.ts'
import { guardFetch, guardFetchWith } from '../../src/client/guard-fetch.ts'
import type { GuardOptions, GuardWithOptions } from '../../src/client/guard-fetch.ts'
import type { StreamReport } from '../../src/engine/report.ts'
import { eventStream, fakeFetch, HELLO, openBody, WIRE } from './fake-fetch.ts'
import type { Answer } from './fake-fetch.ts'

const URL = 'https://host.example/v1/chat/completions'
const ASK: RequestInit = { method: 'POST', body: '{"model":"m","stream":true}' }

interface Guarded {
  readonly response: Response
  /** What the client reads, and what it is thrown. */
  readonly read: Promise<{ text: string; error: unknown }>
  readonly reports: readonly StreamReport[]
}

async function ask(answer: Answer, options: GuardOptions = {}, init: RequestInit = ASK): Promise<Guarded> {
  const reports: StreamReport[] = []
  const send = guardFetch(fakeFetch(answer).fetch, { onReport: (report) => reports.push(report), ...options })
  const response = await send(URL, init)
  return { response, read: readAll(response), reports }
}

async function readAll(response: Response): Promise<{ text: string; error: unknown }> {
  const decoder = new TextDecoder()
  let text = ''
  try {
    for (const reader = response.body!.getReader(); ;) {
      const { done, value } = await reader.read()
      if (done) return { text, error: undefined }
      text += decoder.decode(value, { stream: true })
    }
  } catch (error) {
    return { text, error }
  }
}

const event = (payload: object): string => `data: ${JSON.stringify(payload)}\n\n`

function deaf(signal: AbortSignal): Promise<Response> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(new DOMException('x', 'AbortError')))
  })
}

describe('guard', () => {
  test('a good stream passes byte by byte', async () => {
    const { read, reports } = await ask(eventStream(`: hello\r\n\r\n${HELLO}`))
    expect(await read).toEqual({ text: `: hello\r\n\r\n${HELLO}`, error: undefined })
    expect(reports).toMatchObject([{ outcome: 'completed', source: { url: URL } }])
  })

  test.each([
    { name: 'cut after some text', body: WIRE.text('Hel'), passes: WIRE.text('Hel'), code: 'incomplete_stream' },
    { name: 'empty', body: '', passes: '', code: 'empty_stream' },
    {
      name: 'a page, in which the client finds no event',
      body: '<!doctype html><title>Log in</title>',
      passes: '<!doctype html><title>Log in</title>',
      code: 'not_event_stream',
    },
    {
      name: 'an error in the middle, and [DONE] behind it',
      body: `${WIRE.text('Hel')}data: {"error":{"message":"no","type":"server_error"}}\n\n${WIRE.done}`,
      passes: WIRE.text('Hel'),
      code: 'upstream_error',
    },
    {
      name: 'the provider gave up',
      body: WIRE.text('Hel') + WIRE.finish('error') + WIRE.done,
      passes: expect.stringContaining('Hel') as string,
      code: 'upstream_error',
    },
    {
      name: 'a call in conflict with itself',
      body: WIRE.call('c1', 'f', '{"a":') + WIRE.call('c2', '', '1}') + WIRE.finish('tool_calls') + WIRE.done,
      passes: expect.not.stringContaining('[DONE]') as string,
      code: 'protocol_conflict',
    },
  ])('$name: what is good passes, then it is raised', async ({ body, passes, code }) => {
    const { read, reports } = await ask(eventStream(body))
    const { text, error } = await read
    expect(StreamError.is(error)).toBe(true)
    expect(error).toMatchObject({ code })
    expect(text).toEqual(passes)
    expect(reports).toMatchObject([{ error: { code } }])
  })

  test('in pieces: what the client has got stays with it', async () => {
    const body = openBody()
    const { read } = await ask(() => Promise.resolve(body.response))
    body.write(WIRE.text('a'))
    await vi.waitFor(() => expect(body.taken).toBe(true))
    body.fail(new TypeError('terminated'))
    expect(await read).toMatchObject({ text: WIRE.text('a'), error: { code: 'incomplete_stream' } })
  })

  test('a JSON answer is raised, as the client would find no event in it', async () => {
    const json = { id: 'r', model: 'm', choices: [{ index: 0, message: { content: 'hi' }, finish_reason: 'stop' }] }
    const { read } = await ask(Response.json(json))
    expect((await read).error).toMatchObject({
      code: 'not_event_stream',
      message: expect.stringContaining('normalise') as string,
    })
  })

  test('at the terminal signal the body ends, though the socket stays open', async () => {
    const body = openBody()
    body.write(HELLO)
    const { read } = await ask(() => Promise.resolve(body.response))
    expect(await read).toEqual({ text: HELLO, error: undefined })
    await vi.waitFor(() => expect(body.cancelled).toBe(true))
  })

  test('a stream that says nothing any more', async () => {
    const body = openBody()
    body.write(WIRE.text('Hel'))
    const { read } = await ask(() => Promise.resolve(body.response), { timeouts: { idleMs: 5 } })
    expect(await read).toMatchObject({ text: WIRE.text('Hel'), error: { code: 'idle_timeout' } })
    expect(body.cancelled).toBe(true)
  })

  test('no head in time', async () => {
    await expect(ask(deaf, { timeouts: { connectMs: 5 } })).rejects.toMatchObject({ code: 'connect_timeout' })
  })

  test('a client that is slow is not a server that is silent', async () => {
    let clock = 0
    const body = openBody()
    const options: GuardOptions = { timeouts: { idleMs: 1000 }, now: () => clock }
    const send = guardFetch(fakeFetch(() => Promise.resolve(body.response)).fetch, options)
    const reader = (await send(URL, ASK)).body!.getReader()
    body.write(WIRE.text('a'))
    await reader.read()
    clock += 1_000_000
    body.write(WIRE.finish('stop') + WIRE.done)
    expect(new TextDecoder().decode((await reader.read()).value)).toContain('[DONE]')
    expect((await reader.read()).done).toBe(true)
  })

  test('a limit', async () => {
    const { read } = await ask(eventStream(WIRE.text('x'.repeat(200))), { limits: { eventBytes: 100 } })
    expect((await read).error).toMatchObject({ code: 'event_limit_exceeded' })
  })

  test('an outcome that is not good enough', async () => {
    const body = WIRE.text('Hel') + WIRE.finish('length') + WIRE.done
    expect((await (await ask(eventStream(body))).read).error).toBeUndefined()
    const { read } = await ask(eventStream(body), { failOn: ['truncated'] })
    expect((await read).error).toMatchObject({ code: 'output_truncated' })
  })

  test('a call that was refused, where that is asked for', async () => {
    const body = WIRE.call('c1', 'f', '{"a":') + WIRE.finish('tool_calls') + WIRE.done
    expect((await (await ask(eventStream(body))).read).error).toBeUndefined()
    const { read } = await ask(eventStream(body), { failOnRefusedCalls: true })
    expect((await read).error).toMatchObject({ code: 'arguments_incomplete' })
  })

  test('a call that the provider has run itself is none that was refused', async () => {
    const call = { type: 'server_tool_use', id: 's1', name: 'web_search', input: {} }
    const usage = { output_tokens: 1 }
    const message = { id: 'm', model: 'm', role: 'assistant', content: [], usage: { input_tokens: 1, ...usage } }
    const body = [
      { type: 'message_start', message },
      { type: 'content_block_start', index: 0, content_block: call },
      { type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: '{"q":1}' } },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage },
      { type: 'message_stop' },
    ]
    const options = { api: 'anthropic_messages', failOnRefusedCalls: true } as const
    const { read, reports } = await ask(eventStream(body.map(event).join('')), options)
    expect((await read).error).toBeUndefined()
    expect(reports).toMatchObject([{ choices: [{ toolCalls: [{ name: 'web_search', code: 'provider_executed' }] }] }])
  })
})

describe('observe', () => {
  test('nothing is changed or raised; the report says what it was', async () => {
    const { read, reports } = await ask(eventStream(WIRE.text('Hel')), { mode: 'observe' })
    expect(await read).toEqual({ text: WIRE.text('Hel'), error: undefined })
    expect(reports).toMatchObject([{ outcome: 'incomplete', error: { code: 'incomplete_stream' } }])
  })

  test('what the network says comes as it is', async () => {
    const body = openBody()
    const { read, reports } = await ask(() => Promise.resolve(body.response), { mode: 'observe' })
    body.write(HELLO)
    body.fail(new TypeError('terminated'))
    expect((await read).error).toEqual(new TypeError('terminated'))
    expect(reports).toMatchObject([{ outcome: 'completed' }])
  })
})

describe('normalise', () => {
  test('the client reads a clean stream of its API, whatever came', async () => {
    const ndjson = HELLO.replaceAll('data: ', '').replaceAll('\n\n', '\n')
    const { read, response } = await ask(new Response(ndjson), { mode: 'normalise' })
    const { text, error } = await read
    expect(error).toBeUndefined()
    expect(text.match(/^data: .*$/gm)).toHaveLength(4)
    expect(text).toMatch(/"content":"hel"[\s\S]*"content":"lo"[\s\S]*"finish_reason":"stop"[\s\S]*\[DONE\]\n\n$/)
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
  })

  test('a whole JSON answer too', async () => {
    const json = { id: 'r', model: 'm', choices: [{ index: 0, message: { content: 'hi' }, finish_reason: 'stop' }] }
    const { read } = await ask(Response.json(json), { mode: 'normalise' })
    expect((await read).text).toContain('"delta":{"role":"assistant","content":"hi"}')
  })

  test('a missing sentinel is written, a missing end is raised', async () => {
    const { read } = await ask(eventStream(WIRE.text('a') + WIRE.finish('stop')), { mode: 'normalise' })
    expect((await read).text).toMatch(/\[DONE\]\n\n$/)
    const cut = await ask(eventStream(WIRE.text('a')), { mode: 'normalise' })
    expect(await cut.read).toMatchObject({
      text: expect.stringContaining('"a"') as string,
      error: { code: 'incomplete_stream' },
    })
  })

  test('a failure as an event of the API, for clients that make more of that', async () => {
    const { read, reports } = await ask(eventStream(WIRE.text('a')), { mode: 'normalise', errors: 'event' })
    const { text, error } = await read
    expect(error).toBeUndefined()
    expect(text).toMatch(/"content":"a"[\s\S]*data: \{"error":\{"message":"[^"]*without a finish reason[^\n]*\n\n$/)
    expect(text).not.toContain('[DONE]')
    expect(reports).toMatchObject([{ outcome: 'incomplete' }])
  })

  test('a call is mended only where the profile asks for it', async () => {
    const body = WIRE.call('c1', 'f', '{"a":1}}') + WIRE.finish('tool_calls') + WIRE.done
    const profile = { repairs: ['extra-brackets'] } as const
    const mended = await ask(eventStream(body), { mode: 'normalise', profile })
    expect((await mended.read).text).toContain(String.raw`"arguments":"{\"a\":1}"`)
    const plain = await ask(eventStream(body), { mode: 'normalise', failOnRefusedCalls: true })
    expect((await plain.read).error).toMatchObject({ code: 'arguments_invalid' })
  })
})

describe('what passes untouched', () => {
  test.each<{ name: string; url: string; init: RequestInit }>([
    { name: 'a request that asks for no stream', url: URL, init: { method: 'POST', body: '{"model":"m"}' } },
    { name: 'another address', url: 'https://host.example/v1/embeddings', init: ASK },
    { name: 'another method', url: URL, init: { method: 'GET' } },
  ])('$name', async ({ url, init }) => {
    const answer = new Response('anything')
    expect(await guardFetch(() => Promise.resolve(answer))(url, init)).toBe(answer)
  })

  test('an error status: the client has its own classes for that', async () => {
    const answer = Response.json({ error: {} }, { status: 429 })
    expect((await ask(answer)).response).toBe(answer)
  })

  describe('a Request', () => {
    const json = { 'content-type': 'application/json' }
    const asking = (body: BodyInit, headers: HeadersInit = json): Request =>
      new Request(URL, { method: 'POST', headers, body })

    test('that asks for no stream', async () => {
      const answer = new Response('anything')
      expect(await guardFetch(() => Promise.resolve(answer))(asking('{"model":"m"}'))).toBe(answer)
    })

    test('that asks for one is guarded whatever the answer says of itself, and is sent with its body', async () => {
      const sent: string[] = []
      const inner: typeof fetch = async (input, init) => {
        sent.push(await new Request(input, init).text())
        return new Response('<!doctype html><title>Log in</title>', { headers: { 'content-type': 'text/html' } })
      }
      const response = await guardFetch(inner)(asking('{"stream":true}'))
      expect((await readAll(response)).error).toMatchObject({ code: 'not_event_stream' })
      expect(sent).toEqual(['{"stream":true}'])
    })

    test('whose body is none of JSON is told by its answer', async () => {
      const answer = Response.json({})
      expect(await guardFetch(() => Promise.resolve(answer))(asking('{"stream":true}', {}))).toBe(answer)
    })

    test('to another address is not looked at', async () => {
      const request = new Request('https://host.example/v1/files', { method: 'POST', headers: json, body: '{}' })
      const clone = vi.spyOn(request, 'clone')
      await guardFetch(() => Promise.resolve(new Response('')))(request)
      expect(clone).not.toHaveBeenCalled()
    })

    test('that was used before fails as it would without us', async () => {
      const request = asking('{"stream":true}')
      await request.text()
      await expect(guardFetch()(request)).rejects.toThrow(TypeError)
    })
  })

  test('a body that can not be looked at is told by its answer', async () => {
    const form = new FormData()
    const json = Response.json({})
    expect(await guardFetch(() => Promise.resolve(json))(URL, { method: 'POST', body: form })).toBe(json)
    const events = eventStream(WIRE.text('Hel'))
    const guarded = await guardFetch(() => Promise.resolve(events))(URL, { method: 'POST', body: form })
    expect((await readAll(guarded)).error).toMatchObject({ code: 'incomplete_stream' })
  })
})

describe('the client leaves', () => {
  test('by cancelling the body', async () => {
    const body = openBody()
    const reports: StreamReport[] = []
    const { fetch: inner } = fakeFetch(() => Promise.resolve(body.response))
    const response = await guardFetch(inner, { onReport: (report) => reports.push(report) })(URL, ASK)
    const reader = response.body!.getReader()
    body.write(WIRE.text('a'))
    await reader.read()
    await reader.cancel()
    expect(body.cancelled).toBe(true)
    expect(reports).toMatchObject([{ outcome: 'cancelled' }])
  })

  test.each(['guard', 'observe', 'normalise'] as const)(
    'by its signal in the middle of the body: thrown is its own reason, as with any fetch (%s)',
    async (mode) => {
      const abort = new AbortController()
      const body = openBody()
      body.write(WIRE.text('a'))
      const answer: Answer = () => Promise.resolve(body.response)
      const { read, reports } = await ask(answer, { mode, errors: 'event' }, { ...ASK, signal: abort.signal })
      await vi.waitFor(() => expect(body.taken).toBe(true))
      abort.abort()
      expect((await read).error).toBe(abort.signal.reason)
      expect(body.cancelled).toBe(true)
      expect(reports).toMatchObject([{ outcome: 'cancelled' }])
    },
  )

  test('by its signal at the very moment when the head is here', async () => {
    const abort = new AbortController()
    const body = openBody()
    body.write(WIRE.text('a'))
    const answer: Answer = () => {
      abort.abort(new Error('enough'))
      return Promise.resolve(body.response)
    }
    const { read, reports } = await ask(answer, {}, { ...ASK, signal: abort.signal })
    expect(await read).toEqual({ text: '', error: new Error('enough') })
    expect(reports).toMatchObject([{ outcome: 'cancelled' }])
    expect(body.cancelled).toBe(true)
  })

  test('by its signal while it does not read: the report does not wait for it to read on', async () => {
    const abort = new AbortController()
    const body = openBody()
    const reports: StreamReport[] = []
    const { fetch: inner } = fakeFetch(() => Promise.resolve(body.response))
    const send = guardFetch(inner, { onReport: (report) => reports.push(report) })
    const response = await send(URL, { ...ASK, signal: abort.signal })
    abort.abort(new Error('enough'))
    expect(reports).toMatchObject([{ outcome: 'cancelled' }])
    expect(body.cancelled).toBe(true)
    expect((await readAll(response)).error).toEqual(new Error('enough'))
  })

  test('by its signal, which reaches the request', async () => {
    const abort = new AbortController()
    let seen: AbortSignal | undefined
    const answer: Answer = (signal) => {
      seen = signal
      return Promise.resolve(openBody().response)
    }
    await ask(answer, {}, { ...ASK, signal: abort.signal })
    expect(seen?.aborted).toBe(false)
    abort.abort(new Error('enough'))
    expect(seen?.aborted).toBe(true)
  })
})

test('headers, status and address stay; lengths of the wire go', async () => {
  const answer = new Response(HELLO, {
    status: 200,
    headers: { 'x-request-id': 'up', 'content-length': '5', 'content-encoding': 'gzip' },
  })
  Object.defineProperty(answer, 'url', { value: URL })
  const { response } = await ask(answer)
  expect(response.url).toBe(URL)
  expect(response.headers.get('x-request-id')).toBe('up')
  expect(response.headers.has('content-length')).toBe(false)
  expect(response.headers.has('content-encoding')).toBe(false)
})

test('a mode that is none', () => {
  expect(() => guardFetch(fetch, { mode: 'watch' as 'guard' })).toThrow(/guard, observe and normalise/)
})

test.each(['mine', 'toString'])('an API that is none (%s) is told at once, not with the first request', (api) => {
  expect(() => guardFetch(fetch, { api: api as 'cohere' })).toThrow(
    new RegExp(`^guardFetch: unknown API "${api}"; known are chat_completions, `),
  )
})

describe('over one adapter', () => {
  const CUT = WIRE.text('Hel')

  async function through(
    url: string,
    options: GuardWithOptions = {},
    adapter: StreamAdapter = chatCompletions(),
  ): Promise<{ text: string; code: unknown }> {
    const send = guardFetchWith(adapter, fakeFetch(eventStream(CUT)).fetch, options)
    const { text, error } = await readAll(await send(url, ASK))
    return { text, code: StreamError.is(error) ? error.code : error }
  }

  test('the same protection', async () => {
    expect(await through(URL)).toEqual({ text: CUT, code: 'incomplete_stream' })
  })

  test.each([
    { name: 'of another API', url: 'https://host.example/v1/messages' },
    { name: 'of none', url: 'https://host.example/llm' },
  ])('an address $name passes untouched, unless the API is named', async ({ url }) => {
    expect(await through(url)).toEqual({ text: CUT, code: undefined })
    expect(await through(url, { api: 'chat_completions' })).toEqual({ text: CUT, code: 'incomplete_stream' })
  })

  test('repairs and profile are those of the adapter, and its output is written anew where that is asked for', async () => {
    const body = WIRE.call('c1', 'f', '{"a":1}}') + WIRE.finish('tool_calls') + WIRE.done
    const send = guardFetchWith(chatCompletions({ repairs: ['extra-brackets'] }), fakeFetch(eventStream(body)).fetch, {
      mode: 'normalise',
    })
    const { text, error } = await readAll(await send(URL, ASK))
    expect(error).toBeUndefined()
    expect(text).toContain('data: [DONE]')
    expect(text).not.toContain('1}}')
    const same = guardFetch(fakeFetch(eventStream(body)).fetch, {
      mode: 'normalise',
      profile: { repairs: ['extra-brackets'] },
    })
    expect((await readAll(await same(URL, ASK))).text).toBe(text)
  })

  test('an adapter of one’s own is asked; whose requests it reads is named', async () => {
    const own = { ...chatCompletions(), api: 'mine' as 'chat_completions' }
    expect(() => guardFetchWith(own)).toThrow(/^guardFetchWith: unknown API "mine"; known are chat_completions/)
    expect(await through('https://host.example/llm', { api: 'chat_completions' }, own)).toMatchObject({
      code: 'incomplete_stream',
    })
  })

  test.each<[string, unknown, unknown, object, RegExp]>([
    ['no adapter', fetch, fetch, {}, /^guardFetchWith takes an adapter first, chatCompletions\(\) for example$/],
    ['nothing', undefined, fetch, {}, /takes an adapter first/],
    ['options in place of fetch', chatCompletions(), {}, {}, /an adapter, a fetch function, then its options/],
    ['a profile', chatCompletions(), fetch, { profile: {} }, /^guardFetchWith: .*profile/],
    ['a mode that is none', chatCompletions(), fetch, { mode: 'watch' }, /^guardFetchWith: unknown mode "watch"/],
  ])('%s: a TypeError', (_, adapter, inner, options, says) => {
    const make = (): unknown => guardFetchWith(adapter as StreamAdapter, inner as typeof fetch, options)
    expect(make).toThrow(TypeError)
    expect(make).toThrow(says)
  })
})
