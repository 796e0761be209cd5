import { describe, expect, test } from 'vitest'
import { responses } from '../../../src/adapters/openai-responses/adapter.ts'
import { adapterFor } from '../../../src/adapters/registry.ts'
import type { StreamChunk } from '../../../src/chunk/chunk.ts'
import { DEFAULT_LIMITS } from '../../../src/chunk/limits.ts'
import { createOutput } from '../collect.ts'
import { collectResponses } from './collect.ts'
import {
  added,
  argumentsDelta,
  argumentsDone,
  completed,
  created,
  done,
  ended,
  functionCall,
  message,
  OSLO,
  response,
  textDelta,
  textDone,
  wholeCall,
  wholeMessage,
} from './wire.ts'

const START: StreamChunk = { type: 'start', id: 'resp_1', model: 'm-1' }
const STOP: StreamChunk = { type: 'finish', reason: 'stop', raw: 'completed' }

function ofType<Type extends StreamChunk['type']>(
  chunks: readonly StreamChunk[],
  type: Type,
): readonly Extract<StreamChunk, { type: Type }>[] {
  return chunks.filter((chunk): chunk is Extract<StreamChunk, { type: Type }> => chunk.type === type)
}

function conflicts(chunks: readonly StreamChunk[]): readonly string[] {
  return ofType(chunks, 'tool-call-delta').flatMap(({ conflict }) => (conflict === undefined ? [] : [conflict.message]))
}

function summaryDelta(at: number, text: string): unknown {
  return {
    type: 'response.reasoning_summary_text.delta',
    output_index: 0,
    item_id: 'rs_1',
    summary_index: at,
    delta: text,
  }
}

function interpreter(code: string, extra: Record<string, unknown> = {}): Record<string, unknown> {
  return { id: 'ci_1', type: 'code_interpreter_call', code, ...extra }
}

function patch(operation: unknown): Record<string, unknown> {
  return { id: 'apc_1', type: 'apply_patch_call', call_id: 'c', operation }
}

/** What becomes of an item that is begun, done and restated: name, input, whose it is, findings and the finish reason. */
function readItem(item: Record<string, unknown>): unknown {
  const { chunks, notes } = collectResponses([created(), added(0, item), done(0, item), completed([item])])
  const deltas = ofType(chunks, 'tool-call-delta')
  return [
    deltas[0]?.name,
    deltas.map((chunk) => chunk.argumentsDelta).join(''),
    deltas[0]?.providerExecuted,
    notes.filter((note) => !note.startsWith('missing_id')),
    ofType(chunks, 'finish')[0]?.reason,
  ]
}

describe('what it declares', () => {
  test('a stop event, and all end evidence required', () => {
    expect(responses()).toMatchObject({
      api: 'responses',
      terminator: 'stop-event',
      sentinel: 'required',
      finishReason: 'required',
      repairs: [],
    })
    expect(adapterFor('responses').api).toBe('responses')
  })

  test('a profile may relax it', () => {
    const profile = { sentinel: 'optional', finishReason: 'optional', repairs: ['double-encoded'] } as const
    expect(responses(profile as never)).toMatchObject(profile)
  })

  test('ended at the terminal event only, finished also at [DONE]', () => {
    const machine = responses().open({ request: {}, limits: DEFAULT_LIMITS, idSeed: '' })
    const { out } = createOutput()
    const state = (): unknown => [machine.ended, machine.finished, [...machine.choices], machine.wholeCompletion]
    expect(state()).toEqual([false, false, [], false])
    machine.push({ data: JSON.stringify(created()) }, out)
    expect(state()).toEqual([false, false, [0], false])
    machine.push({ data: '[DONE]' }, out)
    expect(state()).toEqual([false, true, [0], false])
    machine.push({ data: JSON.stringify(completed()) }, out)
    expect(state()).toEqual([true, true, [0], false])
  })
})

