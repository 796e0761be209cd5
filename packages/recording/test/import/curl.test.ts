import { spawnSync } from 'node:child_process'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { rawUpstream, upstream } from '../record/upstream.ts'
import { failure, importAll, importOne, readsOf, textOf } from './imported.ts'

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
      says: /says 9 bytes, but gives 2/,
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
