import { describe, expect, test } from 'vitest'
import { looksLikeRecording, readRecordings, RecordingError } from '../../src/recording/index.ts'
import type { Recording, RecordingErrorCode } from '../../src/recording/index.ts'
import { base64Read, HEAD, lines, read } from './recording-lines.ts'

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text)

function only(source: string | Uint8Array): Recording {
  const recordings = readRecordings(source)
  expect(recordings).toHaveLength(1)
  return recordings[0]!
}

function bodyOf({ reads }: Recording): string {
  return new TextDecoder().decode(Uint8Array.from(reads.flatMap(({ bytes }) => [...bytes])))
}

describe('a whole recording', () => {
  const text = lines(
    '{"t":"head","format":"streamfold/recording","v":1,"id":"01J","created":"2026-11-30T15:02:55.531Z","by":"test","clock":"monotonic-us","level":"http-data","body":"decoded","api":"chat_completions","labels":{"case":"a"}}',
    '{"t":"req","at":0,"method":"POST","url":"https://a.example/v1/chat/completions","http":"1.1","headers":[["content-type","application/json"]],"s":"{\\"n\\":2}"}',
    '{"t":"info","at":5,"status":103}',
    '{"t":"res","at":512340,"status":200,"reason":"OK","headers":[["Content-Type","text/event-stream"],["X-A","1"],["X-A","2"]]}',
    read(512902, 0, 'data: a'),
    base64Read(530118, 7, 0xe2, 0x82),
    base64Read(530119, 9, 0xac),
    '{"t":"call","at":901220,"call":"call_1","state":"authorized"}',
    '{"t":"end","at":912001,"kind":"complete","bytes":10,"sha256":"ab","reads":3}',
    '{"t":"note","at":912002,"s":"after the end"}',
  )
  const recording = only(text)

  test('has its head, request and response', () => {
    expect(recording.head).toEqual({
      t: 'head',
      line: 1,
      version: 1,
      id: '01J',
      created: '2026-11-30T15:02:55.531Z',
      by: 'test',
      level: 'http-data',
      body: 'decoded',
      timing: 'exact',
      api: 'chat_completions',
      other: { clock: 'monotonic-us', labels: { case: 'a' } },
    })
    expect(recording.request).toEqual({
      t: 'req',
      line: 2,
      atUs: 0,
      method: 'POST',
      url: 'https://a.example/v1/chat/completions',
      headers: [['content-type', 'application/json']],
      body: utf8('{"n":2}'),
      other: { http: '1.1' },
    })
    expect(recording.response).toEqual({
      t: 'res',
      line: 4,
      atUs: 512340,
      status: 200,
      headers: [
        ['Content-Type', 'text/event-stream'],
        ['X-A', '1'],
        ['X-A', '2'],
      ],
      other: { reason: 'OK' },
    })
  })

  test('has its bytes, read by read, whether written as text or as base64', () => {
    expect(recording.reads.map(({ atUs, offset, bytes }) => [atUs, offset, [...bytes]])).toEqual([
      [512902, 0, [...utf8('data: a')]],
      [530118, 7, [0xe2, 0x82]],
      [530119, 9, [0xac]],
    ])
    expect(bodyOf(recording)).toBe('data: a€')
  })

  test('has its end', () => {
    expect(recording.end).toEqual({ t: 'end', line: 9, atUs: 912001, kind: 'complete', sha256: 'ab' })
    expect(recording.tornLine).toBeUndefined()
  })

  test('keeps every line in file order, with what it does not interpret', () => {
    expect(recording.lines.map((line) => (line.t === 'other' ? `other ${line.type}` : line.t))).toEqual([
      'head',
      'req',
      'other info',
      'res',
      'b',
      'b',
      'b',
      'other call',
      'end',
      'other note',
    ])
    expect(recording.lines[2]).toEqual({ t: 'other', type: 'info', line: 3, other: { at: 5, status: 103 } })
  })

  test('reads the same from bytes', () => {
    expect(only(utf8(text))).toEqual(recording)
  })
})