describe('text', () => {
  test('start, deltas, block-end, usage, finish, in this order', () => {
    const usage = { input_tokens: 3, output_tokens: 2, total_tokens: 5 }
    const { chunks, notes } = collectResponses([created(), ...wholeMessage(0, ['Hi', '.']), completed([], { usage })])
    expect(chunks).toEqual([
      START,
      { type: 'text-delta', index: 0, text: 'Hi' },
      { type: 'text-delta', index: 0, text: '.' },
      {
        type: 'block-end',
        index: 0,
        metadata: { item: { id: 'msg_1', type: 'message', role: 'assistant', status: 'completed' } },
      },
      { type: 'usage', usage: { inputTokens: 3, outputTokens: 2, totalTokens: 5, raw: usage } },
      STOP,
    ])
    expect(notes).toEqual([])
  })

  test('annotations and log probabilities are kept with the block; what the part restates counts', () => {
    const annotation = { type: 'url_citation', url: 'https://example.org/' }
    const logprobs = [{ token: 'Hi', logprob: -0.1 }]
    const added1 = {
      type: 'response.output_text.annotation.added',
      output_index: 0,
      item_id: 'msg_1',
      content_index: 0,
      annotation_index: 0,
      annotation,
    }
    const begun = [created(), added(0, message()), textDelta(0, 'Hi', { logprobs }), added1]
    const oneByOne = collectResponses([...begun, done(0, message('Hi'))])
    expect(ofType(oneByOne.chunks, 'block-end')).toMatchObject([{ metadata: { annotations: [annotation], logprobs } }])
    const part = { type: 'output_text', text: 'Hi', annotations: [annotation, annotation], logprobs: [] }
    const restated = collectResponses([
      ...begun,
      { type: 'response.content_part.done', output_index: 0, item_id: 'msg_1', content_index: 0, part },
    ])
    expect(ofType(restated.chunks, 'block-end')).toMatchObject([
      { metadata: { annotations: [annotation, annotation], logprobs } },
    ])
  })

  test('several parts and several messages are blocks of their own', () => {
    const two = { type: 'message', id: 'msg_2', role: 'assistant', content: [] }
    const { chunks } = collectResponses([
      created(),
      added(0, message()),
      textDelta(0, 'a'),
      textDelta(0, 'b', { content_index: 1 }),
      added(1, two),
      textDelta(1, 'c', { item_id: 'msg_2' }),
      textDelta(0, 'd'),
    ])
    expect(ofType(chunks, 'text-delta').map(({ index, text }) => [index, text])).toEqual([
      [0, 'a'],
      [1, 'b'],
      [2, 'c'],
      [0, 'd'],
    ])
  })

  test('a restated text that contradicts the deltas counts, and is said once', () => {
    const { chunks, notes } = collectResponses([
      created(),
      added(0, message()),
      textDelta(0, 'Hello wrld'),
      textDone(0, 'Hello world'),
      done(0, message('Hello world')),
      completed([message('Hello world')]),
    ])
    expect(notes).toEqual(['text_restated: text'])
    expect(ofType(chunks, 'block-end')).toMatchObject([
      { block: { type: 'text', index: 0, text: 'Hello world', status: 'done' } },
    ])
  })

  test('the final response may add to a text whose block had ended', () => {
    const { chunks, notes } = collectResponses([created(), ...wholeMessage(0, ['Hel']), completed([message('Hello')])])
    expect(ofType(chunks, 'text-delta').map(({ text }) => text)).toEqual(['Hel', 'lo'])
    expect(ofType(chunks, 'block-end')).toHaveLength(2)
    expect(notes).toEqual(['deltas_incomplete: text'])
  })

  test('parts that hold no text are kept', () => {
    const image = { type: 'output_image', url: 'https://example.org/a.png' }
    const { chunks } = collectResponses([created(), done(0, message('Hi', { content: [image] })), completed()])
    expect(chunks).toContainEqual({ type: 'metadata', choice: 0, append: { content: [image] } })
  })
})

