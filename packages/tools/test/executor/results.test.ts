import { expect, test } from 'vitest'
import { NoEffectError } from '../../src/executor/index.ts'
import { call, describeExecutor, place, tool } from './fixtures.ts'

describeExecutor('results', ({ executorOf }) => {
  const cyclic: Record<string, unknown> = {}
  cyclic['self'] = cyclic
  test.each([
    ['nothing', undefined, 'null', false],
    ['text with a NUL', 'a\0b', '"a\\u0000b"', false],
    ['a cycle', cyclic, '"[done; the result can\'t be written as JSON: ', true],
    ['a bigint', 10n, '"[done; the result can\'t be written as JSON: ', true],
    ['a function', () => 1, '"[done; the result can\'t be written as JSON]"', true],
    ['too much', 'x'.repeat(2_000), '"\\"xxx', true],
  ])('%s is a success', async (_, value, begin, truncated) => {
    const executor = executorOf([tool('t', { execute: () => value })], { maxResultBytes: 1_000 })
    const { results } = await executor.run({ choice: 0, calls: [call('t')] }, place)
    expect(results[0]).toMatchObject({ status: 'succeeded', truncated })
    expect(results[0]!.content.startsWith(begin)).toBe(true)
    expect(results[0]!.content.length).toBeLessThan(1_000)
    JSON.parse(results[0]!.content)
  })

  test('an error message with a NUL is recorded', async () => {
    const executor = executorOf([
      tool('t', {
        execute: () => {
          throw new NoEffectError('a\0b')
        },
      }),
    ])
    const { results } = await executor.run({ choice: 0, calls: [call('t')] }, place)
    expect(results[0]!.content).toBe('Failed: a\\u0000b')
  })
})
