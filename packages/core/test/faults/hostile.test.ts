import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createStreamEngine } from '../../src/engine/engine.ts'
import type { EndCause } from '../../src/engine/stream-engine.ts'
import { chatCompletions } from '../../src/adapters/openai-chat/adapter.ts'
import { callsOf, expectLawful, merged, readPieces, readWhole, run } from './run.ts'
import { cutAt } from '../reads.ts'
import type { Run, RunOptions } from './run.ts'
import { DONE, bytesOf, chunk, finish, frag, sse, text } from './wire.ts'

/** Wire that no honest server sends: nothing may throw, and every law of a stream must hold all the same. */

const CONFIG = { seed: 5_772_156, numRuns: 200 }

/** Keys that the adapter reads, keys that mean something to an object, and others. */
const WIRE_KEYS = [
  'id',
  'model',
  'object',
  'created',
  'choices',
  'usage',
  'error',
  'x_groq',
  'obfuscation',
  'index',
  'delta',
  'message',
  'finish_reason',
  'logprobs',
  'role',
  'content',
  'refusal',
  'reasoning',
  'reasoning_content',
  'reasoning_details',
  'tool_calls',
  'function_call',
  'function',
  'custom',
  'type',
  'name',
  'arguments',
  'input',
  'text',
  'thinking',
  'code',
  'status',
  'metadata',
  'detail',
  'prompt_tokens',
  'completion_tokens',
  'total_tokens',
  'completion_tokens_details',
] as const
const OBJECT_KEYS = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  'toJSON',
  'then',
  'length',
  '0',
] as const

const oddText = fc.oneof(
  fc.constantFrom(
    '',
    ' ',
    'null',
    'stop',
    'length',
    'error',
    'tool_calls',
    'content_filter',
    'c1',
    'c2',
    'f',
    'g',
    '{',
    '}',
    '{}',
    '{"a":',
    '1}',
    '<think>',
    '</think>',
    '\ud83d',
    '\ude00',
    '\ufffd',
    '[DONE]',
    '__proto__',
  ),
  fc.string({ unit: 'binary', maxLength: 6 }),
)
const oddNumber = fc.oneof(fc.constantFrom(0, 1, -1, 0.5, 1e300, 2 ** 53, -0), fc.integer(), fc.double({ noNaN: true }))
const scalar = fc.oneof(oddText, oddNumber, fc.boolean(), fc.constant(null))

/** Any JSON, with the keys of the wire in any place. */
const { anything } = fc.letrec<{ anything: unknown }>((tie) => ({
  anything: fc.oneof(
    { depthSize: 'medium', withCrossShrink: true },
    scalar,
    fc.array(tie('anything'), { maxLength: 3 }),
    fc.dictionary(fc.oneof(fc.constantFrom(...WIRE_KEYS), fc.constantFrom(...OBJECT_KEYS)), tie('anything'), {
      maxKeys: 4,
    }),
  ),
}))

/** Now and then any value at all in place of the right one. */
const mostly = <T>(right: fc.Arbitrary<T>): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 6, arbitrary: right }, { weight: 1, arbitrary: anything })

const hostileFragment = fc.record(
  {
    index: mostly(fc.constantFrom(0, 1, 2, null, '0', -1)),
    id: mostly(fc.constantFrom('c1', 'c2', 'c3', '', null)),
    type: mostly(fc.constantFrom('function', 'custom')),
    function: mostly(
      fc.record(
        {
          name: mostly(fc.constantFrom('f', 'g', '', null)),
          arguments: mostly(fc.constantFrom('', '{', '"a":1', '}', '{"a":1}', '{}', ' ')),
        },
        { requiredKeys: [] },
      ),
    ),
    custom: anything,
    extra_content: anything,
  },
  { requiredKeys: [] },
)