describe('reasoning', () => {
  const whole = { id: 'rs_1', type: 'reasoning', encrypted_content: 'c2VjcmV0' }

  test('summary parts are blocks; the last keeps the item, to be sent back', () => {
    const summary = [
      { type: 'summary_text', text: 'One.' },
      { type: 'summary_text', text: 'Two.' },
    ]
    const { chunks } = collectResponses([
      created(),
      added(0, { ...whole, encrypted_content: '', summary: [] }),
      summaryDelta(0, 'One.'),
      summaryDelta(1, 'Two.'),
      done(0, { ...whole, summary }),
      completed([{ ...whole, summary }]),
    ])
    expect(chunks.slice(1)).toEqual([
      { type: 'reasoning-delta', index: 0, text: 'One.' },
      { type: 'reasoning-delta', index: 1, text: 'Two.' },
      { type: 'block-end', index: 0 },
      { type: 'block-end', index: 1, metadata: { item: { ...whole, summary } } },
      STOP,
    ])
  })

  test('without any text it is an empty block that keeps the item', () => {
    const { chunks } = collectResponses([created(), added(0, whole), done(0, whole), completed()])
    expect(chunks.slice(1)).toEqual([
      { type: 'block-start', index: 0, blockType: 'reasoning' },
      { type: 'block-end', index: 0, metadata: { item: whole } },
      STOP,
    ])
  })

  test('raw reasoning text, restated by its item', () => {
    const content = [{ type: 'reasoning_text', text: 'Hm, so.' }]
    const { chunks, notes } = collectResponses([
      created(),
      added(0, { ...whole, content: [] }),
      {
        type: 'response.reasoning_text.delta',
        output_index: 0,
        item_id: 'rs_1',
        content_index: 0,
        delta: 'Hm',
      },
      done(0, { ...whole, content }),
    ])
    expect(ofType(chunks, 'reasoning-delta').map(({ text }) => text)).toEqual(['Hm', ', so.'])
    expect(notes).toEqual(['deltas_incomplete: reasoning'])
  })
})

