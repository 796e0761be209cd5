import { describe, expect, test } from 'vitest'
import { engineWith, run } from './run.ts'

const encoder = new TextEncoder()

/** The terminal event of a response with this status, body and headers. */
function endOf(status: number, body: string, headers: readonly (readonly [string, string])[] = [], nowMs?: number) {
  const { events, end, report } = run(body, 'eof', { head: { status, headers }, ...(nowMs !== undefined && { nowMs }) })
  expect(events).toHaveLength(1)
  expect(report.counts).toMatchObject({ bytes: encoder.encode(body).length, events: 0 })
  return end
}

/** A JSON error behind this many spaces. */
function padded(spaces: number): string {
  return `${' '.repeat(spaces)}{"error":{"message":"busy"}}`
}

describe('an HTTP error', () => {
  test.each([
    { status: 302, code: 'http_error', retryable: 'no' },
    { status: 400, code: 'http_error', retryable: 'no' },
    { status: 401, code: 'http_error', retryable: 'no' },
    { status: 404, code: 'http_error', retryable: 'no' },
    { status: 408, code: 'http_error', retryable: 'yes' },
    { status: 409, code: 'http_error', retryable: 'yes' },
    { status: 425, code: 'http_error', retryable: 'yes' },
    { status: 429, code: 'rate_limited', retryable: 'yes' },
    { status: 500, code: 'http_error', retryable: 'yes' },
    { status: 529, code: 'http_error', retryable: 'yes' },
  ])('$status is $code, retryable: $retryable', ({ status, code, retryable }) => {
    expect(endOf(status, '')).toMatchObject({
      type: 'stream_error',
      code,
      phase: 'headers',
      status,
      retryable,
      outcome: 'failed',
    })
  })

  test.each([200, 201, 299])('%i is none', (status) => {
    expect(run('', 'eof', { head: { status } }).end).toMatchObject({ code: 'empty_stream' })
  })

  test.each([
    {
      name: 'JSON',
      body: '{"error":{"message":"no such model","type":"invalid_request_error","code":"model_not_found"}}',
      provider: { message: 'no such model', type: 'invalid_request_error', code: 'model_not_found' },
    },
    {
      name: 'JSON in a list',
      body: '[{\n  "error": {"code": 503, "message": "busy", "status": "UNAVAILABLE"}\n}\n]',
      provider: { message: 'busy', code: '503' },
    },
    { name: 'JSON of another dialect', body: '{"detail":"Not Found"}', provider: { message: 'Not Found' } },
    { name: 'JSON as one event', body: 'data: {"error":{"message":"busy"}}\n\n', provider: { message: 'busy' } },
    {
      name: 'JSON as an event among others',
      body: 'data: {"error":{"message":"busy"}}\r\n\r\ndata: [DONE]\r\n\r\n',
      provider: { message: 'busy' },
    },
    {
      name: 'HTML',
      body: '<!doctype html>\n<html><head><title>504 Gateway Time-out</title></head></html>',
      provider: { message: '504 Gateway Time-out' },
    },
    { name: 'HTML without a title', body: '<html><body>oops</body></html>', provider: undefined },
    { name: 'plain text', body: 'upstream connect error\n', provider: { message: 'upstream connect error' } },
    { name: 'nothing', body: '', provider: undefined },
    { name: 'white space', body: ' \r\n', provider: undefined },
  ])('says what its body says: $name', ({ body, provider }) => {
    const end = endOf(500, body)
    expect('provider' in end ? end.provider : undefined).toEqual(provider)
    expect(end).toMatchObject({ message: expect.stringContaining(provider?.message ?? 'without a message') as string })
  })

  test.each([
    { status: 400, body: '{"error":{"message":"bad"}}', next: 'change the request' },
    { status: 401, body: '{"error":{"message":"bad key"}}', next: 'check the API key' },
    { status: 401, body: '', next: 'check the API key' },
    { status: 403, body: '<html></html>', next: 'check the API key and what it is allowed to do' },
    {
      status: 404,
      body: '<!doctype html><title>Not Found</title>',
      next: 'check the URL: the API does not answer there',
    },
    { status: 404, body: '404 page not found', next: 'check the URL: the API does not answer there' },
    { status: 404, body: '', next: 'check the URL: the API does not answer there' },
    {
      status: 404,
      body: '{"error":{"message":"no such model"}}',
      next: 'check the name of the model and the URL',
    },
    { status: 405, body: '', next: 'check the URL: the API does not answer there' },
    { status: 503, body: '', next: 'try again' },
  ])('$status with "$body" says what to do: $next', ({ status, body, next }) => {
    expect(endOf(status, body)).toMatchObject({ message: expect.stringMatching(new RegExp(`; ${next}$`)) as string })
  })

  test('says what its body says, where the event has a name', () => {
    expect(endOf(500, 'event: error\ndata: {"error":{"message":"busy"}}\n\n')).toMatchObject({
      provider: { message: 'busy' },
    })
  })

  test('a body that is cut, or cut into bytes, says as much as came', () => {
    const body = '{"error":{"message":"日本"}}'
    const reads = [...encoder.encode(body)].map((byte) => Uint8Array.of(byte))
    expect(run(reads, 'eof', { head: { status: 500 } }).end).toMatchObject({ provider: { message: '日本' } })
    expect(run(body.slice(0, 20), 'reset', { head: { status: 500 } }).end).toMatchObject({
      code: 'http_error',
      provider: { message: '{"error":{"message":' },
    })
  })

  test('no more than 64 KiB of a body are read', () => {
    const bytes = padded(0).length
    expect(endOf(500, padded(64 * 1024 - bytes))).toMatchObject({ provider: { message: 'busy' } })
    const over = run([padded(64 * 1024 - bytes + 1), 'x'.repeat(100)], 'eof', { head: { status: 500 } })
    expect(over.end).toMatchObject({ provider: { message: '{"error":{"message":"busy"}' } })
    expect(over.report.counts.bytes).toBe(64 * 1024 + 101)
  })

  test('a long message is clipped in the message', () => {
    const end = endOf(500, 'x'.repeat(10_000))
    expect('message' in end && end.message.length).toBeLessThan(500)
  })

  test('a body that would be a good stream is no stream', () => {
    const body = 'data: {"choices":[{"index":0,"delta":{"content":"hi"}}]}\n\ndata: [DONE]\n\n'
    expect(endOf(500, body)).toMatchObject({ code: 'http_error', finish: [] })
  })
})

