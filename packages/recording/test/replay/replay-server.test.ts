import { request } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { FAULTS } from '../../src/faults/catalogue.ts'
import { startReplayServer } from '../../src/replay/replay-server.ts'
import type { ReplayServer, ReplayServerOptions, ServedReplay } from '../../src/replay/replay-server.ts'
import { ReplaySyntaxError } from '../../src/replay/replay-syntax-error.ts'
import { bodyRecording, recordingOf, TWO_CALLS } from '../wire.ts'

let server: ReplayServer | undefined
afterEach(async () => {
  await server?.close()
  server = undefined
})

const READS = ['data: 1\n', '\ndata: 2\n\nda', 'ta: [DONE]\n\n']

async function serving(options: Partial<ReplayServerOptions> = {}): Promise<string> {
  server = await startReplayServer({
    recordings: [{ name: 'a', recording: recordingOf(READS) }],
    timing: { kind: 'none' },
    apiOf: () => 'chat_completions',
    ...options,
  })
  return server.url
}

interface Got {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  readonly reads: readonly string[]
  readonly end: string
}

function get(url: string, headers: Record<string, string> = {}, body = '{}'): Promise<Got> {
  return new Promise((resolve, reject) => {
    let responded = false
    const sent = request(url, { method: 'POST', headers, agent: false }, (response) => {
      responded = true
      const reads: string[] = []
      const done = (end: string): void =>
        resolve({ status: response.statusCode!, headers: response.headers, reads, end })
      response
        .on('data', (read: Buffer) => reads.push(read.toString('latin1')))
        .on('end', () => done('complete'))
        .on('error', (error: NodeJS.ErrnoException) => done(`${error.code}`))
    })
    // node:http tells of a reset at the request as well as at the response.
    sent.on('error', (error) => responded || reject(error)).end(body)
  })
}

describe('what arrives', () => {
  test('is what was recorded, read by read, head and all', async () => {
    const got = await get(`${await serving()}/v1/chat/completions`)
    expect(got).toMatchObject({ status: 200, reads: READS, end: 'complete' })
    expect(got.headers).toMatchObject({
      'content-type': 'text/event-stream',
      'x-request-id': 'req_1',
      'transfer-encoding': 'chunked',
      'x-streamfold-recording': 'a',
      'x-streamfold-plan': 'recorded',
      'x-streamfold-reads': '3',
    })
    // The body has no coding any more, whatever was recorded.
    expect(got.headers['content-encoding']).toBeUndefined()
    expect(got.headers['date']).toMatch(/GMT$/)
  })

  test.each([
    { name: 'a read of no bytes between others', reads: ['data: 1\n\n', '', 'data: [DONE]\n\n'] },
    { name: 'no bytes at all', reads: [''] },
  ])('$name does not end the body: no bytes as a chunk would', async ({ reads }) => {
    const url = await serving({ recordings: [{ name: 'a', recording: recordingOf(reads) }] })
    const got = await get(url)
    expect(got).toMatchObject({ status: 200, reads: reads.filter((read) => read !== ''), end: 'complete' })
  })

  test.each<{ plan: string; reads: number }>([
    { plan: 'byte', reads: 32 },
    { plan: 'event', reads: 3 },
    { plan: 'whole', reads: 1 },
    { plan: 'size:10', reads: 4 },
    { plan: 'at:3,9', reads: 3 },
  ])('cut as a request header asks: $plan', async ({ plan, reads }) => {
    const got = await get(await serving(), { 'x-streamfold-plan': plan })
    expect(got.reads.join('')).toBe(READS.join(''))
    expect(got.headers['x-streamfold-reads']).toBe(String(reads))
    expect(got.reads).toHaveLength(reads)
  })

  test('each request by its own plan, at the same time', async () => {
    const url = await serving()
    const offsets = Array.from({ length: 31 }, (_, i) => i + 1)
    const all = await Promise.all(offsets.map((offset) => get(url, { 'x-streamfold-plan': `split@${offset}` })))
    expect(all.map(({ reads }) => reads[0]!.length)).toEqual(offsets)
  })

  test('with the pauses of the recording, or others', async () => {
    const url = await serving({ timing: { kind: 'original' } })
    const started = performance.now()
    await get(url)
    // A timer may come late, never early; the recording is 140 ms long.
    expect(performance.now() - started).toBeGreaterThan(135)
    const fixed = performance.now()
    await get(url, { 'x-streamfold-timing': 'fixed:20ms' })
    expect(performance.now() - fixed).toBeGreaterThan(75)
  })
})

