import { describe, expect, test } from 'vitest'
import { anthropicMessages } from '../../../src/adapters/anthropic-messages/adapter.ts'
import type { ProviderProfile } from '../../../src/adapters/profile.ts'
import { adapterFor } from '../../../src/adapters/registry.ts'
import type { AdapterMachine } from '../../../src/adapters/adapter.ts'
import type { StreamChunk } from '../../../src/chunk/chunk.ts'
import { DEFAULT_LIMITS } from '../../../src/chunk/limits.ts'
import type { StreamLimits } from '../../../src/chunk/limits.ts'
import type { ServerSentEvent } from '../../../src/sse/event.ts'
import {
  PING,
  STOP,
  called,
  close,
  delta,
  finish,
  input,
  open,
  openText,
  openTool,
  said,
  start,
  text,
} from '../../faults/messages-wire.ts'
import { createOutput } from '../collect.ts'

interface Collected {
  readonly chunks: readonly StreamChunk[]
  readonly notes: readonly string[]
  readonly skipped: readonly string[]
  readonly machine: AdapterMachine
}

function collect(
  events: readonly unknown[],
  profile: ProviderProfile = {},
  limits: Partial<StreamLimits> = {},
): Collected {
  const machine = anthropicMessages(profile).open({
    request: {},
    limits: { ...DEFAULT_LIMITS, ...limits },
    idSeed: 'test',
  })
  const { out, notes } = createOutput()
  for (const event of events) {
    const raw = typeof event === 'object' && event !== null && 'data' in event ? (event as ServerSentEvent) : undefined
    machine.push(raw ?? { data: typeof event === 'string' ? event : JSON.stringify(event) }, out)
  }
  machine.end(out)
  return { chunks: out.chunks, notes, skipped: out.skipped.map(({ message }) => message), machine }
}

const content = (events: readonly unknown[]): readonly StreamChunk[] =>
  collect(events).chunks.filter(({ type }) => type !== 'start' && type !== 'usage')

const cited = (n: number): unknown => delta(0, { type: 'citations_delta', citation: { n } })

const endOfThinking = (atStart: string, ...deltas: readonly unknown[]): unknown =>
  content([open(0, { type: 'thinking', thinking: 'x', signature: atStart }), ...deltas, close(0)]).at(-1)

const conflictsOf = (...again: readonly unknown[]): readonly string[] =>
  collect([openTool(0, 't1', 'f'), ...again]).chunks.flatMap((each) =>
    each.type === 'tool-call-delta' && each.conflict !== undefined ? [each.conflict.message] : [],
  )

const endsOfLateCall = (...behind: readonly unknown[]): number =>
  collect([...said(0, 'a'), finish('end_turn'), ...called(1, 't1', 'f', '{}'), ...behind, STOP]).chunks.filter(
    (each) => each.type === 'block-end' && each.index === 1,
  ).length

const reasonOf = (raw: unknown, profile?: ProviderProfile): unknown =>
  collect([finish(raw), STOP], profile).chunks.find(({ type }) => type === 'finish')

describe('what it declares', () => {
  test('all end evidence is required, and nothing is repaired', () => {
    expect(anthropicMessages()).toMatchObject({
      api: 'anthropic_messages',
      terminator: 'stop-event',
      sentinel: 'required',
      finishReason: 'required',
      repairs: [],
    })
  })

  test('a profile may relax it, and the registry knows it by name', () => {
    const profile: ProviderProfile = { sentinel: 'optional', finishReason: 'optional', repairs: ['cumulative'] }
    expect(adapterFor('anthropic_messages', profile)).toMatchObject(profile)
  })
})

