import { FAULT_CODES } from 'streamfold'
import { describe, expect, test } from 'vitest'
import { inspectBytes } from '../src/commands/inspect.ts'
import { isWanted } from '../src/exit-code.ts'
import { runProgram } from '../src/program.ts'
import { displayWidth } from '../src/report-text/display-width.ts'
import { NEXT_STEPS } from '../src/report-text/next-step.ts'
import { reportText } from '../src/report-text/report-text.ts'
import { themeOf } from '../src/report-text/theme.ts'
import {
  call,
  COMPLETED,
  CUT,
  DEGRADED,
  delta,
  HEAD,
  IN_BAND_ERROR,
  recording,
  sse,
  temporaryFolder,
  TRUNCATED,
} from './bodies.ts'
import { memoryIo, reads } from './memory-io.ts'
import type { MemoryIoOptions } from './memory-io.ts'

const TERMINAL: MemoryIoOptions = { isTTY: true, columns: 100, env: { LANG: 'en_US.UTF-8', TERM: 'xterm-256color' } }

function show(body: string, options: MemoryIoOptions & { readonly file?: string } = {}): string {
  const { io } = memoryIo(options)
  const reports = inspectBytes(new TextEncoder().encode(body), options.file === undefined ? {} : { file: options.file })
  const theme = themeOf(io.stdout, io.env)
  return reports.map((report) => reportText(report, { theme, wanted: isWanted(report.outcome, false) })).join('')
}

