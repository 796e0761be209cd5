import { describe, expect, test } from 'vitest'
import type { StreamEvent } from '../../src/chunk/stream-event.ts'
import { ToolCallMachine } from '../../src/tool-call/machine.ts'
import type { BatchDecision } from '../../src/tool-call/machine.ts'
import type { CallSnapshot } from '../../src/tool-call/record.ts'
import { mayMove } from '../../src/tool-call/state.ts'
import { chunkOf, MachineModel } from './machine-model.ts'
import type { Input } from './machine-model.ts'

const WHOLE = '{"x":1}'
const PARTIAL = '{"x":'
/** Completes PARTIAL; alone it is not JSON. */
const REST = '1}'

const DECISIONS: readonly BatchDecision[] = [
  { kind: 'release', batch: 'all', holdEmptyArguments: false, holdUnclosed: false },
  { kind: 'release', batch: 'all', holdEmptyArguments: false, holdUnclosed: true },
  { kind: 'release', batch: 'each', holdEmptyArguments: false, holdUnclosed: false },
  { kind: 'hold', code: 'missing_finish_reason' },
  { kind: 'refuse', code: 'incomplete_stream', phase: 'event', message: 'the stream was cut' },
]

function inputsOf(call: 0 | 1): Input[] {
  return [
    { call, do: 'name', text: 'f' },
    { call, do: 'name', text: 'g' },
    { call, do: 'piece', text: WHOLE },
    { call, do: 'piece', text: PARTIAL },
    { call, do: 'piece', text: REST },
    { call, do: 'conflict' },
    { call, do: 'end' },
    { call, do: 'restate', text: WHOLE },
  ]
}

const EVERYTHING: readonly Input[] = [...inputsOf(0), ...inputsOf(1), { do: 'fail-open' }]

/** What the longer sequences are made of. */
const ESSENTIALS: readonly Input[] = [
  { call: 0, do: 'name', text: 'f' },
  { call: 0, do: 'piece', text: WHOLE },
  { call: 0, do: 'piece', text: PARTIAL },
  { call: 0, do: 'end' },
  { call: 1, do: 'name', text: 'f' },
  { call: 1, do: 'piece', text: WHOLE },
  { call: 1, do: 'conflict' },
  { do: 'fail-open' },
]

describe('every sequence of inputs agrees with the model', { timeout: 60_000 }, () => {
  test.each([0, 1, 2, 3, 4])('all inputs, %i of them', (length) => {
    let runs = 0
    for (const sequence of sequences(EVERYTHING, length)) {
      // The two calls have the same inputs: which of them comes first makes no difference.
      if (sequence.find((input) => 'call' in input)?.call === 1) continue
      for (const decision of DECISIONS) runs += run(sequence, decision)
    }
    // Half of them, and the sequence without any call: one of the 17 inputs is about none.
    expect(runs).toBe(DECISIONS.length * ((17 ** length + 1) / 2))
  })

  test.each([5, 6])('the essential inputs, %i of them', (length) => {
    let runs = 0
    for (const sequence of sequences(ESSENTIALS, length)) {
      // Seven shares nothing with the eight inputs: every decision meets every kind of sequence.
      runs += run(sequence, DECISIONS[Math.floor(runs / 7) % DECISIONS.length]!)
    }
    expect(runs).toBe(8 ** length)
  })
})

/** Sequences of this length, counted through like a number whose digits are inputs. */
function* sequences(alphabet: readonly Input[], length: number): Generator<readonly Input[]> {
  const base = alphabet.length
  for (let number = 0; number < base ** length; number++) {
    const sequence: Input[] = []
    for (let at = 0, rest = number; at < length; at++, rest = Math.floor(rest / base))
      sequence.push(alphabet[rest % base]!)
    yield sequence
  }
}

/**
 * Plays a sequence, then the decision, and compares with the model at the end. Returns 1, for counting. Steps are looked at
 * only at the last input: the beginning of a sequence is a sequence of its own.
 */
