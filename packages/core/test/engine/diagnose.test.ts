import { describe, expect, test } from 'vitest'
import { responses } from '../../src/adapters/openai-responses/adapter.ts'
import { diagnose } from '../../src/engine/diagnose.ts'
import type { Hint } from '../../src/engine/hint.ts'
import type { EndCause } from '../../src/engine/stream-engine.ts'
import type { StreamReport } from '../../src/engine/report.ts'
import { engineWith, readsOf, run } from './run.ts'
import { call, chunk, DONE, finish, more, text } from './wire.ts'

const CALLS = finish('tool_calls') + DONE

function codes(hints: readonly Hint[]): readonly string[] {
  return hints.map(({ code }) => code)
}

/** Bodies at their times, from a request at 0 with a head at 10. */
function timed(reads: readonly (readonly [body: string, atMs: number])[], end: EndCause, endMs: number): StreamReport {
  const engine = engineWith({ timeouts: { idleMs: 1e6, progressMs: 1e6, firstByteMs: 1e6 } })
  engine.start(0)
  engine.response({ status: 200 }, 10)
  for (const [body, at] of reads) for (const read of readsOf(body)) engine.push(read, at)
  engine.end(end, endMs)
  return engine.report()
}

/** A call whose id comes with its first fragment alone. */
function begin(index: number, id: string, args: string): string {
  return chunk({ tool_calls: [{ index, id, type: 'function', function: { name: 'f', arguments: args } }] })
}

describe('a report alone', () => {
  test.each([
    { name: 'text', body: text('hi') + finish('stop') + DONE },
    { name: 'a good call', body: call(0, 'f', '{"a":1}') + CALLS },
    { name: 'a cut inside a call: the cut is told by its code', body: call(0, 'f', '{"a":') },
    { name: 'a token limit inside a call', body: call(0, 'f', '{"a":') + finish('length') + DONE },
    { name: 'an error of the provider', body: 'data: {"error":{"message":"x","code":500}}\n\n' },
    { name: 'nothing', body: '' },
  ])('of $name gives no hint', ({ body }) => {
    expect(diagnose(run(body).report)).toEqual([])
  })

  test.each([
    {
      args: '{"city":"Paris"',
      want: 'arguments_cut',
      evidence: '15 argument bytes: the text ends after 15 characters, inside the object',
    },
    {
      args: '{"a":1}{"a":1}',
      want: 'arguments_merged',
      evidence: '14 argument bytes: behind a whole object, another one begins at character 7',
    },
    {
      args: '{\\"a\\":1}',
      want: 'arguments_escaped',
      evidence: '9 argument bytes: a quote is escaped outside of any string, first at character 1',
    },
    { args: '{"ö":1]', want: 'arguments_broken', evidence: '8 argument bytes: no JSON from character 6 on' },
  ])('events fine, arguments $args → $want', ({ args, want, evidence }) => {
    const [hint, ...others] = diagnose(run(call(0, 'f', args) + CALLS).report)
    expect(others).toEqual([])
    expect(hint).toMatchObject({ code: want, callId: 'call_0', evidence: ['3 events read well', evidence] })
  })

  test('each broken call has its own', () => {
    const { report } = run(call(0, 'f', '{"a"') + call(1, 'f', '{}') + call(2, 'f', '{"a":]') + CALLS)
    expect(diagnose(report).map(({ code, callId }) => [code, callId])).toEqual([
      ['arguments_cut', 'call_0'],
      ['arguments_broken', 'call_2'],
    ])
  })

  test('two calls under one index, one inside the other', () => {
    const body = begin(0, 'a', '{"x":') + begin(0, 'b', '{"y":') + more(0, '1}') + more(0, '2}') + CALLS
    const [hint] = diagnose(run(body).report)
    expect(hint?.code).toBe('calls_mixed')
    expect(hint?.evidence[0]).toMatch(/^2 of 2 calls in choice 0 contradict each other: /)
    expect(hint?.evidence).toContainEqual(expect.stringMatching(/^index_reused at event 2, byte \d+/))
  })

  test('two calls under one index, one after the other: told apart, and said', () => {
    const { report } = run(begin(0, 'a', '{"x":1}') + begin(0, 'b', '{"y":2}') + CALLS)
    expect(report.choices[0]!.phase).toBe('released')
    expect(codes(diagnose(report))).toEqual(['index_reused'])
  })

  test('a call printed as text', () => {
    const body = text('<tool_call>\n{"name":"f","arguments":{"a":1}}\n</tool_call>') + finish('stop') + DONE
    expect(codes(diagnose(run(body).report))).toEqual(['call_in_text'])
  })

  test('calls announced, and none came', () => {
    expect(codes(diagnose(run(text('I will look.') + CALLS).report))).toEqual(['calls_missing'])
  })

  test('the wrong adapter', () => {
    const [hint] = diagnose(run(text('hi') + finish('stop') + DONE, 'eof', { adapter: responses() }).report)
    expect(hint?.code).toBe('wrong_api')
    expect(hint?.evidence[0]).toContain('chat_completions')
  })

  test('one burst at the end', () => {
    const body = text('x').repeat(20) + finish('stop') + DONE
    const [hint] = diagnose(timed([[body, 4000]], 'eof', 4001))
    expect(hint).toMatchObject({
      code: 'buffering_hop',
      evidence: [
        '22 events in one burst at the end: the first output 4000 ms after the request, the end 4000 ms after it',
      ],
    })
  })

  test('bursts', () => {
    const burst = text('x').repeat(10)
    const report = timed(
      [
        [burst, 200],
        [burst, 600],
        [burst, 1000],
        [finish('stop') + DONE, 1400],
      ],
      'eof',
      1400,
    )
    expect(diagnose(report)).toMatchObject([
      { code: 'buffering_hop', evidence: ['events come in bursts, 8.0 in a read'] },
    ])
  })

  test.each([
    { silentMs: 4999, want: [] },
    { silentMs: 5000, want: ['silence_before_the_cut'] },
    { silentMs: 60_000, want: ['silence_before_the_cut'] },
  ])('cut after $silentMs ms of silence', ({ silentMs, want }) => {
    expect(codes(diagnose(timed([[text('hi'), 100]], 'reset', 100 + silentMs)))).toEqual(want)
  })

  test('a silence and a good end is no cut', () => {
    expect(
      diagnose(
        timed(
          [
            [text('hi'), 100],
            [finish('stop') + DONE, 60_000],
          ],
          'eof',
          60_000,
        ),
      ),
    ).toEqual([])
  })
})