describe('what is tolerated', () => {
  test('unknown lines and keys', () => {
    const recording = only(lines(HEAD, '{"t":"ws","dir":"in"}', '{"t":"b","at":1,"off":0,"s":"a","hc":1,"x-own":[1]}'))
    expect(recording.lines[1]).toEqual({ t: 'other', type: 'ws', line: 2, other: { dir: 'in' } })
    expect(recording.reads[0]!.other).toEqual({ hc: 1, 'x-own': [1] })
  })

  test('no end line: the recorder died', () => {
    expect(only(lines(HEAD, read(1, 0, 'a'))).end).toBeUndefined()
  })

  test('no response line', () => {
    expect(only(lines(HEAD, read(1, 0, 'a'))).response).toBeUndefined()
  })

  test('a request whose body was not recorded', () => {
    const { request } = only(lines(HEAD, '{"t":"req","at":0,"len":12,"sha256":"ab"}'))
    expect(request).toEqual({ t: 'req', line: 2, atUs: 0, headers: [], bodyLength: 12, bodySha256: 'ab' })
  })

  test('blank lines, CRLF line ends and a byte order mark', () => {
    expect(bodyOf(only(`\ufeff${HEAD}\r\n\r\n${read(1, 0, 'a')}\r\n`))).toBe('a')
    expect(bodyOf(only(utf8(`\ufeff${HEAD}\n\n${read(1, 0, 'a')}\n`)))).toBe('a')
  })

  test('a last line without a line end that is whole', () => {
    const recording = only(`${lines(HEAD)}${read(1, 0, 'a')}`)
    expect([bodyOf(recording), recording.tornLine]).toEqual(['a', undefined])
  })

  test.each(Array.from({ length: read(2, 1, 'é').length - 1 }, (_, kept) => kept + 1))(
    'a last line of which only %i characters were written',
    (kept) => {
      const recording = only(`${lines(HEAD, read(1, 0, 'a'))}${read(2, 1, 'é').slice(0, kept)}`)
      expect([bodyOf(recording), recording.tornLine]).toEqual(['a', 3])
    },
  )

  test('a last line torn inside a character', () => {
    const whole = utf8(lines(HEAD, read(1, 0, 'a')))
    const torn = utf8('{"t":"b","at":2,"off":1,"len":3,"s":"€').slice(0, -1)
    expect(only(Uint8Array.from([...whole, ...torn])).tornLine).toBe(3)
  })

  test('times that are missing where the head says that they mean nothing', () => {
    const head = '{"t":"head","format":"streamfold/recording","v":1,"timing":"none"}'
    expect(only(lines(head, '{"t":"b","off":0,"s":"a"}')).reads[0]!.atUs).toBe(0)
  })
})

describe('several exchanges in one file', () => {
  test('each head begins a new one', () => {
    const recordings = readRecordings(
      lines(
        HEAD,
        read(9, 0, 'a'),
        '{"t":"end","at":9,"kind":"reset"}',
        HEAD,
        read(1, 0, 'bc'),
        '{"t":"end","kind":"complete"}',
      ),
    )
    expect(recordings.map((recording) => [recording.head.line, bodyOf(recording), recording.end?.kind])).toEqual([
      [1, 'a', 'reset'],
      [4, 'bc', 'complete'],
    ])
  })

  test('an exchange without an end line may stand before another', () => {
    const recordings = readRecordings(lines(HEAD, read(9, 0, 'a'), HEAD))
    expect(recordings.map(({ end, reads }) => [end, reads.length])).toEqual([
      [undefined, 1],
      [undefined, 0],
    ])
  })
})

describe('prototypes', () => {
  test('a key __proto__ is refused, however it is spelled and however deep it is', () => {
    for (const bad of ['{"t":"note","__proto__":{"polluted":1}}', '{"t":"note","a":[{"\\u005f_proto__":1}]}']) {
      expect(errorOf(lines(HEAD, bad))).toMatchObject({ code: 'invalid_json', line: 2 })
    }
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
  })

  test('what others put on Object.prototype is no field of a line', () => {
    // eslint-disable-next-line no-extend-native -- a polluted prototype is what this test is about
    Object.defineProperty(Object.prototype, 'x', { value: 'YQ==', configurable: true })
    try {
      expect(bodyOf(only(lines(HEAD, read(1, 0, 'b'))))).toBe('b')
    } finally {
      delete (Object.prototype as { x?: string }).x
    }
  })

  test('names of Object.prototype are keys like any other, and never fields', () => {
    const recording = only(lines(HEAD, '{"t":"note","constructor":1,"toString":2,"hasOwnProperty":3}'))
    expect(recording.lines[1]).toMatchObject({ other: { constructor: 1, toString: 2, hasOwnProperty: 3 } })
  })
})

