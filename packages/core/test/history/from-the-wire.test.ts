import { describe, expect, test } from 'vitest'
import { adapterFor } from '../../src/adapters/registry.ts'
import { createStreamEngine } from '../../src/engine/engine.ts'
import { toRequestMessages } from '../../src/history/index.ts'
import type { CallResult, HistoryApi, RequestMessage } from '../../src/history/index.ts'
import { answer } from './snapshot.ts'

/** What the history makes of a body that its own adapter has read: adapters must keep what it needs. */
function echoed(
  api: HistoryApi,
  events: readonly unknown[],
  results: readonly CallResult[],
): readonly RequestMessage[] {
  const engine = createStreamEngine({ adapter: adapterFor(api) })
  const lines = events.map((event) => (api === 'ollama' ? JSON.stringify(event) : `data: ${JSON.stringify(event)}\n`))
  engine.push(new TextEncoder().encode(`${lines.join('\n')}\n`))
  engine.end('eof')
  return toRequestMessages(engine.snapshot(), results, api)
}

const chatDelta = (value: unknown, reason: string | null = null): unknown => ({
  id: 'c',
  choices: [{ index: 0, delta: value, finish_reason: reason }],
})

const blockDelta = (index: number, value: unknown): unknown => ({
  contentBlockDelta: { contentBlockIndex: index, delta: value },
})

const ollamaLine = (message: unknown, done = false): unknown => ({
  model: 'm',
  message,
  done,
  ...(done && { done_reason: 'stop' }),
})

const cohereDelta = (value: unknown): unknown => ({ message: value })

test('Responses: reasoning with its encrypted content, a hosted search, a message, a call', () => {
  const reasoning = { id: 'rs_1', type: 'reasoning', summary: [], encrypted_content: 'eA==' }
  const search = { id: 'ws_1', type: 'web_search_call', status: 'completed', action: { type: 'search', query: 'x' } }
  const message = { id: 'msg_1', type: 'message', role: 'assistant', status: 'completed' }
  const call = { id: 'fc_1', type: 'function_call', call_id: 'call_1', name: 'get', status: 'completed' }
  const content = [{ type: 'output_text', text: 'Hi', annotations: [] }]
  const output = [reasoning, search, { ...message, content }, { ...call, arguments: '{"n":1}' }]
  const done = output.flatMap((item, at) => [
    { type: 'response.output_item.added', output_index: at, item: { ...item, status: 'in_progress' } },
    { type: 'response.output_item.done', output_index: at, item },
  ])
  const response = { id: 'resp_1', object: 'response', status: 'completed', output, usage: {} }
  const events = [
    { type: 'response.created', response: { id: 'resp_1', object: 'response', status: 'in_progress', output: [] } },
    ...done,
    { type: 'response.completed', response },
  ].map((event, n) => ({ ...event, sequence_number: n }))
  expect(echoed('responses', events, [answer('call_1', '7')])).toEqual([
    ...output,
    { type: 'function_call_output', call_id: 'call_1', output: '7' },
  ])
})

test('Gemini: signatures on their parts, code that the provider ran', () => {
  const parts = [
    { text: 'Let me see. ', thoughtSignature: 's1' },
    { executableCode: { language: 'PYTHON', code: '1+1' } },
    { codeExecutionResult: { outcome: 'OUTCOME_OK', output: '2' } },
    { functionCall: { name: 'get', args: { n: 1 } }, thoughtSignature: 's2' },
  ]
  const events = parts.map((part, i) => ({
    candidates: [{ content: { role: 'model', parts: [part] }, ...(i === 3 && { finishReason: 'STOP' }) }],
  }))
  const engine = createStreamEngine({ adapter: adapterFor('gemini') })
  engine.push(new TextEncoder().encode(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')))
  engine.end('eof')
  const [own] = engine.calls().filter(({ providerExecuted }) => !providerExecuted)
  expect(toRequestMessages(engine.snapshot(), [answer(own!.callId, '{"t":1}')], 'gemini')).toEqual([
    { role: 'model', parts },
    { role: 'user', parts: [{ functionResponse: { name: 'get', response: { t: 1 } } }] },
  ])
})

describe('Messages: every kind of block, as it came', () => {
  const blocks = [
    { type: 'thinking', thinking: 'hm', signature: 'c2ln' },
    { type: 'redacted_thinking', data: 'eA==' },
    { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'x' } },
    { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [{ type: 'web_search_result', url: 'u' }] },
    { type: 'text', text: 'Hi', citations: [{ type: 'char_location' }] },
    { type: 'compaction', content: 'so far' },
    { type: 'tool_use', id: 'toolu_1', name: 'get', input: { n: 1 }, caller: { type: 'direct' } },
  ]

  test.each([
    { name: 'whole', events: [{ type: 'message', role: 'assistant', content: blocks, stop_reason: 'tool_use' }] },
    {
      name: 'streamed',
      events: [
        { type: 'message_start', message: { id: 'msg_1', content: [] } },
        ...blocks.flatMap((block, index) => [
          { type: 'content_block_start', index, content_block: block },
          { type: 'content_block_stop', index },
        ]),
        { type: 'message_delta', delta: { stop_reason: 'tool_use' } },
        { type: 'message_stop' },
      ],
    },
  ])('$name', ({ events }) => {
    expect(echoed('anthropic_messages', events, [answer('toolu_1', '7')])).toEqual([
      { role: 'assistant', content: blocks },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: '7' }] },
    ])
  })
})

