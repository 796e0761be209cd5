import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { anthropicMessages } from '../../../src/adapters/anthropic-messages/adapter.ts'
import { callsOf, readWhole } from '../../faults/run.ts'
import type { Run } from '../../faults/run.ts'
import {
  STOP,
  called,
  close,
  delta,
  finish,
  input,
  open,
  openText,
  openTool,
  start,
  text,
  thinking,
} from '../../faults/messages-wire.ts'

/** Kept, so that a failure can be had again; fast-check prints it with the input. */
const SEED = 20_261_130
const adapter = anthropicMessages()
const plainly = anthropicMessages({}, { template: false })

/** Reads a body with templates and without: it must come to the same. */
function readBoth(body: string): Run {
  const run = readWhole(body, { adapter })
  expect(readWhole(body, { adapter: plainly })).toEqual(run)
  return run
}
const sse = (events: readonly unknown[]): string => events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')

const anyValue = fc.oneof(
  fc.constantFrom<unknown>(null, '', 0, 1, -1, 'x', '0', true, [], {}, ['x'], { type: 'text' }, '\ud83d', '{"a":1}'),
  fc.jsonValue({ maxDepth: 3 }),
)
const index = fc.oneof({ weight: 6, arbitrary: fc.nat({ max: 3 }) }, { weight: 1, arbitrary: anyValue })
const piece = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom('', '{', '}', '{}', '{"a":1}', '"b"', ' ', 'é') },
  anyValue,
)
const blockType = fc.constantFrom(
  'text',
  'thinking',
  'redacted_thinking',
  'tool_use',
  'server_tool_use',
  'mcp_tool_use',
  'web_search_tool_result',
  'odd',
)
const anyEvent = fc.oneof(
  fc.constant(start()),
  fc.record({ type: fc.constant('message_start'), message: anyValue }),
  fc
    .tuple(index, blockType, fc.constantFrom('t1', 't2', '', null), fc.constantFrom('f', 'g', null), anyValue, piece)
    .map(([at, type, id, name, value, said]) => open(at, { type, id, name, input: value, text: said, thinking: said })),
  fc.tuple(index, piece).map(([at, value]) => input(at, value)),
  fc.tuple(index, piece).map(([at, value]) => text(at, value)),
  fc.tuple(index, piece).map(([at, value]) => thinking(at, value)),
  fc.tuple(index, anyValue).map(([at, value]) => delta(at, value)),
  fc.tuple(index, anyValue).map(([at, value]) => delta(at, { type: 'citations_delta', citation: value })),
  fc.tuple(index, anyValue).map(([at, value]) => open(at, value)),
  index.map((at) => close(at)),
  fc.constantFrom('end_turn', 'tool_use', 'max_tokens', 'refusal', 'odd', null, '').map((reason) => finish(reason)),
  anyValue,
)

test('whatever comes, nothing throws, and what every stream keeps is kept', () => {
  fc.assert(
    fc.property(fc.array(anyEvent, { maxLength: 14 }), fc.boolean(), (events, ended) => {
      const body = sse(ended ? [...events, finish('tool_use'), STOP] : events)
      expect(readBoth(body).report.outcome).not.toBeNull()
    }),
    { seed: SEED, numRuns: 1500 },
  )
})

const GOOD = [
  start(),
  openText(0),
  text(0, 'Hi'),
  close(0),
  openTool(1, 't1', 'f'),
  input(1, '{"a":'),
  input(1, '1}'),
  close(1),
  ...called(2, 't2', 'g', '{"b":[2]}'),
  finish('tool_use'),
  STOP,
]
const WHOLE = new Set(['f({"a":1}) ready', 'g({"b":[2]}) ready'])

test('an event that is lost, doubled or moved never changes what a released call says', () => {
  const change = fc.tuple(fc.constantFrom('drop', 'double', 'swap'), fc.nat({ max: GOOD.length - 2 }))
  fc.assert(
    fc.property(fc.array(change, { minLength: 1, maxLength: 3 }), (changes) => {
      const events: unknown[] = [...GOOD]
      for (const [kind, at] of changes) {
        if (at + 1 >= events.length) continue
        if (kind === 'drop') events.splice(at, 1)
        else if (kind === 'double') events.splice(at, 0, events[at])
        else events.splice(at, 2, events[at + 1], events[at])
      }
      const released = callsOf(readBoth(sse(events))).filter((call) => call.endsWith(' ready'))
      // A lost piece of input can leave the empty input behind, which is a whole one; what is never made is another input.
      expect(released.filter((call) => !WHOLE.has(call) && !/^[fg]\(\) ready$/.test(call))).toEqual([])
    }),
    { seed: SEED, numRuns: 600 },
  )
})

test('one piece of text replaced in the bytes never throws', () => {
  const body = sse(GOOD)
  fc.assert(
    fc.property(fc.nat({ max: body.length }), fc.nat({ max: 12 }), fc.string({ maxLength: 4 }), (from, length, put) => {
      const broken = body.slice(0, from) + put + body.slice(from + length)
      expect(readBoth(broken).report.outcome).not.toBeNull()
    }),
    { seed: SEED, numRuns: 800 },
  )
})

interface WrittenDelta {
  readonly index: number
  readonly field: readonly [type: string, name: string]
  /** What stands between the quotes, as it is. */
  readonly text: string
  readonly form: 'plain' | 'spaced' | 'turned' | 'extra' | 'untyped' | 'error'
  readonly event: string
}

function write({ index: at, field: [type, name], text: inner, form, event }: WrittenDelta): string {
  const said = form === 'turned' ? `{"${name}":"${inner}","type":"${type}"}` : `{"type":"${type}","${name}":"${inner}"}`
  const rest = form === 'extra' ? ',"p":1' : form === 'error' ? ',"error":{"code":500}' : ''
  const typed = form === 'untyped' ? '' : '"type":"content_block_delta",'
  const gap = form === 'spaced' ? ' ' : ''
  const named = event === '' ? '' : `event: ${event}\n`
  return `${named}data: {${typed}"index":${at},${gap}"delta":${gap}${said}${rest}}\n\n`
}

test('deltas in a row, in every form that a serialiser could write them', () => {
  const deltas = fc.record<WrittenDelta>({
    index: fc.constantFrom(0, 0, 0, 1),
    field: fc.constantFrom(
      ['text_delta', 'text'],
      ['thinking_delta', 'thinking'],
      ['input_json_delta', 'partial_json'],
      ['text_delta', 'partial_json'],
      ['odd_delta', 'text'],
    ),
    text: fc.constantFrom('a', '', '{\\"a\\":1}', '\\u0041', '","x":"', '\\', '}', '日', '\ufffd', '"'),
    form: fc.constantFrom('plain', 'plain', 'plain', 'spaced', 'turned', 'extra', 'untyped', 'error'),
    event: fc.constantFrom('', '', 'content_block_delta', 'ping', 'error'),
  })
  const opened = sse([start(), openText(0), openTool(1, 't1', 'f')])
  const closed = sse([close(0), close(1), finish('tool_use'), STOP])
  fc.assert(
    fc.property(fc.array(deltas, { maxLength: 10 }), (each) => {
      expect(readBoth(opened + each.map(write).join('') + closed).report.outcome).not.toBeNull()
    }),
    { seed: SEED, numRuns: 1500 },
  )
})
