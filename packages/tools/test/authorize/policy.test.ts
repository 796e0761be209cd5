import { describe, expect, test } from 'vitest'
import { createGate } from '../../src/authorize/create-gate.ts'
import type { Policy } from '../../src/authorize/policy.ts'
import { ALLOW_ALL, call, check, hook, refusalOf, tool } from './fixtures.ts'

describe('a policy that would not do what it says is refused when the gate is made', () => {
  test.each<[string, Policy, RegExp]>([
    ['a misspelt tool', { revision: 'r', rules: [{ tools: ['prob'], decision: 'deny' }] }, /rules\[0\].*"prob"/],
    [
      'a decision that is none',
      { revision: 'r', rules: [{ tools: '*', decision: 'no' as 'deny' }] },
      /allow, ask or deny/,
    ],
    ['no revision', { revision: '', rules: [] }, /revision/],
    ['rules that are no list', { revision: 'r', rules: {} as [] }, /list/],
    [
      'tools that are no list',
      { revision: 'r', rules: [{ tools: 'probe' as '*', decision: 'deny' }] },
      /list of names/,
    ],
    // `'acme'.includes('ac')`: a text would let every part of it in.
    ...(['tenants', 'workflows', 'effects', 'requires'] as const).map((name): [string, Policy, RegExp] => [
      `${name} that are no list`,
      { revision: 'r', rules: [{ tools: '*', decision: 'allow', [name]: 'acme' }] },
      new RegExp(`rules\\[0\\]\\.${name} must be a list`),
    ]),
    [
      'a misspelt field, which would make a rule speak for everybody',
      { revision: 'r', rules: [{ tools: '*', decision: 'allow', tenant: ['acme'] } as Policy['rules'][number]] },
      /rules\[0\] has no field "tenant"/,
    ],
    ['a misspelt field of the policy', { ...ALLOW_ALL, hook: [] } as Policy, /policy has no field "hook"/],
    [
      'a shadow that is a text',
      { revision: 'r', rules: [{ tools: '*', decision: 'deny', shadow: 'true' as unknown as boolean }] },
      /shadow/,
    ],
    ['no time to answer', { ...ALLOW_ALL, approvalExpiresInMs: 0 }, /approvalExpiresInMs/],
    ['more than a year to answer', { ...ALLOW_ALL, approvalExpiresInMs: Infinity }, /approvalExpiresInMs/],
    ['a fallback that is none', { ...ALLOW_ALL, unsafeWithoutOperationId: 'no' as 'deny' }, /unsafeWithoutOperationId/],
  ])('%s', (_what, policy, message) => {
    expect(() => createGate({ tools: [tool()], policy })).toThrow(message)
  })

  test('two tools of one name', () => {
    expect(() => createGate({ tools: [tool(), tool()], policy: ALLOW_ALL })).toThrow(/two tools.*probe/)
  })
})

describe('shadow mode', () => {
  test('is noted and changes nothing, whatever it says or does', async () => {
    const policy: Policy = {
      revision: 'r',
      rules: [
        { tools: '*', decision: 'allow' },
        { tools: ['probe'], decision: 'deny', shadow: true, reason: 'next month' },
      ],
      hooks: [
        hook(() => ({ decision: 'deny', reason: 'no' }), true),
        hook(() => {
          throw new Error('x')
        }, true),
        hook(() => undefined, true),
      ],
    }
    const verdict = await check(call('probe', '{}'), { policy })
    expect(verdict.kind).toBe('pass')
    expect(verdict.evidence.filter((one) => one.shadow !== undefined)).toEqual([
      { check: 'allow_list', outcome: 'not_applicable', detail: 'next month', shadow: 'deny' },
      { check: 'permission', outcome: 'not_applicable', detail: 'the hook h', shadow: 'deny' },
      { check: 'permission', outcome: 'not_applicable', detail: 'the hook h threw Error', shadow: 'deny' },
    ])
  })

  test('a rule in shadow allows nothing', async () => {
    const policy: Policy = { revision: 'r', rules: [{ tools: '*', decision: 'allow', shadow: true }] }
    expect(refusalOf(await check(call('probe', '{}'), { policy }))).toMatchObject({ code: 'tool_not_allowed' })
  })
})
