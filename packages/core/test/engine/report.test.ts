import { describe, expect, test } from 'vitest'
import type { DiagnosticCode } from '../../src/chunk/diagnostic.ts'
import { DIAGNOSTIC_CODES } from '../../src/chunk/diagnostic.ts'
import { createStreamEngine } from '../../src/engine/engine.ts'
import type { EndCause } from '../../src/engine/stream-engine.ts'
import { chatCompletions } from '../../src/adapters/openai-chat/adapter.ts'
import { DiagnosticLog, FINDINGS } from '../../src/engine/diagnostics.ts'
import type { Verdict } from '../../src/engine/verdict.ts'
import { engineWith, readsOf, run } from './run.ts'
import type { Reads, RunOptions } from './run.ts'
import { call, chunk, DONE, finish, sse, text, usage } from './wire.ts'

const HEAD = { status: 200, headers: [['content-type', 'text/event-stream']] } as const
const CALL = call(0, 'f', '{"a":1}')

describe('a report', () => {
  test('has every field of its schema, for a stream with everything in it', () => {
    const body =
      ': up\n\n' +
      chunk({ role: 'assistant', reasoning: 'hm' }) +
      text('hé') +
      call(0, 'f', '{"é":1}') +
      finish('tool_calls') +
      usage(5) +
      DONE
    const engine = createStreamEngine({
      adapter: chatCompletions(),
      attempt: 2,
      requestId: 'req',
      route: 'a',
      idSeed: 's',
    })
    engine.start(1000)
    engine.response({ status: 200, headers: [...HEAD.headers, ['X-Request-Id', 'up']] }, 1010)
    const [bytes] = readsOf(body)
    engine.push(bytes!.subarray(0, 3), 1020)
    engine.push(bytes!.subarray(3, 200), 1030)
    engine.push(bytes!.subarray(200), 1100)
    expect(engine.report({ kind: 'recording', file: 'x.jsonl' })).toEqual({
      schema: 'streamfold/report@1',
      api: 'chat_completions',
      source: { kind: 'recording', file: 'x.jsonl' },
      verdict: {
        http_ok: { state: 'pass' },
        sse_ok: { state: 'pass' },
        delta_ok: { state: 'pass' },
        tool_args_complete: { state: 'pass' },
        tool_authorized: { state: 'not_reached' },
        tool_executed: { state: 'not_reached' },
      },
      outcome: 'completed',
      error: null,
      choices: [
        {
          index: 0,
          text: 'hé',
          reasoning: 'hm',
          refusal: '',
          toolCalls: [
            {
              callId: 'call_0',
              name: 'f',
              argumentsText: '{"é":1}',
              parsedArguments: { é: 1 },
              state: 'complete',
              code: null,
              providerExecuted: false,
            },
          ],
          finish: { reason: 'tool-calls', raw: 'tool_calls' },
          outcome: 'completed',
          phase: 'released',
        },
      ],
      attempts: [
        {
          attempt: 2,
          requestId: 'req',
          upstreamRequestId: 'up',
          route: 'a',
          events: 6,
          outcome: 'completed',
          code: null,
          retryReason: null,
          executed: false,
        },
      ],
      usage: {
        inputTokens: 1,
        outputTokens: 5,
        totalTokens: 6,
        raw: { prompt_tokens: 1, completion_tokens: 5, total_tokens: 6 },
      },
      timing: {
        timeToConnectMs: null,
        timeToHeadersMs: 10,
        timeToFirstByteMs: 20,
        timeToFirstEventMs: 30,
        timeToFirstOutputMs: 30,
        timeToFirstTextMs: 100,
        timeToFirstToolNameMs: 100,
        timeToTerminalMs: 100,
        timeToLastEventMs: 100,
        timeToLastByteMs: 100,
        timeToEndOfBodyMs: null,
        calls: [{ callId: 'call_0', timeToLastArgumentMs: 100 }],
        longestGapMs: 70,
        longestGapAt: { offset: 200, event: 1 },
        longestProgressGapMs: 70,
        gapP50Ms: expect.closeTo(10, 0) as number,
        gapP95Ms: expect.closeTo(70, -1) as number,
        eventsPerRead: 2,
        burstRatio: 0.846,
        outputTokensPerSecond: 71.429,
        streaming: 'unknown',
      },
      counts: { bytes: bytes!.length, events: 6, comments: 1, textDeltaBytes: 3, toolArgumentBytes: 8 },
      diagnostics: [{ code: 'comment_keepalive', severity: 'info', count: 1, hint: expect.any(String) as string }],
    })
  })

  test('of a stream that is open has no outcome yet, and shows what came', () => {
    const engine = engineWith({ head: HEAD })
    for (const read of readsOf(text('hi') + call(0, 'f', '{'))) engine.push(read)
    expect(engine.report()).toMatchObject({
      source: { kind: 'live' },
      outcome: null,
      error: null,
      verdict: {
        http_ok: { state: 'pass' },
        sse_ok: { state: 'pass' },
        delta_ok: { state: 'not_reached' },
        tool_args_complete: { state: 'not_reached' },
      },
      choices: [
        {
          text: 'hi',
          outcome: null,
          phase: 'streaming',
          toolCalls: [{ state: 'collecting', code: null, parsedArguments: null }],
        },
      ],
      attempts: [{ outcome: null }],
    })
    // A report changes nothing.
    expect(engine.report()).toEqual(engine.report())
    expect(engine.end('eof').at(-1)).toMatchObject({ type: 'stream_error' })
  })

  test('survives JSON', () => {
    for (const body of [text('hi') + finish('stop') + DONE, CALL, '']) {
      const { report } = run(body, 'reset', { head: HEAD })
      expect(JSON.parse(JSON.stringify(report))).toEqual(report)
    }
  })

  test('without a clock has no times, and with one only from the start of the request', () => {
    const nulls = { timeToHeadersMs: null, timeToFirstByteMs: null, timeToTerminalMs: null, timeToFirstOutputMs: null }
    expect(run(text('hi') + DONE).report.timing).toMatchObject({ ...nulls, longestGapMs: null })
    const engine = engineWith()
    for (const read of readsOf(text('hi'))) engine.push(read, 5)
    expect(engine.report().timing).toMatchObject(nulls)
  })

  test('says the id that the upstream’s operator knows, by any of its names', () => {
    const names = ['x-request-id', 'Request-Id', 'apim-request-id', 'x-amzn-RequestId', 'x-generation-id', 'CF-Ray']
    for (const name of names) {
      const { report } = run('', 'eof', { head: { status: 200, headers: [[name, 'up']] } })
      expect(report.attempts[0]!.upstreamRequestId).toBe('up')
    }
    const both = [
      ['cf-ray', 'edge'],
      ['x-request-id', 'origin'],
    ] as const
    expect(run('', 'eof', { head: { status: 200, headers: both } }).report.attempts[0]!.upstreamRequestId).toBe(
      'origin',
    )
    expect(run('', 'eof', { head: { status: 200 } }).report.attempts[0]!.upstreamRequestId).toBeNull()
  })

  test('the terminal event says what the report says', () => {
    for (const body of [text('hi'), text('hi') + sse({ error: { message: 'x', code: 429 } }), '']) {
      const { end, report } = run(body, 'eof', { head: HEAD })
      expect(end).toMatchObject({ ...report.error, type: 'stream_error', outcome: report.outcome })
    }
  })
})

