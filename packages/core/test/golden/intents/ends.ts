import type { CallIntent, ChoiceIntent, ClassIntents } from '../intent.ts'

const OSLO = '{"city":"Oslo"}'
const sure = (
  call: CallIntent,
  finish: ChoiceIntent['finish'] = ['tool-calls', 'tool_calls'],
): readonly ChoiceIntent[] => [{ text: 'Sure. ', calls: [call], finish }]

export const ends: ClassIntents = {
  'finish-and-sentinel': {
    about: 'finish reason and [DONE]: the whole evidence',
    faults: [],
    outcome: 'completed',
    choices: sure(['get_weather', OSLO, 'complete', null]),
  },
  'finish-without-sentinel': {
    about: 'finish reason, then the body ends without [DONE]',
    faults: ['F101'],
    outcome: 'degraded',
    choices: sure(['get_weather', OSLO, 'complete', null]),
    found: ['missing_sentinel'],
  },
  'sentinel-without-finish': {
    about: '[DONE] without a finish reason: the call is whole, and held',
    faults: ['F096'],
    outcome: 'degraded',
    choices: sure(['get_weather', OSLO, 'complete', 'missing_finish_reason'], [null, null]),
    found: ['missing_finish_reason'],
  },
  neither: {
    about: 'the body ends without finish reason and without [DONE], behind arguments that happen to be whole',
    faults: ['F095', 'F127'],
    outcome: 'incomplete',
    error: { code: 'incomplete_stream', retryable: 'restart' },
    choices: sure(['get_weather', OSLO, 'failed', 'incomplete_stream'], [null, null]),
  },
  'cut-inside-an-event': {
    about: 'the body ends inside an event: half an event is not an event',
    faults: ['F016', 'F095'],
    outcome: 'incomplete',
    error: { code: 'incomplete_stream', retryable: 'restart' },
    choices: [{ text: 'Half an ', finish: [null, null] }],
    absent: ['unterminated_last_event'],
  },
  'cut-inside-a-character': {
    about: 'the body ends inside a character of an event that is dropped with it',
    faults: ['F001', 'F095'],
    outcome: 'incomplete',
    error: { code: 'incomplete_stream', retryable: 'restart' },
    choices: [{ text: 'Rain ', finish: [null, null] }],
    absent: ['unterminated_last_event'],
  },
  'cut-inside-the-sentinel': {
    about: 'the body ends inside [DONE]: the finish reason is the only evidence',
    faults: ['F016', 'F101'],
    outcome: 'degraded',
    choices: sure(['get_weather', OSLO, 'complete', null]),
    found: ['missing_sentinel'],
    absent: ['unterminated_last_event'],
  },
  'cut-inside-arguments': {
    about: 'the body ends in the middle of the arguments',
    faults: ['F095'],
    outcome: 'incomplete',
    error: { code: 'incomplete_stream', retryable: 'restart' },
    choices: [
      {
        text: 'Writing. ',
        calls: [['write_file', '{"path":"x","content":"abc', 'failed', 'incomplete_stream']],
        finish: [null, null],
      },
    ],
  },
  'unterminated-finish': {
    about: 'the last bytes are the whole finish chunk, without a line end and without [DONE]',
    faults: ['F016', 'F101'],
    outcome: 'degraded',
    choices: sure(['get_weather', OSLO, 'complete', null]),
    found: ['missing_sentinel', 'unterminated_last_event'],
  },
  'data-after-the-sentinel': {
    about: 'what comes after [DONE] is not part of the response',
    faults: ['F102'],
    outcome: 'completed',
    choices: [{ text: 'Before.', finish: ['stop', 'stop'] }],
    found: ['data_after_end'],
  },
  'length-inside-a-call': {
    about: 'length with one whole call and one that is cut: neither runs',
    faults: ['F093'],
    outcome: 'truncated',
    choices: [
      {
        calls: [
          ['get_weather', OSLO, 'failed', 'output_truncated'],
          ['get_weather', '{"ci', 'failed', 'arguments_incomplete'],
        ],
        finish: ['length', 'length'],
      },
    ],
  },
  'length-in-text': {
    about: 'the last piece of text and length share a chunk',
    faults: ['F100'],
    outcome: 'truncated',
    choices: [{ text: 'This sentence is too lo', finish: ['length', 'length'] }],
    usage: [8, 6],
  },
  'content-filter': {
    about: 'a content filter stops an answer with an open call, and no [DONE] follows',
    faults: ['F106'],
    outcome: 'refused',
    choices: [
      {
        text: 'I was saying ',
        calls: [['search', '{"q":"fo', 'failed', 'output_refused']],
        finish: ['content-filter', 'content_filter'],
      },
    ],
    found: ['missing_sentinel'],
  },
  refusal: {
    about: 'the model refuses in the refusal field',
    faults: ['F164'],
    outcome: 'refused',
    choices: [{ refusal: "I can't help with that.", finish: ['stop', 'stop'] }],
  },
  'refusal-with-a-call': {
    about: 'a call beside a refusal is whole, and does not run',
    faults: ['F164'],
    outcome: 'refused',
    choices: [
      {
        refusal: 'No.',
        calls: [['pay', '{"sum":1}', 'complete', 'output_refused']],
        finish: ['tool-calls', 'tool_calls'],
      },
    ],
  },
  nothing: {
    about: 'a good end without any content',
    faults: ['F105'],
    outcome: 'empty',
    choices: [{ finish: ['stop', 'stop'] }],
    usage: [6, 0],
  },
  'only-reasoning': {
    about: 'a good end with reasoning and nothing else',
    faults: ['F105'],
    outcome: 'empty',
    choices: [{ reasoning: 'Let me think.', finish: ['stop', 'stop'] }],
  },
  'unknown-reason': {
    about: 'a finish reason that nobody knows is kept, and calls are held',
    faults: ['F111'],
    outcome: 'degraded',
    choices: [
      {
        text: 'Hm. ',
        calls: [['add', '{"a":1}', 'complete', 'finish_unknown']],
        finish: ['unknown', 'eos_reached'],
      },
    ],
    found: ['unknown_finish_reason'],
  },
  'reason-alias': {
    about: 'the profile knows this reason',
    faults: ['F111'],
    options: { profile: { finishAliases: { eos_reached: 'stop' } } },
    outcome: 'completed',
    choices: [{ text: 'Its own word.', finish: ['stop', 'eos_reached'] }],
  },
  'reason-error': {
    about: 'finish reason error, without an error object',
    faults: ['F108', 'F111'],
    outcome: 'failed',
    error: { code: 'upstream_error', retryable: 'restart' },
    choices: [
      {
        text: 'It broke',
        calls: [['add', '{"a":1}', 'failed', 'upstream_error']],
        finish: ['error', 'error'],
      },
    ],
  },
  'reason-abort': {
    about: "the provider's own abort",
    faults: ['F111'],
    outcome: 'incomplete',
    error: { code: 'incomplete_stream', retryable: 'restart' },
    choices: [{ text: 'It was stopped', finish: ['aborted', 'abort'] }],
  },
  'strict-without-sentinel': {
    about: 'policy strict: a finish reason without [DONE] is not an end',
    faults: ['F101'],
    options: { policy: 'strict' },
    outcome: 'incomplete',
    error: { code: 'incomplete_stream', retryable: 'restart' },
    choices: sure(['get_weather', OSLO, 'complete', 'incomplete_stream']),
    found: ['missing_sentinel'],
  },
  'strict-complete': {
    about: 'policy strict: the whole evidence is there',
    faults: [],
    options: { policy: 'strict' },
    outcome: 'completed',
    choices: sure(['get_weather', OSLO, 'complete', null]),
  },
  'sentinel-optional': {
    about: 'the profile says that this server sends no [DONE]',
    faults: ['F101'],
    options: { profile: { sentinel: 'optional' } },
    outcome: 'completed',
    choices: sure(['get_weather', OSLO, 'complete', null]),
  },
  'finish-optional': {
    about: 'the profile says that this server sends no finish reason',
    faults: ['F096'],
    options: { profile: { finishReason: 'optional' } },
    outcome: 'completed',
    choices: sure(['get_weather', OSLO, 'complete', null], [null, null]),
  },
  'no-bytes': {
    about: 'status 200 and not one byte',
    faults: ['F183'],
    outcome: 'failed',
    error: { code: 'empty_stream', retryable: 'yes' },
    choices: [],
  },
  'only-comments': {
    about: 'comments and a retry field, but no event',
    faults: ['F010', 'F183'],
    outcome: 'failed',
    error: { code: 'empty_stream', retryable: 'yes' },
    choices: [],
    found: ['comment_keepalive'],
  },
  'only-the-sentinel': {
    about: '[DONE] and nothing else: nothing was answered',
    faults: ['F183'],
    outcome: 'failed',
    error: { code: 'empty_stream', retryable: 'yes' },
    choices: [],
  },
  'only-a-role': {
    about: 'an event came, but the body ends before any output',
    faults: ['F095'],
    outcome: 'incomplete',
    error: { code: 'incomplete_stream', retryable: 'yes' },
    choices: [],
  },
}
