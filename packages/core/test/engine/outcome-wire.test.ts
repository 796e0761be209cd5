import { describe, expect, test } from 'vitest'
import type { StreamErrorEvent } from '../../src/chunk/stream-event.ts'
import { callStates, found, released, run } from './run.ts'
import type { RunOptions } from './run.ts'
import { call, chunk, DONE, finish, more, refusal, sse, text, usage } from './wire.ts'

const CALL = call(0, 'f', '{"a":1}')

interface Row {
  readonly name: string
  readonly body: string
  readonly options?: RunOptions
  /** Outcome and, where there is one, the code of the terminal event. */
  readonly end: string
  readonly calls?: readonly string[]
  readonly findings?: readonly string[]
}

const HELD = ['complete missing_finish_reason']

const compat: readonly Row[] = [
  { name: 'text, stop, [DONE]', body: text('hi') + finish('stop') + DONE, end: 'completed' },
  {
    name: 'a call, tool_calls, [DONE]',
    body: CALL + finish('tool_calls') + DONE,
    end: 'completed',
    calls: ['complete null'],
  },
  {
    name: 'a call under stop is promoted',
    body: CALL + finish('stop') + DONE,
    end: 'completed',
    calls: ['complete null'],
    findings: ['finish_reason_mismatch'],
  },
  {
    name: 'a call under pause_turn',
    body: CALL + finish('pause_turn') + DONE,
    end: 'completed',
    calls: ['complete null'],
  },
  { name: 'nothing but stop', body: finish('stop') + DONE, end: 'empty' },
  { name: 'reasoning alone', body: chunk({ reasoning: 'hm' }) + finish('stop') + DONE, end: 'empty' },
  {
    name: 'tool_calls without a call',
    body: text('hi') + finish('tool_calls') + DONE,
    end: 'degraded',
    findings: ['finish_without_calls'],
  },
  {
    name: 'length, though the arguments parse',
    body: CALL + finish('length') + DONE,
    end: 'truncated',
    calls: ['failed output_truncated'],
  },
  {
    name: 'length in the middle of arguments',
    body: call(0, 'f', '{"a":') + finish('max_tokens') + DONE,
    end: 'truncated',
    calls: ['failed arguments_incomplete'],
  },
  {
    name: 'content_filter',
    body: CALL + finish('content_filter') + DONE,
    end: 'refused',
    calls: ['failed output_refused'],
  },
  {
    name: 'refusal text under stop',
    body: refusal('no') + CALL + finish('stop') + DONE,
    end: 'refused',
    calls: ['complete output_refused'],
    findings: [],
  },
  {
    name: 'an error word',
    body: CALL + finish('error') + DONE,
    end: 'failed upstream_error',
    calls: ['failed upstream_error'],
  },
  {
    name: 'the provider’s abort',
    body: CALL + finish('abort') + DONE,
    end: 'incomplete incomplete_stream',
    calls: ['failed incomplete_stream'],
  },
  {
    name: 'an unknown finish reason',
    body: CALL + finish('because') + DONE,
    end: 'degraded',
    calls: ['complete finish_unknown'],
    findings: ['unknown_finish_reason'],
  },
  {
    name: 'the same, named by the profile',
    body: CALL + finish('because') + DONE,
    options: { profile: { finishAliases: { because: 'tool-calls' } } },
    end: 'completed',
    calls: ['complete null'],
  },
  {
    name: 'a finish reason without [DONE]',
    body: CALL + finish('tool_calls'),
    end: 'degraded',
    calls: ['complete null'],
    findings: ['missing_sentinel'],
  },
  {
    name: 'the same, where [DONE] is optional',
    body: CALL + finish('tool_calls'),
    options: { profile: { sentinel: 'optional' } },
    end: 'completed',
    calls: ['complete null'],
  },
  {
    name: '[DONE] without a finish reason',
    body: CALL + DONE,
    end: 'degraded',
    calls: HELD,
    findings: ['missing_finish_reason'],
  },
  {
    name: 'the same, where the finish reason is optional',
    body: CALL + DONE,
    options: { profile: { finishReason: 'optional' } },
    end: 'completed',
    calls: ['complete null'],
  },
  {
    name: 'a finish reason that is null or empty is no end',
    body: text('hi') + finish('') + DONE,
    end: 'degraded',
    findings: ['finish_reason_empty', 'missing_finish_reason'],
  },
  { name: 'neither', body: CALL, end: 'incomplete incomplete_stream', calls: ['failed incomplete_stream'] },
  { name: 'no event at all', body: '', end: 'failed empty_stream' },
  { name: 'only [DONE]', body: DONE, end: 'failed empty_stream' },
  {
    name: 'only comments',
    body: ': hello\n\n: again\n\n',
    end: 'failed empty_stream',
    findings: ['comment_keepalive'],
  },
  {
    name: 'an event that is not JSON, amid good ones',
    body: CALL + 'data: {oops\n\n' + text('on') + finish('tool_calls') + DONE,
    end: 'degraded',
    calls: ['failed invalid_event_json'],
    findings: ['skipped_event'],
  },
  {
    name: 'such an event before a call',
    body: 'data: {oops\n\n' + CALL + finish('tool_calls') + DONE,
    end: 'degraded',
    calls: ['complete event_skipped'],
    findings: ['skipped_event'],
  },
  {
    name: 'no event that can be read',
    body: 'data: {oops\n\n' + DONE,
    end: 'failed invalid_event_json',
    findings: ['skipped_event'],
  },
  {
    name: 'a repair that the profile asks for',
    body: call(0, 'f', '{"a":1}}') + finish('tool_calls') + DONE,
    options: { profile: { repairs: ['extra-brackets'] } },
    end: 'degraded',
    calls: ['complete null'],
    findings: ['arguments_repaired'],
  },
  {
    name: 'arguments that do not parse leave the outcome alone',
    body: call(0, 'f', '{"a":1}}') + call(1, 'g', '{}') + finish('tool_calls') + DONE,
    end: 'completed',
    calls: ['failed arguments_invalid', 'complete batch_held'],
  },
  {
    name: 'an unknown tool too',
    body: CALL + finish('tool_calls') + DONE,
    options: { request: { tools: ['g'] } },
    end: 'completed',
    calls: ['failed unknown_tool'],
  },
  {
    name: 'a name that changes inside a call',
    body:
      CALL + chunk({ tool_calls: [{ index: 0, function: { name: 'g' } }] }) + text('on') + finish('tool_calls') + DONE,
    end: 'failed protocol_conflict',
    calls: ['failed protocol_conflict'],
  },
  {
    name: 'arguments behind the finish reason',
    body: CALL + finish('tool_calls') + more(0, '{"b":2}') + DONE,
    end: 'failed protocol_conflict',
    calls: ['failed protocol_conflict'],
  },
  {
    name: 'text behind the finish reason is merged',
    body: text('a') + finish('stop') + text('b') + DONE,
    end: 'completed',
    findings: ['content_after_finish'],
  },
  {
    name: 'an error in the stream',
    body: CALL + sse({ error: { message: 'broken', code: 'server_error' } }) + DONE,
    end: 'failed upstream_error',
    calls: ['failed upstream_error'],
  },
  { name: 'an error in its place', body: sse({ error: { message: 'busy', code: 429 } }), end: 'failed rate_limited' },
  {
    name: 'empty arguments at the token limit',
    body: call(0, 'f', '') + finish('tool_calls') + usage(100) + DONE,
    options: { request: { maxOutputTokens: 100 } },
    end: 'completed',
    calls: ['complete arguments_suspect'],
    findings: ['arguments_empty'],
  },
  {
    name: 'empty arguments below it',
    body: call(0, 'f', '{}') + finish('tool_calls') + usage(99) + DONE,
    options: { request: { maxOutputTokens: 100 } },
    end: 'completed',
    calls: ['complete null'],
  },
]

