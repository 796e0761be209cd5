import { describe, expect, test } from 'vitest'
import { call, check, refusalOf, summaryOf, tool } from './fixtures.ts'

describe('2. call id', () => {
  test.each(['', ' '])('%j is none', async (callId) => {
    expect(refusalOf(await check(call('probe', '{}', { callId })))).toMatchObject({
      code: 'missing_call_id',
      at: 'call_id',
    })
  })

  test('one that was used in the same choice is refused', async () => {
    const used = await check(call('probe', '{}'), {}, { usedCallIds: new Set(['call_1']) })
    expect(refusalOf(used)).toMatchObject({ code: 'duplicate_call', phase: 'call' })
  })
})

// {"id":"é…"}: 9 bytes around the text, 2 for each é.
const sized = (letters: number) => call('probe', `{"id":"${'é'.repeat(letters)}"}`)

describe('3. size', () => {
  test('counted in bytes; the tool’s own limit goes before the gate’s', async () => {
    expect(await check(sized(5), { maxArgumentBytes: 19 })).toMatchObject({ kind: 'pass' })
    const refusal = refusalOf(await check(sized(6), { maxArgumentBytes: 20 }))
    expect(refusal).toMatchObject({ code: 'argument_limit_exceeded', phase: 'call', at: 'size' })
    expect(refusal.message).toContain('20 bytes')
    const roomy = tool({ maxArgumentBytes: 21 })
    expect(await check(sized(6), { tools: [roomy], maxArgumentBytes: 20 })).toMatchObject({ kind: 'pass' })
  })

  test('is looked at before the text is read: broken and too large is too large', async () => {
    expect(refusalOf(await check(call('probe', `{"id":"${'x'.repeat(1024 * 1024)}`)))).toMatchObject({ at: 'size' })
  })
})

describe('4. strict JSON', () => {
  test.each([
    ['{"id":"a","id":"b"}', 'arguments_unsafe', '/id'],
    [String.raw`{"id":"a","i\u0064":"b"}`, 'arguments_unsafe', '/id'],
    ['{"__proto__":{"id":"a"}}', 'arguments_unsafe', '/__proto__'],
    ['{"n":9007199254740993}', 'arguments_unsafe', '/n'],
    ['{"n":1e400}', 'arguments_unsafe', '/n'],
    [String.raw`{"id":"\ud800"}`, 'arguments_unsafe', '/id'],
    ['{"id":', 'arguments_incomplete', 'ends'],
    ['{"id":"a"} {}', 'arguments_invalid', 'follows'],
    ['[]', 'arguments_invalid', 'object'],
    ['null', 'arguments_invalid', 'object'],
    [`{"id":${'['.repeat(64)}${']'.repeat(64)}}`, 'arguments_invalid', 'deeper than 64'],
  ])('%s', async (text, code, says) => {
    // The core would have held most of these; the gate does not rely on who read the call.
    const refusal = refusalOf(await check(call('probe', text)))
    expect(refusal).toMatchObject({ code, phase: 'call', at: 'strict_json' })
    expect(refusal.message).toContain(says)
  })

  test('63 levels inside of the object are read', async () => {
    const text = `{"id":${'['.repeat(63)}${']'.repeat(63)}}`
    expect(refusalOf(await check(call('probe', text)))).toMatchObject({ code: 'schema_violation' })
  })

  const repaired = call('probe', '{"n":1}}', { parsedArguments: { n: 1 }, repairs: ['extra-brackets'] })
  test.each([
    { effect: 'idempotent', repairedArguments: undefined, kind: 'pass' },
    { effect: 'unsafe', repairedArguments: undefined, kind: 'refuse' },
    { effect: 'unsafe', repairedArguments: 'allow', kind: 'pass' },
    { effect: 'idempotent', repairedArguments: 'refuse', kind: 'refuse' },
  ] as const)(
    'repaired arguments of $effect, $repairedArguments: $kind',
    async ({ effect, repairedArguments, kind }) => {
      const options = repairedArguments === undefined ? {} : { repairedArguments }
      const verdict = await check(repaired, { tools: [tool({ effect })], ...options })
      expect(summaryOf(verdict)).toBe(kind === 'pass' ? 'pass' : 'strict_json arguments_invalid call')
    },
  )
})