describe('a minted call id', () => {
  const body =
    chunk({ tool_calls: [{ index: 0, function: { name: 'f', arguments: '{}' } }] }) + finish('tool_calls') + DONE
  const idOf = (options: RunOptions): string => run(body, 'eof', options).report.choices[0]!.toolCalls[0]!.callId

  test('is the same for the same seed and attempt, and no other', () => {
    expect(idOf({ idSeed: 'a' })).toBe(idOf({ idSeed: 'a' }))
    const ids = [idOf({}), idOf({ idSeed: 'a' }), idOf({ idSeed: 'b' }), idOf({ idSeed: 'a', attempt: 2 })]
    expect(new Set(ids).size).toBe(4)
  })
})

const RUNGS = ['http_ok', 'sse_ok', 'delta_ok', 'tool_args_complete', 'tool_authorized', 'tool_executed'] as const
const LETTERS = { pass: 'P', fail: 'F', not_reached: '-', not_applicable: 'n' } as const

function letters(verdict: Verdict): string {
  return RUNGS.map((rung) => LETTERS[verdict[rung].state]).join('')
}

interface VerdictRow {
  readonly name: string
  readonly body: Reads
  readonly cause?: EndCause
  readonly options?: RunOptions
  readonly withoutHead?: true
  /** One letter a rung, in the order of RUNGS: P pass, F fail, - not reached, n not applicable. */
  readonly want: string
  /** The evidence of the first rung that does not simply pass. */
  readonly evidence?: Readonly<Record<string, unknown>>
}

