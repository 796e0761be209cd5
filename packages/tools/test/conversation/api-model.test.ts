import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { HistoryApi } from 'streamfold/history'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { apiModel } from '../../src/conversation/api-model.ts'
import type { Message } from '../../src/conversation/message.ts'
import { conversationFields } from '../../src/conversation/request-body.ts'
import { resumeConversation, runConversation } from '../../src/conversation/run-conversation.ts'
import { defineTool } from '../../src/define/define-tool.ts'
import { createExecutor } from '../../src/executor/create-executor.ts'
import type { ToolExecutor } from '../../src/executor/create-executor.ts'
import { openLedger } from '../../src/ledger/ledger.ts'
import { openStore } from '../../src/store/open.ts'
import type { Store } from '../../src/store/store.ts'

const folder = mkdtempSync(join(tmpdir(), 'api-model-'))
let store: Store
let executor: ToolExecutor

const ADD_SCHEMA = { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] } as const
const add = defineTool({
  name: 'add',
  description: 'Adds one.',
  effect: 'read',
  parameters: ADD_SCHEMA,
  execute: ({ a }) => a + 1,
})

beforeAll(async () => {
  store = await openStore(join(folder, 'ledger.db'))
  executor = createExecutor({
    tools: [add],
    policy: { revision: 'p', rules: [{ tools: '*', decision: 'allow' }] },
    ledger: await openLedger(store),
    tenant: 'acme',
    recoverEveryMs: 0,
  })
})
afterAll(async () => {
  await executor.close()
  await store.close()
  rmSync(folder, { recursive: true, force: true })
})

const lines = (...events: readonly object[]): string =>
  events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')
const typed = (...events: readonly { readonly type: string; readonly [field: string]: unknown }[]): string =>
  events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('')

interface Wire {
  readonly path: string
  /** An answer that calls `add` with `{"a":1}`, and one that says `2`. */
  readonly call: string
  readonly text: string
  /** The fields of the second request. */
  readonly second: object
}

const RESPONSES_CALL = { type: 'function_call', id: 'fc_1', call_id: 'c1', name: 'add', arguments: '{"a":1}' }
const FIRST: readonly Message[] = [
  { role: 'system', content: 'Be brief.' },
  { role: 'user', content: '1 + 1?' },
]

const WIRES: Partial<Record<HistoryApi, Wire>> = {
  chat_completions: {
    path: '/chat/completions',
    call:
      lines(
        {
          choices: [
            {
              index: 0,
              delta: {
                tool_calls: [{ index: 0, id: 'c1', type: 'function', function: { name: 'add', arguments: '{"a":1}' } }],
              },
            },
          ],
        },
        { choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] },
      ) + 'data: [DONE]\n\n',
    text: lines({ choices: [{ index: 0, delta: { content: '2' }, finish_reason: 'stop' }] }) + 'data: [DONE]\n\n',
    second: {
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: '1 + 1?' },
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'c1', type: 'function', function: { name: 'add', arguments: '{"a":1}' } }],
        },
        { role: 'tool', tool_call_id: 'c1', content: '2' },
      ],
      tools: [{ type: 'function', function: { name: 'add', description: 'Adds one.', parameters: ADD_SCHEMA } }],
    },
  },
  responses: {
    path: '/responses',
    call: typed(
      { type: 'response.created', response: { id: 'r1', model: 'm', status: 'in_progress', output: [] } },
      {
        type: 'response.output_item.added',
        output_index: 0,
        item: { ...RESPONSES_CALL, arguments: '', status: 'in_progress' },
      },
      { type: 'response.function_call_arguments.delta', output_index: 0, item_id: 'fc_1', delta: '{"a":1}' },
      { type: 'response.function_call_arguments.done', output_index: 0, item_id: 'fc_1', arguments: '{"a":1}' },
      { type: 'response.output_item.done', output_index: 0, item: { ...RESPONSES_CALL, status: 'completed' } },
      {
        type: 'response.completed',
        response: { id: 'r1', model: 'm', status: 'completed', output: [{ ...RESPONSES_CALL, status: 'completed' }] },
      },
    ),
    text: typed(
      { type: 'response.created', response: { id: 'r2', model: 'm', status: 'in_progress', output: [] } },
      {
        type: 'response.output_item.added',
        output_index: 0,
        item: { id: 'm1', type: 'message', role: 'assistant', content: [] },
      },
      {
        type: 'response.content_part.added',
        output_index: 0,
        content_index: 0,
        item_id: 'm1',
        part: { type: 'output_text', text: '' },
      },
      { type: 'response.output_text.delta', output_index: 0, content_index: 0, item_id: 'm1', delta: '2' },
      {
        type: 'response.output_item.done',
        output_index: 0,
        item: { id: 'm1', type: 'message', role: 'assistant', content: [{ type: 'output_text', text: '2' }] },
      },
      { type: 'response.completed', response: { id: 'r2', model: 'm', status: 'completed', output: [] } },
    ),
    second: {
      input: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: '1 + 1?' },
        expect.objectContaining({ type: 'function_call', call_id: 'c1', name: 'add', arguments: '{"a":1}' }),
        { type: 'function_call_output', call_id: 'c1', output: '2' },
      ],
      tools: [{ type: 'function', name: 'add', description: 'Adds one.', parameters: ADD_SCHEMA, strict: false }],
    },
  },
  anthropic_messages: {
    path: '/v1/messages',
    call: typed(
      { type: 'message_start', message: { id: 'm1', role: 'assistant', model: 'm', content: [] } },
      { type: 'content_block_start', index: 0, content_block: { type: 'tool_use', id: 'c1', name: 'add', input: {} } },
      { type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: '{"a":1}' } },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'tool_use' } },
      { type: 'message_stop' },
    ),
    text: typed(
      { type: 'message_start', message: { id: 'm2', role: 'assistant', model: 'm', content: [] } },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: '2' } },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' } },
      { type: 'message_stop' },
    ),
    second: {
      system: [{ type: 'text', text: 'Be brief.' }],
      messages: [
        { role: 'user', content: '1 + 1?' },
        { role: 'assistant', content: [{ type: 'tool_use', id: 'c1', name: 'add', input: { a: 1 } }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', content: '2' }] },
      ],
      tools: [{ name: 'add', description: 'Adds one.', input_schema: ADD_SCHEMA }],
    },
  },
  gemini: {
    path: '/models/m:streamGenerateContent',
    call: lines({
      candidates: [
        {
          index: 0,
          content: { role: 'model', parts: [{ functionCall: { id: 'c1', name: 'add', args: { a: 1 } } }] },
          finishReason: 'STOP',
        },
      ],
    }),
    text: lines({
      candidates: [{ index: 0, content: { role: 'model', parts: [{ text: '2' }] }, finishReason: 'STOP' }],
    }),
    second: {
      systemInstruction: { parts: [{ text: 'Be brief.' }] },
      contents: [
        { role: 'user', parts: [{ text: '1 + 1?' }] },
        { role: 'model', parts: [{ functionCall: expect.objectContaining({ name: 'add', args: { a: 1 } }) }] },
        { role: 'user', parts: [{ functionResponse: expect.objectContaining({ name: 'add' }) }] },
      ],
      tools: [{ functionDeclarations: [{ name: 'add', description: 'Adds one.', parametersJsonSchema: ADD_SCHEMA }] }],
    },
  },
}
const wireOf = (api: HistoryApi): Wire => WIRES[api] as Wire

