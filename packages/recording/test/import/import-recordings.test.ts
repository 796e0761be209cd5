import { spawnSync } from 'node:child_process'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import type { Recording } from 'streamfold/recording'
import { formatRecordings, parseRecordings } from '../../src/file/recording-file.ts'
import { recordedBody } from '../../src/file/recording-report.ts'
import { detectFormat, importRecordings } from '../../src/import/import-recordings.ts'
import type { ImportFormat, ImportOptions } from '../../src/import/import-recordings.ts'
import { ImportError } from '../../src/import/import-error.ts'
import { rawUpstream, upstream } from '../record/upstream.ts'

async function importAll(file: string | Uint8Array, options: ImportOptions = {}): Promise<readonly Recording[]> {
  const { recordings } = await importRecordings(Buffer.from(file as string), options)
  return parseRecordings(Buffer.from(formatRecordings(recordings)))
}

async function importOne(file: string | Uint8Array, options: ImportOptions = {}): Promise<Recording> {
  const all = await importAll(file, options)
  expect(all).toHaveLength(1)
  return all[0]!
}

const textOf = (recording: Recording): string => Buffer.from(recordedBody(recording)).toString()
const readsOf = ({ reads }: Recording): readonly (readonly [number, string])[] =>
  reads.map(({ atUs, bytes }) => [atUs, Buffer.from(bytes).toString()] as const)

async function failure(file: string | Uint8Array, options: ImportOptions = {}): Promise<ImportError> {
  try {
    await importAll(file, options)
  } catch (error) {
    if (error instanceof ImportError) return error
    throw error
  }
  throw new Error('nothing was refused')
}

describe('what a file is', () => {
  test.each<{ file: string; format: ImportFormat }>([
    { file: '{"t":"head","format":"streamfold/recording","v":1}\n', format: 'recording' },
    { file: 'HTTP/2 200 \r\n', format: 'curl' },
    { file: 'HTTP/1.1 200 OK\n', format: 'curl' },
    { file: '== Info: x', format: 'curl-trace' },
    { file: '15:02:55.531234 == Info: x', format: 'curl-trace' },
    { file: '15:02:55.531234 [0-0] => Send header, 1 bytes (0x1)', format: 'curl-trace' },
    { file: '\ufeff {\n "log": {', format: 'har' },
    { file: '<!doctype html>\n<html lang="en" data-streamfold="recording">', format: 'html' },
    { file: '<!doctype html>\n<html lang="en">', format: 'body' },
    { file: '{"type":"a"}\n{"type":"b"}\n', format: 'body' },
    { file: 'data: {}\n\n', format: 'body' },
  ])('$file is $format', ({ file, format }) => {
    expect(detectFormat(Buffer.from(file))).toBe(format)
  })

  test('gzip is inflated first, a recording comes back as it is', async () => {
    const file =
      '{"t":"head","format":"streamfold/recording","v":1,"body":"decoded","x":1}\n{"t":"b","at":3,"off":0,"len":1,"s":"a"}\n'
    expect(formatRecordings((await importRecordings(gzipSync(file))).recordings)).toBe(file)
  })

  test('nothing', async () => {
    expect((await failure('')).message).toBe('the file is empty')
  })
})

describe('bare bodies', () => {
  test.each([
    {
      name: 'events, whatever their line ends',
      body: 'data: 1\n\n: c\r\n\r\n\r\ndata: 2\r\rdata',
      pieces: ['data: 1\n\n', ': c\r\n\r\n\r\n', 'data: 2\r\r', 'data'],
    },
    { name: 'JSON lines', body: '{"a":1}\r\n{"a":2}\n', pieces: ['{"a":1}\r\n', '{"a":2}\n'] },
    { name: 'one JSON document', body: '{\n "a": 1\n}\n', pieces: ['{\n "a": 1\n}\n'] },
  ])('$name', async ({ body, pieces }) => {
    const recording = await importOne(body)
    expect(readsOf(recording).map(([, text]) => text)).toEqual(pieces)
    expect(recording.head).toMatchObject({ level: 'imported', timing: 'none', other: { source: { kind: 'body' } } })
    expect(recording.response).toBeUndefined()
    expect(recording.end).toMatchObject({ kind: 'complete' })
  })

  test('bytes that are no UTF-8', async () => {
    const bytes = Uint8Array.of(0x64, 0x61, 0x74, 0x61, 0x3a, 0xff, 0xfe, 0x0a, 0x0a)
    expect([...recordedBody(await importOne(bytes))]).toEqual([...bytes])
  })
})

