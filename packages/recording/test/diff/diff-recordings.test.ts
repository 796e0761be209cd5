import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { EndKind, HeaderPair, Recording } from 'streamfold/recording'
import { align } from '../../src/diff/align.ts'
import { CHANGES } from '../../src/diff/change.ts'
import type { ChangeCode } from '../../src/diff/change.ts'
import { diffRecordings } from '../../src/diff/diff-recordings.ts'
import { formatRecordings, parseRecordings } from '../../src/file/recording-file.ts'

const SEED = 20261130

interface Made {
  readonly status?: number
  readonly headers?: readonly HeaderPair[]
  readonly end?: EndKind
  /** Milliseconds of each read; by default all at once. */
  readonly times?: readonly number[]
  readonly timing?: 'none'
}

function made(
  reads: readonly string[],
  { status = 200, headers = [['content-type', 'text/event-stream']], end = 'complete', times, timing }: Made = {},
): Recording {
  const at = (index: number): number => (times?.[index] ?? 1) * 1000
  const text = formatRecordings([
    {
      lines: [
        { t: 'head', ...(timing !== undefined && { timing }) },
        { t: 'res', atUs: 0, status, headers },
        ...reads.map((read, index) => ({ t: 'b' as const, atUs: at(index), bytes: Buffer.from(read) })),
        { t: 'end', atUs: at(reads.length - 1), kind: end },
      ],
    },
  ])
  return parseRecordings(Buffer.from(text))[0]!
}

const delta = (content: string): string =>
  `data: {"choices":[{"index":0,"delta":{"content":"${content}"},"finish_reason":null}]}\n\n`
const call = (args: string): string =>
  `data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"add","arguments":${JSON.stringify(args)}}}]},"finish_reason":null}]}\n\n`
const FINISH = 'data: {"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}\n\n'
const DONE = 'data: [DONE]\n\n'
const STREAM = [': ping\n\n', delta('Hi'), call('{"a":1}'), FINISH, DONE]
const BODY = STREAM.join('')

const codes = (entry: string, upstream: string = BODY): readonly ChangeCode[] =>
  diffRecordings(made([entry]), made([upstream])).changes.map(({ code }) => code)

