import { describe, expect, test } from 'vitest'
import { callsOf, engineFor, findingsOf, readPieces, run, textOf } from './run.ts'
import { cutAt } from '../reads.ts'
import { DONE, bytesOf, chunk, finish, frag, sse, text } from './wire.ts'

describe('F001 — a character cut over two reads', () => {
  const characters = ['é', '€', '😀', 'é€😀'] as const
  const bodies = characters
    .map((character) =>
      sse(text(character), frag(0, 'c1', 'say', '{"t":"'), frag(0, undefined, undefined, `${character}"}`)),
    )
    .map((part) => part + sse(finish('tool_calls'), DONE))

  test.each(characters.map((character, i) => ({ character, body: bodies[i]! })))(
    '$character',
    ({ character, body }) => {
      const bytes = bytesOf(body)
      const inside = [...bytes.keys()].filter((at) => bytes[at]! >= 0x80)
      for (const at of inside) {
        const result = readPieces(cutAt(bytes, [at]))
        expect(textOf(result)).toBe(character)
        expect(callsOf(result)).toEqual([`say({"t":"${character}"}) ready`])
        expect(findingsOf(result)).toEqual([])
      }
    },
  )

  test('bytes that are no character at all are replaced, and a call that holds them fails', () => {
    const [head, tail] = bodies[0]!.split('{\\"t\\":\\"').map((part) => bytesOf(part))
    const broken = Uint8Array.from([...head!, ...bytesOf('{\\"t\\":\\"'), 0xc3, ...tail!])
    const result = run(broken)
    expect(callsOf(result)).toEqual(['say({"t":"\ufffdé"}) failed: invalid_utf8'])
    expect(findingsOf(result)).toContain('invalid_utf8')
  })
})

describe('F002 — the peer closes in the middle of the body', () => {
  const whole = sse(text('Hel'), text('lo'), finish('stop'), DONE)

  test.each(['cut', 'reset', 'error'] as const)('%s before the end: incomplete, may be asked again', (end) => {
    const result = run(sse(text('Hel')) + 'data: {"cho', { end })
    expect(result.report.error).toMatchObject({ code: 'incomplete_stream', retryable: 'restart' })
    expect(result.report.outcome).toBe('incomplete')
    expect(textOf(result)).toBe('Hel')
  })

  test.each(['cut', 'reset', 'error'] as const)('%s after [DONE]: the outcome stands', (end) => {
    const result = run(whole, { end })
    expect(result.report).toMatchObject({ outcome: 'completed', error: null })
    expect(findingsOf(result)).toEqual(['transport_error_after_end'])
  })

  test('before any output the request may be sent again as if it had never been', () => {
    expect(run(sse(chunk({ role: 'assistant', content: '' })), { end: 'reset' }).report.error).toMatchObject({
      code: 'incomplete_stream',
      retryable: 'yes',
    })
  })
})

test('F004 — the body neither ends nor fails: the idle timer ends it', () => {
  const engine = engineFor()
  engine.start(0)
  engine.response({ status: 200 }, 10)
  engine.push(bytesOf(sse(text('Hel'), frag(0, 'c1', 'f', '{"a"'))), 20)
  expect(engine.deadline()).toEqual({ atMs: 20 + 30_000, code: 'idle_timeout' })
  const events = engine.end('timeout', 30_020)
  expect(events.map(({ type }) => type)).toEqual(['tool_call_failed', 'stream_error'])
  expect(events.at(-1)).toMatchObject({ code: 'idle_timeout', outcome: 'incomplete', retryable: 'restart' })
  expect(engine.deadline()).toBeUndefined()
  expect(engine.snapshot().choices[0]!.blocks.map(({ status }) => status)).toEqual(['interrupted', 'interrupted'])
})

describe('F005 — one event larger than any line buffer', () => {
  const large = 'x'.repeat(3 * 1024 * 1024)
  const bytes = bytesOf(sse(text(large, 'stop'), DONE))
  const pieces = cutAt(
    bytes,
    Array.from({ length: Math.floor(bytes.length / 1024) }, (_, i) => (i + 1) * 1024),
  )

  test('3 MiB in reads of 1 KiB', () => {
    const result = readPieces(pieces)
    expect(result.report.outcome).toBe('completed')
    expect(textOf(result) === large).toBe(true)
  })

  test('over the limit: a limit error, not a clean end', () => {
    const result = readPieces(pieces, { limits: { eventBytes: 1024 * 1024 } })
    expect(result.report).toMatchObject({
      outcome: 'failed',
      error: { code: 'event_limit_exceeded', phase: 'framing', retryable: 'no', offset: 0, event: 1 },
    })
    expect(textOf(result)).toBe('')
  })
})

test('F006 — a byte order mark at the start, and one inside the text', () => {
  const bytes = Uint8Array.from([
    0xef,
    0xbb,
    0xbf,
    ...bytesOf(sse(text('first'), text('\ufeffsecond'), finish('stop'), DONE)),
  ])
  const result = run(bytes)
  expect(textOf(result)).toBe('first\ufeffsecond')
  expect(result.report).toMatchObject({ outcome: 'completed', diagnostics: [] })
})

test('F009 — nothing comes after an abort but its one terminal event', () => {
  const engine = engineFor()
  const before = [
    ...engine.push(bytesOf(sse(text('a')))),
    ...engine.push(bytesOf(sse(text('b'), frag(0, 'c1', 'f', '{}')))),
  ]
  expect(before.map(({ type }) => type)).toEqual([
    'stream_started',
    'text_delta',
    'text_delta',
    'tool_call_started',
    'tool_call_arguments_delta',
  ])
  const aborted = engine.end('aborted')
  expect(aborted.map(({ type }) => type)).toEqual(['tool_call_failed', 'stream_error'])
  expect(aborted.at(-1)).toMatchObject({ code: 'cancelled', outcome: 'cancelled', retryable: 'no' })
  for (let i = 0; i < 100; i++) expect(engine.push(bytesOf(sse(text(`late ${i}`))))).toEqual([])
  expect(engine.push(bytesOf(sse(finish('stop'), DONE)))).toEqual([])
  expect(engine.end('eof')).toEqual([])
  expect(engine.report().choices[0]!.text).toBe('ab')
})