describe('beside the upstream’s', () => {
  const whole = run(call(0, 'f', '{"city":"Paris"}') + CALLS).report

  test('the same on both sides blames no hop', () => {
    const broken = run(call(0, 'f', '{"a":1') + CALLS).report
    const [hint] = diagnose(broken, { upstream: broken })
    expect(hint?.code).toBe('arguments_cut')
    expect(hint?.evidence.at(-1)).toBe('the upstream sent them like that: no hop changed them')
  })

  test('fewer argument bytes than were sent', () => {
    const report = run(call(0, 'f', '{"city":"Par')).report
    const [hint, ...others] = diagnose(report, { upstream: whole })
    expect(others).toEqual([])
    expect(hint).toMatchObject({
      code: 'arguments_lost_on_the_way',
      evidence: [
        '12 argument bytes came, 16 were sent',
        'here the stream is incomplete (incomplete_stream), upstream completed',
        expect.stringMatching(/^1 event in \d+ bytes came, 3 in \d+ were sent$/) as string,
        'call call_0 ends after 12 of 16 bytes',
      ],
    })
  })

  test('the last bracket lost on a stream that ends well: the hop, and not the parser of the server', () => {
    const report = run(call(0, 'f', '{"city":"Paris"') + CALLS).report
    expect(report.outcome).toBe('completed')
    expect(codes(diagnose(report))).toEqual(['arguments_cut'])
    expect(codes(diagnose(report, { upstream: whole }))).toEqual(['arguments_lost_on_the_way'])
  })

  test('fewer calls than were sent', () => {
    const report = run(text('') + CALLS).report
    expect(codes(diagnose(report, { upstream: whole }))).toEqual(['calls_lost_on_the_way'])
  })

  test('held back until the end, few as the events are', () => {
    const events = [call(0, 'f', '{"a"'), more(0, ':1'), more(0, '}')]
    const streamed = timed(
      [
        [events[0]!, 100],
        [events[1]!, 600],
        [events[2]!, 1100],
        [CALLS, 1200],
      ],
      'eof',
      1200,
    )
    const held = timed([[events.join('') + CALLS, 1250]], 'eof', 1250)
    expect(diagnose(held)).toEqual([])
    const [hint] = diagnose(held, { upstream: streamed })
    expect(hint?.code).toBe('buffering_hop')
    expect(hint?.evidence[1]).toBe(
      'the upstream streamed: there the first output came after 100 ms, the end after 1200 ms; the hop in between buffers',
    )
    expect(diagnose(streamed, { upstream: streamed })).toEqual([])
  })

  test('gathered by the upstream already', () => {
    const burst = timed([[text('x').repeat(20) + finish('stop') + DONE, 4000]], 'eof', 4000)
    const [hint] = diagnose(burst, { upstream: burst })
    expect(hint?.evidence[1]).toMatch(/^the upstream gathered them already: .* the hop in between is not to blame$/)
  })
})

