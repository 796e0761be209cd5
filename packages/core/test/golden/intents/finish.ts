import type { ClassIntents } from '../intent.ts'

export const finish: ClassIntents = {
  'empty-delta-then-usage': {
    about: 'the finish reason comes alone, and usage after it',
    faults: ['F104'],
    outcome: 'completed',
    choices: [{ text: 'Usage comes last.', finish: ['stop', 'stop'] }],
    usage: [11, 5],
  },
  'null-delta': {
    about: 'delta null on the finish chunk, then choices null',
    faults: ['F030'],
    outcome: 'completed',
    choices: [{ text: 'Null delta.', finish: ['stop', 'stop'] }],
  },
  'no-delta': {
    about: 'no delta at all on the finish chunk',
    faults: ['F025', 'F030'],
    outcome: 'completed',
    choices: [{ text: 'No delta.', finish: ['stop', 'stop'] }],
  },
  'with-last-text': {
    about: 'the last text and the finish reason share a chunk',
    faults: ['F100'],
    outcome: 'completed',
    choices: [{ text: 'The tail is kept.', finish: ['stop', 'stop'] }],
  },
  'with-last-arguments': {
    about: 'the last arguments and the finish reason share a chunk',
    faults: ['F193'],
    outcome: 'completed',
    choices: [{ calls: [['add', '{"a":1}', 'complete', null]], finish: ['tool-calls', 'tool_calls'] }],
    usage: [7, 9],
  },
  'on-the-first-chunk': {
    about: 'a finish reason on the first chunk is provisional: text goes on',
    faults: ['F099'],
    outcome: 'completed',
    choices: [{ text: 'It was not over.', finish: ['stop', 'stop'] }],
    found: ['content_after_finish'],
  },
  'empty-strings': {
    about: 'finish_reason is an empty string on every chunk, even the last',
    faults: ['F098'],
    outcome: 'degraded',
    choices: [{ text: 'Not an end.', finish: [null, null] }],
    found: ['finish_reason_empty', 'missing_finish_reason'],
  },
  'stop-with-calls': {
    about: 'stop with complete calls means tool calls; the raw reason is kept',
    faults: ['F091'],
    outcome: 'completed',
    choices: [
      {
        calls: [
          ['add', '{"a":1}', 'complete', null],
          ['add', '{"a":2}', 'complete', null],
        ],
        finish: ['tool-calls', 'stop'],
      },
    ],
    found: ['finish_reason_mismatch'],
  },
  'tool-calls-without-calls': {
    about: 'the reason says tool calls, and there is only text',
    faults: ['F082'],
    outcome: 'degraded',
    choices: [{ text: 'I would call a tool.', finish: ['tool-calls', 'tool_calls'] }],
    found: ['finish_without_calls'],
  },
  'tool-calls-after-reasoning-only': {
    about: 'the reason says tool calls, and there is only reasoning',
    faults: ['F082', 'F105'],
    outcome: 'empty',
    choices: [{ reasoning: 'Maybe a tool.', finish: ['tool-calls', 'tool_calls'] }],
    found: ['finish_without_calls'],
  },
  repeated: {
    about: 'the same finish reason comes twice',
    faults: ['F099'],
    outcome: 'completed',
    choices: [{ text: 'Said twice.', finish: ['stop', 'stop'] }],
    usage: [3, 3],
  },
  changed: {
    about: 'tool calls first, then length: the finish reason is provisional, and length is never undone',
    faults: ['F099'],
    outcome: 'truncated',
    choices: [{ calls: [['add', '{"a":1}', 'complete', 'output_truncated']], finish: ['length', 'length'] }],
    found: ['finish_reason_mismatch'],
  },
  'arguments-after': {
    about: 'arguments after the finish reason contradict a call that was closed',
    faults: ['F099'],
    outcome: 'failed',
    error: { code: 'protocol_conflict', retryable: 'restart' },
    choices: [
      {
        text: 'Careful. ',
        calls: [['pay', undefined, 'failed', 'protocol_conflict']],
        finish: ['tool-calls', 'tool_calls'],
      },
    ],
  },
}