describe('curl -i', () => {
  test('heads and body', async () => {
    const file =
      'HTTP/1.1 200 Connection established\r\n\r\nHTTP/1.1 100 Continue\r\n\r\nHTTP/2 200 \r\nContent-Type: text/event-stream\r\nx: a:b\r\n\r\ndata: 1\n\ndata: HTTP/1.1 200 OK\n\n'
    const recording = await importOne(file)
    expect(recording.response).toMatchObject({
      status: 200,
      headers: [
        ['Content-Type', 'text/event-stream'],
        ['x', 'a:b'],
      ],
      other: { http: '2' },
    })
    expect(textOf(recording)).toBe('data: 1\n\ndata: HTTP/1.1 200 OK\n\n')
    expect(
      recording.lines.map((line) =>
        line.t === 'other' ? `${line.type} ${JSON.stringify(line.other['status'])}` : line.t,
      ),
    ).toEqual(['head', 'info 200', 'info 100', 'res', 'b', 'b', 'end'])
  })

  test('a redirect that was followed', async () => {
    const recording = await importOne('HTTP/1.1 307 T\nLocation: /x\n\nHTTP/1.1 200 OK\n\ndata: 1\n\n')
    expect([recording.response!.status, textOf(recording)]).toEqual([200, 'data: 1\n\n'])
  })

  test('no head at all', async () => {
    expect(await failure('data: 1\n\n', { from: 'curl' })).toMatchObject({
      line: 1,
      message: expect.stringMatching(/^line 1: no response head.*curl -i/) as string,
    })
  })
})

const hex = (bytes: string): string => {
  const rows: string[] = []
  for (let at = 0; at < bytes.length; at += 16) {
    const row = bytes.slice(at, at + 16)
    const columns = Array.from(Buffer.from(row, 'latin1'), (byte) => `${byte.toString(16).padStart(2, '0')} `).join('')
    rows.push(`${at.toString(16).padStart(4, '0')}: ${columns.padEnd(48)}${row.replaceAll(/[^ -~]/g, '.')}`)
  }
  return rows.join('\n')
}

const dump = (time: string, what: string, bytes: string): string =>
  `${time}${what}, ${bytes.length} bytes (0x${bytes.length.toString(16)})\n${hex(bytes)}`

