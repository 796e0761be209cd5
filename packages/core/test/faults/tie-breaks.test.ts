import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { ArgumentRepair } from '../../src/chunk/argument-repair.ts'
import { ARGUMENT_REPAIRS } from '../../src/chunk/argument-repair.ts'
import { callsOf, findingsOf, readPieces, readWhole, textOf, typesOf } from './run.ts'
import type { Run, RunOptions } from './run.ts'
import { DONE, bytesOf, chunk, chunkOf, finish, frag, fragment, part, sse, text, tools, usage } from './wire.ts'

/** Where honest dialects contradict each other, one reading was chosen. Each is tested on both of its sides. */

const CONFIG = { seed: 1_618_033, numRuns: 40 }

const end = [finish('tool_calls'), DONE]

const idText = fc.stringMatching(/^[A-Za-z0-9_:.-]{1,12}$/).filter((id) => id !== 'null')
const nameText = fc.stringMatching(/^[a-z][a-z0-9_]{0,11}$/).filter((name) => name !== 'null')
const twoIds = fc.tuple(idText, idText).filter(([a, b]) => a !== b)
/** Text of a JSON object with at least one member. */
const documentText = fc
  .dictionary(
    fc.string({ minLength: 1, maxLength: 6 }),
    fc.oneof(fc.string({ maxLength: 8 }), fc.integer(), fc.boolean(), fc.constant(null)),
    {
      minKeys: 1,
      maxKeys: 4,
    },
  )
  .map((value) => JSON.stringify(value))
  .filter((json) => !json.includes('"__proto__"'))
/** A document and where it is cut in two, so that neither piece is empty. */
const cutDocument = documentText.chain((json) =>
  fc.record({ json: fc.constant(json), at: fc.integer({ min: 1, max: json.length - 1 }) }),
)
/** A document in pieces of any size. */
const piecesOfDocument = documentText.chain((json) =>
  fc
    .array(fc.integer({ min: 0, max: json.length }), { maxLength: 6 })
    .map((cuts) => [0, ...cuts.toSorted((a, b) => a - b), json.length])
    .map((at) => at.slice(1).map((to, i) => json.slice(at[i], to))),
)
const NOTHING = ['', ' ', null, 'null', undefined] as const
const nothing = fc.constantFrom(...NOTHING)

const idsOf = ({ report }: Run, choice = 0): readonly string[] =>
  report.choices.find(({ index }) => index === choice)?.toolCalls.map(({ callId }) => callId) ?? []

function expectNothingReleased(result: Run): void {
  expect(typesOf(result)).not.toContain('tool_call_ready')
  expect(typesOf(result)).not.toContain('tool_batch_ready')
}