const hostileDelta = fc.record(
  {
    role: mostly(fc.constantFrom('assistant', '', null)),
    content: mostly(oddText),
    reasoning: mostly(oddText),
    reasoning_content: mostly(oddText),
    reasoning_details: anything,
    refusal: anything,
    tool_calls: mostly(fc.array(mostly(hostileFragment), { maxLength: 3 })),
    function_call: anything,
    audio: anything,
  },
  { requiredKeys: [] },
)

const hostileChoice = fc.record(
  {
    index: mostly(fc.constantFrom(0, 1, null)),
    delta: mostly(hostileDelta),
    finish_reason: mostly(fc.constantFrom(null, null, null, 'stop', 'tool_calls', 'length', 'odd')),
    message: fc.oneof({ weight: 8, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: hostileDelta }),
    logprobs: anything,
    usage: anything,
  },
  { requiredKeys: ['delta'] },
)

const hostileChunk = fc.record(
  {
    id: mostly(fc.constantFrom('r1', 'r2', '')),
    model: mostly(fc.constantFrom('m1', 'm2')),
    choices: mostly(fc.array(mostly(hostileChoice), { maxLength: 2 })),
    usage: fc.oneof(fc.constant(null), anything),
    x_groq: anything,
    system_fingerprint: anything,
  },
  { requiredKeys: ['choices'] },
)

const hostileEvent = fc.oneof(
  { weight: 12, arbitrary: hostileChunk },
  { weight: 2, arbitrary: anything },
  { weight: 1, arbitrary: fc.constantFrom<unknown>(DONE, '', ': x', '{', '429 no', '<html>', 'null', '[1]') },
)

const options: fc.Arbitrary<RunOptions> = fc.record(
  {
    policy: fc.constantFrom('compat', 'strict'),
    batch: fc.constantFrom('all', 'each'),
    end: fc.constantFrom<EndCause>('eof', 'cut', 'reset', 'aborted', 'timeout', 'error'),
    request: fc.record(
      {
        n: fc.integer({ min: 1, max: 3 }),
        maxOutputTokens: fc.integer({ min: 1, max: 9 }),
        tools: fc.constantFrom(['f'], ['f', 'g']),
        usage: fc.boolean(),
      },
      { requiredKeys: [] },
    ),
    profile: fc.record(
      {
        nameMerge: fc.constantFrom('verify', 'append'),
        idChange: fc.constantFrom('conflict', 'keep-first'),
        cumulativeText: fc.boolean(),
        thinkTags: fc.boolean(),
        sentinel: fc.constantFrom('required', 'optional'),
        finishReason: fc.constantFrom('required', 'optional'),
        repairs: fc.constantFrom([], ['cumulative', 'repeated', 'trailing-data', 'missing-brackets']),
      },
      { requiredKeys: [] },
    ),
    limits: fc.record(
      {
        argumentBytes: fc.constantFrom(4, 1_000),
        callsPerChoice: fc.constantFrom(1, 3),
        choices: fc.constantFrom(1, 2),
        streamBytes: fc.constantFrom(100, 100_000),
        eventBytes: fc.constantFrom(200, 100_000),
      },
      { requiredKeys: [] },
    ),
  },
  { requiredKeys: [] },
)

/** Keys that every object would show if a prototype had been written to. */
function inherited(): readonly string[] {
  const keys: string[] = []
  for (const key in {}) keys.push(key)
  return keys
}

/** Length of everything that a log would print. */
function printedLength({ events, report }: Run): number {
  return JSON.stringify([events, report]).length
}

