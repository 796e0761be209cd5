import { describe, expect, test } from 'vitest'
import type { StreamChunk } from '../../src/chunk/chunk.ts'
import { StreamError } from '../../src/chunk/stream-error.ts'
import { createEventStreamEncoder, ENCODABLE_APIS } from '../../src/server/index.ts'
import type { EncodableApi, EncoderOptions } from '../../src/server/index.ts'

const START: StreamChunk = { type: 'start', id: 'r1', model: 'm1' }
const TEXT: readonly StreamChunk[] = [
  START,
  { type: 'text-delta', index: 0, text: 'Hel' },
  { type: 'text-delta', index: 0, text: 'lo' },
  { type: 'block-end', index: 0 },
  { type: 'usage', usage: { inputTokens: 3, outputTokens: 2 } },
  { type: 'finish', reason: 'stop', raw: 'stop' },
]
const CALL: readonly StreamChunk[] = [
  START,
  { type: 'tool-call-delta', index: 0, id: 'c1', name: 'f', argumentsDelta: '' },
  { type: 'tool-call-delta', index: 0, id: 'c1', argumentsDelta: '{"a":1}' },
  { type: 'block-end', index: 0 },
  { type: 'finish', reason: 'tool-calls', raw: 'tool_calls' },
]

function encode(chunks: readonly StreamChunk[], api: EncodableApi, options: EncoderOptions = {}): string {
  const encoder = createEventStreamEncoder(api, { created: 7, ...options })
  return chunks.map((chunk) => encoder.push(chunk)).join('') + encoder.end()
}

/** The data of the events: JSON as values. */
function dataOf(body: string): readonly unknown[] {
  return body
    .split('\n\n')
    .filter((block) => block !== '')
    .map((block) => block.slice(block.indexOf('data: ') + 6))
    .map((data) => (data === '[DONE]' ? data : (JSON.parse(data) as unknown)))
}

describe('Chat Completions', () => {
  test('text, usage and the sentinel, to the letter', () => {
    const head = '"id":"r1","object":"chat.completion.chunk","created":7,"model":"m1"'
    expect(encode(TEXT, 'chat_completions')).toBe(
      `data: {${head},"choices":[{"index":0,"delta":{"role":"assistant","content":"Hel"},"finish_reason":null}]}\n\n` +
        `data: {${head},"choices":[{"index":0,"delta":{"content":"lo"},"finish_reason":null}]}\n\n` +
        `data: {${head},"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n` +
        `data: {"usage":{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5},${head},"choices":[]}\n\n` +
        'data: [DONE]\n\n',
    )
  })

  test('usage is left out where the client did not ask for it', () => {
    expect(encode(TEXT, 'chat_completions', { includeUsage: false })).not.toContain('usage')
  })

  test('a call: id, type and name once', () => {
    const deltas = dataOf(encode(CALL, 'chat_completions')).map((data) =>
      data === '[DONE]' ? data : (data as { choices: { delta: unknown }[] }).choices[0]?.delta,
    )
    expect(deltas).toEqual([
      {
        role: 'assistant',
        tool_calls: [{ index: 0, id: 'c1', type: 'function', function: { name: 'f', arguments: '' } }],
      },
      { tool_calls: [{ index: 0, function: { arguments: '{"a":1}' } }] },
      {},
      '[DONE]',
    ])
  })

  test('a name that comes late is waited for: clients take it from the first fragment', () => {
    const late: readonly StreamChunk[] = [
      START,
      { type: 'tool-call-delta', index: 0, id: 'c1', argumentsDelta: '{"a"' },
      { type: 'tool-call-delta', index: 0, id: 'c1', name: 'f', argumentsDelta: ':1' },
      { type: 'tool-call-delta', index: 0, id: 'c1', argumentsDelta: '}' },
      { type: 'finish', reason: 'tool-calls' },
    ]
    expect(dataOf(encode(late, 'chat_completions'))).toMatchObject([
      { choices: [{ delta: { tool_calls: [{ id: 'c1', function: { name: 'f', arguments: '{"a":1' } }] } }] },
      { choices: [{ delta: { tool_calls: [{ function: { arguments: '}' } }] } }] },
      { choices: [{ finish_reason: 'tool_calls' }] },
      '[DONE]',
    ])
  })

  test('two choices, each with its own calls', () => {
    const second = CALL.map((chunk) => (chunk.type === 'start' ? chunk : ({ ...chunk, choice: 1 } as StreamChunk)))
    const events = dataOf(encode([...CALL, ...second], 'chat_completions'))
    const places = events.flatMap((data) => (data as { choices?: { index: number }[] }).choices?.[0]?.index ?? [])
    expect(places).toEqual([0, 0, 0, 1, 1, 1])
  })

  test('fields of a provider are passed on, but never in place of those of the API', () => {
    const replace = { service_tier: 'default', choices: 'mine', error: 'mine' }
    const [event] = dataOf(encode([START, { type: 'metadata', replace }, ...TEXT.slice(1)], 'chat_completions'))
    expect(event).toMatchObject({ service_tier: 'default', choices: [] })
    expect(event).not.toHaveProperty('error')
  })
})

