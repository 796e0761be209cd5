import { describe, expect, test } from 'vitest'
import { sha256Hex } from '../../src/validate/sha256.ts'
import { ALLOW_ALL, call, check, hook, refusalOf, summaryOf, tool, withHooks } from './fixtures.ts'

describe('8. approval', () => {
  test('is bound to the call id and the hash, with what may be shown and until when', async () => {
    const owner = tool({ approve: 'always', redact: (input) => ({ ...input, id: '***' }) })
    const verdict = await check(call('probe', '{"id":"secret-value"}'), { tools: [owner] })
    expect(verdict).toMatchObject({
      kind: 'pass',
      approval: {
        callId: 'call_1',
        tool: 'probe',
        argumentsHash: sha256Hex('{"id":"secret-value"}'),
        shown: { id: '***' },
        expiresInMs: 3_600_000,
      },
    })
    expect(verdict.evidence.at(-1)).toMatchObject({ check: 'approval', outcome: 'ask' })
  })

  test.each([
    { why: 'unsafe, no operation', more: { effect: 'unsafe' }, policy: {}, asked: true },
    { why: 'unsafe, an operation', more: { effect: 'unsafe', operationId: () => 'o1' }, policy: {}, asked: false },
    { why: 'unsafe, never', more: { effect: 'unsafe', approve: 'never' }, policy: {}, asked: false },
    {
      why: 'unsafe, allowed by the policy',
      more: { effect: 'unsafe' },
      policy: { unsafeWithoutOperationId: 'allow' },
      asked: false,
    },
    { why: 'idempotent', more: { effect: 'idempotent' }, policy: {}, asked: false },
    {
      why: 'asked by a rule',
      more: { approve: 'never' },
      policy: { rules: [{ tools: '*', decision: 'ask' }] },
      asked: true,
    },
    { why: 'a function says yes', more: { approve: () => true }, policy: {}, asked: true },
    { why: 'a function says no', more: { approve: () => false }, policy: {}, asked: false },
    { why: 'a function says nothing', more: { approve: () => undefined as never }, policy: {}, asked: true },
  ] as const)('$why: $asked', async ({ more, policy, asked }) => {
    const verdict = await check(call('probe', '{}'), { tools: [tool(more)], policy: { ...ALLOW_ALL, ...policy } })
    expect(verdict.kind).toBe('pass')
    expect('approval' in verdict).toBe(asked)
  })

  test('a policy may forbid what cannot be undone instead', async () => {
    const verdict = await check(call('probe', '{}'), {
      tools: [tool({ effect: 'unsafe' })],
      policy: { ...ALLOW_ALL, unsafeWithoutOperationId: 'deny' },
    })
    expect(refusalOf(verdict)).toMatchObject({ code: 'not_authorized', at: 'approval' })
  })

  test('the shortest say of the decision that asks wins over the policy’s default', async () => {
    const policy = {
      ...withHooks(hook(() => ({ decision: 'ask', reason: 'r', expiresInMs: 5 }))),
      approvalExpiresInMs: 9,
    }
    expect(await check(call('probe', '{}'), { policy })).toMatchObject({ approval: { expiresInMs: 5 } })
    const always = { tools: [tool({ approve: 'always' })], policy: { ...ALLOW_ALL, approvalExpiresInMs: 9 } } as const
    expect(await check(call('probe', '{}'), always)).toMatchObject({ approval: { expiresInMs: 9 } })
  })

  test('redact that throws shows nothing: the call is refused', async () => {
    const owner = tool({
      approve: 'always',
      redact: () => {
        throw new Error('x')
      },
    })
    expect(refusalOf(await check(call('probe', '{}'), { tools: [owner] }))).toMatchObject({
      code: 'check_failed',
      at: 'approval',
    })
  })
})

describe('an operation that is not named', () => {
  test.each([undefined, null, ''])('%o: the call is one by itself, and an unsafe one is asked about', async (named) => {
    const pay = tool({ effect: 'unsafe', operationId: () => named as string })
    const verdict = await check(call('probe', '{"n":1}'), { tools: [pay] })
    expect(verdict).toMatchObject({ kind: 'pass', approval: { tool: 'probe' } })
    expect('operationId' in verdict).toBe(false)
  })

  test.each([0, false])('%o is a name like any other', async (named) => {
    const verdict = await check(call('probe', '{"n":1}'), { tools: [tool({ operationId: () => named })] })
    expect(verdict).toMatchObject({ kind: 'pass', operationId: String(named) })
  })
})

describe('what a person is to be shown', () => {
  test.each<[string, unknown, unknown]>([
    ['nothing', undefined, null],
    ['something that comes later', Promise.resolve({ n: '…' }), { n: '…' }],
    ['what JSON leaves out', { n: undefined }, {}],
  ])('%s', async (_, redacted, shown) => {
    const pay = tool({ approve: 'always', redact: () => redacted as null })
    expect(await check(call('probe', '{"n":1}'), { tools: [pay] })).toMatchObject({ approval: { shown } })
  })

  test.each<[string, unknown]>([
    ['a big number', 1n],
    ['a function', () => 1],
  ])('%s is no JSON: the call is refused', async (_, redacted) => {
    const pay = tool({ approve: 'always', redact: () => redacted as null })
    expect(summaryOf(await check(call('probe', '{"n":1}'), { tools: [pay] }))).toBe('approval check_failed authorize')
  })
})

describe('the time to answer', () => {
  test.each([0, -1, NaN, Infinity])('of %d is none: the call is refused', async (expiresInMs) => {
    const policy = withHooks(hook(() => ({ decision: 'ask', reason: 'r', expiresInMs })))
    expect(summaryOf(await check(call('probe', '{}'), { policy }))).toBe('approval check_failed authorize')
  })

  test('is whole milliseconds', async () => {
    const policy = withHooks(hook(() => ({ decision: 'ask', reason: 'r', expiresInMs: 0.5 })))
    expect(await check(call('probe', '{}'), { policy })).toMatchObject({ approval: { expiresInMs: 1 } })
  })
})
