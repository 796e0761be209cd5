import { measureLimits, measurePeers } from './end-to-end.js'
import { measureAsync, measureLive, measurePush, pushCells } from './framing.js'
import { measureBackpressure, measureFlatHeap, measureHugeEvent, measurePartial, measureSnapshots } from './growth.js'
import { measureConformance } from './conformance.js'
import { measureRecording, measureReplay, measureVerify } from './recording.js'
import { measureDelivery } from './delivery.js'
import { measureHugeEventPeers, measureSlowReaders } from './memory-peers.js'
import { measureSizes } from './size.js'
import { measureTypeCheck } from './type-check.js'
import { measureCall, measureClaims, measureCommits, measureValidation } from './tools.js'

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
/** The quiet quarter of the turns: the others measure what else runs on the machine. */
const quiet = ({ samples }) => samples.toSorted((a, b) => a - b)[Math.floor(samples.length / 4)]
const check = (what, value, op, target, unit = 'x') => ({ what, value, op, target, unit })
/** A figure beside the targets, for comparison. */
const note = (what, value, unit) => ({ what, value, unit })

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

const validation = (kind) => ({
  target: 'tools',
  title: `schema validation, ${kind} arguments`,
  run: (options) => measureValidation(kind, options),
  checks: (measured) => [
    check('of JSON.parse of the same text', ratio(measured, 'validation', 'JSON.parse'), '<=', 0.25),
  ],
})

/** @param {string | undefined} address of a PostgreSQL; the embedded store where there is none */
const ledger = (store, address, most) => [
  {
    target: 'tools',
    title: `durable commits, ${store}`,
    run: () => measureCommits(address),
    checks: ({ sync, commit, eight, sixtyFour }) => [
      check('one commit, of one sync', commit / sync, '<=', most.commit),
      check('8 in flight, faster than one', eight, '>=', most.eight),
      check('64 in flight, faster than one', sixtyFour, '>=', most.sixtyFour),
    ],
  },
  {
    target: 'tools',
    title: `a recorded call, ${store}`,
    run: () => measureCall(address),
    checks: ({ perCall, callMs, gateMs }) => [
      check('durable commits', perCall, '<=', 2, ''),
      check('gate, ledger and executor, of a tool of one second', callMs / 10, '<=', 1, '%'),
      check('the checks alone, of all of it', gateMs / callMs, '<=', 0.1),
    ],
  },
  {
    target: 'tools',
    title: `claims, ${store}`,
    run: () => measureClaims(address),
    checks: ({ gain, claimed, twice }) => [
      check('in tens, faster than singly', gain, '>=', 3),
      check('claimed', claimed, '>=', 600, 'rows'),
      check('claimed twice', twice, '<=', 0, 'rows'),
    ],
  },
]
const { STREAMFOLD_BENCH_POSTGRES: postgres } = process.env

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
    checks: ({ costs, limit, exponents }) => [
      check("growth exponent over the limit's own growth", exponents.overLimit, '<=', 1.1, ''),
      note('growth exponent over the size', exponents.ours, ''),
      note("the limit's, over the size", exponents.limit, ''),
      check("32 MB: of the limit's time", costs[5] / limit[5], '<=', 1.3),
    ],
  },
  {
    target: 'T13',
    title: 'one event per read from a live response of fetch',
    run: measureLive,
    checks: (measured) => [
      check('of reader.read() + limit', ratio(measured, 'streamfold', 'reader.read()'), '<=', 1.1),
    ],
  },
  ...[16384, 'event'].map((cut) => ({
    target: 'delivery',
    title: `three ways to get events, ${cut === 'event' ? 'one event per read' : '16 KiB reads'}`,
    run: (options) => measureDelivery(cut, options),
    checks: (measured) =>
      ['batches()', 'event by event', 'TransformStream'].map((name) =>
        note(`${name}: of reading and framing alone`, ratio(measured, name, 'reader.read()'), 'x'),
      ),
  })),
  {
    target: 'memory',
    title: '100 MB read slowly, beside the peers',
    run: measureSlowReaders,
    checks: ([ours, ...others]) => [
      check('streamfold: held above the start', ours.peakMiB, '<=', 25, 'MiB'),
      check('streamfold: source ahead', ours.aheadKB, '<=', 128, 'KiB'),
      ...others.flatMap(({ name, peakMiB, aheadKB, cpuMs }) => [
        note(`${name}: held above the start`, peakMiB, 'MiB'),
        note(`${name}: source ahead`, aheadKB, 'KiB'),
        note(`${name}: CPU time of ours`, cpuMs / ours.cpuMs, 'x'),
      ]),
    ],
  },
  {
    target: 'memory',
    title: 'one event of 1 to 16 MB, beside the peer',
    run: measureHugeEventPeers,
    checks: (rows) =>
      rows.map(({ name, costs }) => note(`${name}: 16 MB of 1 MB (16 is linear)`, costs[4] / costs[0], 'x')),
  },
  {
    target: 'types',
    title: 'type check of a program that imports it',
    run: measureTypeCheck,
    checks: (rows) => [
      check("streamfold: of openai's time", rows[2].median / find(rows, 'openai').median, '<=', 1),
      ...rows.map(({ name, median }) => note(`${name}: whole run of the compiler`, median, 'ms')),
    ],
  },
  {
    target: 'R1',
    title: 'one read through the recording proxy, from the upstream to the client',
    run: measureRecording,
    checks: (measured) => {
      const [direct, plain, recording] = measured.map(quiet)
      return [
        check('added per read while recording, of the same proxy', (recording - direct) / (plain - direct), '<=', 1.05),
      ]
    },
  },
  {
    target: 'R2',
    title: 'a replay of 10,000 reads without pauses',
    run: measureReplay,
    checks: (measured) => [
      check(
        'speed of node:http writing the same reads',
        ratio(measured, 'node:http, a write', 'streamfold replay'),
        '>=',
        0.5,
      ),
    ],
  },
  {
    target: 'R3',
    title: 'verify, every cut of a folder of samples, in one thread',
    run: measureVerify,
    checks: (measured) => [check("of the engine's own time", ratio(measured, 'verify', 'the engine'), '<=', 2)],
  },
  {
    target: 'size',
    title: 'bundle size, minified and gzipped',
    run: measureSizes,
    checks: (sizes) => [
      check('streamfold/sse', sizes.sse, '<=', 2, 'kB'),
      note('mapEventStream + accumulator', sizes.mapped, 'kB'),
      note('streamfold/sse + Chat Completions + accumulator, no engine', sizes.unjudged, 'kB'),
      check('engine + Chat Completions + client', sizes.core, '<=', 14, 'kB'),
    ],
  },
  validation('flat'),
  validation('nested'),
  validation('choice'),
  ...ledger('embedded', undefined, { commit: 2, eight: 3, sixtyFour: 5 }),
  ...(postgres === undefined ? [] : ledger('PostgreSQL', postgres, { commit: 4, eight: 2, sixtyFour: 2 })),
]
