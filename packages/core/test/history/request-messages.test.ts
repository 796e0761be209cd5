import { describe, expect, test } from 'vitest'
import { HISTORY_APIS, toRequestMessages } from '../../src/history/index.ts'
import type { HistoryApi } from '../../src/history/index.ts'
import { answer, call, ended, prose, text, written } from './snapshot.ts'
import { idsIn } from './lawful.ts'

const TWO = ended([text('Looking. '), call('c1', 'get', '{"n":1}'), call('c2', 'put', '')])
const BOTH = [answer('c2', '{"done":true}'), answer('c1', 'gone', true)]

describe('two answered calls behind a text', () => {
  test.each<{ api: HistoryApi; messages: readonly unknown[] }>([
    {
      api: 'chat_completions',
      messages: [
        {
          role: 'assistant',
          content: 'Looking. ',
          tool_calls: [
            { id: 'c1', type: 'function', function: { name: 'get', arguments: '{"n":1}' } },
            { id: 'c2', type: 'function', function: { name: 'put', arguments: '{}' } },
          ],
        },
        { role: 'tool', tool_call_id: 'c1', content: 'gone' },
        { role: 'tool', tool_call_id: 'c2', content: '{"done":true}' },
      ],
    },
    {
      api: 'responses',
      messages: [
        {
          type: 'message',
          role: 'assistant',
          content: [{ type: 'output_text', text: 'Looking. ', annotations: [] }],
        },
        { type: 'function_call', call_id: 'c1', name: 'get', arguments: '{"n":1}' },
        { type: 'function_call', call_id: 'c2', name: 'put', arguments: '{}' },
        { type: 'function_call_output', call_id: 'c1', output: 'gone' },
        { type: 'function_call_output', call_id: 'c2', output: '{"done":true}' },
      ],
    },
    {
      api: 'anthropic_messages',
      messages: [
        {
          role: 'assistant',
          content: [
            { type: 'text', text: 'Looking. ' },
            { type: 'tool_use', id: 'c1', name: 'get', input: { n: 1 } },
            { type: 'tool_use', id: 'c2', name: 'put', input: {} },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'c1', content: 'gone', is_error: true },
            { type: 'tool_result', tool_use_id: 'c2', content: '{"done":true}' },
          ],
        },
      ],
    },
    {
      api: 'gemini',
      messages: [
        {
          role: 'model',
          parts: [
            { text: 'Looking. ' },
            { functionCall: { id: 'c1', name: 'get', args: { n: 1 } } },
            { functionCall: { id: 'c2', name: 'put', args: {} } },
          ],
        },
        {
          role: 'user',
          parts: [
            { functionResponse: { id: 'c1', name: 'get', response: { error: 'gone' } } },
            { functionResponse: { id: 'c2', name: 'put', response: { done: true } } },
          ],
        },
      ],
    },
    {
      api: 'ollama',
      messages: [
        {
          role: 'assistant',
          content: 'Looking. ',
          tool_calls: [
            { id: 'c1', type: 'function', function: { name: 'get', arguments: { n: 1 } } },
            { id: 'c2', type: 'function', function: { name: 'put', arguments: {} } },
          ],
        },
        { role: 'tool', tool_name: 'get', tool_call_id: 'c1', content: 'gone' },
        { role: 'tool', tool_name: 'put', tool_call_id: 'c2', content: '{"done":true}' },
      ],
    },
    {
      api: 'cohere',
      messages: [
        {
          role: 'assistant',
          content: 'Looking. ',
          tool_calls: [
            { id: 'c1', type: 'function', function: { name: 'get', arguments: '{"n":1}' } },
            { id: 'c2', type: 'function', function: { name: 'put', arguments: '{}' } },
          ],
        },
        { role: 'tool', tool_call_id: 'c1', content: [{ type: 'document', document: { data: 'gone' } }] },
        { role: 'tool', tool_call_id: 'c2', content: [{ type: 'document', document: { data: '{"done":true}' } }] },
      ],
    },
    {
      api: 'bedrock_converse',
      messages: [
        {
          role: 'assistant',
          content: [
            { text: 'Looking. ' },
            { toolUse: { toolUseId: 'c1', name: 'get', input: { n: 1 } } },
            { toolUse: { toolUseId: 'c2', name: 'put', input: {} } },
          ],
        },
        {
          role: 'user',
          content: [
            { toolResult: { toolUseId: 'c1', content: [{ text: 'gone' }], status: 'error' } },
            { toolResult: { toolUseId: 'c2', content: [{ text: '{"done":true}' }], status: 'success' } },
          ],
        },
      ],
    },
  ])('$api', ({ api, messages }) => {
    expect(written(TWO, BOTH, api)).toEqual({ messages, dropped: [] })
  })
})