describe('calls', () => {
  test('announced by their item, fed by deltas, closed by their item', () => {
    const { chunks } = collectResponses([created(), ...wholeCall(0, ['{"city":', '"Oslo"}']), completed()])
    const { arguments: _, ...item } = functionCall(OSLO)
    expect(chunks.slice(1)).toEqual([
      {
        type: 'tool-call-delta',
        index: 0,
        id: 'call_9',
        argumentsDelta: '',
        name: 'get_weather',
        providerCallId: 'call_9',
      },
      { type: 'tool-call-delta', index: 0, id: 'call_9', argumentsDelta: '{"city":' },
      { type: 'tool-call-delta', index: 0, id: 'call_9', argumentsDelta: '"Oslo"}' },
      { type: 'tool-call-delta', index: 0, id: 'call_9', argumentsDelta: '', metadata: { item } },
      { type: 'block-end', index: 0 },
      { type: 'finish', reason: 'tool-calls', raw: 'completed' },
    ])
  })

  test.each([
    ['arguments.done', [argumentsDelta(0, OSLO), argumentsDone(0, '{"city":"Rome"}')]],
    ['the item', [argumentsDelta(0, OSLO), done(0, functionCall('{"city":"Rome"}'))]],
    ['the final response', [argumentsDelta(0, OSLO), completed([functionCall('{"city":"Rome"}')])]],
    ['a delta after the item', [done(0, functionCall(OSLO)), argumentsDelta(0, '{}')]],
    ['a longer item', [argumentsDelta(0, OSLO), done(0, functionCall(OSLO)), completed([functionCall(`${OSLO}{}`)])]],
    ['another name', [argumentsDone(0, OSLO, 'fc_1', { name: 'get_time' })]],
    ['another call id', [done(0, functionCall(OSLO, { call_id: 'call_8' }))]],
    ['another type', [done(0, { ...functionCall(OSLO), type: 'custom_tool_call' })]],
  ])('%s that contradicts what came before is a conflict, said once', (_name, events) => {
    const begun = [created(), added(0, functionCall(''))]
    expect(conflicts(collectResponses([...begun, ...events]).chunks)).toHaveLength(1)
    expect(conflicts(collectResponses([...begun, ...events, ...events]).chunks)).toHaveLength(1)
  })

  test('begun again under another name, a call contradicts itself; under the same it is one call', () => {
    const begun = [created(), added(0, functionCall(''))]
    const again = collectResponses([...begun, added(0, functionCall('')), done(0, functionCall(OSLO))])
    expect([conflicts(again.chunks), ofType(again.chunks, 'block-end').length]).toEqual([[], 1])
    expect(conflicts(collectResponses([...begun, added(0, functionCall('', { name: 'get_time' }))]).chunks)).toEqual([
      'the name changed from "get_weather" to "get_time"',
    ])
  })

  test.each([
    ['spaces', '{ "city" : "Oslo" }', true],
    ['another value', '{"city":"oslo"}', false],
    ['one key more', '{"city":"Oslo","n":1}', false],
    ['a key twice', '{"city":"Oslo","city":"Oslo"}', false],
    ['a number that JavaScript rounds', '{"city":"Oslo","n":1.00000000000000000001}', false],
  ])('restated with %s: the same value or a conflict', (_name, restated, same) => {
    const { chunks, notes } = collectResponses([
      created(),
      ...wholeCall(0, [OSLO]),
      completed([functionCall(restated)]),
    ])
    expect(conflicts(chunks)).toHaveLength(same ? 0 : 1)
    expect(notes).toEqual(same ? ['arguments_rewritten'] : [])
  })

  test('keys in another order, at any depth', () => {
    const text = '{"a":{"x":[1,{"y":2,"z":null}],"w":true},"b":"c"}'
    const other = '{"b":"c","a":{"w":true,"x":[1,{"z":null,"y":2}]}}'
    const { notes } = collectResponses([created(), ...wholeCall(0, [text]), completed([functionCall(other)])])
    expect(notes).toEqual(['arguments_rewritten'])
    const order = '{"b":"c","a":{"w":true,"x":[{"z":null,"y":2},1]}}'
    const changed = collectResponses([created(), ...wholeCall(0, [text]), completed([functionCall(order)])])
    expect(conflicts(changed.chunks)).toHaveLength(1)
  })

  test('an item that says that it is not whole is not closed', () => {
    for (const status of ['incomplete', 'in_progress', 'failed']) {
      const { chunks } = collectResponses([created(), done(0, functionCall(OSLO, { status })), completed()])
      expect(ofType(chunks, 'block-end')).toEqual([])
    }
  })

  test('the name may come with the item that is done', () => {
    const { chunks, notes } = collectResponses([
      created(),
      added(0, functionCall('', { name: null })),
      argumentsDelta(0, OSLO),
      done(0, functionCall(OSLO)),
    ])
    expect(notes).toEqual(['name_late'])
    expect(ofType(chunks, 'tool-call-delta').filter(({ name }) => name === 'get_weather')).toHaveLength(1)
  })

  test('without a call id one is minted; the item id is none', () => {
    const item = functionCall(OSLO, { call_id: '' })
    const { chunks, notes } = collectResponses([created(), done(0, item), completed([item])])
    const [first] = ofType(chunks, 'tool-call-delta')
    expect(first!.id).toMatch(/^call_\w+_0_0$/)
    expect(first).not.toHaveProperty('providerCallId')
    expect(notes).toEqual(['missing_id'])
  })

  test('input of the wrong kind, and text for a call, are holes', () => {
    const begun = [created(), added(0, functionCall(''))]
    const custom = { type: 'response.custom_tool_call_input.delta', output_index: 0, item_id: 'fc_1', delta: 'x' }
    expect(collectResponses([...begun, custom]).skipped).toHaveLength(1)
    expect(collectResponses([...begun, textDelta(0, 'x', { item_id: 'fc_1' })]).skipped).toHaveLength(1)
    expect(collectResponses([created(), added(0, message()), argumentsDelta(0, '{}', 'msg_1')]).skipped).toHaveLength(1)
  })

  test('custom calls that nobody declared are the provider’s own (xAI): never released, and no reason to stop', () => {
    const item = {
      id: 'ctc_1',
      type: 'custom_tool_call',
      call_id: 'xs_1',
      name: 'x_search',
      input: 'q',
      status: 'completed',
    }
    const wire = (tools: unknown): readonly unknown[] => [created({ tools }), done(0, item), completed([item])]
    const read = (tools: unknown, request = {}): unknown => {
      const { chunks } = collectResponses(wire(tools), request)
      const undeclared = ofType(chunks, 'tool-call-delta').some((chunk) => chunk.undeclared === true)
      return [undeclared, ofType(chunks, 'finish')[0]!.reason]
    }
    expect(read([{ type: 'x_search' }])).toEqual([true, 'stop'])
    expect(read([{ type: 'custom', name: 'x_search' }])).toEqual([false, 'tool-calls'])
    expect(read([{ type: 'namespace', name: 'n', tools: [] }])).toEqual([false, 'tool-calls'])
    expect(read([])).toEqual([false, 'tool-calls'])
    expect(read(undefined)).toEqual([false, 'tool-calls'])
    // What the request is known to declare is checked where calls are closed.
    expect(read([{ type: 'x_search' }], { tools: ['x_search'] })).toEqual([false, 'tool-calls'])
  })

  test('too many calls', () => {
    const machine = responses().open({ request: {}, limits: { ...DEFAULT_LIMITS, callsPerChoice: 2 }, idSeed: '' })
    const { out } = createOutput()
    for (let i = 0; i < 4; i++) {
      const item = functionCall('{}', { id: `fc_${i}`, call_id: `call_${i}` })
      machine.push({ data: JSON.stringify(done(i, item)) }, out)
    }
    const errors = ofType(out.chunks, 'error')
    expect(errors.map(({ error }) => error.code)).toEqual(['call_limit_exceeded'])
    expect(ofType(out.chunks, 'block-end')).toHaveLength(2)
  })
})