const strict: readonly Row[] = [
  { name: 'text, stop, [DONE]', body: text('hi') + finish('stop') + DONE, end: 'completed' },
  {
    name: 'a finish reason without [DONE]',
    body: CALL + finish('tool_calls'),
    end: 'incomplete incomplete_stream',
    calls: ['complete incomplete_stream'],
    findings: ['missing_sentinel'],
  },
  {
    name: '[DONE] without a finish reason',
    body: CALL + DONE,
    end: 'incomplete missing_finish_reason',
    calls: ['failed missing_finish_reason'],
    findings: ['missing_finish_reason'],
  },
  {
    name: 'an event that is not JSON ends the stream at once',
    body: CALL + 'data: {oops\n\n' + text('never') + DONE,
    end: 'failed invalid_event_json',
    calls: ['failed invalid_event_json'],
    findings: ['skipped_event'],
  },
  {
    name: 'a repair',
    body: call(0, 'f', '{"a":1}}') + finish('tool_calls') + DONE,
    options: { profile: { repairs: ['extra-brackets'] } },
    end: 'failed arguments_invalid',
    calls: ['complete arguments_invalid'],
    findings: ['arguments_repaired'],
  },
  {
    name: 'an unknown finish reason',
    body: CALL + finish('because') + DONE,
    end: 'degraded',
    calls: ['complete finish_unknown'],
    findings: ['unknown_finish_reason'],
  },
]

