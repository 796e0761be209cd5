import { describe, expect, test } from 'vitest'
import { ArrivalLog } from '../../src/engine/arrival.ts'
import type { Streaming } from '../../src/engine/arrival.ts'
import { engineWith, found, readsOf } from './run.ts'
import { call, DONE, finish, more, text } from './wire.ts'

/** Groups of outputs: how many, and when. */
type Groups = readonly (readonly [count: number, atMs: number])[]

const rows: { name: string; start?: number | undefined; groups: Groups; want: Streaming }[] = [
  { name: 'one at a time', groups: Array.from({ length: 8 }, (_, at) => [1, at * 20]), want: 'real' },
  {
    name: 'a few at a time',
    groups: [
      [3, 0],
      [3, 200],
      [3, 400],
    ],
    want: 'real',
  },
  { name: 'too few to tell', groups: [[7, 500]], want: 'unknown' },
  { name: 'all at once after a long wait', groups: [[8, 100]], want: 'fake' },
  { name: 'all at once, soon', groups: [[8, 99]], want: 'unknown' },
  {
    name: 'all at once within the blink of a read',
    groups: [
      [4, 500],
      [4, 502],
    ],
    want: 'fake',
  },
  {
    name: 'in two reads that are just apart',
    groups: [
      [4, 500],
      [4, 503],
    ],
    want: 'real',
  },
  { name: 'all at once, and nobody knows since when', start: undefined, groups: [[50, 5000]], want: 'unknown' },
  {
    name: 'in bursts of eight, far apart',
    groups: [
      [8, 0],
      [8, 100],
      [8, 200],
    ],
    want: 'bursty',
  },
  {
    name: 'in bursts of seven',
    groups: [
      [7, 0],
      [7, 100],
      [7, 200],
    ],
    want: 'real',
  },
  {
    name: 'in bursts that are close',
    groups: [
      [8, 0],
      [8, 99],
      [8, 198],
    ],
    want: 'real',
  },
  {
    name: 'in bursts, one gap making up for another',
    groups: [
      [20, 0],
      [20, 10],
      [20, 300],
    ],
    want: 'bursty',
  },
]

describe('ArrivalLog', () => {
  test.each(rows)('$name → $want', ({ groups, want, ...row }) => {
    const log = new ArrivalLog()
    for (const [count, at] of groups) for (let n = 0; n < count; n++) log.output(at)
    expect(log.judge('start' in row ? row.start : 0)).toBe(want)
  })

  test('nothing at all is unknown', () => {
    expect(new ArrivalLog().judge(0)).toBe('unknown')
  })

  test('the longest gap is between reads, whatever they hold', () => {
    const log = new ArrivalLog()
    expect(log.longestGapMs).toBeUndefined()
    log.read(10)
    expect(log.longestGapMs).toBeUndefined()
    for (const at of [15, 40, 41]) log.read(at)
    expect(log.longestGapMs).toBe(25)
  })
})

describe('in a report', () => {
  function arrive(groups: Groups) {
    const engine = engineWith()
    engine.start(0)
    engine.response({ status: 200 }, 1)
    for (const [count, at] of groups) for (const read of readsOf(text('x').repeat(count))) engine.push(read, at)
    for (const read of readsOf(finish('stop') + DONE)) engine.push(read, groups.at(-1)![1] + 1)
    return engine.report()
  }

  test.each<{ groups: Groups; streaming: Streaming; finding: string[] }>([
    { groups: Array.from({ length: 9 }, (_, n) => [1, 10 + 30 * n]), streaming: 'real', finding: [] },
    {
      groups: [
        [9, 10],
        [9, 210],
      ],
      streaming: 'bursty',
      finding: ['bursty_arrival'],
    },
    { groups: [[20, 900]], streaming: 'fake', finding: ['bursty_arrival'] },
    { groups: [[2, 900]], streaming: 'unknown', finding: [] },
  ])('$streaming', ({ groups, streaming, finding }) => {
    const report = arrive(groups)
    expect(report.timing.streaming).toBe(streaming)
    expect(found(report)).toEqual(finding)
  })

  test('it stays unknown without a clock', () => {
    const engine = engineWith()
    for (const read of readsOf(text('x').repeat(20) + finish('stop') + DONE)) engine.push(read)
    expect(engine.report().timing).toMatchObject({ streaming: 'unknown', longestGapMs: null })
  })
})

/** Arguments of so many bytes. */
function sized(bytes: number): string {
  return `{"a":"${'x'.repeat(bytes - 8)}"}`
}

/** What is found in text at 0 and then these events at their times. */
function findings(...events: readonly (readonly [body: string, atMs: number])[]): readonly string[] {
  const engine = engineWith()
  engine.start(0)
  engine.response({ status: 200 }, 0)
  for (const [body, at] of [[text('a'), 0], ...events, [finish('tool_calls') + DONE, 9000]] as const) {
    for (const read of readsOf(body)) engine.push(read, at)
  }
  return found(engine.report())
}

describe('arguments that came in one piece', () => {
  test('after a silence are said to be buffered by the server', () => {
    expect(findings([call(0, 'f', sized(256)), 1000])).toEqual(['tool_arguments_not_streamed'])
    expect(findings([call(0, 'f', ''), 100], [more(0, sized(256)), 1100])).toEqual(['tool_arguments_not_streamed'])
    expect(findings([call(0, 'f', '{}'), 500], [call(1, 'f', sized(256)), 1500])).toEqual([
      'tool_arguments_not_streamed',
    ])
  })

  test.each<{ name: string; events: [string, number][] }>([
    { name: 'a short one', events: [[call(0, 'f', sized(255)), 1000]] },
    { name: 'without a silence', events: [[call(0, 'f', sized(256)), 999]] },
    {
      name: 'in two pieces',
      events: [
        [call(0, 'f', sized(256).slice(0, -1)), 1000],
        [more(0, '}'), 1001],
      ],
    },
    {
      name: 'another call in the silence',
      events: [
        [call(0, 'f', '{}'), 600],
        [call(1, 'f', sized(300)), 1200],
      ],
    },
  ])('not so: $name', ({ events }) => {
    expect(findings(...events)).toEqual([])
  })

  test('without a clock nothing is said', () => {
    const engine = engineWith()
    for (const read of readsOf(call(0, 'f', sized(300)) + finish('tool_calls') + DONE)) engine.push(read)
    expect(found(engine.report())).toEqual([])
  })
})