describe('hosted and built-in tools', () => {
  test.each<[Record<string, unknown>, readonly unknown[]]>([
    [
      { id: 'ws', type: 'web_search_call', action: { type: 'search', query: 'q' } },
      ['web_search', '{"type":"search","query":"q"}', true, [], 'stop'],
    ],
    [
      { id: 'fs', type: 'file_search_call', queries: ['a', 'b'] },
      ['file_search', '{"queries":["a","b"]}', true, [], 'stop'],
    ],
    [{ id: 'ci', type: 'code_interpreter_call', code: 'print(1)' }, ['code_interpreter', 'print(1)', true, [], 'stop']],
    [{ id: 'ig', type: 'image_generation_call', result: 'aGk=' }, ['image_generation', '', true, [], 'stop']],
    [{ id: 'mc', type: 'mcp_call', name: 'shorten', arguments: '{"u":1}' }, ['shorten', '{"u":1}', true, [], 'stop']],
    [
      { id: 'ts', type: 'tool_search_call', call_id: null, execution: 'server', arguments: { paths: ['a'] } },
      ['tool_search', '{"paths":["a"]}', true, [], 'stop'],
    ],
    [
      { id: 'ts', type: 'tool_search_call', call_id: 'c', execution: 'client', arguments: { paths: ['a'] } },
      ['tool_search', '{"paths":["a"]}', true, ['built_in_call: tool_search_call'], 'tool-calls'],
    ],
    [
      {
        id: 'sh',
        type: 'shell_call',
        call_id: 'c',
        action: { commands: ['ls'] },
        environment: { type: 'container_reference' },
      },
      ['shell', '{"commands":["ls"]}', true, [], 'stop'],
    ],
    [
      { id: 'sh', type: 'shell_call', call_id: 'c', action: { commands: ['ls'] }, environment: { type: 'local' } },
      ['shell', '{"commands":["ls"]}', true, ['built_in_call: shell_call'], 'tool-calls'],
    ],
    [
      { id: 'lsh', type: 'local_shell_call', call_id: 'c', action: { type: 'exec', command: ['ls'] } },
      ['local_shell', '{"type":"exec","command":["ls"]}', true, ['built_in_call: local_shell_call'], 'tool-calls'],
    ],
    [
      { id: 'apc', type: 'apply_patch_call', call_id: 'c', operation: { type: 'delete_file', path: 'a' } },
      ['apply_patch', '{"type":"delete_file","path":"a"}', true, ['built_in_call: apply_patch_call'], 'tool-calls'],
    ],
    [
      { id: 'cc', type: 'computer_call', call_id: 'c', action: { type: 'wait' } },
      ['computer', '{"type":"wait"}', true, ['built_in_call: computer_call'], 'tool-calls'],
    ],
    [
      { id: 'mcpr', type: 'mcp_approval_request', name: 'shorten', arguments: '{}' },
      ['shorten', '{}', true, ['built_in_call: mcp_approval_request'], 'tool-calls'],
    ],
    [{ id: 'x', type: 'telepathy_call', arguments: '{"to":"you"}' }, ['telepathy', '{"to":"you"}', true, [], 'stop']],
  ])('%o', (item, expected) => {
    expect(readItem(item)).toEqual(expected)
  })

  test('what a hosted tool restates about itself fails nothing', () => {
    const { chunks, notes } = collectResponses([
      created(),
      added(0, interpreter('')),
      { type: 'response.code_interpreter_call_code.delta', output_index: 0, item_id: 'ci_1', delta: 'a' },
      done(0, interpreter('b', { name: 'python' })),
      completed([interpreter('c', { name: 'other' })]),
    ])
    expect(conflicts(chunks)).toEqual([])
    expect(notes).toEqual(['arguments_rewritten', 'arguments_rewritten'])
  })

  test('a built-in call may be told in more detail by the final response', () => {
    const { chunks, notes } = collectResponses([
      created(),
      done(0, patch({ path: 'a' })),
      completed([patch({ path: 'a', status: 'applied' })]),
    ])
    expect(conflicts(chunks)).toEqual([])
    expect(notes).toEqual(['built_in_call: apply_patch_call'])
  })

  test('items that are no calls are kept whole, in their place', () => {
    const item = { id: 'cmp_1', type: 'compaction', encrypted_content: 'eA==' }
    const { chunks } = collectResponses([
      created(),
      added(0, { ...item, encrypted_content: '' }),
      done(0, item),
      ...wholeMessage(1, ['Hi']),
      completed([item]),
    ])
    expect(chunks.slice(1, 4)).toEqual([
      { type: 'block-start', index: 0, blockType: 'opaque' },
      { type: 'block-end', index: 0, metadata: { item } },
      { type: 'text-delta', index: 1, text: 'Hi' },
    ])
  })
})

