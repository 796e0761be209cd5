import { afterEach, describe, expect, test, vi } from 'vitest'
import type { Policy } from '../../src/authorize/policy.ts'
import { call, check, hook, refusalOf, summaryOf, tool, withHooks } from './fixtures.ts'

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
