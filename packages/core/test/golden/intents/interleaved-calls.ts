import type { ClassIntents } from '../intent.ts'

export const interleavedCalls: ClassIntents = {
  'two-calls': {
    about: 'fragments of two calls take turns, later ones with an index only',
    faults: ['F067'],
    outcome: 'completed',
    choices: [
      {
        calls: [
          ['add', '{"a":1}', 'complete', null],
          ['sub', '{"b":2}', 'complete', null],
        ],
        finish: ['tool-calls', 'tool_calls'],
      },
    ],
  },
  'two-calls-in-one-delta': {
    about: 'one delta holds fragments of both calls, the last one with the finish reason too',
    faults: ['F087', 'F193'],
    outcome: 'completed',
    choices: [
      {
        calls: [
          ['add', '{"a":1}', 'complete', null],
          ['sub', '{"b":2}', 'complete', null],
        ],
        finish: ['tool-calls', 'tool_calls'],
      },
    ],
  },
  'text-between-fragments': {
    about: 'text between the fragments of two calls closes neither',
    faults: ['F053'],
    outcome: 'completed',
    choices: [
      {
        text: '\n Looking.',
        calls: [
          ['add', '{"a":1}', 'complete', null],
          ['sub', '{"b":2}', 'complete', null],
        ],
        finish: ['tool-calls', 'tool_calls'],
      },
    ],
  },
  'two-choices': {
    about: 'two choices take turns, each with a call of index 0 and a finish reason of its own',
    faults: ['F081'],
    request: { n: 2 },
    outcome: 'completed',
    choices: [
      {
        text: 'Zero. ',
        calls: [['add', '{"a":1}', 'complete', null]],
        finish: ['tool-calls', 'tool_calls'],
      },
      {
        text: 'One. ',
        calls: [['sub', '{"b":2}', 'complete', null]],
        finish: ['tool-calls', 'tool_calls'],
      },
    ],
    usage: [5, 30],
    absent: ['missing_index'],
  },
  'second-choice-unfinished': {
    about: 'one of two choices never gets a finish reason: its call is held, the other one goes',
    faults: ['F081', 'F096'],
    request: { n: 2 },
    outcome: 'degraded',
    choices: [
      { calls: [['add', '{"a":1}', 'complete', null]], finish: ['tool-calls', 'tool_calls'] },
      { calls: [['sub', '{"b":2}', 'complete', 'missing_finish_reason']], finish: [null, null] },
    ],
    found: ['missing_finish_reason'],
  },
  'second-choice-missing': {
    about: 'two choices were asked for and one came',
    faults: ['F081'],
    request: { n: 2 },
    outcome: 'completed',
    choices: [{ text: 'Only one came.', finish: ['stop', 'stop'] }],
    found: ['missing_choice'],
  },
  'one-incomplete-sibling': {
    about: 'one call of two is not whole: it fails and holds the other',
    faults: ['F050', 'F092'],
    outcome: 'completed',
    choices: [
      {
        calls: [
          ['add', '{"a":1}', 'complete', 'batch_held'],
          ['sub', '{"b":2', 'failed', 'arguments_incomplete'],
        ],
        finish: ['tool-calls', 'tool_calls'],
      },
    ],
  },
  'one-incomplete-sibling-each': {
    about: 'the same with batch "each": the whole one goes alone',
    faults: ['F050', 'F092'],
    options: { batch: 'each' },
    outcome: 'completed',
    choices: [
      {
        calls: [
          ['add', '{"a":1}', 'complete', null],
          ['sub', '{"b":2', 'failed', 'arguments_incomplete'],
        ],
        finish: ['tool-calls', 'tool_calls'],
      },
    ],
  },
}
