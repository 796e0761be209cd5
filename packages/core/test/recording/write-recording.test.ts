import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { MAX_READ_BYTES, readRecordings, requestFactsOf, writeRecordings } from '../../src/recording/index.ts'
import type { LineToWrite, Recording, RunningHash } from '../../src/recording/index.ts'
import { base64Read, HEAD, lines, read } from './recording-lines.ts'

const SEED = 20261130
const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text)

/** Stands for SHA-256, so that these tests run wherever the core does: the order and the value of every byte count. */
const sha256 = (): RunningHash => {
  let state = 7
  return {
    update: (bytes) => {
      for (const byte of bytes) state = (Math.imul(state, 31) + byte + 1) | 0
    },
    hex: () => (state >>> 0).toString(16).padStart(64, '0'),
  }
}
const sha256Of = (reads: readonly Uint8Array[]): string => {
  const hash = sha256()
  for (const bytes of reads) hash.update(bytes)
  return hash.hex()
}

const at = (atUs: number): LineToWrite => ({ t: 'b', atUs, bytes: utf8('a') })

const write = (...all: readonly LineToWrite[]): string => writeRecordings([{ lines: all }], { sha256 })

/** What a rewrite must keep: everything but the numbers of the lines. */
function unnumbered(recordings: readonly Recording[]): unknown {
  return JSON.parse(
    JSON.stringify(
      recordings.map(({ lines: all }) => all),
      (key, value: unknown) => (key === 'line' ? undefined : value instanceof Uint8Array ? [...value] : value),
    ),
  )
}

describe('lines', () => {
  test('a whole exchange, to the letter', () => {
    expect(
      write(
        { t: 'head', id: 'r1', created: '2026-11-30T15:02:55.531Z', level: 'http-data', other: { labels: { a: 'b' } } },
        { t: 'req', atUs: 0, method: 'POST', url: 'https://a.example/v1', headers: [['A', '1']], body: utf8('{}') },
        { t: 'other', type: 'info', other: { at: 3, status: 103 } },
        { t: 'res', atUs: 5, status: 200, headers: [['X', '1']], other: { reason: 'OK' } },
        { t: 'b', atUs: 6, bytes: utf8('data: é') },
        { t: 'b', atUs: 7, bytes: Uint8Array.of(0xe2, 0x82) },
        { t: 'end', atUs: 9, kind: 'cut', code: 'UND_ERR_SOCKET' },
      ),
    ).toBe(
      lines(
        '{"t":"head","format":"streamfold/recording","v":1,"id":"r1","created":"2026-11-30T15:02:55.531Z","level":"http-data","body":"decoded","labels":{"a":"b"}}',
        '{"t":"req","at":0,"method":"POST","url":"https://a.example/v1","headers":[["A","1"]],"len":2,"s":"{}"}',
        '{"t":"info","at":3,"status":103}',
        '{"t":"res","at":5,"status":200,"headers":[["X","1"]],"reason":"OK"}',
        '{"t":"b","at":6,"off":0,"len":8,"s":"data: é"}',
        '{"t":"b","at":7,"off":8,"len":2,"x":"4oI="}',
        `{"t":"end","at":9,"kind":"cut","code":"UND_ERR_SOCKET","bytes":10,"reads":2,"sha256":"${sha256Of([utf8('data: é'), Uint8Array.of(0xe2, 0x82)])}"}`,
      ),
    )
  })

  test.each([
    { name: 'a byte order mark stays', bytes: [0xef, 0xbb, 0xbf, 0x61], field: '"s":"\ufeffa"' },
    { name: 'half a character is base64', bytes: [0xf0, 0x9f], field: '"x":"8J8="' },
    { name: 'an encoded surrogate is no UTF-8', bytes: [0xed, 0xa0, 0x80], field: '"x":"7aCA"' },
    { name: 'an overlong form is no UTF-8', bytes: [0xc0, 0x80], field: '"x":"wIA="' },
    { name: 'control characters would grow sixfold', bytes: [0, 0, 0, 0], field: '"x":"AAAAAA=="' },
    { name: 'a line separator stands as it is', bytes: [0xe2, 0x80, 0xa8], field: '"s":"\u2028"' },
    { name: 'no bytes at all', bytes: [], field: '"s":""' },
  ])('$name', ({ bytes, field }) => {
    const text = write({ t: 'head' }, { t: 'b', atUs: 0, bytes: Uint8Array.from(bytes) })
    expect(text).toContain(`"len":${bytes.length},${field}}`)
    expect([...readRecordings(text)[0]!.reads[0]!.bytes]).toEqual(bytes)
  })

  test('a read that is too long for one line becomes several of the same time', () => {
    for (const fill of [0x61, 0x00, 0xff]) {
      const bytes = new Uint8Array(MAX_READ_BYTES + 1).fill(fill)
      const text = write({ t: 'head' }, { t: 'b', atUs: 7, bytes }, { t: 'end', atUs: 8, kind: 'complete' })
      const { reads } = readRecordings(text, { sha256: sha256Of })[0]!
      expect(reads.map(({ atUs, bytes: { length } }) => [atUs, length])).toEqual([
        [7, MAX_READ_BYTES],
        [7, 1],
      ])
      expect(reads.every(({ bytes: piece }) => piece.every((byte) => byte === fill))).toBe(true)
    }
  })

  test('a request body that is too long for a line leaves its length and its hash', () => {
    const body = new Uint8Array(MAX_READ_BYTES + 1)
    const { request } = readRecordings(write({ t: 'head' }, { t: 'req', atUs: 0, headers: [], body }))[0]!
    expect(request).toMatchObject({ bodyLength: body.length, bodySha256: sha256Of([body]) })
    expect(request!.body).toBeUndefined()
  })

  test('each exchange has a hash and offsets of its own', () => {
    const one: readonly LineToWrite[] = [
      { t: 'head' },
      { t: 'b', atUs: 1, bytes: utf8('a') },
      { t: 'end', atUs: 1, kind: 'complete' },
    ]
    const text = writeRecordings([{ lines: one }, { lines: one }], { sha256 })
    expect(readRecordings(text, { sha256: sha256Of })).toHaveLength(2)
  })

  test('a key that is interpreted stands once', () => {
    const text = write({ t: 'head' }, { t: 'b', atUs: 1, bytes: utf8('a'), other: { off: 9, hc: 1 } })
    expect(text).toContain('{"t":"b","at":1,"off":0,"len":1,"s":"a","hc":1}')
  })
})