describe('a good end', () => {
  const called = CALL.map((chunk) => (chunk.type === 'finish' ? ({ type: 'finish', reason: 'stop' } as const) : chunk))
  const textOnly = TEXT.map((chunk) =>
    chunk.type === 'finish' ? ({ type: 'finish', reason: 'tool-calls' } as const) : chunk,
  )

  test.each<{ api: EncodableApi; calls: RegExp; none: RegExp }>([
    { api: 'chat_completions', calls: /"finish_reason":"tool_calls"/, none: /"finish_reason":"stop"/ },
    { api: 'anthropic_messages', calls: /"stop_reason":"tool_use"/, none: /"stop_reason":"end_turn"/ },
  ])('$api: with calls it asks for them, whatever the word was; without, it does not', ({ api, calls, none }) => {
    const withCalls = encode(called, api)
    expect(withCalls).toMatch(calls)
    expect(withCalls).not.toMatch(none)
    const withoutCalls = encode(TEXT, api)
    expect(withoutCalls).toMatch(none)
    expect(withoutCalls).not.toMatch(calls)
  })

  test('the word for calls stays where none came: the reader is to see that something is missing', () => {
    expect(encode(textOnly, 'chat_completions')).toMatch(/"finish_reason":"tool_calls"/)
    expect(encode(textOnly, 'anthropic_messages')).toMatch(/"stop_reason":"tool_use"/)
  })
})

describe('Messages', () => {
  test('blocks one after the other, each closed', () => {
    const chunks: readonly StreamChunk[] = [
      START,
      { type: 'reasoning-delta', index: 0, text: 'hm' },
      { type: 'block-end', index: 0, metadata: { signature: 's1' } },
      { type: 'text-delta', index: 1, text: 'Hi' },
      { type: 'tool-call-delta', index: 2, id: 'c1', name: 'f', argumentsDelta: '{}' },
      { type: 'usage', usage: { inputTokens: 3, outputTokens: 2 } },
      { type: 'finish', reason: 'tool-calls' },
    ]
    expect(dataOf(encode(chunks, 'anthropic_messages'))).toMatchObject([
      { type: 'message_start', message: { id: 'r1', model: 'm1', content: [], stop_reason: null } },
      { type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'hm' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature: 's1' } },
      { type: 'content_block_stop', index: 0 },
      { type: 'content_block_start', index: 1, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: 'Hi' } },
      { type: 'content_block_stop', index: 1 },
      { type: 'content_block_start', index: 2, content_block: { type: 'tool_use', id: 'c1', name: 'f', input: {} } },
      { type: 'content_block_delta', index: 2, delta: { type: 'input_json_delta', partial_json: '{}' } },
      { type: 'content_block_stop', index: 2 },
      { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { input_tokens: 3, output_tokens: 2 } },
      { type: 'message_stop' },
    ])
  })

  test('every event has its name: the official client drops those without', () => {
    const blocks = encode(TEXT, 'anthropic_messages').split('\n\n').slice(0, -1)
    for (const block of blocks) expect(block).toMatch(/^event: (\w+)\ndata: \{"type":"\1"/)
  })

  test('free text becomes JSON, piece by piece', () => {
    const chunks: readonly StreamChunk[] = [
      START,
      { type: 'tool-call-delta', index: 0, id: 'c1', name: 'f', argumentsDelta: 'say "a', freeText: true },
      { type: 'tool-call-delta', index: 0, id: 'c1', argumentsDelta: '"\n', freeText: true },
      { type: 'block-end', index: 0 },
      { type: 'finish', reason: 'tool-calls' },
    ]
    const pieces = dataOf(encode(chunks, 'anthropic_messages')).flatMap(
      (data) => (data as { delta?: { partial_json?: string } }).delta?.partial_json ?? [],
    )
    expect(JSON.parse(pieces.join(''))).toEqual({ input: 'say "a"\n' })
  })
})

