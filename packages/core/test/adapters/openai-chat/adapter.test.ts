import { describe, expect, test } from 'vitest'
import { adapterFor } from '../../../src/adapters/registry.ts'
import type { Api } from '../../../src/chunk/api.ts'
import { chatCompletions } from '../../../src/adapters/openai-chat/adapter.ts'
import type { ProviderProfile } from '../../../src/adapters/profile.ts'
import type { StreamChunk } from '../../../src/chunk/chunk.ts'
import { DONE, chunk, chunkOf, finish, frag, fragment, part, text, tools, usage } from '../../faults/wire.ts'
import { collect, createOutput } from '../collect.ts'

const START: StreamChunk = { type: 'start', id: 'chatcmpl-1', model: 'm-1' }
const STOP: StreamChunk = { type: 'finish', reason: 'stop', raw: 'stop' }

/** Does this finish reason close a call? */
function closes(reason: string): boolean {
  return collect([frag(0, 'c1', 'f', '{}'), finish(reason), DONE]).chunks.some(({ type }) => type === 'block-end')
}

/** The choice that text under this index goes to. */
function choiceOf(index: unknown): number {
  const delta = collect([chunkOf([{ index, delta: { content: 'a' } }])]).chunks.find(
    ({ type }) => type === 'text-delta',
  )
  return (delta as { choice?: number }).choice ?? 0
}

const conflictsIn = (chunks: readonly StreamChunk[]): number =>
  chunks.filter((each) => each.type === 'tool-call-delta' && each.conflict !== undefined).length

describe('what it declares', () => {
  test('by default all end evidence is required, and nothing is repaired', () => {
    expect(chatCompletions()).toMatchObject({
      api: 'chat_completions',
      terminator: 'done-sentinel',
      sentinel: 'required',
      finishReason: 'required',
      repairs: [],
    })
  })

  test('a profile may relax it', () => {
    const profile: ProviderProfile = { sentinel: 'optional', finishReason: 'optional', repairs: ['cumulative'] }
    expect(chatCompletions(profile)).toMatchObject(profile)
  })

  test('the registry knows it by name, and no other', () => {
    expect(adapterFor('chat_completions', { sentinel: 'optional' })).toMatchObject({
      api: 'chat_completions',
      sentinel: 'optional',
    })
    expect(() => adapterFor('telepathy' as Api)).toThrow(TypeError)
  })
})

describe('the order of chunks', () => {
  test('start, deltas, block ends at the finish reason, usage, and finish last', () => {
    const { chunks, machine } = collect([
      chunk({ role: 'assistant', content: '' }),
      chunk({ reasoning: 'plan' }),
      text('Hi'),
      frag(0, 'c1', 'f', '{}'),
      finish('tool_calls'),
      chunkOf([], { usage: usage(7, 3) }),
      DONE,
    ])
    expect(chunks).toEqual([
      START,
      { type: 'reasoning-delta', index: 0, text: 'plan' },
      { type: 'text-delta', index: 1, text: 'Hi' },
      { type: 'tool-call-delta', index: 2, id: 'c1', providerCallId: 'c1', name: 'f', argumentsDelta: '{}' },
      { type: 'block-end', index: 0 },
      { type: 'block-end', index: 1 },
      { type: 'block-end', index: 2 },
      { type: 'usage', usage: { inputTokens: 7, outputTokens: 3, totalTokens: 10, raw: usage(7, 3) } },
      { type: 'finish', reason: 'tool-calls', raw: 'tool_calls' },
    ])
    expect(machine).toMatchObject({ ended: true, finished: true, wholeCompletion: false })
  })

  test('blocks are numbered in order of first appearance, one per kind of text', () => {
    const { chunks } = collect([
      text('a'),
      chunk({ reasoning: 'b' }),
      text('c'),
      frag(5, 'c1', 'f', '{}'),
      text('d'),
      chunk({ refusal: 'e' }),
    ])
    expect(chunks.flatMap((each) => ('index' in each ? [`${each.type} ${each.index}`] : []))).toEqual([
      'text-delta 0',
      'reasoning-delta 1',
      'text-delta 0',
      'tool-call-delta 2',
      'text-delta 0',
      'refusal-delta 3',
    ])
  })

  test('each choice counts its own blocks and finishes on its own', () => {
    const { chunks } = collect([
      part(1, { content: 'b' }),
      part(0, { content: 'a' }),
      part(1, {}, 'stop'),
      part(0, {}, 'length'),
      DONE,
    ])
    expect(chunks).toEqual([
      START,
      { type: 'text-delta', choice: 1, index: 0, text: 'b' },
      { type: 'text-delta', index: 0, text: 'a' },
      { type: 'block-end', choice: 1, index: 0 },
      { type: 'block-end', index: 0 },
      { type: 'finish', choice: 1, reason: 'stop', raw: 'stop' },
      { type: 'finish', reason: 'length', raw: 'length' },
    ])
  })

  test('calls are closed only by a reason that permits them', () => {
    expect(['stop', 'tool_calls', 'pause_turn'].map(closes)).toEqual([true, true, true])
    expect(['length', 'content_filter', 'error', 'abort', 'xyz'].map(closes)).toEqual([
      false,
      false,
      false,
      false,
      false,
    ])
  })

  test('without a finish reason there is no finish chunk', () => {
    const { chunks, machine } = collect([text('a')])
    expect(chunks).toEqual([START, { type: 'text-delta', index: 0, text: 'a' }])
    expect(machine).toMatchObject({ ended: false, finished: false })
  })

  test('finished only when every choice that was asked for is', () => {
    expect(collect([text('a', 'stop')], {}, { n: 2 }).machine.finished).toBe(false)
    expect(collect([text('a', 'stop')], {}, { n: 1 }).machine.finished).toBe(true)
  })
})