describe('resumed streams', () => {
  const tail = [textDelta(0, ' world'), argumentsDelta(1, 'slo"}'), done(0, message('Hello world'))]

  test('told so, the rest of a text is a tail, and a call waits for its whole', () => {
    const events = [...tail, done(1, functionCall(OSLO)), completed([message('Hello world'), functionCall(OSLO)])]
    const { chunks, skipped, notes } = collectResponses(events, { startingAfter: 7 })
    expect(ofType(chunks, 'text-delta').map(({ text }) => text)).toEqual([' world'])
    expect(ofType(chunks, 'tool-call-delta')[0]).toMatchObject({
      id: 'call_9',
      argumentsDelta: OSLO,
      name: 'get_weather',
    })
    expect([skipped, notes]).toEqual([[], []])
  })

  test('what was done before is not given out again, but its calls are', () => {
    const final = completed([message('Hello world'), functionCall(OSLO)])
    const { chunks } = collectResponses([final], { startingAfter: 20 })
    expect(ofType(chunks, 'text-delta')).toEqual([])
    expect(ofType(chunks, 'tool-call-delta')[0]).toMatchObject({ id: 'call_9', argumentsDelta: OSLO })
  })

  test('fragments that are no end of the whole are a conflict', () => {
    const { chunks } = collectResponses([argumentsDelta(1, 'Rome"}'), done(1, functionCall(OSLO))], {
      startingAfter: 7,
    })
    expect(ofType(chunks, 'tool-call-delta').some(({ conflict }) => conflict !== undefined)).toBe(true)
  })

  test('not told so, what is missing is a hole; the restated text is taken whole', () => {
    const { chunks, skipped, notes } = collectResponses([...tail, completed()])
    expect(skipped).toHaveLength(2)
    expect(notes).toContain('text_restated: text')
    expect(ofType(chunks, 'block-end')[0]).toMatchObject({ block: { text: 'Hello world' } })
  })

  test('a server that sends everything again is read as if nothing had been before', () => {
    const { chunks, skipped } = collectResponses(
      [created(), ...wholeMessage(0, ['Hi'])].map((event, i) => ({ ...event, sequence_number: i })),
      { startingAfter: 3 },
    )
    expect(skipped).toEqual([])
    expect(ofType(chunks, 'text-delta').map(({ text }) => text)).toEqual(['Hi'])
  })
})

