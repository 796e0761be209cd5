import type { ChoiceIntent, ClassIntents } from '../intent.ts'

const stop = (text: string): readonly ChoiceIntent[] => [{ text, finish: ['stop', 'stop'] }]

export const dialects: ClassIntents = {
  azure: {
    about: 'a first chunk without choices, id and model, and filter results after the finish reason',
    faults: ['F024', 'F025'],
    outcome: 'completed',
    choices: [
      {
        text: 'Filtered later.',
        finish: ['stop', 'stop'],
        metadata: { content_filter_offsets: { check_offset: 15, start_offset: 0, end_offset: 15 } },
      },
    ],
    metadata: { prompt_filter_results: [{ prompt_index: 0 }] },
  },
  'content-parts': {
    about: 'content is a list of typed parts, then text again',
    faults: ['F033'],
    outcome: 'completed',
    choices: [{ reasoning: 'plan', text: 'Hi there.', finish: ['stop', 'stop'] }],
  },
  'reasoning-names': {
    about: 'reasoning under two names at once, then under one or the other',
    faults: ['F048'],
    outcome: 'completed',
    choices: [
      {
        reasoning: 'abcd',
        text: 'Done.',
        finish: ['stop', 'stop'],
        metadata: { reasoning_details: [{ type: 'reasoning.text', text: 'ab' }] },
      },
    ],
    found: ['reasoning_duplicated'],
  },
  'function-call': {
    about: 'the old function_call in place of tool_calls',
    faults: ['F090'],
    outcome: 'completed',
    choices: [
      {
        calls: [['get_weather', '{"city":"Oslo"}', 'complete', null]],
        finish: ['tool-calls', 'function_call'],
      },
    ],
    found: ['legacy_function_call'],
  },
  'call-printed-as-text': {
    about: 'a tool call printed as text is text',
    faults: ['F188'],
    outcome: 'completed',
    choices: stop('{"name":"read_file","arguments":{"path":"t"}}'),
    found: ['tool_call_in_text'],
  },
  'think-tags': {
    about: 'think tags split over deltas stay in the text unless a profile says otherwise',
    faults: ['F047'],
    outcome: 'completed',
    choices: stop('<think>plan</think>Answer < b'),
    found: ['think_tags'],
  },
  'think-tags-read': {
    about: 'the same under a profile that reads them as reasoning',
    faults: ['F047'],
    options: { profile: { thinkTags: true } },
    outcome: 'completed',
    choices: [{ reasoning: 'plan', text: 'Answer < b', finish: ['stop', 'stop'] }],
    absent: ['think_tags'],
  },
  'cumulative-text': {
    about: 'every delta repeats the text so far: only a finding, for honest repeats must survive',
    faults: ['F060'],
    outcome: 'completed',
    choices: stop('GreGreenGreen teaGreen tea isGreen tea is greenGreen tea is green tea'),
    found: ['cumulative_text'],
  },
  'cumulative-text-declared': {
    about: 'the same under a profile that declares it',
    faults: ['F060'],
    options: { profile: { cumulativeText: true } },
    outcome: 'completed',
    choices: stop('Green tea is green tea'),
  },
  logprobs: {
    about: 'log probabilities, service tier, fingerprint and padding are kept beside the text',
    faults: [],
    outcome: 'completed',
    choices: stop('Hi!'),
    metadata: { service_tier: 'default', system_fingerprint: 'fp_sample' },
  },
  'json-completion': {
    about: 'one whole JSON completion in place of a stream is played as events',
    faults: ['F184'],
    outcome: 'completed',
    choices: [
      {
        text: 'Hi. ',
        calls: [
          ['add', '{"a":1}', 'complete', null],
          ['sub', '{"b":[2]}', 'complete', null],
        ],
        finish: ['tool-calls', 'tool_calls'],
      },
    ],
    usage: [8, 6],
    found: ['downgraded_to_json'],
  },
  'json-completion-cut': {
    about: 'a JSON completion that is cut says nothing, and is no empty answer either',
    faults: ['F183', 'F184'],
    outcome: 'incomplete',
    error: { code: 'incomplete_stream', retryable: 'yes' },
    choices: [],
  },
  'json-lines': {
    about: 'JSON lines in place of server-sent events, with blank lines between',
    faults: ['F187'],
    outcome: 'degraded',
    choices: stop('Line by line.'),
    usage: [4, 4],
    found: ['ndjson_framing', 'missing_sentinel'],
  },
  'event-stream-labelled-json': {
    about: 'the header says JSON, the body is an event stream',
    faults: ['F185'],
    outcome: 'completed',
    choices: stop('Read by what it is.'),
    found: ['content_type_mismatch'],
  },
  'usage-in-other-places': {
    about: 'usage inside the choice, then again under the name of another API',
    faults: ['F027'],
    outcome: 'completed',
    choices: stop('In the choice.'),
    usage: [3, 5],
  },
  'binary-frames': {
    about: 'chunks in the binary frames of a cloud provider, which has no [DONE]',
    faults: ['F101'],
    outcome: 'degraded',
    choices: stop('In frames.'),
    usage: [5, 3],
    found: ['missing_sentinel'],
  },
  'binary-frames-exception': {
    about: 'an exception frame after text',
    faults: ['F109'],
    outcome: 'failed',
    error: { code: 'rate_limited', retryable: 'restart', status: 429 },
    choices: [{ text: 'In ', finish: [null, null] }],
  },
}