const badByte: Reads = [
  'data: {"choices":[{"index":0,"delta":{"content":"a',
  Uint8Array.of(0xff),
  `"}}]}\n\n${finish('stop')}${DONE}`,
]

const verdicts: readonly VerdictRow[] = [
  { name: 'text that ended well', body: text('hi') + finish('stop') + DONE, want: 'PPPnnn' },
  { name: 'a call that ended well', body: CALL + finish('tool_calls') + DONE, want: 'PPPP--' },
  {
    name: 'bytes without a head',
    body: text('hi') + finish('stop') + DONE,
    withoutHead: true,
    want: 'nPPnnn',
  },
  {
    name: 'an HTTP error',
    body: 'busy',
    options: { head: { status: 503 } },
    want: 'F-----',
    evidence: { code: 'http_error' },
  },
  {
    name: 'a cancelled HTTP error',
    body: 'busy',
    cause: 'aborted',
    options: { head: { status: 503 } },
    want: 'F-----',
    evidence: { code: 'cancelled' },
  },
  {
    name: 'an HTML page',
    body: '<html><title>Sign in</title>',
    want: 'PF----',
    evidence: { code: 'not_event_stream' },
  },
  {
    name: 'an event that is too long',
    body: text('hi') + text('x'.repeat(300)),
    options: { limits: { eventBytes: 200 } },
    want: 'PFF---',
    evidence: { code: 'event_limit_exceeded', event: 2, offset: text('hi').length },
  },
  { name: 'bytes that are not UTF-8', body: badByte, want: 'PFPnnn', evidence: { code: 'invalid_utf8', offset: 50 } },
  {
    name: 'a reset in the middle of text',
    body: text('hi'),
    cause: 'reset',
    want: 'PFF---',
    evidence: { code: 'incomplete_stream', offset: text('hi').length },
  },
  {
    name: 'a clean end in the middle of text',
    body: text('hi'),
    want: 'PPF---',
    evidence: { code: 'incomplete_stream', event: 1 },
  },
  {
    name: 'a clean end in the middle of a call',
    body: call(0, 'f', '{"a'),
    want: 'PPFF--',
    evidence: { code: 'incomplete_stream' },
  },
  { name: 'a reset behind the end', body: text('hi') + finish('stop') + DONE, cause: 'reset', want: 'PPPnnn' },
  { name: 'no event', body: '', want: 'PPF---', evidence: { code: 'empty_stream' } },
  {
    name: 'an error in the stream',
    body: text('hi') + sse({ error: { message: 'x' } }),
    want: 'PPF---',
    evidence: { code: 'upstream_error', event: 2, offset: text('hi').length },
  },
  {
    name: 'an event that could not be read, amid text',
    body: text('hi') + 'data: {oops\n\n' + finish('stop') + DONE,
    want: 'PPF---',
    evidence: { code: 'invalid_event_json', event: 2, offset: text('hi').length },
  },
  {
    name: 'such an event, amid a call',
    body: call(0, 'f', '{') + 'data: {oops\n\n' + finish('stop') + DONE,
    want: 'PPFF--',
    evidence: { code: 'invalid_event_json', event: 2 },
  },
  {
    name: 'no [DONE]',
    body: text('hi') + finish('stop'),
    want: 'PPPnnn',
    evidence: { code: 'missing_sentinel', event: 2 },
  },
  {
    name: 'no finish reason',
    body: text('hi') + DONE,
    want: 'PPPnnn',
    evidence: { code: 'missing_finish_reason', event: 2 },
  },
  {
    name: 'the token limit',
    body: text('hi') + finish('length') + DONE,
    want: 'PPFnnn',
    evidence: { code: 'output_truncated' },
  },
  {
    name: 'the token limit in a call',
    body: call(0, 'f', '{') + finish('length') + DONE,
    want: 'PPFF--',
    evidence: { code: 'output_truncated' },
  },
  { name: 'a filter', body: text('hi') + finish('content_filter') + DONE, want: 'PPPnnn' },
  {
    name: 'arguments that do not parse',
    body: call(0, 'f', '{a}') + finish('tool_calls') + DONE,
    want: 'PPPF--',
    evidence: { code: 'arguments_invalid', callId: 'call_0' },
  },
  {
    name: 'a call that is held',
    body: call(0, 'f', '{"a":1,"a":2}') + finish('tool_calls') + DONE,
    want: 'PPPP--',
  },
  {
    name: 'a conflict inside a call',
    body: CALL + chunk({ tool_calls: [{ index: 0, function: { name: 'g' } }] }) + finish('tool_calls') + DONE,
    want: 'PPPF--',
    evidence: { code: 'protocol_conflict', callId: 'call_0' },
  },
  {
    name: 'a splice',
    body: text('hi') + sse({ id: 'o', model: 'n', choices: [{ index: 0, delta: { role: 'assistant' } }] }),
    want: 'PPF---',
    evidence: { code: 'stream_splice', event: 2 },
  },
  { name: 'a cancel', body: text('hi'), cause: 'aborted', want: 'PPF---', evidence: { code: 'cancelled' } },
]

