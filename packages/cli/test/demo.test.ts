import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { call, delta, sse } from './bodies.ts'
import { DEMO, finished, start } from './built-command.ts'
import type { Finished } from './built-command.ts'

const closers: (() => void)[] = []
afterEach(() => {
  for (const close of closers.splice(0)) close()
})

/** A local endpoint; gives its base URL. */
async function endpoint(
  answer: (request: IncomingMessage, body: string, response: ServerResponse) => void,
): Promise<string> {
  const server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (text: string) => (body += text))
    request.on('end', () => answer(request, body, response))
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  closers.push(() => {
    server.close()
    server.closeAllConnections()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
}

// Starting Node takes a second on a busy machine.
vi.setConfig({ testTimeout: 30_000 })

const KEY = 'sk-test-0123456789'

function demo(baseUrl: string): Promise<Finished> {
  return finished(
    start(DEMO, [], { STREAMFOLD_BASE_URL: baseUrl, STREAMFOLD_API_KEY: KEY, STREAMFOLD_MODEL: 'model-x' }),
  )
}

test('the sample: cuts, text, calls in their states, verdict, and nothing executed', async () => {
  const { code, stdout, stderr } = await finished(start(DEMO, []))
  expect([code, stderr]).toEqual([0, ''])
  const lines = stdout.split('\n')
  const at = (pattern: RegExp): number => {
    const found = lines.findIndex((line) => pattern.test(line))
    expect(found, `${pattern} in\n${stdout}`).toBeGreaterThanOrEqual(0)
    return found
  }
  const inOrder = [
    at(/^\d+ cuts inside a character, \d+ between CR and LF/),
    at(/^text +我来看看東京の天気 🌦️ and set a reminder for you, at once\. 🚀$/),
    at(/^call 1 +get_weather \(call_weather\): collecting$/),
    at(/^call 2 +create_reminder \(call_reminder\): collecting$/),
    at(/^call 1 +complete, \d+ B of arguments$/),
    at(/^call 2 +complete, \d+ B of arguments$/),
    at(/^call 1 +released: get_weather\(\{"place":\{"city":"東京"/),
    at(/^call 2 +released: create_reminder\(\{"title":"Pack an umbrella ☂"/),
    at(/^ok +completed$/),
    at(/^ {2}ok +http_ok$/),
    at(/^ {2}ok +sse_ok$/),
    at(/^ {2}ok +delta_ok$/),
    at(/^ {2}ok +tool_args_complete$/),
    at(/^ {2}- +tool_authorized +not reached$/),
    at(/^ {2}- +tool_executed +not reached$/),
    at(/^timing +arrival [a-z]+; ms to head \d.*first output \d.*end \d/),
    at(/2 of 2 calls released; they are shown, never executed\.$/),
  ]
  expect(inOrder).toEqual(inOrder.toSorted((a, b) => a - b))
  expect(stdout).not.toContain('\u001b')
})

describe('an endpoint of your own', () => {
  test('is asked for a stream, with usage and two tools', async () => {
    let asked: { url: string | undefined; key: string | undefined; body: Record<string, unknown> } | undefined
    const baseUrl = await endpoint((request, body, response) => {
      asked = {
        url: request.url,
        key: request.headers.authorization,
        body: JSON.parse(body) as Record<string, unknown>,
      }
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.end(
        sse(
          delta({ content: 'Two calls.\nAt once.' }),
          call(0, '{"numbers":[17,25,0.5]}', 'call_a', 'add_numbers'),
          call(1, '{"date":"2026-12-01","locale":"ja-JP"}', 'call_b', 'format_date'),
          delta({}, 'tool_calls'),
          { id: 'c1', choices: [], usage: { prompt_tokens: 5, completion_tokens: 7, total_tokens: 12 } },
          '[DONE]',
        ),
      )
    })
    const { code, stdout, stderr } = await demo(`${baseUrl}/`)
    expect([code, stderr]).toEqual([0, ''])
    expect(asked).toMatchObject({ url: '/v1/chat/completions', key: `Bearer ${KEY}` })
    expect(asked!.body).toMatchObject({ model: 'model-x', stream: true, stream_options: { include_usage: true } })
    expect((asked!.body['tools'] as { function: { name: string } }[]).map((tool) => tool.function.name)).toEqual([
      'add_numbers',
      'format_date',
    ])
    expect(stdout).toContain('text     Two calls.\n         At once.\n')
    expect(stdout).toContain('call 1   released: add_numbers({"numbers":[17,25,0.5]})')
    expect(stdout).toContain('call 2   released: format_date({"date":"2026-12-01","locale":"ja-JP"})')
    expect(stdout).toContain('usage    tokens: 5 in, 7 out, 12 in all')
  })

  test('that cuts the stream inside a call: nothing is released, exit 1', async () => {
    const baseUrl = await endpoint((_request, _body, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(sse(call(0, '{"numbers":[17,', 'call_a', 'add_numbers')), () => response.destroy())
    })
    const { code, stdout } = await demo(baseUrl)
    expect(code).toBe(1)
    expect(stdout).toMatch(/^call 1 +failed: incomplete_stream$/m)
    expect(stdout).toMatch(/^FAIL incomplete \(incomplete_stream\)$/m)
    expect(stdout).toContain('0 of 1 call released; they are shown, never executed.')
  })

  test.each([
    { status: 401, code: 4, next: 'check the API key', hint: /check STREAMFOLD_API_KEY/ },
    {
      status: 404,
      code: 1,
      next: 'check the base URL',
      hint: /check STREAMFOLD_BASE_URL.*STREAMFOLD_MODEL/,
    },
    { status: 400, code: 1, next: 'read the provider message', hint: /check STREAMFOLD_MODEL/ },
  ])('that answers $status: the typed error, what to do, and never the key', async ({ status, code, next, hint }) => {
    const baseUrl = await endpoint((_request, _body, response) => {
      response.writeHead(status, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ error: { message: `no, ${KEY} \u001b[2J`, type: 'refused', code: 'nope' } }))
    })
    const result = await demo(baseUrl)
    expect(result.code).toBe(code)
    expect(result.stdout).toContain(`the server answered ${status}: no, [key] \\u001b[2J`)
    expect(result.stdout).toContain(
      `error    http_error in phase headers, retryable: no, status ${status}, provider code nope, type`,
    )
    expect(result.stdout).toContain(`\nnext     ${next}`)
    expect(result.stderr).toMatch(hint)
    expect(result.stdout + result.stderr).not.toContain(KEY)
    expect(result.stdout).not.toContain('\u001b')
  })

  test('that is not there: told once, exit 4', async () => {
    const baseUrl = await endpoint(() => {})
    for (const close of closers.splice(0)) close()
    const { code, stdout, stderr } = await demo(baseUrl)
    expect(code).toBe(4)
    expect(stderr).toBe(
      'streamfold: no answer from STREAMFOLD_BASE_URL (ECONNREFUSED): check the address and that the server runs\n',
    )
    // Once: no report repeats it.
    expect(stdout).toBe(`model-x at ${baseUrl}, asked for a sentence and two calls.\n\n`)
  })

  test('an interrupt ends it with 130 and lets the request go', async () => {
    let gone: (() => void) | undefined
    const left = new Promise<void>((resolve) => (gone = resolve))
    const baseUrl = await endpoint((_request, _body, response) => {
      response.on('close', () => gone!())
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(sse(delta({ content: 'and then' })))
    })
    const child = start(DEMO, [], { STREAMFOLD_BASE_URL: baseUrl, STREAMFOLD_API_KEY: KEY, STREAMFOLD_MODEL: 'm' })
    child.stdout.on('data', (text: Buffer | string) => void (String(text).includes('and then') && child.kill('SIGINT')))
    expect((await finished(child)).code).toBe(130)
    await left
  })
})

test.each([
  { name: 'a line break', key: 'sk-test-01234\n56789' },
  { name: 'a character beyond Latin-1', key: 'sk-test-012345678中' },
  { name: 'a control character', key: 'sk-test-01234\u001b[2J56789' },
])('a key with $name is refused, and not shown', async ({ key }) => {
  const { code, stdout, stderr } = await finished(
    start(DEMO, [], { STREAMFOLD_BASE_URL: 'http://localhost:9/v1', STREAMFOLD_API_KEY: key, STREAMFOLD_MODEL: 'm' }),
  )
  expect({ code, stdout, stderr }).toEqual({
    code: 2,
    stdout: '',
    stderr: "streamfold: STREAMFOLD_API_KEY holds characters that an HTTP header can't carry; copy it again\n",
  })
})

describe('an environment that names half an endpoint', () => {
  test.each([
    {
      env: { STREAMFOLD_BASE_URL: 'http://localhost/v1' },
      says: /^streamfold: STREAMFOLD_API_KEY and STREAMFOLD_MODEL are missing/,
    },
    {
      env: { STREAMFOLD_BASE_URL: 'http://localhost/v1', STREAMFOLD_API_KEY: 'k', STREAMFOLD_MODEL: ' ' },
      says: /^streamfold: STREAMFOLD_MODEL is missing/,
    },
    {
      env: { STREAMFOLD_BASE_URL: 'localhost:8080', STREAMFOLD_API_KEY: 'k', STREAMFOLD_MODEL: 'm' },
      says: /STREAMFOLD_BASE_URL is not an http or https address/,
    },
  ])('$says', async ({ env, says }) => {
    const { code, stdout, stderr } = await finished(start(DEMO, [], env))
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toMatch(says)
  })
})
