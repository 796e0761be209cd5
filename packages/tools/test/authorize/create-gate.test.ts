import { readFileSync } from 'node:fs'
import type { ReadyToolCall } from 'streamfold'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { createGate } from '../../src/authorize/create-gate.ts'
import type { GateOptions } from '../../src/authorize/create-gate.ts'
import type { Policy, PolicyHook, PolicyRequest } from '../../src/authorize/policy.ts'
import { defineTool } from '../../src/define/define-tool.ts'
import type { CallContext } from '../../src/define/tool.ts'
import type { GateCheck, GateRefusal, GateVerdict } from '../../src/gate.ts'
import { sha256Hex } from '../../src/validate/sha256.ts'
import { ALLOW_ALL, call, CONTEXT, tool } from './calls.ts'

const ORDER: readonly GateCheck[] = [
  'allow_list',
  'call_id',
  'size',
  'strict_json',
  'schema',
  'resources',
  'permission',
  'approval',
]

function check(
  ready: ReadyToolCall,
  options: Partial<GateOptions> = {},
  context: Partial<CallContext> = {},
): Promise<GateVerdict> {
  const gate = createGate({ tools: [tool()], policy: ALLOW_ALL, ...options })
  return gate.check(ready, { ...CONTEXT, ...context })
}

/** What was passed before the refusal, and what it says. */
function refusalOf(verdict: GateVerdict): { code: string; phase: string; at: GateCheck | undefined; message: string } {
  const { code, phase, message, evidence } = verdict as GateRefusal
  expect(verdict.kind).toBe('refuse')
  const last = evidence.at(-1)
  expect(last).toMatchObject({ outcome: 'fail' })
  const passed = evidence.slice(0, -1).filter(({ shadow }) => shadow === undefined)
  expect(passed.map((one) => one.check)).toEqual(ORDER.slice(0, ORDER.indexOf(last?.check as GateCheck)))
  return { code, phase, at: last?.check, message }
}

/** `pass`, or the check that refused, with code and phase. */
function summaryOf(verdict: GateVerdict): string {
  if (verdict.kind === 'pass') return 'pass'
  const { at, code, phase } = refusalOf(verdict)
  return `${at} ${code} ${phase}`
}

const hook = (decide: PolicyHook['decide'], shadow = false): PolicyHook => ({ name: 'h', decide, shadow })
const withHooks = (...hooks: PolicyHook[]): Policy => ({ ...ALLOW_ALL, hooks })

describe('a call that passes', () => {
  test('has all checks as evidence, in order', async () => {
    const verdict = await check(call('probe', '{"n":1}'))
    expect(verdict).toMatchObject({ kind: 'pass', args: { n: 1 }, policyRevision: 'p1' })
    expect(verdict.evidence.map((one) => [one.check, one.outcome])).toEqual([
      ['allow_list', 'pass'],
      ['call_id', 'pass'],
      ['size', 'pass'],
      ['strict_json', 'pass'],
      ['schema', 'pass'],
      ['resources', 'not_applicable'],
      ['permission', 'pass'],
      ['approval', 'not_applicable'],
    ])
  })

  test('the hash is that of the input in its canonical form, however it was written', async () => {
    const one = await check(call('probe', '{"n":1.0,"id":"a"}'))
    const other = await check(call('probe', ' { "id" : "\\u0061", "n":1e0 } '))
    expect(one).toMatchObject({ inputJson: '{"id":"a","n":1}', argumentsHash: sha256Hex('{"id":"a","n":1}') })
    expect(other).toMatchObject({ inputJson: '{"id":"a","n":1}' })
  })

  test('the tool gets what validation made; hashed and stored is what the model sent', async () => {
    const seen: PolicyRequest[] = []
    const converts = defineTool({
      name: 'probe',
      description: 'd',
      effect: 'read',
      parameters: z.object({ n: z.string().transform(Number), k: z.number().default(2) }),
      operationId: (args) => ({ b: args.n, a: args.k }),
      execute: () => 1,
    })
    const policy = withHooks(
      hook((request) => {
        seen.push(request)
        return { decision: 'allow' }
      }),
    )
    expect(await check(call('probe', '{"n":"7"}'), { tools: [converts], policy })).toMatchObject({
      kind: 'pass',
      args: { n: 7, k: 2 },
      input: { n: '7' },
      inputJson: '{"n":"7"}',
      operationId: '{"a":2,"b":7}',
    })
    expect(seen).toMatchObject([{ args: { n: 7, k: 2 }, input: { n: '7' }, changed: true }])
  })

  test('empty arguments are {}', async () => {
    expect(await check(call('probe', ' '))).toMatchObject({ kind: 'pass', inputJson: '{}' })
  })

  test('the input of a custom call is text, and is not parsed', async () => {
    const custom = tool({
      parameters: { type: 'object', properties: { input: { type: 'string' } }, required: ['input'] },
    })
    const text = '{"id":"a","id":"b"}'
    const ready = call('probe', text, { parsedArguments: { input: text } })
    expect(await check(ready, { tools: [custom] })).toMatchObject({ kind: 'pass', args: { input: text } })
  })
})

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

