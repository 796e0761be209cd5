import { describe, expect, test } from 'vitest'
import type { StreamEvent } from '../../src/chunk/index.ts'
import { checkInvariants } from './check-invariants.ts'
import { play } from './play.ts'
import type { Played } from './play.ts'
import { readSamples } from './sample.ts'

const played = (name: string): Played =>
  play(readSamples().find((sample) => sample.name === `chat-completions/${name}`)!)
const good = played('interleaved-calls/two-calls')
const held = played('interleaved-calls/one-incomplete-sibling')

function changed(
  { events, report, snapshot }: Played,
  type: StreamEvent['type'],
  change: (event: StreamEvent) => StreamEvent[],
): Played {
  return { report, snapshot, events: events.flatMap((event) => (event.type === type ? change(event) : [event])) }
}

function withCalls(from: Played, change: (code: string | null) => object): Played {
  const choices = from.report.choices.map((choice) => ({
    ...choice,
    toolCalls: choice.toolCalls.map((call) => ({ ...call, ...change(call.code) })),
  }))
  return { ...from, report: { ...from.report, choices } }
}

const text: StreamEvent = { type: 'text_delta', choice: 0, block: 9, text: 'x' }

describe('checkInvariants sees', () => {
  test.each<{ name: string; broken: Played }>([
    { name: 'no end', broken: changed(good, 'stream_completed', () => []) },
    { name: 'two ends', broken: changed(good, 'stream_completed', (end) => [end, end]) },
    { name: 'something after the end', broken: { ...good, events: [...good.events, text] } },
    { name: 'text that is not in the report', broken: { ...good, events: [text, ...good.events] } },
    {
      name: 'an outcome that is not that of the end',
      broken: { ...good, report: { ...good.report, outcome: 'degraded' } },
    },
    { name: 'a snapshot that has not ended', broken: { ...good, snapshot: { ...good.snapshot, ended: false } } },
    {
      name: 'a block that is still streaming',
      broken: {
        ...good,
        snapshot: {
          ...good.snapshot,
          choices: [{ index: 0, blocks: [{ type: 'text', index: 0, text: '', status: 'streaming' }] }],
        },
      },
    },
    { name: 'a call without its terminal event', broken: changed(held, 'tool_call_held', () => []) },
    { name: 'a call with two terminal events', broken: changed(good, 'tool_call_ready', (ready) => [ready, ready]) },
    { name: 'a batch that was not announced', broken: changed(good, 'tool_batch_ready', () => []) },
    {
      name: 'a batch with one call of two',
      broken: changed(good, 'tool_batch_ready', (batch) =>
        batch.type === 'tool_batch_ready' ? [{ ...batch, calls: batch.calls.slice(1) }] : [],
      ),
    },
    { name: 'a released call with a code', broken: withCalls(good, () => ({ code: 'batch_held' })) },
    {
      name: 'a held call without a code',
      broken: withCalls(held, (code) => ({ code: code === 'batch_held' ? null : code })),
    },
    { name: 'a failed call with parsed arguments', broken: withCalls(held, () => ({ parsedArguments: {} })) },
    { name: 'a call that is still collecting', broken: withCalls(good, () => ({ state: 'collecting' })) },
    { name: 'a lost piece of arguments', broken: changed(good, 'tool_call_arguments_delta', () => []) },
  ])('$name', ({ broken }) => {
    expect(() => checkInvariants(broken, 'all')).toThrow(/^expected /)
  })

  test('nothing in a good stream, nor in one whose batch is held', () => {
    expect(() => checkInvariants(good, 'all')).not.toThrow()
    expect(() => checkInvariants(held, 'all')).not.toThrow()
    expect(() => checkInvariants(played('interleaved-calls/one-incomplete-sibling-each'), 'each')).not.toThrow()
  })

  test('a batch that goes although a call of it is not ready', () => {
    expect(() => checkInvariants(played('interleaved-calls/one-incomplete-sibling-each'), 'all')).toThrow(/^expected /)
  })
})