interface Sent {
  readonly url: string
  readonly body: Record<string, unknown>
}

/** A model behind `fetch`, that answers with these bodies one after the other. */
function modelOver(api: HistoryApi, bodies: readonly string[], sent: Sent[]) {
  const left = [...bodies]
  return apiModel({
    api,
    model: 'm',
    baseURL: 'https://llm.example.com',
    body: { temperature: 0 },
    retry: false,
    fetch: (url, init) => {
      sent.push({ url: new Request(url).url, body: JSON.parse(init?.body as string) as Record<string, unknown> })
      return Promise.resolve(new Response(left.shift(), { headers: { 'content-type': 'text/event-stream' } }))
    },
  })
}

describe.each(Object.keys(WIRES) as HistoryApi[])('%s', (api) => {
  test('calls, results and tools are in its own words', async () => {
    const { path, call, text, second } = wireOf(api)
    const sent: Sent[] = []
    const model = modelOver(api, [call, text], sent)
    const result = await runConversation({ model, executor, runId: `own_${api}`, messages: FIRST })
    expect(result).toMatchObject({ state: 'finished', text: '2', turns: 2 })
    expect(sent.map(({ url }) => url.includes(path))).toEqual([true, true])
    const { stream, model: _named, temperature, ...fields } = sent[1]?.body ?? {}
    expect(temperature).toBe(0)
    expect(stream ?? true).toBe(true)
    expect(fields).toEqual(second)
  })

  test('goes on with another API from the ledger alone', async () => {
    const runId = `other_${api}`
    const begun = await runConversation({
      model: modelOver(api, [wireOf(api).call], []),
      executor,
      runId,
      messages: FIRST,
      maxTurns: 1,
    })
    expect(begun).toMatchObject({ state: 'stopped', reason: 'max_turns' })
    const other = api === 'anthropic_messages' ? 'chat_completions' : 'anthropic_messages'
    const sent: Sent[] = []
    const result = await resumeConversation({ model: modelOver(other, [wireOf(other).text], sent), executor, runId })
    expect(result).toMatchObject({ state: 'finished', text: '2' })
    const written = JSON.stringify(sent[0]?.body)
    expect(written).toContain(other === 'anthropic_messages' ? '"tool_result"' : '"tool_call_id"')
  })
})

test('a network that is down is a failed turn, tried again', async () => {
  const model = apiModel({
    api: 'chat_completions',
    model: 'm',
    retry: false,
    fetch: () => Promise.reject(new TypeError('fetch failed')),
  })
  const result = await runConversation({ model, executor, runId: 'down', messages: FIRST })
  expect(result).toMatchObject({ state: 'stopped', reason: 'failed', error: { code: 'connect_failed' } })
})

test('content parts are passed on as they are', () => {
  const image = { type: 'image_url', image_url: { url: 'https://example.com/a.png' } }
  expect(conversationFields('chat_completions', [{ role: 'user', content: [image] }], [])).toEqual({
    messages: [{ role: 'user', content: [image] }],
  })
  expect(
    conversationFields(
      'bedrock_converse',
      [
        { role: 'system', content: 'a' },
        { role: 'user', content: 'b' },
      ],
      [],
    ),
  ).toEqual({
    system: [{ text: 'a' }],
    messages: [{ role: 'user', content: [{ text: 'b' }] }],
  })
})

test('mistakes are told', () => {
  expect(() => apiModel({ api: 'completions' as HistoryApi, model: 'm' })).toThrow(/completions/)
  const bare: Message = { role: 'assistant', text: 'hi', toolCalls: [] }
  expect(() => conversationFields('gemini', [bare], [])).toThrow(/snapshot/)
})
