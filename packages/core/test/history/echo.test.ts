import { describe, expect, test } from 'vitest'
import { answer, call, ended, prose, text, written } from './snapshot.ts'

const serverCall = (id: string, extra = {}): ReturnType<typeof call> =>
  call(id, 'web_search', '{"query":"x"}', {
    providerExecuted: true,
    metadata: { type: 'server_tool_use' },
    ...extra,
  })
const searchResult = (id: string): ReturnType<typeof prose> =>
  prose('opaque', '', { type: 'web_search_tool_result', tool_use_id: id, content: [{ url: 'https://a.example' }] })
const firstContent = (...args: Parameters<typeof written>): unknown => written(...args).messages[0]?.['content']

const functionCall = (n: number, extra = {}): ReturnType<typeof call> =>
  call(`c${n}`, 'get', '{"n":1}', {
    metadata: { item: { id: `fc_${n}`, type: 'function_call', call_id: `c${n}`, name: 'get', status: 'completed' } },
    ...extra,
  })

describe('Messages', () => {
  const api = 'anthropic_messages'
  const signed = prose('reasoning', 'hm', { type: 'thinking', signature: 'c2ln' })
  const redacted = prose('reasoning', '', { type: 'redacted_thinking', data: 'eA==' })

  test('thinking goes back with its signature, redacted thinking with its data, citations with their text', () => {
    const snapshot = ended([
      signed,
      redacted,
      text('a', { citations: [{ n: 1 }] }),
      call('c1', 'get', '{}', { metadata: { caller: { type: 'direct' } } }),
    ])
    expect(written(snapshot, [answer('c1')], api)).toEqual({
      messages: [
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'hm', signature: 'c2ln' },
            { type: 'redacted_thinking', data: 'eA==' },
            { type: 'text', text: 'a', citations: [{ n: 1 }] },
            { type: 'tool_use', id: 'c1', name: 'get', input: {}, caller: { type: 'direct' } },
          ],
        },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', content: 'ok' }] },
      ],
      dropped: [],
    })
  })

  test.each([
    {
      name: 'without a signature',
      block: prose('reasoning', 'hm', { type: 'thinking' }),
      dropped: 'reasoning no_proof',
    },
    { name: 'that was cut', block: { ...signed, status: 'interrupted' as const }, dropped: 'reasoning cut_off' },
  ])('thinking $name is dropped', ({ block, dropped }) => {
    const result = written(ended([block, text('a')], 'stop'), [], api)
    expect(result).toEqual({
      messages: [{ role: 'assistant', content: [{ type: 'text', text: 'a' }] }],
      dropped: [dropped],
    })
  })

  test('a message does not end with thinking: where its call is dropped, it is dropped too', () => {
    const result = written(ended([text('a'), signed, call('c1', 'get', '{}')]), [], api)
    expect(result).toEqual({
      messages: [{ role: 'assistant', content: [{ type: 'text', text: 'a' }] }],
      dropped: ['tool-call no_result', 'reasoning unpaired'],
    })
    expect(written(ended([signed], 'length'), [], api).messages).toEqual([])
  })

  test('a tool that the provider ran goes back with its result', () => {
    expect(firstContent(ended([serverCall('s1'), searchResult('s1'), text('a')], 'stop'), [], api)).toEqual([
      { type: 'server_tool_use', id: 's1', name: 'web_search', input: { query: 'x' } },
      { type: 'web_search_tool_result', tool_use_id: 's1', content: [{ url: 'https://a.example' }] },
      { type: 'text', text: 'a' },
    ])
  })

  test('without a result it is dropped, unless the turn is paused', () => {
    const blocks = [text('a'), serverCall('s1')]
    expect(written(ended(blocks, null), [], api)).toMatchObject({
      messages: [{ content: [{ type: 'text' }] }],
      dropped: ['tool-call unpaired'],
    })
    expect(firstContent(ended(blocks, 'pause'), [], api)).toMatchObject([{ type: 'text' }, { type: 'server_tool_use' }])
  })

  test('or it waits for a call of its own code, which is answered', () => {
    const inner = call('c1', 'roll', '{"sides":6}', {
      metadata: { caller: { type: 'code_execution_20250825', tool_id: 's1' } },
    })
    expect(firstContent(ended([serverCall('s1'), inner]), [answer('c1')], api)).toMatchObject([
      { type: 'server_tool_use', id: 's1' },
      { type: 'tool_use', id: 'c1', caller: { tool_id: 's1' } },
    ])
    expect(written(ended([serverCall('s1'), inner]), [], api)).toEqual({
      messages: [],
      dropped: ['tool-call no_result', 'tool-call unpaired'],
    })
  })

  test('the result of a call in an earlier message goes back; one of a call that was cut does not', () => {
    expect(firstContent(ended([searchResult('s0'), text('a')], 'stop'), [], api)).toMatchObject([
      { type: 'web_search_tool_result', tool_use_id: 's0' },
      { type: 'text' },
    ])
    const cut = ended([serverCall('s1', { status: 'interrupted' }), searchResult('s1'), text('a')], null)
    expect(written(cut, [], api).dropped).toEqual(['tool-call unpaired', 'opaque unpaired'])
  })

  test('a block that is not known goes back whole, but not where deltas of it were not known either', () => {
    const odd = { type: 'hologram', frames: 2 }
    expect(firstContent(ended([prose('opaque', '', odd), text('a')], 'stop'), [], api)).toEqual([
      odd,
      { type: 'text', text: 'a' },
    ])
    const half = ended([prose('opaque', '', { ...odd, deltas: [{}] }), text('a')], 'stop')
    expect(written(half, [], api).dropped).toEqual(['opaque no_word'])
  })

  test('blank text is not sent: the API refuses it', () => {
    expect(firstContent(ended([text(' \n'), call('c1', 'get', '{}')]), [answer('c1')], api)).toMatchObject([
      { type: 'tool_use' },
    ])
  })
})