describe('a new id on an open slot', () => {
  test('with a name it is a new call, though the open one is not whole', () => {
    fc.assert(
      fc.property(twoIds, nameText, nameText, cutDocument, documentText, ([a, b], f, g, { json, at }, other) => {
        const result = readWhole(sse(frag(0, a, f, json.slice(0, at)), frag(0, b, g, other), ...end))
        expect(callsOf(result)).toEqual([
          `${f}(${json.slice(0, at)}) failed: arguments_incomplete`,
          `${g}(${other}) held: batch_held`,
        ])
        expect(findingsOf(result)).toContain('index_reused')
      }),
      CONFIG,
    )
  })

  test('without a name it is a new call when the open one is whole', () => {
    fc.assert(
      fc.property(twoIds, nameText, nameText, documentText, documentText, ([a, b], f, g, first, second) => {
        const result = readWhole(
          sse(frag(0, a, f, first), frag(0, b, undefined, ''), frag(0, undefined, g, second), ...end),
        )
        expect(callsOf(result)).toEqual([`${f}(${first}) ready`, `${g}(${second}) ready`])
        expect(idsOf(result)).toEqual([a, b])
      }),
      CONFIG,
    )
  })

  test('without a name, and the open one not whole, the id changed inside a call: a conflict', () => {
    fc.assert(
      fc.property(twoIds, nameText, cutDocument, ([a, b], f, { json, at }) => {
        const result = readWhole(
          sse(text('Hel'), frag(0, a, f, json.slice(0, at)), frag(0, b, undefined, json.slice(at)), text('lo'), ...end),
        )
        expect(result.report).toMatchObject({ outcome: 'failed', error: { code: 'protocol_conflict', callId: a } })
        expect(textOf(result)).toBe('Hello')
        expectNothingReleased(result)
      }),
      CONFIG,
    )
  })

  test('unless the profile keeps the first id', () => {
    fc.assert(
      fc.property(twoIds, nameText, cutDocument, ([a, b], f, { json, at }) => {
        const body = sse(frag(0, a, f, json.slice(0, at)), frag(0, b, undefined, json.slice(at)), ...end)
        const result = readWhole(body, { profile: { idChange: 'keep-first' } })
        expect(callsOf(result)).toEqual([`${f}(${json}) ready`])
        expect(idsOf(result)).toEqual([a])
      }),
      CONFIG,
    )
  })

  test('and even then a name or a whole document makes it a new call', () => {
    const options: RunOptions = { profile: { idChange: 'keep-first' } }
    fc.assert(
      fc.property(twoIds, nameText, documentText, documentText, ([a, b], f, first, second) => {
        const result = readWhole(sse(frag(0, a, f, first), frag(0, b, f, second), ...end), options)
        expect(callsOf(result)).toEqual([`${f}(${first}) ready`, `${f}(${second}) ready`])
      }),
      CONFIG,
    )
  })

  test('the first id may come late: it is no new one', () => {
    fc.assert(
      fc.property(idText, nameText, cutDocument, nothing, (id, f, { json, at }, none) => {
        const result = readWhole(
          sse(frag(0, none, f, json.slice(0, at)), frag(0, id, undefined, json.slice(at)), ...end),
        )
        expect(callsOf(result)).toEqual([`${f}(${json}) ready`])
      }),
      CONFIG,
    )
  })
})

describe('neither id nor index', () => {
  test('continues the only open call', () => {
    fc.assert(
      fc.property(idText, nameText, piecesOfDocument, nothing, (id, f, pieces, none) => {
        const fragments = pieces.map((piece, i) =>
          i === 0 ? frag(undefined, id, f, piece) : frag(null, none, none, piece),
        )
        const result = readWhole(sse(...fragments, ...end))
        expect(callsOf(result)).toEqual([`${f}(${pieces.join('')}) ready`])
        expect(result.report.outcome).toBe('completed')
      }),
      CONFIG,
    )
  })

  test('with several calls open all of them fail and none runs', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(idText, { minLength: 2, maxLength: 4 }),
        nameText,
        cutDocument,
        fc.boolean(),
        (ids, f, { json, at }, indexed) => {
          const open = ids.map((id, i) => frag(indexed ? i : undefined, id, f, json.slice(0, at)))
          const result = readWhole(sse(...open, frag(undefined, undefined, undefined, json.slice(at)), ...end))
          expect(callsOf(result)).toEqual(ids.map(() => `${f}(${json.slice(0, at)}) failed: protocol_conflict`))
          expect(result.report).toMatchObject({ outcome: 'failed', error: { code: 'protocol_conflict' } })
          expectNothingReleased(result)
        },
      ),
      CONFIG,
    )
  })
})

