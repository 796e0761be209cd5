import type { ClassIntents } from '../intent.ts'

const WORDS = 'One word after the other as a model would say it aloud'

export const bursts: ClassIntents = {
  steady: {
    about: 'twelve words, one every 45 ms',
    faults: ['F115'],
    outcome: 'completed',
    choices: [{ text: WORDS, finish: ['stop', 'stop'] }],
    usage: [10, 12],
    streaming: 'real',
  },
  'in-bursts': {
    about: 'twelve words at a time, 600 ms apart: a hop buffers',
    faults: ['F115'],
    outcome: 'completed',
    choices: [{ text: `${WORDS} ${WORDS} ${WORDS}`, finish: ['stop', 'stop'] }],
    usage: [10, 12],
    found: ['bursty_arrival'],
    streaming: 'bursty',
  },
  'all-at-once': {
    about: 'everything within a millisecond after 1.5 s: the whole answer was made first',
    faults: ['F115', 'F201'],
    outcome: 'completed',
    choices: [{ text: WORDS, finish: ['stop', 'stop'] }],
    usage: [10, 12],
    found: ['bursty_arrival'],
    streaming: 'fake',
  },
  'arguments-at-the-end': {
    about: 'text flows, then 40 s of silence, then all arguments in one piece',
    faults: ['F196'],
    outcome: 'completed',
    choices: [
      {
        text: 'I will look at the weather for you.',
        calls: [['get_weather', `{"city":"Oslo","note":"${'x'.repeat(300)}"}`, 'complete', null]],
        finish: ['tool-calls', 'tool_calls'],
      },
    ],
    usage: [30, 120],
    found: ['tool_arguments_not_streamed'],
    streaming: 'real',
  },
  'long-silence': {
    about: '45 s without a byte: no timer fires in a recording',
    faults: ['F118', 'F119'],
    outcome: 'completed',
    choices: [{ text: 'Thinking is done.', finish: ['stop', 'stop'] }],
    usage: [10, 12],
    found: ['comment_keepalive'],
    streaming: 'unknown',
  },
}
