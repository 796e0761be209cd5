import { gzipSync } from 'node:zlib'
import type { StreamReport } from 'streamfold'
import { describe, expect, test } from 'vitest'
import { inspectBytes, inspectFile } from '../src/commands/inspect.ts'
import { runProgram } from '../src/program.ts'
import { call, COMPLETED, CUT, delta, recording, sse, temporaryFolder, WITH_CALL } from './bodies.ts'
import { memoryIo, reads } from './memory-io.ts'

const write = temporaryFolder()
const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text)

function inspectOne(...args: Parameters<typeof inspectBytes>): StreamReport {
  const reports = inspectBytes(...args)
  expect(reports).toHaveLength(1)
  return reports[0]!
}

describe('bare bodies', () => {
  const whole =
    '{"object":"chat.completion","choices":[{"index":0,"message":{"content":"Hello"},"finish_reason":"stop"}]}'
  test.each([
    { name: 'server-sent events', body: COMPLETED },
    { name: 'CRLF line ends', body: COMPLETED.replaceAll('\n', '\r\n') },
    { name: 'JSON lines', body: COMPLETED.replaceAll('data: ', '').replaceAll('\n\n', '\n') },
    { name: 'one whole completion', body: whole },
    { name: 'a whole completion over several lines', body: JSON.stringify(JSON.parse(whole), null, 2) },
  ])('$name', ({ body }) => {
    const report = inspectOne(utf8(body))
    expect(report.choices[0]!.text).toBe('Hello')
    expect(report.outcome).toMatch(/completed|degraded/)
    expect(report.source).toEqual({ kind: 'body' })
  })

  test('nothing that an event stream could be', () => {
    expect(inspectOne(utf8('<html><title>502 Bad Gateway</title></html>')).error?.code).toBe('not_event_stream')
    expect(inspectOne(new Uint8Array()).error?.code).toBe('empty_stream')
  })

  test('a gzip file is inflated, even when it was cut', () => {
    const file = write('body.sse.gz', gzipSync(COMPLETED))
    const cut = write('cut.sse.gz', gzipSync(COMPLETED).subarray(0, -9))
    return Promise.all(
      [file, cut].map(async (name) => {
        const [report] = await inspectFile(name, memoryIo().io)
        expect(report!.choices[0]!.text).toBe('Hello')
      }),
    )
  })
})