describe('fuzz', () => {
  test('chunks with wrong types in every place', () => {
    fc.assert(
      fc.property(fc.array(hostileEvent, { maxLength: 8 }), options, (events, how) => {
        const result = readWhole(sse(...events), how)
        expect(printedLength(result)).toBeGreaterThan(0)
      }),
      CONFIG,
    )
    expect(inherited()).toEqual([])
  })

  test('the same at any cut', () => {
    fc.assert(
      fc.property(
        fc.array(hostileEvent, { maxLength: 4 }),
        options,
        fc.array(fc.nat(2_000), { maxLength: 6 }),
        (events, how, cuts) => {
          const bytes = bytesOf(sse(...events, finish('tool_calls'), DONE))
          const whole = readPieces([bytes], how)
          expect(
            readPieces(
              cutAt(
                bytes,
                cuts.map((cut) => Math.min(cut, bytes.length)),
              ),
              how,
            ),
          ).toEqual(whole)
        },
      ),
      { ...CONFIG, numRuns: 100 },
    )
  })

  test('bytes of any kind', () => {
    const noise = fc.oneof(
      fc.uint8Array({ maxLength: 60 }),
      fc
        .string({
          unit: fc.constantFrom(
            'data:',
            'event:',
            'error',
            'id:',
            ' ',
            '\n',
            '\r',
            '\r\n',
            '\n\n',
            '{',
            '}',
            '"',
            '[DONE]',
            ':',
            '\ufeff',
            '<html>',
            '[',
            ']',
            ',',
            'a',
          ),
          maxLength: 40,
        })
        .map((body) => bytesOf(body)),
    )
    fc.assert(
      fc.property(fc.array(noise, { maxLength: 4 }), options, fc.boolean(), (pieces, how, json) => {
        const result = readPieces(json ? [bytesOf('{'), ...pieces] : pieces, how)
        expectLawful(result)
        expect(result.report.schema).toBe('streamfold/report@1')
      }),
      CONFIG,
    )
  })

  test('what comes after the end, whatever it is, gives nothing', () => {
    fc.assert(
      fc.property(
        fc.array(hostileEvent, { maxLength: 4 }),
        fc.constantFrom<EndCause>('eof', 'reset', 'aborted', 'timeout'),
        (events, cause) => {
          const engine = createStreamEngine({ adapter: chatCompletions() })
          engine.push(bytesOf(sse(text('a'))))
          engine.push(bytesOf(sse(frag(0, 'c1', 'f', '{}'), finish('tool_calls'), DONE)))
          const { choices, outcome } = engine.report()
          expect(engine.push(bytesOf(sse(...events)))).toEqual([])
          expect(engine.end(cause)).toEqual([])
          expect(engine.end('eof')).toEqual([])
          expect(engine.push(bytesOf(sse(...events)))).toEqual([])
          expect(engine.report()).toMatchObject({ choices, outcome, error: null })
        },
      ),
      { ...CONFIG, numRuns: 100 },
    )
  })
})