describe('Responses', () => {
  const api = 'responses'
  const item = { id: 'rs_1', type: 'reasoning', summary: [], encrypted_content: 'eA==' }
  const reasoning = prose('reasoning', 'hm', { item })

  test('items go back as they came, each with its id', () => {
    const message = { id: 'msg_1', type: 'message', role: 'assistant', status: 'completed' }
    const snapshot = ended([
      reasoning,
      text('a', { item: message, annotations: [{ type: 'url_citation' }] }),
      prose('refusal', 'no', { item: message }),
      functionCall(1),
    ])
    expect(written(snapshot, [answer('c1', '7')], api)).toEqual({
      messages: [
        item,
        {
          ...message,
          content: [
            { type: 'output_text', text: 'a', annotations: [{ type: 'url_citation' }] },
            { type: 'refusal', refusal: 'no' },
          ],
        },
        { id: 'fc_1', type: 'function_call', call_id: 'c1', name: 'get', status: 'completed', arguments: '{"n":1}' },
        { type: 'function_call_output', call_id: 'c1', output: '7' },
      ],
      dropped: [],
    })
  })

  test('reasoning goes only where the item behind it goes', () => {
    expect(written(ended([reasoning, functionCall(1), functionCall(2)]), [answer('c2')], api)).toEqual({
      messages: [
        { id: 'fc_2', type: 'function_call', call_id: 'c2', name: 'get', status: 'completed', arguments: '{"n":1}' },
        { type: 'function_call_output', call_id: 'c2', output: 'ok' },
      ],
      dropped: ['tool-call no_result', 'reasoning unpaired'],
    })
    expect(written(ended([reasoning], 'length'), [], api)).toEqual({ messages: [], dropped: ['reasoning unpaired'] })
    const cut = ended([reasoning, { ...text('Half'), status: 'interrupted' }], null)
    expect(written(cut, [], api)).toMatchObject({ messages: [{ role: 'assistant' }], dropped: ['reasoning unpaired'] })
  })

  test('the blocks of one reasoning item are one item', () => {
    const snapshot = ended([prose('reasoning', 'one'), prose('reasoning', 'two', { item }), functionCall(1)])
    const { messages, dropped } = written(snapshot, [answer('c1')], api)
    expect(messages.map(({ type }) => type)).toEqual(['reasoning', 'function_call', 'function_call_output'])
    expect(dropped).toEqual([])
    expect(written(ended([prose('reasoning', 'one'), functionCall(1)]), [answer('c1')], api).dropped).toEqual([
      'reasoning no_proof',
    ])
  })

  test('custom tools take text and are answered as such', () => {
    const custom = call('c1', 'sh', 'ls -l', {
      freeText: true,
      metadata: { item: { id: 'ctc_1', type: 'custom_tool_call' } },
    })
    expect(written(ended([custom]), [answer('c1', 'a b')], api).messages).toEqual([
      { id: 'ctc_1', type: 'custom_tool_call', call_id: 'c1', name: 'sh', input: 'ls -l' },
      { type: 'custom_tool_call_output', call_id: 'c1', output: 'a b' },
    ])
  })

  test.each([
    { type: 'web_search_call', dropped: [] },
    { type: 'mcp_call', dropped: [] },
    { type: 'shell_call', environment: { type: 'container_reference' }, dropped: [] },
    { type: 'shell_call', environment: { type: 'local' }, dropped: ['tool-call no_result'] },
    { type: 'tool_search_call', execution: 'server', dropped: [] },
    { type: 'tool_search_call', execution: 'client', dropped: ['tool-call no_result'] },
    { type: 'computer_call', dropped: ['tool-call no_result'] },
    { type: 'local_shell_call', dropped: ['tool-call no_result'] },
    { type: 'apply_patch_call', dropped: ['tool-call no_result'] },
    { type: 'mcp_approval_request', dropped: ['tool-call no_result'] },
  ])('a $type goes back when nobody has to answer it', ({ dropped, ...rest }) => {
    const hosted = { id: 'h_1', ...rest }
    const block = call('h_1', 'x', '{}', { providerExecuted: true, metadata: { item: hosted } })
    const result = written(ended([block, text('a')], 'stop'), [], api)
    expect(result.dropped).toEqual(dropped)
    expect(result.messages.slice(0, -1)).toEqual(dropped.length === 0 ? [hosted] : [])
  })
})