describe('the verdict', () => {
  test.each(verdicts)('$name: $want', ({ body, cause = 'eof', options, withoutHead, want, evidence }) => {
    const { verdict } = run(body, cause, withoutHead ? options : { head: HEAD, ...options }).report
    expect(letters(verdict)).toBe(want)
    const first = RUNGS.map((rung) => verdict[rung]).find(({ state, code }) => state === 'fail' || code !== undefined)
    expect(first === undefined).toBe(evidence === undefined)
    expect(first ?? { message: 'none' }).toMatchObject({ ...evidence, message: expect.stringMatching(/.+/) as string })
  })

  test.each([
    { code: 'connect_timeout', want: 'F-----', upTo: 0 },
    { code: 'first_byte_timeout', want: 'PPF---', upTo: 1 },
    { code: 'idle_timeout', want: 'PFF---', upTo: 2 },
  ])('$code: $want', ({ code, want, upTo }) => {
    const engine = engineWith()
    engine.start(0)
    if (upTo > 0) engine.response(HEAD, 1)
    if (upTo > 1) for (const read of readsOf(text('hi'))) engine.push(read, 2)
    engine.end('timeout', 1e9)
    expect(engine.report().error?.code).toBe(code)
    expect(letters(engine.report().verdict)).toBe(want)
  })
})