describe('5. schema', () => {
  test('the model gets at most five lines, path: expected', async () => {
    const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g']
    const parameters = {
      type: 'object',
      properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])),
    }
    const input = Object.fromEntries(names.map((name) => [name, 1]))
    const refusal = refusalOf(await check(call('probe', JSON.stringify(input)), { tools: [tool({ parameters })] }))
    expect(refusal).toMatchObject({ code: 'schema_violation', phase: 'validate', at: 'schema' })
    expect(refusal.message.split('\n')).toEqual([
      'probe was not run: its arguments do not fit its schema (2 more not shown).',
      '/a: expected string',
      '/b: expected string',
      '/c: expected string',
      '/d: expected string',
      '/e: expected string',
    ])
  })

  test('unknown fields are refused', async () => {
    const refusal = refusalOf(await check(call('probe', '{"n":1,"sudo":true}')))
    expect(refusal.message).toContain('/sudo: expected no such field; the fields are id, n')
  })

  test('the evidence names the place and no value', async () => {
    const verdict = await check(call('probe', '{"n":"secret-value"}'))
    expect(JSON.stringify(verdict.evidence)).not.toContain('secret-value')
    expect(verdict.evidence.at(-1)?.detail).toBe('1 issue(s), first at /n')
  })

  test('a validator that throws is a refusal of its own', async () => {
    const parameters = z.object({}).refine(() => {
      throw new RangeError('secret-value')
    })
    const broken = defineTool({ name: 'probe', description: 'd', effect: 'read', parameters, execute: () => 1 })
    const verdict = await check(call('probe', '{}'), { tools: [broken] })
    expect(refusalOf(verdict)).toMatchObject({ code: 'check_failed', phase: 'validate', at: 'schema' })
    expect(verdict.evidence.at(-1)?.detail).toBe('the schema threw RangeError')
  })
})

const resource = (allowed: boolean | (() => never)) =>
  tool({ resources: () => [{ kind: 'id', type: 'order', id: 'o1', allowed }] })

describe('6. resources', () => {
  test('inside of the boundary', async () => {
    expect(await check(call('probe', '{}'), { tools: [resource(true)] })).toMatchObject({ kind: 'pass' })
  })

  test.each([
    ['no', resource(false), 'it is not one of yours'],
    [
      'a check that throws',
      resource(() => {
        throw new Error('db down')
      }),
      'it could not be checked',
    ],
    ['an unknown kind', tool({ resources: () => [{ kind: 'socket' } as never] }), 'its kind is not known'],
  ])('%s is a no', async (_what, owner, why) => {
    const verdict = await check(call('probe', '{}'), { tools: [owner] })
    expect(refusalOf(verdict)).toMatchObject({ code: 'resource_denied', phase: 'authorize', at: 'resources' })
    expect(verdict.evidence.at(-1)?.detail).toContain(why)
  })

  test.each([
    [
      'throws',
      () => {
        throw new Error('secret-value')
      },
    ],
    ['gives no list', () => 'all' as never],
  ])('resources() that %s is a refusal', async (_what, resources) => {
    const verdict = await check(call('probe', '{}'), { tools: [tool({ resources })] })
    expect(refusalOf(verdict)).toMatchObject({ code: 'check_failed', at: 'resources' })
    expect(JSON.stringify(verdict)).not.toContain('secret-value')
  })

  test('more than 128 are too many', async () => {
    const many = Array.from({ length: 129 }, () => ({ kind: 'id', type: 't', id: 'i', allowed: true }) as const)
    expect(refusalOf(await check(call('probe', '{}'), { tools: [tool({ resources: () => many })] }))).toMatchObject({
      code: 'resource_denied',
    })
  })

  test('a URL is checked against the addresses that the given resolver finds', async () => {
    const fetching = tool({
      resources: () => [{ kind: 'url', url: 'https://api.example.com/', allow: { hosts: ['api.example.com'] } }],
    })
    const at = (address: string) =>
      check(call('probe', '{}'), { tools: [fetching], resolveAddresses: async () => [address] })
    expect(await at('93.184.216.34')).toMatchObject({ kind: 'pass' })
    expect(refusalOf(await at('10.0.0.1'))).toMatchObject({ code: 'resource_denied' })
  })
})