describe('an index given to a second call', () => {
  test('before the first was whole: what comes under it without an id fits either, and both fail', () => {
    fc.assert(
      fc.property(twoIds, nameText, cutDocument, fc.boolean(), ([a, b], f, { json, at }, named) => {
        const result = readWhole(
          sse(
            frag(0, a, f, json.slice(0, at)),
            frag(0, b, f, json.slice(0, at)),
            frag(0, undefined, named ? f : undefined, json.slice(at)),
            ...end,
          ),
        )
        expect(callsOf(result)).toEqual(
          Array.from({ length: 2 }, () => `${f}(${json.slice(0, at)}) failed: protocol_conflict`),
        )
        expect(result.report).toMatchObject({ outcome: 'failed', error: { code: 'protocol_conflict' } })
      }),
      CONFIG,
    )
  })

  test('before the first was whole: with ids on every fragment they stay apart', () => {
    fc.assert(
      fc.property(twoIds, nameText, cutDocument, ([a, b], f, { json, at }) => {
        const result = readWhole(
          sse(
            frag(0, a, f, json.slice(0, at)),
            frag(0, b, f, json.slice(0, at)),
            frag(0, b, undefined, json.slice(at)),
            frag(0, a, undefined, json.slice(at)),
            ...end,
          ),
        )
        expect(callsOf(result)).toEqual([`${f}(${json}) ready`, `${f}(${json}) ready`])
      }),
      CONFIG,
    )
  })

  test('after the first was whole: it belongs to the second alone', () => {
    fc.assert(
      fc.property(twoIds, nameText, documentText, cutDocument, ([a, b], f, first, { json, at }) => {
        const result = readWhole(
          sse(
            frag(0, a, f, first),
            frag(0, b, f, json.slice(0, at)),
            frag(0, undefined, undefined, json.slice(at)),
            ...end,
          ),
        )
        expect(callsOf(result)).toEqual([`${f}(${first}) ready`, `${f}(${json}) ready`])
        expect(result.report.outcome).toBe('completed')
      }),
      CONFIG,
    )
  })
})

describe('an index is an opaque key', () => {
  const key = fc.oneof(
    fc.integer(),
    fc.maxSafeInteger(),
    fc.integer({ min: -5, max: 300 }).map(String),
    fc.stringMatching(/^[a-z]{1,4}$/),
    fc.constantFrom(-1, 0, 1, 1e300, 2 ** 53, 0.5),
  )
  const keys = fc.uniqueArray(key, { minLength: 1, maxLength: 5, selector: String })

  test('whatever the keys are, the calls are those of 0, 1, 2 …', () => {
    fc.assert(
      fc.property(keys, fc.array(cutDocument, { minLength: 5, maxLength: 5 }), (indexes, documents) => {
        const wire = (keyOf: (i: number) => unknown): string =>
          sse(
            ...indexes.map((_, i) => frag(keyOf(i), `id${i}`, `f${i}`, documents[i]!.json.slice(0, documents[i]!.at))),
            ...indexes.map((_, i) => frag(keyOf(i), undefined, undefined, documents[i]!.json.slice(documents[i]!.at))),
            ...end,
          )
        const result = readWhole(wire((i) => indexes[i]))
        expect(callsOf(result)).toEqual(indexes.map((_, i) => `f${i}(${documents[i]!.json}) ready`))
        expect(result.events).toEqual(readWhole(wire((i) => i)).events)
      }),
      CONFIG,
    )
  })

  test('numeric text and its number are the same key', () => {
    fc.assert(
      fc.property(fc.integer(), cutDocument, (index, { json, at }) => {
        const result = readWhole(
          sse(
            frag(index, 'a', 'f', json.slice(0, at)),
            frag(String(index), undefined, undefined, json.slice(at)),
            ...end,
          ),
        )
        expect(callsOf(result)).toEqual([`f(${json}) ready`])
      }),
      CONFIG,
    )
  })

  test.each([null, undefined, '', ' ', {}, [], true])('%j is no key at all', (none) => {
    const result = readWhole(sse(frag(none, 'a', 'f', '{"x"'), frag(none, undefined, undefined, ':1}'), ...end))
    expect(callsOf(result)).toEqual(['f({"x":1}) ready'])
    expect(findingsOf(result)).toEqual(['missing_index'])
  })
})