describe('chunks', () => {
  test('start, usage, blocks as they come, usage, and finish last', () => {
    const { chunks, machine, notes } = collect([
      start(),
      PING,
      openText(0),
      text(0, 'Hi'),
      close(0),
      openTool(1, 't1', 'f'),
      input(1, ''),
      input(1, '{"a":1}'),
      close(1),
      finish('tool_use', 9),
      STOP,
    ])
    expect(chunks).toEqual([
      { type: 'start', id: 'msg_1', model: 'm-1' },
      {
        type: 'usage',
        usage: { inputTokens: 25, outputTokens: 1, raw: { input_tokens: 25, output_tokens: 1 } },
      },
      { type: 'block-start', index: 0, blockType: 'text' },
      { type: 'text-delta', index: 0, text: 'Hi' },
      { type: 'block-end', index: 0 },
      { type: 'tool-call-delta', index: 1, id: 't1', argumentsDelta: '', name: 'f', providerCallId: 't1' },
      { type: 'tool-call-delta', index: 1, id: 't1', argumentsDelta: '{"a":1}' },
      { type: 'block-end', index: 1 },
      {
        type: 'usage',
        usage: { inputTokens: 25, outputTokens: 9, raw: { input_tokens: 25, output_tokens: 9 } },
      },
      { type: 'finish', reason: 'tool-calls', raw: 'tool_use' },
    ])
    expect(machine).toMatchObject({ ended: true, finished: true, wholeCompletion: false })
    expect([...machine.choices]).toEqual([0])
    expect(notes).toEqual([])
  })

  test('blocks are numbered in order of first appearance, whatever their wire index', () => {
    const chunks = content([
      openText(7),
      text(7, 'a'),
      openTool(-1, 't1', 'f'),
      input(-1, '{}'),
      openText('3'),
      text(3, 'b'),
    ])
    expect(chunks.flatMap((each) => ('index' in each ? [`${each.type} ${each.index}`] : []))).toEqual([
      'block-start 0',
      'text-delta 0',
      'tool-call-delta 1',
      'tool-call-delta 1',
      'block-start 2',
      'text-delta 2',
    ])
  })

  test('nothing is finished before a stop reason, and nothing started before an event', () => {
    expect(collect([]).machine).toMatchObject({ ended: false, finished: false })
    expect([...collect([PING]).machine.choices]).toEqual([])
    expect(collect([start(), openText(0), text(0, 'a')]).machine).toMatchObject({ ended: false, finished: false })
    expect(collect([finish(null)]).machine.finished).toBe(false)
    expect(collect([finish('')]).notes).toEqual(['finish_reason_empty'])
  })

  test('without message_start the response begins with its first content', () => {
    expect(collect([openText(0)]).chunks[0]).toEqual({ type: 'start' })
  })
})

describe('what is kept for echo', () => {
  test('citations of a text, in one list', () => {
    expect(
      content([
        open(0, { type: 'text', text: 'a', citations: [{ n: 0 }] }),
        cited(1),
        text(0, 'b'),
        cited(2),
        close(0),
      ]).at(-1),
    ).toEqual({ type: 'block-end', index: 0, metadata: { citations: [{ n: 0 }, { n: 1 }, { n: 2 }] } })
  })

  test('also of a text that was cut, which stays open', () => {
    const chunks = content([openText(0), text(0, 'a'), delta(0, { type: 'citations_delta', citation: { n: 1 } })])
    expect(chunks.at(-1)).toEqual({
      type: 'block-start',
      index: 0,
      blockType: 'text',
      metadata: { citations: [{ n: 1 }] },
    })
    expect(chunks.some(({ type }) => type === 'block-end')).toBe(false)
  })

  test('a signature, from the start or from its delta', () => {
    expect(endOfThinking('s1')).toMatchObject({ metadata: { type: 'thinking', signature: 's1' } })
    expect(endOfThinking('', delta(0, { type: 'signature_delta', signature: 's2' }))).toMatchObject({
      metadata: { signature: 's2' },
    })
  })

  test('what else a call says', () => {
    const caller = { type: 'code_execution_20250825', tool_id: 's1' }
    expect(content([openTool(0, 't1', 'f', {}, { caller })])).toMatchObject([{ metadata: { caller } }])
    expect(content([openTool(0, 't1', 'f')])[0]).not.toHaveProperty('metadata')
  })

  test('a compaction: its delta replaces what the start said', () => {
    const chunks = content([
      open(0, { type: 'compaction', content: null }),
      delta(0, { type: 'compaction_delta', content: 'so far', encrypted_content: 'eA==' }),
      close(0),
    ])
    expect(chunks).toEqual([
      { type: 'block-start', index: 0, blockType: 'opaque', metadata: { type: 'compaction', content: null } },
      {
        type: 'block-start',
        index: 0,
        blockType: 'opaque',
        metadata: { content: 'so far', encrypted_content: 'eA==' },
      },
      { type: 'block-end', index: 0 },
    ])
  })

  test('fields of the message and of its delta', () => {
    const { chunks } = collect([
      start({ container: { id: 'c1' } }),
      { ...finish('refusal', 1, { stop_details: { category: 'x' } }), context_management: { applied_edits: [] } },
      { ...STOP, 'amazon-bedrock-invocationMetrics': { latency: 1 } },
    ])
    expect(chunks.flatMap((each) => (each.type === 'metadata' ? [each.replace] : []))).toEqual([
      { container: { id: 'c1' } },
      { stop_details: { category: 'x' } },
      { context_management: { applied_edits: [] } },
      { 'amazon-bedrock-invocationMetrics': { latency: 1 } },
    ])
  })

  test('nothing that nests too deeply to be printed', () => {
    let deep: unknown = 1
    for (let i = 0; i < 500; i++) deep = [deep]
    const { chunks, notes, skipped } = collect([
      open(0, { type: 'odd', deep }),
      open(1, { type: 'text', text: '', deep }),
      openTool(2, 't1', 'f', {}, { deep }),
      delta(0, { type: 'odd_delta', deep }),
      delta(1, { type: 'citations_delta', citation: deep }),
      start({ deep }),
    ])
    expect(JSON.stringify(chunks)).not.toContain('[[[[[[')
    expect(notes.filter((note) => note.startsWith('unexpected_field'))).toHaveLength(1)
    expect(skipped).toEqual([])
  })
})

