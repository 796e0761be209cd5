import type { ClassIntents } from '../intent.ts'

export const badFields: ClassIntents = {
  'unreadable-event-before-a-call': {
    about: 'an event that is not JSON amid good ones: text goes on, a later call is whole and held',
    faults: ['F128'],
    outcome: 'degraded',
    choices: [
      {
        text: 'Before. After. ',
        calls: [['add', '{"a":1}', 'complete', 'event_skipped']],
        finish: ['tool-calls', 'tool_calls'],
      },
    ],
    found: ['skipped_event'],
  },
  'unreadable-event-inside-a-call': {
    about: 'the lost event may have held arguments: the open call fails, text goes on',
    faults: ['F056', 'F128'],
    outcome: 'degraded',
    choices: [
      {
        text: 'Hm. Text goes on.',
        calls: [['add', undefined, 'failed', 'invalid_event_json']],
        finish: ['tool-calls', 'tool_calls'],
      },
    ],
    found: ['skipped_event'],
  },
  'unreadable-event-strict': {
    about: 'policy strict: the same ends the stream',
    faults: ['F128'],
    options: { policy: 'strict' },
    outcome: 'failed',
    error: { code: 'invalid_event_json', retryable: 'restart' },
    choices: [{ text: 'Before. ', finish: [null, null] }],
    found: ['skipped_event'],
  },
  'raw-control-in-an-event': {
    about: 'a raw control character makes the JSON of one event unreadable',
    faults: ['F056'],
    outcome: 'degraded',
    choices: [{ text: 'One. Four.', finish: ['stop', 'stop'] }],
    found: ['skipped_event'],
  },
  'fragment-not-an-object': {
    about: 'an element of tool_calls is text: it may have been arguments, so the open call fails',
    faults: ['F056'],
    outcome: 'degraded',
    choices: [
      {
        text: 'On.',
        calls: [['add', undefined, 'failed', 'invalid_event_json']],
        finish: ['tool-calls', 'tool_calls'],
      },
    ],
    found: ['skipped_event'],
  },
  'wrong-types': {
    about: 'content, delta, a choice and tool_calls of types that no server may send',
    faults: [],
    outcome: 'degraded',
    choices: [{ text: 'Types. Done.', finish: ['stop', 'stop'] }],
    found: ['unexpected_field', 'skipped_event'],
  },
  'no-choices': {
    about: 'objects without choices, and choices that are no list',
    faults: ['F031'],
    outcome: 'degraded',
    choices: [{ text: 'Who asked?', finish: ['stop', 'stop'] }],
    found: ['skipped_event', 'unknown_event'],
  },
  'event-too-long': {
    about: 'an event is longer than the limit: an error, never a clean end',
    faults: ['F005'],
    options: { limits: { eventBytes: 300 } },
    outcome: 'failed',
    error: { code: 'event_limit_exceeded', retryable: 'no' },
    choices: [{ text: 'Short. ', finish: [null, null] }],
  },
  'arguments-too-long': {
    about: 'arguments grow beyond the limit, counted in UTF-8 bytes',
    faults: ['F005'],
    options: { limits: { argumentBytes: 64 } },
    outcome: 'failed',
    error: { code: 'argument_limit_exceeded', retryable: 'no' },
    choices: [
      {
        text: 'Big. ',
        calls: [['write_file', undefined, 'failed', 'argument_limit_exceeded']],
        finish: [null, null],
      },
    ],
  },
  'arguments-at-the-limit': {
    about: 'arguments of exactly as many bytes as the limit allows',
    faults: ['F005'],
    options: { limits: { argumentBytes: 51 } },
    outcome: 'completed',
    choices: [
      {
        calls: [['write_file', `{"body":"${'é'.repeat(20)}"}`, 'complete', null]],
        finish: ['tool-calls', 'tool_calls'],
      },
    ],
  },
  'too-many-calls': {
    about: 'more calls than the limit allows',
    faults: [],
    options: { limits: { callsPerChoice: 2 } },
    outcome: 'failed',
    error: { code: 'call_limit_exceeded', retryable: 'no' },
    choices: [
      {
        calls: [
          ['add', '{"a":0}', 'failed', 'call_limit_exceeded'],
          ['add', '{"a":1}', 'failed', 'call_limit_exceeded'],
        ],
        finish: [null, null],
      },
    ],
  },
  'too-many-choices': {
    about: 'more choices than the limit allows',
    faults: [],
    options: { limits: { choices: 2 } },
    outcome: 'failed',
    error: { code: 'choice_limit_exceeded', retryable: 'no' },
    choices: [
      { text: 'zero', finish: [null, null] },
      { text: 'one', finish: [null, null] },
    ],
  },
  'stream-too-long': {
    about: 'the body is longer than the limit',
    faults: ['F005'],
    options: { limits: { streamBytes: 200 } },
    outcome: 'failed',
    error: { code: 'stream_limit_exceeded', retryable: 'no' },
    choices: [{ text: 'First. ', finish: [null, null] }],
  },
  roles: {
    about: 'role empty, null, repeated and after a call: always one assistant message',
    faults: ['F028', 'F029'],
    outcome: 'completed',
    choices: [
      {
        text: 'Once only.',
        calls: [['add', '{"a":1}', 'complete', null]],
        finish: ['tool-calls', 'tool_calls'],
      },
    ],
  },
  'response-ids-change': {
    about: 'every chunk has another response id: one message all the same',
    faults: ['F035'],
    outcome: 'completed',
    choices: [{ text: 'One message.', finish: ['stop', 'stop'] }],
    found: ['response_id_changed'],
  },
  'two-generations': {
    about: 'another id, another model and a new role inside one stream: two answers were joined',
    faults: ['F124', 'F129'],
    outcome: 'failed',
    error: { code: 'stream_splice', retryable: 'restart' },
    choices: [{ text: 'The first answer ', finish: [null, null] }],
  },
  'message-beside-delta': {
    about: 'a cumulative message beside each delta is ignored',
    faults: ['F026'],
    outcome: 'completed',
    choices: [{ text: 'The delta wins.', finish: ['stop', 'stop'] }],
    absent: ['downgraded_to_json'],
  },
  'empty-lists': {
    about: 'empty lists and strings on every delta split nothing: one reasoning block, one text block',
    faults: ['F034'],
    outcome: 'completed',
    choices: [{ reasoning: 'Mulling it.', text: 'One block.', finish: ['stop', 'stop'] }],
    absent: ['legacy_function_call'],
  },
  'usage-everywhere': {
    about: 'usage on many chunks, zero first, null in between: the latest counts',
    faults: ['F027'],
    outcome: 'completed',
    choices: [{ text: 'Count the latest only.', finish: ['stop', 'stop'] }],
    usage: [10, 30],
    absent: ['usage_decreased'],
  },
}