test('two choices never share a slot, however they are interleaved', () => {
  fc.assert(
    fc.property(
      piecesOfDocument,
      piecesOfDocument,
      fc.infiniteStream(fc.boolean()),
      fc.constantFrom(0, null, undefined),
      fc.option(idText, { nil: undefined }),
      (first, second, turns, index, id) => {
        const queues = [first, second].map((pieces, choice) =>
          pieces.map((piece, i) =>
            part(choice, {
              tool_calls: [
                i === 0 ? fragment(index, id, `f${choice}`, piece) : fragment(index, undefined, undefined, piece),
              ],
            }),
          ),
        )
        const events: unknown[] = []
        while (queues.some((queue) => queue.length > 0)) {
          const wanted = turns.next().value ? 1 : 0
          events.push((queues[wanted]!.length > 0 ? queues[wanted]! : queues[1 - wanted]!).shift())
        }
        const result = readWhole(sse(...events, part(0, {}, 'tool_calls'), part(1, {}, 'tool_calls'), DONE))
        expect(callsOf(result, 0)).toEqual([`f0(${first.join('')}) ready`])
        expect(callsOf(result, 1)).toEqual([`f1(${second.join('')}) ready`])
        expect(new Set([...idsOf(result, 0), ...idsOf(result, 1)]).size).toBe(2)
      },
    ),
    CONFIG,
  )
})

describe('names', () => {
  test('the whole name repeated is nothing new', () => {
    fc.assert(
      fc.property(nameText, piecesOfDocument, fc.infiniteStream(fc.boolean()), (name, pieces, repeated) => {
        const fragments = pieces.map((piece, i) =>
          frag(0, i === 0 ? 'a' : undefined, i === 0 || repeated.next().value ? name : undefined, piece),
        )
        expect(callsOf(readWhole(sse(...fragments, ...end)))).toEqual([`${name}(${pieces.join('')}) ready`])
      }),
      CONFIG,
    )
  })

  const cutName = fc
    .stringMatching(/^[a-z]{3,12}$/)
    .filter((name) => name !== 'null' && name.slice(0, 1) !== name.slice(1))
    .chain((name) => fc.record({ name: fc.constant(name), at: fc.integer({ min: 1, max: name.length - 1 }) }))
    .filter(
      ({ name, at }) =>
        name.slice(0, at) !== name.slice(at) && name.slice(at) !== 'null' && name.slice(0, at) !== 'null',
    )

  test('pieces before any argument are joined when a declared tool begins like that', () => {
    fc.assert(
      fc.property(cutName, documentText, fc.boolean(), ({ name, at }, json, longer) => {
        const body = sse(
          frag(0, 'a', name.slice(0, at), ''),
          frag(0, undefined, name.slice(at), ''),
          frag(0, undefined, undefined, json),
          ...end,
        )
        const result = readWhole(body, { request: { tools: longer ? [name, `${name}_more`] : [name] } })
        expect(callsOf(result)).toEqual([`${name}(${json}) ready`])
        expect(result.events.filter(({ type }) => type === 'tool_call_started')).toHaveLength(1)
      }),
      CONFIG,
    )
  })

  test('or when the profile says so', () => {
    fc.assert(
      fc.property(cutName, documentText, ({ name, at }, json) => {
        const body = sse(
          frag(0, 'a', name.slice(0, at), ''),
          frag(0, undefined, name.slice(at), ''),
          frag(0, undefined, undefined, json),
          ...end,
        )
        expect(callsOf(readWhole(body, { profile: { nameMerge: 'append' } }))).toEqual([`${name}(${json}) ready`])
      }),
      CONFIG,
    )
  })

  test('otherwise a different piece is a conflict', () => {
    fc.assert(
      fc.property(cutName, documentText, fc.boolean(), ({ name, at }, json, declared) => {
        const body = sse(
          frag(0, 'a', name.slice(0, at), ''),
          frag(0, undefined, name.slice(at), ''),
          frag(0, undefined, undefined, json),
          ...end,
        )
        const result = readWhole(body, declared ? { request: { tools: [name.slice(0, at)] } } : {})
        expect(result.report).toMatchObject({ outcome: 'failed', error: { code: 'protocol_conflict' } })
        expectNothingReleased(result)
      }),
      CONFIG,
    )
  })

  test('a different name after the first argument is a conflict, declared or not', () => {
    fc.assert(
      fc.property(cutName, cutDocument, fc.boolean(), ({ name, at }, { json, at: cut }, append) => {
        const body = sse(
          frag(0, 'a', name.slice(0, at), json.slice(0, cut)),
          frag(0, undefined, name.slice(at), json.slice(cut)),
          ...end,
        )
        const result = readWhole(body, append ? { profile: { nameMerge: 'append' } } : { request: { tools: [name] } })
        expect(result.report).toMatchObject({ outcome: 'failed', error: { code: 'protocol_conflict' } })
      }),
      CONFIG,
    )
  })

  test.each(['F', 'f ', ' f', 'ff', 'fé'])('%j is not the declared tool f: names match exactly', (name) => {
    expect(callsOf(readWhole(sse(frag(0, 'a', name, '{}'), ...end), { request: { tools: ['f'] } }))).toEqual([
      `${name}({}) failed: unknown_tool`,
    ])
  })

  test.each(NOTHING)('a call whose name is %j to its end has none', (none) => {
    expect(callsOf(readWhole(sse(frag(0, 'a', none, '{}'), ...end)))).toEqual(['null({}) failed: missing_name'])
  })
})

