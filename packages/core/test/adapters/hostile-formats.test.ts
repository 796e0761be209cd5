import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { adapterFor } from '../../src/adapters/index.ts'
import type { Api } from '../../src/adapters/index.ts'
import { cutAt } from '../reads.ts'
import { expectLawful, readPieces } from '../faults/run.ts'
import { bytesOf, sse } from '../faults/wire.ts'
import { bodyOf, readSamples } from '../golden/sample.ts'

/** Kept, so that a failure can be had again. */
const SEED = 14_142_135

const APIS_UNDER_TEST: readonly Api[] = ['gemini', 'ollama', 'cohere', 'bedrock_converse', 'completions']

/** Values that no field expects. */
const hostile = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    '',
    'null',
    ' ',
    0,
    -1,
    1.5,
    1e300,
    true,
    [],
    {},
    [[]],
    [null],
    { a: null },
    '[DONE]',
    '{}',
    '\ud83c',
    '$.a',
  ),
  fc.jsonValue({ maxDepth: 3 }),
)

/** What becomes of the payloads of a good stream. */
type Mutation =
  | { readonly kind: 'replace'; readonly at: number; readonly value: unknown }
  | { readonly kind: 'remove'; readonly at: number }
  | { readonly kind: 'repeat' | 'drop' | 'swap'; readonly at: number }

const mutation: fc.Arbitrary<Mutation> = fc.oneof(
  fc.record({ kind: fc.constant('replace' as const), at: fc.nat(), value: hostile }),
  fc.record({ kind: fc.constant('remove' as const), at: fc.nat() }),
  fc.record({ kind: fc.constantFrom('repeat' as const, 'drop' as const, 'swap' as const), at: fc.nat() }),
)

function mutate(payloads: readonly unknown[], mutations: readonly Mutation[]): unknown[] {
  let events = structuredClone(payloads) as unknown[]
  for (const change of mutations) {
    const i = events.length === 0 ? 0 : change.at % events.length
    if (change.kind === 'repeat') events.splice(i, 0, structuredClone(events[i]))
    else if (change.kind === 'drop') events.splice(i, 1)
    else if (change.kind === 'swap') events = [...events.slice(i), ...events.slice(0, i)]
    else {
      const places = placesIn(events)
      if (places.length === 0) continue
      const [parent, key] = places[change.at % places.length]!
      if (change.kind === 'replace') parent[key] = change.value
      else Reflect.deleteProperty(parent, key)
    }
  }
  return events
}

/** Every member and item of the payloads. */
function placesIn(value: unknown): [Record<string, unknown>, string][] {
  if (typeof value !== 'object' || value === null) return []
  const parent = value as Record<string, unknown>
  return Object.keys(parent).flatMap((key) => [
    [parent, key] as [Record<string, unknown>, string],
    ...placesIn(parent[key]),
  ])
}

/** The payloads of the samples that are text, one list per sample. */
function payloadsOf(api: Api): readonly (readonly unknown[])[] {
  return readSamples()
    .filter((sample) => sample.api === api)
    .flatMap((sample) => {
      const text = new TextDecoder().decode(bodyOf(sample))
      if (text.startsWith('\0') || text.startsWith('[')) return []
      const lines = text.split(/\r?\n/).map((line) => line.replace(/^data: ?/, ''))
      return [
        lines.filter((line) => line.startsWith('{') && line.endsWith('}')).map((line) => JSON.parse(line) as unknown),
      ]
    })
    .filter((payloads) => payloads.length > 0)
}

describe.each(APIS_UNDER_TEST)('%s: whatever comes', { timeout: 60_000 }, (api) => {
  const adapter = adapterFor(api)
  const good = payloadsOf(api)

  test(`changed fields, missing, repeated and reordered events are read to a lawful end (seed ${SEED})`, () => {
    expect(good.length).toBeGreaterThan(1)
    fc.assert(
      fc.property(
        fc.constantFrom(...good),
        fc.array(mutation, { minLength: 1, maxLength: 4 }),
        fc.constantFrom('compat' as const, 'strict' as const),
        fc.array(fc.nat({ max: 3000 }), { maxLength: 4 }),
        (payloads, mutations, policy, places) => {
          const bytes = bytesOf(sse(...mutate(payloads, mutations)))
          const whole = readPieces([bytes], { adapter, policy })
          expectLawful(whole)
          const cuts = places.map((place) => Math.min(place, bytes.length))
          expect(readPieces(cutAt(bytes, cuts), { adapter, policy })).toEqual(whole)
        },
      ),
      { seed: SEED, numRuns: 400 },
    )
  })

  test(`bytes that were changed are read to a lawful end (seed ${SEED})`, () => {
    const samples = readSamples().filter((sample) => sample.api === api)
    fc.assert(
      fc.property(
        fc.constantFrom(...samples),
        fc.array(fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 })), { minLength: 1, maxLength: 6 }),
        fc.constantFrom('eof' as const, 'reset' as const),
        (sample, changes, end) => {
          const bytes = bodyOf(sample).slice()
          for (const [at, byte] of changes) bytes[at % bytes.length] = byte
          const whole = readPieces([bytes], { adapter, end })
          expectLawful(whole)
          expect(readPieces(cutAt(bytes, [...bytes.keys()]), { adapter, end })).toEqual(whole)
        },
      ),
      { seed: SEED, numRuns: 150 },
    )
  })

  test('a stream that was cut before its last event releases no call', () => {
    const released = good
      .filter((payloads) => payloads.length > 1)
      .flatMap((payloads) => {
        const text = sse(...payloads)
        const end = text.lastIndexOf('data: ')
        const cuts = Array.from({ length: Math.floor(end / 7) }, (_, i) => text.slice(0, i * 7))
        return cuts.flatMap((body) => {
          const result = readPieces([bytesOf(body)], { adapter, policy: 'strict', end: 'cut' })
          expectLawful(result)
          return result.events.filter(({ type }) => type === 'tool_batch_ready')
        })
      })
    expect(released).toEqual([])
  })
})