describe('curl --trace', () => {
  const request = (time: string): string =>
    dump(time, '=> Send header', 'POST /v1/x?key=1 HTTP/1.1\r\nHost: a.example\r\n\r\n')
  const head = (time: string, ...lines: readonly string[]): string =>
    ['HTTP/1.1 200 OK\r\n', ...lines.map((line) => `${line}\r\n`), '\r\n']
      .map((line) => dump(time, '<= Recv header', line))
      .join('\n')

  test('chunk framing on, every receive with its time, over midnight', async () => {
    const file = [
      '23:59:59.900000 == Info: SSL connection using TLSv1.3',
      request('23:59:59.999000 '),
      dump('23:59:59.999500 ', '=> Send data', '{"n":2}'),
      dump('23:59:59.999600 ', '<= Recv SSL data', 'abcde'),
      head('00:00:00.001000 ', 'Transfer-Encoding: chunked'),
      dump('00:00:00.002000 ', '<= Recv data', '9\r\ndata: 1\n\n\r\n5\r\nda'),
      dump('00:00:00.003000 ', '<= Recv data', 'ta:\r\n3;x=y\r\n 2\n\r\n'),
      dump('00:00:00.004000 ', '<= Recv data', '1\r\n\n\r\n0\r\n\r\n'),
      '00:00:00.005000 == Info: Connection #0 to host a.example left intact',
    ].join('\n')
    const recording = await importOne(file)
    expect(recording.request).toMatchObject({
      method: 'POST',
      url: 'https://a.example/v1/x?key=1',
      body: new TextEncoder().encode('{"n":2}'),
    })
    expect(recording.response).toMatchObject({ atUs: 2000, status: 200 })
    expect(readsOf(recording)).toEqual([
      [3000, 'data: 1\n\nda'],
      [4000, 'ta: 2\n'],
      [5000, '\n'],
    ])
    expect(recording.end).toMatchObject({ atUs: 6000, kind: 'complete' })
    expect(recording.head.timing).toBe('exact')
  })

  test('chunk framing off, as newer versions write it', async () => {
    const recording = await importOne(
      [request(''), head('', 'Transfer-Encoding: chunked'), dump('', '<= Recv data', 'data: 1\n\n')].join('\n'),
    )
    expect([textOf(recording), recording.head.timing, recording.end!.kind]).toEqual(['data: 1\n\n', 'none', 'complete'])
    expect(recording.request!.url).toBe('http://a.example/v1/x?key=1')
  })

  test.each([
    {
      name: 'no last chunk',
      lines: ['Transfer-Encoding: chunked'],
      data: '9\r\ndata: 1\n\n\r\n',
      info: '',
      kind: 'cut',
    },
    { name: 'fewer bytes than announced', lines: ['Content-Length: 99'], data: 'data: 1\n\n', info: '', kind: 'cut' },
    {
      name: 'a reset',
      lines: [],
      data: 'data: 1\n\n',
      info: '== Info: Recv failure: Connection reset by peer',
      kind: 'reset',
    },
    {
      name: 'a timeout',
      lines: [],
      data: 'data: 1\n\n',
      info: '== Info: Operation timed out after 1001 milliseconds',
      kind: 'timeout',
    },
    {
      name: 'curl says it was cut',
      lines: [],
      data: 'data: 1\n\n',
      info: '== Info: transfer closed with outstanding read data remaining',
      kind: 'cut',
    },
  ])('$name: $kind', async ({ lines, data, info, kind }) => {
    const recording = await importOne(
      [request(''), head('', ...lines), dump('', '<= Recv data', data), info].join('\n'),
    )
    expect([textOf(recording), recording.end!.kind]).toEqual(['data: 1\n\n', kind])
  })

  test('several requests are several exchanges', async () => {
    const one = [request(''), head(''), dump('', '<= Recv data', 'data: 1\n\n')].join('\n')
    expect(await importAll(`${one}\n${one}`)).toHaveLength(2)
  })

  test('a coding is taken off, an unknown one refused', async () => {
    const bytes = gzipSync('data: 1\n\n').toString('latin1')
    const coded = (name: string): string =>
      [request(''), head('', `Content-Encoding: ${name}`), dump('', '<= Recv data', bytes)].join('\n')
    expect(textOf(await importOne(coded('gzip')))).toBe('data: 1\n\n')
    expect((await failure(coded('zstd'))).message).toMatch(/coding "zstd"/)
    expect((await failure(coded('br'))).message).toMatch(/is not the br/)
  })

  test.each([
    { name: 'no trace', file: 'hello', line: 1, says: /no entry of a curl trace/ },
    {
      name: '--trace-ascii',
      file: '== Info: x\n<= Recv data, 5 bytes (0x5)\n0000: data:',
      line: 3,
      says: /--trace-ascii.*use --trace/,
    },
    {
      name: 'a dump that was cut',
      file: '<= Recv data, 9 bytes (0x9)\n0000: 64 61                                           da',
      line: 1,
      says: /says 9 bytes, and 2 follow/,
    },
    { name: 'a line that is none', file: '<= Recv data, 9 bytes (0x9)\nwhat', line: 2, says: /no line of a dump/ },
    {
      name: 'a framing that breaks',
      file: [
        request(''),
        head('', 'Transfer-Encoding: chunked'),
        dump('', '<= Recv data', '2\r\nab\r\n'),
        dump('', '<= Recv data', 'zz\r\n'),
      ].join('\n'),
      line: 15,
      says: /chunked framing of the body breaks here/,
    },
  ])('$name', async ({ file, line, says }) => {
    const error = await failure(file, { from: 'curl-trace' })
    expect(error.message).toMatch(says)
    expect(error.line).toBe(line)
  })

  const curl = spawnSync('curl', ['--version']).status === 0
  test.skipIf(!curl)('what the curl of this machine writes', async () => {
    const to = await upstream((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: é\n\n')
      setImmediate(() => response.end('data: 2\n\n'))
    })
    const { spawn } = await import('node:child_process')
    const child = spawn('curl', [
      '-sN',
      '--noproxy',
      '*',
      '-d',
      '{"n":2}',
      '--trace',
      '-',
      '--trace-time',
      '-o',
      '/dev/null',
      `${to}/v1`,
    ])
    const pieces: Buffer[] = []
    child.stdout.on('data', (bytes: Buffer) => void pieces.push(bytes))
    await new Promise((resolve) => child.on('close', resolve))
    const recording = await importOne(Buffer.concat(pieces))
    expect(recording.request).toMatchObject({ method: 'POST', url: `${to}/v1` })
    expect(textOf(recording)).toBe('data: é\n\ndata: 2\n\n')
    expect(recording.head.timing).toBe('exact')
    expect(recording.reads[0]!.atUs).toBeGreaterThan(0)
    expect(recording.end!.kind).toBe('complete')
  })

  test.skipIf(!curl)('a cut that the curl of this machine met', async () => {
    const to = await rawUpstream((socket) =>
      socket.end('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n9\r\ndata: 1\n\n\r\n'),
    )
    const { spawn } = await import('node:child_process')
    const child = spawn('curl', ['-sN', '--noproxy', '*', '--trace', '-', '-o', '/dev/null', to])
    const pieces: Buffer[] = []
    child.stdout.on('data', (bytes: Buffer) => void pieces.push(bytes))
    await new Promise((resolve) => child.on('close', resolve))
    const recording = await importOne(Buffer.concat(pieces))
    expect([textOf(recording), recording.end!.kind]).toEqual(['data: 1\n\n', 'cut'])
  })
})