test('fields that say nothing change nothing, on any fragment', () => {
  fc.assert(
    fc.property(idText, nameText, piecesOfDocument, fc.infiniteStream(nothing), (id, name, pieces, none) => {
      const first = frag(0, id, name, pieces[0])
      const plain = readWhole(
        sse(first, ...pieces.slice(1).map((piece) => frag(0, undefined, undefined, piece)), ...end),
      )
      const padded = readWhole(
        sse(first, ...pieces.slice(1).map((piece) => frag(0, none.next().value, none.next().value, piece)), ...end),
      )
      expect(padded.events).toEqual(plain.events)
    }),
    CONFIG,
  )
})

describe('ids', () => {
  test('one id for all calls: told apart by index, fragment by fragment', () => {
    fc.assert(
      fc.property(idText, cutDocument, cutDocument, (id, a, b) => {
        fc.pre(a.json !== b.json)
        const events = [frag(0, id, 'f', a.json.slice(0, a.at)), frag(1, id, 'g', b.json.slice(0, b.at))]
        const rest = [frag(0, id, 'f', a.json.slice(a.at)), frag(1, id, 'g', b.json.slice(b.at))]
        expect(callsOf(readWhole(sse(...events, ...rest, ...end)))).toEqual([
          `f(${a.json}) ready`,
          `g(${b.json}) ready`,
        ])
      }),
      CONFIG,
    )
  })

  const count = fc.integer({ min: 1, max: 5 })

  test('minted where none comes: stable, unique, and the same in a replay', () => {
    fc.assert(
      fc.property(count, nothing, fc.string({ maxLength: 8 }), (calls, none, idSeed) => {
        const body = sse(
          ...Array.from({ length: calls }, (_, i) => frag(i, none, 'f', '{"a"')),
          ...Array.from({ length: calls }, (_, i) => frag(i, none, undefined, ':1}')),
          ...end,
        )
        const result = readWhole(body, { idSeed })
        const ids = idsOf(result)
        expect(new Set(ids).size).toBe(calls)
        const inEvents = new Set(result.events.flatMap((event) => ('callId' in event ? [event.callId] : [])))
        expect([...inEvents].toSorted()).toEqual(ids.toSorted())
        expect(idsOf(readWhole(body, { idSeed }))).toEqual(ids)
        expect(idsOf(readWhole(body, { idSeed: `${idSeed}x` })).filter((id) => ids.includes(id))).toEqual([])
      }),
      CONFIG,
    )
  })

  test('a minted id never takes one that the provider uses', () => {
    const minted = idsOf(readWhole(sse(frag(0, undefined, 'f', '{"a":1}'), ...end)))[0]!
    const result = readWhole(sse(frag(1, minted, 'g', '{"b":2}'), frag(0, undefined, 'f', '{"a":1}'), ...end))
    expect(idsOf(result)[0]).toBe(minted)
    expect(new Set(idsOf(result)).size).toBe(2)
  })

  test('same id, same name, same arguments: one call delivered twice, and its siblings are not held', () => {
    fc.assert(
      fc.property(
        idText,
        nameText,
        documentText,
        fc.constantFrom(0, 1, undefined),
        fc.boolean(),
        (id, f, json, index, spaced) => {
          const again = spaced ? JSON.stringify(JSON.parse(json), null, 1) : json
          const result = readWhole(
            sse(frag(0, id, f, json), frag(index, id, f, again), frag(7, `${id}x`, 'g', '{}'), ...end),
          )
          expect(callsOf(result)).toEqual([
            `${f}(${json}) ready`,
            `${f}(${again}) failed: duplicate_call`,
            'g({}) ready',
          ])
        },
      ),
      CONFIG,
    )
  })

  test('same id, other arguments or another name: two calls', () => {
    fc.assert(
      fc.property(idText, nameText, documentText, documentText, (id, f, first, second) => {
        fc.pre(JSON.stringify(sortedEntries(first)) !== JSON.stringify(sortedEntries(second)))
        const result = readWhole(
          sse(frag(0, id, f, first), frag(1, id, f, second), frag(2, id, `${f}_x`, first), ...end),
        )
        expect(callsOf(result)).toEqual([`${f}(${first}) ready`, `${f}(${second}) ready`, `${f}_x(${first}) ready`])
        expect(new Set(idsOf(result)).size).toBe(3)
      }),
      CONFIG,
    )
  })

  test('equal calls without any id are two calls: the model asked twice', () => {
    fc.assert(
      fc.property(nameText, documentText, (f, json) => {
        const result = readWhole(sse(frag(0, undefined, f, json), frag(1, undefined, f, json), ...end))
        expect(callsOf(result)).toEqual([`${f}(${json}) ready`, `${f}(${json}) ready`])
      }),
      CONFIG,
    )
  })
})