describe('calls', () => {
  test('id and name are given once, with the first delta that knows them', () => {
    const { chunks } = collect([
      frag(0, undefined, undefined, '{'),
      frag(0, 'c1', undefined, ''),
      frag(0, undefined, 'f', ''),
      frag(0, 'c1', 'f', '}'),
    ])
    const deltas = chunks.filter((each) => each.type === 'tool-call-delta')
    const [id] = deltas.map((each) => each.id)
    expect(deltas).toEqual([
      { type: 'tool-call-delta', index: 0, id, argumentsDelta: '{' },
      { type: 'tool-call-delta', index: 0, id, providerCallId: 'c1', argumentsDelta: '' },
      { type: 'tool-call-delta', index: 0, id, name: 'f', argumentsDelta: '' },
      { type: 'tool-call-delta', index: 0, id, argumentsDelta: '}' },
    ])
  })

  test('free text of a custom tool is marked', () => {
    const { chunks } = collect([tools({ index: 0, id: 'c1', type: 'custom', custom: { name: 'grep', input: 'a b' } })])
    expect(chunks.at(-1)).toMatchObject({
      type: 'tool-call-delta',
      name: 'grep',
      argumentsDelta: 'a b',
      freeText: true,
    })
  })

  test('U+FFFD that stands for other bytes is marked', () => {
    const machine = chatCompletions().open({
      request: {},
      limits: {
        eventBytes: 1,
        argumentBytes: 1,
        callsPerChoice: 1,
        choices: 1,
        streamBytes: 1,
        jsonDepth: 1,
        readBytes: 1,
      },
      idSeed: '',
    })
    const { out } = createOutput()
    machine.push({ data: JSON.stringify(frag(0, 'c1', 'f', '"\ufffd"')), invalidUtf8: true }, out)
    expect(out.chunks.at(-1)).toMatchObject({ type: 'tool-call-delta', invalidUtf8: true })
  })

  test('a tool call that is an object instead of a list is read', () => {
    const { chunks } = collect([chunk({ tool_calls: fragment(0, 'c1', 'f', '{}') })])
    expect(chunks.at(-1)).toMatchObject({ type: 'tool-call-delta', id: 'c1', name: 'f', argumentsDelta: '{}' })
  })

  test('more than allowed: an error, and nothing behind it', () => {
    const { chunks } = collect(
      [chunk({ tool_calls: [0, 1, 2, 3].map((i) => fragment(i, `c${i}`, 'f', '{}')) }, 'tool_calls')],
      {},
      {},
      { callsPerChoice: 2 },
    )
    expect(chunks.filter((each) => each.type === 'tool-call-delta')).toHaveLength(2)
    expect(chunks.find((each) => each.type === 'error')).toMatchObject({
      error: { code: 'call_limit_exceeded', phase: 'call' },
    })
    expect(chunks.some((each) => each.type === 'finish')).toBe(false)
  })

  test('more choices than allowed: an error, and nothing behind it', () => {
    const choices = [0, 1, 2].map((index) => ({ index, delta: { content: 'a' } }))
    const { chunks } = collect([chunkOf(choices)], {}, {}, { choices: 2 })
    expect(chunks.filter((each) => each.type === 'text-delta')).toHaveLength(2)
    expect(chunks.at(-1)).toMatchObject({ type: 'error', error: { code: 'choice_limit_exceeded' } })
  })
})