describe('findings', () => {
  test('say where they were first seen, and how often', () => {
    const first = text('hi')
    const empty = 'data: \n\n'
    const { report } = run(`${first}${empty}${empty}${finish('stop')}${DONE}`)
    expect(report.diagnostics).toEqual([
      {
        code: 'empty_data_event',
        severity: 'info',
        event: 2,
        offset: first.length,
        count: 2,
        hint: FINDINGS.empty_data_event.hint,
      },
    ])
  })

  test('offsets count bytes, not characters', () => {
    const first = text('日本')
    const { report } = run(`${first}data: \n\n`)
    expect(report.diagnostics[0]).toMatchObject({ offset: new TextEncoder().encode(first).length })
  })

  test('have no offset when offsets are off, but the number of the event', () => {
    const { report } = run(`${text('hi')}data: \n\n`, 'eof', { offsets: false })
    expect(report.diagnostics[0]).toMatchObject({ code: 'empty_data_event', event: 2 })
    expect(report.diagnostics[0]).not.toHaveProperty('offset')
  })

  test('come in order of first appearance, once per code', () => {
    const log = new DiagnosticLog()
    log.note('missing_index', { event: 3, offset: 30 }, 'first')
    log.note('comment_keepalive', undefined)
    log.note('missing_index', { event: 4, offset: 40 }, 'second')
    expect(log.has('missing_index')).toBe(true)
    expect(log.has('missing_id')).toBe(false)
    expect(log.list()).toEqual([
      {
        code: 'missing_index',
        severity: 'info',
        event: 3,
        offset: 30,
        count: 2,
        hint: `${FINDINGS.missing_index.hint} (first)`,
      },
      { code: 'comment_keepalive', severity: 'info', count: 1, hint: FINDINGS.comment_keepalive.hint },
    ])
  })

  test('each code has a severity and one line of advice', () => {
    expect(Object.keys(FINDINGS).toSorted()).toEqual(DIAGNOSTIC_CODES.toSorted())
    for (const { hint } of Object.values(FINDINGS)) expect(hint).toMatch(/^[^\n]{10,}$/)
  })

  test.each<{ code: DiagnosticCode; body: string; options?: RunOptions; event?: number }>([
    { code: 'missing_choice', body: text('hi') + finish('stop') + DONE, options: { request: { n: 2 } } },
    { code: 'missing_usage', body: text('hi') + finish('stop') + DONE, options: { request: { usage: true } } },
    { code: 'think_tags', body: text('<think>hm</think>hi') + finish('stop') + DONE },
    { code: 'tool_call_in_text', body: text('<tool_call>{"name":"f"}') + finish('stop') + DONE },
    { code: 'tool_call_in_text', body: text('{"name": "f", "arguments": {}}') + finish('stop') + DONE },
    { code: 'finish_without_calls', body: text('hi') + finish('tool_calls') + DONE },
    { code: 'finish_reason_mismatch', body: CALL + finish('stop') + DONE },
    { code: 'missing_sentinel', body: text('hi') + finish('stop') },
  ])('$code is found at the end', ({ code, body, options }) => {
    expect(run(body, 'eof', options).report.diagnostics.map((one) => one.code)).toEqual([code])
  })

  test.each([
    {
      name: 'as many choices as asked for',
      body: text('a') + text('b', { choice: 1 }) + finish('stop') + finish('stop', 1) + DONE,
      options: { request: { n: 2 } },
    },
    { name: 'usage came', body: text('a') + finish('stop') + usage(1) + DONE, options: { request: { usage: true } } },
    { name: 'tags inside the text', body: text('use <think> and <tool_call>') + finish('stop') + DONE },
    { name: 'JSON that is no call', body: text('{"name": "f"}') + finish('stop') + DONE },
    {
      name: 'no [DONE] where it is optional',
      body: text('a') + finish('stop'),
      options: { profile: { sentinel: 'optional' } },
    },
  ] satisfies { name: string; body: string; options?: RunOptions }[])(
    'nothing is found: $name',
    ({ body, options }) => {
      expect(run(body, 'eof', options).report.diagnostics).toEqual([])
    },
  )
})

describe('options that cannot work', () => {
  test('an unknown repair is refused at construction', () => {
    expect(() => engineWith({ profile: { repairs: ['magic' as 'cumulative'] } })).toThrow(TypeError)
    expect(() => engineWith({ profile: { repairs: ['magic' as 'cumulative'] } })).toThrow(
      /repairs must be .*cumulative.*not \["magic"\]/,
    )
  })
})