describe.each(HISTORY_APIS)('%s', (api) => {
  test('a call without a result is dropped, and its sibling stays', () => {
    const { messages, dropped } = written(TWO, [answer('c2')], api)
    expect(idsIn(messages, api)).toEqual({ calls: ['c2'], results: ['c2'] })
    expect(dropped).toEqual(['tool-call no_result'])
  })

  test('a turn that was aborted keeps what was shown of it', () => {
    const cut = ended(
      [{ ...text('Half a sen'), status: 'interrupted' }, call('c1', 'get', '{"n":', { status: 'interrupted' })],
      null,
    )
    const { messages, dropped } = written(cut, [], api)
    expect(messages).toHaveLength(1)
    expect(JSON.stringify(messages)).toContain('Half a sen')
    expect(dropped).toEqual(['tool-call no_result'])
  })

  test.each([
    { name: 'arguments that are cut', block: call('c1', 'get', '{"n":', { status: 'interrupted' }) },
    { name: 'arguments that are no object', block: call('c1', 'get', '[1]') },
    { name: 'no arguments yet', block: call('c1', 'get', '', { status: 'interrupted' }) },
    { name: 'free text that is cut', block: call('c1', 'get', 'x', { status: 'interrupted', freeText: true }) },
  ])('a call with $name is dropped with its result', ({ block }) => {
    const { messages, dropped } = written(ended([text('a'), block]), [answer('c1', 'not run', true)], api)
    expect(idsIn(messages, api)).toEqual({ calls: [], results: [] })
    expect(dropped).toEqual(['tool-call not_whole'])
  })

  test('a call without a name is dropped with its result', () => {
    const { name: _, ...nameless } = call('c1', 'get', '{}')
    expect(written(ended([text('a'), nameless]), [answer('c1')], api).dropped).toEqual(['tool-call not_whole'])
  })

  test('a turn that says nothing adds nothing', () => {
    expect(written(ended([], 'stop'), [], api).messages).toEqual([])
    expect(written(ended([text('')], 'stop'), [], api).messages).toEqual([])
    expect(written(ended([call('c1', 'get', '{}')]), [], api).messages).toEqual([])
    expect(toRequestMessages({ version: 0, choices: [], ended: true }, [], api)).toEqual([])
  })

  test('an id that the history has already is given another', () => {
    const { messages } = written(TWO, BOTH, api, { usedIds: ['c1', 'c1_2'] })
    expect(idsIn(messages, api)).toEqual({ calls: ['c1_3', 'c2'], results: ['c1_3', 'c2'] })
  })

  test('of another API only text and answered calls pass', () => {
    const from: HistoryApi = api === 'gemini' ? 'responses' : 'gemini'
    const snapshot = ended([
      prose('reasoning', 'hm', { thoughtSignature: 's', item: { id: 'rs_1' }, signature: 's' }),
      text('a', { thoughtSignature: 's', item: { id: 'msg_1' }, citations: [1] }),
      prose('opaque', '', { type: 'x', item: { type: 'y' }, inlineData: {} }),
      call('p1', 'search', '{}', { providerExecuted: true, metadata: { item: {} } }),
      call('c1', 'get', '{}', { metadata: { thoughtSignature: 's', item: { id: 'fc_1' }, caller: {} } }),
    ])
    const { messages, dropped } = written(snapshot, [answer('c1')], api, { from })
    expect(messages).toEqual(written(ended([text('a'), call('c1', 'get', '{}')]), [answer('c1')], api).messages)
    expect(dropped).toEqual(['reasoning other_api', 'opaque other_api', 'tool-call other_api'])
  })

  test('another choice can go on', () => {
    const [first] = TWO.choices
    const snapshot = { ...TWO, choices: [first!, { index: 1, blocks: [{ ...text('b'), index: 0 }] }] }
    expect(JSON.stringify(written(snapshot, [], api, { choice: 1 }).messages)).toContain('"b"')
  })
})

describe('what is refused', () => {
  test.each([
    {
      name: 'a stream that goes on',
      act: () => toRequestMessages({ ...TWO, ended: false }, [], 'gemini'),
      says: /has not ended/,
    },
    {
      name: 'a result for no call',
      act: () => toRequestMessages(TWO, [answer('c9')], 'gemini'),
      says: /no call of choice 0 has the id "c9"/,
    },
    {
      name: 'two results',
      act: () => toRequestMessages(TWO, [answer('c1'), answer('c1')], 'gemini'),
      says: /two results/,
    },
    {
      name: 'a result for a call of the provider',
      act: () =>
        toRequestMessages(ended([call('p1', 's', '{}', { providerExecuted: true })]), [answer('p1')], 'gemini'),
      says: /run by the provider/,
    },
    {
      name: 'an API without a history',
      act: () => toRequestMessages(TWO, [], 'completions' as HistoryApi),
      says: /no history is known/,
    },
    {
      name: 'a name of Object',
      act: () => toRequestMessages(TWO, [], 'toString' as HistoryApi),
      says: /no history is known/,
    },
  ])('$name', ({ act, says }) => {
    expect(act).toThrow(TypeError)
    expect(act).toThrow(says)
  })
})

describe('ids that an API does not take', () => {
  const kimi = ended([
    call('functions.get:0', 'get', '{}'),
    call('functions_get_0', 'get', '{}'),
    call('', 'get', '{}'),
  ])
  const results = [answer('functions.get:0'), answer('functions_get_0'), answer('')]

  test.each<HistoryApi>(['anthropic_messages', 'bedrock_converse'])('%s: letters, digits, _ and -', (api) => {
    const { messages } = written(kimi, results, api)
    const ids = ['functions_get_0', 'functions_get_0_2', 'call']
    expect(idsIn(messages, api)).toEqual({ calls: ids, results: ids })
  })

  test.each<HistoryApi>(['responses', 'bedrock_converse'])('%s: at most 64 characters', (api) => {
    const long = 'x'.repeat(80)
    const { messages } = written(
      ended([call(long, 'get', '{}'), call(`${long}y`, 'get', '{}')]),
      [answer(long), answer(`${long}y`)],
      api,
    )
    const ids = ['x'.repeat(64), `${'x'.repeat(62)}_2`]
    expect(idsIn(messages, api)).toEqual({ calls: ids, results: ids })
  })
})