describe('fields of the wrong type', () => {
  const begun = [created(), added(0, functionCall('')), added(1, message())]

  test.each<[string, unknown, number]>([
    ['a delta that is an object', argumentsDelta(0, { city: 'Oslo' }), 1],
    ['a delta that is a number', argumentsDelta(0, 7), 1],
    ['a delta that is missing', { type: 'response.function_call_arguments.delta', output_index: 0 }, 1],
    ['a delta that is null', argumentsDelta(0, null), 0],
    ['a text delta that is a list', textDelta(1, ['x']), 1],
    ['a text delta that is null', textDelta(1, null), 0],
    ['a text delta that is missing', { type: 'response.output_text.delta', output_index: 1, content_index: 0 }, 1],
    ['a whole text that is missing', { type: 'response.output_text.done', output_index: 1, content_index: 0 }, 0],
    ['an index that is a fraction', argumentsDelta(0.5, '{}'), 1],
    ['an index that is an object', argumentsDelta({}, '{}'), 1],
    ['an index that is empty text', argumentsDelta('', '{}'), 1],
    ['an index that is numeric text', argumentsDelta('0', '{}'), 0],
    ['an index that is null', argumentsDelta(null, '{}'), 0],
    ['a content index that is an object', textDelta(1, 'x', { content_index: {} }), 1],
    ['a part that is text', { type: 'response.content_part.done', output_index: 1, content_index: 0, part: 'x' }, 1],
    ['a part that is null', { type: 'response.content_part.done', output_index: 1, content_index: 0, part: null }, 0],
    ['a whole text that is a number', textDone(1, 5), 1],
    ['content that is text', done(1, message('x', { content: 'x' })), 1],
    ['a part whose text is a number', done(1, message('x', { content: [{ type: 'output_text', text: 5 }] })), 1],
    ['an output that is an object', completed({ a: 1 }), 1],
    ['an output item that is text', completed(['x']), 1],
    ['an output item that is null', completed([null]), 0],
    ['an output item without a type', completed([{ id: 'x' }]), 1],
    ['a final response that is text', { type: 'response.completed', response: 'x' }, 1],
    ['a lifecycle response that is text', { type: 'response.in_progress', response: 'x' }, 0],
    ['a list in place of an event', [], 1],
    ['a usage that is text', completed([], { usage: 'x' }), 0],
  ])('%s: %#', (_name, event, holes) => {
    expect(collectResponses([...begun, event]).skipped).toHaveLength(holes)
  })

  test('values too deep to be kept or written down', () => {
    const deep = `${'['.repeat(5_000)}${']'.repeat(5_000)}`
    const call = JSON.stringify(done(0, functionCall('@', { arguments: '@' }))).replace('"@"', deep)
    const { skipped } = collectResponses([...begun, call])
    expect(skipped.length).toBeLessThanOrEqual(1)
    const item = JSON.stringify(done(2, { id: 'x', type: 'compaction', data: '@' })).replace('"@"', deep)
    expect(ofType(collectResponses([...begun, item]).chunks, 'block-start')).toEqual([])
  })
})