describe('what a reader would refuse is a mistake of the caller', () => {
  const head: LineToWrite = { t: 'head' }
  const end: LineToWrite = { t: 'end', atUs: 0, kind: 'complete' }
  const request: LineToWrite = { t: 'req', atUs: 0, headers: [] }
  const response: LineToWrite = { t: 'res', atUs: 0, status: 200, headers: [] }
  test.each<{ name: string; all: readonly LineToWrite[]; says: RegExp }>([
    { name: 'no head', all: [request], says: /begins with its head/ },
    { name: 'no head before an unknown line', all: [{ t: 'other', type: 'note', other: {} }], says: /begins with its/ },
    { name: 'a line after the end', all: [head, end, at(1)], says: /"b" comes after the end line/ },
    { name: 'two requests', all: [head, request, request], says: /"req" comes after "req"/ },
    { name: 'a response after a read', all: [head, at(1), response], says: /"res" comes after "b"/ },
    { name: 'a clock that runs backwards', all: [head, at(2), at(1)], says: /atUs is 1, earlier than 2/ },
    { name: 'a time that is no integer', all: [head, at(0.5)], says: /atUs is 0.5; it must be an integer/ },
    { name: 'a time that is no number', all: [head, at(NaN)], says: /atUs is NaN/ },
  ])('$name', ({ all, says }) => {
    expect(() => write(...all)).toThrow(says)
    expect(() => write(...all)).toThrow(TypeError)
  })

  test('where times mean nothing, they may run backwards and are held', () => {
    const text = write({ t: 'head', timing: 'none' }, at(2), at(1))
    expect(readRecordings(text)[0]!.reads.map(({ atUs }) => atUs)).toEqual([2, 2])
  })
})

describe('a rewrite', () => {
  test('keeps lines and keys that are not understood, in their order', () => {
    const text = lines(
      '{"t":"head","format":"streamfold/recording","v":1,"body":"decoded","labels":{"a":[1]},"redaction":{"policy":"default@1"}}',
      '{"t":"req","at":0,"headers":[],"len":9,"sha256":"ab","facts":{"n":2}}',
      '{"t":"conn","dns":12}',
      '{"t":"res","at":1,"status":200,"headers":[["A","1"],["A","2"]],"http":"1.1"}',
      read(2, 0, 'a'),
      '{"t":"ws","dir":"in","deep":{"er":[{"x":null}]}}',
      base64Read(3, 1, 0xff),
      '{"t":"end","at":4,"kind":"complete","bytes":2,"reads":2,"sha256":"cd","redactions":[]}',
      '{"t":"note","s":"after the end"}',
    )
    const before = readRecordings(text)
    expect(writeRecordings(before)).toBe(text)
    expect(unnumbered(readRecordings(writeRecordings(before)))).toEqual(unnumbered(before))
  })
})