test('Chat Completions: a thought signature, reasoning details in pieces, a custom call', () => {
  const extra = { extra_content: { google: { thought_signature: 's' } } }
  const detail = { type: 'reasoning.text', index: 0, format: 'x' }
  const events = [
    chatDelta({ reasoning_details: [{ ...detail, text: 'h' }] }),
    chatDelta({ reasoning_details: [{ ...detail, text: 'm', signature: 's' }] }),
    chatDelta({ tool_calls: [{ index: 0, id: 'c1', function: { name: 'get', arguments: '{}' }, ...extra }] }),
    chatDelta({ tool_calls: [{ index: 1, id: 'c2', type: 'custom', custom: { name: 'sh', input: 'ls' } }] }),
    chatDelta({}, 'tool_calls'),
  ]
  expect(echoed('chat_completions', events, [answer('c1'), answer('c2')])[0]).toEqual({
    role: 'assistant',
    content: null,
    reasoning_details: [{ ...detail, text: 'hm', signature: 's' }],
    tool_calls: [
      { ...extra, id: 'c1', type: 'function', function: { name: 'get', arguments: '{}' } },
      { id: 'c2', type: 'custom', custom: { name: 'sh', input: 'ls' } },
    ],
  })
})

test('Converse: reasoning with its signature', () => {
  const events = [
    { messageStart: { role: 'assistant' } },
    blockDelta(0, { reasoningContent: { text: 'hm' } }),
    blockDelta(0, { reasoningContent: { signature: 's' } }),
    { contentBlockStop: { contentBlockIndex: 0 } },
    { contentBlockStart: { contentBlockIndex: 1, start: { toolUse: { toolUseId: 't1', name: 'get' } } } },
    blockDelta(1, { toolUse: { input: '{"n":1}' } }),
    { contentBlockStop: { contentBlockIndex: 1 } },
    { messageStop: { stopReason: 'tool_use' } },
  ]
  expect(echoed('bedrock_converse', events, [answer('t1')])[0]).toEqual({
    role: 'assistant',
    content: [
      { reasoningContent: { reasoningText: { text: 'hm', signature: 's' } } },
      { toolUse: { toolUseId: 't1', name: 'get', input: { n: 1 } } },
    ],
  })
})

test('Ollama: thinking and calls', () => {
  const events = [
    ollamaLine({ role: 'assistant', content: '', thinking: 'hm' }),
    ollamaLine({
      role: 'assistant',
      content: '',
      tool_calls: [{ id: 'c1', function: { name: 'get', arguments: { n: 1 } } }],
    }),
    ollamaLine({ role: 'assistant', content: '' }, true),
  ]
  expect(echoed('ollama', events, [answer('c1', '7')])).toEqual([
    {
      role: 'assistant',
      content: '',
      thinking: 'hm',
      tool_calls: [{ id: 'c1', type: 'function', function: { name: 'get', arguments: { n: 1 } } }],
    },
    { role: 'tool', tool_name: 'get', tool_call_id: 'c1', content: '7' },
  ])
})

test('Cohere: the plan and its calls', () => {
  const events = [
    { type: 'message-start', id: 'm', delta: cohereDelta({ role: 'assistant' }) },
    { type: 'tool-plan-delta', delta: cohereDelta({ tool_plan: 'I will look.' }) },
    {
      type: 'tool-call-start',
      index: 0,
      delta: cohereDelta({ tool_calls: { id: 'c1', type: 'function', function: { name: 'get', arguments: '' } } }),
    },
    { type: 'tool-call-delta', index: 0, delta: cohereDelta({ tool_calls: { function: { arguments: '{"n":1}' } } }) },
    { type: 'tool-call-end', index: 0 },
    { type: 'message-end', delta: { finish_reason: 'TOOL_CALL' } },
  ]
  expect(echoed('cohere', events, [answer('c1')])[0]).toEqual({
    role: 'assistant',
    tool_plan: 'I will look.',
    tool_calls: [{ id: 'c1', type: 'function', function: { name: 'get', arguments: '{"n":1}' } }],
  })
})
