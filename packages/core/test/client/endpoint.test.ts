import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { APIS } from '../../src/adapters/registry.ts'
import type { Api } from '../../src/chunk/api.ts'
import { prepareRequest } from '../../src/client/endpoint.ts'

const ROWS: readonly { api: Api; url: string; header: readonly [string, string]; stream: boolean }[] = [
  {
    api: 'chat_completions',
    url: 'https://api.openai.com/v1/chat/completions',
    header: ['authorization', 'Bearer k'],
    stream: true,
  },
  {
    api: 'completions',
    url: 'https://api.openai.com/v1/completions',
    header: ['authorization', 'Bearer k'],
    stream: true,
  },
  { api: 'responses', url: 'https://api.openai.com/v1/responses', header: ['authorization', 'Bearer k'], stream: true },
  { api: 'anthropic_messages', url: 'https://api.anthropic.com/v1/messages', header: ['x-api-key', 'k'], stream: true },
  {
    api: 'gemini',
    url: 'https://generativelanguage.googleapis.com/v1beta/models/a%2Fb:streamGenerateContent?alt=sse',
    header: ['x-goog-api-key', 'k'],
    stream: false,
  },
  { api: 'ollama', url: 'http://localhost:11434/api/chat', header: ['authorization', 'Bearer k'], stream: true },
  { api: 'cohere', url: 'https://api.cohere.com/v2/chat', header: ['authorization', 'Bearer k'], stream: true },
]

describe('every API has its address', () => {
  test.each(ROWS)('$api', ({ api, url, header, stream }) => {
    const request = prepareRequest({ api, apiKey: 'k', body: { model: 'a/b', x: 1 } })
    expect(request.url).toBe(url)
    expect(request.headers).toMatchObject({ 'content-type': 'application/json', [header[0]]: header[1] })
    expect(JSON.parse(request.body)).toEqual(stream ? { model: 'a/b', x: 1, stream: true } : { x: 1 })
  })

  test('and no other is left out', () => {
    expect([...ROWS.map(({ api }) => api), 'bedrock_converse'].toSorted()).toEqual([...APIS].toSorted())
  })

  test('bedrock_converse has none of its own', () => {
    const body = { model: 'anthropic.claude-v2:1' }
    expect(() => prepareRequest({ api: 'bedrock_converse', body })).toThrow(/baseURL/)
    expect(prepareRequest({ api: 'bedrock_converse', baseURL: 'https://b.example/', body }).url).toBe(
      'https://b.example/model/anthropic.claude-v2%3A1/converse-stream',
    )
  })
})

describe('a base URL', () => {
  test.each([
    {
      name: 'with a slash at the end',
      api: 'chat_completions',
      base: 'http://h/v1/',
      url: 'http://h/v1/chat/completions',
    },
    {
      name: 'with a query',
      api: 'chat_completions',
      base: 'http://h/d?api-version=2',
      url: 'http://h/d/chat/completions?api-version=2',
    },
    {
      name: 'with the version that belongs to the path',
      api: 'anthropic_messages',
      base: 'http://h/v1',
      url: 'http://h/v1/messages',
    },
    {
      name: 'with a query, where the path has one',
      api: 'gemini',
      base: 'http://h?a=1',
      url: 'http://h/models/m:streamGenerateContent?alt=sse&a=1',
    },
  ] as const)('$name', ({ api, base, url }) => {
    expect(prepareRequest({ api, baseURL: base, body: { model: 'm' } }).url).toBe(url)
  })
})

const inPage = (globalThis as { location?: object }).location !== undefined
const ownHost = () => prepareRequest({ api: 'chat_completions', baseURL: '/api/v1', body: {} }).url

describe('a base URL that is none is refused, before anything is sent', () => {
  test.each(['', 'localhost:8080', '127.0.0.1/v1', 'api.openai.com/v1', 'http://', 'ftp://h/v1', 'http://h:x/v1'])(
    '"%s"',
    (baseURL) => {
      const prepare = () => prepareRequest({ api: 'chat_completions', baseURL, body: {} })
      expect(prepare).toThrow(TypeError)
      expect(prepare).toThrow(
        `streamModel: baseURL "${baseURL}" is no address; give a whole one, "https://api.openai.com/v1" or "http://localhost:8080/v1" for example`,
      )
    },
  )

  test('null', () => {
    const baseURL = null as unknown as string
    // As in most clients, nothing at all means the public address; only undefined and null are nothing.
    expect(prepareRequest({ api: 'chat_completions', baseURL, body: {} }).url).toContain('api.openai.com')
  })

  test.each([
    {
      api: 'chat_completions',
      baseURL: 'http://h/v1/chat/completions',
      ending: '/chat/completions',
      want: 'http://h/v1',
    },
    {
      api: 'chat_completions',
      baseURL: 'http://h/v1/chat/completions/?a=1',
      ending: '/chat/completions',
      want: 'http://h/v1',
    },
    { api: 'responses', baseURL: 'http://h/v1/responses', ending: '/responses', want: 'http://h/v1' },
    { api: 'responses', baseURL: 'http://h/v1/chat/completions', ending: '/chat/completions', want: 'http://h/v1' },
    { api: 'anthropic_messages', baseURL: 'http://h/v1/messages', ending: '/messages', want: 'http://h/v1' },
    { api: 'ollama', baseURL: 'http://h:11434/api/chat', ending: '/api/chat', want: 'http://h:11434' },
  ] as const)('$baseURL, with the path that is added to it ($api)', ({ api, baseURL, ending, want }) => {
    expect(() => prepareRequest({ api, baseURL, body: {} })).toThrow(
      new RegExp(`ends in "${ending}", and the path of the API is added to it; give "${want}"$`),
    )
  })

  test('and no key that stands in it is shown', () => {
    for (const baseURL of ['http://u:secret@h/v1/responses?key=secret', 'http://u:secret@h:x/v1?key=secret']) {
      const prepare = () => prepareRequest({ api: 'responses', baseURL, body: {} })
      expect(prepare).toThrow(/baseURL/)
      expect(prepare).not.toThrow(/secret/)
    }
  })

  test.skipIf(inPage)('only a page has a host of its own', () => {
    expect(ownHost).toThrow(/baseURL "\/api\/v1" is no address/)
  })

  test('a page may ask its own host', () => {
    if (!inPage) vi.stubGlobal('location', {})
    onTestFinished(() => void vi.unstubAllGlobals())
    expect(ownHost()).toBe('/api/v1/chat/completions')
  })
})

test('a model is needed where it is part of the address', () => {
  expect(() => prepareRequest({ api: 'gemini', body: {} })).toThrow(/model/)
  expect(prepareRequest({ api: 'gemini', body: { model: 'models/x' } }).url).toContain('/models/x:stream')
})

test.each(['mine', 'toString'])('requests of an API that is not known (%s) go nowhere', (api) => {
  expect(() => prepareRequest({ api, baseURL: 'http://h', body: {} })).toThrow(
    new RegExp(`^streamModel: where requests of "${api}" go is not known; .*chat_completions`),
  )
})

test('own headers win, in any case', () => {
  const { headers } = prepareRequest({
    api: 'chat_completions',
    apiKey: 'k',
    headers: { Authorization: 'Basic x' },
    body: {},
  })
  expect(headers['authorization']).toBe('Basic x')
  expect(headers['Authorization']).toBeUndefined()
})

test('a body that says it wants no stream is left as it is: the whole answer is played as events', () => {
  expect(JSON.parse(prepareRequest({ api: 'responses', body: { stream: false } }).body)).toEqual({ stream: false })
})
