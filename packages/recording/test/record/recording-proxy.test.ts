import { createHash, randomBytes } from 'node:crypto'
import { request as httpRequest } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { mkdtempSync, readdirSync, statSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { brotliCompressSync, constants, createGzip, deflateRawSync, deflateSync, gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import type { HeaderPair, Recording } from 'streamfold/recording'
import { parseRecordings } from '../../src/file/recording-file.ts'
import type { RecordedExchange } from '../../src/record/exchange-recorder.ts'
import { endToEnd } from '../../src/record/hop-headers.ts'
import { startRecordingProxy } from '../../src/record/recording-proxy.ts'
import type { RecordingProxy, RecordingProxyOptions } from '../../src/record/recording-proxy.ts'
import { folderSinks, memorySink } from '../../src/record/recording-sink.ts'
import type { RecordingSink } from '../../src/record/recording-sink.ts'
import { SK } from '../redact/secrets.ts'
import { bodyOf, cleanUp, rawUpstream, recordingsIn, temporaryFolder, upstream } from './upstream.ts'

const root = temporaryFolder()

interface Recorder {
  readonly proxy: RecordingProxy
  readonly folder: string
  readonly recorded: readonly RecordedExchange[]
  /** Closes the proxy and gives what it wrote. */
  readonly stop: () => Promise<readonly Recording[]>
}

async function record(to: string, options: Partial<RecordingProxyOptions> = {}): Promise<Recorder> {
  const folder = mkdtempSync(join(root, 'case-'))
  const recorded: RecordedExchange[] = []
  const proxy = await startRecordingProxy({
    to,
    by: 'test',
    sink: folderSinks(folder),
    onRecorded: (exchange) => void recorded.push(exchange),
    ...options,
  })
  cleanUp(() => void proxy.close())
  const stop = async (): Promise<readonly Recording[]> => {
    await proxy.close()
    return recordingsIn(folder)
  }
  return { proxy, folder, recorded, stop }
}

interface Seen {
  readonly status: number
  readonly headers: readonly HeaderPair[]
  readonly pieces: readonly string[]
  readonly error?: string
  readonly trailers: IncomingMessage['trailers']
}

/** What a client gets, piece by piece. */
function send(
  url: string,
  {
    method = 'POST',
    headers = {},
    body = '',
  }: { method?: string; headers?: Record<string, string>; body?: string } = {},
): Promise<Seen> {
  return new Promise((resolve) => {
    const pieces: string[] = []
    const request = httpRequest(url, { method, headers, agent: false })
    request.on('error', (error: NodeJS.ErrnoException) =>
      resolve({ status: 0, headers: [], pieces, trailers: {}, error: error.code ?? error.message }),
    )
    request.on('response', (response) => {
      const { rawHeaders } = response
      const pairs: HeaderPair[] = []
      for (let at = 0; at < rawHeaders.length; at += 2) pairs.push([rawHeaders[at]!, rawHeaders[at + 1]!])
      let error: string | undefined
      response.on('data', (bytes: Buffer) => void pieces.push(bytes.toString('latin1')))
      response.on('error', (failure: NodeJS.ErrnoException) => (error = failure.code ?? failure.message))
      response.on('close', () =>
        resolve({
          status: response.statusCode!,
          headers: pairs,
          pieces,
          trailers: response.trailers,
          ...(error !== undefined && { error }),
        }),
      )
    })
    request.end(body)
  })
}

/** Writes pieces one by one, each as soon as the client has acknowledged nothing: in its own turn of the loop. */
function writeAll(
  pieces: readonly (string | Uint8Array)[],
  write: (piece: string | Uint8Array) => void,
  done: () => void,
): void {
  const [first, ...rest] = pieces
  if (first === undefined) return done()
  write(first)
  setImmediate(() => writeAll(rest, write, done))
}

describe('an exchange', () => {
  const pieces = ['data: {"a":"é', '"}\n\n', ': ping\n\n', 'data: [DONE]\n\n']

  async function streamed(): Promise<{
    seen: Seen
    direct: Seen
    recorder: Recorder
    recordings: readonly Recording[]
  }> {
    const to = await upstream((request, response) => {
      request.resume().on('end', () => {
        response.sendDate = false
        response.writeHead(200, 'Fine', [
          'Content-Type',
          'text/event-stream',
          'X-Twice',
          '1',
          'x-twice',
          '2',
          'X-Secret',
          'abc',
        ])
        writeAll(
          pieces,
          (piece) => response.write(piece),
          () => response.end(),
        )
      })
    })
    const recorder = await record(`${to}/v1`)
    const options = {
      headers: { Authorization: `Bearer ${SK}`, 'Content-Type': 'application/json' },
      body: '{"n":2,"max_tokens":9,"tools":[{"type":"function","function":{"name":"add"}}]}',
    }
    const direct = await send(`${to}/v1/chat/completions`, options)
    const seen = await send(`${recorder.proxy.url}/chat/completions`, options)
    return { seen, direct, recorder, recordings: await recorder.stop() }
  }

  test('the client sees what it would see without the proxy', async () => {
    const { seen, direct } = await streamed()
    expect(seen.status).toBe(200)
    expect(endToEnd(seen.headers)).toEqual(endToEnd(direct.headers))
    expect(seen.pieces.join('')).toBe(direct.pieces.join(''))
  })

  test('is recorded: head, request without its body, response, reads, end', async () => {
    const { recorder, recordings } = await streamed()
    expect(recordings).toHaveLength(1)
    const { head, request, response, end } = recordings[0]!
    expect(head).toMatchObject({ level: 'http-data', body: 'decoded', by: 'test' })
    expect(head.other).toEqual({ clock: 'monotonic-us', redaction: { policy: 'default@1', applied: true } })
    const sent = '{"n":2,"max_tokens":9,"tools":[{"type":"function","function":{"name":"add"}}]}'
    expect(request).toMatchObject({
      method: 'POST',
      bodyLength: sent.length,
      bodySha256: createHash('sha256').update(sent).digest('hex'),
      other: { http: '1.1', facts: { n: 2, maxOutputTokens: 9, tools: ['add'] } },
    })
    expect(request!.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/v1\/chat\/completions$/)
    expect(request!.body).toBeUndefined()
    expect(request!.headers).toContainEqual(['Authorization', `[redacted:${7 + SK.length}]`])
    expect(response).toMatchObject({ status: 200, other: { reason: 'Fine' } })
    expect(response!.headers.slice(0, 4)).toEqual([
      ['Content-Type', 'text/event-stream'],
      ['X-Twice', '[redacted:1]'],
      ['x-twice', '[redacted:1]'],
      ['X-Secret', '[redacted:3]'],
    ])
    expect(bodyOf(recordings[0]!)).toBe(pieces.join(''))
    expect(end).toMatchObject({ kind: 'complete' })
    expect(recorder.recorded).toEqual([
      {
        id: head.id,
        file: join(recorder.folder, readdirSync(recorder.folder)[0]!),
        method: 'POST',
        url: request!.url,
        status: 200,
        bytes: Buffer.byteLength(pieces.join('')),
        reads: recordings[0]!.reads.length,
        kind: 'complete',
      },
    ])
  })

  test('the file is for its owner only, and named for what is in it', async () => {
    const { recorder } = await streamed()
    const [name] = readdirSync(recorder.folder)
    expect(name).toMatch(/^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}Z-chat-completions-[0-9a-f]{8}\.stream\.jsonl$/)
    expect(statSync(join(recorder.folder, name!)).mode & 0o777).toBe(0o600)
  })
})

test('reads are the pieces of the HTTP body, also those that came in one packet', async () => {
  const to = await rawUpstream((socket) => {
    socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\naaaa\r\n4\r\nbbbb\r\n0\r\n\r\n')
  })
  const { proxy, stop } = await record(to)
  expect((await send(proxy.url)).pieces).toEqual(['aaaa', 'bbbb'])
  const [recording] = await stop()
  expect(recording!.reads.map(({ bytes }) => Buffer.from(bytes).toString())).toEqual(['aaaa', 'bbbb'])
})

describe('request bodies', () => {
  test('on demand, redacted', async () => {
    const to = await upstream((request, response) => void request.resume().on('end', () => response.end('ok')))
    const { proxy, stop } = await record(to, { requestBody: true })
    await send(proxy.url, { body: `{"key":"${SK}"}` })
    const [recording] = await stop()
    expect(Buffer.from(recording!.request!.body!).toString()).toBe(`{"key":"${'*'.repeat(SK.length)}"}`)
  })

  test('reach the upstream as they are, megabytes too', async () => {
    const received: Buffer[] = []
    const to = await upstream((request, response) => {
      request.on('data', (bytes: Buffer) => void received.push(bytes)).on('end', () => response.end('ok'))
    })
    const { proxy, stop } = await record(to)
    const body = 'x'.repeat(6_000_000)
    await send(proxy.url, { body, headers: { 'content-type': 'text/plain' } })
    expect(Buffer.concat(received).equals(Buffer.from(body))).toBe(true)
    const [recording] = await stop()
    expect(recording!.request).toMatchObject({ bodyLength: body.length })
  })
})

describe('content codings: the client gets them, the recording holds what they cover', () => {
  const text = `data: {"a":"${'é'.repeat(50)} ${SK}"}\n\n`
  const masked = text.replace(SK, '*'.repeat(SK.length))
  test.each([
    { coding: 'gzip', bytes: gzipSync(text) },
    { coding: 'br', bytes: brotliCompressSync(text) },
    { coding: 'deflate', bytes: deflateSync(text) },
    { coding: 'deflate', bytes: deflateRawSync(text) },
  ])('$coding', async ({ coding, bytes }) => {
    const to = await upstream((_request, response) => {
      response.writeHead(200, { 'content-encoding': coding })
      response.write(bytes.subarray(0, 20))
      setImmediate(() => response.end(bytes.subarray(20)))
    })
    const { proxy, stop } = await record(to)
    const { pieces } = await send(proxy.url)
    expect(Buffer.from(pieces.join(''), 'latin1').equals(bytes)).toBe(true)
    const [recording] = await stop()
    expect(bodyOf(recording!)).toBe(masked)
    expect(recording!.end).toMatchObject({ kind: 'complete' })
  })

  test('each read keeps its time: what is flushed is read', async () => {
    const gzip = createGzip({ flush: constants.Z_SYNC_FLUSH })
    const to = await upstream((_request, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' })
      gzip.pipe(response)
      gzip.write('data: 1\n\n')
    })
    const { proxy, stop } = await record(to)
    const response = await fetch(proxy.url)
    const reader = response.body!.getReader()
    expect(Buffer.from((await reader.read()).value!).toString()).toBe('data: 1\n\n')
    gzip.end('data: 2\n\n')
    while (!(await reader.read()).done);
    const [recording] = await stop()
    expect(recording!.reads.map(({ bytes }) => Buffer.from(bytes).toString())).toEqual(['data: 1\n\n', 'data: 2\n\n'])
  })

  test('one that is not known: nothing of the body is kept, for nothing in it can be redacted', async () => {
    const to = await upstream((_request, response) =>
      response.writeHead(200, { 'content-encoding': 'zstd' }).end('abc'),
    )
    const { proxy, stop } = await record(to)
    expect((await send(proxy.url)).pieces).toEqual(['abc'])
    const [recording] = await stop()
    expect(recording!.reads).toEqual([])
    expect(recording!.end).toMatchObject({ kind: 'error', code: 'unknown_content_encoding', other: { by: 'recorder' } })
  })

  test('a body that is not what its header says', async () => {
    const to = await upstream((_request, response) =>
      response.writeHead(200, { 'content-encoding': 'gzip' }).end('plain'),
    )
    const { proxy, stop } = await record(to)
    expect((await send(proxy.url)).pieces).toEqual(['plain'])
    expect((await stop())[0]!.end).toMatchObject({ kind: 'error', code: 'content_decoding_failed' })
  })
})

describe('ends', () => {
  const HEAD = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n'
  const EVENT = '9\r\ndata: 1\n\n\r\n'

  test('a connection that is closed in the middle stays one', async () => {
    const to = await rawUpstream((socket) => socket.end(HEAD + EVENT))
    const { proxy, stop } = await record(to)
    expect(await send(proxy.url)).toMatchObject({ pieces: ['data: 1\n\n'], error: 'ECONNRESET' })
    const [recording] = await stop()
    expect(bodyOf(recording!)).toBe('data: 1\n\n')
    expect(recording!.end).toMatchObject({ kind: 'cut', code: 'UND_ERR_SOCKET' })
  })

  test.each([
    { name: 'a reset in the body is a reset', head: HEAD + EVENT, kind: 'reset' },
    { name: 'a reset before the head is a reset', head: '', kind: 'reset' },
  ])('$name', async ({ head, kind }) => {
    // A reset that comes together with bytes looks like a plain end to Node: it waits until the client has them.
    let reset!: () => void
    const to = await rawUpstream((socket) => {
      reset = () => void socket.resetAndDestroy()
      if (head === '') reset()
      else socket.write(head)
    })
    const { proxy, stop } = await record(to)
    const port = Number(new URL(proxy.url).port)
    const error = await new Promise<string | undefined>((resolve) => {
      let failed: string | undefined
      const socket = connect(port, '127.0.0.1', () => socket.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n'))
      socket.on('error', (cause: NodeJS.ErrnoException) => (failed = cause.code))
      socket.on('close', () => resolve(failed)).on('data', (bytes) => void (bytes.includes('data: 1') && reset()))
    })
    expect((await stop())[0]!.end).toMatchObject({ kind, code: 'ECONNRESET' })
    expect(error).toBe('ECONNRESET')
  })

  test('a connection that is closed before the head', async () => {
    const to = await rawUpstream((socket) => socket.end())
    const { proxy, stop } = await record(to)
    expect(await send(proxy.url)).toMatchObject({ status: 0, error: 'ECONNRESET' })
    expect((await stop())[0]!.end).toMatchObject({ kind: 'reset', code: 'UND_ERR_SOCKET' })
  })

  test('a client that goes away ends the request upstream', async () => {
    let upstreamClosed!: () => void
    const closed = new Promise<void>((resolve) => (upstreamClosed = resolve))
    const to = await upstream((_request, response) => {
      response.on('close', upstreamClosed)
      response.write('data: 1\n\n')
    })
    const { proxy, stop } = await record(to)
    const abort = new AbortController()
    const response = await fetch(proxy.url, { signal: abort.signal })
    await response.body!.getReader().read()
    abort.abort()
    await closed
    const [recording] = await stop()
    expect(bodyOf(recording!)).toBe('data: 1\n\n')
    expect(recording!.end).toMatchObject({ kind: 'aborted', other: { by: 'client' } })
  })

  test('a proxy that is closed says so', async () => {
    const to = await upstream((_request, response) => void response.write('data: 1\n\n'))
    const { proxy, stop } = await record(to)
    const response = await fetch(proxy.url)
    await response.body!.getReader().read()
    expect((await stop())[0]!.end).toMatchObject({ kind: 'aborted', other: { by: 'proxy' } })
  })

  test('an upstream that is not there', async () => {
    const { proxy, stop } = await record('http://127.0.0.1:9')
    const { status, pieces } = await send(proxy.url)
    expect(status).toBe(502)
    expect(JSON.parse(pieces.join(''))).toEqual({
      error: {
        message: 'streamfold record: the upstream http://127.0.0.1:9 gave no response (ECONNREFUSED)',
        type: 'upstream_failed',
        code: 'ECONNREFUSED',
      },
    })
    const [recording] = await stop()
    expect(recording!.response).toBeUndefined()
    expect(recording!.end).toMatchObject({ kind: 'error', code: 'ECONNREFUSED' })
  })

  test('a head that can not be passed on', async () => {
    const to = await rawUpstream((socket) => socket.write('HTTP/1.1 200 O\u0001K\r\ncontent-length: 2\r\n\r\nok'))
    const { proxy, stop } = await record(to)
    expect((await send(proxy.url)).status).toBe(502)
    expect((await stop())[0]!.end!.kind).toBe('error')
  })

  test('trailers pass and are kept', async () => {
    const to = await rawUpstream((socket) => socket.write(`${HEAD}${EVENT}0\r\nX-Request-Id: r1\r\n\r\n`))
    const { proxy, stop } = await record(to)
    expect((await send(proxy.url)).trailers).toEqual({ 'x-request-id': 'r1' })
    const line = (await stop())[0]!.lines.find((one) => one.t === 'other')
    expect(line).toMatchObject({ type: 'tr', other: { headers: [['X-Request-Id', 'r1']] } })
  })

  test('an interim response is kept', async () => {
    const to = await rawUpstream((socket) =>
      socket.write('HTTP/1.1 103 Early Hints\r\nserver: a\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'),
    )
    const { proxy, stop } = await record(to)
    expect((await send(proxy.url)).pieces).toEqual(['ok'])
    const [recording] = await stop()
    expect(recording!.lines.map((line) => (line.t === 'other' ? line.type : line.t))).toEqual([
      'head',
      'req',
      'info',
      'res',
      'b',
      'end',
    ])
  })
})

describe('nothing holds the stream up', () => {
  const body = Buffer.from(
    Array.from({ length: 4000 }, (_, at) => `data: {"n":${at},"x":"${randomBytes(120).toString('hex')}"}\n\n`).join(''),
  )

  test('a disk that does not keep up: the stream goes on, the recording says where it stopped', async () => {
    const text: string[] = []
    let pendingBytes = 0
    const stuck: RecordingSink = {
      get pendingBytes() {
        return pendingBytes
      },
      failure: undefined,
      write: (line) => {
        text.push(line)
        pendingBytes += line.length
      },
      close: () => Promise.resolve(),
    }
    const to = await upstream((_request, response) => response.end(body))
    const { proxy, recorded } = await record(to, { sink: () => stuck, maxPendingBytes: 100_000 })
    const { pieces } = await send(proxy.url)
    expect(Buffer.from(pieces.join(''), 'latin1').equals(body)).toBe(true)
    await proxy.close()
    const [recording] = parseRecordings(Buffer.from(text.join('')))
    expect(recording!.end).toMatchObject({ kind: 'error', code: 'recorder_overflow', other: { by: 'recorder' } })
    expect(body.toString().startsWith(bodyOf(recording!))).toBe(true)
    expect(recorded).toMatchObject([{ kind: 'error', code: 'recorder_overflow' }])
  })

  test('a folder that can not be written to', async () => {
    const to = await upstream((_request, response) => response.end(body))
    const folder = mkdtempSync(join(root, 'gone-'))
    const sink = folderSinks(join(folder, 'a'))
    const { proxy, recorded } = await record(to, { sink: (asked) => sink({ ...asked, created: 'x'.repeat(300) }) })
    const { pieces } = await send(proxy.url)
    expect(pieces.join('')).toHaveLength(body.length)
    await proxy.close()
    expect(recorded).toMatchObject([{ failure: expect.stringMatching(/ENAMETOOLONG/) as string }])
  })

  test('a slow client slows the upstream, as without the proxy', async () => {
    let written = 0
    const to = await upstream((_request, response) => {
      const more = (): void => {
        while (!response.destroyed) {
          written += 65_536
          if (!response.write(Buffer.alloc(65_536, 0x61))) return void response.once('drain', more)
        }
      }
      more()
    })
    const sink = memorySink()
    const { proxy } = await record(to, { sink: () => sink })
    const socket = connect(Number(new URL(proxy.url).port), '127.0.0.1', () =>
      socket.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n'),
    )
    socket.on('error', () => {})
    await new Promise<void>((resolve) => socket.once('readable', resolve))
    // Nothing is read any more. Without backpressure the proxy would go on reading until the bound; with it, the buffers on
    // the way fill up and the upstream stands still. A busy machine may look like that for a moment, hence several looks.
    const bound = 32 * 1024 * 1024
    const looks: number[] = []
    while (looks.length < 6 || (new Set(looks.slice(-6)).size > 1 && looks.at(-1)! < bound)) {
      looks.push(written)
      await new Promise((resolve) => setTimeout(resolve, 300))
    }
    expect(written).toBeLessThan(bound)
    socket.destroy()
  })
})

test('a target that is no URL', async () => {
  await expect(record('api.example.com')).rejects.toThrow(/"api.example.com" is no http\(s\) URL/)
})

test.each([
  ['/v1', '/v1/chat/completions', '/v1/chat/completions'],
  ['/v1', '/chat/completions', '/v1/chat/completions'],
  ['/v1/', '/v1?a=b', '/v1/v1?a=b'],
  ['', '/v1/models?x=1', '/v1/models?x=1'],
  ['/api', 'http://other.example/v1', '/api/v1'],
])('%s and %s make %s', async (base, asked, path) => {
  let url: string | undefined
  const to = await upstream((request, response) => {
    url = request.url
    response.end()
  })
  const { proxy } = await record(to + base)
  const socket = connect(Number(new URL(proxy.url).port), '127.0.0.1', () =>
    socket.write(`GET ${asked} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n`),
  )
  await new Promise((resolve) => socket.on('close', resolve).resume())
  expect(url).toBe(path)
})