/** A row as it turned out. */
function outcomeOf({ name, body, options }: Row): Row {
  const { events, end, report } = run(body, 'eof', options)
  const calls = callStates(report)
  // What is said in several places is said alike.
  expect(report.outcome).toBe(end.outcome)
  expect(report.error?.code).toBe(end.type === 'stream_error' ? end.code : undefined)
  expect(released(events)).toHaveLength(calls.filter((state) => state === 'complete null').length)
  const code = end.type === 'stream_error' ? ` ${end.code}` : ''
  return {
    name,
    body,
    ...(options !== undefined && { options }),
    end: end.outcome + code,
    calls,
    findings: found(report),
  }
}

describe('outcomes of real bytes, compat', () => {
  test.each(compat)('$name → $end', (row) => {
    expect(outcomeOf(row)).toEqual({ calls: [], findings: [], ...row })
  })
})

describe('outcomes of real bytes, strict', () => {
  test.each(strict)('$name → $end', (row) => {
    const options: RunOptions = { ...row.options, policy: 'strict' }
    expect(outcomeOf({ ...row, options })).toEqual({ calls: [], findings: [], ...row, options })
  })
})

describe('two choices', () => {
  /** How choice 0 or 1 can end, and what its own outcome is then. */
  const ends: readonly { name: string; body: (choice: number) => string; outcome: string }[] = [
    { name: 'completed', body: (choice) => text('hi', { choice }) + finish('stop', choice), outcome: 'completed' },
    { name: 'empty', body: (choice) => finish('stop', choice), outcome: 'empty' },
    { name: 'degraded', body: (choice) => text('hi', { choice }) + finish('because', choice), outcome: 'degraded' },
    { name: 'truncated', body: (choice) => text('hi', { choice }) + finish('length', choice), outcome: 'truncated' },
    {
      name: 'refused',
      body: (choice) => text('hi', { choice }) + finish('content_filter', choice),
      outcome: 'refused',
    },
    { name: 'incomplete', body: (choice) => text('hi', { choice }) + finish('abort', choice), outcome: 'incomplete' },
    { name: 'failed', body: (choice) => text('hi', { choice }) + finish('error', choice), outcome: 'failed' },
  ]
  const pairs = ends.flatMap((first, worst) => ends.slice(worst).map((second) => ({ first, second })))

  test.each(pairs)(
    '$first.name and $second.name: the stream has the worse, each choice its own',
    ({ first, second }) => {
      for (const [a, b] of [
        [first, second],
        [second, first],
      ] as const) {
        const { report, end } = run(a.body(0) + b.body(1) + DONE)
        expect(end.outcome).toBe(second.outcome)
        expect(report.choices.map((choice) => choice.outcome)).toEqual([a.outcome, b.outcome])
        expect(end.finish.map(({ choice }) => choice)).toEqual([0, 1])
      }
    },
  )

  test('each has its own batch: one bad call does not hold those of the other', () => {
    const { events, report } = run(
      call(0, 'f', '{"a":', { choice: 1 }) + CALL + finish('tool_calls', 1) + finish('tool_calls') + DONE,
    )
    expect(released(events)).toEqual([report.choices[0]!.toolCalls[0]!.callId])
    expect(report.choices.map(({ phase }) => phase)).toEqual(['released', 'failed'])
    expect(callStates(report)).toEqual(['complete null', 'failed arguments_incomplete'])
  })

  test('no batch of any choice goes out when the stream failed', () => {
    for (const second of ['error', 'abort']) {
      const { events, report } = run(CALL + finish('tool_calls') + text('hi', { choice: 1 }) + finish(second, 1) + DONE)
      expect(released(events)).toEqual([])
      expect(report.choices[0]!.toolCalls[0]!.code).not.toBeNull()
    }
  })

  test('a conflict in one choice holds the calls of the other, also under the policy "each"', () => {
    for (const batch of ['all', 'each'] as const) {
      const rename = chunk({ tool_calls: [{ index: 0, function: { name: 'g' } }] })
      const { events, end } = run(
        CALL + rename + call(0, 'f', '{}', { choice: 1 }) + finish('stop') + finish('stop', 1) + DONE,
        'eof',
        { batch },
      )
      expect(released(events)).toEqual([])
      expect(end).toMatchObject({ outcome: 'failed', code: 'protocol_conflict' })
    }
  })
})