describe('Gemini', () => {
  const api = 'gemini'

  test('a signature goes back on the part that it came with', () => {
    const snapshot = ended([
      prose('reasoning', 'hm', { thoughtSignature: 's0' }),
      prose('reasoning', 'only a summary'),
      text('a', { thoughtSignature: 's1' }),
      call('c1', 'get', '{"n":1}', { metadata: { thoughtSignature: 's2' } }),
      text('', { thoughtSignature: 's3' }),
    ])
    expect(written(snapshot, [answer('c1', '7')], api)).toEqual({
      messages: [
        {
          role: 'model',
          parts: [
            { text: 'hm', thought: true, thoughtSignature: 's0' },
            { text: 'a', thoughtSignature: 's1' },
            { functionCall: { id: 'c1', name: 'get', args: { n: 1 } }, thoughtSignature: 's2' },
            { text: '', thoughtSignature: 's3' },
          ],
        },
        { role: 'user', parts: [{ functionResponse: { id: 'c1', name: 'get', response: { result: 7 } } }] },
      ],
      dropped: ['reasoning no_proof'],
    })
  })

  test('a call that had no id goes back without one', () => {
    const { providerCallId: _, ...anonymous } = call('call_x_0_0', 'get', '{}')
    expect(written(ended([anonymous]), [answer('call_x_0_0', 'sunny')], api).messages).toEqual([
      { role: 'model', parts: [{ functionCall: { name: 'get', args: {} } }] },
      { role: 'user', parts: [{ functionResponse: { name: 'get', response: { result: 'sunny' } } }] },
    ])
  })

  test('what the provider ran goes back as it came', () => {
    const code = call('x1', 'code_execution', '{"language":"PYTHON","code":"1"}', {
      providerExecuted: true,
      metadata: { part: 'executableCode', thoughtSignature: 's' },
    })
    const tool = call('x2', 'GOOGLE_SEARCH', '{"q":"a"}', { providerExecuted: true, metadata: { part: 'toolCall' } })
    const output = { codeExecutionResult: { outcome: 'OUTCOME_OK', output: '1' } }
    const { messages } = written(ended([code, prose('opaque', '', output), tool, text('a')], 'stop'), [], api)
    expect(messages).toEqual([
      {
        role: 'model',
        parts: [
          { executableCode: { id: 'x1', language: 'PYTHON', code: '1' }, thoughtSignature: 's' },
          output,
          { toolCall: { id: 'x2', toolType: 'GOOGLE_SEARCH', args: { q: 'a' } } },
          { text: 'a' },
        ],
      },
    ])
  })

  test('but not where it was cut', () => {
    const code = call('x1', 'code_execution', '{}', {
      providerExecuted: true,
      status: 'interrupted',
      metadata: { part: 'executableCode' },
    })
    expect(written(ended([text('a'), code], null), [], api).dropped).toEqual(['tool-call cut_off'])
  })
})