test('an error body that never ends is read up to a bound, and ends the stream there', () => {
  const engine = engineWith()
  engine.response({ status: 500 })
  const part = new TextEncoder().encode('x'.repeat(32 * 1024))
  expect(engine.push(part)).toEqual([])
  expect(engine.push(part)).toMatchObject([{ type: 'stream_error', code: 'http_error', status: 500 }])
  expect(engine.ended).toBe(true)
  expect([engine.push(part), engine.end('aborted')]).toEqual([[], []])
})

describe('retry-after', () => {
  // Sun, 06 Nov 1994 08:49:37 GMT is the example of RFC 9110.
  const RFC_EXAMPLE = Date.UTC(1994, 10, 6, 8, 49, 37)

  test.each<{ name: string; headers: [string, string][]; nowMs?: number; want: number | undefined }>([
    { name: 'seconds', headers: [['retry-after', '7']], want: 7000 },
    { name: 'seconds, in any case and with a fraction', headers: [['Retry-After', ' 1.5 ']], want: 1500 },
    { name: 'no wait', headers: [['retry-after', '0']], want: 0 },
    { name: 'milliseconds', headers: [['retry-after-ms', '250']], want: 250 },
    {
      name: 'milliseconds win, for they are exact',
      headers: [
        ['retry-after', '1'],
        ['retry-after-ms', '250'],
      ],
      want: 250,
    },
    {
      name: 'milliseconds that are none',
      headers: [
        ['retry-after-ms', 'soon'],
        ['retry-after', '1'],
      ],
      want: 1000,
    },
    {
      name: 'a date',
      headers: [['retry-after', 'Sun, 06 Nov 1994 08:49:37 GMT']],
      nowMs: RFC_EXAMPLE - 5000,
      want: 5000,
    },
    {
      name: 'a leap day',
      headers: [['retry-after', 'Thu, 29 Feb 2024 00:00:01 GMT']],
      nowMs: Date.UTC(2024, 1, 29),
      want: 1000,
    },
    {
      name: 'a date that has passed',
      headers: [['retry-after', 'Sun, 06 Nov 1994 08:49:37 GMT']],
      nowMs: RFC_EXAMPLE + 5000,
      want: 0,
    },
    {
      name: 'a date, and nobody knows the time',
      headers: [['retry-after', 'Sun, 06 Nov 1994 08:49:37 GMT']],
      want: undefined,
    },
    { name: 'no month', headers: [['retry-after', 'Sun, 06 Xxx 1994 08:49:37 GMT']], nowMs: 0, want: undefined },
    {
      name: 'a date in the form of RFC 850',
      headers: [['retry-after', 'Sunday, 06-Nov-94 08:49:37 GMT']],
      nowMs: RFC_EXAMPLE - 5000,
      want: 5000,
    },
    {
      name: 'a date in the form of asctime, its day filled up with a space',
      headers: [['retry-after', 'Sun Nov  6 08:49:37 1994']],
      nowMs: RFC_EXAMPLE - 5000,
      want: 5000,
    },
    {
      name: 'asctime with a day of two digits',
      headers: [['retry-after', 'Wed Nov 16 08:49:37 1994']],
      nowMs: RFC_EXAMPLE,
      want: 10 * 86_400_000,
    },
    {
      name: 'a year of two digits over the turn of a century',
      headers: [['retry-after', 'Saturday, 01-Jan-00 00:00:02 GMT']],
      nowMs: Date.UTC(1999, 11, 31, 23, 59, 59),
      want: 3000,
    },
    {
      name: 'a year of two digits that seems more than 50 years ahead: it is past',
      headers: [['retry-after', 'Sunday, 06-Nov-94 08:49:37 GMT']],
      nowMs: Date.UTC(2026, 0, 1),
      want: 0,
    },
    {
      name: 'a date, told by the clock of the server that sent it',
      headers: [
        ['date', 'Sun, 06 Nov 1994 08:49:30 GMT'],
        ['retry-after', 'Sun, 06 Nov 1994 08:49:37 GMT'],
      ],
      nowMs: Date.UTC(2026, 0, 1),
      want: 7000,
    },
    {
      name: 'a date, and only the server knows the time',
      headers: [
        ['retry-after', 'Sun, 06 Nov 1994 08:49:37 GMT'],
        ['Date', 'Sun, 06 Nov 1994 08:49:30 GMT'],
      ],
      want: 7000,
    },
    {
      name: 'a server that does not know the time itself',
      headers: [
        ['date', 'now'],
        ['retry-after', 'Sun, 06 Nov 1994 08:49:37 GMT'],
      ],
      nowMs: RFC_EXAMPLE - 5000,
      want: 5000,
    },
    { name: 'no such hour', headers: [['retry-after', 'Sun, 06 Nov 1994 24:49:37 GMT']], nowMs: 0, want: undefined },
    { name: 'no such day', headers: [['retry-after', 'Sun, 32 Nov 1994 08:49:37 GMT']], nowMs: 0, want: undefined },
    { name: 'another zone', headers: [['retry-after', 'Sun, 06 Nov 1994 08:49:37 CET']], nowMs: 0, want: undefined },
    {
      name: 'a date of another standard',
      headers: [['retry-after', '1994-11-06T08:49:37Z']],
      nowMs: 0,
      want: undefined,
    },
    { name: 'milliseconds with a fraction', headers: [['retry-after-ms', '250.5']], want: 250.5 },
    { name: 'negative milliseconds', headers: [['retry-after-ms', '-250']], want: undefined },
    { name: 'another base', headers: [['retry-after', '0x10']], want: undefined },
    { name: 'an exponent', headers: [['retry-after', '1e3']], want: undefined },
    { name: 'a unit', headers: [['retry-after', '5s']], want: undefined },
    {
      name: 'so long that no number holds it',
      headers: [['retry-after', '9'.repeat(400)]],
      want: Number.MAX_SAFE_INTEGER,
    },
    {
      name: 'twice: the longer wait',
      headers: [
        ['retry-after', '2'],
        ['retry-after', '9'],
      ],
      want: 9000,
    },
    { name: 'twice, joined as fetch does', headers: [['retry-after', '9, 2']], want: 9000 },
    { name: 'twice, and one is no number', headers: [['retry-after', '9, x']], want: undefined },
    { name: 'negative', headers: [['retry-after', '-1']], want: undefined },
    { name: 'a word', headers: [['retry-after', 'later']], nowMs: 0, want: undefined },
    { name: 'empty', headers: [['retry-after', ' ']], nowMs: 0, want: undefined },
    { name: 'infinite', headers: [['retry-after', 'Infinity']], nowMs: 0, want: undefined },
    { name: 'absent', headers: [], want: undefined },
  ])('$name → $want', ({ headers, nowMs, want }) => {
    const end = endOf(429, '', headers, nowMs)
    expect('retryAfterMs' in end ? end.retryAfterMs : undefined).toBe(want)
  })

  test.each<{ name: string; delay: unknown; headers?: [string, string][]; want: number | undefined }>([
    { name: 'seconds', delay: '34s', want: 34_000 },
    { name: 'a fraction, rounded up', delay: '34.074824224s', want: 34_075 },
    { name: 'no wait', delay: '0s', want: 0 },
    { name: 'the header asks for more', delay: '2s', headers: [['retry-after', '5']], want: 5000 },
    { name: 'the header asks for less', delay: '9s', headers: [['retry-after', '5']], want: 9000 },
    { name: 'negative', delay: '-3s', want: undefined },
    { name: 'without its unit', delay: '3', want: undefined },
    { name: 'a number', delay: 3, want: undefined },
    { name: 'a word', delay: 'soon', want: undefined },
    { name: 'absent', delay: undefined, want: undefined },
  ])('the delay in a body of Google’s: $name → $want', ({ delay, headers = [], want }) => {
    const details = [
      { '@type': 'type.googleapis.com/google.rpc.QuotaFailure', violations: [] },
      { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: delay },
    ]
    const error = { code: 429, message: 'quota', status: 'RESOURCE_EXHAUSTED', details }
    for (const body of [{ error }, [{ error }]]) {
      const end = endOf(429, JSON.stringify(body), headers)
      expect('retryAfterMs' in end ? end.retryAfterMs : undefined).toBe(want)
    }
  })

  test('milliseconds that are empty say nothing', () => {
    expect(
      endOf(429, '', [
        ['retry-after-ms', ''],
        ['retry-after', '7'],
      ]),
    ).toMatchObject({ retryAfterMs: 7000 })
  })

  test('dates agree with the platform’s calendar', () => {
    for (const [year, month, day] of [
      [1970, 0, 1],
      [1999, 11, 31],
      [2000, 1, 29],
      [2026, 2, 1],
      [2100, 1, 28],
      [2400, 11, 31],
    ] as const) {
      const at = Date.UTC(year, month, day, 23, 59, 58)
      const end = endOf(503, '', [['retry-after', new Date(at).toUTCString()]], at - 1000)
      expect(end).toMatchObject({ retryAfterMs: 1000 })
    }
  })
})