function errorOf(source: string | Uint8Array): RecordingError {
  try {
    readRecordings(source)
  } catch (error) {
    if (error instanceof RecordingError) return error
    throw error
  }
  throw new Error('nothing was thrown')
}

/** Two reads and an end line with a hash. */
function hashed(sha256: string): string {
  return lines(HEAD, read(1, 0, 'a'), read(2, 1, 'b'), `{"t":"end","at":2,"kind":"complete","sha256":"${sha256}"}`)
}

/** Stands for a hash. */
function lengths(reads: readonly Uint8Array[]): string {
  return reads.map((bytes) => String(bytes.length)).join('-')
}

interface Row {
  readonly name: string
  readonly source: string | Uint8Array
  readonly code: RecordingErrorCode
  readonly line: number
  readonly reason: RegExp
}
const bad = (
  name: string,
  line: number,
  code: RecordingErrorCode,
  reason: RegExp,
  source: string | Uint8Array,
): Row => ({ name, source, code, line, reason })

describe('what is refused, with line and reason', () => {
  const rows: readonly Row[] = [
    bad('nothing at all', 1, 'not_a_recording', /the file is empty/, ''),
    bad('blank lines alone', 1, 'not_a_recording', /the file is empty/, ' \n\n'),
    bad('a torn head', 1, 'not_a_recording', /no head line/, HEAD.slice(0, 20)),
    bad('a line before the head', 1, 'not_a_recording', /no head line/, lines(read(1, 0, 'a'), HEAD)),
    bad('another format', 1, 'not_a_recording', /streamfold\/recording/, lines('{"t":"head","format":"other","v":1}')),
    bad(
      'a newer version',
      1,
      'unsupported_version',
      /version 2.*up to 1/,
      lines('{"t":"head","format":"streamfold/recording","v":2}'),
    ),
    bad(
      'a version that is no number',
      1,
      'invalid_field',
      /"v"/,
      lines('{"t":"head","format":"streamfold/recording","v":"1"}'),
    ),
    bad('no version', 1, 'invalid_field', /"v"/, lines('{"t":"head","format":"streamfold/recording"}')),
    bad('a line that is not JSON', 2, 'invalid_json', /not JSON/, lines(HEAD, 'data: {}', read(1, 0, 'a'))),
    bad(
      'a torn line that is not the last',
      2,
      'invalid_json',
      /ends at offset/,
      lines(HEAD, read(1, 0, 'a').slice(0, -3), read(1, 0, 'a')),
    ),
    bad(
      'a last line that is broken but has its line end',
      2,
      'invalid_json',
      /ends at offset/,
      lines(HEAD, '{"t":"b"'),
    ),
    bad('a line that is no object', 2, 'invalid_json', /not a JSON object/, lines(HEAD, '[1]')),
    bad(
      'a key twice',
      2,
      'invalid_json',
      /a key twice at \/off/,
      lines(HEAD, '{"t":"b","at":1,"off":0,"off":0,"s":"a"}'),
    ),
    bad(
      'nesting without end',
      2,
      'invalid_json',
      /deeper than 64/,
      lines(HEAD, `{"t":"note","a":${'['.repeat(100)}${']'.repeat(100)}}`),
    ),
    bad('no line type', 2, 'invalid_field', /"t" is missing/, lines(HEAD, '{"at":1}')),
    bad(
      'an offset that skips bytes',
      3,
      'offset_gap',
      /"off" is 3 where 1 is due: 2 bytes are missing/,
      lines(HEAD, read(1, 0, 'a'), read(2, 3, 'b')),
    ),
    bad(
      'an offset that skips one byte',
      3,
      'offset_gap',
      /"off" is 2 where 1 is due: 1 byte is missing/,
      lines(HEAD, read(1, 0, 'a'), read(2, 2, 'b')),
    ),
    bad(
      'an offset that repeats bytes',
      3,
      'offset_gap',
      /1 byte comes twice/,
      lines(HEAD, read(1, 0, 'ab'), read(2, 1, 'c')),
    ),
    bad('a first read that does not begin the body', 2, 'offset_gap', /where 0 is due/, lines(HEAD, read(1, 5, 'a'))),
    bad('no offset', 2, 'invalid_field', /"off" is missing/, lines(HEAD, '{"t":"b","at":1,"s":"a"}')),
    bad(
      'a negative offset',
      2,
      'invalid_field',
      /"off" must be an integer/,
      lines(HEAD, '{"t":"b","at":1,"off":-1,"s":"a"}'),
    ),
    bad(
      'a fraction of a microsecond',
      2,
      'invalid_field',
      /"at" must be an integer/,
      lines(HEAD, '{"t":"b","at":1.5,"off":0,"s":"a"}'),
    ),
    bad(
      'a time beyond 2^53',
      2,
      'invalid_field',
      /"at" must be an integer/,
      lines(HEAD, '{"t":"b","at":9007199254740993,"off":0,"s":"a"}'),
    ),
    bad('no time', 2, 'invalid_field', /"at" is missing/, lines(HEAD, '{"t":"b","off":0,"s":"a"}')),
    bad(
      'a time that runs backwards',
      3,
      'invalid_field',
      /"at" is 4, earlier than 5/,
      lines(HEAD, read(5, 0, 'a'), read(4, 1, 'b')),
    ),
    bad(
      'a read without bytes',
      2,
      'invalid_field',
      /"s" or "x" is missing/,
      lines(HEAD, '{"t":"b","at":1,"off":0,"len":1}'),
    ),
    bad(
      'a read with text and base64',
      2,
      'invalid_field',
      /exclude each other/,
      lines(HEAD, '{"t":"b","at":1,"off":0,"s":"a","x":"YQ=="}'),
    ),
    bad(
      'text that is no text',
      2,
      'invalid_field',
      /"s" must be a text/,
      lines(HEAD, '{"t":"b","at":1,"off":0,"s":{}}'),
    ),
    bad('broken base64', 2, 'invalid_field', /"x" is not base64/, lines(HEAD, '{"t":"b","at":1,"off":0,"x":"YQ="}')),
    bad(
      'base64 with line breaks',
      2,
      'invalid_field',
      /"x" is not base64/,
      lines(HEAD, '{"t":"b","at":1,"off":0,"x":"YW\\nJj"}'),
    ),
    bad(
      'a length that is wrong',
      2,
      'content_mismatch',
      /"len" says 9 bytes, the line holds 1/,
      lines(HEAD, '{"t":"b","at":1,"off":0,"len":9,"s":"a"}'),
    ),
    bad(
      'a length of one that is wrong',
      2,
      'content_mismatch',
      /"len" says 1 byte, the line holds 2/,
      lines(HEAD, '{"t":"b","at":1,"off":0,"len":1,"s":"ab"}'),
    ),
    bad(
      'text with a lone surrogate',
      2,
      'invalid_field',
      /"s" holds half of a surrogate pair/,
      lines(HEAD, '{"t":"b","at":1,"off":0,"len":3,"s":"\\ud800"}'),
    ),
    bad(
      'a request with a lone surrogate',
      2,
      'invalid_field',
      /"s" holds half of a surrogate pair/,
      lines(HEAD, '{"t":"req","at":1,"headers":[],"s":"a\\udc00b"}'),
    ),
    bad(
      'an unknown end',
      2,
      'invalid_field',
      /"kind" is "eof"; known are complete, cut/,
      lines(HEAD, '{"t":"end","at":1,"kind":"eof"}'),
    ),
    bad('an end without a kind', 2, 'invalid_field', /"kind" is missing/, lines(HEAD, '{"t":"end","at":1}')),
    bad(
      'an end that counts other bytes',
      3,
      'content_mismatch',
      /"bytes" is 2, the recording holds 1/,
      lines(HEAD, read(1, 0, 'a'), '{"t":"end","at":1,"kind":"complete","bytes":2}'),
    ),
    bad(
      'an end that counts other reads',
      3,
      'content_mismatch',
      /"reads" is 2, the recording holds 1/,
      lines(HEAD, read(1, 0, 'a'), '{"t":"end","at":1,"kind":"complete","reads":2}'),
    ),
    bad(
      'a read after the end',
      3,
      'out_of_order',
      /"b" comes after the end/,
      lines(HEAD, '{"t":"end","at":1,"kind":"complete"}', read(2, 0, 'a')),
    ),
    bad(
      'two ends',
      3,
      'out_of_order',
      /"end" comes after the end/,
      lines(HEAD, '{"t":"end","at":1,"kind":"complete"}', '{"t":"end","at":1,"kind":"cut"}'),
    ),
    bad(
      'two responses',
      3,
      'out_of_order',
      /"res" comes twice/,
      lines(HEAD, '{"t":"res","at":1,"status":200}', '{"t":"res","at":1,"status":200}'),
    ),
    bad(
      'a response after the first read',
      3,
      'out_of_order',
      /after the first read/,
      lines(HEAD, read(1, 0, 'a'), '{"t":"res","at":1,"status":200}'),
    ),
    bad(
      'two requests',
      3,
      'out_of_order',
      /"req" comes twice/,
      lines(HEAD, '{"t":"req","at":0}', '{"t":"req","at":0}'),
    ),
    bad('a status that is none', 2, 'invalid_field', /"status"/, lines(HEAD, '{"t":"res","at":1,"status":20}')),
    bad(
      'headers as an object',
      2,
      'invalid_field',
      /"headers"/,
      lines(HEAD, '{"t":"res","at":1,"status":200,"headers":{"a":"b"}}'),
    ),
    bad(
      'a header with a number',
      2,
      'invalid_field',
      /"headers"/,
      lines(HEAD, '{"t":"res","at":1,"status":200,"headers":[["a",1]]}'),
    ),
    bad(
      'bytes that are not UTF-8',
      2,
      'invalid_utf8',
      /not UTF-8/,
      Uint8Array.from([...utf8(lines(HEAD)), 0xff, 0x0a, 0x0a]),
    ),
    bad('a line without end', 2, 'line_too_long', /16777216/, `${lines(HEAD)}${'a'.repeat(16 * 1024 * 1024 + 1)}`),
  ]

  test.each(rows)('$name', ({ source, code, line, reason }) => {
    const error = errorOf(source)
    expect({ code: error.code, line: error.line }).toEqual({ code, line })
    expect(error.message).toMatch(reason)
    expect(error.message.startsWith(`line ${line}: `)).toBe(true)
  })

  test('the hash of the end line, where a hash function is given', () => {
    expect(readRecordings(hashed('1-1'), { sha256: lengths })).toHaveLength(1)
    expect(() => readRecordings(hashed('2'), { sha256: lengths })).toThrow(
      /line 4: "sha256" is 2, that of the reads is 1-1/,
    )
  })

  test('a wire value in a reason is clipped and made printable', () => {
    const error = errorOf(lines(HEAD, JSON.stringify({ t: 'end', at: 1, kind: `\u001b[2J${'x'.repeat(500)}` })))
    expect(error.message).not.toContain('\u001b')
    expect(error.message.length).toBeLessThan(200)
  })
})

test('a recording is told from a bare body by its first line', () => {
  expect(looksLikeRecording(lines(HEAD))).toBe(true)
  expect(looksLikeRecording(utf8(`\n${lines(HEAD, 'corrupt further on')}`))).toBe(true)
  expect(looksLikeRecording('{"t":"head","format":"streamfold/recording","v":99}')).toBe(true)
  for (const body of [
    '',
    'data: {"choices":[]}\n\n',
    '{"choices":[]}',
    '{\n "t": "head"\n}',
    '{"t":"head"}\n',
    '\0\0\0',
    'null\n',
  ]) {
    expect(looksLikeRecording(body)).toBe(false)
    expect(looksLikeRecording(utf8(body))).toBe(false)
  }
})
