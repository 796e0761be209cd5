import { describe, expect, test } from 'vitest'
import { gemini } from '../../../src/adapters/gemini/adapter.ts'
import { finishReasonOf } from '../../../src/adapters/gemini/finish-reason.ts'
import type { ProviderProfile } from '../../../src/adapters/profile.ts'
import type { RequestFacts } from '../../../src/chunk/request-facts.ts'
import type { StreamLimits } from '../../../src/chunk/limits.ts'
import { collectWith } from '../collect-with.ts'
import { createOutput } from '../collect.ts'
import type { Collected } from '../collect.ts'

function collect(
  events: readonly unknown[],
  profile: ProviderProfile = {},
  request: RequestFacts = {},
  limits: Partial<StreamLimits> = {},
): Collected {
  return collectWith(gemini(profile), events, request, limits)
}

const parts = (list: readonly unknown[], more: object = {}): object => ({
  candidates: [{ content: { parts: list }, ...more }],
})

const usage = (raw: object): object => ({ ...parts([{ text: 'x' }]), usageMetadata: raw })

const logprobs = (token: string): object => ({ logprobsResult: { chosenCandidates: [{ token }] } })

describe('the chunks of a Gemini stream', () => {
  test('blocks follow one another; the finish is last, and usage comes before it', () => {
    const { chunks, notes, skipped } = collect([
      { ...parts([{ text: 'hm', thought: true }]), responseId: 'r', modelVersion: 'm' },
      parts([{ text: 'a' }]),
      parts([{ functionCall: { name: 'f', args: { x: 1 }, id: 'c' } }]),
      {
        ...parts([{ text: 'b' }], { finishReason: 'STOP' }),
        usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 2 },
      },
    ])
    expect(chunks).toEqual([
      { type: 'start', id: 'r', model: 'm' },
      { type: 'reasoning-delta', index: 0, text: 'hm' },
      { type: 'block-end', index: 0 },
      { type: 'text-delta', index: 1, text: 'a' },
      { type: 'block-end', index: 1 },
      { type: 'tool-call-delta', index: 2, id: 'c', providerCallId: 'c', name: 'f', argumentsDelta: '' },
      { type: 'tool-call-delta', index: 2, id: 'c', argumentsDelta: '{"x":1}' },
      { type: 'block-end', index: 2 },
      { type: 'text-delta', index: 3, text: 'b' },
      { type: 'block-end', index: 3 },
      {
        type: 'usage',
        usage: { inputTokens: 1, outputTokens: 2, raw: { promptTokenCount: 1, candidatesTokenCount: 2 } },
      },
      { type: 'finish', reason: 'tool-calls', raw: 'STOP' },
    ])
    expect(notes).toEqual([])
    expect(skipped).toEqual([])
  })

  test('without a finish reason no finish is given out', () => {
    expect(collect([parts([{ text: 'a' }])]).chunks.map(({ type }) => type)).toEqual(['start', 'text-delta'])
  })

  test('usage: the newest counts as it is, one without counters says nothing', () => {
    const { chunks, notes } = collect([
      usage({ trafficType: 'ON_DEMAND' }),
      usage({ promptTokenCount: 3, candidatesTokenCount: 9, totalTokenCount: 12, cachedContentTokenCount: 1 }),
      usage({ promptTokenCount: 9, totalTokenCount: 12, thoughtsTokenCount: 3 }),
      usage({ trafficType: 'ON_DEMAND' }),
    ])
    const used = chunks.flatMap((chunk) => (chunk.type === 'usage' ? [chunk.usage] : []))
    expect(used).toMatchObject([
      { inputTokens: 3, outputTokens: 9, totalTokens: 12, cachedInputTokens: 1 },
      { inputTokens: 9, totalTokens: 12, reasoningTokens: 3 },
    ])
    expect(used[1]).not.toHaveProperty('outputTokens')
    expect(notes).toEqual(['usage_decreased'])
  })

  test('after an error only usage is read', () => {
    const { machine } = collect([])
    const { out } = createOutput()
    machine.readUsageOnly(
      { data: '{"candidates":[{"content":{"parts":[{"text":"x"}]}}],"usageMetadata":{"promptTokenCount":1}}' },
      out,
    )
    expect(out.chunks.map(({ type }) => type)).toEqual(['usage'])
  })

  test('provider fields are kept: of the response, of a candidate, and logprobs joined', () => {
    const { chunks } = collect([
      { ...parts([{ text: 'a' }], { ...logprobs('a'), safetyRatings: [{ category: 'x' }] }), createTime: 't' },
      parts([{ text: 'b' }], { ...logprobs('b'), groundingMetadata: { a: 1 } }),
    ])
    expect(chunks.filter(({ type }) => type === 'metadata')).toEqual([
      { type: 'metadata', choice: 0, append: { 'logprobsResult.chosenCandidates': [{ token: 'a' }] } },
      { type: 'metadata', choice: 0, replace: { safetyRatings: [{ category: 'x' }] } },
      { type: 'metadata', replace: { createTime: 't' } },
      { type: 'metadata', choice: 0, append: { 'logprobsResult.chosenCandidates': [{ token: 'b' }] } },
      { type: 'metadata', choice: 0, replace: { groundingMetadata: { a: 1 } } },
    ])
  })

  test('media is kept in its place; a kind that is not known too, with a finding', () => {
    const image = { inlineData: { mimeType: 'image/png', data: 'AA==' }, thoughtSignature: 's' }
    const { chunks, notes } = collect([parts([{ text: 'a' }, image, { hologram: { x: 1 } }, { text: 'b' }])])
    expect(chunks.slice(1)).toEqual([
      { type: 'text-delta', index: 0, text: 'a' },
      { type: 'block-end', index: 0 },
      { type: 'block-start', index: 1, blockType: 'opaque' },
      { type: 'block-end', index: 1, metadata: image },
      { type: 'block-start', index: 2, blockType: 'opaque' },
      { type: 'block-end', index: 2, metadata: { hologram: { x: 1 } } },
      { type: 'text-delta', index: 3, text: 'b' },
    ])
    expect(notes).toEqual(['unexpected_field: a part of kind "hologram"'])
  })

  test('a wrapped response is unwrapped, and its rounded numbers are seen', () => {
    const call = {
      response: parts([{ functionCall: { name: 'f', args: { n: 1 } } }], { finishReason: 'STOP' }),
      traceId: 't',
    }
    expect(collect([call]).chunks).toContainEqual(expect.objectContaining({ argumentsDelta: '{"n":1}' }))
    const { chunks } = collect([JSON.stringify(call).replace('"n":1', '"n":9007199254740993')])
    expect(chunks.find((chunk) => 'unsafeArguments' in chunk)).toBeDefined()
  })

  test.each<[string, unknown]>([
    ['no object', [1]],
    ['candidates that are none', { candidates: {} }],
    ['a candidate that is none', { candidates: [null] }],
    ['an index that is none', { candidates: [{ index: 1.5 }] }],
    ['content that is none', { candidates: [{ content: 'hi' }] }],
    ['parts that are none', { candidates: [{ content: { parts: 'hi' } }] }],
    ['a part that is none', parts(['hi'])],
    ['a text that is none', parts([{ text: 7 }])],
    ['a call that is none', parts([{ functionCall: 'f' }])],
    ['a name that is none', parts([{ functionCall: { name: {}, args: {} } }])],
    ['a call that says nothing', parts([{ functionCall: {} }])],
  ])('what can not be read is a hole: %s', (_, event) => {
    expect(collect([event]).skipped).toHaveLength(1)
  })

  test.each<[string, unknown]>([
    ['an event of another kind', { setupComplete: {} }],
    ['an empty candidate', { candidates: [{}] }],
    ['no candidates yet', { candidates: [], usageMetadata: {} }],
    ['null in every place', { candidates: [{ content: null, index: null, finishReason: null }] }],
    ['null for parts', { candidates: [{ content: { parts: null } }] }],
    ['an empty part', parts([{}])],
  ])('what says nothing is none: %s', (_, event) => {
    expect(collect([event]).skipped).toEqual([])
  })

  test('the limits of choices, calls and arguments, on both sides', () => {
    const candidates = [0, 1].map((index) => ({ index, content: { parts: [{ text: 'x' }] } }))
    expect(errorsOf(collect([{ candidates }], {}, {}, { choices: 2 }))).toEqual([])
    expect(errorsOf(collect([{ candidates }], {}, {}, { choices: 1 }))).toEqual(['choice_limit_exceeded'])
    const calls = parts([1, 2].map((x) => ({ functionCall: { name: 'f', args: { x } } })))
    expect(errorsOf(collect([calls], {}, {}, { callsPerChoice: 2 }))).toEqual([])
    expect(errorsOf(collect([calls], {}, {}, { callsPerChoice: 1 }))).toEqual(['call_limit_exceeded'])
    const piece = { jsonPath: '$.a', stringValue: 'x'.repeat(100), willContinue: true }
    const long = parts([{ functionCall: { name: 'f', partialArgs: [piece], willContinue: true } }])
    expect(errorsOf(collect([long], {}, {}, { argumentBytes: 101 }))).toEqual([])
    expect(errorsOf(collect([long], {}, {}, { argumentBytes: 100 }))).toEqual(['argument_limit_exceeded'])
  })

  test('only the end of the body is awaited once every candidate has finished, unless that was said too early before', () => {
    const stop = parts([], { finishReason: 'STOP' })
    expect(collect([parts([{ text: 'a' }])]).machine.finished).toBe(false)
    expect(collect([stop]).machine.finished).toBe(true)
    expect(collect([stop], {}, { n: 2 }).machine.finished).toBe(false)
    expect(
      collect([parts([{ text: 'a' }], { finishReason: 'STOP' }), parts([{ text: 'b' }], { finishReason: 'STOP' })])
        .machine.finished,
    ).toBe(false)
  })

  test('[DONE], which relays send, is an end', () => {
    expect(collect([parts([{ text: 'a' }], { finishReason: 'STOP' }), '[DONE]']).machine.ended).toBe(true)
  })
})

test.each([
  ['STOP', 'stop'],
  ['MAX_TOKENS', 'length'],
  ['SAFETY', 'content-filter'],
  ['MODEL_ARMOR', 'content-filter'],
  ['UNEXPECTED_TOOL_CALL', 'error'],
  ['CONTINUATION', 'length'],
  ['OTHER', 'unknown'],
  ['1', 'stop'],
  ['5', 'unknown'],
  ['stop', 'unknown'],
  ['constructor', 'unknown'],
])('finish reason %s is %s', (raw, reason) => {
  expect(finishReasonOf(raw, {})).toBe(reason)
  expect(finishReasonOf(raw, { [raw]: 'pause' })).toBe('pause')
})

test('an unspecified finish reason is none', () => {
  const { notes, machine } = collect([
    parts([], { finishReason: 'FINISH_REASON_UNSPECIFIED' }),
    parts([], { finishReason: 0 }),
  ])
  expect(notes).toEqual(['finish_reason_empty', 'finish_reason_empty'])
  expect(machine.finished).toBe(false)
})

function errorsOf({ chunks }: Collected): readonly string[] {
  return chunks.flatMap((chunk) => (chunk.type === 'error' ? [chunk.error.code] : []))
}
