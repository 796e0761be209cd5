import { describe, expect, test } from 'vitest'
import { readPayload } from '../../src/adapters/payload.ts'
import type { ServerSentEvent } from '../../src/sse/event.ts'
import { createOutput } from './collect.ts'

/** What became of an event, in order of handlers, then findings, errors and holes. */
function read(event: ServerSentEvent): readonly unknown[] {
  const { out, notes } = createOutput()
  const seen: unknown[] = []
  readPayload(event, { json: (value) => seen.push(value), done: () => seen.push('DONE') }, out)
  for (const note of notes) seen.push(`note ${note}`)
  for (const chunk of out.chunks)
    if (chunk.type === 'error') seen.push(`error ${chunk.error.code} ${chunk.error.status ?? ''}`.trim())
  for (const _ of out.skipped) seen.push('skipped')
  return seen
}

const rows: {
  readonly name: string
  readonly data: string
  readonly want: readonly unknown[]
  readonly incomplete: readonly unknown[]
}[] = [
  { name: 'an object', data: '{"a":1}', want: [{ a: 1 }], incomplete: [{ a: 1 }, 'note unterminated_last_event'] },
  {
    name: 'an object, with blanks around it',
    data: ' {"a":1}\t',
    want: [{ a: 1 }],
    incomplete: [{ a: 1 }, 'note unterminated_last_event'],
  },
  { name: 'an array', data: '[1]', want: [[1]], incomplete: [[1], 'note unterminated_last_event'] },
  { name: 'the sentinel', data: '[DONE]', want: ['DONE'], incomplete: ['DONE', 'note unterminated_last_event'] },
  {
    name: 'the sentinel, with blanks around it',
    data: ' [DONE] ',
    want: ['DONE'],
    incomplete: ['DONE', 'note unterminated_last_event'],
  },
  { name: 'nothing', data: '', want: ['note empty_data_event'], incomplete: [] },
  { name: 'blanks', data: ' \n ', want: ['note empty_data_event'], incomplete: [] },
  {
    name: 'a comment wrapped once more',
    data: ': ping',
    want: ['note comment_as_data'],
    incomplete: ['note comment_as_data'],
  },
  { name: 'half an object', data: '{"a":', want: ['skipped'], incomplete: [] },
  { name: 'half a sentinel', data: '[DON', want: ['skipped'], incomplete: [] },
  { name: 'a number', data: '12', want: ['skipped'], incomplete: [] },
  { name: 'null', data: 'null', want: ['skipped'], incomplete: [] },
  { name: 'a string', data: '"x"', want: ['skipped'], incomplete: [] },
  { name: 'text', data: 'went away', want: ['skipped'], incomplete: [] },
  { name: 'a status line', data: '429 Too Many Requests', want: ['error rate_limited 429'], incomplete: [] },
  { name: 'a bare status', data: '503', want: ['error upstream_error 503'], incomplete: [] },
  { name: 'a number that only begins like a status', data: '5030', want: ['skipped'], incomplete: [] },
  {
    name: 'a page',
    data: '<html><title>502 Bad Gateway</title>',
    want: ['note proxy_error_page', 'error upstream_error 502'],
    incomplete: [],
  },
  {
    name: 'an object over lines',
    data: '{\n"a":\n1}',
    want: [{ a: 1 }],
    incomplete: [{ a: 1 }, 'note unterminated_last_event'],
  },
  {
    name: 'two objects glued',
    data: '{"a":1}\n{"b":2}',
    want: [{ a: 1 }, { b: 2 }, 'note glued_events'],
    incomplete: [{ a: 1 }, { b: 2 }, 'note glued_events'],
  },
  {
    name: 'an object and the sentinel glued',
    data: '{"a":1}\n\n[DONE]',
    want: [{ a: 1 }, 'DONE', 'note glued_events'],
    incomplete: [{ a: 1 }, 'DONE', 'note glued_events'],
  },
  { name: 'an object and half of one', data: '{"a":1}\n{"b":', want: ['skipped'], incomplete: [] },
]

describe('readPayload', () => {
  test.each(rows)('$name', ({ data, want, incomplete }) => {
    expect(read({ data })).toEqual(want)
    expect(read({ data, incomplete: true })).toEqual(incomplete)
  })

  test.each([
    { name: 'text', data: 'went away', want: ['error upstream_error'] },
    { name: 'a status line', data: '429 slow', want: ['error rate_limited 429'] },
    { name: 'a JSON string', data: '"went away"', want: ['error upstream_error'] },
    { name: 'nothing', data: '', want: ['error upstream_error'] },
    { name: 'half an object', data: '{"error":', want: ['error upstream_error'] },
    { name: 'an object, for its reader to see', data: '{"a":1}', want: [{ a: 1 }] },
    { name: 'the sentinel', data: '[DONE]', want: ['error upstream_error'] },
    { name: 'a comment', data: ': gone', want: ['error upstream_error'] },
  ])('in an event called error: $name', ({ data, want }) => {
    expect(read({ data, event: 'error' })).toEqual(want)
  })

  test('a cut event called error is a cut', () => {
    expect(read({ data: 'went aw', event: 'error', incomplete: true })).toEqual([])
  })

  test('the message of a hole quotes the data, clipped and printable', () => {
    const { out } = createOutput()
    readPayload({ data: `bad \u001b[0m ${'x'.repeat(1_000)}` }, { json: () => {}, done: () => {} }, out)
    expect(out.skipped[0]!.message).toContain('bad \\u001b[0m')
    expect(out.skipped[0]!.message.length).toBeLessThan(200)
  })
})
