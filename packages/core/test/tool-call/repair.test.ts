import { describe, expect, test } from 'vitest'
import { ARGUMENT_REPAIRS } from '../../src/chunk/argument-repair.ts'
import { repairArguments } from '../../src/tool-call/repair.ts'
import type { ArgumentRepair } from '../../src/chunk/argument-repair.ts'

interface Row {
  readonly repair: ArgumentRepair
  readonly name: string
  readonly text: string
  /** Default: the text in one piece. */
  readonly fragments?: readonly string[]
  /** Undefined: the repair does not apply. */
  readonly want: string | undefined
}

const rows: readonly Row[] = [
  {
    repair: 'cumulative',
    name: 'every piece repeats the one before; the last is taken',
    text: '{"a"{"a":1{"a":1}',
    fragments: ['{"a"', '{"a":1', '{"a":1}'],
    want: '{"a":1}',
  },
  {
    repair: 'cumulative',
    name: 'empty pieces do not count',
    text: '{{"a":1}',
    fragments: ['', '{', '', '{"a":1}'],
    want: '{"a":1}',
  },
  {
    repair: 'cumulative',
    name: 'one piece that repeats nothing',
    text: '{"a":1}x',
    fragments: ['{', '"a":1}x'],
    want: undefined,
  },
  { repair: 'cumulative', name: 'one piece alone', text: '{"a"', want: undefined },

  { repair: 'repeated', name: 'twice', text: '{"a":1}{"a":1}', want: '{"a":1}' },
  { repair: 'repeated', name: 'three times, with white space', text: '{"a":1} {"a":1}\n{"a":1} ', want: '{"a":1}' },
  { repair: 'repeated', name: 'then something else', text: '{"a":1}{"a":2}', want: undefined },
  { repair: 'repeated', name: 'once', text: '{"a":1}', want: undefined },
  { repair: 'repeated', name: 'cut in the second', text: '{"a":1}{"a"', want: undefined },

  { repair: 'double-encoded', name: 'a string that holds an object', text: '"{\\"a\\":1}"', want: '{"a":1}' },
  { repair: 'double-encoded', name: 'a string that holds a number', text: '"1"', want: undefined },
  { repair: 'double-encoded', name: 'a string that holds a string', text: '"\\"{}\\""', want: undefined },
  { repair: 'double-encoded', name: 'an object', text: '{"a":"{}"}', want: undefined },

  { repair: 'trailing-data', name: 'template tokens', text: '{"a":1}</tool_call>', want: '{"a":1}' },
  { repair: 'trailing-data', name: 'prose', text: ' {"a":1} and so on', want: '{"a":1}' },
  { repair: 'trailing-data', name: 'another object is not thrown away', text: '{}{"a":1}', want: undefined },
  { repair: 'trailing-data', name: 'nor an array', text: '{} [1]', want: undefined },
  { repair: 'trailing-data', name: 'behind a number', text: '1 x', want: undefined },
  { repair: 'trailing-data', name: 'nothing behind it', text: '{"a":1}', want: undefined },

  { repair: 'extra-brackets', name: 'one', text: '{"a":1}}', want: '{"a":1}' },
  { repair: 'extra-brackets', name: 'several kinds', text: '{"a":[1]} ]}', want: '{"a":[1]}' },
  { repair: 'extra-brackets', name: 'something else', text: '{"a":1}}x', want: undefined },
  { repair: 'extra-brackets', name: 'none', text: '{"a":1}', want: undefined },

  { repair: 'missing-brackets', name: 'one', text: '{"a":1', want: '{"a":1}' },
  { repair: 'missing-brackets', name: 'nested', text: '{"a":[{"b":[1,2', want: '{"a":[{"b":[1,2]}]}' },
  {
    repair: 'missing-brackets',
    name: 'brackets inside strings do not count',
    text: '{"a":"]}\\"["',
    want: '{"a":"]}\\"["}',
  },
  { repair: 'missing-brackets', name: 'an open string is never closed', text: '{"a":"b', want: undefined },
  { repair: 'missing-brackets', name: 'nor a member', text: '{"a":', want: undefined },
  { repair: 'missing-brackets', name: 'nor a word', text: '{"a":tru', want: undefined },
  { repair: 'missing-brackets', name: 'an array is no arguments', text: '[1', want: undefined },
  { repair: 'missing-brackets', name: 'whole', text: '{"a":1}', want: undefined },

  { repair: 'control-characters', name: 'a line break in a string', text: '{"a":"x\ny"}', want: '{"a":"x\\ny"}' },
  { repair: 'control-characters', name: 'none', text: '{"a":1', want: undefined },
]

describe('repairArguments', () => {
  test.each(rows)('$repair: $name', ({ repair, text, fragments = [text], want }) => {
    expect(repairArguments(repair, text, fragments)).toBe(want)
  })

  test('every repair has a row in which it applies and one in which it does not', () => {
    for (const repair of ARGUMENT_REPAIRS) {
      expect(rows.some((row) => row.repair === repair && row.want !== undefined)).toBe(true)
      expect(rows.some((row) => row.repair === repair && row.want === undefined)).toBe(true)
    }
  })
})