describe('Chat Completions', () => {
  const api = 'chat_completions'

  test('fields of a call that only the server reads go back with it', () => {
    const extra = { extra_content: { google: { thought_signature: 's' } } }
    const { messages } = written(ended([call('c1', 'get', '{}', { metadata: extra })]), [answer('c1')], api)
    expect(messages[0]).toEqual({
      role: 'assistant',
      content: null,
      tool_calls: [{ ...extra, id: 'c1', type: 'function', function: { name: 'get', arguments: '{}' } }],
    })
  })

  test('a custom call takes text', () => {
    const { messages } = written(ended([call('c1', 'sh', 'ls', { freeText: true })]), [answer('c1')], api)
    expect(messages[0]?.['tool_calls']).toEqual([{ id: 'c1', type: 'custom', custom: { name: 'sh', input: 'ls' } }])
  })

  test('reasoning goes back only under the field that was named', () => {
    const snapshot = ended([prose('reasoning', 'hm'), text('a')], 'stop')
    expect(written(snapshot, [], api)).toEqual({
      messages: [{ role: 'assistant', content: 'a' }],
      dropped: ['reasoning no_word'],
    })
    expect(written(snapshot, [], api, { reasoningField: 'reasoning_content' })).toEqual({
      messages: [{ role: 'assistant', content: 'a', reasoning_content: 'hm' }],
      dropped: [],
    })
  })

  test('reasoning details are put together from their pieces', () => {
    const pieces = [
      { type: 'reasoning.text', index: 0, text: 'Two ', signature: null },
      { type: 'reasoning.text', index: 0, text: 'plus', signature: 'c2ln' },
      { type: 'reasoning.encrypted', index: 1, data: 'eA' },
      { type: 'reasoning.encrypted', index: 1, data: '==' },
      { type: 'reasoning.summary', summary: 'a' },
      { type: 'reasoning.summary', summary: 'b' },
      'no detail',
    ]
    const snapshot = ended([prose('reasoning', 'Two plus'), text('a')], 'stop', { reasoning_details: pieces })
    expect(written(snapshot, [], api)).toEqual({
      messages: [
        {
          role: 'assistant',
          content: 'a',
          reasoning_details: [
            { type: 'reasoning.text', index: 0, text: 'Two plus', signature: 'c2ln' },
            { type: 'reasoning.encrypted', index: 1, data: 'eA==' },
            { type: 'reasoning.summary', summary: 'a' },
            { type: 'reasoning.summary', summary: 'b' },
          ],
        },
      ],
      dropped: [],
    })
  })

  test('a refusal has a field of its own; elsewhere it is text', () => {
    const snapshot = ended([prose('refusal', 'I will not.')], 'stop')
    expect(written(snapshot, [], api).messages).toEqual([{ role: 'assistant', content: null, refusal: 'I will not.' }])
    expect(written(snapshot, [], 'ollama').messages).toEqual([{ role: 'assistant', content: 'I will not.' }])
    expect(written(snapshot, [], 'gemini').messages).toEqual([{ role: 'model', parts: [{ text: 'I will not.' }] }])
    expect(written(snapshot, [], 'anthropic_messages').messages).toEqual([
      { role: 'assistant', content: [{ type: 'text', text: 'I will not.' }] },
    ])
  })
})

describe('the others', () => {
  const thinking = ended([prose('reasoning', 'hm', { signature: 's' }), text('a'), call('c1', 'get', '{}')])

  test('Ollama takes its thinking back', () => {
    expect(written(thinking, [answer('c1')], 'ollama').messages[0]).toMatchObject({ content: 'a', thinking: 'hm' })
  })

  test('Cohere takes a plan back, and reasoning only as one', () => {
    expect(written(thinking, [answer('c1')], 'cohere').messages[0]).toMatchObject({ tool_plan: 'hm', content: 'a' })
    expect(written(thinking, [], 'cohere')).toEqual({
      messages: [{ role: 'assistant', content: 'a' }],
      dropped: ['tool-call no_result', 'reasoning no_word'],
    })
  })

  test('Bedrock takes reasoning back with its signature, or redacted', () => {
    const snapshot = ended([
      prose('reasoning', 'hm', { signature: 's' }),
      prose('reasoning', '', { redactedContent: 'eA==' }),
      prose('reasoning', 'unsigned'),
      prose('opaque', '', { image: {} }),
      call('c1', 'get', '{}'),
    ])
    expect(written(snapshot, [answer('c1')], 'bedrock_converse')).toMatchObject({
      messages: [
        {
          content: [
            { reasoningContent: { reasoningText: { text: 'hm', signature: 's' } } },
            { reasoningContent: { redactedContent: 'eA==' } },
            { toolUse: { toolUseId: 'c1' } },
          ],
        },
        { role: 'user' },
      ],
      dropped: ['reasoning no_proof', 'opaque no_word'],
    })
  })

  test.each(['chat_completions', 'ollama', 'cohere', 'bedrock_converse'] as const)(
    '%s has no word for what a provider ran itself',
    (api) => {
      const snapshot = ended(
        [call('p1', 'search', '{}', { providerExecuted: true }), prose('opaque', '', { x: 1 }), text('a')],
        'stop',
      )
      expect(written(snapshot, [], api).dropped).toEqual(['tool-call no_word', 'opaque no_word'])
    },
  )
})
