import { measureLimits, measurePeers } from './end-to-end.js'
import { measureAsync, measureLive, measurePush, pushCells } from './framing.js'
import { measureBackpressure, measureFlatHeap, measureHugeEvent, measurePartial, measureSnapshots } from './growth.js'
import { measureConformance } from './conformance.js'
import { measureSizes } from './size.js'

/**
 * Every group: what it measures, and what must hold. A check is `[what, figure, comparison, target]`.
 * @typedef {{ what: string, value: number, op: '<=' | '>=', target: number, unit?: string }} Check
 */

const ratio = (measured, name, to, by = 'median') => find(measured, name)[by] / find(measured, to)[by]
const find = (measured, name) => {
  const one = measured.find((contender) => contender.name.startsWith(name))
  if (one === undefined) throw new Error(`nothing named ${name}`)
  return one
}
const check = (what, value, op, target, unit = 'x') => ({ what, value, op, target, unit })

const limits = (target, wire, most) => ({
  target,
  title: `end to end, ${wire} wire, 16 KiB reads`,
  run: (options) => measureLimits(wire, options),
  checks: (measured) => [
    check(`${wire}: of the limit's time`, ratio(measured, 'streamfold', 'limit'), '<=', most),
    ...(target === 'T6'
      ? [
          check(
            `${wire}: template off, of the limit's time`,
            ratio(measured, 'streamfold, template off', 'limit'),
            '<=',
            1.25,
          ),
        ]
      : []),
  ],
})

const peers = (wire, least) => ({
  target: 'T8',
  title: `against clients, ${wire} wire, 16 KiB reads`,
  run: ({ rounds }) => measurePeers(wire, { rounds: Math.max(3, Math.floor(rounds / 3)) }),
  checks: (measured) =>
    Object.entries(least).map(([name, target]) =>
      check(`${wire}: faster than ${name}`, ratio(measured, name, 'streamfold'), '>=', target),
    ),
})

export const groups = [
  {
    target: 'T1',
    title: 'conformance of the event-stream parser',
    run: measureConformance,
    checks: ({ passed, failed }) => [
      check('cases passed', passed, '>=', 70, ''),
      check('cases failed', failed, '<=', 0, ''),
    ],
  },
  ...pushCells.map((cell) => ({
    target: cell.target,
    title: `framing by push, ${cell.wire}, ${cell.cut === 'event' ? 'one event per read' : `${cell.cut} B reads`}`,
    run: (options) => measurePush(cell, options),
    checks: (measured) => [
      ...(cell.limit === undefined
        ? []
        : [check("of the limit's time (best)", ratio(measured, 'streamfold', 'limit', 'min'), '<=', cell.limit)]),
      check('faster than eventsource-parser', ratio(measured, 'eventsource-parser', 'streamfold'), '>=', cell.esp),
    ],
  })),
  {
    target: 'T5',
    title: 'events one by one from a web stream, 16 KiB reads',
    run: measureAsync,
    checks: (measured) => [
      check('of reading + limit + async generator', ratio(measured, 'streamfold', 'limit'), '<=', 1.1),
      check('faster than eventsource-parser/stream', ratio(measured, 'eventsource-parser', 'streamfold'), '>=', 2.7),
      check('faster than openai Stream', ratio(measured, 'openai', 'streamfold'), '>=', 10),
    ],
  },
  limits('T6', 'text', 0.65),
  limits('T6', 'cjk', 0.65),
  limits('T6', 'obf', 0.65),
  {
    target: 'T6',
    title: 'end to end, a wire that never matches the template',
    run: (options) => measureLimits('never', options),
    checks: (measured) => [
      check('of template off', ratio(measured, 'streamfold', 'streamfold, template off'), '<=', 1.1),
    ],
  },
  limits('T7', 'tools', 0.75),
  peers('text', { openai: 8, 'ai-sdk': 12, 'ai 6.0': 60, langchain: 60 }),
  peers('tools', { openai: 6, 'ai-sdk': 10, 'ai 6.0': 25, langchain: 25 }),
  ...['text', 'tools'].map((kind) => ({
    target: 'T9',
    title: `a snapshot after each delta, ${kind}`,
    run: () => measureSnapshots(kind),
    checks: ({ addedNs, exponent }) => [
      check('added per delta', addedNs, '<=', 200, 'ns'),
      check('growth exponent', exponent, '<=', 1.15, ''),
    ],
  })),
  {
    target: 'T10',
    title: 'partial arguments as a value after each fragment',
    run: measurePartial,
    checks: ({ costs, exponent }) => [
      check('32k fragments', costs[costs.length - 1], '<=', 1000, 'ms'),
      check('growth exponent', exponent, '<=', 1.15, ''),
    ],
  },
  {
    target: 'T11',
    title: '200 MB read slowly',
    run: measureBackpressure,
    checks: ({ peakMiB, aheadKB }) => [
      check('held above the start', peakMiB, '<=', 25, 'MiB'),
      check('source ahead of the consumer', aheadKB, '<=', 128, 'KiB'),
    ],
  },
  {
    target: 'T11',
    title: 'a million events, no snapshot kept',
    run: measureFlatHeap,
    checks: ({ grownMiB }) => [check('heap grown', grownMiB, '<=', 1, 'MiB')],
  },
  {
    target: 'T12',
    title: 'one event of 1 to 32 MB in 16 KiB reads',
    run: measureHugeEvent,
    checks: ({ costs, limit, exponent }) => [
      check('growth exponent', exponent, '<=', 1.1, ''),
      check("32 MB: of the limit's time", costs[5] / limit[5], '<=', 1.3),
    ],
  },
  {
    target: 'T13',
    title: 'one event per read from a live web stream',
    run: measureLive,
    checks: (measured) => [
      check('of reader.read() + limit', ratio(measured, 'streamfold', 'reader.read()'), '<=', 1.1),
    ],
  },
  {
    target: 'size',
    title: 'bundle size, minified and gzipped',
    run: measureSizes,
    checks: (sizes) => [
      check('streamfold/sse', sizes.sse, '<=', 2, 'kB'),
      check('engine + Chat Completions + client', sizes.core, '<=', 14, 'kB'),
    ],
  },
]
