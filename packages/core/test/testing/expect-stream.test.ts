import { describe, expect, test } from 'vitest'
import { chatCompletions } from '../../src/adapters/openai-chat/index.ts'
import { createStreamEngine } from '../../src/engine/engine.ts'
import type { StreamReport } from '../../src/engine/report.ts'
import { expectStream, StreamAssertionError } from '../../src/testing/expect-stream.ts'
import type { StreamExpectation } from '../../src/testing/expect-stream.ts'
import { HELLO, WIRE } from '../client/fake-fetch.ts'

function reportOf(body: string): StreamReport {
  const engine = createStreamEngine({ adapter: chatCompletions() })
  engine.response({ status: 200 })
  engine.push(new TextEncoder().encode(body))
  engine.end('eof')
  return engine.report()
}

const HELLO_REPORT = reportOf(HELLO)
const CALL_REPORT = reportOf(WIRE.call('c1', 'f', '{"b":2,"a":[1]}') + WIRE.finish('tool_calls') + WIRE.done)
const TWO_CALLS_REPORT = reportOf(
  WIRE.call('c1', 'f', '{}') +
    WIRE.call('c2', 'g', '{}').replace('"index":0,"id"', '"index":1,"id"') +
    WIRE.finish('tool_calls') +
    WIRE.done,
)
const CUT_REPORT = reportOf(WIRE.call('c1', 'f', '{"a":'))

describe('what holds is a chain', () => {
  test('text', () => {
    expect(() =>
      expectStream(HELLO_REPORT).toReach('delta_ok').toEnd('completed').toSay('hello').toSay(/^hel/).toTakeAttempts(1),
    ).not.toThrow()
  })

  test('calls, whatever the order of their keys', () => {
    const call = { name: 'f', arguments: { a: [1], b: 2 } }
    expect(() => expectStream(CALL_REPORT).toReach('tool_args_complete').toReleaseCalls(call)).not.toThrow()
    expect(() => expectStream(CALL_REPORT).toReleaseCalls({ name: 'f' })).not.toThrow()
  })

  test('failures', () => {
    expect(() =>
      expectStream(CUT_REPORT)
        .toEnd('incomplete')
        .toFailWith('incomplete_stream')
        .toFailAt('delta_ok', 'incomplete_stream')
        .toRefuseCall('f', 'incomplete_stream'),
    ).not.toThrow()
  })
})

describe('what does not hold says what it found', () => {
  test.each<{ name: string; report: StreamReport; check: (it: StreamExpectation) => unknown; says: RegExp }>([
    {
      name: 'toReach',
      report: CUT_REPORT,
      check: (it) => it.toReach('tool_args_complete'),
      says: /delta_ok is fail \(incomplete_stream\)/,
    },
    {
      name: 'toReach of what does not apply',
      report: HELLO_REPORT,
      check: (it) => it.toReach('tool_args_complete'),
      says: /tool_args_complete is not_applicable/,
    },
    {
      name: 'toReach of nothing',
      report: HELLO_REPORT,
      check: (it) => it.toReach('done' as 'sse_ok'),
      says: /expected the stream to reach done/,
    },
    { name: 'toFailAt', report: HELLO_REPORT, check: (it) => it.toFailAt('sse_ok'), says: /sse_ok is pass/ },
    {
      name: 'toEnd',
      report: CUT_REPORT,
      check: (it) => it.toEnd('completed'),
      says: /outcome completed, but it is incomplete\nthe stream failed: incomplete_stream/,
    },
    {
      name: 'toFailWith',
      report: HELLO_REPORT,
      check: (it) => it.toFailWith('cancelled'),
      says: /it ended as completed/,
    },
    { name: 'toSay', report: HELLO_REPORT, check: (it) => it.toSay('bye'), says: /the text "bye", but it is "hello"/ },
    {
      name: 'toReleaseCalls with other arguments',
      report: CALL_REPORT,
      check: (it) => it.toReleaseCalls({ name: 'f', arguments: { a: [2], b: 2 } }),
      says: /f\(\{"b":2,"a":\[1\]\}\) released/,
    },
    {
      name: 'toReleaseCalls of fewer than there are',
      report: TWO_CALLS_REPORT,
      check: (it) => it.toReleaseCalls({ name: 'f' }),
      says: /f\(\{\}\) released, g\(\{\}\) released/,
    },
    {
      name: 'toReleaseCalls of more than there are',
      report: CALL_REPORT,
      check: (it) => it.toReleaseCalls({ name: 'f' }, { name: 'g' }),
      says: /the calls f\(…\), g\(…\) to be released/,
    },
    {
      name: 'toReleaseCalls in another order',
      report: TWO_CALLS_REPORT,
      check: (it) => it.toReleaseCalls({ name: 'g' }, { name: 'f' }),
      says: /g\(…\), f\(…\)/,
    },
    { name: 'toReleaseCalls of none', report: CALL_REPORT, check: (it) => it.toReleaseCalls(), says: /\(none\)/ },
    {
      name: 'toRefuseCall',
      report: CALL_REPORT,
      check: (it) => it.toRefuseCall('f', 'batch_held'),
      says: /f\(.*\) released/,
    },
    {
      name: 'toHaveFinding',
      report: HELLO_REPORT,
      check: (it) => it.toHaveFinding('missing_sentinel'),
      says: /there are none/,
    },
    { name: 'toTakeAttempts', report: HELLO_REPORT, check: (it) => it.toTakeAttempts(2), says: /there were 1/ },
  ])('$name', ({ report, check, says }) => {
    let thrown: unknown
    try {
      check(expectStream(report))
    } catch (error) {
      thrown = error
    }
    expect(thrown).toBeInstanceOf(StreamAssertionError)
    expect(thrown).toMatchObject({ name: 'AssertionError', message: expect.stringMatching(says) as string, report })
  })
})
