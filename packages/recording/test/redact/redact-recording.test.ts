import { describe, expect, test } from 'vitest'
import { readRecordings, RecordingError } from 'streamfold/recording'
import type { Recording } from 'streamfold/recording'
import { formatRecordings, parseRecordings } from '../../src/file/recording-file.ts'
import { findSecrets } from '../../src/redact/find-secrets.ts'
import { redactRecording } from '../../src/redact/redact-recording.ts'
import { redactUrl } from '../../src/redact/redact-url.ts'
import { AWS, SK } from './secrets.ts'

const HEAD = '{"t":"head","format":"streamfold/recording","v":1,"labels":{"a":"b"}}'
const only = (text: string): Recording => readRecordings(text)[0]!
const KEY = 'my-very-own-key/1'

const RECORDING = [
  HEAD,
  JSON.stringify({
    t: 'req',
    at: 0,
    method: 'POST',
    url: `https://me:pw@a.example/v1/chat/completions?alt=sse&api_key=${SK}#x`,
    headers: [
      ['Authorization', `Bearer ${KEY}`],
      ['Content-Type', 'application/json'],
      ['X-Own', 'value'],
    ],
    s: `{"messages":"${AWS}"}`,
  }),
  JSON.stringify({ t: 'note', s: `see ${SK}`, deep: [{ a: AWS }] }),
  JSON.stringify({
    t: 'res',
    at: 1,
    status: 401,
    headers: [
      ['Set-Cookie', 'a=b'],
      ['via', `1.1 ${AWS}`],
    ],
  }),
  JSON.stringify({ t: 'b', at: 2, off: 0, s: 'data: {"error":"bad key my-very-' }),
  JSON.stringify({ t: 'b', at: 3, off: 32, s: `own-key\\/1 ${SK}"}\n\n` }),
  JSON.stringify({
    t: 'end',
    at: 4,
    kind: 'complete',
    bytes: 32 + 14 + Buffer.byteLength(SK) + 1,
    redactions: [{ off: 1, len: 1, kind: 'x' }],
  }),
]
  .join('\n')
  .concat('\n')

describe('redact', () => {
  const text = formatRecordings([redactRecording(only(RECORDING))])
  const clean = parseRecordings(Buffer.from(text))[0]!

  test('no secret is left', () => {
    for (const secret of [SK, AWS, KEY, 'pw@', 'a=b', 'my-very-', 'own-key']) expect(text).not.toContain(secret)
    expect(findSecrets(clean)).toEqual([])
  })

  test('headers keep their names and the lengths of their values, the known ones all', () => {
    expect(clean.request!.headers).toEqual([
      ['Authorization', '[redacted:24]'],
      ['Content-Type', 'application/json'],
      ['X-Own', '[redacted:5]'],
    ])
    expect(clean.response!.headers).toEqual([
      ['Set-Cookie', '[redacted:3]'],
      ['via', `1.1 ${'*'.repeat(AWS.length)}`],
    ])
  })

  test('the URL', () => {
    expect(clean.request!.url).toBe(
      `https://redacted@a.example/v1/chat/completions?alt=sse&api_key=[redacted:${SK.length}]#redacted`,
    )
  })

  test("the request's own key in the answer, over two reads, in both spellings", () => {
    expect(clean.reads.map(({ bytes }) => Buffer.from(bytes).toString())).toEqual([
      'data: {"error":"bad key ********',
      `********** ${'*'.repeat(SK.length)}"}\n\n`,
    ])
  })

  test('lengths, times, order and lines that are not understood', () => {
    expect(clean.reads.map(({ atUs, offset }) => [atUs, offset])).toEqual([
      [2, 0],
      [3, 32],
    ])
    expect(clean.lines.map((line) => (line.t === 'other' ? line.type : line.t))).toEqual([
      'head',
      'req',
      'note',
      'res',
      'b',
      'b',
      'end',
    ])
    expect(clean.lines[2]!.other).toEqual({ s: `see ${'*'.repeat(SK.length)}`, deep: [{ a: '*'.repeat(AWS.length) }] })
    expect(clean.head.other).toEqual({ labels: { a: 'b' }, redaction: { policy: 'default@1', applied: true } })
  })

  test('the end lists what was masked, behind what an earlier redaction masked', () => {
    expect(clean.end!.other).toEqual({
      redactions: [
        { off: 1, len: 1, kind: 'x' },
        { off: 24, len: 18, kind: 'known-secret' },
        { off: 43, len: SK.length, kind: 'api-key' },
      ],
    })
  })

  test('twice is once', () => {
    expect(formatRecordings([redactRecording(clean)])).toBe(text)
  })

  test('a body with its coding on is refused: nothing can be seen in it', () => {
    const encoded = only('{"t":"head","format":"streamfold/recording","v":1,"body":"encoded"}\n')
    expect(() => redactRecording(encoded)).toThrow(RecordingError)
    expect(() => redactRecording(encoded)).toThrow(/line 1: its content coding is on/)
  })
})

test('check names line, place and kind, never the secret', () => {
  const findings = findSecrets(only(RECORDING))
  expect(findings).toEqual([
    { line: 2, where: 'url', kind: 'parameter', length: expect.any(Number) as number },
    { line: 2, where: 'url', kind: 'api-key', length: SK.length },
    { line: 2, where: 'header Authorization', kind: 'header', length: 24 },
    { line: 2, where: 'header X-Own', kind: 'header', length: 5 },
    { line: 2, where: 'request body', kind: 'aws-key-id', offset: 13, length: AWS.length },
    { line: 3, where: 'line note', kind: 'api-key', length: SK.length },
    { line: 3, where: 'line note', kind: 'aws-key-id', length: AWS.length },
    { line: 4, where: 'header Set-Cookie', kind: 'header', length: 3 },
    { line: 4, where: 'header via', kind: 'aws-key-id', length: AWS.length },
    { line: 6, where: 'body', kind: 'api-key', offset: 43, length: SK.length },
  ])
  expect(JSON.stringify(findings)).not.toContain(SK)
})

describe('URLs', () => {
  test.each([
    ['https://a.example/v1', 'https://a.example/v1'],
    ['/v1/models?alt=sse', '/v1/models?alt=sse'],
    ['/v1?key=', '/v1?key=[redacted:0]'],
    ['/v1?key=[redacted:9]', '/v1?key=[redacted:9]'],
    ['/v1?X-Amz-Signature=ab&b', '/v1?X-Amz-Signature=[redacted:2]&b'],
    ['https://a:b@c@d.example/@x', 'https://redacted@d.example/@x'],
    ['https://a.example/p#f', 'https://a.example/p#redacted'],
  ])('%s', (url, expected) => {
    expect(redactUrl(url)).toBe(expected)
  })
})
