import { expect } from 'vitest'
import { DIAGNOSTIC_CODES } from '../../src/chunk/index.ts'
import type { ReadyToolCall, StreamEvent } from '../../src/chunk/index.ts'
import type { ReportChoice, ReportToolCall } from '../../src/engine/index.ts'
import type { Played } from './play.ts'

/** What holds for every stream, whatever came. */
export function checkInvariants({ events, report, snapshot }: Played, batch: 'all' | 'each'): void {
  expect(events.filter(isEnd)).toEqual(events.slice(-1))
  const failed = report.outcome === 'failed' || report.outcome === 'incomplete' || report.outcome === 'cancelled'
  expect(events.at(-1)).toMatchObject({ type: failed ? 'stream_error' : 'stream_completed', outcome: report.outcome })
  expect(report.error === null).toBe(!failed)
  expect(snapshot.ended).toBe(true)
  const blocks = snapshot.choices.flatMap((choice) => choice.blocks)
  expect(blocks.filter((block) => block.status === 'streaming')).toEqual([])
  for (const { code, count } of report.diagnostics) {
    expect(DIAGNOSTIC_CODES).toContain(code)
    expect(count).toBeGreaterThan(0)
  }
  for (const choice of report.choices) {
    checkTexts(choice, events)
    checkCalls(choice, events, failed, batch)
  }
}

function isEnd({ type }: StreamEvent): boolean {
  return type === 'stream_completed' || type === 'stream_error'
}

function checkTexts(choice: ReportChoice, events: readonly StreamEvent[]): void {
  for (const type of ['text', 'reasoning', 'refusal'] as const) {
    const byBlock = new Map<number, string>()
    for (const event of events) {
      if (!('block' in event) || event.type !== `${type}_delta` || event.choice !== choice.index) continue
      byBlock.set(event.block, (byBlock.get(event.block) ?? '') + event.text)
    }
    const blocks = [...byBlock].toSorted(([a], [b]) => a - b)
    expect(blocks.map(([, text]) => text).join('')).toBe(choice[type])
  }
}

function checkCalls(
  choice: ReportChoice,
  events: readonly StreamEvent[],
  failed: boolean,
  batch: 'all' | 'each',
): void {
  const batches = events
    .filter((event) => event.type === 'tool_batch_ready')
    .filter((event) => event.choice === choice.index)
  expect(batches.length).toBe(choice.phase === 'released' ? 1 : 0)
  const released = batches.flatMap(({ calls }) => calls)
  const { toolCalls } = choice
  expect(released.map(({ callId }) => callId)).toEqual(
    toolCalls.filter(({ code }) => code === null).map(({ callId }) => callId),
  )
  if (released.length > 0) {
    expect(failed).toBe(false)
    // A call that is not the consumer's to run, or was only delivered again, is no part of the batch.
    const own = toolCalls.filter(({ code }) => code !== 'duplicate_call' && code !== 'provider_executed')
    if (batch === 'all') expect(own.map(({ code }) => code)).toEqual(released.map(() => null))
  }
  expect(new Set(toolCalls.map(({ callId }) => callId)).size).toBe(toolCalls.length)
  for (const call of toolCalls)
    checkCall(
      call,
      released.find(({ callId }) => callId === call.callId),
      events,
    )
}

function checkCall(call: ReportToolCall, released: ReadyToolCall | undefined, events: readonly StreamEvent[]): void {
  const own = events.filter(
    (event) => 'callId' in event && event.callId === call.callId && event.type !== 'stream_error',
  )
  const settled = own
    .map(({ type }) => type)
    .filter((type) => type !== 'tool_call_started' && type !== 'tool_call_arguments_delta')
  expect(settled).toEqual([
    released !== undefined ? 'tool_call_ready' : call.state === 'failed' ? 'tool_call_failed' : 'tool_call_held',
  ])
  expect(call.state).toMatch(/^(?:complete|failed)$/)
  if (released !== undefined) {
    const { name, argumentsText, parsedArguments } = call
    expect(released).toMatchObject({ name, argumentsText, parsedArguments })
  }
  if (call.state === 'failed' || call.code === 'arguments_unsafe') expect(call.parsedArguments).toBeNull()
  if (call.name === null) expect(own.map(({ type }) => type)).toEqual(['tool_call_failed'])
  else if (call.state === 'complete') {
    expect(own[0]?.type).toBe('tool_call_started')
    expect(own.map((event) => (event.type === 'tool_call_arguments_delta' ? event.text : '')).join('')).toBe(
      call.argumentsText,
    )
  }
}