const user = (...permissions: string[]) => ({ id: 'u', permissions })

describe('7. permission', () => {
  const restricted: Policy = {
    revision: 'r',
    rules: [{ tools: ['probe'], decision: 'allow', requires: ['orders:read'] }],
  }
  test.each([
    { principal: undefined, allowed: false, who: 'no principal' },
    { principal: { user: user('orders:read') }, allowed: true, who: '' },
    { principal: { user: user('orders') }, allowed: false, who: 'the user' },
    { principal: { serviceAccount: user('orders:read') }, allowed: true, who: '' },
    { principal: { user: user('orders:read'), serviceAccount: user() }, allowed: false, who: 'the service account' },
    { principal: { user: user(), serviceAccount: user('orders:read') }, allowed: false, who: 'the user' },
    { principal: { user: user('orders:read'), serviceAccount: user('orders:read') }, allowed: true, who: '' },
  ])('$principal: $allowed', async ({ principal, allowed, who }) => {
    const verdict = await check(
      call('probe', '{}'),
      { policy: restricted },
      principal === undefined ? {} : { principal },
    )
    expect(summaryOf(verdict)).toBe(allowed ? 'pass' : 'permission not_authorized authorize')
    const detail = verdict.evidence.find(({ outcome }) => outcome === 'fail')?.detail
    expect(detail).toBe(allowed ? undefined : `${who} has no orders:read`)
  })

  const allow = hook(() => ({ decision: 'allow' }))
  const ask = hook(() => ({ decision: 'ask', reason: 'large sum' }))
  const deny = hook(() => ({ decision: 'deny', reason: 'blocked' }))
  const silent = hook(() => undefined)
  test.each([
    { hooks: [allow, ask, deny], outcome: 'deny' },
    { hooks: [deny, allow], outcome: 'deny' },
    { hooks: [ask, allow], outcome: 'ask' },
    { hooks: [allow, ask], outcome: 'ask' },
    { hooks: [allow, silent], outcome: 'allow' },
    { hooks: [silent], outcome: 'allow' },
  ] as const)('$outcome goes first ($hooks.length hooks)', async ({ hooks, outcome }) => {
    const verdict = await check(call('probe', '{}'), { policy: withHooks(...hooks) })
    expect(verdict).toMatchObject(
      {
        allow: { kind: 'pass' },
        ask: { kind: 'pass', approval: { reason: 'large sum' } },
        deny: { code: 'not_authorized', message: 'probe was not run. It is not allowed.' },
      }[outcome],
    )
    expect('approval' in verdict).toBe(outcome === 'ask')
  })

  test('the tool’s own say counts like any other', async () => {
    const own = tool({
      authorize: () => ({ decision: 'deny', reason: 'frozen account', tellModel: 'The account is frozen.' }),
    })
    const verdict = await check(call('probe', '{}'), { tools: [own], policy: withHooks(allow) })
    expect(refusalOf(verdict)).toMatchObject({
      code: 'not_authorized',
      message: 'probe was not run. The account is frozen.',
    })
    expect(verdict.evidence.at(-1)?.detail).toBe('frozen account')
  })

  test.each([
    [
      'throws',
      () => {
        throw new Error('secret-value')
      },
    ],
    ['rejects', () => Promise.reject(new Error('secret-value'))],
    ['answers nonsense', () => 'yes' as never],
    ['answers true', () => true as never],
  ])('a hook that %s is a no', async (_what, decide) => {
    const verdict = await check(call('probe', '{}'), { policy: withHooks(hook(decide)) })
    expect(refusalOf(verdict)).toMatchObject({ code: 'check_failed', phase: 'authorize', at: 'permission' })
    expect(JSON.stringify(verdict)).not.toContain('secret-value')
  })

  describe('time', () => {
    afterEach(() => void vi.useRealTimers())

    test('a hook that never answers is a no when its time is up, not before', async () => {
      vi.useFakeTimers()
      const hanging = withHooks(hook(() => new Promise(() => {})))
      const settled = vi.fn<() => void>()
      const verdict = check(call('probe', '{}'), { policy: hanging, checkTimeoutMs: 1000 })
      void verdict.then(settled)
      await vi.advanceTimersByTimeAsync(999)
      expect(settled).not.toHaveBeenCalled()
      await vi.advanceTimersByTimeAsync(1)
      expect(refusalOf(await verdict)).toMatchObject({ code: 'check_failed', at: 'permission' })
      expect((await verdict).evidence.at(-1)?.detail).toBe('the hook h did not answer in time')
    })
  })

  test('a cancel overtakes a hook', async () => {
    const controller = new AbortController()
    const policy = withHooks(
      hook(() => {
        controller.abort()
        return new Promise(() => {})
      }),
    )
    expect(refusalOf(await check(call('probe', '{}'), { policy }, { signal: controller.signal }))).toMatchObject({
      code: 'cancelled',
    })
    expect(refusalOf(await check(call('probe', '{}'), {}, { signal: controller.signal }))).toMatchObject({
      code: 'cancelled',
      at: 'allow_list',
    })
  })
})

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

