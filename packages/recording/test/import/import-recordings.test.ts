import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { formatRecordings } from '../../src/file/recording-file.ts'
import { recordedBody } from '../../src/file/recording-report.ts'
import { detectFormat, importRecordings } from '../../src/import/import-recordings.ts'
import type { ImportFormat } from '../../src/import/import-recordings.ts'
import { failure, importOne, readsOf, textOf } from './imported.ts'

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
