import { describe, expect, test } from 'vitest'
import { responses } from '../../src/adapters/openai-responses/adapter.ts'
import type { ProviderProfile } from '../../src/adapters/profile.ts'
import {
  added,
  argumentsDelta,
  argumentsDone,
  completed,
  created,
  done,
  ended,
  functionCall,
  message,
  numbered,
  OSLO,
  response,
  stream,
  textDelta,
  wholeCall,
  wholeMessage,
} from '../adapters/openai-responses/wire.ts'
import type { WireEvent } from '../adapters/openai-responses/wire.ts'
import { callsOf, engineFor, findingsOf, run as runAny, textOf } from './run.ts'
import type { Run, RunOptions } from './run.ts'
import { bytesOf } from './wire.ts'

function run(body: string, options: RunOptions & { readonly profile?: ProviderProfile } = {}): Run {
  return runAny(body, { ...options, adapter: responses(options.profile) })
}

const READY = `get_weather(${OSLO}) ready`
const time = { id: 'fc_2', call_id: 'call_10', name: 'get_time' }

/** A delta that says nothing of where it belongs. */
function bareDelta(delta: string): WireEvent {
  return { type: 'response.function_call_arguments.delta', delta }
}

/** A call that only its finished item and the final response tell of. */
function doneOnly(args: unknown): readonly WireEvent[] {
  return [done(0, functionCall(args)), completed([functionCall(args)])]
}

describe('F138 — item ids that are new in every event', () => {
  test('one text and one call, by output_index and call id', () => {
    const result = run(
      stream(
        created(),
        added(0, message(undefined, { id: 'A' })),
        textDelta(0, 'Loo', { item_id: 'B' }),
        textDelta(0, 'k.', { item_id: 'C' }),
        done(0, message('Look.', { id: 'D' })),
        added(1, functionCall('', { id: 'E' })),
        argumentsDelta(1, OSLO, 'F'),
        argumentsDone(1, OSLO, 'G'),
        done(1, functionCall(OSLO, { id: 'H' })),
        completed([message('Look.', { id: 'I' }), functionCall(OSLO, { id: 'J' })], { id: 'resp_2' }),
      ),
    )
    expect(textOf(result)).toBe('Look.')
    expect(callsOf(result)).toEqual([READY])
    expect(result.report.outcome).toBe('completed')
    expect(findingsOf(result)).toEqual(['item_id_changed', 'response_id_changed'])
  })

  test('an id that belongs to another item is no new id: index and id contradict each other', () => {
    const result = run(
      stream(
        created(),
        added(0, functionCall('')),
        added(1, functionCall('', time)),
        argumentsDelta(0, OSLO, 'fc_2'),
        done(0, functionCall(OSLO)),
        done(1, functionCall('{}', time)),
        completed(),
      ),
    )
    expect(result.report.error?.code).toBe('protocol_conflict')
    expect(result.report.choices[0]!.toolCalls.map(({ name, code }) => [name, code])).toEqual([
      ['get_weather', 'protocol_conflict'],
      ['get_time', 'protocol_conflict'],
    ])
  })
})

describe('F140 — arguments only in arguments.done', () => {
  test('given out once, in one piece', () => {
    const result = run(
      stream(created(), added(0, functionCall('')), argumentsDone(0, OSLO), done(0, functionCall(OSLO)), completed()),
    )
    expect(callsOf(result)).toEqual([READY])
    expect(result.events.filter(({ type }) => type === 'tool_call_arguments_delta')).toHaveLength(1)
    expect(findingsOf(result)).toEqual([])
  })

  test('deltas that stopped early are completed from it', () => {
    const result = run(
      stream(
        created(),
        added(0, functionCall('')),
        argumentsDelta(0, '{"city"'),
        argumentsDone(0, OSLO),
        done(0, functionCall(OSLO)),
        completed(),
      ),
    )
    expect(callsOf(result)).toEqual([READY])
    expect(findingsOf(result)).toEqual(['deltas_incomplete'])
  })

  test('a done event without arguments leaves the deltas as they are', () => {
    for (const args of [undefined, null, '']) {
      const result = run(
        stream(
          created(),
          added(0, functionCall('')),
          argumentsDelta(0, OSLO),
          argumentsDone(0, args),
          done(0, functionCall('', { status: 'completed' })),
          completed(),
        ),
      )
      expect(callsOf(result)).toEqual([READY])
    }
  })
})

