import type { CallIntent, ChoiceIntent, ClassIntents } from '../intent.ts'

const calls = (...list: readonly CallIntent[]): readonly ChoiceIntent[] => [
  { calls: list, finish: ['tool-calls', 'tool_calls'] },
]

export const argumentText: ClassIntents = {
  escapes: {
    about: 'escaped quotes, backslashes, newlines and code points, cut inside escapes',
    faults: [],
    outcome: 'completed',
    choices: calls([
      'write_file',
      String.raw`{"path":"C:\\tmp\\a \"b\".txt","body":"line one\nline two\t\u00e9\/ \u20AC \\\\n"}`,
      'complete',
      null,
    ]),
  },
  nested: {
    about: 'arrays and objects inside each other, words and numbers cut in the middle',
    faults: [],
    outcome: 'completed',
    choices: calls([
      'load',
      '{"rows":[[1,[2,[3]]],[],{"a":[{}]}],"none":null,"yes":true,"n":-0.5e-3,"deep":{"er":{"est":[[["x"]]]}}}',
      'complete',
      null,
    ]),
  },
  'unicode-keys': {
    about: 'keys in several scripts, an emoji, an escaped mark, U+2028, and a newline behind the object',
    faults: [],
    outcome: 'completed',
    choices: calls(['save_note', '{"名前":"太郎","🙂":"\u2028","ключ\\u0301":[ "e\u0301" ]}\n', 'complete', null]),
  },
  empty: {
    about: 'empty, blank and absent arguments are {} at the end of the call',
    faults: ['F042'],
    outcome: 'completed',
    choices: calls(
      ['list_tabs', '', 'complete', null],
      ['list_tabs', ' \n', 'complete', null],
      ['list_tabs', '', 'complete', null],
    ),
    found: ['arguments_empty'],
  },
  'as-object': {
    about: 'arguments come as a JSON object and are serialised once',
    faults: ['F038'],
    outcome: 'completed',
    choices: calls(['run_shell', '{"command":"echo ok","env":["A=1"]}', 'complete', null]),
    found: ['arguments_as_object'],
  },
  'double-encoded': {
    about: 'a JSON string that holds the arguments is not an object',
    faults: ['F044'],
    outcome: 'completed',
    choices: calls(['count', String.raw`"{\"n\":2}"`, 'failed', 'arguments_invalid']),
  },
  'double-encoded-repaired': {
    about: 'the same under a profile that asks for this repair; the text stays as it came',
    faults: ['F044'],
    options: { profile: { repairs: ['double-encoded'] } },
    outcome: 'degraded',
    choices: calls(['count', String.raw`"{\"n\":2}"`, 'complete', null]),
    found: ['arguments_repaired'],
  },
  'trailing-text': {
    about: 'prose and a template token behind the object fail the call and hold its sibling',
    faults: ['F055'],
    outcome: 'completed',
    choices: calls(
      ['search', '{"q":"x"}\n\nI will now search<|call|>', 'failed', 'arguments_invalid'],
      ['search', '{"q":"y"}', 'complete', 'batch_held'],
    ),
  },
  'missing-brace': {
    about: 'the last brace is missing although the finish reason says tool calls',
    faults: ['F050', 'F092'],
    outcome: 'completed',
    choices: calls(['get_weather', '{"city":"Rome"', 'failed', 'arguments_incomplete']),
  },
  'extra-brace': {
    about: 'one brace too many',
    faults: ['F050'],
    outcome: 'completed',
    choices: calls(['get_weather', '{"city":"Rome"}}', 'failed', 'arguments_invalid']),
  },
  cumulative: {
    about: 'every fragment repeats the ones before it; without a profile that is not arguments',
    faults: ['F039'],
    outcome: 'completed',
    choices: calls(['search', '{"q":{"q":"a{"q":"ab"}', 'failed', 'arguments_invalid']),
  },
  'cumulative-repaired': {
    about: 'the same under a profile that asks for this repair: the last fragment counts',
    faults: ['F039'],
    options: { profile: { repairs: ['cumulative'] } },
    outcome: 'degraded',
    choices: calls(['search', '{"q":{"q":"a{"q":"ab"}', 'complete', null]),
    found: ['arguments_repaired'],
  },
  'sent-again': {
    about: 'the whole arguments are sent again behind the fragments',
    faults: ['F041'],
    outcome: 'completed',
    choices: calls(['run_shell', '{"cmd":"ls"}{"cmd":"ls"}', 'failed', 'arguments_invalid']),
  },
  'not-objects': {
    about: 'an array, a string, null and a number are JSON but not arguments',
    faults: ['F045'],
    outcome: 'completed',
    choices: calls(
      ['count', '[1,2]', 'failed', 'arguments_invalid'],
      ['count', '"just text"', 'failed', 'arguments_invalid'],
      ['count', 'null', 'failed', 'arguments_invalid'],
      ['count', '42', 'failed', 'arguments_invalid'],
    ),
  },
  'raw-newline': {
    about: 'a raw newline inside a string of the arguments is not JSON',
    faults: ['F046', 'F056'],
    outcome: 'completed',
    choices: calls(['write_file', '{"body":"line one\nline two"}', 'failed', 'arguments_invalid']),
  },
  'proto-key': {
    about: 'a key __proto__ is held, and with it its sibling',
    faults: [],
    outcome: 'completed',
    choices: calls(
      ['merge', '{"__proto__":{"admin":true},"a":1}', 'complete', 'arguments_unsafe'],
      ['merge', '{"a":2}', 'complete', 'batch_held'],
    ),
  },
  'duplicate-keys': {
    about: 'the same key twice: which one counts depends on the reader, so it is held',
    faults: [],
    outcome: 'completed',
    choices: calls(['pay', '{"to":"ann","sum":1,"to":"bob"}', 'complete', 'arguments_unsafe']),
  },
  'unsafe-numbers': {
    about: 'a number that JavaScript would round is held',
    faults: [],
    outcome: 'completed',
    choices: calls(['pay', '{"account":12345678901234567890}', 'complete', 'arguments_unsafe']),
  },
  'number-in-pieces': {
    about: 'a number in two fragments is one number: a buffer that parses early is not complete',
    faults: ['F057'],
    outcome: 'completed',
    choices: calls(['count', '{"n":10}', 'complete', null]),
  },
  'undeclared-tool': {
    about: 'a call of a tool that was not declared fails and holds its sibling',
    faults: [],
    request: { tools: ['get_weather'] },
    outcome: 'completed',
    choices: calls(
      ['delete_all', '{"a":1}', 'failed', 'unknown_tool'],
      ['get_weather', '{"city":"Oslo"}', 'complete', 'batch_held'],
    ),
  },
  'empty-at-the-token-limit': {
    about: 'arguments {} with output tokens at the requested maximum are suspect',
    faults: ['F051', 'F092'],
    request: { maxOutputTokens: 64 },
    outcome: 'completed',
    choices: calls(['write_file', '{}', 'complete', 'arguments_suspect']),
    usage: [40, 64],
  },
  'too-deep': {
    about: 'arguments nest deeper than the limit',
    faults: [],
    options: { limits: { jsonDepth: 4 } },
    outcome: 'completed',
    choices: calls(['load', '{"a":[[[[1]]]]}', 'failed', 'arguments_invalid']),
  },
  'free-text': {
    about: 'the input of a custom tool is free text and is never parsed',
    faults: [],
    outcome: 'completed',
    choices: calls(['shell', 'ls -l {"not": json', 'complete', null]),
  },
}