function run(sequence: readonly Input[], decision: BatchDecision): 1 {
  const machine = new ToolCallMachine()
  const model = new MachineModel()
  const events: StreamEvent[] = []
  let before: readonly CallSnapshot[] = []
  for (const [at, input] of sequence.entries()) {
    if (at === sequence.length - 1) before = machine.calls(0)
    model.take(input)
    if (input.do === 'fail-open') machine.failOpen('invalid_event_json', 'event', 'a hole', events)
    else machine.push(chunkOf(input), events)
  }
  const open = machine.calls(0)
  const step = wrongStep(before, open)
  if (step !== undefined) fault(sequence, step)
  if (model.conflict !== (machine.conflict !== undefined)) fault(sequence, 'conflict')
  model.settle(decision)
  const phase = machine.settle(0, decision, events)
  const calls = machine.calls(0)
  const problem =
    wrongStep(open, calls) ??
    differs(calls, model) ??
    wrongEvents(events, calls, model) ??
    wrongBatch(events, decision, phase, model)
  if (problem !== undefined) fault(sequence, `${problem} under ${JSON.stringify(decision)}`)
  return 1
}

/** Between two looks a call may stay, take one step, or fail. */
function wrongStep(before: readonly CallSnapshot[], after: readonly CallSnapshot[]): string | undefined {
  for (const [at, call] of after.entries()) {
    const from = before[at]?.state ?? 'collecting'
    if (from !== call.state && !mayMove(from, call.state)) return `${from} → ${call.state}`
    if (!call.argumentsText.startsWith(before[at]?.argumentsText ?? '')) return 'raw text was lost'
    if (call.state === 'collecting' && call.parsedArguments !== null) return 'parsed too early'
  }
  return undefined
}

function differs(calls: readonly CallSnapshot[], model: MachineModel): string | undefined {
  if (calls.length !== model.calls.length) return 'number of calls'
  for (const [at, want] of model.calls.entries()) {
    const call = calls[at]!
    if (call.callId !== want.id || call.ordinal !== at) return 'order of calls'
    if (call.argumentsText !== want.text) return 'raw text'
    if (call.name !== want.name) return 'name'
    if (call.state !== want.state) return `state ${call.state}, not ${want.state}`
    if (call.code !== want.code) return `code ${call.code}, not ${want.code}`
    const parsed = call.parsedArguments
    if (call.state === 'failed' ? parsed !== null : JSON.stringify(parsed) !== (want.text || '{}'))
      return 'parsed arguments'
  }
  return undefined
}

function wrongEvents(
  events: readonly StreamEvent[],
  calls: readonly CallSnapshot[],
  model: MachineModel,
): string | undefined {
  const ends = new Map<string, string>()
  const shown = new Map<string, string>()
  for (const event of events) {
    if (!('callId' in event) || event.callId === undefined) continue
    const { callId } = event
    if (ends.has(callId)) return `${event.type} after the end of a call`
    switch (event.type) {
      case 'tool_call_started':
        if (shown.has(callId)) return 'started twice'
        shown.set(callId, '')
        break
      case 'tool_call_arguments_delta':
        if (!shown.has(callId)) return 'arguments before the start'
        shown.set(callId, shown.get(callId)! + event.text)
        break
      case 'tool_call_ready':
      case 'tool_call_held':
      case 'tool_call_failed':
        ends.set(callId, event.type)
        break
      case 'stream_error':
        return 'the machine ended the stream'
    }
  }
  for (const want of model.calls) {
    if (ends.get(want.id) !== `tool_call_${want.end}`) return `ends with ${ends.get(want.id)}, not ${want.end}`
    if ((shown.get(want.id) ?? '') !== want.shown) return 'shown arguments'
  }
  for (const call of calls) {
    if ((call.code === null) !== (ends.get(call.callId) === 'tool_call_ready')) return 'code is null, but not released'
  }
  return ends.size === calls.length ? undefined : 'a terminal event for nothing'
}

function wrongBatch(
  events: readonly StreamEvent[],
  decision: BatchDecision,
  phase: string | null,
  model: MachineModel,
): string | undefined {
  const batches = events.filter((event) => event.type === 'tool_batch_ready')
  const ready = events.filter((event) => event.type === 'tool_call_ready')
  if ((phase === 'released') !== (batches.length === 1) || batches.length > 1)
    return `${batches.length} batches when ${phase}`
  if (ready.length > 0 && (decision.kind !== 'release' || batches.length === 0)) return 'ready without a batch'
  if (batches.length === 0) return undefined
  if (events.at(-1) !== batches[0]) return 'the batch is not the last event'
  if (batches[0]!.calls.map((call) => call.callId).join() !== ready.map((call) => call.callId).join())
    return 'calls of the batch'
  if (decision.kind !== 'release' || decision.batch === 'each') return undefined
  if (ready.length < model.calls.length) return 'a batch that is not whole'
  return model.conflict ? 'ready after a conflict' : undefined
}

function fault(sequence: readonly Input[], problem: string): never {
  throw new Error(`${problem} after ${JSON.stringify(sequence)}`)
}
