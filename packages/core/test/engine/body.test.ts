import { describe, expect, test } from 'vitest'
import { chunkMessage, join, message } from '../aws-event-stream/message.ts'
import { callStates, found, readsOf, released, run } from './run.ts'
import type { Reads } from './run.ts'
import { call, DONE, finish, text } from './wire.ts'

const SSE = 'text/event-stream; charset=utf-8'
const JSON_TYPE = 'application/json'
const AWS = 'application/vnd.amazon.eventstream'

function bodyOf(reads: Reads, contentType?: string) {
  const headers = contentType === undefined ? [] : ([['Content-Type', contentType]] as const)
  return run(reads, 'eof', { head: { status: 200, headers } })
}

/** The JSON of the events of an SSE text. */
function payloads(body: string): string[] {
  return body
    .split('\n\n')
    .filter((block) => block !== '')
    .map((block) => block.slice('data: '.length))
}

/** The same events as messages of the binary framing. */
function messages(...bodies: string[]): Uint8Array {
  return join(...bodies.flatMap(payloads).map((payload) => chunkMessage(payload)))
}

const GOOD = text('hi') + finish('stop')
const ndjson = `${payloads(GOOD).join('\n')}\n`
const completion = {
  id: 'r',
  object: 'chat.completion',
  model: 'm',
  choices: [
    { index: 0, message: { role: 'assistant', content: 'hi', tool_calls: [] as object[] }, finish_reason: 'stop' },
  ],
  usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 },
}

describe('the content type', () => {
  const aws = join(...payloads(GOOD).map((payload) => chunkMessage(payload)), chunkMessage('[DONE]'))
  const bodies = { sse: GOOD + DONE, json: JSON.stringify(completion), html: '<html>', 'aws-event-stream': aws }
  const types = {
    sse: [SSE, 'TEXT/EVENT-STREAM'],
    json: [JSON_TYPE, 'application/x-ndjson', 'application/jsonl', 'application/problem+json; application/json'],
    html: ['text/html; charset=utf-8'],
    'aws-event-stream': [AWS],
  }

  test.each(Object.keys(bodies) as (keyof typeof bodies)[])('of a body that is %s', (kind) => {
    for (const [named, values] of Object.entries(types)) {
      for (const type of values) {
        expect(found(bodyOf(bodies[kind], type).report).includes('content_type_mismatch')).toBe(named !== kind)
      }
    }
    expect(found(bodyOf(bodies[kind]).report)).not.toContain('content_type_mismatch')
  })

  test('never decides how the body is read', () => {
    for (const body of [bodies.sse, bodies.json, aws]) {
      for (const type of [SSE, JSON_TYPE, AWS, 'text/plain']) {
        expect(bodyOf(body, type).report).toMatchObject({ outcome: 'completed', choices: [{ text: 'hi' }] })
      }
    }
  })

  test('is quoted, clipped, in the finding', () => {
    const [finding] = bodyOf(bodies.sse, `text/plain; x=${'y'.repeat(200)}`).report.diagnostics
    expect(finding!.hint).toContain('text/plain')
    expect(finding!.hint.length).toBeLessThan(250)
  })

  test('of an empty body says nothing', () => {
    expect(found(bodyOf('', JSON_TYPE).report)).toEqual([])
  })
})