describe('an event that can not be read is a hole in the evidence', () => {
  test.each<{ name: string; event: unknown }>([
    { name: 'no object', event: '[1]' },
    { name: 'a block that is a text', event: open(1, 'text') },
    { name: 'a block that is null', event: open(1, null) },
    { name: 'a delta that is a text', event: delta(0, 'x') },
    { name: 'an index that is an object', event: text({}, 'x') },
    { name: 'an index that is a word', event: text('first', 'x') },
    { name: 'the index of a stop that is a word', event: close('first') },
    { name: 'text that is a number', event: text(0, 1) },
    { name: 'text of a start that is a list', event: openText(1, []) },
    { name: 'thinking that is an object', event: delta(0, { type: 'thinking_delta', thinking: {} }) },
    { name: 'input that is an object', event: input(0, { a: 1 }) },
    { name: 'input for no block', event: input(9, '{}') },
    { name: 'a signature that is a number', event: delta(0, { type: 'signature_delta', signature: 1 }) },
    { name: 'a message that is a text', event: { type: 'message_start', message: 'x' } },
    { name: 'a message delta that is a text', event: { type: 'message_delta', delta: 'x' } },
    { name: 'content of a whole message that is a number', event: { type: 'message', content: 1 } },
    { name: 'content without a type', event: { index: 0, delta: { text: 'x' } } },
    { name: 'half a document', event: '{"type":"content_block_delta"' },
  ])('$name', ({ event }) => {
    const before = [openText(0)]
    expect(collect([...before, event]).skipped).toHaveLength(1)
  })

  test.each<{ name: string; event: unknown }>([
    { name: 'null text', event: text(0, null) },
    { name: 'no text', event: delta(0, { type: 'text_delta' }) },
    { name: 'null input', event: delta(0, { type: 'input_json_delta', partial_json: null }) },
    { name: 'a null delta', event: delta(0, null) },
    { name: 'a null message', event: { type: 'message_start', message: null } },
    { name: 'an event of another kind', event: { type: 'weather_report', sun: true } },
    { name: 'nothing at all', event: {} },
    { name: 'a ping with a body', event: { type: 'ping', index: 'x' } },
  ])('$name is nothing new', ({ event }) => {
    expect(collect([openText(0), event]).skipped).toEqual([])
  })

  test('bytes that are not UTF-8 outside of any text', () => {
    const stopWith = { data: JSON.stringify(close(0)), invalidUtf8: true as const }
    expect(collect([openText(0), stopWith]).skipped).toHaveLength(1)
    const inText = { data: JSON.stringify(text(0, 'a\ufffd')), invalidUtf8: true as const }
    expect(collect([openText(0), inText]).skipped).toEqual([])
    const inInput = { data: JSON.stringify(input(0, '{"a":"\ufffd"}')), invalidUtf8: true as const }
    expect(collect([openTool(0, 't1', 'f'), inInput]).chunks.at(-1)).toMatchObject({ invalidUtf8: true })
  })
})

