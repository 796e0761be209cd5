import type { ClassIntents } from '../intent.ts'

export const bedrockConverse: ClassIntents = {
  text: {
    about: 'binary frames with padding; text without a block start, usage behind the stop',
    faults: [],
    outcome: 'completed',
    choices: [{ text: 'Dunes move — slowly.', finish: ['stop', 'end_turn'] }],
    usage: [10, 6],
  },
  'tool-use': {
    about: 'reasoning with its signature, then a call in pieces, the first of them empty',
    faults: ['F179'],
    outcome: 'completed',
    choices: [
      {
        reasoning: 'Which dune?',
        calls: [['dune', '{"name":"Big"}', 'complete', null]],
        finish: ['tool-calls', 'tool_use'],
      },
    ],
    usage: [10, 6],
  },
  exception: {
    about: 'an exception amid the text',
    faults: ['F107', 'F109'],
    outcome: 'failed',
    error: { code: 'rate_limited', retryable: 'restart', status: 429 },
    choices: [{ text: 'Dunes ', finish: [null, null] }],
  },
  'error-message': {
    about: 'a message of type error, its code and text in the headers',
    faults: ['F107'],
    outcome: 'failed',
    error: { code: 'upstream_error', retryable: 'yes', status: 500 },
    choices: [],
  },
  'json-events': {
    about: 'the same events as JSON: an empty block start, empty tool input, usage in front of the stop',
    faults: ['F042'],
    outcome: 'completed',
    choices: [
      {
        text: 'On it.',
        calls: [['sweep', '', 'complete', null]],
        finish: ['tool-calls', 'tool_use'],
      },
    ],
    usage: [10, 6],
    found: ['arguments_empty'],
  },
  'server-tool': {
    about: 'a tool that the provider runs itself, with its result and a citation',
    faults: ['F083'],
    outcome: 'completed',
    choices: [
      {
        text: 'The tallest is 1,200 m.',
        calls: [['ground', '{"query":"dune"}', 'complete', 'provider_executed']],
        finish: ['stop', 'end_turn'],
        metadata: { citations: [{ location: { web: { domain: 'dunes.example' } } }] },
      },
    ],
    usage: [10, 6],
  },
  'invoke-model': {
    about: 'InvokeModel: the events in base64, every piece of text a block of its own',
    faults: [],
    outcome: 'truncated',
    choices: [{ text: 'Sand sings.', finish: ['length', 'max_tokens'] }],
    usage: [10, 6],
    metadata: { 'amazon-bedrock-invocationMetrics': { invocationLatency: 123 } },
  },
  cut: {
    about: 'the body ends between two frames, and no stop came',
    faults: ['F095'],
    outcome: 'incomplete',
    error: { code: 'incomplete_stream', retryable: 'restart' },
    choices: [{ calls: [['dune', '{"name":"Big"}', 'complete', 'incomplete_stream']], finish: [null, null] }],
  },
}
