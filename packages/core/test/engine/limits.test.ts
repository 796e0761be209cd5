import { describe, expect, test } from 'vitest'
import type { StreamLimits } from '../../src/chunk/limits.ts'
import { callStates, engineWith, readsOf, run } from './run.ts'
import { call, chunk, DONE, finish, more, text } from './wire.ts'

const END = finish('tool_calls') + DONE

interface Row {
  readonly name: string
  readonly body: string
  /** The largest limit that is too small; one more is enough. */
  readonly limits: (n: number) => Partial<StreamLimits>
  readonly enough: number
  readonly code: string
  readonly phase: string
}

const LONG_EVENT = text('日本語'.repeat(50))
const eventBytes = new TextEncoder().encode(LONG_EVENT).length - 1
const choices = [0, 1, 2].map((choice) => text('hi', { choice })).join('')
const calls = [0, 1, 2].map((index) => call(index, 'f', '{}')).join('')
const whole = text('hi') + finish('stop') + DONE

const rows: readonly Row[] = [
  {
    name: 'an event',
    body: LONG_EVENT + END,
    limits: (n) => ({ eventBytes: n }),
    enough: eventBytes,
    code: 'event_limit_exceeded',
    phase: 'framing',
  },
  {
    name: 'the body',
    body: whole,
    limits: (n) => ({ streamBytes: n }),
    enough: whole.length,
    code: 'stream_limit_exceeded',
    phase: 'framing',
  },
  {
    name: 'arguments in one piece',
    body: call(0, 'f', '{"a":"é"}') + END,
    limits: (n) => ({ argumentBytes: n }),
    enough: 10,
    code: 'argument_limit_exceeded',
    phase: 'call',
  },
  {
    name: 'arguments in pieces',
    body: call(0, 'f', '{"a":') + more(0, '"日') + more(0, '😀"}') + END,
    limits: (n) => ({ argumentBytes: n }),
    enough: 15,
    code: 'argument_limit_exceeded',
    phase: 'call',
  },
  {
    name: 'calls of one choice',
    body: calls + END,
    limits: (n) => ({ callsPerChoice: n }),
    enough: 3,
    code: 'call_limit_exceeded',
    phase: 'call',
  },
  {
    name: 'choices',
    body: choices + DONE,
    limits: (n) => ({ choices: n }),
    enough: 3,
    code: 'choice_limit_exceeded',
    phase: 'delta',
  },
]

/** An event of this many bytes, its blank line not counted. */
function filled(bytes: number): string {
  return text('x'.repeat(bytes - (text('').length - 1)))
}

function manyCalls(count: number): string {
  return Array.from({ length: count }, (_, index) => call(index, 'f', '{}')).join('')
}

function manyChoices(count: number): string {
  return Array.from({ length: count }, (_, choice) => finish('stop', choice)).join('')
}

describe('limits', { timeout: 60_000 }, () => {
  test.each(rows)('$name: $enough is enough, one less is $code', ({ body, limits, enough, code, phase }) => {
    expect(run(body, 'eof', { limits: limits(enough) }).end).toMatchObject({ type: 'stream_completed' })
    for (const reads of [body, [...readsOf(body)[0]!].map((byte) => Uint8Array.of(byte))]) {
      const { end, report, events } = run(reads, 'eof', { limits: limits(enough - 1) })
      expect(end).toMatchObject({ type: 'stream_error', code, phase, retryable: 'no', outcome: 'failed' })
      expect(report.error).toMatchObject({ code, message: expect.stringContaining('raise limits.') as string })
      expect(events.some((event) => event.type === 'tool_batch_ready')).toBe(false)
    }
  })

  test('a message names the limit that was hit', () => {
    for (const { body, limits, enough } of rows) {
      const { report } = run(body, 'eof', { limits: limits(enough - 1) })
      expect(report.error!.message).toContain(`limits.${Object.keys(limits(0))[0]}`)
    }
  })

  test('nesting of arguments fails the call, and leaves the stream alone', () => {
    const body = call(0, 'f', '{"a":[[1]]}') + END
    expect(callStates(run(body, 'eof', { limits: { jsonDepth: 3 } }).report)).toEqual(['complete null'])
    const { report } = run(body, 'eof', { limits: { jsonDepth: 2 } })
    expect(callStates(report)).toEqual(['failed arguments_invalid'])
    expect(report.outcome).toBe('completed')
  })

  test('what came before the limit is kept', () => {
    const { report, events } = run(text('hi') + LONG_EVENT, 'eof', { limits: { eventBytes: 200 } })
    expect(report.choices[0]!.text).toBe('hi')
    expect(report.error).toMatchObject({ event: 2, offset: text('hi').length })
    expect(events.map((event) => event.type)).toEqual(['stream_started', 'text_delta', 'stream_error'])
  })

  test('the limit of the body counts to the byte, and reads the events before it', () => {
    const first = text('hi')
    expect(run(first, 'eof', { limits: { streamBytes: first.length } }).end).toMatchObject({
      code: 'incomplete_stream',
    })
    const { report } = run(first + text('never'), 'eof', { limits: { streamBytes: first.length } })
    expect(report.choices[0]!.text).toBe('hi')
    expect(report.error).toMatchObject({ code: 'stream_limit_exceeded', offset: first.length })
    expect(report.counts.bytes).toBe((first + text('never')).length)
  })

  test('a body that has ended may go on beyond the limit: it is not read', () => {
    const { report } = run([whole, text('x')], 'eof', { limits: { streamBytes: whole.length } })
    expect(report).toMatchObject({ outcome: 'completed', error: null })
  })

  test('calls are counted for each choice', () => {
    const two = call(0, 'f', '{}') + call(0, 'f', '{}', { choice: 1 })
    const body = two + finish('tool_calls') + finish('tool_calls', 1) + DONE
    expect(run(body, 'eof', { limits: { callsPerChoice: 1 } }).report.outcome).toBe('completed')
  })

  test.each([1, 2, 3, 7, 64])('slices of %i bytes are invisible', (readBytes) => {
    const body = chunk({ role: 'assistant', content: '日本 😀' }) + call(0, 'f', '{"a":"é"}') + END
    const unsliced = run(body)
    const sliced = run(body, 'eof', { limits: { readBytes } })
    expect(sliced.events).toEqual(unsliced.events)
    expect(sliced.report).toEqual(unsliced.report)
  })

  test('the defaults are those of the documentation', () => {
    const mib = 2 ** 20
    expect(run(filled(8 * mib)).report.error?.code).toBe('incomplete_stream')
    expect(run(filled(8 * mib + 1)).report.error?.code).toBe('event_limit_exceeded')
    expect(run(manyCalls(128) + END).report.outcome).toBe('completed')
    expect(run(manyCalls(129) + END).report.error?.code).toBe('call_limit_exceeded')
    expect(run(manyChoices(128) + DONE).report.outcome).toBe('empty')
    expect(run(manyChoices(129) + DONE).report.error?.code).toBe('choice_limit_exceeded')
  })
})

test.each([{ jsonDepth: 4097 }, { jsonDepth: 0 }, { eventBytes: Number.NaN }, { argumentBytes: -1 }])(
  'limits that can not work are refused at construction: %j',
  (limits) => {
    expect(() => engineWith({ limits })).toThrow(/limits\.\w+/)
  },
)
