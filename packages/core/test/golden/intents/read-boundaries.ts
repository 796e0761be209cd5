import type { ChoiceIntent, ClassIntents } from '../intent.ts'

const stop = (text: string): readonly ChoiceIntent[] => [{ text, finish: ['stop', 'stop'] }]

export const readBoundaries: ClassIntents = {
  'awkward-reads': {
    about: 'reads end inside field names, between CR and LF, inside escapes, ids and the sentinel',
    faults: ['F001', 'F014'],
    outcome: 'completed',
    choices: [
      {
        text: 'Caf\u00e9? ',
        calls: [['get_weather', '{"city":"T\\u00f8nsberg"}', 'complete', null]],
        finish: ['tool-calls', 'tool_calls'],
      },
    ],
    usage: [21, 17],
    absent: ['missing_usage', 'unknown_sse_field'],
  },
  'reads-inside-characters': {
    about: 'reads end inside characters of two, three and four bytes, in text and in arguments',
    faults: ['F001'],
    outcome: 'completed',
    choices: [
      {
        text: '雪🎿 e\u0301\u0302'.replace('e\u0301', '\u00e9'),
        calls: [['get_weather', '{"city":"大阪"}', 'complete', null]],
        finish: ['tool-calls', 'tool_calls'],
      },
    ],
    usage: [20, 11],
  },
  'several-events-per-read': {
    about: 'one read holds several events and half of the next, and one read is empty',
    faults: ['F001'],
    outcome: 'completed',
    choices: stop('Several events in one read.'),
    usage: [12, 8],
  },
  'reset-after-the-end': {
    about: 'the connection is reset after [DONE]: nothing was lost',
    faults: ['F002'],
    outcome: 'completed',
    choices: stop('All here.'),
    found: ['transport_error_after_end'],
  },
  'reset-inside-a-call': {
    about: 'the connection is reset inside an event, while a call is open',
    faults: ['F002', 'F095'],
    outcome: 'incomplete',
    error: { code: 'incomplete_stream', retryable: 'restart' },
    choices: [
      {
        text: 'Let me look. ',
        calls: [['get_weather', '{"city":"Os', 'failed', 'incomplete_stream']],
        finish: [null, null],
      },
    ],
    absent: ['unterminated_last_event'],
  },
  'idle-timeout': {
    about: 'the stream went silent and the idle timer ended it',
    faults: ['F118'],
    outcome: 'incomplete',
    error: { code: 'idle_timeout', retryable: 'restart' },
    choices: [{ text: 'The answer is ', finish: [null, null] }],
  },
  aborted: {
    about: 'the consumer stopped while a call was open; a whole document is still not a call that may run',
    faults: ['F009', 'F206'],
    outcome: 'cancelled',
    error: { code: 'cancelled', retryable: 'no' },
    choices: [
      {
        text: 'Checking. ',
        calls: [['get_weather', '{"city":"Oslo"}', 'failed', 'cancelled']],
        finish: [null, null],
      },
    ],
  },
  'no-end-line': {
    about: 'the recorder died after [DONE] was received: how the transport ended is not known and does not matter',
    faults: ['F197'],
    outcome: 'completed',
    choices: stop('The recorder died after this.'),
  },
}