describe('the policy "each"', () => {
  test('lets ready calls go beside a bad one', () => {
    const body = CALL + call(1, 'g', '{') + finish('tool_calls') + DONE
    const { events, report } = run(body, 'eof', { batch: 'each' })
    expect(released(events)).toEqual(['call_0'])
    expect(callStates(report)).toEqual(['complete null', 'failed arguments_incomplete'])
    expect(report.choices[0]!.phase).toBe('released')
  })
})

describe('after an error in the stream', () => {
  const broken = text('hi') + sse({ error: { message: 'broken' } })

  test('usage is still read into the report, and nothing else', () => {
    const { events, report, engine } = run(broken + text('never') + usage(7) + finish('stop') + DONE)
    expect(report.usage).toMatchObject({ outputTokens: 7 })
    expect(engine.snapshot().usage).toMatchObject({ outputTokens: 7 })
    expect(report.choices[0]!.text).toBe('hi')
    expect(events.map((event) => event.type)).toEqual(['stream_started', 'text_delta', 'stream_error'])
    expect(report.counts.events).toBe(2)
  })

  test('the error is that of the first', () => {
    const { report } = run(broken + sse({ error: { message: 'again', code: 429 } }))
    expect(report.error).toMatchObject({ code: 'upstream_error', provider: { message: 'broken' }, event: 2 })
  })

  test('a retry may only start anew, once something was shown', () => {
    expect((run(broken).end as StreamErrorEvent).retryable).toBe('restart')
    expect((run(sse({ error: { message: 'broken' } })).end as StreamErrorEvent).retryable).toBe('yes')
    const refused = sse({ error: { message: 'bad request', code: 400 } })
    expect((run(text('hi') + refused).end as StreamErrorEvent).retryable).toBe('no')
  })
})

describe('after the end', () => {
  test('data is ignored, and found once for each kind of place', () => {
    const { report, events } = run([text('hi') + finish('stop') + DONE, text('late'), `${DONE}: c\n\n`, text('later')])
    expect(report.choices[0]!.text).toBe('hi')
    expect(found(report)).toContain('data_after_end')
    const first = report.diagnostics.find(({ code }) => code === 'data_after_end')!
    expect(first).toMatchObject({ event: 4, offset: (text('hi') + finish('stop') + DONE).length })
    expect(events.at(-1)!.type).toBe('stream_completed')
  })
})