// eslint-disable-next-line no-control-regex -- colours are what is taken off
const plain = (text: string): string => text.replace(/\u001b\[\d+m/g, '')

describe('a failing stream', () => {
  test('says what broke, where, and what to do', () => {
    expect(show(CUT, { file: 'broken.sse' })).toBe(
      `FAIL incomplete (incomplete_stream)  broken.sse
chat_completions, bare body, 370 B in 2 events
  .    http_ok             not applicable
  ok   sse_ok
  FAIL delta_ok            incomplete_stream, event 2, byte 370
         the body ended after event 2, byte 370 without a finish reason; what was received is kept,
         ask again
  FAIL tool_args_complete  incomplete_stream, id call_1
         the stream ended with incomplete_stream, so this call is not run
  -    tool_authorized     not reached
  -    tool_executed       not reached
error    incomplete_stream in phase event, retryable: restart (discard what came, ask again)
next     run none of its calls and ask again; if it repeats, look at limits of the proxies and the
         log of the server
calls    id      name         state   code               args  whole
         call_1  get_weather  failed  incomplete_stream  12 B  cut
text     14 characters: Looking it up.
finish   none
see      docs/faults.md#incomplete_stream
`,
    )
  })

  test('in a terminal has other marks, and colours', () => {
    const text = show(CUT, { ...TERMINAL, file: 'broken.sse' })
    expect(text).toContain('\u001b[31m')
    expect(plain(text).split('\n').slice(0, 10)).toEqual([
      '✗ incomplete (incomplete_stream)  broken.sse',
      'chat_completions, bare body, 370 B in 2 events',
      '  · http_ok             not applicable',
      '  ✓ sse_ok',
      '  ✗ delta_ok            incomplete_stream · event 2 · byte 370',
      '      the body ended after event 2, byte 370 without a finish reason; what was received is kept, ask',
      '      again',
      '  ✗ tool_args_complete  incomplete_stream · id call_1',
      '      the stream ended with incomplete_stream, so this call is not run',
      '  – tool_authorized     not reached',
    ])
  })

  test('tells what the provider said', () => {
    const lines = show(IN_BAND_ERROR).split('\n')
    expect(lines[0]).toBe('FAIL failed (upstream_error)')
    expect(lines.find((line) => line.startsWith('error'))).toBe(
      'error    upstream_error in phase delta, retryable: restart (discard what came, ask again), status',
    )
    expect(lines.some((line) => line.includes('overloaded') && line.startsWith('         '))).toBe(true)
  })

  test('points at the code of a truncated answer, which has no error', () => {
    expect(show(TRUNCATED).trimEnd().split('\n').slice(-4)).toEqual([
      'next     raise max_tokens, or ask for less; never run a call of a cut answer',
      'text     3 characters: Hel',
      'finish   length',
      'see      docs/faults.md#output_truncated',
    ])
  })
})

test('a good stream has nothing to do and nothing to see', () => {
  expect(show(COMPLETED, { file: 'good.sse' })).toBe(
    `ok   completed  good.sse
chat_completions, bare body, 273 B in 3 events
  .    http_ok             not applicable
  ok   sse_ok
  ok   delta_ok
  .    tool_args_complete  not applicable
  .    tool_authorized     not applicable
  .    tool_executed       not applicable
text     5 characters: Hello
finish   stop
`,
  )
})

test('a degraded stream says which evidence is missing', () => {
  const text = show(DEGRADED)
  expect(text).toContain('  ok   delta_ok            missing_sentinel, event 2, byte 137\n')
  expect(text).toContain('findings ! missing_sentinel (event 2, byte 137): the terminal signal of this API')
  expect(text.trimEnd().split('\n').at(-1)).toBe('see      docs/faults.md#missing_sentinel')
})

test('a recording has times and a URL', () => {
  const text = show(recording(COMPLETED, 'complete', {}))
  expect(text).toContain(
    '\nchat_completions, recording of https://api.example/v1/chat/completions, 273 B in 3 events\n',
  )
  expect(text).toContain('\ntiming   ms to head 100, first byte 250, first output 250, end 250\n')
})

test('released and held calls are told apart, those that need attention first where not all fit', () => {
  const names = Array.from({ length: 7 }, (_, i) => call(i, i === 6 ? '{"a":' : '{}', `call_${i}`, `tool_${i}`))
  const text = show(sse(...names, delta({}, 'tool_calls'), '[DONE]'))
  expect(text).toContain('call_6  tool_6  failed    arguments_incomplete  5 B   cut')
  expect(text).toContain('+2 more: --json')
  expect(text).toMatch(/^warn completed, 7 of 7 calls not released\n/)
  expect(show(sse(call(0, '{}', 'call_0', 'now'), delta({}, 'tool_calls'), '[DONE]'))).toContain(
    'call_0  now   complete  released  2 B   yes',
  )
})

test('an accepted outcome begins with a warning where a call of it is not released by a fault of its own', () => {
  const end = [delta({}, 'tool_calls'), '[DONE]']
  const held = sse(call(0, '{"a":1,"a":2}', 'call_0', 'now'), ...end)
  expect(show(held)).toMatch(/^warn completed, 1 of 1 call not released\n/)
  expect(plain(show(held, TERMINAL))).toMatch(/^! completed/)
  const twice = sse(call(0, '{}', 'call_0', 'now'), call(1, '{}', 'call_0', 'now'), ...end)
  expect(show(twice)).toMatch(/duplicate_call/)
  expect(show(twice)).toMatch(/^ok {3}completed\n/)
})

test.each([
  {
    kind: 'a rounded number',
    text: '{"n":12345678901234567890}',
    reason: "call_0, at offset 5 of its arguments: the number at /n can't be held exactly",
    next: 'send big numbers as text',
  },
  {
    kind: 'a duplicate key',
    text: '{"a":1,"a":2}',
    reason: 'call_0, at offset 7 of its arguments: the key at /a is there twice',
    next: 'ask again: only one of the two values',
  },
  {
    kind: 'a __proto__ key',
    text: '{"__proto__":{}}',
    reason: 'call_0, at offset 1 of its arguments: the key at /__proto__ could change',
    next: 'do not hand these arguments on',
  },
])('unsafe arguments: where, why, and what to do about $kind', ({ text, reason, next }) => {
  const shown = show(sse(call(0, text, 'call_0', 'now'), delta({}, 'tool_calls'), '[DONE]'))
  expect(shown).toContain(`\nreason   ${reason}`)
  expect(shown).toContain(`\nnext     ${next}`)
})

test('a fault that a check has told is not told again, only its place', () => {
  const shown = show(sse(call(0, '{"a" 1}', 'call_0', 'now'), delta({}, 'tool_calls'), '[DONE]'))
  expect(shown).toContain('\nreason   call_0, at offset 5 of its arguments\n')
})

const custom = (input: string): string =>
  sse(
    delta({ tool_calls: [{ index: 0, id: 'call_0', type: 'custom', custom: { name: 'shell', input } }] }),
    delta({}, 'tool_calls'),
    '[DONE]',
  )

test('the input of a custom tool is free text, whatever it looks like', () => {
  for (const input of ['ls -l', '{"a":1}']) expect(show(custom(input))).toMatch(/released +\d B +free text\n/)
})

const answer = (status: number, headers: readonly (readonly [string, string])[] = []): string =>
  [
    HEAD,
    JSON.stringify({ t: 'res', at: 1, status, headers: [['content-type', 'application/json'], ...headers] }),
    JSON.stringify({ t: 'b', at: 2, off: 0, s: '{"error":{"message":"no"}}' }),
    JSON.stringify({ t: 'end', at: 3, kind: 'complete' }),
    '',
  ].join('\n')

describe('an error answer', () => {
  test.each([
    { status: 400, next: 'read the provider message; fix the request' },
    { status: 401, next: 'check the API key' },
    { status: 403, next: 'check the API key' },
    { status: 404, next: 'check the base URL, which usually ends in /v1, and the name of the model' },
    { status: 429, next: 'wait, longer each time, then try again' },
    { status: 503, next: 'try again; if it repeats' },
  ])('$status says what to do', ({ status, next }) => {
    expect(show(answer(status))).toContain(`\nnext     ${next}`)
  })

  test('429 says how long to wait, and that nothing came', () => {
    const shown = show(answer(429, [['retry-after', '20']]))
    expect(shown).toContain('\nnext     wait 20.0 s, then try again')
    expect(shown).toContain('retryable: yes (nothing came, send it again)')
  })
})

const choice = (index: number, content: string): Record<string, unknown> => ({
  choices: [{ index, delta: { content }, finish_reason: index === 1 ? 'length' : 'stop' }],
})

test('a long id leaves room for the code', () => {
  const text = show(sse(call(0, '{}', 'x'.repeat(500), 'y'.repeat(500)), delta({}, 'tool_calls'), '[DONE]'))
  expect(text).toMatch(/^ {9}x{29}… {2}y{25}… {2}complete {2}released {2}2 B {3}yes$/m)
})

test('several choices are told apart', () => {
  const text = show(sse(choice(0, 'one'), choice(1, 'two'), '[DONE]'))
  expect(text).toContain('text     choice 0: 3 characters: one\nfinish   choice 0: stop, completed\n')
  expect(text).toContain('text     choice 1: 3 characters: two\nfinish   choice 1: length, truncated\n')
})

describe('one screen', () => {
  /** Everything at once: calls, text, reasoning, usage, many findings. */
  const crowded = sse(
    delta({ role: 'assistant', reasoning: 'Hm.', content: 'Let me see. '.repeat(40), novel: 1 }),
    delta({ tool_calls: [{ id: 'call_1', function: { name: 'first', arguments: { a: 1 } } }] }),
    delta({ tool_calls: [{ id: 'call_2', function: { name: 'second', arguments: '{"b":' } }] }),
    delta({ tool_calls: [{ id: 'call_2', function: { name: 'third', arguments: '{}' } }] }),
    ': comment as data',
    { choices: [{ index: 0, delta: { content: 3 }, finish_reason: '' }] },
    { id: 'other', choices: [], usage: { prompt_tokens: 10, completion_tokens: 20, total_tokens: 30 } },
  )

  test.each([
    { name: 'plain', options: {} },
    { name: 'a terminal', options: TERMINAL },
  ])('is enough for a crowded failing stream: $name', ({ options }) => {
    const lines = plain(show(crowded, { ...options, file: `${'long/'.repeat(40)}name.sse` }))
      .trimEnd()
      .split('\n')
    expect(lines.length).toBeLessThanOrEqual(24)
    expect(lines.filter((line) => displayWidth(line) > 100)).toEqual([])
    expect(lines[0]).toMatch(/…\S*(?:long\/)+name\.sse$/)
    expect(lines.at(-1)).toMatch(/^see +docs\/faults\.md#\w+$/)
    expect(lines.some((line) => line.startsWith('findings'))).toBe(true)
  })

  test('has the whole timing on a narrow terminal, the arrival first', () => {
    const parts = Array.from(
      sse(...Array.from({ length: 12 }, () => delta({ content: 'word ' })), delta({}, 'stop'), '[DONE]').matchAll(
        /data: .*\n\n/g,
      ),
    )
    let off = 0
    const lines = parts.map(([s], i) => {
      const line = JSON.stringify({ t: 'b', at: 1_000_000 * (i + 1), off, s })
      off += s.length
      return line
    })
    const head = JSON.stringify({ t: 'res', at: 1, status: 200, headers: [['content-type', 'text/event-stream']] })
    const end = JSON.stringify({ t: 'end', at: 20_000_000, kind: 'complete' })
    const shown = show([HEAD, head, ...lines, end, ''].join('\n'), { ...TERMINAL, columns: 60 })
    expect(plain(shown)).toMatch(/^timing +arrival \w+; ms to .*\n {9}.*longest gap 1000$/m)
  })

  test('is as wide as a narrow terminal', () => {
    const lines = plain(show(crowded, { ...TERMINAL, columns: 70 })).split('\n')
    expect(lines.filter((line) => displayWidth(line) > 70)).toEqual([])
  })
})

const mark = (options: MemoryIoOptions): string => show(COMPLETED, options).split(' ')[0]!

describe('marks and colours', () => {
  test.each([
    { name: 'not a terminal', options: { env: { LANG: 'C.UTF-8' } } },
    { name: 'NO_COLOR', options: { isTTY: true, env: { LANG: 'C.UTF-8', NO_COLOR: '1' } } },
    { name: 'TERM=dumb', options: { isTTY: true, env: { LANG: 'C.UTF-8', TERM: 'dumb' } } },
  ])('$name: ASCII, no colours', ({ options }) => {
    expect(mark(options)).toBe('ok')
    expect(show(CUT, options)).not.toContain('\u001b')
  })

  test('a terminal without UTF-8: ASCII, with colours', () => {
    const options = { isTTY: true, env: { LC_ALL: 'C' } }
    expect(plain(mark(options))).toBe('ok')
    expect(show(CUT, options)).toContain('\u001b[31m')
  })
})

describe('hostile text', () => {
  const escape = '\u001b[2J\u001b]0;owned\u0007\u009b31m\u202e\r\n\u0000'
  const hostile = sse(
    delta({ content: `${escape}text`, reasoning: escape, refusal: escape }),
    call(0, `{"a":"${escape}`, `id${escape}`, `name${escape}`),
    { error: { message: `message${escape}`, code: `code${escape}`, type: `type${escape}` } },
  )

  test.each([
    { name: 'plain', options: {} },
    { name: 'a terminal', options: TERMINAL },
  ])('never reaches the output as it is: $name', ({ options }) => {
    const text = plain(show(hostile, { ...options, file: `file${escape}` }))
    // eslint-disable-next-line no-control-regex -- control characters are what this test is about
    expect(text.replaceAll('\n', '')).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202e]/)
    expect(text).toContain('\\u001b[2J')
    expect(text.split('\n').length).toBeLessThanOrEqual(25)
  })

  test('neither does it in the URL of a recording', () => {
    const hidden = recording(COMPLETED, 'complete', {}).replace('api.example', 'a\\u001b[2J')
    expect(show(hidden)).not.toContain('\u001b')
  })
})