describe('the index of a choice', () => {
  test.each([
    { index: 3, want: 3 },
    { index: '3', want: 3 },
    { index: null, want: 0 },
    { index: undefined, want: 0 },
    { index: '', want: 0 },
  ])('$index is $want', ({ index, want }) => {
    expect(choiceOf(index)).toBe(want)
  })

  test.each([-1, 1.5, 1e300, {}, 'x'])('%j is none: the choice is a hole, and is not given to another', (index) => {
    const { chunks, skipped } = collect([chunkOf([{ index, delta: { content: 'a' } }])])
    expect(chunks.filter(({ type }) => type === 'text-delta')).toEqual([])
    expect(skipped).toHaveLength(1)
  })

  test('absent in a list of several it is the place in the list', () => {
    const { chunks } = collect([chunkOf([{ delta: { content: 'a' } }, { delta: { content: 'b' } }])])
    expect(chunks.slice(1)).toEqual([
      { type: 'text-delta', index: 0, text: 'a' },
      { type: 'text-delta', choice: 1, index: 0, text: 'b' },
    ])
  })
})

describe('fields of the provider', () => {
  test('are kept where they stood: response, choice, list of a delta', () => {
    const { chunks } = collect([
      {
        ...chunkOf([
          {
            index: 0,
            delta: { annotations: [{ a: 1 }] },
            stop_reason: 7,
            logprobs: { content: [{ token: 'x' }], refusal: null },
          },
        ]),
        system_fingerprint: 'fp',
      },
    ])
    expect(chunks.slice(1)).toEqual([
      { type: 'metadata', choice: 0, append: { annotations: [{ a: 1 }] } },
      { type: 'metadata', choice: 0, append: { 'logprobs.content': [{ token: 'x' }] } },
      { type: 'metadata', choice: 0, replace: { stop_reason: 7 } },
      { type: 'metadata', replace: { system_fingerprint: 'fp' } },
    ])
  })

  test('null, empty text and empty lists are not', () => {
    const { chunks } = collect([
      {
        ...chunkOf([{ index: 0, delta: { audio: null, annotations: [] }, stop_reason: null }]),
        service_tier: null,
        system_fingerprint: '',
      },
    ])
    expect(chunks).toEqual([START])
  })

  test('keys that mean something to an object are only keys', () => {
    const raw =
      '{"choices":[{"index":0,"delta":{"__proto__":[1],"constructor":[2]}}],"__proto__":{"polluted":true},"hasOwnProperty":1}'
    const { chunks } = collect([raw])
    const metadata = chunks.filter((each) => each.type === 'metadata')
    expect(Object.keys(metadata[0]!.append!).toSorted()).toEqual(['__proto__', 'constructor'])
    expect(Object.keys(metadata[1]!.replace!).toSorted()).toEqual(['__proto__', 'hasOwnProperty'])
    expect(Object.getPrototypeOf(metadata[1]!.replace)).toBe(null)
  })

  test('what nests too deeply to be printed again is left out', () => {
    const deep = `${'['.repeat(200)}${']'.repeat(200)}`
    const raw = `{"choices":[{"index":0,"delta":{"content":"a","x":${deep},"content_parts":[${deep}]},"y":${deep},"logprobs":{"content":[${deep}]}}],"z":${deep},"ok":1}`
    expect(collect([raw]).chunks).toEqual([
      { type: 'start' },
      { type: 'text-delta', index: 0, text: 'a' },
      { type: 'metadata', replace: { ok: 1 } },
    ])
  })
})

