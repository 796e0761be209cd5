import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { ArgumentRepair } from '../../../src/chunk/argument-repair.ts'
import { ARGUMENT_REPAIRS } from '../../../src/chunk/argument-repair.ts'
import { callsOf, findingsOf, readWhole } from '../run.ts'
import { DONE, chunkOf, finish, frag, fragment, sse, tools, usage } from '../wire.ts'
import { CONFIG, end, expectNothingReleased, piecesOfDocument } from './generators.ts'

describe('repairs', () => {
  test('plain concatenation wins whenever it parses, whatever repairs are on', () => {
    fc.assert(
      fc.property(piecesOfDocument, fc.shuffledSubarray([...ARGUMENT_REPAIRS]), (pieces, repairs) => {
        const body = sse(
          ...pieces.map((piece, i) => frag(0, i === 0 ? 'a' : undefined, i === 0 ? 'f' : undefined, piece)),
          ...end,
        )
        const result = readWhole(body, { profile: { repairs } })
        expect(result.events).toEqual(readWhole(body).events)
        expect(result.report).toMatchObject({ outcome: 'completed', diagnostics: [] })
      }),
      CONFIG,
    )
  })

  test.each([
    { name: 'a number that repeats its digits', pieces: ['{"n":', '1', '11', '111', '}'], value: { n: 111_111 } },
    { name: 'blanks that the next piece begins with', pieces: [' ', ' {"a":1}'], value: { a: 1 } },
  ])('also where the pieces look cumulative: $name', ({ pieces, value }) => {
    const fragments = pieces.map((piece, i) => frag(0, i === 0 ? 'a' : undefined, i === 0 ? 'f' : undefined, piece))
    const { report } = readWhole(sse(...fragments, ...end), { profile: { repairs: ['cumulative'] } })
    expect(report).toMatchObject({
      outcome: 'completed',
      diagnostics: [],
      choices: [{ toolCalls: [{ parsedArguments: value, code: null }] }],
    })
  })

  const broken: readonly {
    readonly repair: ArgumentRepair
    readonly pieces: readonly string[]
    readonly value: unknown
  }[] = [
    { repair: 'cumulative', pieces: ['{"a"', '{"a":1', '{"a":1}'], value: { a: 1 } },
    { repair: 'repeated', pieces: ['{"a":1}', '{"a":1}'], value: { a: 1 } },
    { repair: 'double-encoded', pieces: ['"{\\"a\\":1}"'], value: { a: 1 } },
    { repair: 'trailing-data', pieces: ['{"a":1}', '<|end|>'], value: { a: 1 } },
    { repair: 'extra-brackets', pieces: ['{"a":[1]}', ']}'], value: { a: [1] } },
    { repair: 'missing-brackets', pieces: ['{"a":[1'], value: { a: [1] } },
    { repair: 'control-characters', pieces: ['{"a":"1\n2"}'], value: { a: '1\n2' } },
  ]

  test('every repair has its row', () => {
    expect(broken.map(({ repair }) => repair)).toEqual(ARGUMENT_REPAIRS)
  })

  test.each(broken)(
    '$repair: off, the call fails; on, it is repaired and says so; strict refuses it',
    ({ repair, pieces, value }) => {
      const body = sse(
        ...pieces.map((piece, i) => frag(0, i === 0 ? 'a' : undefined, i === 0 ? 'f' : undefined, piece)),
        frag(1, 'b', 'g', '{}'),
        ...end,
      )
      const off = readWhole(body)
      expect(off.report.choices[0]!.toolCalls[0]).toMatchObject({ state: 'failed', parsedArguments: null })
      expect(off.report.choices[0]!.toolCalls[1]).toMatchObject({ code: 'batch_held' })
      expect(off.report.outcome).toBe('completed')

      const on = readWhole(body, { profile: { repairs: [repair] } })
      expect(on.report.choices[0]!.toolCalls[0]).toMatchObject({
        code: null,
        parsedArguments: value,
        repairs: [repair],
        argumentsText: pieces.join(''),
      })
      expect(on.report.choices[0]!.toolCalls[1]).toMatchObject({ code: null })
      expect(on.report.outcome).toBe('degraded')
      expect(findingsOf(on)).toContain('arguments_repaired')

      const strict = readWhole(body, { profile: { repairs: [repair] }, policy: 'strict' })
      expect(strict.report.outcome).toBe('failed')
      expectNothingReleased(strict)
    },
  )

  test('what a repair can not mend stays as it was', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, maxLength: 30 }), fc.constantFrom(...ARGUMENT_REPAIRS), (args, repair) => {
        fc.pre(args.trim() !== '' && !args.includes('{'))
        const result = readWhole(sse(frag(0, 'a', 'f', args), ...end), { profile: { repairs: [repair] } })
        expect(result.report.choices[0]!.toolCalls[0]).toMatchObject({ state: 'failed', argumentsText: args })
      }),
      CONFIG,
    )
  })

  test('an unknown repair is a mistake of the caller', () => {
    expect(() => readWhole('', { profile: { repairs: ['guess' as 'cumulative'] } })).toThrow(TypeError)
  })
})

