import type { ClassIntents } from '../intent.ts'

export const completions: ClassIntents = {
  text: {
    about: 'text, a finish reason with the last of it, usage in a chunk of its own',
    faults: ['F100', 'F104'],
    outcome: 'completed',
    choices: [{ text: 'Ink dries fast.', finish: ['stop', 'stop'] }],
    usage: [4, 6],
    absent: ['downgraded_to_json'],
  },
  'two-choices': {
    about: 'two choices that take turns, one of them cut',
    faults: ['F081'],
    request: { n: 2 },
    outcome: 'truncated',
    choices: [
      { text: 'Red ink', finish: ['length', 'length'] },
      { text: 'Blue ink', finish: ['stop', 'stop'] },
    ],
  },
  'no-sentinel': {
    about: 'a finish reason, and no [DONE]',
    faults: ['F101'],
    outcome: 'degraded',
    choices: [{ text: 'Ink.', finish: ['stop', 'stop'] }],
    found: ['missing_sentinel'],
  },
  whole: {
    about: 'one whole completion that was not streamed',
    faults: ['F184'],
    outcome: 'completed',
    choices: [{ text: 'Ink dries fast.', finish: ['stop', 'stop'] }],
    usage: [4, 6],
    found: ['downgraded_to_json'],
  },
  error: {
    about: 'an error in place of a chunk, then [DONE]',
    faults: ['F107'],
    outcome: 'failed',
    error: { code: 'upstream_error', retryable: 'restart', status: 500 },
    choices: [{ text: 'Ink ', finish: [null, null] }],
  },
}