describe('a body that is an HTML page', () => {
  test('is a proxy’s, and its title is quoted', () => {
    const { end, report } = bodyOf('\n <!DOCTYPE html><html><head><title>Sign in</title></head>', 'text/html')
    expect(end).toMatchObject({
      code: 'not_event_stream',
      phase: 'framing',
      message: expect.stringContaining('"Sign in"') as string,
      provider: { message: 'Sign in' },
    })
    expect(found(report)).toEqual(['proxy_error_page'])
  })

  test('that names a status has that status', () => {
    expect(bodyOf('<html><title>502 Bad Gateway</title>').end).toMatchObject({ status: 502, retryable: 'yes' })
    expect(bodyOf('<html><title>403 Forbidden</title>').end).toMatchObject({ status: 403, retryable: 'no' })
  })

  test('without a title', () => {
    const { end } = bodyOf('<p>hello')
    expect(end).toMatchObject({ code: 'not_event_stream' })
    expect(end).not.toHaveProperty('provider')
  })

  test('is not awaited to its end: 4 KiB are enough', () => {
    const page = `<html><title>Busy</title>${'x'.repeat(5000)}`
    for (const reads of [page, [page.slice(0, 100), page.slice(100)]]) {
      const { events } = run(reads, 'eof')
      expect(events).toHaveLength(1)
    }
  })
})

describe('a body that is plain text', () => {
  test.each(['Hello world', 'Hello\nworld\n', 'upstream connect error or disconnect/reset before headers'])(
    '%j',
    (body) => {
      expect(bodyOf(body, 'text/plain').end).toMatchObject({
        code: 'not_event_stream',
        phase: 'framing',
        offset: 0,
        retryable: 'yes',
      })
    },
  )

  test('amid events is no reason to throw them away', () => {
    const { report } = bodyOf(`warning text\n\n${GOOD}${DONE}`, SSE)
    expect(report).toMatchObject({ outcome: 'completed', choices: [{ text: 'hi' }] })
    expect(found(report)).toEqual(['unknown_sse_field'])
  })
})

describe('a body that is empty', () => {
  test.each(['', '\n', '\r\n\r\n', '\ufeff'])('%j', (body) => {
    expect(bodyOf(body, SSE).end).toMatchObject({
      code: 'empty_stream',
      phase: 'event',
      outcome: 'failed',
      retryable: 'yes',
    })
  })
})

describe('a body that is nothing but white space', () => {
  test('is empty, not plain text', () => {
    expect(bodyOf(' \n', SSE).end).toMatchObject({ code: 'empty_stream' })
  })
})

describe('a body that is one JSON completion', () => {
  test('is played as events, and is complete without [DONE]', () => {
    const { report, events } = bodyOf(JSON.stringify(completion, null, 2), JSON_TYPE)
    expect(events.map((event) => event.type)).toEqual(['stream_started', 'text_delta', 'usage', 'stream_completed'])
    expect(report).toMatchObject({
      outcome: 'completed',
      usage: { outputTokens: 2 },
      verdict: { delta_ok: { state: 'pass' } },
    })
    expect(found(report)).toEqual(['downgraded_to_json'])
  })

  test('its calls are released', () => {
    const [choice] = completion.choices
    const toolCall = { id: 'c', type: 'function', function: { name: 'f', arguments: '{"a":1}' } }
    const body = {
      ...completion,
      choices: [{ ...choice, message: { ...choice!.message, tool_calls: [toolCall] }, finish_reason: 'tool_calls' }],
    }
    const { events, report } = bodyOf(JSON.stringify(body), JSON_TYPE)
    expect(released(events)).toEqual(['c'])
    expect(callStates(report)).toEqual(['complete null'])
  })

  test('an error in its place is that error', () => {
    expect(bodyOf('{"error":{"message":"busy","code":429}}', JSON_TYPE).end).toMatchObject({
      code: 'rate_limited',
      status: 429,
    })
  })

  test('another JSON is no answer', () => {
    expect(bodyOf('{"hello":1}', JSON_TYPE).end).toMatchObject({ code: 'empty_stream' })
    expect(bodyOf('[1]', JSON_TYPE).end).toMatchObject({ code: 'invalid_event_json' })
  })

  test('cut in the middle it is incomplete, not empty', () => {
    expect(bodyOf(JSON.stringify(completion).slice(0, 60), JSON_TYPE).end).toMatchObject({ code: 'incomplete_stream' })
  })

  test('the limit of an event holds', () => {
    const body = JSON.stringify(completion)
    expect(run(body, 'eof', { limits: { eventBytes: body.length } }).report.outcome).toBe('completed')
    expect(run(body, 'eof', { limits: { eventBytes: body.length - 1 } }).end).toMatchObject({
      code: 'event_limit_exceeded',
      event: 1,
      offset: 0,
    })
  })
})