describe('empty arguments with all output tokens spent', () => {
  const empty = fc.constantFrom('', ' ', '{}', ' { } ')

  test('are suspect, and hold their siblings', () => {
    fc.assert(
      fc.property(empty, fc.integer({ min: 1, max: 1000 }), fc.integer({ min: 0, max: 3 }), (args, limit, over) => {
        const body = sse(
          frag(0, 'a', 'f', args),
          frag(1, 'b', 'g', '{"x":1}'),
          finish('tool_calls'),
          chunkOf([], { usage: usage(5, limit + over) }),
          DONE,
        )
        const result = readWhole(body, { request: { maxOutputTokens: limit } })
        expect(callsOf(result)).toEqual([`f(${args}) held: arguments_suspect`, 'g({"x":1}) held: batch_held'])
      }),
      CONFIG,
    )
  })

  test('are fine with a token to spare, without a known limit, or without usage', () => {
    fc.assert(
      fc.property(empty, fc.integer({ min: 2, max: 1000 }), (args, limit) => {
        const body = (spent: number): string =>
          sse(frag(0, 'a', 'f', args), finish('tool_calls'), chunkOf([], { usage: usage(5, spent) }), DONE)
        const want = [`f(${args}) ready`]
        expect(callsOf(readWhole(body(limit - 1), { request: { maxOutputTokens: limit } }))).toEqual(want)
        expect(callsOf(readWhole(body(limit)))).toEqual(want)
        expect(
          callsOf(readWhole(sse(frag(0, 'a', 'f', args), ...end), { request: { maxOutputTokens: limit } })),
        ).toEqual(want)
      }),
      CONFIG,
    )
  })

  test('arguments that are not empty are not suspect', () => {
    const body = sse(frag(0, 'a', 'f', '{"x":1}'), finish('tool_calls'), chunkOf([], { usage: usage(5, 9) }), DONE)
    expect(callsOf(readWhole(body, { request: { maxOutputTokens: 9 } }))).toEqual(['f({"x":1}) ready'])
  })
})

describe('arguments that change on their way to the tool', () => {
  test.each([
    { name: 'an integer beyond 2^53', args: '{"id":9007199254740993}', at: '9' },
    { name: 'a decimal with too many digits', args: '{"x":0.1000000000000000055}', at: '0' },
    { name: 'a number that overflows', args: '{"x":1e400}', at: '1' },
    { name: 'a duplicate key', args: '{"path":"a","path":"b"}', at: '"path":"b"' },
    { name: 'a duplicate key, escaped', args: '{"path":"a","p\\u0061th":"b"}', at: '"p\\u0061th"' },
    { name: 'a duplicate key deep inside', args: '{"a":[{"b":1,"b":1}]}', at: '"b":1}' },
    { name: '__proto__', args: '{"__proto__":{"admin":true}}', at: '"__proto__"' },
    { name: '__proto__ deep inside', args: '{"a":{"__proto__":1}}', at: '"__proto__"' },
  ])('$name: held, with its siblings', ({ args, at }) => {
    const result = readWhole(sse(frag(0, 'a', 'f', args), frag(1, 'b', 'g', '{}'), ...end))
    expect(callsOf(result)).toEqual([`f(${args}) held: arguments_unsafe`, 'g({}) held: batch_held'])
    expect(result.report.choices[0]!.toolCalls[0]).toMatchObject({
      parsedArguments: null,
      argumentsOffset: args.indexOf(at),
    })
    expect(result.report.outcome).toBe('completed')
  })

  test.each([
    '{"x":9007199254740991}',
    '{"x":0.1}',
    '{"x":1e2}',
    '{"x":-0}',
    '{"path":"a","Path":"b"}',
    '{"constructor":1,"prototype":2}',
    '{"a":"__proto__"}',
  ])('%s is safe', (args) => {
    expect(callsOf(readWhole(sse(frag(0, 'a', 'f', args), ...end)))).toEqual([`f(${args}) ready`])
  })

  test('the batch policy each releases the others', () => {
    const body = sse(frag(0, 'a', 'f', '{"x":1e400}'), frag(1, 'b', 'g', '{}'), ...end)
    expect(callsOf(readWhole(body, { batch: 'each' }))).toEqual([
      'f({"x":1e400}) held: arguments_unsafe',
      'g({}) ready',
    ])
  })

  test('deeper than the limit fails', () => {
    const [most, more] = [128, 129].map((levels) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`)
    expect(callsOf(readWhole(sse(frag(0, 'a', 'f', most), ...end)))).toEqual([`f(${most}) ready`])
    expect(callsOf(readWhole(sse(tools(fragment(0, 'a', 'f', more)), ...end)))).toEqual([
      `f(${more}) failed: arguments_invalid`,
    ])
  })
})
