import { describe, expect, test } from 'vitest'
import { recordedBody } from '../../src/file/recording-report.ts'
import { failure, importAll, importOne, readsOf, textOf } from './imported.ts'

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
      /^log\.entries: no entry of 1 is a stream; name one \(--entry N\): 0 GET https:\/\/a\.example\/$/,
    )
    expect((await failure(har(page), { entries: [4] })).message).toMatch(/there is no entry 4; the file has 1, from 0/)
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
      says: /_chunks: covers 0 of \d+ bytes/,
    },
  ])('$name', async ({ file, says }) => {
    expect((await failure(file, { from: 'har' })).message).toMatch(says)
  })
})