describe('depth, size and names', () => {
  const places: readonly { readonly name: string; readonly wire: (value: string) => string }[] = [
    { name: 'the payload', wire: (value) => value },
    { name: 'choices', wire: (value) => `{"choices":${value}}` },
    { name: 'delta', wire: (value) => `{"choices":[{"index":0,"delta":${value}}]}` },
    { name: 'content', wire: (value) => `{"choices":[{"index":0,"delta":{"content":${value}}}]}` },
    {
      name: 'thinking',
      wire: (value) => `{"choices":[{"index":0,"delta":{"content":[{"type":"thinking","thinking":${value}}]}}]}`,
    },
    { name: 'reasoning_details', wire: (value) => `{"choices":[{"index":0,"delta":{"reasoning_details":${value}}}]}` },
    { name: 'tool_calls', wire: (value) => `{"choices":[{"index":0,"delta":{"tool_calls":${value}}}]}` },
    {
      name: 'arguments',
      wire: (value) =>
        `{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c1","function":{"name":"f","arguments":${value}}}]}}]}`,
    },
    {
      name: 'a field of a call',
      wire: (value) =>
        `{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c1","x":${value},"function":{"name":"f","arguments":"{}"}}]}}]}`,
    },
    { name: 'function_call', wire: (value) => `{"choices":[{"index":0,"delta":{"function_call":${value}}}]}` },
    { name: 'finish_reason', wire: (value) => `{"choices":[{"index":0,"delta":{},"finish_reason":${value}}]}` },
    { name: 'logprobs', wire: (value) => `{"choices":[{"index":0,"delta":{},"logprobs":{"content":${value}}}]}` },
    { name: 'usage', wire: (value) => `{"choices":[],"usage":{"prompt_tokens":1,"x":${value}}}` },
    { name: 'a field of the response', wire: (value) => `{"choices":[],"x":${value}}` },
    { name: 'error', wire: (value) => `{"error":${value}}` },
    { name: 'the message of an error', wire: (value) => `{"error":{"message":${value}}}` },
    { name: 'x_groq', wire: (value) => `{"choices":[],"x_groq":{"error":${value}}}` },
  ]

  test.each(places)('nesting without end in $name', ({ wire }) => {
    for (const levels of [130, 50_000]) {
      const result = readWhole(
        sse(
          chunk({ role: 'assistant', content: 'a' }),
          wire(`${'['.repeat(levels)}${']'.repeat(levels)}`),
          finish('stop'),
          DONE,
        ),
      )
      expect(printedLength(result)).toBeGreaterThan(0)
    }
  })

  test.each(places)('JSON inside $name that names an object’s prototype', ({ wire }) => {
    readWhole(
      sse(
        chunk({ content: 'a' }),
        wire('{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}'),
        finish('stop'),
        DONE,
      ),
    )
    readWhole(sse(chunk({ content: 'a' }), wire('[{"__proto__":{"polluted":true}}]'), finish('stop'), DONE))
    expect(inherited()).toEqual([])
  })

  test('ids, names and indexes that are names of an object’s own', () => {
    for (const name of OBJECT_KEYS) {
      const result = run(
        sse(frag(name, name, name, '{"a":1}'), frag(name, undefined, undefined, ' '), finish('tool_calls'), DONE),
      )
      expect(callsOf(result)).toEqual([`${name}({"a":1} ) ready`])
    }
    expect(inherited()).toEqual([])
  })

  test('indexes as large as numbers get', () => {
    const result = run(
      sse(
        frag(1e308, 'a', 'f', '{"a"'),
        frag(-1e308, 'b', 'g', '{"b"'),
        frag(1e308, undefined, undefined, ':1}'),
        frag(-1e308, undefined, undefined, ':2}'),
        finish('tool_calls'),
        DONE,
      ),
    )
    expect(callsOf(result)).toEqual(['f({"a":1}) ready', 'g({"b":2}) ready'])
    const { report } = run(
      `data: {"choices":[{"index":1e999,"delta":{"content":"a"},"finish_reason":"stop"}]}\n\n${sse(DONE)}`,
    )
    expect(report.choices).toEqual([])
  })

  test('as many calls and choices as fit, and one more', () => {
    const calls = Array.from({ length: 129 }, (_, n) => frag(n, `c${n}`, 'f', '{}'))
    const choices = Array.from({ length: 129 }, (_, index) => ({
      index,
      delta: { content: 'a' },
      finish_reason: 'stop',
    }))
    const end = [finish('tool_calls'), DONE]
    expect(readWhole(sse(...calls.slice(1), ...end)).report).toMatchObject({ outcome: 'completed' })
    expect(readWhole(sse(...calls, ...end)).report).toMatchObject({
      outcome: 'failed',
      error: { code: 'call_limit_exceeded', phase: 'call' },
    })
    expect(readWhole(sse({ choices: choices.slice(1) }, DONE)).report).toMatchObject({ outcome: 'completed' })
    expect(readWhole(sse({ choices }, DONE)).report).toMatchObject({
      outcome: 'failed',
      error: { code: 'choice_limit_exceeded' },
    })
  })

  test('a fault while another one is being dealt with ends the stream once', () => {
    const half = `{"a":"xxx\ud83d`
    const body = sse(frag(0, 'c1', 'f', half), { error: 'no' }, DONE)
    const { report, events } = run(body, { limits: { argumentBytes: 9 } })
    expect(report).toMatchObject({ outcome: 'failed', error: { code: 'upstream_error' } })
    expect(merged(events).filter(({ type }) => type === 'stream_error')).toHaveLength(1)
  })
})
