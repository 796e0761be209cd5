import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { callsOf, readWhole } from '../run.ts'
import { frag, sse } from '../wire.ts'
import {
  CONFIG,
  cutDocument,
  documentText,
  end,
  expectNothingReleased,
  idText,
  idsOf,
  nameText,
  NOTHING,
  nothing,
  piecesOfDocument,
} from './generators.ts'

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
