import { guardFetch, streamModel } from 'streamfold'
import type { ModelStream, StreamModelOptions, StreamReport } from 'streamfold'
import { describe, expect, test } from 'vitest'
import { parseRecordings } from '../../src/file/recording-file.ts'
import { reportOfRecording } from '../../src/file/recording-report.ts'
import { recordFailures } from '../../src/record/record-failures.ts'
import type { RecordFailuresOptions } from '../../src/record/record-failures.ts'
import { SK } from '../redact/secrets.ts'
import { bodyOf, upstream } from './upstream.ts'

const text = (content: string): string => `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content } }] })}\n\n`
const END = 'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'

interface Failure {
  readonly recording: string
  readonly report: StreamReport
}

function ask(
  baseURL: string,
  options: Partial<StreamModelOptions> = {},
  recording: RecordFailuresOptions = {},
): { stream: ModelStream; failures: Failure[] } {
  const failures: Failure[] = []
  const stream = streamModel({
    api: 'chat_completions',
    baseURL,
    apiKey: SK,
    body: { model: 'm', n: 1 },
    throwOnError: false,
    retry: { baseDelayMs: 0 },
    onFailure: recordFailures((made, report) => failures.push({ recording: made, report }), recording),
    ...options,
  })
  return { stream, failures }
}

describe('recordFailures', () => {
  test('a stream that was cut: redacted, and it replays to the same failure', async () => {
    const url = await upstream((_request, response) => {
      response
        .writeHead(200, { 'content-type': 'text/event-stream', 'x-private': 'mine' })
        .end(text(`your key is ${SK}`))
    })
    const { stream, failures } = ask(url)
    await stream.result
    expect(failures).toHaveLength(1)
    const [{ recording, report }] = failures as [Failure]
    expect(recording).not.toContain(SK)
    expect(recording).not.toContain('mine')
    expect(report).toMatchObject({ outcome: 'incomplete' })
    const [made] = parseRecordings(Buffer.from(recording))
    expect(made).toMatchObject({
      request: { method: 'POST', url: `${url}/chat/completions`, other: { facts: { n: 1 } } },
    })
    expect(bodyOf(made!)).toBe(text(`your key is ${'*'.repeat(SK.length)}`))
    expect(reportOfRecording(made!)).toMatchObject({ outcome: 'incomplete', error: { code: 'incomplete_stream' } })
  })

  test('every attempt is in it, in order', async () => {
    let asked = 0
    const url = await upstream((_request, response) => {
      if (++asked === 1) response.writeHead(503).end('busy')
      else response.writeHead(200, { 'content-type': 'text/event-stream' }).end(text('x'))
    })
    const { stream, failures } = ask(url)
    await stream.result
    expect(parseRecordings(Buffer.from(failures[0]!.recording)).map(({ response }) => response?.status)).toEqual([
      503, 200,
    ])
  })

  test('a stream that ends well, or was retried into one, leaves nothing', async () => {
    let asked = 0
    const url = await upstream((_request, response) => {
      if (++asked === 1) response.writeHead(503).end('busy')
      else response.writeHead(200, { 'content-type': 'text/event-stream' }).end(text('x') + END)
    })
    const { stream, failures } = ask(url)
    expect(await stream.result).toMatchObject({ outcome: 'completed' })
    expect(failures).toEqual([])
  })

  test('a server that went silent: the recording ends by a timer, as the stream did', async () => {
    const url = await upstream((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(text('x'))
    })
    const { stream, failures } = ask(url, { timeouts: { idleMs: 30 } })
    await stream.result
    expect(failures[0]!.report).toMatchObject({ error: { code: 'idle_timeout' } })
    expect(parseRecordings(Buffer.from(failures[0]!.recording))[0]).toMatchObject({
      end: { kind: 'timeout', other: { by: 'consumer' } },
    })
  })

  test('a fetch that never settles and heeds no signal is recorded as far as it came', async () => {
    const { stream, failures } = ask('http://host.example', {
      fetch: () => new Promise(() => {}),
      timeouts: { connectMs: 10 },
      retry: false,
    })
    await stream.result
    const [made] = parseRecordings(Buffer.from(failures[0]!.recording))
    expect(made).toMatchObject({ end: { kind: 'timeout' } })
    expect(made!.response).toBeUndefined()
  })

  test('what grows beyond its bound is not kept, and the stream goes on', async () => {
    const url = await upstream((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end(text('x'.repeat(50_000)))
    })
    const { stream, failures } = ask(url, { retry: false }, { maxBytes: 10_000 })
    expect(await stream.result).toMatchObject({ text: 'x'.repeat(50_000) })
    const [made] = parseRecordings(Buffer.from(failures[0]!.recording))
    expect(made).toMatchObject({ end: { kind: 'error', code: 'recorder_overflow' } })
  })

  test('a guarded client too', async () => {
    const url = await upstream((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end(text('x'))
    })
    const made: string[] = []
    const send = guardFetch(fetch, { onFailure: recordFailures((recording) => made.push(recording)) })
    const response = await send(`${url}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${SK}` },
      body: '{"stream":true}',
    })
    await expect(response.text()).rejects.toMatchObject({ code: 'incomplete_stream' })
    expect(made).toHaveLength(1)
    expect(made[0]).not.toContain(SK)
  })
})
