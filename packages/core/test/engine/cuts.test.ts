import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { StreamSnapshot } from '../../src/accumulate/snapshot.ts'
import type { StreamEvent } from '../../src/chunk/stream-event.ts'
import type { EndCause } from '../../src/engine/stream-engine.ts'
import type { StreamReport } from '../../src/engine/report.ts'
import { chunkMessage, join } from '../aws-event-stream/message.ts'
import { engineWith, expectOneEnd } from './run.ts'
import type { RunOptions } from './run.ts'
import { call, chunk, DONE, finish, more, refusal, sse, text, usage } from './wire.ts'
import { cutAt } from '../reads.ts'

const SEED = 26_457_513

const encoder = new TextEncoder()

interface Told {
  readonly events: readonly StreamEvent[]
  readonly report: StreamReport
  readonly snapshot: StreamSnapshot
  readonly committed: boolean
}

/** Everything that an engine says about a body. */
function told(pieces: readonly Uint8Array[], cause: EndCause = 'eof', options: RunOptions = {}): Told {
  const engine = engineWith(options)
  const events: StreamEvent[] = []
  for (const piece of pieces) events.push(...engine.push(piece))
  events.push(...engine.end(cause))
  const all = { events, report: engine.report(), snapshot: engine.snapshot(), committed: engine.committed }
  expectOneEnd(engine, events)
  return all
}

const EVENTS: readonly string[] = [
  chunk({ role: 'assistant', content: '' }),
  text('日本 😀'),
  text('hi', { choice: 1 }),
  chunk({ reasoning: 'hm' }),
  refusal('no'),
  call(0, 'f', '{"a":'),
  more(0, '"é"}'),
  call(1, 'g', '{}'),
  call(1, 'g', '{}', { choice: 1 }),
  chunk({ tool_calls: [{ function: { arguments: '1' } }] }),
  finish('stop'),
  finish('tool_calls'),
  finish('tool_calls', 1),
  finish('length'),
  finish('because'),
  usage(3),
  sse({ error: { message: 'broken', code: 500 } }),
  sse({ id: 'other', model: 'n', choices: [{ index: 0, delta: { role: 'assistant', content: 'x' } }] }),
  'data: {oops\n\n',
  'data: \n\n',
  ': comment\n\n',
  'event: error\ndata: {"message":"x"}\n\n',
  'data: {"a":1}\ndata: [DONE]\n\n',
  'plain text\n\n',
  'error: {"message":"busy","code":429}\n\n',
  DONE,
]

const eventStream = fc.array(fc.constantFrom(...EVENTS), { maxLength: 10 }).map((events) => events.join(''))

const jsonLines = fc
  .array(fc.constantFrom(...EVENTS.filter((event) => event.startsWith('data: {"'))), { minLength: 1, maxLength: 6 })
  .map((events) => events.map((event) => event.slice('data: '.length, -1)).join(''))

const binary = fc
  .array(fc.constantFrom(...EVENTS.filter((event) => event.startsWith('data: {"'))), { minLength: 1, maxLength: 5 })
  .map((events) => join(...events.map((event) => chunkMessage(event.slice('data: '.length, -2)))))

const lineEnds = fc.constantFrom('\n', '\r\n', '\r')

const good = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.tuple(eventStream, lineEnds).map(([body, end]) => encoder.encode(body.replaceAll('\n', end))),
  },
  { weight: 1, arbitrary: jsonLines.map((body) => encoder.encode(body)) },
  { weight: 1, arbitrary: binary },
)

/** A good body in which bytes were changed, put in, or taken out, or which was cut short. */
const mutated = fc
  .tuple(
    good,
    fc.array(fc.tuple(fc.nat(2000), fc.nat(255), fc.constantFrom('set', 'insert', 'delete', 'truncate')), {
      maxLength: 3,
    }),
  )
  .map(([body, changes]) => {
    let bytes = [...body]
    for (const [place, value, how] of changes) {
      const at = bytes.length === 0 ? 0 : place % bytes.length
      if (how === 'truncate') bytes = bytes.slice(0, at)
      else if (how === 'set') bytes[at] = value
      else bytes.splice(at, how === 'delete' ? 1 : 0, ...(how === 'insert' ? [value] : []))
    }
    return Uint8Array.from(bytes)
  })

const anyBody = fc.oneof({ weight: 1, arbitrary: fc.uint8Array({ maxLength: 80 }) }, { weight: 4, arbitrary: mutated })

const anyOptions: fc.Arbitrary<RunOptions> = fc.record(
  {
    policy: fc.constantFrom('compat', 'strict'),
    batch: fc.constantFrom('all', 'each'),
    offsets: fc.boolean(),
    request: fc.constantFrom({}, { n: 2, tools: ['f', 'g'], usage: true, maxOutputTokens: 3 }),
    limits: fc.constantFrom(
      {},
      { eventBytes: 150 },
      { streamBytes: 400 },
      { callsPerChoice: 1, choices: 1 },
      { argumentBytes: 5, jsonDepth: 1 },
    ),
    head: fc.constantFrom({ status: 200, headers: [['content-type', 'text/event-stream']] as const }, { status: 500 }),
  },
  { requiredKeys: [] },
)

const anyCause = fc.constantFrom<EndCause>('eof', 'cut', 'reset', 'aborted', 'timeout', 'error')

describe('whatever the bytes, their cuts change nothing', { timeout: 60_000 }, () => {
  test(`events, report and snapshot are the same, with one terminal event, and nothing throws (seed ${SEED})`, () => {
    fc.assert(
      fc.property(
        anyBody,
        fc.array(fc.nat(2000), { maxLength: 8 }),
        anyOptions,
        anyCause,
        (bytes, places, options, cause) => {
          const whole = told([bytes], cause, options)
          expect(told(cutAt(bytes, places), cause, options)).toEqual(whole)
        },
      ),
      { seed: SEED, numRuns: 500 },
    )
  })

  test('every single cut of a stream with everything in it', () => {
    const body = [
      ': up\r\n\r\n',
      text('日本 😀'),
      call(0, 'f', '{"a":"é"}'),
      finish('tool_calls'),
      usage(3),
      DONE,
    ].join('')
    const bytes = encoder.encode(body)
    const whole = told([bytes])
    expect(whole.report).toMatchObject({ outcome: 'completed', choices: [{ phase: 'released' }] })
    for (let at = 0; at <= bytes.length; at++) expect(told(cutAt(bytes, [at]))).toEqual(whole)
    expect(told([...bytes].map((byte) => Uint8Array.of(byte)))).toEqual(whole)
  })

  test.each<{ name: string; body: string; behind: number; options: RunOptions }>([
    { name: 'a comment behind [DONE]', body: `${text('hi')}${finish('stop')}${DONE}: bye\n`, behind: 5, options: {} },
    { name: 'a second JSON line behind an error', body: '{"error":{"message":"x"}}\n{}\n', behind: 3, options: {} },
    {
      name: 'data behind the [DONE] of a stream without a finish reason',
      body: `${text('hi')}${DONE}${text('hi')}`,
      behind: text('hi').length,
      options: { policy: 'strict' },
    },
  ])('$name', ({ body, behind, options }) => {
    const bytes = encoder.encode(body)
    expect(told(cutAt(bytes, [bytes.length - behind]), 'eof', options)).toEqual(told([bytes], 'eof', options))
  })
})