describe('Responses', () => {
  test('an item is announced, grows, and is restated whole', () => {
    expect(dataOf(encode(CALL, 'responses'))).toMatchObject([
      { type: 'response.created', sequence_number: 0, response: { id: 'r1', status: 'in_progress', output: [] } },
      { type: 'response.in_progress', sequence_number: 1 },
      {
        type: 'response.output_item.added',
        output_index: 0,
        item: { type: 'function_call', call_id: 'c1', name: 'f', arguments: '', status: 'in_progress' },
      },
      { type: 'response.function_call_arguments.delta', output_index: 0, delta: '{"a":1}' },
      { type: 'response.function_call_arguments.done', arguments: '{"a":1}', name: 'f' },
      { type: 'response.output_item.done', item: { call_id: 'c1', arguments: '{"a":1}', status: 'completed' } },
      {
        type: 'response.completed',
        sequence_number: 6,
        response: { status: 'completed', output: [{ call_id: 'c1' }] },
      },
    ])
  })

  test('cut off by the token limit it is incomplete, and so are its items', () => {
    const chunks: readonly StreamChunk[] = [...CALL.slice(0, 3), { type: 'finish', reason: 'length' }]
    expect(dataOf(encode(chunks, 'responses')).slice(-2)).toMatchObject([
      { type: 'response.output_item.done', item: { status: 'incomplete' } },
      { type: 'response.incomplete', response: { incomplete_details: { reason: 'max_output_tokens' } } },
    ])
  })
})

/** The last event, and that no other follows. */
const ERRORS: Readonly<Record<EncodableApi, (code: string) => object>> = {
  chat_completions: (code) => ({ error: { streamfold: { code } } }),
  responses: (code) => ({ type: 'error', streamfold: { code } }),
  anthropic_messages: (code) => ({ type: 'error', error: { streamfold: { code } } }),
}

const GOOD_END = /\[DONE\]|message_stop|response\.completed/