describe('properties', () => {
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 40 }),
    fc.string({ unit: 'binary', maxLength: 20 }).map(utf8),
    fc.constantFrom('\ufeff', '\0', '🙂', '\u2028', '\r\n', '"\\', 'data: {"a":"é"}\n\n').map(utf8),
  )

  test('any bytes, cut anywhere, come back read by read', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(bytes, fc.nat(1_000_000)), { maxLength: 12 }), (steps) => {
        let atUs = 0
        const reads = steps.map(([piece, gap]) => ({ t: 'b' as const, atUs: (atUs += gap), bytes: piece }))
        const text = write({ t: 'head' }, ...reads, { t: 'end', atUs, kind: 'complete' })
        const recording = readRecordings(utf8(text), { sha256: sha256Of })[0]!
        expect(recording.reads.map((one) => [one.atUs, [...one.bytes]])).toEqual(
          reads.map((one) => [one.atUs, [...one.bytes]]),
        )
        expect(writeRecordings([recording], { sha256 })).toBe(text)
      }),
      { seed: SEED, numRuns: 1000 },
    )
  })

  test('a file cut at any byte gives every line before the cut', () => {
    const body = 'data: {"a":"é🙂"}\n\n'
    const all: readonly LineToWrite[] = [
      { t: 'head' },
      { t: 'res', atUs: 1, status: 200, headers: [] },
      { t: 'b', atUs: 2, bytes: utf8(body).subarray(0, 13) },
      { t: 'b', atUs: 3, bytes: utf8(body).subarray(13) },
      { t: 'end', atUs: 4, kind: 'complete' },
    ]
    const file = utf8(write(...all))
    const firstLine = file.indexOf(0x0a) + 1
    for (let cut = firstLine; cut < file.length; cut++) {
      const [recording] = readRecordings(file.subarray(0, cut), { sha256: sha256Of })
      // A last line without its line end may still be whole.
      const whole = file.subarray(0, cut).filter((byte) => byte === 0x0a).length
      expect(recording!.lines.length - whole).toBe(file[cut] === 0x0a ? 1 : 0)
      expect(recording!.tornLine).toBe(file[cut] === 0x0a || file[cut - 1] === 0x0a ? undefined : whole + 1)
    }
  })

  test('a recorder that died, and another file laid behind it', () => {
    const second = write({ t: 'head', id: 'second' }, { t: 'end', atUs: 0, kind: 'complete' })
    const first = write({ t: 'head', id: 'first' }, { t: 'b', atUs: 1, bytes: utf8(HEAD) })
    for (let cut = first.indexOf('\n') + 1; cut < first.length; cut++) {
      const recordings = readRecordings(first.slice(0, cut) + second)
      expect(recordings.map(({ head: { id } }) => id)).toEqual(['first', 'second'])
      const inside = first[cut - 1] !== '\n'
      expect(recordings.map(({ tornLine }) => tornLine)).toEqual([inside ? 2 : undefined, undefined])
    }
  })
})

test('facts of the request stand in for its body', () => {
  const facts = { n: 2, maxOutputTokens: 5, tools: ['a'], usage: true }
  const text = write({ t: 'head' }, { t: 'req', atUs: 0, headers: [], bodyLength: 9, other: { facts } })
  expect(requestFactsOf(readRecordings(text)[0]!.request)).toEqual(facts)
  const odd = { n: 0, maxOutputTokens: '5', tools: ['a', 1], usage: 1 }
  const other = write({ t: 'head' }, { t: 'req', atUs: 0, headers: [], other: { facts: odd } })
  expect(requestFactsOf(readRecordings(other)[0]!.request)).toEqual({})
})

describe('long lines', () => {
  test('base64 of megabytes, which a regular expression could not take', () => {
    const bytes = new Uint8Array(6_000_001).fill(0xff)
    const text = lines(HEAD, JSON.stringify({ t: 'b', at: 0, off: 0, x: btoa('\u00ff'.repeat(bytes.length)) }))
    expect(readRecordings(text)[0]!.reads[0]!.bytes).toHaveLength(bytes.length)
  })
})