describe('F141 — a call only in its item, or only in the final response', () => {
  const { id: _, ...withoutId } = functionCall(OSLO)
  const everywhere = functionCall(OSLO)

  test.each<[string, readonly WireEvent[]]>([
    ['item begun and done', [added(0, functionCall('')), done(0, functionCall(OSLO)), completed()]],
    ['item done, never begun', [done(0, functionCall(OSLO)), completed()]],
    ['item without an id', [added(0, { ...withoutId, arguments: '' }), done(0, withoutId), completed([withoutId])]],
    ['final response only', [completed([functionCall(OSLO)])]],
    ['final response only, without an id', [completed([withoutId])]],
    ['everywhere', [...wholeCall(0, ['{"city":', '"Oslo"}']), completed([everywhere])]],
    ['item that is whole from its beginning', [added(0, functionCall(OSLO)), done(0, functionCall(OSLO)), completed()]],
  ])('%s: one call, once', (_name, events) => {
    const result = run(stream(created(), ...events))
    expect(callsOf(result)).toEqual([READY])
    expect(result.report.outcome).toBe('completed')
    expect(result.events.filter(({ type }) => type === 'tool_call_ready')).toHaveLength(1)
    expect(result.report.choices[0]!.toolCalls[0]!.callId).toBe('call_9')
  })

  test('a call that was only begun is no whole call, though its arguments stood there', () => {
    expect(callsOf(run(stream(created(), added(0, functionCall(OSLO)), completed())))).toEqual([
      'get_weather() held: missing_finish_reason',
    ])
  })
})

describe('F143 — an empty output in the final response', () => {
  test.each<[string, readonly unknown[]]>([
    ['[]', [[]]],
    ['null', [null]],
    ['absent', []],
  ])('output %s: what was streamed stays', (_name, [output]) => {
    const final = completed(output)
    const result = run(stream(created(), ...wholeMessage(0, ['Look', 'ing.']), ...wholeCall(1, [OSLO]), final))
    expect(textOf(result)).toBe('Looking.')
    expect(callsOf(result)).toEqual([READY])
    expect(result.report.outcome).toBe('completed')
  })

  test('only a call whose item was done is complete', () => {
    const result = run(
      stream(
        created(),
        ...wholeCall(0, [OSLO]),
        added(1, functionCall('', time)),
        argumentsDelta(1, '{}', 'fc_2'),
        completed(),
      ),
    )
    expect(callsOf(result)).toEqual([
      `get_weather(${OSLO}) held: batch_held`,
      'get_time({}) held: missing_finish_reason',
    ])
  })
})

describe('F144 — the terminal event is absent', () => {
  test.each<[string, readonly string[]]>([
    ['the body ends', []],
    ['[DONE] comes in its place', ['[DONE]']],
  ])('%s: incomplete, to be asked again, and the open call is not run', (_name, end) => {
    const result = run(
      stream(created(), added(0, functionCall('')), argumentsDelta(0, '{"ci'), argumentsDelta(0, 'ty"'), ...end),
    )
    expect(result.report.outcome).toBe('incomplete')
    expect(result.report.error).toMatchObject({ code: 'incomplete_stream', retryable: 'restart' })
    expect(callsOf(result)).toEqual(['get_weather({"city") failed: incomplete_stream'])
  })

  test('a call without any arguments is not read as {}', () => {
    expect(callsOf(run(stream(created(), added(0, functionCall('')), '[DONE]')))).toEqual([
      'get_weather() failed: incomplete_stream',
    ])
  })

  test('a call whose item was done is whole, and not released either', () => {
    expect(callsOf(run(stream(created(), ...wholeCall(0, [OSLO]))))).toEqual([
      `get_weather(${OSLO}) held: incomplete_stream`,
    ])
  })

  test('[DONE] on a socket that stays open: the wait is the short one, and its end is no good end', () => {
    const engine = engineFor({ adapter: responses() })
    engine.start(0)
    engine.push(bytesOf(stream(created(), ...wholeCall(0, [OSLO]))), 1_000)
    expect(engine.deadline()?.code).toBe('idle_timeout')
    engine.push(bytesOf(stream('[DONE]')), 1_100)
    expect(engine.deadline()).toEqual({ atMs: 3_100, code: 'finish_grace' })
    engine.end('timeout', 3_100)
    expect(engine.report().error).toMatchObject({ code: 'incomplete_stream', retryable: 'restart' })
  })

  test('a server that is known to leave it out: the profile says so', () => {
    const profile = { sentinel: 'optional', finishReason: 'optional' } as const
    const result = run(stream(created(), ...wholeMessage(0, ['Hi.'])), { profile })
    expect(result.report.outcome).toBe('completed')
  })
})

