import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { callsOf, findingsOf, readWhole, textOf } from '../run.ts'
import type { RunOptions } from '../run.ts'
import { DONE, frag, fragment, part, sse, text } from '../wire.ts'
import {
  CONFIG,
  cutDocument,
  documentText,
  end,
  expectNothingReleased,
  idText,
  idsOf,
  nameText,
  nothing,
  piecesOfDocument,
  twoIds,
} from './generators.ts'

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