describe('recordings', () => {
  test('are told by their content, and give their times and their URL', () => {
    const report = inspectOne(utf8(recording(COMPLETED, 'complete', { n: 1 })), { file: 'a.txt' })
    expect(report.source).toEqual({ kind: 'recording', file: 'a.txt', url: 'https://api.example/v1/chat/completions' })
    expect(report.timing).toMatchObject({ timeToHeadersMs: 100, timeToFirstByteMs: 250 })
    expect(report.verdict.http_ok.state).toBe('pass')
  })

  test('end as their end line says', () => {
    expect(inspectOne(utf8(recording(CUT, 'reset'))).verdict.sse_ok.state).toBe('fail')
    expect(inspectOne(utf8(recording(CUT, 'aborted'))).outcome).toBe('cancelled')
  })

  test('arm the checks that their request tells of', () => {
    const request = { n: 2, tools: [{ type: 'function', function: { name: 'subtract' } }] }
    const report = inspectOne(utf8(recording(WITH_CALL, 'complete', request)))
    expect(report.choices[0]!.toolCalls[0]!.code).toBe('unknown_tool')
    expect(report.diagnostics.map(({ code }) => code)).toContain('missing_choice')
  })

  test('several exchanges give several reports', () => {
    expect(inspectBytes(utf8(recording(COMPLETED) + recording(CUT, 'cut'))).map(({ outcome }) => outcome)).toEqual([
      'completed',
      'incomplete',
    ])
  })

  test('of a format that is named in the head need no signs', () => {
    const head = '{"t":"head","format":"streamfold/recording","v":1,"api":"telepathy"}\n'
    expect(() => inspectBytes(utf8(head))).toThrow(/"telepathy", which this version can't read/)
    expect(inspectOne(utf8(head), { api: 'chat_completions' }).outcome).toBe('incomplete')
  })
})

describe('what other tools saved', () => {
  const head = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nx-request-id: req_1\r\n\r\n'
  const har = {
    log: {
      entries: [
        {
          startedDateTime: '2026-11-30T15:02:55.531Z',
          request: { method: 'POST', url: 'https://api.example/v1/chat/completions', headers: [] },
          response: {
            status: 200,
            headers: [{ name: 'content-type', value: 'text/event-stream' }],
            content: { mimeType: 'text/event-stream', text: COMPLETED },
          },
        },
      ],
    },
  }

  test.each([
    { name: 'curl -i', file: 'head.txt', content: head + COMPLETED, note: 'output of curl -i', requestId: 'req_1' },
    {
      name: 'a HAR file',
      file: 'saved.har',
      content: JSON.stringify(har),
      note: 'a HAR file',
      requestId: null,
    },
  ])('$name: the head is read as one, and that is said', async ({ file, content, note, requestId }) => {
    const path = write(file, content)
    const memory = memoryIo()
    expect(await runProgram(['inspect', '--json', path], memory.io)).toBe(0)
    expect(memory.stderr()).toBe(`streamfold: ${path}: read as ${note}\n`)
    const report = JSON.parse(memory.stdout()) as StreamReport
    expect(report).toMatchObject({ outcome: 'completed', diagnostics: [], source: { kind: 'recording', file: path } })
    expect(report.verdict.http_ok.state).toBe('pass')
    expect(report.attempts[0]!.upstreamRequestId).toBe(requestId)
    expect(report.choices[0]!.text).toBe('Hello')
  })

  test('a status that is none of a stream is told', async () => {
    const refused = 'HTTP/2 429 \r\ncontent-type: application/json\r\n\r\n{"error":{"message":"slow down"}}'
    const memory = memoryIo({ stdin: reads(refused) })
    expect(await runProgram(['inspect', '--json', '-'], memory.io)).toBe(1)
    expect(JSON.parse(memory.stdout())).toMatchObject({ error: { code: 'rate_limited', status: 429 } })
  })

  test.each([
    { name: 'a head that never ends', content: head.trimEnd(), says: /line 1: no response head/ },
    { name: 'a HAR file without entries', content: '{"log":{"entries":[]}}', says: /log\.entries/ },
  ])('$name: unreadable, and why', async ({ content, says }) => {
    const memory = memoryIo({ stdin: reads(content) })
    expect(await runProgram(['inspect', '-'], memory.io)).toBe(3)
    expect(memory.stdout()).toBe('')
    expect(memory.stderr()).toMatch(says)
  })

  test('a name of a recording keeps a file from being taken for anything else', async () => {
    const memory = memoryIo()
    expect(await runProgram(['inspect', write('odd.stream.jsonl', head + COMPLETED)], memory.io)).toBe(3)
    expect(memory.stderr()).toMatch(/line 1: not JSON/)
  })
})

async function reportOf(...args: readonly string[]): Promise<StreamReport> {
  const memory = memoryIo()
  await runProgram(['inspect', '--json', ...args], memory.io)
  expect(memory.stderr()).toBe('')
  return JSON.parse(memory.stdout()) as StreamReport
}

const codes = ({ choices }: StreamReport): unknown => choices[0]!.toolCalls.map(({ code }) => code)

test('a recorder that died is told apart from a stream that was cut', async () => {
  const whole = recording(COMPLETED)
  const torn = memoryIo({ stdin: reads(whole.slice(0, -10)) })
  expect(await runProgram(['inspect', '--jsonl', '-'], torn.io)).toBe(0)
  expect(torn.stderr()).toBe(
    'streamfold: standard input: line 4 was cut off while it was written, and is left out\n' +
      'streamfold: standard input: the recording that begins at line 1 has no end line: the recorder stopped before the stream did, so the stream counts as cut\n',
  )
  const cut = memoryIo({ stdin: reads(recording(CUT, 'cut')) })
  expect(await runProgram(['inspect', '--jsonl', '-'], cut.io)).toBe(1)
  expect(cut.stderr()).toBe('')
})

describe('options', () => {
  const file = write('call.sse', WITH_CALL)

  test('--tool, once for each tool', async () => {
    expect(codes(await reportOf('--tool', 'subtract', file))).toEqual(['unknown_tool'])
    expect(codes(await reportOf('--tool', 'subtract', '--tool', 'add', file))).toEqual([null])
  })

  test('--tool overrides the request of a recording', async () => {
    const recorded = write(
      'tools.stream.jsonl',
      recording(WITH_CALL, 'complete', { tools: [{ function: { name: 'x' } }] }),
    )
    expect(codes(await reportOf(recorded))).toEqual(['unknown_tool'])
    expect(codes(await reportOf('--tool', 'add', recorded))).toEqual([null])
  })

  test('--n', async () => {
    expect((await reportOf('--n', '2', file)).diagnostics.map(({ code }) => code)).toContain('missing_choice')
  })

  test('--max-tokens', async () => {
    const usage = { choices: [], usage: { prompt_tokens: 9, completion_tokens: 64, total_tokens: 73 } }
    const atLimit = write('limit.sse', sse(call(0, '{}', 'call_1', 'add'), delta({}, 'tool_calls'), usage, '[DONE]'))
    expect(codes(await reportOf(atLimit))).toEqual([null])
    expect(codes(await reportOf('--max-tokens', '64', atLimit))).toEqual(['arguments_suspect'])
  })

  test('--policy strict', async () => {
    const open = write('open.sse', sse(delta({ content: 'a' }), delta({}, 'stop')))
    expect((await reportOf(open)).outcome).toBe('degraded')
    expect((await reportOf('--policy', 'strict', open)).outcome).toBe('incomplete')
  })

  test('--api reads a body as that format, whatever it looks like', async () => {
    const foreign = write('foreign.sse', sse({ type: 'message_start' }))
    expect((await reportOf('--api', 'chat_completions', foreign)).outcome).toBe('failed')
  })
})

describe('documents', () => {
  test('--json and --jsonl give the same report', async () => {
    const file = write('same.sse', WITH_CALL)
    const json = memoryIo()
    const jsonl = memoryIo()
    await runProgram(['inspect', '--json', file], json.io)
    await runProgram(['inspect', '--jsonl', file], jsonl.io)
    expect(JSON.parse(json.stdout())).toEqual(JSON.parse(jsonl.stdout()))
    expect(JSON.parse(json.stdout())).toMatchObject({
      schema: 'streamfold/report@1',
      api: 'chat_completions',
      source: { kind: 'body', file },
    })
    expect(json.stdout().split('\n').length).toBeGreaterThan(20)
    expect(jsonl.stdout().match(/\n/g)).toHaveLength(1)
  })

  test('--jsonl gives one line per report, in file order', async () => {
    const files = [3, 1, 2].map((n) => write(`${n}.sse`, sse(delta({ content: `${n}` }), delta({}, 'stop'), '[DONE]')))
    const memory = memoryIo()
    await runProgram(['inspect', '--jsonl', ...files], memory.io)
    const texts = memory
      .stdout()
      .trimEnd()
      .split('\n')
      .map((line) => (JSON.parse(line) as StreamReport).choices[0]!.text)
    expect(texts).toEqual(['3', '1', '2'])
  })

  test('what a terminal would act on is escaped, and reads back the same', async () => {
    const hostile = '\u001b[2J\u009b2J\u007f\u202e\u2028'
    const memory = memoryIo({ stdin: reads(sse(delta({ content: hostile }), delta({}, 'stop'), '[DONE]')) })
    await runProgram(['inspect', '--jsonl', '-'], memory.io)
    // eslint-disable-next-line no-control-regex -- control characters are what this test is about
    expect(memory.stdout()).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e\u2028]/)
    expect((JSON.parse(memory.stdout()) as StreamReport).choices[0]!.text).toBe(hostile)
  })

  test('a key __proto__ in arguments is shown, not acted on', async () => {
    const memory = memoryIo({
      stdin: reads(sse(call(0, '{"__proto__":{"polluted":1}}', 'c', 'f'), delta({}, 'tool_calls'), '[DONE]')),
    })
    await runProgram(['inspect', '--json', '-'], memory.io)
    const [report] = (JSON.parse(memory.stdout()) as StreamReport).choices[0]!.toolCalls
    expect(report).toMatchObject({ argumentsText: '{"__proto__":{"polluted":1}}', code: 'arguments_unsafe' })
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
  })
})

describe('standard input', () => {
  test('may come in any pieces', async () => {
    const bytes = utf8(sse(delta({ content: '日本 🎉' }), delta({}, 'stop'), '[DONE]'))
    const pieces = Array.from(bytes, (byte) => Uint8Array.of(byte))
    const [report] = await inspectFile('-', memoryIo({ stdin: reads(...pieces) }).io)
    expect(report!.choices[0]!.text).toBe('日本 🎉')
  })

  test('may be a recording', async () => {
    const [report] = await inspectFile('-', memoryIo({ stdin: reads(recording(COMPLETED)) }).io)
    expect(report!.source).toEqual({ kind: 'recording', file: '-' })
  })
})