describe('F145 — incomplete, failed and error inside a 200', () => {
  const begun = [created(), added(0, message()), textDelta(0, 'So far')] as const

  test.each([
    ['max_output_tokens', 'truncated', 'length'],
    ['max_messages', 'truncated', 'length'],
    ['content_filter', 'refused', 'content-filter'],
    ['steered', 'incomplete', 'aborted'],
    ['something_new', 'incomplete', 'aborted'],
  ])('response.incomplete for %s: %s', (reason, outcome, finish) => {
    const result = run(stream(...begun, ended('incomplete', { incomplete_details: { reason } })))
    expect(result.report.outcome).toBe(outcome)
    expect(result.report.choices[0]).toMatchObject({ text: 'So far', finish: { reason: finish, raw: 'incomplete' } })
    expect(findingsOf(result).includes('unknown_finish_reason')).toBe(reason === 'something_new')
  })

  test('response.failed: the error it names, and what was said before', () => {
    const error = { code: 'rate_limit_exceeded', message: 'Slow down.' }
    const result = run(stream(...begun, ended('failed', { error, usage: { input_tokens: 3, output_tokens: 1 } })))
    expect(result.report.error).toMatchObject({ code: 'rate_limited', status: 429, retryable: 'restart' })
    expect(result.report.choices[0]).toMatchObject({ text: 'So far', finish: { reason: 'error', raw: 'failed' } })
    expect(result.report.usage).toMatchObject({ inputTokens: 3, outputTokens: 1 })
  })

  test.each([
    ['vector_store_timeout', 504, 'restart'],
    ['invalid_image_url', 400, 'no'],
    ['bio_policy', 400, 'no'],
    ['server_error', 500, 'restart'],
  ])('response.failed with %s stands for %i', (code, status, retryable) => {
    const result = run(stream(...begun, ended('failed', { error: { code, message: 'No.' } })))
    expect(result.report.error).toMatchObject({ code: 'upstream_error', status, retryable })
  })

  test('response.failed that does not say why is still a failure', () => {
    for (const error of [null, undefined, '']) {
      expect(run(stream(...begun, ended('failed', { error }))).report.error?.code).toBe('upstream_error')
    }
  })

  test.each<[string, WireEvent]>([
    ['flat', { type: 'error', code: 'server_error', message: 'Oops.', param: null }],
    ['nested', { type: 'error', error: { type: 'server_error', code: 'server_error', message: 'Oops.' } }],
    ['without a type', { error: { code: 'server_error', message: 'Oops.' } }],
  ])('an error event, %s, with and without its name', (_name, event) => {
    for (const body of [stream(event), `data: ${JSON.stringify(event)}\n\n`]) {
      const result = run(stream(...begun) + body)
      expect(result.report.error).toMatchObject({ code: 'upstream_error', status: 500, retryable: 'restart' })
      expect(textOf(result)).toBe('So far')
    }
  })

  test('a completed event around a response that is not: the worse word counts', () => {
    const cut = response('incomplete', { incomplete_details: { reason: 'max_output_tokens' } })
    const wrapped = run(stream(created(), ...wholeCall(0, [OSLO]), { type: 'response.completed', response: cut }))
    expect(callsOf(wrapped)).toEqual([`get_weather(${OSLO}) held: output_truncated`])
    const named = { type: 'response.incomplete', response: response('completed') }
    const result = run(stream(created(), ...wholeCall(0, [OSLO]), named))
    expect(callsOf(result)).toEqual([`get_weather(${OSLO}) held: incomplete_stream`])
    expect(findingsOf(result)).toContain('finish_reason_mismatch')
    const still = { type: 'response.completed', response: response('in_progress') }
    expect(callsOf(run(stream(created(), ...wholeCall(0, [OSLO]), still)))).toEqual([
      `get_weather(${OSLO}) held: finish_unknown`,
    ])
  })
})

