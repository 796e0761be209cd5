import type { ChoiceIntent, ClassIntents } from '../intent.ts'

const stop = (text: string): readonly ChoiceIntent[] => [{ text, finish: ['stop', 'stop'] }]

export const splitLines: ClassIntents = {
  'line-feeds': {
    about: 'the plain case: LF line ends, one JSON object per event, usage before the sentinel',
    faults: [],
    outcome: 'completed',
    choices: stop('Fjords are deep.'),
    usage: [9, 4],
  },
  'carriage-return-line-feeds': {
    about: 'every line ends with CRLF, and a read may end between the two',
    faults: ['F013', 'F014'],
    outcome: 'completed',
    choices: stop('Fjords are deep.'),
    usage: [9, 4],
  },
  'carriage-returns': {
    about: 'every line ends with a bare CR',
    faults: ['F013', 'F014'],
    outcome: 'completed',
    choices: stop('Fjords are deep.'),
    usage: [9, 4],
  },
  'mixed-line-ends': {
    about: 'LF, CRLF and CR in one body, and inside one event',
    faults: ['F013', 'F014'],
    outcome: 'completed',
    choices: stop('Tea is ready.'),
    absent: ['unknown_sse_field'],
  },
  'data-over-several-lines': {
    about: 'one pretty-printed JSON object over many data lines, one of them a bare field name',
    faults: ['F021'],
    outcome: 'completed',
    choices: stop('Snow falls.'),
    absent: ['unknown_sse_field'],
  },
  'no-space-after-colon': {
    about: 'no space after the colon of data and event, and in one place two',
    faults: ['F012'],
    outcome: 'completed',
    choices: stop('No space, two spaces.'),
  },
  comments: {
    about: 'comments before, between and inside events',
    faults: ['F010'],
    outcome: 'completed',
    choices: stop('Patience pays.'),
    found: ['comment_keepalive'],
    absent: ['comment_as_data', 'unknown_event'],
  },
  'byte-order-mark': {
    about: 'a byte order mark before the first event is dropped, the one inside the text stays',
    faults: ['F006'],
    outcome: 'completed',
    choices: stop('one\ufeffmark'),
    absent: ['unknown_sse_field'],
  },
  'event-names-ids-retry': {
    about: 'named events, ids and retry fields around ordinary chunks, and one event that is not a chunk',
    faults: ['F018', 'F031'],
    outcome: 'completed',
    choices: stop('Named events.'),
    found: ['unknown_event'],
    absent: ['empty_data_event', 'unknown_sse_field'],
  },
  'glued-events': {
    about: 'a hop joined two events into one block, twice; the second time with the sentinel',
    faults: ['F021'],
    outcome: 'completed',
    choices: [
      {
        text: 'Two in one. ',
        calls: [['get_weather', '{"city":"Oslo"}', 'complete', null]],
        finish: ['tool-calls', 'tool_calls'],
      },
    ],
    found: ['glued_events'],
  },
  'unknown-fields': {
    about: 'lines whose field name the standard does not know, one without a colon, one in capitals',
    faults: [],
    outcome: 'completed',
    choices: stop('Unknown fields.'),
    found: ['unknown_sse_field'],
  },
  heartbeats: {
    about: 'empty data, id-only and retry-only blocks, a ping event and a comment that was wrapped as data',
    faults: ['F018', 'F119'],
    outcome: 'completed',
    choices: stop('Still here.'),
    found: ['empty_data_event', 'comment_as_data', 'unknown_event'],
  },
  'unterminated-sentinel': {
    about: 'the body ends right after [DONE], without any line end',
    faults: ['F016'],
    outcome: 'completed',
    choices: stop('No blank line at the end.'),
    found: ['unterminated_last_event'],
  },
}
