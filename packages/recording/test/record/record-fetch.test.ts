import { describe, expect, test } from 'vitest'
import type { Recording } from 'streamfold/recording'
import { parseRecordings } from '../../src/file/recording-file.ts'
import { recordFetch } from '../../src/record/record-fetch.ts'
import { memorySink } from '../../src/record/recording-sink.ts'
import { SK } from '../redact/secrets.ts'
import { bodyOf, rawUpstream, upstream } from './upstream.ts'

function recorder(fetch?: typeof globalThis.fetch): {
  fetch: typeof globalThis.fetch
  recording: () => Promise<Recording>
} {
  const sink = memorySink()
  let recorded!: () => void
  const done = new Promise<void>((resolve) => (recorded = resolve))
  return {
    fetch: recordFetch({ sink: () => sink, onRecorded: recorded, ...(fetch !== undefined && { fetch }) }),
    recording: async () => {
      await done
      return parseRecordings(Buffer.from(sink.text()))[0]!
    },
  }
}

describe('a fetch that records', () => {
  test('passes request and response on, and keeps both', async () => {
    let received = ''
    const to = await upstream((request, response) => {
      request
        .on('data', (bytes: Buffer) => (received += bytes.toString()))
        .on('end', () => {
          response.writeHead(201, { 'content-type': 'text/event-stream' }).end(`data: ${SK}\n\n`)
        })
    })
    const { fetch, recording } = recorder()
    const response = await fetch(`${to}/v1`, {
      method: 'POST',
      body: '{"n":2}',
      headers: { authorization: `Bearer ${SK}` },
    })
    expect([response.status, response.url, response.headers.get('content-type')]).toEqual([
      201,
      `${to}/v1`,
      'text/event-stream',
    ])
    expect(await response.text()).toBe(`data: ${SK}\n\n`)
    expect(received).toBe('{"n":2}')
    const { head, request, response: answer, end, ...rest } = await recording()
    expect(head.level).toBe('fetch')
    expect(request).toMatchObject({ method: 'POST', url: `${to}/v1`, bodyLength: 7, other: { facts: { n: 2 } } })
    expect(answer).toMatchObject({ status: 201 })
    expect(bodyOf({ head, ...rest })).toBe(`data: ${'*'.repeat(SK.length)}\n\n`)
    expect(end).toMatchObject({ kind: 'complete' })
  })

  test('the body of a Request can not be looked at, and is not said to be empty', async () => {
    const to = await upstream((_request, response) => response.writeHead(200).end('x'))
    const { fetch, recording } = recorder()
    await (await fetch(new Request(to, { method: 'POST', body: '{"n":2}' }))).text()
    expect((await recording()).request).toMatchObject({ method: 'POST', other: { bodyIncomplete: true } })
  })

  test('a coding that fetch has taken off is not taken off again', async () => {
    const { gzipSync } = await import('node:zlib')
    const to = await upstream((_request, response) =>
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('data: 1\n\n')),
    )
    const { fetch, recording } = recorder()
    expect(await (await fetch(to)).text()).toBe('data: 1\n\n')
    expect(bodyOf(await recording())).toBe('data: 1\n\n')
  })

  test('reads nothing ahead of its consumer', async () => {
    let pulled = 0
    const body = new ReadableStream<Uint8Array>(
      { pull: (controller) => controller.enqueue(Uint8Array.of(pulled++)) },
      { highWaterMark: 0 },
    )
    const { fetch, recording } = recorder(() => Promise.resolve(new Response(body)))
    const reader = (await fetch('https://a.example/')).body!.getReader()
    expect(pulled).toBe(0)
    await reader.read()
    expect(pulled).toBe(1)
    await reader.cancel()
    expect((await recording()).end).toMatchObject({ kind: 'aborted', other: { by: 'consumer' } })
  })

  test('a response that is cut', async () => {
    const to = await rawUpstream((socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\ndata: 1\n\n'))
    const { fetch, recording } = recorder()
    await expect((await fetch(to)).text()).rejects.toThrow(/terminated|fetch failed/)
    const made = await recording()
    expect(bodyOf(made)).toBe('data: 1\n\n')
    expect(made.end).toMatchObject({ kind: 'cut', code: 'UND_ERR_SOCKET' })
  })

  test('a server that is not there', async () => {
    const { fetch, recording } = recorder()
    await expect(fetch('http://127.0.0.1:9/')).rejects.toThrow(/terminated|fetch failed/)
    const made = await recording()
    expect([made.response, made.end?.kind]).toEqual([undefined, 'error'])
  })

  test('a request that is aborted', async () => {
    const { fetch, recording } = recorder()
    const to = await upstream(() => {})
    const abort = new AbortController()
    const waiting = fetch(new Request(to, { signal: abort.signal }))
    abort.abort()
    await expect(waiting).rejects.toThrow(/abort/)
    expect((await recording()).end).toMatchObject({ kind: 'aborted', other: { by: 'consumer' } })
  })

  test('no body', async () => {
    const to = await upstream((_request, response) => response.writeHead(204).end())
    const { fetch, recording } = recorder()
    expect((await fetch(to)).status).toBe(204)
    const made = await recording()
    expect([made.reads, made.end?.kind]).toEqual([[], 'complete'])
  })
})