describe('how it ends', () => {
  test.each<{ name: string; headers: Record<string, string>; reads: string; end: string }>([
    {
      name: 'cleanly in the middle',
      headers: { 'x-streamfold-fault': 'cut:fin@8' },
      reads: 'data: 1\n',
      end: 'complete',
    },
    {
      name: 'without the final chunk',
      headers: { 'x-streamfold-fault': 'cut:no-final-chunk@8' },
      reads: 'data: 1\n',
      end: 'ECONNRESET',
    },
    { name: 'by a reset', headers: { 'x-streamfold-fault': 'cut:rst@8' }, reads: 'data: 1\n', end: 'ECONNRESET' },
    {
      name: 'short of its length',
      headers: { 'x-streamfold-fault': 'content-length:long,5' },
      reads: READS.join(''),
      end: 'ECONNRESET',
    },
    {
      name: 'by a length that is too short',
      headers: { 'x-streamfold-fault': 'content-length:short,5' },
      reads: READS.join('').slice(0, -5),
      end: 'complete',
    },
  ])('$name', async ({ headers, reads, end }) => {
    const got = await get(await serving(), headers)
    expect([got.reads.join(''), got.end]).toEqual([reads, end])
  })

  test('a reset is one, and a missing final chunk is none', async () => {
    const url = await serving()
    const endOf = (fault: string): Promise<string> =>
      new Promise((resolve) => {
        const { port } = new URL(url)
        const socket = connect(Number(port), '127.0.0.1')
        socket.write(`GET / HTTP/1.1\r\nhost: x\r\nx-streamfold-fault: ${fault}\r\n\r\n`)
        socket
          .resume()
          .on('end', () => resolve('FIN'))
          .on('error', (error: NodeJS.ErrnoException) => resolve(`${error.code}`))
      })
    expect(await endOf('cut:rst@8')).toBe('ECONNRESET')
    expect(await endOf('cut:no-final-chunk@8')).toBe('FIN')
  })

  test('never: until the client leaves', async () => {
    const url = await serving()
    const response = await fetch(url, { method: 'POST', headers: { 'x-streamfold-fault': 'stay-open' } })
    const reader = response.body!.getReader()
    let text = ''
    while (!text.endsWith('[DONE]\n\n')) text += new TextDecoder().decode((await reader.read()).value)
    await reader.cancel()
    // Nothing keeps the server from closing.
    await server!.close()
    expect(text).toBe(READS.join(''))
  })

  test('a recording that was reset is reset again, and one without an end was cut', async () => {
    const reset = await get(
      await serving({ recordings: [{ name: 'r', recording: recordingOf(READS, { end: 'reset' }) }] }),
    )
    expect(reset.end).toBe('ECONNRESET')
  })
})

describe('other forms on the wire', () => {
  test('gzip, which fetch takes off', async () => {
    const url = await serving()
    const got = await get(url, { 'x-streamfold-fault': 'gzip' })
    expect(got.headers['content-encoding']).toBe('gzip')
    expect(got.reads.join('')).not.toContain('data: 1')
    const response = await fetch(url, { headers: { 'x-streamfold-fault': 'gzip' } })
    expect(await response.text()).toBe(READS.join(''))
  })

  test('a client of HTTP/1.0 gets no chunks', async () => {
    const url = await serving()
    const text = await new Promise<string>((resolve) => {
      const socket = connect(Number(new URL(url).port), '127.0.0.1')
      let all = ''
      socket.on('data', (read: Buffer) => (all += read.toString())).on('end', () => resolve(all))
      socket.write('GET / HTTP/1.0\r\n\r\n')
    })
    expect(text).toMatch(/\r\nconnection: close\r\n/)
    expect(text.split('\r\n\r\n').slice(1).join('\r\n\r\n')).toBe(READS.join(''))
  })

  test('a header that would be two is left out', async () => {
    const recording = recordingOf(['x'])
    const headers = [
      ['x-good', 'yes'],
      ['x-bad', 'a\r\nx-evil: yes'],
      ['bad name', 'x'],
    ] as const
    const got = await get(
      await serving({
        recordings: [{ name: 'h', recording: { ...recording, response: { ...recording.response!, headers } } }],
      }),
    )
    expect(got.headers['x-good']).toBe('yes')
    expect(got.headers).not.toHaveProperty('x-evil')
    expect(got.headers).not.toHaveProperty('x-bad')
  })
})