/** Totals of the usage chunks, in order. */
function totals(events: readonly unknown[]): readonly unknown[] {
  return collect(events).chunks.flatMap((each) => (each.type === 'usage' ? [each.usage.totalTokens] : []))
}

const groqUsage = (total: number): unknown => chunkOf([], { x_groq: { id: 'r', usage: { total_tokens: total } } })
const ownUsage = (total: number): unknown => chunkOf([], { usage: { total_tokens: total } })

describe('usage in two places', () => {
  test('Groq’s own is taken while there is no other', () => {
    expect(totals([groqUsage(1), groqUsage(2)])).toEqual([1, 2])
    expect(totals([groqUsage(1), ownUsage(3)])).toEqual([1, 3])
  })

  test('and not any more once there is', () => {
    expect(totals([ownUsage(3), groqUsage(1)])).toEqual([3])
    expect(totals([chunkOf([], { usage: { total_tokens: 3 }, x_groq: { usage: { total_tokens: 1 } } })])).toEqual([3])
  })
})

describe('after an error only usage is read', () => {
  test('and nothing else', () => {
    const machine = chatCompletions().open(collectContext())
    const { out } = createOutput()
    for (const event of [text('a'), finish('stop'), chunkOf([], { usage: usage(1, 2) }), { error: 'again' }]) {
      machine.readUsageOnly({ data: JSON.stringify(event) }, out)
    }
    machine.readUsageOnly({ data: 'nonsense' }, out)
    machine.readUsageOnly({ data: '[1]' }, out)
    machine.readUsageOnly({ data: '{"usage":' }, out)
    expect(out.chunks.map(({ type }) => type)).toEqual(['usage'])
  })
})

function collectContext(): Parameters<ReturnType<typeof chatCompletions>['open']>[0] {
  return {
    request: {},
    limits: {
      eventBytes: 1e6,
      argumentBytes: 1e6,
      callsPerChoice: 8,
      choices: 8,
      streamBytes: 1e6,
      jsonDepth: 64,
      readBytes: 1e6,
    },
    idSeed: '',
  }
}

