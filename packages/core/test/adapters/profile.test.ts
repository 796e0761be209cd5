import { describe, expect, test } from 'vitest'
import { adapterFor } from '../../src/adapters/registry.ts'
import { profileOf, PROFILES } from '../../src/adapters/profiles.ts'
import { readProfile } from '../../src/adapters/read-profile.ts'
import { callsOf, run } from '../faults/run.ts'
import { DONE, finish, frag, sse } from '../faults/wire.ts'

describe('readProfile', () => {
  test('what is right comes back as it is', () => {
    const profile = {
      sentinel: 'optional',
      finishReason: 'required',
      finishAliases: { fin: 'stop' },
      nameMerge: 'append',
      idChange: 'keep-first',
      toolIndex: 'ignore',
      cumulativeText: true,
      thinkTags: false,
      repairs: ['cumulative'],
    }
    expect(readProfile(profile)).toBe(profile)
  })

  test.each([
    [null, /must be an object/],
    [[], /must be an object/],
    [{ terminator: 'none' }, /no field "terminator"/],
    [{ __proto__: null, constructor: 1 }, /no field "constructor"/],
    [{ finishReason: true }, /finishReason must be one of required, optional/],
    [{ finishAliases: { fin: 'done' } }, /finishAliases must be one of stop, .* at "fin"/],
    [{ finishAliases: 'stop' }, /finishAliases must be an object/],
    [{ nameMerge: 'replace' }, /nameMerge must be one of verify, append/],
    [{ idChange: '' }, /idChange/],
    [{ toolIndex: 0 }, /toolIndex/],
    [{ cumulativeText: 'yes' }, /cumulativeText must be true or false/],
    [{ thinkTags: 1 }, /thinkTags/],
    [{ repairs: 'cumulative' }, /repairs must be a list/],
    [{ repairs: ['all'] }, /repairs must be a list of one of cumulative/],
  ])('%j is refused', (profile, message) => {
    expect(() => readProfile(profile)).toThrow(message)
  })
})

describe('built-in profiles', () => {
  test.each(Object.entries(PROFILES))('%s is valid and its wire format is known', (_, { api, profile, why }) => {
    expect(readProfile(profile)).toEqual(profile)
    expect(adapterFor(api, profile).api).toBe(api)
    expect(why.length).toBeGreaterThan(10)
  })

  test.each(['no-one', '__proto__', 'constructor'])('there is none called %s', (name) => {
    expect(() => profileOf(name)).toThrow(/no built-in profile/)
  })
})

describe('toolIndex', () => {
  /** A server that counts fragments instead of calls. */
  const counting = sse(
    frag(0, 'a', 'f', '{"x":'),
    frag(1, 'a', undefined, '1'),
    frag(2, 'a', undefined, '}'),
    finish('tool_calls'),
    DONE,
  )

  test('used by default: the fragments are calls that are never whole', () => {
    expect(callsOf(run(counting)).join()).not.toContain('ready')
  })

  test('ignored where the profile says so: ids tell the calls apart', () => {
    expect(callsOf(run(counting, { profile: { toolIndex: 'ignore' } }))).toEqual(['f({"x":1}) ready'])
  })
})