describe('behind the stream', () => {
  const { report } = run(call(0, 'f', '{}') + call(1, 'g', '{}') + CALLS)

  test('nobody knows what was run: no hint', () => {
    expect(diagnose(report)).toEqual([])
  })

  test('nothing was run', () => {
    expect(diagnose(report, { executions: [] })).toMatchObject([
      {
        code: 'not_executed',
        evidence: [
          '2 calls whole, valid and released',
          'call call_0: nothing took it over; was the batch handed to an executor?',
          'call call_1: nothing took it over; was the batch handed to an executor?',
        ],
      },
    ])
  })

  test('all was run', () => {
    const executions = ['call_0', 'call_1'].map((callId) => ({ callId, state: 'succeeded' as const }))
    expect(diagnose(report, { executions })).toEqual([])
  })

  test.each([
    { state: 'complete', says: 'not validated yet' },
    { state: 'validated', code: 'approval_required', says: 'waits for authorization (approval_required)' },
    { state: 'authorized', says: 'authorized, and no worker has taken it: look at the queue' },
    { state: 'executing', code: 'outcome_unknown', says: 'was begun and has not reported back (outcome_unknown)' },
    { state: 'failed', code: 'not_authorized', says: 'refused or failed (not_authorized)' },
  ] as const)('one is $state', ({ says, ...row }) => {
    const [hint] = diagnose(report, {
      executions: [
        { callId: 'call_0', state: 'succeeded' },
        { callId: 'call_1', ...row },
      ],
    })
    expect(hint?.evidence).toEqual(['2 calls whole, valid and released', `call call_1: ${says}`])
  })

  test('calls that were not released were not to be run', () => {
    const held = run(call(0, 'f', '{}') + DONE).report
    expect(diagnose(held, { executions: [] })).toEqual([])
  })

  test('a report that an executor has completed says it itself', () => {
    const [choice] = report.choices
    const completed: StreamReport = {
      ...report,
      choices: [
        {
          ...choice!,
          toolCalls: choice!.toolCalls.map((one, n) =>
            n === 0 ? { ...one, state: 'succeeded' } : { ...one, state: 'failed', code: 'not_authorized' },
          ),
        },
      ],
      verdict: {
        ...report.verdict,
        tool_authorized: { state: 'fail', code: 'not_authorized', callId: 'call_1' },
        tool_executed: { state: 'not_reached', callId: 'call_1' },
      },
    }
    expect(diagnose(completed)).toMatchObject([
      {
        code: 'not_executed',
        evidence: ['2 calls whole, valid and released', 'call call_1: refused or failed (not_authorized)'],
      },
    ])
  })
})

test('no hint shows what the model wrote', () => {
  const secret = 'Vorgebirge'
  const bodies = [
    call(0, 'f', `{"a":"${secret}"`) + CALLS,
    call(0, 'f', `{"${secret}":1}{"${secret}":1}`) + CALLS,
    call(0, 'f', `{"${secret}":]`) + CALLS,
    begin(0, 'a', `{"${secret}":`) + begin(0, 'b', `{"${secret}":`) + more(0, '1}') + more(0, '2}') + CALLS,
    text(`<tool_call>{"name":"${secret}","arguments":{}}</tool_call>`) + finish('stop') + DONE,
  ]
  for (const body of bodies) {
    const hints = diagnose(run(body).report)
    expect(hints).not.toEqual([])
    expect(JSON.stringify(hints)).not.toContain(secret)
  }
})
