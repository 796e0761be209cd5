import type { CallIntent, ChoiceIntent, ClassIntents } from '../intent.ts'

const weather: CallIntent = ['get_weather', '{"city":"Oslo"}', 'complete', null]
const calling: readonly ChoiceIntent[] = [{ calls: [weather], finish: ['tool-calls', 'completed'] }]
const greeting: readonly ChoiceIntent[] = [{ text: 'Hello there.', finish: ['stop', 'completed'] }]

export const responses: ClassIntents = {
  text: {
    about: 'a whole life of a message: created, item, part, deltas, done events, completed',
    faults: [],
    outcome: 'completed',
    choices: greeting,
    usage: [9, 4],
  },
  'text-without-event-lines': {
    about: 'no event lines, CRLF, no sequence numbers',
    faults: ['F013', 'F190'],
    outcome: 'completed',
    choices: greeting,
    usage: [9, 4],
  },
  'split-characters': {
    about: 'CJK in bytes, an emoji as two halves in two deltas, escaped',
    faults: ['F001', 'F203'],
    outcome: 'completed',
    choices: [{ text: '日本 😀', finish: ['stop', 'completed'] }],
  },
  'call-from-deltas': {
    about:
      'arguments in deltas, restated by arguments.done, the item and the final response; call id and item id differ',
    faults: ['F147'],
    request: { tools: ['get_weather'] },
    outcome: 'completed',
    choices: calling,
    usage: [30, 12],
  },
  'call-from-arguments-done': {
    about: 'no argument deltas: arguments only in arguments.done, and the item restates nothing',
    faults: ['F140'],
    outcome: 'completed',
    choices: calling,
  },
  'call-from-item-done': {
    about: 'neither deltas nor arguments.done: only the finished item has the arguments, and it has no item id',
    faults: ['F141'],
    outcome: 'completed',
    choices: calling,
  },
  'call-from-final-response': {
    about: 'nothing but response.completed, whose output holds text and the call',
    faults: ['F141'],
    outcome: 'completed',
    choices: [{ text: 'Let me look.', calls: [weather], finish: ['tool-calls', 'completed'] }],
  },
  'call-arguments-stated-at-the-end': {
    about:
      'the finished item has no arguments, and nothing else had any before the final response: the call waits for them',
    faults: ['F141'],
    outcome: 'completed',
    choices: calling,
  },
  'call-arguments-stated-empty': {
    about: 'the finished item says that its arguments are empty: a tool without parameters',
    faults: ['F042'],
    outcome: 'completed',
    choices: [{ calls: [['list_tabs', '', 'complete', null]], finish: ['tool-calls', 'completed'] }],
    found: ['arguments_empty'],
  },
  'call-arguments-never-stated': {
    about:
      'no delta, an arguments.done without arguments, items without the field: that they are empty would be a guess',
    faults: ['F141'],
    outcome: 'completed',
    choices: [{ calls: [['list_tabs', '', 'complete', 'arguments_unsafe']], finish: ['tool-calls', 'completed'] }],
    absent: ['arguments_empty'],
  },
  'call-name-twice': {
    about:
      'the item of a call has the key name twice: a parser keeps one of them without a word, and which depends on the parser',
    faults: [],
    outcome: 'completed',
    choices: [
      {
        calls: [['delete_weather', '{"city":"Oslo"}', 'complete', 'arguments_unsafe']],
        finish: ['tool-calls', 'completed'],
      },
    ],
  },
  'calls-interleaved': {
    about: 'a hosted file search, then two calls whose deltas take turns',
    faults: ['F083', 'F154'],
    outcome: 'completed',
    choices: [
      {
        calls: [
          ['file_search', '{"queries":["capitals"]}', 'complete', 'provider_executed'],
          ['get_weather', '{"city":"Oslo"}', 'complete', null],
          ['get_time', '{"zone":"CET"}', 'complete', null],
        ],
        finish: ['tool-calls', 'completed'],
      },
    ],
  },
  'ids-change': {
    about: 'item ids and response ids are new in every event; output_index and call id are stable',
    faults: ['F138'],
    outcome: 'completed',
    choices: [{ text: 'Looking.', calls: [weather], finish: ['tool-calls', 'completed'] }],
  },
  'final-output-empty': {
    about: 'response.completed carries output [], and what was streamed stays',
    faults: ['F143'],
    outcome: 'completed',
    choices: [{ text: 'Looking.', calls: [weather], finish: ['tool-calls', 'completed'] }],
  },
  'call-never-closed': {
    about: 'output [] again, and the item of the call was never done: whole arguments, and no proof that they are all',
    faults: ['F143'],
    outcome: 'completed',
    choices: [
      {
        calls: [['get_weather', '{"city":"Oslo"}', 'complete', 'missing_finish_reason']],
        finish: ['tool-calls', 'completed'],
      },
    ],
  },
  'end-missing': {
    about: 'the body ends cleanly inside the arguments, without a terminal event',
    faults: ['F095', 'F144'],
    outcome: 'incomplete',
    error: { code: 'incomplete_stream', retryable: 'restart' },
    choices: [{ calls: [['get_weather', '{"city":"Os', 'failed', 'incomplete_stream']], finish: [null, null] }],
  },
  'end-missing-done-sent': {
    about: '[DONE] after text: no terminal event of this API',
    faults: ['F144'],
    outcome: 'incomplete',
    error: { code: 'incomplete_stream', retryable: 'restart' },
    choices: [{ text: 'So far', finish: [null, null] }],
  },
  'incomplete-max-tokens': {
    about: 'response.incomplete for its token limit: one call was done, one was cut',
    faults: ['F093', 'F145'],
    outcome: 'truncated',
    choices: [
      {
        calls: [
          ['get_weather', '{"city":"Oslo"}', 'complete', 'output_truncated'],
          ['get_time', '{"zone":"C', 'failed', 'arguments_incomplete'],
        ],
        finish: ['length', 'incomplete'],
      },
    ],
    usage: [30, 16],
  },
  'incomplete-content-filter': {
    about: 'response.incomplete for its content filter, after text',
    faults: ['F106', 'F145'],
    outcome: 'refused',
    choices: [{ text: 'So far', finish: ['content-filter', 'incomplete'] }],
  },
  'incomplete-unexplained': {
    about: 'response.incomplete without a reason is still no answer',
    faults: ['F145'],
    outcome: 'incomplete',
    error: { code: 'incomplete_stream', retryable: 'restart' },
    choices: [{ text: 'So far', finish: ['aborted', 'incomplete'] }],
    found: ['unknown_finish_reason'],
  },
  failed: {
    about: 'response.failed inside a 200, after text: the text is kept',
    faults: ['F145'],
    outcome: 'failed',
    error: { code: 'upstream_error', retryable: 'restart', status: 500 },
    choices: [{ text: 'So far', finish: ['error', 'failed'] }],
    usage: [9, 2],
  },
  'error-event': {
    about: 'a flat error without an event line, after text',
    faults: ['F109', 'F145'],
    outcome: 'failed',
    error: { code: 'upstream_error', retryable: 'restart', status: 500 },
    choices: [{ text: 'So far', finish: [null, null] }],
  },
  'error-then-failed': {
    about: 'a nested error as the first word, and response.failed behind it, whose status and usage are kept',
    faults: ['F109', 'F145'],
    outcome: 'failed',
    error: { code: 'rate_limited', retryable: 'yes', status: 429 },
    choices: [{ finish: ['error', 'failed'] }],
    usage: [9, 0],
  },
  'call-id-shared': {
    about: 'two items without index or item id share one call id, under two names',
    faults: ['F147'],
    outcome: 'failed',
    error: { code: 'protocol_conflict', retryable: 'restart' },
    choices: [
      { calls: [['get_weather', undefined, 'failed', 'protocol_conflict']], finish: ['tool-calls', 'completed'] },
    ],
  },
  'item-null': {
    about: 'output item 0 is null, the call is at index 1',
    faults: ['F148'],
    outcome: 'completed',
    choices: calling,
    found: ['unexpected_field'],
  },
  'item-never-begun': {
    about: 'a delta for an index that was never begun is a hole: the whole call beside it is held',
    faults: ['F148'],
    outcome: 'degraded',
    choices: [
      {
        text: 'Hm.',
        calls: [['get_weather', '{"city":"Oslo"}', 'complete', 'event_skipped']],
        finish: ['tool-calls', 'completed'],
      },
    ],
    found: ['skipped_event'],
  },
  'unknown-events': {
    about: 'keepalive events that count in the sequence, and events of no known type',
    faults: ['F151'],
    outcome: 'completed',
    choices: greeting,
    usage: [9, 4],
  },
  'frames-of-a-gateway': {
    about: 'frames without response and number come before response.created',
    faults: ['F152'],
    outcome: 'completed',
    choices: greeting,
  },
  reasoning: {
    about: 'a reasoning item with two summary parts and encrypted content, one without any text, then the answer',
    faults: ['F179'],
    outcome: 'completed',
    choices: [{ reasoning: 'Think once. Think twice.', text: 'Four.', finish: ['stop', 'completed'] }],
    usage: [12, 80],
  },
  refusal: {
    about: 'a refusal in deltas; the response itself is completed',
    faults: [],
    outcome: 'refused',
    choices: [{ refusal: 'I will not do that.', finish: ['stop', 'completed'] }],
  },
  'custom-tool': {
    about: 'the input of a custom tool is free text, here no JSON at all',
    faults: [],
    outcome: 'completed',
    choices: [{ calls: [['run_sql', 'select 1;', 'complete', null]], finish: ['tool-calls', 'completed'] }],
  },
  'hosted-tools': {
    about: 'web search and code interpreter run at the provider, though the caller has a tool of that name',
    faults: ['F083'],
    request: { tools: ['web_search'] },
    outcome: 'completed',
    choices: [
      {
        text: 'Done.',
        calls: [
          ['web_search', '{"type":"search","query":"tides"}', 'complete', 'provider_executed'],
          ['code_interpreter', 'print(6 * 7)', 'complete', 'provider_executed'],
        ],
        finish: ['stop', 'completed'],
      },
    ],
  },
  'mcp-approval': {
    about: 'tools of a remote server are listed, and a call of one waits for approval',
    faults: ['F083'],
    outcome: 'completed',
    choices: [
      {
        calls: [['shorten', '{"url":"https://example.org/"}', 'complete', 'provider_executed']],
        finish: ['tool-calls', 'completed'],
      },
    ],
    found: ['built_in_call'],
  },
  'conflict-arguments-done': {
    about: 'arguments.done contradicts the deltas',
    faults: [],
    outcome: 'failed',
    error: { code: 'protocol_conflict', retryable: 'restart' },
    choices: [
      { calls: [['get_weather', undefined, 'failed', 'protocol_conflict']], finish: ['tool-calls', 'completed'] },
    ],
  },
  'conflict-final-response': {
    about: 'the final response has other arguments than the finished item',
    faults: [],
    outcome: 'failed',
    error: { code: 'protocol_conflict', retryable: 'restart' },
    choices: [
      { calls: [['get_weather', undefined, 'failed', 'protocol_conflict']], finish: ['tool-calls', 'completed'] },
    ],
  },
  'arguments-rewritten': {
    about: 'the item restates the arguments with spaces: the same value, the text of the deltas is kept',
    faults: [],
    outcome: 'completed',
    choices: calling,
  },
  'arguments-as-object': {
    about: 'arguments as an object, with a number that JavaScript rounds',
    faults: ['F038'],
    outcome: 'completed',
    choices: [
      {
        calls: [['set_limit', '{"n":9007199254740992}', 'complete', 'arguments_unsafe']],
        finish: ['tool-calls', 'completed'],
      },
    ],
  },
  'deltas-incomplete': {
    about: 'the last delta of a text never came; its done event restates the whole',
    faults: [],
    outcome: 'completed',
    choices: greeting,
    found: ['deltas_incomplete'],
  },
  'sequence-gap': {
    about: 'numbers 6 and 7 never came: text goes on, the whole call behind it is held',
    faults: [],
    outcome: 'degraded',
    choices: [
      {
        text: 'Hello there.',
        calls: [['get_weather', '{"city":"Oslo"}', 'complete', 'event_skipped']],
        finish: ['tool-calls', 'completed'],
      },
    ],
    found: ['sequence_gap', 'skipped_event', 'deltas_incomplete'],
  },
  'sequence-repeated': {
    about: 'three events are delivered twice, each with other padding',
    faults: [],
    outcome: 'completed',
    choices: [{ text: 'Hello there.', calls: [weather], finish: ['tool-calls', 'completed'] }],
  },
  resumed: {
    about: 'a stored stream resumed after number 5: the tail of a text, and a call whose beginning was before',
    faults: [],
    request: { startingAfter: 5 },
    outcome: 'completed',
    choices: [{ text: ' there.', calls: [weather], finish: ['tool-calls', 'completed'] }],
  },
  spliced: {
    about: 'a second response begins in the middle of the first',
    faults: ['F129'],
    outcome: 'failed',
    error: { code: 'stream_splice', retryable: 'restart' },
    choices: [{ text: 'So far', finish: [null, null] }],
  },
  'whole-json': {
    about: 'a whole response in place of a stream, over many lines',
    faults: ['F184'],
    outcome: 'completed',
    choices: [{ text: 'Let me look.', calls: [weather], finish: ['tool-calls', 'completed'] }],
    usage: [30, 12],
  },
  'whole-json-under-way': {
    about: 'a stored response that is fetched while it is still in progress',
    faults: [],
    outcome: 'incomplete',
    error: { code: 'incomplete_stream', retryable: 'restart' },
    choices: [{ text: 'So far', finish: [null, null] }],
  },
  recorded: {
    about: 'a recording with its request, which declares one tool: the call of another is no call of ours',
    faults: [],
    outcome: 'completed',
    choices: [
      {
        calls: [
          ['get_weather', '{"city":"Oslo"}', 'complete', 'batch_held'],
          ['get_time', '{"zone":"CET"}', 'failed', 'unknown_tool'],
        ],
        finish: ['tool-calls', 'completed'],
      },
    ],
  },
}
