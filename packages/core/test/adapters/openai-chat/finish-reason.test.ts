import { describe, expect, test } from 'vitest'
import { finishReasonOf, isLasting } from '../../../src/adapters/openai-chat/finish-reason.ts'
import type { FinishReason } from '../../../src/chunk/finish-reason.ts'

const known: Readonly<Record<Exclude<FinishReason, 'unknown'>, readonly string[]>> = {
  stop: ['stop', 'eos', 'eos_token', 'stop_sequence', 'end_turn', 'complete', 'STOP'],
  'tool-calls': ['tool_calls', 'function_call', 'tool_use', 'tool_call', 'Tool_Calls'],
  length: ['length', 'max_tokens', 'max_output_tokens', 'model_length', 'MAX_TOKENS'],
  'content-filter': ['content_filter', 'safety', 'recitation', 'refusal', 'SAFETY'],
  pause: ['pause_turn'],
  error: [
    'error',
    'network_error',
    'insufficient_system_resource',
    'malformed_function_call',
    'MALFORMED_FUNCTION_CALL',
  ],
  aborted: ['abort', 'aborted', 'cancelled'],
}

describe('finishReasonOf', () => {
  test.each(Object.entries(known).flatMap(([reason, raws]) => raws.map((raw) => ({ raw, reason }))))(
    '$raw is $reason',
    ({ raw, reason }) => {
      expect(finishReasonOf(raw, {})).toBe(reason)
    },
  )

  test.each([
    'repetition',
    'stop ',
    ' stop',
    'toolcalls',
    'null',
    '0',
    'constructor',
    '__proto__',
    'toString',
    'hasOwnProperty',
  ])('%j is unknown, never stop', (raw) => {
    expect(finishReasonOf(raw, {})).toBe('unknown')
  })

  test('an alias goes first, in its exact spelling', () => {
    const aliases = { stop: 'pause', Done: 'stop' } as const
    expect(finishReasonOf('stop', aliases)).toBe('pause')
    expect(finishReasonOf('Done', aliases)).toBe('stop')
    expect(finishReasonOf('done', aliases)).toBe('unknown')
    expect(finishReasonOf('STOP', aliases)).toBe('stop')
  })

  test('what an object inherits is no alias', () => {
    expect(finishReasonOf('toString', {})).toBe('unknown')
    expect(finishReasonOf('constructor', { other: 'stop' })).toBe('unknown')
  })
})

test('a bad end and an unknown one last, a good one does not', () => {
  const lasting = Object.keys(known).filter((reason) => isLasting(reason as FinishReason))
  expect(lasting).toEqual(['length', 'content-filter', 'error', 'aborted'])
  expect(isLasting('unknown')).toBe(true)
})
