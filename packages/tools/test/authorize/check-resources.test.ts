import { describe, expect, test } from 'vitest'
import { call, check, refusalOf, tool } from './fixtures.ts'

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