describe('what a hop did', () => {
  test('nothing', () => {
    expect(diffRecordings(made(STREAM), made([BODY]))).toMatchObject({
      same: true,
      sameMeaning: true,
      first: { byte: null, event: null, delta: null, call: null },
      changes: [],
      outcome: { entry: 'completed', upstream: 'completed' },
    })
  })

  test.each<{ name: string; entry: string; upstream?: string; changes: readonly ChangeCode[] }>([
    { name: 'LF became CRLF', entry: BODY.replaceAll('\n', '\r\n'), changes: ['line_ends_rewritten'] },
    {
      name: 'comments dropped with their empty lines',
      entry: BODY.replace(': ping\n\n', ''),
      changes: ['comments_dropped'],
    },
    { name: 'comments added', entry: `: wait\n\n: wait\n\n${BODY}`, changes: ['comments_added'] },
    { name: 'a byte order mark added', entry: `\ufeff${BODY}`, changes: ['bom_added'] },
    { name: 'a byte order mark dropped', entry: BODY, upstream: `\ufeff${BODY}`, changes: ['bom_dropped'] },
    { name: 'empty lines doubled', entry: BODY.replaceAll('\n\n', '\n\n\n'), changes: ['empty_lines_added'] },
    {
      name: 'empty lines merged',
      entry: BODY,
      upstream: BODY.replaceAll('\n\n', '\n\n\n'),
      changes: ['empty_lines_merged'],
    },
    {
      name: 'the empty line between two events lost',
      entry: BODY.replace(`${delta('Hi').trimEnd()}\n\n`, `${delta('Hi').trimEnd()}\n`),
      changes: ['events_merged'],
    },
    {
      name: 'an event of two lines split',
      entry: 'data: 1\n\ndata: 2\n\n',
      upstream: 'data: 1\ndata: 2\n\n',
      changes: ['events_split'],
    },
    { name: 'an event dropped', entry: BODY.replace(delta('Hi'), ''), changes: ['events_dropped'] },
    {
      name: 'an event injected',
      entry: BODY.replace(FINISH, `data: {"own":1}\n\n${FINISH}`),
      changes: ['events_injected'],
    },
    { name: 'an event changed', entry: BODY.replace('"Hi"', '"Ho"'), changes: ['events_changed'] },
    {
      name: 'JSON written anew',
      entry: BODY.replace(
        /\{"choices":\[\{"index":0,"delta":\{"content":"Hi"\}/,
        '{ "choices": [{"delta":{"content":"Hi"},"index":0',
      ),
      changes: ['json_rewritten'],
    },
    {
      name: 'an event name added',
      entry: BODY.replace('data: [DONE]', 'event: end\ndata: [DONE]'),
      changes: ['event_names_changed'],
    },
    { name: 'an id added', entry: `id: 7\n${BODY}`, changes: ['event_names_changed'] },
    { name: 'the sentinel left out', entry: BODY.replace(DONE, ''), changes: ['truncated'] },
    { name: 'cut in an event', entry: BODY.slice(0, BODY.indexOf('finish_reason":"tool')), changes: ['truncated'] },
    {
      name: 'a space behind the colon lost',
      entry: BODY.replace('data: [DONE]', 'data:[DONE]'),
      changes: ['bytes_changed'],
    },
    {
      name: 'JSON lines',
      entry: '{"a":1}\n{"a":3}\n',
      upstream: '{"a":1}\n{"a":2}\n{"a":3}\n',
      changes: ['events_dropped'],
    },
  ])('$name', ({ entry, upstream, changes }) => {
    expect(codes(entry, upstream)).toEqual(changes)
  })

  test('head and end', () => {
    const headers: readonly HeaderPair[] = [
      ['Content-Type', 'text/html'],
      ['x-request-id', '1'],
      ['X-New', 'n'],
      ['date', 'other'],
      ['connection', 'close'],
    ]
    const before: readonly HeaderPair[] = [
      ['content-type', 'text/event-stream'],
      ['x-request-id', '1'],
      ['x-old', 'o'],
      ['content-encoding', 'gzip'],
    ]
    const { changes, same } = diffRecordings(
      made([BODY], { status: 502, headers, end: 'reset' }),
      made([BODY], { headers: before }),
    )
    expect(same).toBe(false)
    expect(changes.map(({ code, message }) => [code, message])).toEqual([
      ['status_changed', `${CHANGES.status_changed}: 200 became 502`],
      ['content_type_changed', `${CHANGES.content_type_changed}: text/event-stream became text/html`],
      ['coding_changed', `${CHANGES.coding_changed}: gzip became none`],
      ['headers_changed', `${CHANGES.headers_changed}: x-old dropped, x-new added`],
      ['end_changed', `${CHANGES.end_changed}: complete became reset`],
    ])
  })
})

describe('where it begins', () => {
  test('byte, event, delta and call, each by itself', () => {
    const { first, sameMeaning } = diffRecordings(made([BODY.replace('{\\"a\\":1}', '{\\"a\\":2}')]), made([BODY]))
    expect(first.byte!.at).toBe(BODY.indexOf('1}"'))
    expect(first.event).toMatchObject({ at: 2 })
    expect(first.delta).toMatchObject({ entry: expect.stringContaining('tool_call_arguments_delta') as string })
    expect(first.call!.at).toBe(1)
    expect(first.call!.entry).toContain(String.raw`{\"a\":2}`)
    expect(sameMeaning).toBe(false)
  })

  test('other bytes, same meaning', () => {
    const { first, same, sameMeaning } = diffRecordings(made([BODY.replaceAll('\n', '\r\n')]), made([BODY]))
    expect([same, sameMeaning]).toEqual([false, true])
    expect(first.byte!.at).toBe(6)
    expect([first.event, first.delta, first.call]).toEqual([null, null, null])
  })

  test('a stream that is over', () => {
    const { first } = diffRecordings(made([BODY.replace(DONE, '')]), made([BODY]))
    expect(first.byte).toMatchObject({ entry: null, upstream: 'data: [DONE]\\n\\n' })
    expect(first.event).toEqual({ at: 4, entry: null, upstream: '[DONE]' })
  })

  test('the place of a change is that of the upstream', () => {
    const { changes } = diffRecordings(made([BODY.replace(call('{"a":1}'), '')]), made([BODY]))
    expect(changes).toMatchObject([
      { code: 'events_dropped', count: 1, event: 2, offset: BODY.indexOf(call('{"a":1}')) },
    ])
  })
})

describe('times, apart', () => {
  const times = [10, 200, 400, 600, 800]
  test.each<{ name: string; entry: readonly number[]; verdict: string }>([
    { name: 'as they came', entry: [12, 203, 401, 609, 801], verdict: 'pass_through' },
    { name: 'later by the same', entry: times.map((time) => time + 250), verdict: 'delayed' },
    { name: 'one held up', entry: [12, 203, 590, 609, 801], verdict: 'uneven' },
    { name: 'two by two', entry: [200, 200, 200, 800, 800], verdict: 'joined' },
    { name: 'all at the end', entry: [805, 805, 805, 806, 806], verdict: 'buffered_until_end' },
  ])('$name: $verdict', ({ entry, verdict }) => {
    const diff = diffRecordings(made(STREAM, { times: entry }), made(STREAM, { times }))
    expect(diff.timing!.verdict).toBe(verdict)
    expect(diff.same).toBe(true)
  })

  test('delays', () => {
    const diff = diffRecordings(made(STREAM, { times: times.map((time, at) => time + at) }), made(STREAM, { times }))
    expect(diff.timing).toMatchObject({
      events: 4,
      delayMs: { min: 1, median: 3, max: 4 },
      reads: { entry: 4, upstream: 4 },
    })
  })

  test('nothing to say without times', () => {
    expect(diffRecordings(made(STREAM, { timing: 'none' }), made(STREAM)).timing).toBeNull()
  })
})

function longest(a: readonly string[], b: readonly string[]): number {
  if (a.length === 0 || b.length === 0) return 0
  const row = Array.from({ length: b.length + 1 }, () => 0)
  for (const one of a) {
    let diagonal = 0
    for (let j = 1; j <= b.length; j++) {
      const above = row[j]!
      row[j] = one === b[j - 1] ? diagonal + 1 : Math.max(above, row[j - 1]!)
      diagonal = above
    }
  }
  return row.at(-1)!
}

describe('align', () => {
  test('is a longest common subsequence, in order and without gaps', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 12 }),
        fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 12 }),
        (a, b) => {
          const stretches = align(a, b)
          let [atA, atB] = [0, 0]
          let common = 0
          for (const {
            equal,
            a: [fromA, toA],
            b: [fromB, toB],
          } of stretches) {
            expect([fromA, fromB]).toEqual([atA, atB])
            const ours = a.slice(fromA, toA)
            expect(ours).toEqual(equal ? b.slice(fromB, toB) : ours)
            if (equal) common += ours.length
            ;[atA, atB] = [toA, toB]
          }
          expect([atA, atB]).toEqual([a.length, b.length])
          expect(common).toBe(longest(a, b))
        },
      ),
      { seed: SEED, numRuns: 1000 },
    )
  })

  test('long lists that differ everywhere are one stretch', () => {
    const a = Array.from({ length: 3000 }, (_, at) => `a${at}`)
    const b = Array.from({ length: 3000 }, (_, at) => `b${at}`)
    expect(align(a, b)).toEqual([{ equal: false, a: [0, 3000], b: [0, 3000] }])
  })
})