describe('a body that is a JSON array', () => {
  const elements = `[${[...payloads(GOOD)].join('\n,\r\n')}\n]`

  test('is read element by element, by any adapter', () => {
    const { report } = bodyOf(elements, JSON_TYPE)
    expect(report).toMatchObject({ choices: [{ text: 'hi' }], counts: { events: 2 } })
    expect(found(report)).toEqual(['missing_sentinel', 'json_array_framing'])
    expect(found(bodyOf(elements, SSE).report)).toContain('content_type_mismatch')
  })

  test('does not wait for the comma behind an element', () => {
    const [first] = elements.split('\n,')
    const { events } = run(first!)
    expect(events.map(({ type }) => type)).toEqual(['stream_started', 'text_delta', 'stream_error'])
  })

  test('the limit of an event holds for each element', () => {
    const longest = Math.max(...payloads(GOOD).map(({ length }) => length))
    expect(run(elements, 'eof', { limits: { eventBytes: longest } }).report.choices[0]!.text).toBe('hi')
    expect(run(elements, 'eof', { limits: { eventBytes: longest - 1 } }).end).toMatchObject({
      code: 'event_limit_exceeded',
    })
  })

  test('with something behind its end has a hole', () => {
    expect(found(bodyOf(`${elements}oops`).report)).toContain('skipped_event')
  })
})

describe('a body that is JSON lines', () => {
  test('is read line by line', () => {
    const { report } = bodyOf(ndjson, 'application/x-ndjson')
    expect(report).toMatchObject({ choices: [{ text: 'hi' }], counts: { events: 2 } })
    expect(found(report)).toEqual(['missing_sentinel', 'ndjson_framing'])
    expect(bodyOf(`${ndjson}[DONE]\n`).report.outcome).toBe('completed')
  })

  test('bytes that are not UTF-8 fail the call that holds them', () => {
    const [before, after] = payloads(call(0, 'f', '{"a":"#"}'))[0]!.split('#')
    const rest = `${after}\n${payloads(finish('tool_calls'))[0]}\n[DONE]\n`
    const { report, events } = bodyOf([before!, Uint8Array.of(0xff), rest])
    expect(callStates(report)).toEqual(['failed invalid_utf8'])
    expect(released(events)).toEqual([])
    expect(found(report)).toContain('invalid_utf8')
  })

  test('bytes that are not UTF-8 fail the framing, as they do in an event stream', () => {
    const [before, after] = ndjson.split('hi')
    expect(bodyOf([before!, Uint8Array.of(0xff), after!]).report.verdict.sse_ok).toMatchObject({
      state: 'fail',
      code: 'invalid_utf8',
    })
  })

  test('cut inside a line it is cut, and no line is called unreadable', () => {
    const { report } = bodyOf(ndjson.slice(0, -20))
    expect(report.error).toMatchObject({ code: 'incomplete_stream' })
    expect(found(report)).toEqual(['ndjson_framing'])
  })

  test('a line that is no JSON is a hole', () => {
    const { report } = bodyOf(ndjson.replace('\n', '\noops\n'))
    expect(report.outcome).toBe('degraded')
    expect(found(report)).toContain('skipped_event')
  })
})