function sortedEntries(json: string): unknown {
  return Object.entries(JSON.parse(json) as Record<string, unknown>).toSorted(([a], [b]) => (a < b ? -1 : 1))
}

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

describe('the last event without its blank line', () => {
  const last = bytesOf(sse(chunk({ content: ' end' }, 'stop')))
  const before = bytesOf(sse(text('The')))
  /** Where its JSON is whole: the closing bracket is the third byte from the end. */
  const whole = last.length - 2

  test('counts exactly when its data is whole JSON', () => {
    for (let at = 1; at <= last.length; at++) {
      const result = readPieces([before, last.slice(0, at)])
      expect(textOf(result)).toBe(at >= whole ? 'The end' : 'The')
      expect(result.report.outcome).toBe(at >= whole ? 'degraded' : 'incomplete')
      expect(findingsOf(result)).toEqual(
        at < whole ? [] : at < last.length ? ['missing_sentinel', 'unterminated_last_event'] : ['missing_sentinel'],
      )
    }
  })

  test('or when it is [DONE]', () => {
    const sentinel = bytesOf(sse(DONE))
    for (let at = 1; at <= sentinel.length; at++) {
      const { report } = readPieces([before, last, sentinel.slice(0, at)])
      expect(report.outcome).toBe(at >= sentinel.length - 2 ? 'completed' : 'degraded')
    }
  })

  test('a call in half an event is not a call', () => {
    const open = bytesOf(sse(frag(0, 'a', 'f', '{}'))).slice(0, -4)
    expect(callsOf(readPieces([before, open]))).toEqual([])
  })
})

