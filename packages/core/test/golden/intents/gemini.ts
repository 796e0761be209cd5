import type { ClassIntents } from '../intent.ts'

export const gemini: ClassIntents = {
  text: {
    about: 'text, counters that grow, and a finish reason alone: CRLF line ends, and no sentinel exists',
    faults: ['F172', 'F178'],
    outcome: 'completed',
    choices: [{ text: 'Tides follow the moon 🌙.', finish: ['stop', 'STOP'] }],
    usage: [7, 14],
    absent: ['usage_decreased'],
  },
  'finish-on-every-chunk': {
    about: 'every chunk has a finish reason, and only the end of the body is the end',
    faults: ['F170'],
    outcome: 'completed',
    choices: [{ text: 'Low water at nine.', finish: ['stop', 'STOP'] }],
    found: ['content_after_finish'],
  },
  'call-then-empty-finish': {
    about: 'a call with a thought signature, then STOP in a chunk without content: the normal tool turn',
    faults: ['F173', 'F179'],
    outcome: 'completed',
    choices: [
      {
        calls: [['tide_table', '{"port":"Brest","day":3}', 'complete', null]],
        finish: ['tool-calls', 'STOP'],
      },
    ],
    usage: [20, 8],
    found: ['missing_id'],
  },
  'parallel-calls': {
    about: 'three calls without ids, one per chunk, two of them equal: three calls',
    faults: ['F174'],
    outcome: 'completed',
    choices: [
      {
        calls: [
          ['depth', '{"buoy":"A"}', 'complete', null],
          ['depth', '{"buoy":"B"}', 'complete', null],
          ['depth', '{"buoy":"B"}', 'complete', null],
        ],
        finish: ['tool-calls', 'STOP'],
      },
    ],
    usage: [15, 21],
    found: ['missing_id'],
  },
  'calls-with-ids': {
    about: 'text and two calls in one chunk, the second without arguments',
    faults: [],
    outcome: 'completed',
    choices: [
      {
        text: 'Both buoys:',
        calls: [
          ['depth', '{"buoy":"A"}', 'complete', null],
          ['drift', '{}', 'complete', null],
        ],
        finish: ['tool-calls', 'STOP'],
      },
    ],
    usage: [15, 12],
    absent: ['missing_id', 'arguments_as_object'],
  },
  thoughts: {
    about: 'thought parts are reasoning; the signature comes on an empty text at the end',
    faults: ['F179'],
    outcome: 'completed',
    choices: [
      {
        reasoning: 'High water comes twice a day.',
        text: 'About every 12 h 25 min.',
        finish: ['stop', 'STOP'],
      },
    ],
    usage: [9, 11],
  },
  'partial-arguments': {
    about: 'arguments in pieces with paths, closed by an empty call; then a call without any',
    faults: [],
    outcome: 'completed',
    choices: [
      {
        calls: [
          [
            'log_entry',
            '{"ship":{"name":"Étoile du \\"Nord\\""},"crew":["Ada",null],"draught":4.5,"docked":false}',
            'complete',
            null,
          ],
          ['noop', '{}', 'complete', null],
        ],
        finish: ['tool-calls', 'STOP'],
      },
    ],
    usage: [30, 25],
    absent: ['call_close_inferred'],
  },
  'partial-arguments-cut': {
    about: 'a text that was said to continue never does: the arguments are not whole, whatever the finish reason says',
    faults: ['F057'],
    outcome: 'completed',
    choices: [
      {
        calls: [['log_entry', '{"text":"Passed the li"', 'failed', 'arguments_incomplete']],
        finish: ['tool-calls', 'STOP'],
      },
    ],
    usage: [30, 25],
    found: ['call_close_inferred'],
  },
  'partial-arguments-unclosed': {
    about: 'the next call closes one whose arguments are whole; one that was to continue and has none is not run',
    faults: [],
    outcome: 'completed',
    choices: [
      {
        calls: [
          ['log_entry', '{"text":"Moored"}', 'complete', 'batch_held'],
          ['noop', '{}', 'complete', 'arguments_unsafe'],
        ],
        finish: ['tool-calls', 'STOP'],
      },
    ],
    usage: [30, 25],
    found: ['call_close_inferred'],
  },
  'prompt-blocked': {
    about: 'the prompt was blocked: no candidate at all, and why is kept',
    faults: [],
    outcome: 'refused',
    choices: [{ finish: ['content-filter', null] }],
    metadata: { promptFeedback: { blockReason: 'SAFETY' } },
  },
  'malformed-call': {
    about: 'the model made a call that is none: a failure that may be tried again, no empty success',
    faults: ['F180'],
    outcome: 'failed',
    error: { code: 'upstream_error', retryable: 'yes' },
    choices: [{ finish: ['error', 'MALFORMED_FUNCTION_CALL'], metadata: { finishMessage: 'print(depth(' } }],
  },
  'json-array': {
    about: 'without alt=sse: one JSON array, element by element, with brackets inside its texts',
    faults: ['F176'],
    outcome: 'completed',
    choices: [
      {
        text: 'Ebb, then "flood" [sic].',
        calls: [['depth', '{"buoy":"}]"}', 'complete', null]],
        finish: ['tool-calls', 'STOP'],
      },
    ],
    usage: [5, 9],
    found: ['json_array_framing'],
  },
  'json-array-open': {
    about: 'the array is never closed, so its end is not proven',
    faults: ['F176'],
    outcome: 'degraded',
    choices: [{ text: 'Ebb.', finish: ['stop', 'STOP'] }],
    usage: [5, 6],
    found: ['json_array_framing', 'missing_sentinel'],
  },
  'error-array': {
    about: 'an error in place of the first element',
    faults: ['F107', 'F109'],
    outcome: 'failed',
    error: { code: 'rate_limited', retryable: 'yes', status: 429 },
    choices: [],
    found: ['json_array_framing'],
  },
  'error-unframed': {
    about: 'an error amid events as bare, indented JSON',
    faults: ['F107', 'F183'],
    outcome: 'failed',
    error: { code: 'upstream_error', retryable: 'restart', status: 503 },
    choices: [{ text: 'The tide ', finish: [null, null] }],
    usage: [5, 2],
  },
  'code-execution': {
    about: 'code that the provider ran itself: never offered, and no reason to stop',
    faults: ['F083'],
    outcome: 'completed',
    choices: [
      {
        text: '1490 minutes.',
        calls: [['code_execution', '{"language":"PYTHON","code":"print(2 * 745)"}', 'complete', 'provider_executed']],
        finish: ['stop', 'STOP'],
      },
    ],
    usage: [14, 9],
    absent: ['missing_id'],
  },
  'max-tokens': {
    about: 'cut at the token limit with one call whole and one open',
    faults: ['F093'],
    outcome: 'truncated',
    choices: [
      {
        text: 'I will look it up.',
        calls: [
          ['depth', '{"buoy":"A"}', 'complete', 'output_truncated'],
          ['depth', '{"buoy":"B"', 'failed', 'arguments_incomplete'],
        ],
        finish: ['length', 'MAX_TOKENS'],
      },
    ],
    usage: [14, 64],
  },
  'two-candidates': {
    about: 'two candidates that take turns, out of order; one is filtered',
    faults: ['F081'],
    request: { n: 2 },
    outcome: 'refused',
    choices: [
      { text: 'Spring tide!', finish: ['stop', 'STOP'] },
      {
        text: 'Neap tide.',
        finish: ['content-filter', 'RECITATION'],
        metadata: { citationMetadata: { citationSources: [{ startIndex: 0, endIndex: 9 }] } },
      },
    ],
    usage: [8, 10],
  },
  'rounded-number': {
    about: 'an argument that reading the event has rounded: held',
    faults: ['F038'],
    outcome: 'completed',
    choices: [
      {
        calls: [['ship', '{"imo":9007199254740992}', 'complete', 'arguments_unsafe']],
        finish: ['tool-calls', 'STOP'],
      },
    ],
    found: ['missing_id'],
  },
  image: {
    about: 'an image and no text: content, and no empty answer',
    faults: [],
    outcome: 'completed',
    choices: [{ finish: ['stop', 'STOP'] }],
    usage: [6, 258],
  },
}