describe('a body in the binary framing of AWS', () => {
  test('is unwrapped and read as events', () => {
    const { report, events } = bodyOf(messages(call(0, 'f', '{"a":"日"}'), finish('tool_calls'), DONE), AWS)
    expect(report.outcome).toBe('completed')
    expect(released(events)).toEqual(['call_0'])
    expect(found(report)).toEqual([])
  })

  test('a wrong checksum ends it at once, and what came before is kept', () => {
    const first = messages(text('hi'))
    const bytes = join(first, messages(finish('stop')), messages(DONE))
    bytes[first.length + 20]! ^= 1
    const { report } = bodyOf(bytes, AWS)
    expect(report).toMatchObject({
      outcome: 'failed',
      error: { code: 'protocol_conflict', phase: 'framing', offset: first.length, retryable: 'restart' },
      choices: [{ text: 'hi' }],
      verdict: { sse_ok: { state: 'fail', offset: first.length } },
    })
  })

  test.each(['eof', 'cut', 'reset'] as const)('cut inside a message, then %s: a cut', (cause) => {
    const first = messages(text('hi'))
    const { end, report } = run(join(first, messages(finish('stop'))).subarray(0, -5), cause)
    expect(end).toMatchObject({
      type: 'stream_error',
      code: 'incomplete_stream',
      phase: 'framing',
      outcome: 'incomplete',
      offset: first.length,
      retryable: 'restart',
    })
    expect(report.choices[0]).toMatchObject({ text: 'hi', outcome: 'incomplete' })
  })

  test('every cut of a body is a cut or an end, never a contradiction', () => {
    const bytes = messages(call(0, 'f', '{"a":"日"}'), finish('tool_calls'))
    for (let length = 1; length < bytes.length; length++) {
      const { report, events } = bodyOf(bytes.subarray(0, length), AWS)
      expect([length, report.error?.code]).toEqual([length, 'incomplete_stream'])
      expect(released(events)).toEqual([])
    }
  })

  test('a wrong checksum and a cut behind it: the checksum counts, it came first', () => {
    const bytes = join(messages(text('hi')), messages(finish('stop')))
    bytes[20]! ^= 1
    expect(run(bytes.subarray(0, -5), 'cut').end).toMatchObject({ code: 'protocol_conflict', offset: 0 })
  })

  test('an exception is an error of the provider', () => {
    const exception = message('{"message":"slow down"}', {
      ':message-type': 'exception',
      ':exception-type': 'throttlingException',
    })
    expect(bodyOf(join(messages(text('hi')), exception), AWS).end).toMatchObject({
      code: expect.stringMatching(/^(rate_limited|upstream_error)$/) as string,
      provider: { code: 'throttlingException', message: 'slow down' },
      retryable: 'restart',
    })
  })

  test('a message that is too long', () => {
    const bytes = messages(text('x'.repeat(500)))
    expect(run(bytes, 'eof', { limits: { eventBytes: bytes.length } }).end).toMatchObject({ code: 'incomplete_stream' })
    expect(run(bytes, 'eof', { limits: { eventBytes: bytes.length - 1 } }).end).toMatchObject({
      code: 'event_limit_exceeded',
    })
  })
})

describe('what stands in front of a body', () => {
  const kinds: Record<string, string> = {
    sse: GOOD + DONE,
    json: JSON.stringify(completion),
    html: '<html><title>Busy</title>',
  }

  test.each(['\ufeff', '\n', '\r\n\r\n', '\ufeff\n\n'])('%j changes nothing', (prefix) => {
    for (const body of Object.values(kinds)) {
      const plain = run(body).report
      const prefixed = run(prefix + body).report
      expect(prefixed).toMatchObject({
        outcome: plain.outcome,
        choices: plain.choices,
        error: plain.error?.code === undefined ? null : { code: plain.error.code },
      })
    }
  })

  test.each([' \n\n', '\ufeff \r\n\r\n'])('%j changes nothing either, wherever it is cut', (prefix) => {
    for (const body of [kinds['json']!, kinds['html']!]) {
      const [bytes] = readsOf(prefix + body)
      const whole = run(bytes!).report
      for (let at = 1; at < 8; at++) expect(run([bytes!.subarray(0, at), bytes!.subarray(at)]).report).toEqual(whole)
    }
  })
})
