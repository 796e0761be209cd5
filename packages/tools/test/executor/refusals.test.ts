import { expect, test } from 'vitest'
import { brief, call, counting, describeExecutor, gateOf, place } from './fixtures.ts'

describeExecutor('refusals', ({ executorOf }) => {
  test('become results for the model, and hold the others', async () => {
    const add = counting('add')
    const executor = executorOf([add.tool])
    const held = await executor.run({ choice: 0, calls: [call('add', 0), call('nothing', 1)] }, place)
    expect(brief(held)).toEqual([
      'done',
      'call_0 refused batch_held: Not run (batch_held): not run, because another call of the same answer could not be run',
      'call_1 refused unknown_tool: Not run (unknown_tool): no tool nothing',
    ])
    expect(add.seen.length).toBe(0)
  })

  test('or let them go, where that was asked for', async () => {
    const executor = executorOf([counting('add').tool], { batch: 'run-the-rest' })
    const rest = await executor.run({ choice: 0, calls: [call('add', 0), call('nothing', 1)] }, place)
    expect(brief(rest).slice(0, 2)).toEqual(['done', 'call_0 succeeded: "done"'])
    expect(rest.results[1]).toMatchObject({ status: 'refused', code: 'unknown_tool', phase: 'validate' })
  })

  test('a gate that throws is a no', async () => {
    const add = counting('add')
    const gate = gateOf([add.tool], () => {
      throw new Error('broken')
    })
    const executor = executorOf([add.tool], { gate })
    const { results } = await executor.run({ choice: 0, calls: [call('add')] }, place)
    expect(results).toMatchObject([{ status: 'refused', code: 'check_failed' }])
    expect(add.seen.length).toBe(0)
  })

  test.each([
    ['id', [call('add', 0, {}, 'x'), call('add', 1, {}, 'x')]],
    ['ordinal', [call('add', 0, {}, 'x'), call('add', 0, {}, 'y')]],
  ])('two calls of one %s: none runs', async (_, calls) => {
    const add = counting('add')
    const { results } = await executorOf([add.tool]).run({ choice: 0, calls }, place)
    expect(results.map(({ code }) => code)).toEqual(['duplicate_call', 'duplicate_call'])
    expect(add.seen.length).toBe(0)
  })

  test('what is no longer allowed at the moment of execution does not run', async () => {
    const add = counting('add')
    const gate = gateOf([add.tool], (_, moment) =>
      moment === 'check'
        ? {}
        : { kind: 'refuse', code: 'resource_denied', phase: 'authorize', message: 'the link moved', evidence: [] },
    )
    const { results } = await executorOf([add.tool], { gate }).run({ choice: 0, calls: [call('add')] }, place)
    expect(results).toMatchObject([{ status: 'failed', code: 'not_authorized', content: 'Failed: the link moved' }])
    expect(add.seen.length).toBe(0)
  })

  test('stored arguments that are not those that were authorized do not run', async () => {
    const add = counting('add')
    const gate = gateOf([add.tool], (_, moment) => (moment === 'check' ? {} : { argumentsHash: 'other' }))
    const { results } = await executorOf([add.tool], { gate }).run({ choice: 0, calls: [call('add')] }, place)
    expect(results).toMatchObject([{ status: 'failed', code: 'not_authorized' }])
    expect(add.seen.length).toBe(0)
  })
})