describe('several data lines in one event', () => {
  const chunkEvents = fc.array(
    fc.string({ maxLength: 6 }).map((content) => text(content)),
    { minLength: 1, maxLength: 5 },
  )

  test('are joined first', () => {
    fc.assert(
      fc.property(chunkEvents, fc.constantFrom(1, 2, 4, '\t'), (events, indent) => {
        const all = [...events, finish('stop')]
        const pretty = all
          .map((event) =>
            JSON.stringify(event, null, indent)
              .split('\n')
              .map((line) => `data: ${line}\n`)
              .join(''),
          )
          .join('\n')
        const result = readWhole(`${pretty}\n${sse(DONE)}`)
        expect(result.events).toEqual(readWhole(sse(...all, DONE)).events)
        expect(findingsOf(result)).toEqual([])
      }),
      CONFIG,
    )
  })

  test('are read apart when the join does not parse and every line parses alone', () => {
    fc.assert(
      fc.property(chunkEvents, (events) => {
        const all = [...events, finish('stop')]
        const glued = `${all.map((event) => `data: ${JSON.stringify(event)}\n`).join('')}data: [DONE]\n\n`
        const result = readWhole(glued)
        expect(result.events).toEqual(readWhole(sse(...all, DONE)).events)
        expect(findingsOf(result)).toEqual(['glued_events'])
      }),
      CONFIG,
    )
  })

  test('are one bad event when only some of them parse alone', () => {
    const result = readWhole(
      `data: ${JSON.stringify(text('a'))}\ndata: {"choices":\n\n${sse(text('b'), finish('stop'), DONE)}`,
    )
    expect(textOf(result)).toBe('b')
    expect(findingsOf(result)).toEqual(['skipped_event'])
  })
})

describe('a bad event amid good ones', () => {
  const good = [
    text('a'),
    frag(0, 'c1', 'f', '{"x":1}'),
    text('b'),
    frag(1, 'c2', 'g', '{"y"'),
    frag(1, undefined, undefined, ':2}'),
    text('c'),
    ...end,
  ]
  const bad = fc.oneof(
    fc.constantFrom('{', '{"choices":[{"delta":{"content":"x', 'null', '12', '"text"', '[1]', 'nope', '{}}'),
    fc.string({ minLength: 1 }).map((junk) => `{${JSON.stringify(junk)}`),
  )

  test('text goes on, nothing of the stream is released, and strict fails', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: good.length - 1 }), bad, (at, junk) => {
        const body = sse(...good.slice(0, at), junk, ...good.slice(at))
        const result = readWhole(body)
        expect(textOf(result)).toBe('abc')
        expect(findingsOf(result)).toContain('skipped_event')
        expect(result.report.outcome).toBe('degraded')
        expectNothingReleased(result)
        const codes = new Set(result.report.choices[0]!.toolCalls.map(({ code }) => code))
        for (const code of codes) expect(['invalid_event_json', 'event_skipped']).toContain(code)

        expect(readWhole(body, { policy: 'strict' }).report).toMatchObject({
          outcome: 'failed',
          error: { code: 'invalid_event_json', phase: 'event', event: at + 1 },
        })
      }),
      CONFIG,
    )
  })

  test('calls that were open when it came fail, later ones are held', () => {
    const result = readWhole(sse(frag(0, 'c1', 'f', '{"x":1}'), 'nope', frag(1, 'c2', 'g', '{}'), ...end))
    expect(callsOf(result)).toEqual(['f({"x":1}) failed: invalid_event_json', 'g({}) held: event_skipped'])
  })

  test('calls that were closed before it came are held', () => {
    const result = readWhole(sse(frag(0, 'c1', 'f', '{"x":1}'), finish('tool_calls'), 'nope', DONE))
    expect(callsOf(result)).toEqual(['f({"x":1}) held: event_skipped'])
  })

  test('without it everything is released', () => {
    expect(callsOf(readWhole(sse(...good)))).toEqual(['f({"x":1}) ready', 'g({"y":2}) ready'])
  })
})

