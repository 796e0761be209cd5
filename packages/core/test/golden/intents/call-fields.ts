import type { CallIntent, ChoiceIntent, ClassIntents } from '../intent.ts'

const calls = (...list: readonly CallIntent[]): readonly ChoiceIntent[] => [
  { calls: list, finish: ['tool-calls', 'tool_calls'] },
]
const released = (name: string, argumentsText: string): CallIntent => [name, argumentsText, 'complete', null]
const conflict = (name: string, argumentsText: string | undefined): CallIntent => [
  name,
  argumentsText,
  'failed',
  'protocol_conflict',
]

export const callFields: ClassIntents = {
  'one-field-per-event': {
    about: 'id, type, name and arguments each come in an event of their own',
    faults: ['F086'],
    outcome: 'completed',
    choices: calls(released('get_weather', '{"city":"Oslo"}')),
    absent: ['name_late', 'missing_id'],
  },
  'name-after-arguments': {
    about: 'the name comes after the first arguments, which are kept for it',
    faults: ['F071'],
    outcome: 'completed',
    choices: calls(released('run_shell', '{"cmd":"ls"}')),
    found: ['name_late'],
  },
  'name-empty-first': {
    about: 'an empty name is not a name yet, and later an empty one is nothing new',
    faults: ['F073'],
    outcome: 'completed',
    choices: calls(released('search', '{}')),
  },
  nulls: {
    about: 'null, and the word "null" as a name, say nothing wherever they stand',
    faults: ['F028', 'F043', 'F072'],
    outcome: 'completed',
    choices: calls(released('get_time', '{"tz":"UTC"}')),
    absent: ['arguments_as_object'],
  },
  'empty-id-continuations': {
    about: 'continuations carry an empty or blank id, which is none',
    faults: ['F068'],
    outcome: 'completed',
    choices: calls(released('count', '{"x":1}')),
    absent: ['missing_id'],
  },
  'fields-repeated': {
    about: 'id, type and name are repeated on every fragment of one call',
    faults: ['F069'],
    outcome: 'completed',
    choices: calls(released('read_doc', '{"path":"a.txt"}')),
  },
  'id-after-arguments': {
    about: 'the id comes with the second fragment of an open call',
    faults: ['F071', 'F076'],
    outcome: 'completed',
    choices: calls(released('count', '{"a":1}')),
  },
  'no-ids': {
    about: 'no id ever comes: each call gets one of its own',
    faults: ['F076'],
    outcome: 'completed',
    choices: calls(released('now', '{}'), released('add', '{"a":1}')),
    found: ['missing_id'],
  },
  'second-id-null': {
    about: 'only the first of two calls has an id',
    faults: ['F085'],
    outcome: 'completed',
    choices: calls(released('now', '{"tz":"UTC"}'), released('add', '{"a":1}')),
    found: ['missing_id'],
  },
  'no-indexes': {
    about: 'two whole calls without index: the ids tell them apart',
    faults: ['F064'],
    outcome: 'completed',
    choices: calls(released('lookup', '{"q":1}'), released('lookup', '{"q":2}')),
    found: ['missing_index'],
  },
  'no-index-in-pieces': {
    about: 'one call without index in pieces: a fragment with neither index nor id continues the only open call',
    faults: ['F064'],
    outcome: 'completed',
    choices: calls(released('lookup', '{"q":"tea"}')),
    found: ['missing_index'],
  },
  'neither-index-nor-id': {
    about: 'a fragment with neither index nor id fits both open calls: both fail, the text stays',
    faults: ['F064'],
    outcome: 'failed',
    error: { code: 'protocol_conflict', retryable: 'restart' },
    choices: [
      {
        text: 'Both. ',
        calls: [conflict('add', '{"a":'), conflict('sub', '{"b":')],
        finish: ['tool-calls', 'tool_calls'],
      },
    ],
  },
  'index-reused-by-whole-calls': {
    about: 'three whole calls, all with index 0 and ids of their own',
    faults: ['F065'],
    outcome: 'completed',
    choices: calls(released('add', '{"t":"x"}'), released('add', '{"t":"y"}'), released('add', '{"t":"z"}')),
    found: ['index_reused'],
  },
  'index-rebound-while-open': {
    about: 'an index goes to a second call before the first is whole, so the next fragment without id fits either',
    faults: ['F064', 'F065'],
    outcome: 'failed',
    error: { code: 'protocol_conflict', retryable: 'restart' },
    choices: calls(conflict('add', '{"a":'), conflict('add', '{"b":')),
    found: ['index_reused'],
  },
  'id-changed': {
    about: 'a new id without a name inside an open call contradicts it',
    faults: ['F065'],
    outcome: 'failed',
    error: { code: 'protocol_conflict', retryable: 'restart' },
    choices: [{ text: 'Hm. ', calls: [conflict('add', '{"a":')], finish: ['tool-calls', 'tool_calls'] }],
  },
  'id-changed-kept-first': {
    about: 'the same under a profile that says the first id stays',
    faults: ['F065'],
    options: { profile: { idChange: 'keep-first' } },
    outcome: 'completed',
    choices: calls(released('add', '{"a":1}')),
  },
  'name-changed': {
    about: 'a different name after the arguments began is a contradiction; text goes on',
    faults: ['F069'],
    outcome: 'failed',
    error: { code: 'protocol_conflict', retryable: 'restart' },
    choices: [
      { text: 'Text goes on.', calls: [conflict('get_weather', '{"a":1')], finish: ['tool-calls', 'tool_calls'] },
    ],
  },
  'name-in-pieces-declared': {
    about: 'a name in two pieces is joined when the result is a declared tool',
    faults: ['F069'],
    request: { tools: ['get_weather'] },
    outcome: 'completed',
    choices: calls(released('get_weather', '{"city":"Oslo"}')),
  },
  'name-in-pieces-undeclared': {
    about: 'two different pieces of a name are a contradiction where no tools are known',
    faults: ['F069'],
    outcome: 'failed',
    error: { code: 'protocol_conflict', retryable: 'restart' },
    choices: calls(conflict('get_', '')),
  },
  'name-in-pieces-by-profile': {
    about: 'the pieces of a name are joined when the profile says so',
    faults: ['F069'],
    options: { profile: { nameMerge: 'append' } },
    outcome: 'completed',
    choices: calls(released('get_weather', '{"city":"Bergen"}')),
  },
  'never-a-name': {
    about: 'a call without a name fails and holds its sibling',
    faults: ['F071'],
    outcome: 'completed',
    choices: calls([null, '{"a":1}', 'failed', 'missing_name'], ['add', '{"a":2}', 'complete', 'batch_held']),
  },
  'opaque-indexes': {
    about: 'indexes 4, -1 and 1, interleaved: only equality counts, order is that of first appearance',
    faults: ['F080'],
    outcome: 'completed',
    choices: [
      {
        text: 'Both. ',
        calls: [released('add', '{"a":1}'), released('sub', '{"b":2}'), released('now', '{"c":3}')],
        finish: ['tool-calls', 'tool_calls'],
      },
    ],
    absent: ['missing_index'],
  },
  'indexes-as-text': {
    about: 'indexes are numeric strings',
    faults: ['F080'],
    outcome: 'completed',
    choices: calls(released('add', '{"a":1}'), released('sub', '{"b":2}')),
    absent: ['missing_index'],
  },
  'call-delivered-twice': {
    about: 'same id, name and arguments: one call delivered twice runs once and holds nothing',
    faults: ['F078'],
    outcome: 'completed',
    choices: calls(released('pay', '{"sum":10}'), ['pay', '{"sum":10}', 'failed', 'duplicate_call']),
    found: ['id_repeated'],
  },
  'one-id-for-two-calls': {
    about: 'same id and name, different arguments: two calls, the second under a local id',
    faults: ['F078'],
    outcome: 'completed',
    choices: calls(released('pay', '{"sum":10}'), released('pay', '{"sum":20}')),
    found: ['id_repeated'],
  },
  'equal-calls-without-ids': {
    about: 'two equal calls without ids are two calls: the model asked twice',
    faults: ['F174'],
    outcome: 'completed',
    choices: calls(released('roll', '{"d":6}'), released('roll', '{"d":6}')),
    found: ['missing_id'],
  },
  'thought-signature': {
    about: 'the opaque signature on the first fragment stays with its call, to be sent back',
    faults: ['F179'],
    outcome: 'completed',
    choices: calls(released('get_weather', '{"city":"Oslo"}'), released('get_time', '{"tz":"UTC"}')),
  },
}
