import type { StreamChunk, ToolCallDelta } from '../../src/chunk/chunk.ts'
import type { StreamFault } from '../../src/chunk/fault.ts'
import type { StreamEvent } from '../../src/chunk/stream-event.ts'
import { ToolCallMachine } from '../../src/tool-call/machine.ts'
import type { BatchDecision, BatchPhase, ToolCallMachineOptions } from '../../src/tool-call/machine.ts'
import type { CallSnapshot } from '../../src/tool-call/record.ts'

/** The wire's end closes what is still open: most tests need no `block-end` then. */
export const RELEASE = {
  kind: 'release',
  batch: 'all',
  holdEmptyArguments: false,
  holdUnclosed: false,
} as const satisfies BatchDecision
export const RELEASE_EACH = { ...RELEASE, batch: 'each' } as const satisfies BatchDecision

/** A delta of call `index` of choice 0 unless said otherwise. */
export function delta(index: number, fields: Partial<ToolCallDelta> = {}): ToolCallDelta {
  return { type: 'tool-call-delta', index, id: `call_${index}`, argumentsDelta: '', ...fields }
}

/** A whole call in one delta. */
export function call(
  index: number,
  name: string,
  argumentsDelta: string,
  fields: Partial<ToolCallDelta> = {},
): ToolCallDelta {
  return delta(index, { name, argumentsDelta, ...fields })
}

export interface Played {
  readonly machine: ToolCallMachine
  readonly events: readonly StreamEvent[]
  /** What `push` returned, for each chunk up to the first fault. */
  readonly fault: StreamFault | undefined
  readonly phase: BatchPhase
  readonly calls: readonly CallSnapshot[]
}

/** Pushes chunks until a limit is hit, then settles choice 0. */
export function play(
  chunks: readonly StreamChunk[],
  decision: BatchDecision = RELEASE,
  options: ToolCallMachineOptions = {},
): Played {
  const machine = new ToolCallMachine(options)
  const events: StreamEvent[] = []
  let fault: StreamFault | undefined
  for (const chunk of chunks) {
    fault = machine.push(chunk, events)
    if (fault !== undefined) break
  }
  const phase = machine.settle(0, decision, events)
  return { machine, events, fault, phase, calls: machine.calls(0) }
}

/** Type and call of each event, with the code of those that have one: `held call_0 batch_held`. */
export function outline(events: readonly StreamEvent[]): readonly string[] {
  return events.map((event) => {
    const words = [event.type.replace(/^tool_(?:call_)?/, '')]
    if ('callId' in event && event.callId !== undefined) words.push(event.callId)
    if ('code' in event) words.push(event.code)
    if (event.type === 'tool_batch_ready') words.push(event.calls.map((ready) => ready.callId).join('+'))
    return words.join(' ')
  })
}
