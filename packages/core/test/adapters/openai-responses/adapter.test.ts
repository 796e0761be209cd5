import { describe, expect, test } from 'vitest'
import { responses } from '../../../src/adapters/openai-responses/adapter.ts'
import { adapterFor } from '../../../src/adapters/registry.ts'
import { DEFAULT_LIMITS } from '../../../src/chunk/limits.ts'
import { createOutput } from '../collect.ts'
import { collectResponses, ofType } from './collect.ts'
import { added, completed, created, ended, message, response, textDelta, wholeMessage } from './wire.ts'

describe('what it declares', () => {
  test('a stop event, and all end evidence required', () => {
    expect(responses()).toMatchObject({
      api: 'responses',
      terminator: 'stop-event',
      sentinel: 'required',
      finishReason: 'required',
      repairs: [],
    })
    expect(adapterFor('responses').api).toBe('responses')
  })

  test('a profile may relax it', () => {
    const profile = { sentinel: 'optional', finishReason: 'optional', repairs: ['double-encoded'] } as const
    expect(responses(profile as never)).toMatchObject(profile)
  })

  test('ended at the terminal event only, finished also at [DONE]', () => {
    const machine = responses().open({ request: {}, limits: DEFAULT_LIMITS, idSeed: '' })
    const { out } = createOutput()
    const state = (): unknown => [machine.ended, machine.finished, [...machine.choices], machine.wholeCompletion]
    expect(state()).toEqual([false, false, [], false])
    machine.push({ data: JSON.stringify(created()) }, out)
    expect(state()).toEqual([false, false, [0], false])
    machine.push({ data: '[DONE]' }, out)
    expect(state()).toEqual([false, true, [0], false])
    machine.push({ data: JSON.stringify(completed()) }, out)
    expect(state()).toEqual([true, true, [0], false])
  })
})

describe('two responses in one stream', () => {
  const second = created({ id: 'resp_2', model: 'm-2' })

  test('after output it is a splice', () => {
    const { chunks } = collectResponses([created(), added(0, message()), second])
    expect(ofType(chunks, 'error')[0]!.error).toMatchObject({ code: 'stream_splice', retryable: 'restart' })
  })

  test('before any output the first was an attempt that failed', () => {
    const { chunks, notes } = collectResponses([created(), second, ...wholeMessage(0, ['Hi'])])
    expect(ofType(chunks, 'error')).toEqual([])
    expect(notes).toEqual(['splice_suspected', 'response_id_changed'])
  })

  test('the same response announced twice is one', () => {
    const { chunks, notes } = collectResponses([created(), created(), ...wholeMessage(0, ['Hi'])])
    expect(ofType(chunks, 'start')).toHaveLength(1)
    expect(notes).toEqual([])
  })
})

describe('the rest', () => {
  test('fields that nobody knows are kept', () => {
    const { chunks } = collectResponses([
      created({ service_tier: 'default' }),
      { ...completed([], { service_tier: 'flex', incomplete_details: null }), vendor_usage: { units: 3 } },
    ])
    expect(ofType(chunks, 'metadata')).toEqual([
      { type: 'metadata', replace: { service_tier: 'default' } },
      { type: 'metadata', replace: { vendor_usage: { units: 3 } } },
      { type: 'metadata', replace: { service_tier: 'flex' } },
    ])
  })

  test('audio is kept', () => {
    const { chunks } = collectResponses([
      created(),
      { type: 'response.audio.delta', delta: 'UklG' },
      { type: 'response.audio.transcript.delta', delta: 'Hi' },
      { type: 'response.audio.delta', delta: 5 },
    ])
    expect(ofType(chunks, 'metadata')).toEqual([
      { type: 'metadata', choice: 0, append: { audio: ['UklG'] } },
      { type: 'metadata', choice: 0, append: { audio_transcript: ['Hi'] } },
    ])
  })

  test('after an error only usage and the wire’s own end are read', () => {
    const machine = responses().open({ request: {}, limits: DEFAULT_LIMITS, idSeed: '' })
    const { out } = createOutput()
    const usage = { input_tokens: 1, output_tokens: 0 }
    for (const event of [textDelta(0, 'x'), ended('failed', { usage }), 'x', '{', '[DONE]']) {
      machine.readUsageOnly({ data: typeof event === 'string' ? event : JSON.stringify(event) }, out)
    }
    expect(out.chunks).toEqual([
      { type: 'usage', usage: { inputTokens: 1, outputTokens: 0, raw: usage } },
      { type: 'finish', reason: 'error', raw: 'failed' },
    ])
  })

  test('bytes that are not UTF-8 in a line that is no field of an event may have been those of its name: a hole', () => {
    const machine = responses().open({ request: {}, limits: DEFAULT_LIMITS, idSeed: '' })
    const { out } = createOutput()
    machine.push({ data: '', fields: [{ name: 'd\ufffdta', value: '[DONE]' }], invalidUtf8: true }, out)
    expect(out.skipped).toEqual([{ message: 'an event has bytes that are not UTF-8, outside of any text' }])
  })

  test('a response that is not a stream and not over has no finish', () => {
    for (const status of ['queued', 'in_progress']) {
      const { chunks, machine } = collectResponses([response(status, { output: [message('Hi')] })])
      expect(ofType(chunks, 'finish')).toEqual([])
      expect(machine.wholeCompletion).toBe(false)
    }
  })

  test('the name of an event that contradicts its type is a finding, and the type counts', () => {
    const machine = responses().open({ request: {}, limits: DEFAULT_LIMITS, idSeed: '' })
    const { out, notes } = createOutput()
    machine.push({ data: JSON.stringify(created()), event: 'response.completed' }, out)
    expect([machine.ended, notes]).toEqual([
      false,
      ['unexpected_field: event: response.completed for a response.created'],
    ])
  })
})