const har = (...entries: readonly unknown[]): string =>
  JSON.stringify({ log: { version: '1.2', creator: { name: 'WebInspector' }, entries } }, null, 2)

const entry = (
  response: Readonly<Record<string, unknown>>,
  more: Readonly<Record<string, unknown>> = {},
): Readonly<Record<string, unknown>> => ({
  startedDateTime: '2026-11-30T15:02:55.000Z',
  request: {
    method: 'POST',
    url: 'https://a.example/v1/chat/completions',
    headers: [
      { name: ':authority', value: 'a.example' },
      { name: 'content-type', value: 'application/json' },
    ],
    postData: { mimeType: 'application/json', text: '{"n":2}' },
  },
  response: {
    status: 200,
    statusText: 'OK',
    headers: [{ name: 'content-type', value: 'text/event-stream' }],
    ...response,
  },
  timings: { blocked: 1, dns: -1, connect: -1, ssl: -1, send: 2, wait: 97, receive: 400 },
  ...more,
})

describe('HAR', () => {
  const BODY = ': hi\n\ndata: {"a":1}\n\nevent: x\ndata: 2\ndata: 3\n\n'
  const content = { mimeType: 'text/event-stream', text: BODY }
  const messages = [
    { time: 1796050975.25, eventName: 'message', eventId: '', data: '{"a":1}' },
    { time: 1796050975.5, eventName: 'x', eventId: '7', data: '2\n3' },
  ]

  test('the body alone, as Firefox and mitmproxy have it: no times', async () => {
    const recording = await importOne(har(entry({ content })))
    expect(recording.head).toMatchObject({
      timing: 'none',
      created: '2026-11-30T15:02:55.000Z',
      other: { source: { kind: 'har', creator: 'WebInspector', entry: 'log.entries[0]' } },
    })
    expect(recording.request).toMatchObject({
      method: 'POST',
      headers: [['content-type', 'application/json']],
      body: new TextEncoder().encode('{"n":2}'),
    })
    expect(recording.response).toMatchObject({ atUs: 100_000, status: 200 })
    expect(textOf(recording)).toBe(BODY)
    expect(recording.end).toMatchObject({ atUs: 500_000, kind: 'complete' })
  })

  test('base64, as mitmproxy has it', async () => {
    const bytes = Uint8Array.of(0x64, 0xff, 0x0a)
    const coded = { mimeType: 'text/event-stream', text: Buffer.from(bytes).toString('base64'), encoding: 'base64' }
    expect([...recordedBody(await importOne(har(entry({ content: coded }))))]).toEqual([...bytes])
  })

  test('with the events of Chrome: their times', async () => {
    expect(Date.parse('2026-11-30T15:02:55.000Z') / 1000).toBe(1796050975)
    const recording = await importOne(har(entry({ content }, { _eventSourceMessages: messages })))
    expect(recording.head.timing).toBe('per-event')
    expect(readsOf(recording)).toEqual([
      [250_000, ': hi\n\ndata: {"a":1}\n\n'],
      [500_000, 'event: x\ndata: 2\ndata: 3\n\n'],
    ])
  })

  test('with the events alone: framing made up, and said so', async () => {
    const recording = await importOne(
      har(entry({ content: { mimeType: 'text/event-stream' } }, { _eventSourceMessages: messages })),
    )
    expect(readsOf(recording)).toEqual([
      [250_000, 'data: {"a":1}\n\n'],
      [500_000, 'event: x\nid: 7\ndata: 2\ndata: 3\n\n'],
    ])
    expect(recording.head.other).toMatchObject({ source: { reframed: true } })
    expect(recording.end!.kind).toBe('cut')
  })

  test('events that do not fit the body give no times', async () => {
    const recording = await importOne(har(entry({ content }, { _eventSourceMessages: messages.slice(1) })))
    expect([recording.head.timing, textOf(recording)]).toEqual(['none', BODY])
  })

  test('no body: the exporter left it out', async () => {
    const recording = await importOne(har(entry({ content: { mimeType: 'text/event-stream', size: 0 } })))
    expect(recording.head.other).toMatchObject({ source: { bodyMissing: true } })
    expect([recording.reads, recording.end!.kind]).toEqual([[], 'cut'])
  })

  test.each([
    { error: 'net::ERR_CONNECTION_RESET', kind: 'reset' },
    { error: 'net::ERR_ABORTED', kind: 'aborted' },
    { error: 'net::ERR_INCOMPLETE_CHUNKED_ENCODING', kind: 'cut' },
    { error: 'net::ERR_TIMED_OUT', kind: 'timeout' },
  ])("Chrome's $error is $kind", async ({ error, kind }) => {
    expect((await importOne(har(entry({ content, _error: error })))).end).toMatchObject({ kind, code: error })
  })

  test('reads of our own', async () => {
    const recording = await importOne(
      har(
        entry(
          { content },
          {
            _chunks: [
              { at: 1, off: 0, len: 10 },
              { at: 200_000, off: 10, len: BODY.length - 10 },
            ],
          },
        ),
      ),
    )
    expect(readsOf(recording).map(([at, text]) => [at, text.length])).toEqual([
      [100_000, 10],
      [200_000, BODY.length - 10],
    ])
  })

  test('only the streams among the entries, or the ones that are named', async () => {
    const page = {
      ...entry({ content: { mimeType: 'text/html', text: '<p>' } }),
      request: { method: 'GET', url: 'https://a.example/', headers: [] },
    }
    expect(await importAll(har(page, entry({ content }), page, entry({ content })))).toHaveLength(2)
    expect((await importOne(har(page, entry({ content })), { entries: [0] })).request!.url).toBe('https://a.example/')
    expect((await failure(har(page))).message).toMatch(
      /^log\.entries: none of the 1 entries is a stream; name one \(--entry N\): 0 GET https:\/\/a\.example\/$/,
    )
    expect((await failure(har(page), { entries: [4] })).message).toMatch(/there is no entry 4; there are 1/)
  })

  test.each([
    { name: 'no JSON', file: '{\n "log": {\n  "entries": [,]', says: /^line 3: not JSON/ },
    { name: 'no entries', file: '{"log":{}}', says: /^log\.entries: no HAR/ },
    { name: 'no object', file: '[]', says: /^line 1: no HAR/ },
    { name: 'entries of another type', file: '{"log":{"entries":{}}}', says: /^log\.entries: must be a list/ },
    {
      name: 'a body that is no text',
      file: har(entry({ content: { text: 1 } })),
      says: /^log\.entries\[0\]\.response\.content\.text: must be a text/,
    },
    {
      name: 'an unknown encoding',
      file: har(entry({ content: { text: '', encoding: 'rot13' } })),
      says: /content\.encoding: is "rot13"/,
    },
    {
      name: 'broken base64',
      file: har(entry({ content: { text: 'a b!', encoding: 'base64' } })),
      says: /content\.text: is not base64/,
    },
    {
      name: 'reads with a hole',
      file: har(entry({ content }, { _chunks: [{ at: 1, off: 3, len: 1 }] })),
      says: /_chunks\[0\]: does not continue the body at 0/,
    },
    {
      name: 'reads that end early',
      file: har(entry({ content }, { _chunks: [] })),
      says: /_chunks: covers 0 of the \d+ bytes/,
    },
  ])('$name', async ({ file, says }) => {
    expect((await failure(file, { from: 'har' })).message).toMatch(says)
  })
})

