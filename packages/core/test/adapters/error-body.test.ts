import { describe, expect, test } from 'vitest'
import { faultOfPayload, faultOfPlainText, retryableOfStatus, titleOf } from '../../src/adapters/error-body.ts'
import type { FaultCode, ProviderError, Retryable } from '../../src/chunk/fault.ts'

interface Row {
  readonly name: string
  readonly value: unknown
  readonly status: number | undefined
  readonly provider: ProviderError
}

const dialects: readonly Row[] = [
  {
    name: 'OpenAI',
    value: { error: { message: 'no such model', type: 'invalid_request_error', param: null, code: 'model_not_found' } },
    status: 404,
    provider: { code: 'model_not_found', type: 'invalid_request_error', message: 'no such model' },
  },
  {
    name: 'OpenAI, quota',
    value: { error: { message: 'quota', type: 'insufficient_quota', code: 'insufficient_quota' } },
    status: 402,
    provider: { code: 'insufficient_quota', type: 'insufficient_quota', message: 'quota' },
  },
  {
    name: 'OpenAI, rate of tokens',
    value: { error: { message: 'slow', type: 'tokens', code: 'rate_limit_exceeded' } },
    status: 429,
    provider: { code: 'rate_limit_exceeded', type: 'tokens', message: 'slow' },
  },
  {
    name: 'OpenAI, its own fault',
    value: { error: { message: 'oops', type: 'server_error', code: null } },
    status: 500,
    provider: { type: 'server_error', message: 'oops' },
  },
  {
    name: 'Azure, content filter',
    value: { error: { message: 'filtered', code: 'content_filter', status: 400 } },
    status: 400,
    provider: { code: 'content_filter', message: 'filtered' },
  },
  {
    name: 'OpenRouter',
    value: {
      error: { code: 502, message: 'provider died', metadata: { error_type: 'upstream_error', provider_name: 'x' } },
    },
    status: 502,
    provider: { code: '502', type: 'upstream_error', message: 'provider died' },
  },
  {
    name: 'OpenRouter, no number',
    value: { error: { message: 'slow', metadata: { error_type: 'rate_limit_exceeded' } } },
    status: 429,
    provider: { type: 'rate_limit_exceeded', message: 'slow' },
  },
  {
    name: 'OpenRouter, a word that is not known beside one that is',
    value: { error: { message: 'slow', type: 'provider_error', metadata: { error_type: 'rate_limit_exceeded' } } },
    status: 429,
    provider: { type: 'provider_error', message: 'slow' },
  },
  {
    name: 'vLLM, old',
    value: { object: 'error', message: 'too long', type: 'BadRequestError', code: 400 },
    status: 400,
    provider: { code: '400', type: 'BadRequestError', message: 'too long' },
  },
  {
    name: 'vLLM, old, no number',
    value: { object: 'error', message: 'too long', type: 'BadRequestError' },
    status: 400,
    provider: { type: 'BadRequestError', message: 'too long' },
  },
  {
    name: 'TGI',
    value: { error: 'Input validation error', error_type: 'validation' },
    status: 400,
    provider: { type: 'validation', message: 'Input validation error' },
  },
  {
    name: 'TGI, overloaded',
    value: { error: 'Model is overloaded', error_type: 'overloaded' },
    status: 503,
    provider: { type: 'overloaded', message: 'Model is overloaded' },
  },
  {
    name: 'Ollama',
    value: { error: 'model not loaded' },
    status: undefined,
    provider: { message: 'model not loaded' },
  },
  {
    name: 'a string and a number',
    value: { error: 'busy', code: 429 },
    status: 429,
    provider: { code: '429', message: 'busy' },
  },
  {
    name: 'Spring',
    value: { timestamp: 1, status: 503, error: 'Service Unavailable', path: '/v1' },
    status: 503,
    provider: { message: 'Service Unavailable' },
  },
  {
    name: 'Groq in a chunk',
    value: { choices: [{ index: 0, delta: {} }], x_groq: { id: 'r', error: 'over capacity' } },
    status: undefined,
    provider: { message: 'over capacity' },
  },
  {
    name: 'Groq, an object',
    value: { x_groq: { error: { message: 'over capacity', code: 'rate_limited' } } },
    status: 429,
    provider: { code: 'rate_limited', message: 'over capacity' },
  },
  {
    name: 'Anthropic',
    value: { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' }, request_id: 'r' },
    status: 529,
    provider: { type: 'overloaded_error', message: 'Overloaded' },
  },
  {
    name: 'Google',
    value: { error: { code: 429, message: 'quota', status: 'RESOURCE_EXHAUSTED' } },
    status: 429,
    provider: { code: '429', message: 'quota' },
  },
  {
    name: 'Google, only its word',
    value: { error: { code: 14, message: 'gone', status: 'UNAVAILABLE' } },
    status: 503,
    provider: { code: '14', message: 'gone' },
  },
  {
    name: 'FastAPI',
    value: { detail: 'Not authenticated' },
    status: undefined,
    provider: { message: 'Not authenticated' },
  },
  { name: 'bare', value: { code: 429, message: 'busy' }, status: 429, provider: { code: '429', message: 'busy' } },
  {
    name: 'bare, code as text',
    value: { code: '503', message: 'busy' },
    status: 503,
    provider: { code: '503', message: 'busy' },
  },
  {
    name: 'bare, a word',
    value: { type: 'overloaded_error', message: 'busy' },
    status: 529,
    provider: { type: 'overloaded_error', message: 'busy' },
  },
  {
    name: 'status_code beside the error',
    value: { status_code: 500, error: { message: 'no' } },
    status: 500,
    provider: { message: 'no' },
  },
  {
    name: 'an error beside choices',
    value: { choices: [], error: { code: 504, message: 'late' } },
    status: 504,
    provider: { code: '504', message: 'late' },
  },
  { name: 'error true', value: { error: true }, status: undefined, provider: { message: 'true' } },
  {
    name: 'error is a list',
    value: { error: ['a', { b: 1 }] },
    status: undefined,
    provider: { message: '["a",{"b":1}]' },
  },
  {
    name: 'an error that says nothing',
    value: { error: { foo: 1 } },
    status: undefined,
    provider: { message: '{"foo":1}' },
  },
]

describe('faultOfPayload', () => {
  test.each(dialects)('$name', ({ value, status, provider }) => {
    const fault = faultOfPayload(value)
    expect(fault).toMatchObject({ code: status === 429 ? 'rate_limited' : 'upstream_error', phase: 'delta', provider })
    expect(fault!.provider).toEqual(provider)
    expect(fault!.status).toBe(status)
    expect(fault!.retryable).toBe(retryableOfStatus(status))
    expect(fault!.message).toContain(provider.message)
  })

  test.each([
    { name: 'a chunk', value: { id: 'x', choices: [{ index: 0, delta: { content: 'error' } }] } },
    { name: 'error null', value: { error: null, choices: [] } },
    { name: 'error false', value: { error: false } },
    { name: 'error empty', value: { error: '' } },
    { name: 'a chunk of type error', value: { type: 'error', choices: [] } },
    { name: 'a usage chunk with a message', value: { usage: {}, message: 'x', code: 429 } },
    { name: 'a message alone', value: { message: 'hello' } },
    { name: 'a code that is no status', value: { message: 'hello', code: 7 } },
    { name: 'a tool’s progress', value: { tool: 'web_search', status: 'running', message: 'searching' } },
    { name: 'no object', value: 'error' },
    { name: 'a list', value: [{ error: 'x' }] },
    { name: 'null', value: null },
  ])('$name is no error', ({ value }) => {
    expect(faultOfPayload(value)).toBeUndefined()
  })

  test.each([
    { name: 'text', value: 'no', message: 'no' },
    { name: 'null', value: null, message: 'null' },
    { name: 'a list', value: ['no'], message: '["no"]' },
    { name: 'an object without any known field', value: { reason: 'no' }, message: '{"reason":"no"}' },
    { name: 'a chunk', value: { choices: [] }, message: '{"choices":[]}' },
    { name: 'a message', value: { message: 'no', id: 'x' }, message: 'no' },
  ])('in an event called error $name is one', ({ value, message }) => {
    expect(faultOfPayload(value, true)).toMatchObject({ code: 'upstream_error', provider: { message } })
  })

  test('what kind it is never comes from words', () => {
    expect(faultOfPayload({ error: { message: '429 rate limit exceeded' } })!.status).toBeUndefined()
    expect(faultOfPayload({ error: { message: 'rate limit', code: 502 } })!.status).toBe(502)
    expect(faultOfPayload({ error: { message: 'rate limit', code: 99 } })!.status).toBeUndefined()
    expect(faultOfPayload({ error: { message: 'x', code: 200 } })!.status).toBeUndefined()
    expect(faultOfPayload({ error: { message: 'x', code: '__proto__', type: 'constructor' } })!.status).toBeUndefined()
  })

  test('wire text in the message is clipped and printable', () => {
    const { message } = faultOfPayload({ error: { message: `\u001b[31m${'x'.repeat(1_000_000)}` } })!
    expect(message.length).toBeLessThan(500)
    expect(message).not.toContain('\u001b')
  })

  test('nesting that no printer survives is not printed', () => {
    const deep = JSON.parse('['.repeat(50_000) + ']'.repeat(50_000)) as unknown
    expect(faultOfPayload({ error: deep })).toMatchObject({ code: 'upstream_error' })
    expect(faultOfPayload({ error: { message: deep } })).toMatchObject({ code: 'upstream_error' })
    expect(faultOfPayload(deep, true)).toMatchObject({ code: 'upstream_error' })
  })
})

describe('faultOfPlainText', () => {
  test.each([
    { text: '429 Too Many Requests', code: 'rate_limited', status: 429 },
    { text: '503', code: 'upstream_error', status: 503 },
    { text: '404 Not Found\nmore', code: 'upstream_error', status: 404 },
    { text: '<html><head><title>502 Bad Gateway</title></head>', code: 'upstream_error', status: 502 },
    {
      text: '<!DOCTYPE html><TITLE lang="en">example.com | 524: A timeout occurred</TITLE>',
      code: 'upstream_error',
      status: 524,
    },
    { text: '<html><body>Service is down</body></html>', code: 'upstream_error', status: undefined },
    { text: '  <html><title>Please log in</title>', code: 'upstream_error', status: undefined },
  ] as { text: string; code: FaultCode; status: number | undefined }[])('$text', ({ text, code, status }) => {
    const fault = faultOfPlainText(text)
    expect(fault).toMatchObject({ code })
    expect(fault!.status).toBe(status)
  })

  test.each([
    '',
    'hello',
    '200 OK',
    '302 Found',
    '4290 tokens',
    '500.5',
    'error 500',
    'HTTP/1.1 500',
    '{"a":1}',
    '<div>500</div>',
  ])('%j names no status', (text) => {
    expect(faultOfPlainText(text)).toBeUndefined()
  })
})

test('how long Google asks to wait is kept, in a stream too', () => {
  const details = [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '7.5s' }]
  const error = { code: 429, message: 'quota', status: 'RESOURCE_EXHAUSTED', details }
  expect(faultOfPayload({ error })).toMatchObject({ code: 'rate_limited', status: 429, retryAfterMs: 7500 })
  expect(faultOfPayload({ error: { ...error, details: {} } })).not.toHaveProperty('retryAfterMs')
})

test.each([
  { html: '<title>a</title>', title: 'a' },
  { html: '<html><head>\n<TITLE data-x="1"> a b \n</TITLE>', title: 'a b' },
  { html: '<title>never closed', title: 'never closed' },
  { html: '<html><body>none</body>', title: '' },
  { html: `${' '.repeat(5_000)}<title>too late</title>`, title: '' },
])('titleOf $html', ({ html, title }) => {
  expect(titleOf(html)).toBe(title)
})

test.each([
  { statuses: [undefined, 408, 409, 425, 429, 500, 502, 503, 504, 524, 529], want: 'yes' },
  { statuses: [400, 401, 402, 403, 404, 413, 422, 451], want: 'no' },
] as { statuses: (number | undefined)[]; want: Retryable }[])('retryableOfStatus: $want', ({ statuses, want }) => {
  expect(statuses.map((status) => retryableOfStatus(status))).toEqual(statuses.map(() => want))
})