describe('an index that is absent', () => {
  test('means the only open block', () => {
    const { chunks, notes, skipped } = collect([
      openTool(undefined, 't1', 'f'),
      input(undefined, '{}'),
      close(null),
      STOP,
    ])
    expect(chunks.map(({ type }) => type)).toEqual(['start', 'tool-call-delta', 'tool-call-delta', 'block-end'])
    expect(notes).toEqual(['missing_index', 'missing_index', 'missing_index'])
    expect(skipped).toEqual([])
  })

  test('is ambiguous while two are open', () => {
    const { skipped } = collect([openTool(0, 't1', 'f'), openText(1), input(undefined, '{}')])
    expect(skipped).toEqual(['an event names no index while 2 blocks are open'])
  })
})

describe('a block that is started again while it is open', () => {
  test('with the same id and name is the same block', () => {
    expect(conflictsOf(openTool(0, 't1', 'f'), input(0, '{}'))).toEqual([])
  })

  test('with another name contradicts itself', () => {
    expect(conflictsOf(openTool(0, 't1', 'g'))).toEqual(['the name changed from "f" to "g" inside one call'])
  })

  test('with another input contradicts itself', () => {
    expect(conflictsOf(openTool(0, 't1', 'f', { a: 1 }))).toEqual([
      'the block was started twice, with different inputs',
    ])
  })

  test('as text ends the text before it', () => {
    const { chunks, notes } = collect([openText(0), text(0, 'a'), openText(0), text(0, 'b'), close(0)])
    expect(chunks.flatMap((each) => ('text' in each ? [[each.index, each.text]] : []))).toEqual([
      [0, 'a'],
      [1, 'b'],
    ])
    expect(notes).toEqual(['index_reused'])
  })

  test('as text does not end a call, for nothing closed it', () => {
    const { chunks, skipped } = collect([
      openTool(0, 't1', 'f'),
      openText(0),
      input(0, '{}'),
      close(0),
      finish('tool_use'),
      STOP,
    ])
    expect(chunks.filter(({ type }) => type === 'block-end')).toEqual([{ type: 'block-end', index: 1 }])
    expect(skipped).toHaveLength(1)
  })
})

test('calls without ids under one index, one behind the other, are two calls', () => {
  const { chunks, notes } = collect([...called(0, '', 'f', '{"a":1}'), ...called(0, '', 'g', '{"b":2}'), STOP])
  const ids = chunks.flatMap((each) => (each.type === 'tool-call-delta' && each.name !== undefined ? [each.id] : []))
  expect(new Set(ids).size).toBe(2)
  expect(chunks.filter(({ type }) => type === 'block-end')).toEqual([
    { type: 'block-end', index: 0 },
    { type: 'block-end', index: 1 },
  ])
  expect(notes).toEqual(['missing_id', 'missing_id', 'index_reused'])
})

test.each([
  { name: 'a call', begun: [openTool(0, 't1', 'f')] },
  {
    name: 'a block of the provider',
    begun: [open(0, { type: 'web_search_tool_result', tool_use_id: 's', content: [] })],
  },
  { name: 'a stop reason', begun: [finish('end_turn')] },
])('a second message_start behind $name is another message', ({ begun }) => {
  expect(collect([start(), ...begun, start({ id: 'msg_2' })]).chunks).toContainEqual(
    expect.objectContaining({ type: 'error', error: expect.objectContaining({ code: 'stream_splice' }) }),
  )
})