describe('F147 — item id and call id', () => {
  test('the call id is what is echoed, the item id only finds the item', () => {
    const result = run(stream(created(), ...wholeCall(0, [OSLO]), completed()))
    expect(result.events.find(({ type }) => type === 'tool_batch_ready')).toMatchObject({
      calls: [{ callId: 'call_9', providerCallId: 'call_9', metadata: { item: { id: 'fc_1' } } }],
    })
  })

  test('two items that share a call id and have no id of their own: neither runs', () => {
    const { id: _, ...item } = functionCall('')
    const bodies = [
      [
        { type: 'response.output_item.added', item },
        { type: 'response.output_item.added', item: { ...item, name: 'get_time' } },
        bareDelta(OSLO),
        bareDelta('{}'),
      ],
      [
        { type: 'response.output_item.added', item },
        { type: 'response.output_item.added', item },
        bareDelta(OSLO),
        bareDelta('{"city":"Rome"}'),
        { type: 'response.output_item.done', item: { ...item, arguments: OSLO, status: 'completed' } },
      ],
    ]
    for (const events of bodies) {
      const calls = run(stream(created(), ...events, completed())).report.choices[0]!.toolCalls
      expect(calls.map(({ state }) => state)).toEqual(calls.map(() => 'failed'))
      expect(calls.length).toBeGreaterThan(0)
    }
  })

  test('the same call id under two indexes with other arguments is another call, under an id of its own', () => {
    const second = { id: 'fc_2' }
    const result = run(
      stream(created(), ...wholeCall(0, [OSLO]), ...wholeCall(1, ['{"city":"Rome"}'], second), completed()),
    )
    expect(callsOf(result)).toEqual([READY, 'get_weather({"city":"Rome"}) ready'])
    expect(findingsOf(result)).toEqual(['id_repeated'])
  })
})

describe('F148 — items that are null', () => {
  test.each<[string, WireEvent]>([
    ['null', added(0, null)],
    ['missing', { type: 'response.output_item.added', output_index: 0 }],
  ])('an item that is %s is no item; the call at index 1 is ready', (_name, event) => {
    const result = run(stream(created(), event, ...wholeCall(1, [OSLO]), completed()))
    expect(callsOf(result)).toEqual([READY])
    expect(findingsOf(result)).toEqual(['unexpected_field'])
  })

  test.each<[string, WireEvent]>([
    ['text', added(0, 'function_call')],
    ['a list', added(0, [])],
    ['without a type', added(0, { id: 'x' })],
  ])('an item that is %s is a hole: no call of the stream runs', (_name, event) => {
    const result = run(stream(created(), event, ...wholeCall(1, [OSLO]), completed()))
    expect(callsOf(result)).toEqual([`get_weather(${OSLO}) held: event_skipped`])
    expect(result.report.outcome).toBe('degraded')
  })

  test('deltas for an index that was never begun are a hole too; what they hold is shown', () => {
    const result = run(stream(created(), ...wholeCall(1, [OSLO]), argumentsDelta(0, '{"n":1}', 'fc_0'), completed()))
    expect(callsOf(result)).toEqual([`get_weather(${OSLO}) held: event_skipped`, 'null({"n":1}) failed: missing_name'])
  })
})

describe('F151 — keepalive events', () => {
  test.each(['keepalive', 'response.keep_alive', 'vendor:ping', 'response.unheard_of.delta'])(
    '%s counts in the sequence, and is ignored and counted',
    (type) => {
      const result = run(stream(...numbered([created(), { type }, ...wholeMessage(0, ['Hi.']), { type }, completed()])))
      expect(result.report.outcome).toBe('completed')
      expect(result.report.diagnostics).toMatchObject([{ code: 'unknown_event', severity: 'info', count: 2 }])
    },
  )
})

describe('F152 — frames of a gateway without their fields', () => {
  test('response.in_progress without response and number, before response.created', () => {
    const bare = { type: 'response.in_progress' }
    const result = run(stream(bare, bare, ...numbered([created(), ...wholeCall(0, [OSLO]), completed()])))
    expect(callsOf(result)).toEqual([READY])
    expect(findingsOf(result)).toEqual([])
  })

  test('no lifecycle events at all, but the last', () => {
    const result = run(stream(...wholeMessage(0, ['Hi.']), completed()))
    expect([textOf(result), result.report.outcome]).toEqual(['Hi.', 'completed'])
    expect(result.events[0]).toMatchObject({ type: 'stream_started' })
  })

  test('a final event without its response: its name says how it ended', () => {
    const result = run(stream(created(), ...wholeMessage(0, ['Hi.']), { type: 'response.completed' }))
    expect(result.report.choices[0]).toMatchObject({ text: 'Hi.', finish: { reason: 'stop', raw: 'completed' } })
    expect(result.report.outcome).toBe('completed')
  })
})

test('F154 — a hosted tool between calls shifts no index', () => {
  const search = { id: 'fs_1', type: 'file_search_call', status: 'completed', queries: ['q'] }
  const result = run(
    stream(
      created(),
      added(0, { ...search, status: 'in_progress', queries: [] }),
      { type: 'response.file_search_call.searching', output_index: 0, item_id: 'fs_1' },
      added(1, functionCall('')),
      added(2, functionCall('', time)),
      argumentsDelta(2, '{"zone"', 'fc_2'),
      argumentsDelta(1, '{"city":'),
      done(0, search),
      argumentsDelta(2, ':"CET"}', 'fc_2'),
      argumentsDelta(1, '"Oslo"}'),
      done(2, functionCall('{"zone":"CET"}', time)),
      done(1, functionCall(OSLO)),
      completed([search, functionCall(OSLO), functionCall('{"zone":"CET"}', time)]),
    ),
  )
  expect(callsOf(result)).toEqual([
    'file_search({"queries":["q"]}) held: provider_executed',
    READY,
    'get_time({"zone":"CET"}) ready',
  ])
  expect(result.report.outcome).toBe('completed')
})

