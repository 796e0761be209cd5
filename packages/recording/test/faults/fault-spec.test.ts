import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { FAULTS } from '../../src/faults/catalogue.ts'
import { DEFAULT_FAULTS, parseFaultPlans, UNTOLD_FAULTS } from '../../src/faults/default-faults.ts'
import { faultText, parseFaults } from '../../src/faults/fault-spec.ts'
import type { FaultSpec } from '../../src/faults/fault-spec.ts'
import { ReplaySyntaxError } from '../../src/replay/replay-syntax-error.ts'

describe('faults as text', () => {
  test.each<{ text: string; specs: readonly FaultSpec[] }>([
    { text: '', specs: [] },
    { text: 'crlf', specs: [{ name: 'crlf', args: [] }] },
    { text: 'status:429, 3', specs: [{ name: 'status', args: ['429', '3'] }] },
    { text: 'cut@137', specs: [{ name: 'cut', args: [], place: { at: 'byte', offset: 137 } }] },
    { text: 'cut@byte:137', specs: [{ name: 'cut', args: [], place: { at: 'byte', offset: 137 } }] },
    { text: 'cut@50%', specs: [{ name: 'cut', args: [], place: { at: 'percent', percent: 50 } }] },
    { text: 'cut:rst@call:1', specs: [{ name: 'cut', args: ['rst'], place: { at: 'call', call: 1, fragment: 0 } }] },
    {
      text: 'stall:2s@event:3@p:0.25 + bom',
      specs: [
        { name: 'stall', args: ['2s'], place: { at: 'event', number: 3 }, probability: 0.25 },
        { name: 'bom', args: [] },
      ],
    },
    { text: 'stall@time:1.5s', specs: [{ name: 'stall', args: [], place: { at: 'time', ms: 1500 } }] },
  ])('$text', ({ text, specs }) => {
    expect(parseFaults(text)).toEqual(specs)
    expect(parseFaults(specs.map(faultText).join('+'))).toEqual(specs)
  })

  test.each([
    'Cut',
    'cut@',
    'cut@event:0',
    'cut@event:x',
    'cut@call:x',
    'cut@101%',
    'cut@p:2',
    'cut@p:',
    'cut@1@2',
    'cut@here:1',
    ':x',
  ])('"%s" is none', (text) => {
    expect(() => parseFaults(text)).toThrow(ReplaySyntaxError)
  })
})

function texts(list: string): readonly string[] {
  return parseFaultPlans(list).map((specs) => specs.map(faultText).join('+'))
}

function named(list: readonly string[]): readonly string[] {
  return [...new Set(list.flatMap(parseFaults).map(({ name }) => name))]
}

function untold(name: string): boolean {
  return FAULTS.get(name)!.calls === 'untold'
}

describe('the lists', () => {
  test('default and all', () => {
    expect(texts('default')).toEqual(DEFAULT_FAULTS)
    expect(texts('all')).toEqual([...DEFAULT_FAULTS, ...UNTOLD_FAULTS])
    expect(texts('none')).toEqual([])
    expect(texts('crlf+bom; cut:fin@3')).toEqual(['crlf+bom', 'cut:fin@3'])
  })

  test('every fault is in one of them, and only what leaves no trace is left out of the default', () => {
    expect(named([...DEFAULT_FAULTS, ...UNTOLD_FAULTS]).toSorted()).toEqual([...FAULTS.keys()].toSorted())
    expect(named(DEFAULT_FAULTS).filter(untold)).toEqual([])
    expect(named(UNTOLD_FAULTS).filter(untold)).toEqual(named(UNTOLD_FAULTS))
  })

  test('every fault names where it was seen', () => {
    for (const { faults, about } of FAULTS.values()) {
      expect(faults).not.toEqual([])
      for (const id of faults) expect(id).toMatch(/^F\d{3}$/)
      expect(about).not.toBe('')
    }
  })

  test('every fault has its row in docs/replay.md, and the other way round', () => {
    const page = readFileSync(new URL('../../../../docs/replay.md', import.meta.url), 'utf8')
    const rows = page.split('\n').filter((line) => /\| F\d{3}/.test(line))
    const documented = rows.map((row) => /^\| `([a-z0-9-]+)/.exec(row)?.[1])
    expect(documented).toEqual([...FAULTS.keys()])
    for (const [i, { faults, about }] of [...FAULTS.values()].entries()) {
      expect(rows[i]).toContain(`| ${about} `)
      expect(rows[i]).toContain(faults.join(', '))
    }
  })
})