describe('two responses in one stream', () => {
  const second = created({ id: 'resp_2', model: 'm-2' })

  test('after output it is a splice', () => {
    const { chunks } = collectResponses([created(), added(0, message()), second])
    expect(ofType(chunks, 'error')[0]!.error).toMatchObject({ code: 'stream_splice', retryable: 'restart' })
  })

  test('before any output the first was an attempt that failed', () => {
    const { chunks, notes } = collectResponses([created(), second, ...wholeMessage(0, ['Hi'])])
    expect(ofType(chunks, 'error')).toEqual([])
    expect(notes).toEqual(['splice_suspected', 'response_id_changed'])
  })

  test('the same response announced twice is one', () => {
    const { chunks, notes } = collectResponses([created(), created(), ...wholeMessage(0, ['Hi'])])
    expect(ofType(chunks, 'start')).toHaveLength(1)
    expect(notes).toEqual([])
  })
})

describe('the rest', () => {
  test('fields that nobody knows are kept', () => {
    const { chunks } = collectResponses([
      created({ service_tier: 'default' }),
      { ...completed([], { service_tier: 'flex', incomplete_details: null }), vendor_usage: { units: 3 } },
    ])
    expect(ofType(chunks, 'metadata')).toEqual([
      { type: 'metadata', replace: { service_tier: 'default' } },
      { type: 'metadata', replace: { vendor_usage: { units: 3 } } },
      { type: 'metadata', replace: { service_tier: 'flex' } },
    ])
  })

  test('audio is kept', () => {
    const { chunks } = collectResponses([
      created(),
      { type: 'response.audio.delta', delta: 'UklG' },
      { type: 'response.audio.transcript.delta', delta: 'Hi' },
      { type: 'response.audio.delta', delta: 5 },
    ])
    expect(ofType(chunks, 'metadata')).toEqual([
      { type: 'metadata', choice: 0, append: { audio: ['UklG'] } },
      { type: 'metadata', choice: 0, append: { audio_transcript: ['Hi'] } },
    ])
  })

  test('after an error only usage and the wire’s own end are read', () => {
    const machine = responses().open({ request: {}, limits: DEFAULT_LIMITS, idSeed: '' })
    const { out } = createOutput()
    const usage = { input_tokens: 1, output_tokens: 0 }
    for (const event of [textDelta(0, 'x'), ended('failed', { usage }), 'x', '{', '[DONE]']) {
      machine.readUsageOnly({ data: typeof event === 'string' ? event : JSON.stringify(event) }, out)
    }
    expect(out.chunks).toEqual([
      { type: 'usage', usage: { inputTokens: 1, outputTokens: 0, raw: usage } },
      { type: 'finish', reason: 'error', raw: 'failed' },
    ])
  })

  test('a response that is not a stream and not over has no finish', () => {
    for (const status of ['queued', 'in_progress']) {
      const { chunks, machine } = collectResponses([response(status, { output: [message('Hi')] })])
      expect(ofType(chunks, 'finish')).toEqual([])
      expect(machine.wholeCompletion).toBe(false)
    }
  })

  test('the name of an event that contradicts its type is a finding, and the type counts', () => {
    const machine = responses().open({ request: {}, limits: DEFAULT_LIMITS, idSeed: '' })
    const { out, notes } = createOutput()
    machine.push({ data: JSON.stringify(created()), event: 'response.completed' }, out)
    expect([machine.ended, notes]).toEqual([
      false,
      ['unexpected_field: event: response.completed for a response.created'],
    ])
  })
})