test('every fault has a next step that fits on two lines', () => {
  expect(Object.keys(NEXT_STEPS).toSorted()).toEqual([...FAULT_CODES].toSorted())
  expect(Object.values(NEXT_STEPS).filter((step) => step.length > 160 || step.length < 15)).toEqual([])
})

describe('several inputs', () => {
  const write = temporaryFolder()

  test('stand apart, and are counted at the end', async () => {
    const memory = memoryIo({ stdin: reads(COMPLETED) })
    await runProgram(['inspect', write('a.sse', COMPLETED), '-', write('b.sse', CUT)], memory.io)
    const lines = memory.stdout().split('\n')
    expect(lines.filter((line) => /^(?:ok|FAIL) /.test(line))).toEqual([
      expect.stringMatching(/^ok {3}completed {2}.*a\.sse$/),
      'ok   completed  standard input',
      expect.stringMatching(/^FAIL incomplete \(incomplete_stream\) {2}.*b\.sse$/),
    ])
    expect(lines.slice(-3)).toEqual(['', '3 streams: 1 incomplete, 2 completed', ''])
  })

  test('calls that are not released are counted too', async () => {
    const memory = memoryIo({ stdin: reads(COMPLETED) })
    const held = sse(call(0, '{"a":1,"a":2}', 'call_0', 'now'), delta({}, 'tool_calls'), '[DONE]')
    expect(await runProgram(['inspect', write('held.sse', held), '-'], memory.io)).toBe(0)
    expect(memory.stdout()).toMatch(/\n2 streams: 2 completed; 1 with calls not released\n$/)
  })

  test('one input is not counted', async () => {
    const memory = memoryIo({ stdin: reads(COMPLETED) })
    await runProgram(['inspect', '-'], memory.io)
    expect(memory.stdout()).not.toContain('streams:')
  })

  test('--strict is told by the mark too', async () => {
    const memory = memoryIo({ stdin: reads(DEGRADED) })
    await runProgram(['inspect', '--strict', '-'], memory.io)
    expect(memory.stdout()).toMatch(/^FAIL degraded {2}standard input\n/)
  })
})
