import { describe, expect, test } from 'vitest'
import type { Policy } from '../../src/authorize/policy.ts'
import { call, check, refusalOf, summaryOf, tool } from './fixtures.ts'

describe('1. allow-list', () => {
  const rules: Policy['rules'] = [
    { tools: ['probe'], tenants: ['acme'], workflows: ['support'], decision: 'allow' },
    { tools: ['other'], decision: 'allow' },
    { tools: ['probe'], tenants: ['banned'], decision: 'deny', reason: 'contract ended' },
    { tools: '*', tenants: ['banned'], decision: 'allow' },
    { tools: '*', tenants: ['reader'], effects: ['read'], decision: 'allow' },
  ]
  const options = {
    tools: [tool(), tool({ name: 'other' }), tool({ name: 'write', effect: 'idempotent' })],
    policy: { revision: 'r', rules },
  }

  test.each([
    { tenant: 'acme', workflow: 'support', name: 'probe', allowed: true },
    { tenant: 'acme', workflow: 'sales', name: 'probe', allowed: false },
    { tenant: 'acme', workflow: undefined, name: 'probe', allowed: false },
    { tenant: 'ACME', workflow: 'support', name: 'probe', allowed: false },
    { tenant: 'acme', workflow: 'sales', name: 'other', allowed: true },
    { tenant: 'banned', workflow: 'support', name: 'probe', allowed: false },
    { tenant: 'banned', workflow: 'support', name: 'write', allowed: true },
    { tenant: 'reader', workflow: undefined, name: 'probe', allowed: true },
    { tenant: 'reader', workflow: undefined, name: 'write', allowed: false },
  ])('$tenant in $workflow calls $name: $allowed', async ({ tenant, workflow, name, allowed }) => {
    const verdict = await check(call(name, '{}'), options, { tenant, ...(workflow === undefined ? {} : { workflow }) })
    expect(summaryOf(verdict)).toBe(allowed ? 'pass' : 'allow_list tool_not_allowed authorize')
  })

  test('the model learns which tools there are for it, and no others', async () => {
    const verdict = await check(call('probe', '{}'), options, { tenant: 'acme', workflow: 'sales' })
    expect(refusalOf(verdict).message).toBe('There is no tool "probe" that you may call. There are other.')
    expect(verdict.evidence.at(-1)?.detail).toBe('no rule names it (tenant acme, workflow sales)')
    const banned = await check(call('probe', '{}'), options, { tenant: 'banned' })
    expect(banned.evidence.at(-1)?.detail).toMatch(/^contract ended/)
  })

  test.each(['prob', 'Probe', 'probe ', 'constructor', '__proto__', 'toString'])(
    'there is no tool %j',
    async (name) => {
      const refusal = refusalOf(await check(call(name, '{}')))
      expect(refusal).toMatchObject({ code: 'unknown_tool', phase: 'validate', at: 'allow_list' })
      expect(refusal.message).toContain('There are probe.')
    },
  )

  test('a policy without rules allows nothing', async () => {
    const verdict = await check(call('probe', '{}'), { policy: { revision: 'none', rules: [] } })
    expect(refusalOf(verdict)).toMatchObject({
      code: 'tool_not_allowed',
      message: expect.stringContaining('There are none'),
    })
  })
})
