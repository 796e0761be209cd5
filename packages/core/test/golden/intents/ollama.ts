import type { ClassIntents } from '../intent.ts'

export const ollama: ClassIntents = {
  chat: {
    about: 'text line by line; the last line has the counters',
    faults: ['F187'],
    outcome: 'completed',
    choices: [{ text: 'Kelp sways 🌿.', finish: ['stop', 'stop'] }],
    usage: [11, 7],
    found: ['ndjson_framing'],
  },
  calls: {
    about: 'thinking, then two whole calls with arguments as objects; the finish reason is stop',
    faults: ['F038', 'F091'],
    outcome: 'completed',
    choices: [
      {
        reasoning: 'Two reefs.',
        calls: [
          ['reef', '{"id":1,"deep":true}', 'complete', null],
          ['reef', '{}', 'complete', null],
        ],
        finish: ['tool-calls', 'stop'],
      },
    ],
    usage: [11, 7],
    found: ['missing_id'],
  },
  generate: {
    about: '/api/generate, cut at the token limit; its context is kept',
    faults: [],
    outcome: 'truncated',
    choices: [{ reasoning: 'Count. ', text: 'One, two,', finish: ['length', 'length'] }],
    usage: [11, 7],
    metadata: { context: [1, 2, 3] },
  },
  'error-line': {
    about: 'an error as a line of its own, under a 200',
    faults: ['F107'],
    outcome: 'failed',
    error: { code: 'upstream_error', retryable: 'restart' },
    choices: [{ text: 'Kelp ', finish: [null, null] }],
  },
  'no-end': {
    about: 'the body ends without a line that is done: the call is whole and is not run',
    faults: ['F095'],
    outcome: 'incomplete',
    error: { code: 'incomplete_stream', retryable: 'restart' },
    choices: [
      {
        text: 'Looking.',
        calls: [['reef', '{"id":1}', 'complete', 'incomplete_stream']],
        finish: [null, null],
      },
    ],
  },
  'without-reason': {
    about: 'done, as old servers say it, without a reason: calls are held',
    faults: ['F096'],
    outcome: 'degraded',
    choices: [
      {
        text: 'Kelp.',
        calls: [['reef', '{"id":1}', 'complete', 'missing_finish_reason']],
        finish: [null, null],
      },
    ],
    usage: [11, 7],
    found: ['missing_finish_reason'],
  },
}
