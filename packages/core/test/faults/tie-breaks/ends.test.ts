import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { callsOf, findingsOf, readWhole, textOf, typesOf } from '../run.ts'
import { DONE, chunk, finish, frag, sse, text } from '../wire.ts'
import { CONFIG, expectNothingReleased } from './generators.ts'

describe('what a finish reason makes of whole calls', () => {
  test.each([
    { raw: 'stop', reason: 'tool-calls', outcome: 'completed', promoted: true, call: 'ready' },
    { raw: 'end_turn', reason: 'tool-calls', outcome: 'completed', promoted: true, call: 'ready' },
    { raw: 'eos', reason: 'tool-calls', outcome: 'completed', promoted: true, call: 'ready' },
    { raw: 'tool_calls', reason: 'tool-calls', outcome: 'completed', promoted: false, call: 'ready' },
    { raw: 'function_call', reason: 'tool-calls', outcome: 'completed', promoted: false, call: 'ready' },
    { raw: 'pause_turn', reason: 'pause', outcome: 'completed', promoted: false, call: 'ready' },
    { raw: 'length', reason: 'length', outcome: 'truncated', promoted: false, call: 'failed: output_truncated' },
    {
      raw: 'content_filter',
      reason: 'content-filter',
      outcome: 'refused',
      promoted: false,
      call: 'failed: output_refused',
    },
    { raw: 'error', reason: 'error', outcome: 'failed', promoted: false, call: 'failed: upstream_error' },
    { raw: 'abort', reason: 'aborted', outcome: 'incomplete', promoted: false, call: 'failed: incomplete_stream' },
    { raw: 'xyz', reason: 'unknown', outcome: 'degraded', promoted: false, call: 'held: finish_unknown' },
  ])('$raw', ({ raw, reason, outcome, promoted, call }) => {
    const result = readWhole(sse(frag(0, 'a', 'f', '{"x":1}'), finish(raw), DONE))
    expect(callsOf(result)).toEqual([`f({"x":1}) ${call}`])
    expect(result.report).toMatchObject({ outcome, choices: [{ finish: { reason, raw } }] })
    expect(findingsOf(result).includes('finish_reason_mismatch')).toBe(promoted)
  })

  test('stop without calls stays stop', () => {
    const result = readWhole(sse(text('a'), finish('stop'), DONE))
    expect(result.report.choices[0]!.finish).toEqual({ reason: 'stop', raw: 'stop' })
  })

  test('a bad end is not taken back by a later good one', () => {
    for (const raw of ['length', 'content_filter', 'error', 'abort']) {
      const result = readWhole(sse(frag(0, 'a', 'f', '{"x":1}'), finish(raw), finish('stop'), DONE))
      expectNothingReleased(result)
      expect(result.report.choices[0]!.finish.raw).toBe(raw)
      expect(findingsOf(result)).toContain('finish_reason_mismatch')
    }
  })

  test('a good end is taken back by a later bad one', () => {
    const result = readWhole(sse(frag(0, 'a', 'f', '{"x":1}'), finish('stop'), finish('length'), DONE))
    expect(callsOf(result)).toEqual(['f({"x":1}) held: output_truncated'])
    expect(result.report.choices[0]!.finish).toEqual({ reason: 'length', raw: 'length' })
  })
})

describe('two generations in one stream', () => {
  const flags = fc.record({ id: fc.boolean(), model: fc.boolean(), role: fc.boolean(), calls: fc.boolean() })

  test('are a splice exactly when id and model change and the role starts again', () => {
    fc.assert(
      fc.property(flags, ({ id, model, role, calls }) => {
        const second = {
          ...chunk({ ...(role && { role: 'assistant' }), content: 'lo' }),
          ...(id && { id: 'chatcmpl-2' }),
          ...(model && { model: 'm-2' }),
        }
        const first = calls ? frag(0, 'a', 'f', '{"x":1}') : text('Hel')
        const result = readWhole(
          sse(chunk({ role: 'assistant' }), first, second, finish(calls ? 'tool_calls' : 'stop'), DONE),
        )
        const splice = id && model && role
        expect(result.report.error?.code).toBe(splice ? 'stream_splice' : undefined)
        expect(result.report.outcome).toBe(splice ? 'failed' : 'completed')
        expect(textOf(result)).toBe(`${calls ? '' : 'Hel'}${splice ? '' : 'lo'}`)
        expect(typesOf(result).includes('tool_batch_ready')).toBe(calls && !splice)
      }),
      CONFIG,
    )
  })

  test('before any content nothing was spliced: a gateway changed its mind', () => {
    const second = { ...chunk({ role: 'assistant', content: 'Hello' }), id: 'chatcmpl-2', model: 'm-2' }
    const result = readWhole(sse(chunk({ role: 'assistant', content: '' }), second, finish('stop'), DONE))
    expect(result.report.outcome).toBe('completed')
    expect(textOf(result)).toBe('Hello')
  })
})