describe('behind a stop reason', () => {
  test('text is merged with a finding', () => {
    const { chunks, notes } = collect([...said(0, 'a'), finish('end_turn'), ...said(1, 'b'), STOP])
    expect(chunks.filter(({ type }) => type === 'text-delta')).toHaveLength(2)
    expect(chunks.at(-1)).toEqual({ type: 'finish', reason: 'stop', raw: 'end_turn' })
    expect(notes).toEqual(['content_after_finish', 'content_after_finish'])
  })

  test('a call is closed only by another stop reason', () => {
    expect([endsOfLateCall(), endsOfLateCall(finish('tool_use')), endsOfLateCall(finish('max_tokens'))]).toEqual([
      0, 1, 0,
    ])
  })

  test('input of a closed call contradicts it', () => {
    const { chunks } = collect([...called(0, 't1', 'f', '{}'), input(0, '{"b":2}')])
    expect(chunks.at(-1)).toMatchObject({ conflict: { message: 'input came after the block was closed' } })
    expect(collect([...called(0, 't1', 'f', '{}'), input(0, ' ')]).chunks.at(-1)).toMatchObject({ type: 'block-end' })
  })

  test.each([
    {
      first: 'end_turn',
      second: 'tool_use',
      kept: 'tool_use',
      notes: ['finish_reason_mismatch: "end_turn" was followed by "tool_use"'],
    },
    {
      first: 'max_tokens',
      second: 'end_turn',
      kept: 'max_tokens',
      notes: ['finish_reason_mismatch: "max_tokens" was followed by "end_turn"'],
    },
    { first: 'end_turn', second: 'end_turn', kept: 'end_turn', notes: [] },
  ])('$first, then $second: $kept', ({ first, second, kept, notes }) => {
    const result = collect([finish(first), finish(second), STOP])
    expect(result.chunks.at(-1)).toMatchObject({ type: 'finish', raw: kept })
    expect(result.notes).toEqual(notes)
  })
})

describe('stop reasons', () => {
  test.each([
    ['end_turn', 'stop'],
    ['stop_sequence', 'stop'],
    ['tool_use', 'tool-calls'],
    ['max_tokens', 'length'],
    ['model_context_window_exceeded', 'length'],
    ['pause_turn', 'pause'],
    ['compaction', 'pause'],
    ['refusal', 'content-filter'],
    ['tool_calls', 'tool-calls'],
    ['cancelled', 'aborted'],
    ['error', 'error'],
    ['END_TURN', 'stop'],
    ['constructor', 'unknown'],
    ['__proto__', 'unknown'],
  ])('%s is %s', (raw, reason) => {
    expect(reasonOf(raw)).toEqual({ type: 'finish', reason, raw })
  })

  test('one that is no text is kept as JSON, and not known', () => {
    expect(reasonOf({ a: 1 })).toEqual({ type: 'finish', reason: 'unknown', raw: '{"a":1}' })
  })

  test('a profile may know more', () => {
    expect(reasonOf('done', { finishAliases: { done: 'stop' } })).toMatchObject({ reason: 'stop' })
  })
})

describe('usage', () => {
  test('counters that say nothing do not undo what is known', () => {
    const { chunks, notes } = collect([
      start(),
      finish('end_turn', 9),
      { type: 'message_delta', delta: {}, usage: { output_tokens: 0 } },
    ])
    expect(chunks.findLast(({ type }) => type === 'usage')).toMatchObject({ usage: { outputTokens: 9 } })
    expect(notes).toEqual(['usage_decreased'])
  })

  test('cache and thinking have counters of their own', () => {
    const usage = {
      input_tokens: 3,
      output_tokens: 9,
      cache_read_input_tokens: 40,
      cache_creation_input_tokens: 5,
      output_tokens_details: { thinking_tokens: 4 },
    }
    expect(collect([start({ usage })]).chunks.at(-1)).toEqual({
      type: 'usage',
      usage: { inputTokens: 3, outputTokens: 9, reasoningTokens: 4, cachedInputTokens: 40, raw: usage },
    })
  })

  test('of the wrong type is a finding', () => {
    expect(collect([start({ usage: 'many' })]).notes).toEqual(['unexpected_field: usage'])
  })

  test('is all that is read behind an error', () => {
    const { machine } = collect([start()])
    const { out } = createOutput()
    for (const event of [text(0, 'x'), finish('end_turn', 30), STOP])
      machine.readUsageOnly({ data: JSON.stringify(event) }, out)
    expect(out.chunks).toMatchObject([{ type: 'usage', usage: { inputTokens: 25, outputTokens: 30 } }])
  })
})

test('too many calls are a fault, and nothing behind them is read', () => {
  const { chunks } = collect(
    [openTool(0, 't1', 'f'), openTool(1, 't2', 'f'), openTool(2, 't3', 'f')],
    {},
    { callsPerChoice: 2 },
  )
  expect(chunks.at(-1)).toMatchObject({ type: 'error', error: { code: 'call_limit_exceeded', phase: 'call' } })
})