describe('recheck', () => {
  const stored = { callId: 'call_1', name: 'probe', inputJson: '{"id":"a"}' }

  test('gives the same verdict over what was stored, without asking whether the id is new', async () => {
    const gate = createGate({ tools: [tool()], policy: ALLOW_ALL })
    const context = { ...CONTEXT, usedCallIds: new Set(['call_1']) }
    const first = await gate.check(call('probe', '{"id":"a"}'), CONTEXT)
    const again = await gate.recheck(stored, context)
    expect(again).toMatchObject({ kind: 'pass', argumentsHash: (first as { argumentsHash: string }).argumentsHash })
  })

  test('sees what has changed in between', async () => {
    let allowed = true
    const owner = tool({ resources: () => [{ kind: 'id', type: 't', id: 'i', allowed: () => allowed }] })
    const gate = createGate({ tools: [owner], policy: ALLOW_ALL })
    expect(await gate.recheck(stored, CONTEXT)).toMatchObject({ kind: 'pass' })
    allowed = false
    expect(await gate.recheck(stored, CONTEXT)).toMatchObject({ kind: 'refuse', code: 'resource_denied' })
    const gone = createGate({ tools: [], policy: ALLOW_ALL })
    expect(await gone.recheck(stored, CONTEXT)).toMatchObject({ kind: 'refuse', code: 'unknown_tool' })
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
    ['a fallback that is none', { ...ALLOW_ALL, unsafeWithoutOperationId: 'no' as 'deny' }, /unsafeWithoutOperationId/],
  ])('%s', (_what, policy, message) => {
    expect(() => createGate({ tools: [tool()], policy })).toThrow(message)
  })

  test('two tools of one name', () => {
    expect(() => createGate({ tools: [tool(), tool()], policy: ALLOW_ALL })).toThrow(/two tools.*probe/)
  })
})

test('every refusal code of the gate is described in docs/faults.md', () => {
  const page = readFileSync(new URL('../../../../docs/faults.md', import.meta.url), 'utf8')
  for (const code of [
    'unknown_tool',
    'tool_not_allowed',
    'missing_call_id',
    'duplicate_call',
    'resource_denied',
    'check_failed',
  ]) {
    expect(page).toContain(`### ${code}\n`)
  }
})
