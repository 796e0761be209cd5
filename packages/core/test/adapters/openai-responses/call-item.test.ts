import { describe, expect, test } from 'vitest'
import { responses } from '../../../src/adapters/openai-responses/adapter.ts'
import { DEFAULT_LIMITS } from '../../../src/chunk/limits.ts'
import { createOutput } from '../collect.ts'
import { collectResponses, conflicts, ofType } from './collect.ts'
import {
  added,
  argumentsDelta,
  argumentsDone,
  completed,
  created,
  done,
  functionCall,
  message,
  OSLO,
  textDelta,
  wholeCall,
} from './wire.ts'

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
