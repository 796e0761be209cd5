import { expect, test } from 'vitest'
import { ProviderFields } from '../../src/adapters/provider-fields.ts'
import { createOutput } from './collect.ts'

const KNOWN = new Set(['id'])

test('known fields, null and empty text are not kept', () => {
  const { out } = createOutput()
  expect(new ProviderFields(KNOWN, false).read({ id: 1, a: null, b: '' }, undefined, out)).toBe(true)
  expect(out.chunks).toEqual([])
})

test('a scalar that stays the same is given out once, an object each time', () => {
  const fields = new ProviderFields(KNOWN, false)
  const { out } = createOutput()
  expect(fields.read({ tier: 'x', more: {} }, 2, out)).toBe(false)
  fields.read({ tier: 'x', more: {} }, 2, out)
  expect(out.chunks).toEqual([
    { type: 'metadata', choice: 2, replace: { tier: 'x', more: {} } },
    { type: 'metadata', choice: 2, replace: { more: {} } },
  ])
})

test('what was given out last counts, wherever a field stands', () => {
  const fields = new ProviderFields(KNOWN, false)
  const { out } = createOutput()
  const given = (from: object): unknown[] => {
    out.clear()
    fields.read(from, undefined, out)
    return out.chunks.map((chunk) => (chunk.type === 'metadata' ? { ...chunk.replace } : chunk))
  }
  expect(given({ tier: 'x', id: 1 })).toEqual([{ tier: 'x' }])
  // The same fields in another order, and a place that another field had.
  expect(given({ id: 2, tier: 'x' })).toEqual([])
  expect(given({ tier: 'y', other: true })).toEqual([{ tier: 'y', other: true }])
  expect(given({ other: true, tier: 'x' })).toEqual([{ tier: 'x' }])
  expect(given({ tier: 'x' })).toEqual([])
  // An object in between, or nothing.
  expect(given({ tier: {} })).toEqual([{ tier: {} }])
  expect(given({ tier: null })).toEqual([])
  expect(given({ tier: 'x' })).toEqual([{ tier: 'x' }])
})

test('a place that a field had before does not keep its old value', () => {
  const fields = new ProviderFields(KNOWN, false)
  const { out } = createOutput()
  for (const from of [{ a: null, tier: 'x' }, { tier: 'y' }, { a: null }, { a: null, tier: 'x' }]) {
    fields.read(from, undefined, out)
  }
  expect(out.chunks).toEqual([
    { type: 'metadata', replace: { tier: 'x' } },
    { type: 'metadata', replace: { tier: 'y' } },
    { type: 'metadata', replace: { tier: 'x' } },
  ])
})

test.each([1, 2, 3, 4, 5])('what came last is what a fold of the fields ends with (seed %i)', (seed) => {
  let state = seed
  const below = (most: number): number => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return (state >>> 16) % most
  }
  const names = ['id', 'tier', 'a', 'b', '7', 'c']
  const values = ['null', '""', '"x"', '"y"', '0', '1', 'true', '{}', '{"n":1}', '[1]']
  const fields = new ProviderFields(KNOWN, false)
  const wanted: Record<string, unknown> = {}
  const got: Record<string, unknown> = {}
  let text = '{}'
  for (let i = 0; i < 3000; i++) {
    // Half of them are the one before once more, as on a wire.
    if (below(2) === 0) {
      const members = Array.from({ length: below(5) }, () => `"${names[below(6)]}":${values[below(10)]}`)
      text = `{${members.join(',')}}`
    }
    const from = JSON.parse(text) as Record<string, unknown>
    for (const [key, value] of Object.entries(from)) {
      if (!KNOWN.has(key) && value !== null && value !== '') wanted[key] = value
    }
    const { out } = createOutput()
    fields.read(from, undefined, out)
    for (const chunk of out.chunks) if (chunk.type === 'metadata') Object.assign(got, chunk.replace)
    expect({ text, got }).toStrictEqual({ text, got: wanted })
  }
})

test('a level keeps 256 different fields and says that there were more', () => {
  const fields = new ProviderFields(KNOWN, false)
  const { out, notes } = createOutput()
  for (let i = 0; i < 300; i++) fields.read({ [`field-${i}`]: i }, undefined, out)
  expect(out.chunks).toHaveLength(256)
  expect(notes).toHaveLength(44)
  expect(notes[0]).toBe('unexpected_field: more than 256 provider fields; the others are not kept')
  out.clear()
  fields.read({ 'field-7': 'again' }, undefined, out)
  expect(out.chunks).toHaveLength(1)
})