describe.each(ENCODABLE_APIS)('what is not whole is never written as if it were: %s', (api) => {
  test.each<{ name: string; chunks: readonly StreamChunk[]; code: string }>([
    { name: 'nothing at all', chunks: [], code: 'incomplete_stream' },
    { name: 'no finish', chunks: TEXT.slice(0, 4), code: 'incomplete_stream' },
    {
      name: 'an error',
      chunks: [
        ...TEXT.slice(0, 2),
        { type: 'error', error: { code: 'idle_timeout', phase: 'framing', retryable: 'restart', message: 'silent' } },
      ],
      code: 'idle_timeout',
    },
    { name: 'a provider that gave up', chunks: [START, { type: 'finish', reason: 'error' }], code: 'upstream_error' },
    {
      name: 'a provider that aborted',
      chunks: [START, { type: 'finish', reason: 'aborted' }],
      code: 'incomplete_stream',
    },
    {
      name: 'a call in conflict with itself',
      chunks: [
        START,
        {
          type: 'tool-call-delta',
          index: 0,
          id: 'c1',
          name: 'f',
          argumentsDelta: '',
          conflict: { message: 'two ids' },
        },
      ],
      code: 'protocol_conflict',
    },
    {
      name: 'bytes that are no text in a call',
      chunks: [
        START,
        { type: 'tool-call-delta', index: 0, id: 'c1', name: 'f', argumentsDelta: '�', invalidUtf8: true },
      ],
      code: 'invalid_utf8',
    },
    {
      name: 'a call without a name',
      chunks: [
        START,
        { type: 'tool-call-delta', index: 0, id: 'c1', argumentsDelta: '{}' },
        { type: 'finish', reason: 'tool-calls' },
      ],
      code: 'missing_name',
    },
    {
      name: 'a block that was restated as something else',
      chunks: [
        ...TEXT.slice(0, 3),
        { type: 'block-end', index: 0, block: { type: 'text', index: 0, text: 'Bye', status: 'done' } },
      ],
      code: 'protocol_conflict',
    },
  ])('$name', ({ chunks, code }) => {
    const body = encode(chunks, api)
    expect(dataOf(body).at(-1)).toMatchObject(ERRORS[api](code))
    expect(body).not.toMatch(GOOD_END)
  })

  test('a second choice, where the API has one', () => {
    const chunks: readonly StreamChunk[] = [...TEXT.slice(0, 2), { type: 'text-delta', choice: 1, index: 0, text: 'x' }]
    const code = api === 'chat_completions' ? 'incomplete_stream' : 'protocol_conflict'
    expect(dataOf(encode(chunks, api)).at(-1)).toMatchObject(ERRORS[api](code))
  })

  test('what only the end of a block has is still written', () => {
    const restated: readonly StreamChunk[] = [
      ...TEXT.slice(0, 2),
      { type: 'block-end', index: 0, block: { type: 'text', index: 0, text: 'Hello!', status: 'done' } },
      { type: 'finish', reason: 'stop' },
    ]
    expect(encode(restated, api)).toContain('"lo!"')
  })

  test('nothing follows the end', () => {
    const encoder = createEventStreamEncoder(api)
    for (const chunk of TEXT) encoder.push(chunk)
    encoder.end()
    expect(encoder.ended).toBe(true)
    expect(
      encoder.push(TEXT[1]!) +
        encoder.end() +
        encoder.fail(new StreamError({ code: 'cancelled', phase: 'delta', retryable: 'no', message: '' })),
    ).toBe('')
  })

  test('an id and a model are made up where none came', () => {
    const ids = new Set(
      [1, 2].map(() => /"id":"((?:chatcmpl-|resp_|msg_)[\w-]{32,})"/.exec(encode(TEXT.slice(1), api))?.[1]),
    )
    expect(ids.size).toBe(2)
    expect(ids.has(undefined)).toBe(false)
    expect(encode(TEXT.slice(1), api)).toContain('"model":"unknown"')
  })
})

test.each([
  { status: 429, code: 'rate_limited', chat: 'rate_limit_error', messages: 'rate_limit_error' },
  { status: 401, code: 'http_error', chat: 'authentication_error', messages: 'authentication_error' },
  { status: 400, code: 'http_error', chat: 'invalid_request_error', messages: 'invalid_request_error' },
  { status: 529, code: 'upstream_error', chat: 'server_error', messages: 'overloaded_error' },
  { status: undefined, code: 'incomplete_stream', chat: 'server_error', messages: 'api_error' },
] as const)('an error of kind $code ($status) in the words of each API', ({ status, code, chat, messages }) => {
  const error = {
    code,
    phase: 'delta',
    retryable: 'restart',
    message: 'x',
    ...(status !== undefined && { status }),
  } as const
  const chunks: readonly StreamChunk[] = [{ type: 'error', error }]
  expect(dataOf(encode(chunks, 'chat_completions'))).toMatchObject([{ error: { type: chat, message: 'x' } }])
  expect(dataOf(encode(chunks, 'anthropic_messages'))).toMatchObject([{ error: { type: messages, message: 'x' } }])
  expect(dataOf(encode(chunks, 'responses'))).toMatchObject([{ code, message: 'x' }])
})

test('an API that can not be written is refused', () => {
  expect(() => createEventStreamEncoder('gemini' as EncodableApi)).toThrow(/chat_completions, responses/)
})
