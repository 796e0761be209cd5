import type { ClassIntents } from '../intent.ts'

export const cohere: ClassIntents = {
  text: {
    about: 'thinking, then text with a citation, each under its index; [DONE] comes behind the end',
    faults: ['F168'],
    outcome: 'completed',
    choices: [
      {
        reasoning: 'Warm water.',
        text: 'Coral bleaches.',
        finish: ['stop', 'COMPLETE'],
        metadata: { citations: [{ text: 'Coral' }] },
      },
    ],
    usage: [9, 5],
    absent: ['data_after_end'],
  },
  calls: {
    about: 'a plan, then two calls one after the other, the second without arguments',
    faults: ['F042'],
    outcome: 'completed',
    choices: [
      {
        reasoning: 'I look twice.',
        calls: [
          ['reef', '{\n  "id": 1}', 'complete', null],
          ['tide', '', 'complete', null],
        ],
        finish: ['tool-calls', 'TOOL_CALL'],
      },
    ],
    usage: [9, 5],
    found: ['arguments_empty'],
  },
  'interleaved-calls': {
    about: 'two calls take turns and are closed in the other order',
    faults: ['F067'],
    outcome: 'completed',
    choices: [
      {
        calls: [
          ['reef', '{"id":1}', 'complete', null],
          ['reef', '{"id":2}', 'complete', null],
        ],
        finish: ['tool-calls', 'TOOL_CALL'],
      },
    ],
    usage: [9, 5],
  },
  'unclosed-call': {
    about: 'one call is never closed: it is whole, and held with its sibling',
    faults: [],
    outcome: 'completed',
    choices: [
      {
        calls: [
          ['reef', '{"id":1}', 'complete', 'missing_finish_reason'],
          ['reef', '{"id":2}', 'complete', 'batch_held'],
        ],
        finish: ['tool-calls', 'TOOL_CALL'],
      },
    ],
    usage: [9, 5],
  },
  'stray-delta': {
    about: 'arguments for a call that was never opened: something is missing, so nothing is run',
    faults: ['F158'],
    outcome: 'degraded',
    choices: [
      {
        calls: [['reef', '{"id":1}', 'failed', 'invalid_event_json']],
        finish: ['tool-calls', 'TOOL_CALL'],
      },
    ],
    usage: [9, 5],
    found: ['skipped_event'],
  },
  'error-reason': {
    about: 'the finish reason is an error',
    faults: ['F111'],
    outcome: 'failed',
    error: { code: 'upstream_error', retryable: 'restart' },
    choices: [{ text: 'Coral ', finish: ['error', 'ERROR'] }],
    usage: [9, 5],
  },
  'no-end': {
    about: 'the body ends without message-end: a call that was closed is whole, and not run',
    faults: ['F095'],
    outcome: 'incomplete',
    error: { code: 'incomplete_stream', retryable: 'restart' },
    choices: [{ calls: [['reef', '{"id":1}', 'complete', 'incomplete_stream']], finish: [null, null] }],
  },
  'version-1': {
    about: 'the JSON lines of version 1: text, and a whole call with its parameters',
    faults: ['F038', 'F187'],
    outcome: 'completed',
    choices: [
      {
        text: 'Let me see.',
        calls: [['reef', '{"id":1}', 'complete', null]],
        finish: ['tool-calls', 'COMPLETE'],
      },
    ],
    usage: [30, 6],
    found: ['missing_id', 'ndjson_framing'],
  },
}