describe('what a finish reason makes of whole calls', () => {
  test.each([
    { raw: 'stop', reason: 'tool-calls', outcome: 'completed', promoted: true, call: 'ready' },
    { raw: 'end_turn', reason: 'tool-calls', outcome: 'completed', promoted: true, call: 'ready' },
    { raw: 'eos', reason: 'tool-calls', outcome: 'completed', promoted: true, call: 'ready' },
    { raw: 'tool_calls', reason: 'tool-calls', outcome: 'completed', promoted: false, call: 'ready' },
    { raw: 'function_call', reason: 'tool-calls', outcome: 'completed', promoted: false, call: 'ready' },
    { raw: 'pause_turn', reason: 'pause', outcome: 'completed', promoted: false, call: 'ready' },
    { raw: 'length', reason: 'length', outcome: 'truncated', promoted: false, call: 'failed: output_truncated' },
    {
      raw: 'content_filter',
      reason: 'content-filter',
      outcome: 'refused',
      promoted: false,
      call: 'failed: output_refused',
    },
    { raw: 'error', reason: 'error', outcome: 'failed', promoted: false, call: 'failed: upstream_error' },
    { raw: 'abort', reason: 'aborted', outcome: 'incomplete', promoted: false, call: 'failed: incomplete_stream' },
    { raw: 'xyz', reason: 'unknown', outcome: 'degraded', promoted: false, call: 'held: finish_unknown' },
  ])('$raw', ({ raw, reason, outcome, promoted, call }) => {
    const result = readWhole(sse(frag(0, 'a', 'f', '{"x":1}'), finish(raw), DONE))
    expect(callsOf(result)).toEqual([`f({"x":1}) ${call}`])
    expect(result.report).toMatchObject({ outcome, choices: [{ finish: { reason, raw } }] })
    expect(findingsOf(result).includes('finish_reason_mismatch')).toBe(promoted)
  })

  test('stop without calls stays stop', () => {
    const result = readWhole(sse(text('a'), finish('stop'), DONE))
    expect(result.report.choices[0]!.finish).toEqual({ reason: 'stop', raw: 'stop' })
  })

  test('a bad end is not taken back by a later good one', () => {
    for (const raw of ['length', 'content_filter', 'error', 'abort']) {
      const result = readWhole(sse(frag(0, 'a', 'f', '{"x":1}'), finish(raw), finish('stop'), DONE))
      expectNothingReleased(result)
      expect(result.report.choices[0]!.finish.raw).toBe(raw)
      expect(findingsOf(result)).toContain('finish_reason_mismatch')
    }
  })

  test('a good end is taken back by a later bad one', () => {
    const result = readWhole(sse(frag(0, 'a', 'f', '{"x":1}'), finish('stop'), finish('length'), DONE))
    expect(callsOf(result)).toEqual(['f({"x":1}) held: output_truncated'])
    expect(result.report.choices[0]!.finish).toEqual({ reason: 'length', raw: 'length' })
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

describe('two generations in one stream', () => {
  const flags = fc.record({ id: fc.boolean(), model: fc.boolean(), role: fc.boolean(), calls: fc.boolean() })

  test('are a splice exactly when id and model change and the role starts again', () => {
    fc.assert(
      fc.property(flags, ({ id, model, role, calls }) => {
        const second = {
          ...chunk({ ...(role && { role: 'assistant' }), content: 'lo' }),
          ...(id && { id: 'chatcmpl-2' }),
          ...(model && { model: 'm-2' }),
        }
        const first = calls ? frag(0, 'a', 'f', '{"x":1}') : text('Hel')
        const result = readWhole(
          sse(chunk({ role: 'assistant' }), first, second, finish(calls ? 'tool_calls' : 'stop'), DONE),
        )
        const splice = id && model && role
        expect(result.report.error?.code).toBe(splice ? 'stream_splice' : undefined)
        expect(result.report.outcome).toBe(splice ? 'failed' : 'completed')
        expect(textOf(result)).toBe(`${calls ? '' : 'Hel'}${splice ? '' : 'lo'}`)
        expect(typesOf(result).includes('tool_batch_ready')).toBe(calls && !splice)
      }),
      CONFIG,
    )
  })

  test('before any content nothing was spliced: a gateway changed its mind', () => {
    const second = { ...chunk({ role: 'assistant', content: 'Hello' }), id: 'chatcmpl-2', model: 'm-2' }
    const result = readWhole(sse(chunk({ role: 'assistant', content: '' }), second, finish('stop'), DONE))
    expect(result.report.outcome).toBe('completed')
    expect(textOf(result)).toBe('Hello')
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
