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