describe('profiles', () => {
  test('nameMerge: verify makes a second piece a conflict, append a continuation', () => {
    const events = [frag(0, 'c1', 'get_', ''), frag(0, undefined, 'weather', ''), frag(0, undefined, undefined, '{}')]
    expect(conflictsIn(collect(events).chunks)).toBe(1)
    const { chunks } = collect(events, { nameMerge: 'append' })
    expect(conflictsIn(chunks)).toBe(0)
    expect(chunks.filter((each) => each.type === 'tool-call-delta' && each.name !== undefined)).toMatchObject([
      { name: 'get_weather', argumentsDelta: '{}' },
    ])
  })

  test('nameMerge append: a call that ends without arguments still gets its name', () => {
    const { chunks } = collect(
      [frag(0, 'c1', 'get_', ''), frag(0, undefined, 'time', ''), finish('tool_calls'), DONE],
      { nameMerge: 'append' },
    )
    expect(
      chunks.flatMap((each) => (each.type === 'tool-call-delta' && each.name !== undefined ? [each.name] : [])),
    ).toEqual(['get_time'])
  })

  test('idChange: a changed id is a conflict, or the first one stays', () => {
    const events = [frag(0, 'c1', 'f', '{"a"'), frag(0, 'c2', undefined, ':1}')]
    expect(conflictsIn(collect(events).chunks)).toBe(1)
    const { chunks } = collect(events, { idChange: 'keep-first' })
    expect(conflictsIn(chunks)).toBe(0)
    expect(chunks.at(-1)).toEqual({ type: 'tool-call-delta', index: 0, id: 'c1', argumentsDelta: ':1}' })
  })

  test('cumulativeText: each kind of text, each choice on its own', () => {
    const { chunks } = collect(
      [
        part(0, { content: 'ab', reasoning: 'x' }),
        part(1, { content: 'a' }),
        part(0, { content: 'abc', reasoning: 'xy' }),
        part(1, { content: 'ab' }),
      ],
      { cumulativeText: true },
    )
    expect(chunks.slice(1)).toEqual([
      { type: 'reasoning-delta', index: 0, text: 'x' },
      { type: 'text-delta', index: 1, text: 'ab' },
      { type: 'text-delta', choice: 1, index: 0, text: 'a' },
      { type: 'reasoning-delta', index: 0, text: 'y' },
      { type: 'text-delta', index: 1, text: 'c' },
      { type: 'text-delta', choice: 1, index: 0, text: 'b' },
    ])
  })

  test('cumulativeText and thinkTags together', () => {
    const { chunks } = collect([text('<thi'), text('<think>a</th'), text('<think>a</think>b'), finish('stop'), DONE], {
      cumulativeText: true,
      thinkTags: true,
    })
    expect(chunks).toEqual([
      START,
      { type: 'reasoning-delta', index: 0, text: 'a' },
      { type: 'text-delta', index: 1, text: 'b' },
      { type: 'block-end', index: 0 },
      { type: 'block-end', index: 1 },
      STOP,
    ])
  })

  test('thinkTags: off, tags are text', () => {
    expect(collect([text('<think>a</think>b')]).chunks.at(-1)).toEqual({
      type: 'text-delta',
      index: 0,
      text: '<think>a</think>b',
    })
  })

  test('finishAliases', () => {
    expect(collect([text('a', 'DONE_OK')]).chunks.at(-1)).toEqual({ type: 'finish', reason: 'unknown', raw: 'DONE_OK' })
    expect(collect([text('a', 'DONE_OK')], { finishAliases: { DONE_OK: 'stop' } }).chunks.at(-1)).toEqual({
      type: 'finish',
      reason: 'stop',
      raw: 'DONE_OK',
    })
  })
})

describe('a finish reason that is no text', () => {
  test.each([
    { raw: 7, want: '7' },
    { raw: false, want: 'false' },
    { raw: { a: 1 }, want: '{"a":1}' },
    { raw: ['stop'], want: '["stop"]' },
  ])('$raw is unknown and kept as its text', ({ raw, want }) => {
    expect(collect([finish(raw)]).chunks.at(-1)).toEqual({ type: 'finish', reason: 'unknown', raw: want })
  })

  test.each([null, undefined, ''])('%j is none', (raw) => {
    expect(collect([finish(raw)]).chunks).toEqual([START])
  })

  test('nested beyond printing it is still unknown', () => {
    const raw = `{"choices":[{"index":0,"delta":{},"finish_reason":${'['.repeat(50_000)}${']'.repeat(50_000)}}]}`
    expect(collect([raw]).chunks.at(-1)).toMatchObject({ type: 'finish', reason: 'unknown' })
  })
})

test('an error field of the event stream itself is an error', () => {
  const machine = chatCompletions().open(collectContext())
  const { out, notes } = createOutput()
  machine.push({ data: '', fields: [{ name: 'error', value: '{"message":"no","code":503}' }] }, out)
  expect(out.chunks.at(-1)).toMatchObject({
    type: 'error',
    error: { code: 'upstream_error', status: 503, provider: { message: 'no' } },
  })
  expect(notes).toEqual(['unknown_sse_field: "error"'])
})

test('messages and findings quote the wire clipped', () => {
  const long = 'x'.repeat(100_000)
  const { chunks, notes } = collect([
    chunk({ role: 'assistant', content: 'a' }),
    frag(0, 'c1', long, '{'),
    frag(0, undefined, `${long}y`, '}'),
    finish(long),
    finish(`${long}z`),
    { ...chunk({ role: 'assistant', content: 'b' }), id: long, model: long },
  ])
  const messages = chunks.flatMap((each) => {
    if (each.type === 'error') return [each.error.message]
    return each.type === 'tool-call-delta' && each.conflict !== undefined ? [each.conflict.message] : []
  })
  expect(messages).toHaveLength(2)
  for (const message of [...messages, ...notes]) expect(message.length).toBeLessThan(500)
})
