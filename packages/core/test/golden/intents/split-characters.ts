import type { ChoiceIntent, ClassIntents } from '../intent.ts'

const stop = (text: string): readonly ChoiceIntent[] => [{ text, finish: ['stop', 'stop'] }]
const call = (text: string, name: string, argumentsText: string): readonly ChoiceIntent[] => [
  { text, calls: [[name, argumentsText, 'complete', null]], finish: ['tool-calls', 'tool_calls'] },
]

export const splitCharacters: ClassIntents = {
  cjk: {
    about: 'three-byte characters in text and arguments',
    faults: ['F001'],
    outcome: 'completed',
    choices: call('山は高い、海は深い。', 'save_note', '{"city":"東京","note":"雨は降りません"}'),
  },
  emoji: {
    about: 'four-byte characters, joined and modified emoji, flags',
    faults: ['F001', 'F203'],
    outcome: 'completed',
    choices: call('👍🏽 👨‍👩‍👧 🇳🇴 𝒳', 'set_mood', '{"mood":"🎉🎉"}'),
  },
  'surrogate-halves': {
    about: 'the two escaped halves of one emoji come in two deltas, in text and in arguments',
    faults: ['F203'],
    outcome: 'completed',
    choices: call('😀 is fine 🚀', 'set_mood', '{"mood":"😀"}'),
  },
  'lone-surrogates': {
    about: 'half characters that never get their other half stay what they are',
    faults: ['F203'],
    outcome: 'completed',
    choices: stop('low \ude00, high \ud83d'),
  },
  'combining-marks': {
    about: 'base letters and their marks come apart and are joined, not normalised',
    faults: ['F001'],
    outcome: 'completed',
    choices: stop('e\u0301te\u0301 \u1112\u1161\u11ab שלום a\u0300\u0323'),
  },
  'replacement-character': {
    about: 'a genuine U+FFFD is a character like any other: the call that holds it runs',
    faults: ['F001'],
    outcome: 'completed',
    choices: call('a genuine \ufffd, escaped too: \ufffd', 'save_note', '{"note":"\ufffd"}'),
  },
  'invalid-bytes-in-text': {
    about: 'bytes that are not UTF-8 in text: one U+FFFD for each broken sequence',
    faults: ['F001'],
    outcome: 'completed',
    choices: stop('caf\ufffd byte \ufffd euro \ufffd, face \ufffd.'),
    found: ['invalid_utf8'],
  },
  'invalid-bytes-in-arguments': {
    about: 'a call that holds bytes that are not UTF-8 fails and holds its sibling',
    faults: ['F001'],
    outcome: 'completed',
    choices: [
      {
        calls: [
          ['save_note', '{"note":"clean"}', 'complete', 'batch_held'],
          ['save_note', '{"note":"bad \ufffd"}', 'failed', 'invalid_utf8'],
        ],
        finish: ['tool-calls', 'tool_calls'],
      },
    ],
    found: ['invalid_utf8'],
  },
  'encoded-surrogates': {
    about: 'the halves of an emoji encoded as three bytes each (CESU-8) are six broken bytes',
    faults: ['F001'],
    outcome: 'completed',
    choices: stop('cesu \ufffd\ufffd\ufffd\ufffd\ufffd\ufffd'),
    found: ['invalid_utf8'],
  },
  'escapes-in-text': {
    about: 'every JSON escape, NUL, and the line separators U+2028 and U+2029, which end no line here',
    faults: [],
    outcome: 'completed',
    choices: stop('"quoted" \\ / \b\f\n\r\t\u0000 \u00e9 \u2028\u2029'),
  },
}