describe('faults of other sections, on this wire', () => {
  test('a hosted tool is never released, even under the name of a declared one (fault F083)', () => {
    const search = { id: 'ws_1', type: 'web_search_call', status: 'completed', action: { type: 'search', query: 'q' } }
    const own = functionCall('{"q":1}', { name: 'web_search' })
    const result = run(
      stream(created(), added(0, search), done(0, search), added(1, own), done(1, own), completed([search, own])),
      { request: { tools: ['web_search'] } },
    )
    expect(callsOf(result)).toEqual([
      'web_search({"type":"search","query":"q"}) held: provider_executed',
      'web_search({"q":1}) ready',
    ])
    expect(result.events.find(({ type }) => type === 'tool_batch_ready')).toMatchObject({
      calls: [{ callId: 'call_9' }],
    })
  })

  test('arguments as a value are written down once, and held where that could change them (fault F038)', () => {
    const result = run(stream(created(), ...doneOnly({ city: 'Oslo' })))
    expect(callsOf(result)).toEqual([READY])
    expect(findingsOf(result)).toEqual(['arguments_as_object'])
    const twice = stream(created(), ...doneOnly({ a: 1, b: 2 })).replaceAll('"b":2', '"a":2')
    expect(callsOf(run(twice))).toEqual(['get_weather({"a":2}) held: arguments_unsafe'])
  })

  test('a whole JSON response in place of the stream (fault F184)', () => {
    const body = response('completed', { output: [message('Hi.'), functionCall(OSLO)], error: null })
    const result = run(JSON.stringify(body, null, 1))
    expect([textOf(result), callsOf(result)]).toEqual(['Hi.', [READY]])
    expect(findingsOf(result)).toEqual(['downgraded_to_json'])
    const failed = response('failed', { output: [], error: { code: 'server_error', message: 'Oops.' } })
    expect(run(JSON.stringify(failed)).report.error).toMatchObject({ code: 'upstream_error', status: 500 })
  })

  test('bytes that are not UTF-8 inside arguments fail the call', () => {
    const text = stream(created(), ...wholeCall(0, ['{"city":"O?"}']), completed())
    const bytes = new TextEncoder().encode(text).map((byte) => (byte === 0x3f ? 0xff : byte))
    const result = runAny(bytes, { adapter: responses() })
    expect(callsOf(result)).toEqual([expect.stringMatching(/failed: invalid_utf8$/)])
  })

  test('lifecycle frames of a failed attempt before those of the next are passed over (fault F129)', () => {
    const other = { id: 'resp_0', model: 'm-0' }
    const result = run(
      stream(...numbered([created(other)]), ...numbered([created(), ...wholeCall(0, [OSLO]), completed()])),
    )
    expect(callsOf(result)).toEqual([READY])
    expect(findingsOf(result)).toEqual(['response_id_changed', 'splice_suspected'])
  })

  test('empty text, empty end (fault F105)', () => {
    expect(run(stream(created(), completed())).report.outcome).toBe('empty')
  })

  test('half an emoji at the end of a delta waits for its other half, in text and in arguments (fault F203)', () => {
    const pieces = ['{"e":"\ud83d', '\ude00"}']
    const result = run(
      stream(created(), ...wholeMessage(0, ['a\ud83d', '\ude00']), ...wholeCall(1, pieces), completed()),
    )
    expect(textOf(result)).toBe('a😀')
    expect(callsOf(result)).toEqual(['get_weather({"e":"😀"}) ready'])
    for (const event of result.events) expect(JSON.stringify(event)).not.toMatch(/\\ud83d/)
  })

  test('names of events left out by a relay (fault F190)', () => {
    const body = stream(created(), ...wholeCall(0, [OSLO]), completed()).replaceAll(/^event: .*\n/gm, '')
    expect(callsOf(run(body))).toEqual([READY])
  })

  test('types left out of the data, and only the names of events kept', () => {
    const body = stream(created(), ...wholeCall(0, [OSLO]), completed()).replaceAll(/"type":"response\.[a-z_.]+",/g, '')
    expect(body).not.toContain('"type":"response.')
    expect(callsOf(run(body))).toEqual([READY])
  })
})
