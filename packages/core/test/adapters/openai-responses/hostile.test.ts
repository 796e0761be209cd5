import { describe, expect, test } from 'vitest'
import { responses } from '../../../src/adapters/openai-responses/adapter.ts'
import { EVENTS } from '../../../src/adapters/openai-responses/event-table.ts'
import { readPieces, expectLawful } from '../../faults/run.ts'
import type { Run } from '../../faults/run.ts'
import { bytesOf } from '../../faults/wire.ts'
import {
  added,
  argumentsDelta,
  completed,
  created,
  done,
  functionCall,
  message,
  numbered,
  OSLO,
  stream,
  textDelta,
  wholeCall,
  wholeMessage,
} from './wire.ts'
import type { WireEvent } from './wire.ts'

const SEED = 0x5eed_7e57

/** Mulberry32: the same values for the same seed on every machine. */
function randomOf(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
}

function read(body: string): Run {
  return readPieces([bytesOf(body)], { adapter: responses() })
}

const second = { id: 'fc_2', call_id: 'call_10', name: 'get_time' }
const honest: readonly WireEvent[] = [
  created(),
  ...wholeMessage(0, ['Look', 'ing.']),
  ...wholeCall(1, ['{"city":', '"Oslo"}']),
  added(2, { id: 'ws_1', type: 'web_search_call', action: null }),
  done(2, { id: 'ws_1', type: 'web_search_call', action: { type: 'search', query: 'q' } }),
  ...wholeCall(3, ['{"zone":"CET"}'], second),
  completed([message('Looking.'), functionCall(OSLO)]),
]

const ODD: readonly unknown[] = [
  null,
  '',
  'x',
  0,
  -1,
  1.5,
  7,
  true,
  [],
  {},
  [null],
  { type: 'message' },
  '😀'.charAt(0),
]

/** Changes one thing somewhere in these events: a value, an event left out, doubled, moved or cut. */
function mutated(events: readonly WireEvent[], random: () => number): readonly WireEvent[] {
  const list: WireEvent[] = structuredClone([...events])
  const pick = <Value>(values: readonly Value[]): Value => values[Math.floor(random() * values.length)]!
  const at = Math.floor(random() * list.length)
  switch (Math.floor(random() * 6)) {
    case 0:
      list.splice(at, 1)
      break
    case 1:
      list.splice(at, 0, list[at]!)
      break
    case 2:
      list.push(...list.splice(at, 1))
      break
    case 3:
      list[at] = { ...list[at], type: pick([...EVENTS.keys()]) }
      break
    default: {
      let place = list[at] as Record<string, unknown>
      for (;;) {
        const key = pick(Object.keys(place))
        const inner = place[key]
        if (typeof inner === 'object' && inner !== null && Object.keys(inner).length > 0 && random() < 0.8) {
          place = inner as Record<string, unknown>
          continue
        }
        place[key] = pick(ODD)
        break
      }
    }
  }
  return list
}

/** The only calls that may ever run: every other one would be a piece or a mix of them. */
const HONEST_CALLS: ReadonlySet<string> = new Set([`get_weather ${OSLO}`, 'get_time {"zone":"CET"}'])

describe('mutated streams', () => {
  test(`nothing throws, and no call runs that was never made (seed ${SEED})`, () => {
    const random = randomOf(SEED)
    let released = 0
    for (let round = 0; round < 1_000; round++) {
      let events = random() < 0.5 ? numbered(honest) : honest
      for (let i = 0; i < 1 + random() * 3; i++) events = mutated(events, random)
      const result = read(stream(...events))
      const restated = result.report.diagnostics.some(({ code }) => code === 'text_restated')
      // Deltas can't add up to a text that the wire took back.
      if (!restated) expectLawful(result)
      for (const event of result.events) {
        if (event.type !== 'tool_call_ready') continue
        released++
        const call = `${event.name} ${event.argumentsText}`
        if (!HONEST_CALLS.has(call)) throw new Error(`${call} ran, in round ${round}: ${JSON.stringify(events)}`)
      }
    }
    expect(released).toBeGreaterThan(200)
  })

  test(`cut into pieces they come to the same (seed ${SEED + 1})`, () => {
    const random = randomOf(SEED + 1)
    for (let round = 0; round < 100; round++) {
      const body = bytesOf(stream(...mutated(mutated(numbered(honest), random), random)))
      const whole = readPieces([body], { adapter: responses() })
      const cut = 1 + Math.floor(random() * (body.length - 1))
      const pieces = [body.subarray(0, cut), body.subarray(cut)]
      expect(readPieces(pieces, { adapter: responses() })).toEqual(whole)
    }
  })

  test('a stream cut after any event releases nothing', () => {
    const events = numbered(honest)
    for (let end = 0; end < events.length; end++) {
      const result = read(stream(...events.slice(0, end)))
      expect(result.events.some(({ type }) => type === 'tool_batch_ready')).toBe(false)
    }
    expect(read(stream(...events)).report.outcome).toBe('completed')
  })

  test('a numbered stream without any one of its events before the last releases nothing', () => {
    const events = numbered(honest)
    for (let missing = 1; missing < events.length - 1; missing++) {
      const result = read(stream(...events.filter((_, i) => i !== missing)))
      expect(result.events.some(({ type }) => type === 'tool_batch_ready')).toBe(false)
    }
  })
})

function repeat(count: number, make: (i: number) => WireEvent): string {
  return stream(created()) + Array.from({ length: count }, (_, i) => `data: ${JSON.stringify(make(i))}\n\n`).join('')
}

describe('a lot of everything stays linear', () => {
  test.each<[string, (i: number) => WireEvent]>([
    ['items under one index', () => added(0, { id: `i${Math.random()}`, type: 'message' })],
    ['items without index or id', () => ({ type: 'response.output_item.added', item: { type: 'message' } })],
    ['items done without index or id', () => ({ type: 'response.output_item.done', item: { type: 'thing' } })],
    ['parts of one item', (i) => textDelta(0, 'x', { content_index: i })],
    ['deltas that belong nowhere', () => ({ type: 'response.output_text.delta', delta: 'x' })],
    [
      'whole texts that contradict each other',
      (i) => ({ ...textDelta(0, 'x'), type: 'response.output_text.done', text: `${i}` }),
    ],
    [
      'arguments rewritten',
      () => ({ type: 'response.function_call_arguments.done', output_index: 0, arguments: '{ }' }),
    ],
  ])('%s', (_name, make) => {
    const body = repeat(20_000, make)
    expect(read(body).report.counts.events).toBe(20_001)
  })

  test('a list of a million annotations', () => {
    const part = `{"type":"output_text","text":"Hi","annotations":[${'1,'.repeat(1_000_000)}1]}`
    const event = `{"type":"response.content_part.done","output_index":0,"content_index":0,"part":${part}}`
    const delta = `{"type":"response.output_text.delta","output_index":0,"delta":"!","logprobs":[${'1,'.repeat(500_000)}1]}`
    const body = stream(created(), added(0, message()), delta, event)
    expect(read(body).report.outcome).toBe('incomplete')
  })

  test('arguments beyond the limit', () => {
    const big = 'x'.repeat(600 * 1024)
    const body = stream(created(), added(0, functionCall('')), argumentsDelta(0, big), argumentsDelta(0, big))
    expect(read(body).report.error?.code).toBe('argument_limit_exceeded')
  })
})