describe('faults', () => {
  test('by option, combined, and named with their numbers', async () => {
    const served: ServedReplay[] = []
    const url = await serving({
      recordings: [{ name: 'calls', recording: bodyRecording(TWO_CALLS) }],
      faults: [
        { name: 'crlf', args: [] },
        { name: 'cut', args: ['rst'], place: { at: 'call', call: 1, fragment: 1 } },
      ],
      onRequest: (one) => served.push(one),
    })
    const got = await get(`${url}/v1/chat/completions`)
    expect(got.headers['x-streamfold-fault']).toBe('crlf+cut:rst@call:1.1')
    expect(got.headers['x-streamfold-fault-ids']).toBe('F013,F095,F002')
    expect(got.reads.join('')).toContain('\r\n')
    expect(got.end).toBe('ECONNRESET')
    expect(served).toEqual([
      {
        method: 'POST',
        target: '/v1/chat/completions',
        status: 200,
        recording: 'calls',
        plan: 'recorded',
        faults: ['crlf', 'cut:rst@call:1.1'],
        missed: [],
      },
    ])
  })

  test('one that has no place in the recording is told, and nothing is done', async () => {
    const got = await get(await serving(), { 'x-streamfold-fault': 'cut@call:0.1' })
    expect(got.headers['x-streamfold-fault']).toBeUndefined()
    expect(got.headers['x-streamfold-fault-missed']).toMatch(/^cut@call:0\.1: the stream has no fragment/)
    expect(got.reads).toEqual(READS)
  })

  test('probability goes by the seed', async () => {
    const url = await serving()
    const asked = (seed: number): Promise<Got> =>
      get(url, { 'x-streamfold-fault': 'empty@p:0.5', 'x-streamfold-seed': String(seed) })
    const all = await Promise.all(Array.from({ length: 20 }, (_, seed) => asked(seed)))
    const again = await Promise.all(Array.from({ length: 20 }, (_, seed) => asked(seed)))
    const lengths = all.map(({ reads }) => reads.length)
    expect(again.map(({ reads }) => reads.length)).toEqual(lengths)
    expect(new Set(lengths)).toEqual(new Set([0, 3]))
  })

  test('every one of them can be had over the wire', async () => {
    const url = await serving({ recordings: [{ name: 'calls', recording: bodyRecording(TWO_CALLS) }] })
    const endless = new Set(['stay-open', 'stall'])
    for (const name of FAULTS.keys()) {
      if (endless.has(name)) continue
      const fault = name === 'slow' ? 'slow:1000000' : name === 'delay' ? 'delay:1ms' : name
      const got = await get(url, { 'x-streamfold-fault': fault })
      const said = got.headers['x-streamfold-fault'] ?? got.headers['x-streamfold-fault-missed']
      expect(said).toContain(name)
    }
  })
})

describe('what is refused', () => {
  test.each<{ name: string; headers: Record<string, string>; says: RegExp }>([
    { name: 'a plan', headers: { 'x-streamfold-plan': 'bite' }, says: /"bite" is no plan; known are/ },
    { name: 'a timing', headers: { 'x-streamfold-timing': 'fast' }, says: /"fast" is no timing/ },
    { name: 'a fault', headers: { 'x-streamfold-fault': 'flood' }, says: /"flood" is no fault; known are cut/ },
    { name: 'a seed', headers: { 'x-streamfold-seed': 'x' }, says: /"x" is no seed/ },
  ])('$name that is not known: 400', async ({ headers, says }) => {
    const got = await get(await serving(), headers)
    expect(got.status).toBe(400)
    expect((JSON.parse(got.reads.join('')) as { error: { message: string } }).error.message).toMatch(says)
  })

  test('a request that no recording answers: 404, with reasons', async () => {
    const got = await get(`${await serving({ strict: true })}/v1/messages`)
    expect(got.status).toBe(404)
    expect(got.reads.join('')).toContain('a: recorded /v1/chat/completions, asked /v1/messages')
  })

  test('a fault that is not known is refused before anything is served', async () => {
    await expect(serving({ faults: [{ name: 'flood', args: [] }] })).rejects.toThrow(ReplaySyntaxError)
  })
})
