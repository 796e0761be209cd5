import { createRecordingWriter, readRecordings } from 'streamfold/recording'
import type { Recording } from 'streamfold/recording'
import { runningSha256 } from '../../src/file/sha256.ts'

const delta = (content: unknown, finish: string | null = null): string =>
  `data: ${JSON.stringify({ id: 'c1', object: 'chat.completion.chunk', model: 'm', choices: [{ index: 0, delta: content, finish_reason: finish }] })}\n\n`

/** Two reads that cut a character in half, a comment, a call, markup in the text. */
export const BODY: string = [
  ': ping\n\n',
  delta({ content: '</script><b>"é' }),
  delta({ tool_calls: [{ index: 0, id: 'call_1', function: { name: 'add', arguments: '{"a":"it\'s"}' } }] }),
  delta({}, 'tool_calls'),
  'data: [DONE]\n\n',
].join('')

export function sampleText(): string {
  const bytes = Buffer.from(BODY)
  const half = bytes.indexOf(0xc3) + 1
  const writer = createRecordingWriter({ sha256: runningSha256 })
  return [
    writer.line({
      t: 'head',
      id: 'r1',
      created: '2026-11-30T15:02:55.000Z',
      by: 'test',
      level: 'http-data',
      other: { labels: { a: 'b' } },
    }),
    writer.line({
      t: 'req',
      atUs: 0,
      method: 'POST',
      url: 'https://a.example/v1/chat/completions?a=1',
      headers: [['Content-Type', 'application/json']],
      body: Buffer.from('{"n":1}'),
    }),
    writer.line({
      t: 'res',
      atUs: 100_000,
      status: 200,
      headers: [
        ['Content-Type', 'text/event-stream'],
        ['X', '1'],
        ['x', '2'],
      ],
      other: { reason: 'OK' },
    }),
    writer.line({ t: 'b', atUs: 120_001, bytes: bytes.subarray(0, half) }),
    writer.line({ t: 'other', type: 'note', other: { s: 'kept' } }),
    writer.line({ t: 'b', atUs: 180_000, bytes: bytes.subarray(half) }),
    writer.line({ t: 'end', atUs: 200_000, kind: 'complete' }),
  ].join('')
}

export function sample(): Recording {
  return readRecordings(sampleText())[0]!
}