describe('chunk lists', () => {
  const list = '{"type":"message_start"}\n\n{"choices":[]}\r\n{"type":"response.created"}\n'
  test.each([
    {
      options: {},
      body: 'event: message_start\ndata: {"type":"message_start"}\n\ndata: {"choices":[]}\n\nevent: response.created\ndata: {"type":"response.created"}\n\n',
    },
    {
      options: { frame: 'data', done: true },
      body: 'data: {"type":"message_start"}\n\ndata: {"choices":[]}\n\ndata: {"type":"response.created"}\n\ndata: [DONE]\n\n',
    },
  ] as const)('$options', async ({ options, body }) => {
    const recording = await importOne(list, { from: 'chunks', ...options })
    expect(textOf(recording)).toBe(body)
    expect(recording.head.other).toMatchObject({ source: { kind: 'chunks', reframed: true } })
  })

  test.each([
    { name: 'not JSON', file: '{}\n{"a":\n', line: 2, says: /not JSON/ },
    { name: 'a body', file: 'data: {}\n\n', line: 1, says: /this is a body/ },
    { name: 'nothing', file: '\n\n', line: undefined, says: /no line holds/ },
    { name: 'not UTF-8', file: Buffer.from([0x7b, 0x7d, 0x0a, 0xff]), line: 2, says: /not UTF-8/ },
  ])('$name', async ({ file, line, says }) => {
    const error = await failure(file, { from: 'chunks' })
    expect(error.message).toMatch(says)
    expect(error.line).toBe(line)
  })

  test('no type where the frame needs one', async () => {
    expect((await failure('{}', { from: 'chunks', frame: 'event' })).message).toMatch(/^line 1: has no "type"/)
  })
})
