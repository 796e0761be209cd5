import type { StreamChunk } from '../../src/chunk/chunk.ts'
import type { FaultCode } from '../../src/chunk/fault.ts'
import type { BatchDecision } from '../../src/tool-call/machine.ts'
import { judge } from '../json/json-oracle.ts'

/** What may come in: about one of two calls of choice 0, or about all of them. */
export type Input =
  | { readonly call: 0 | 1; readonly do: 'name' | 'piece'; readonly text: string }
  | { readonly call: 0 | 1; readonly do: 'conflict' | 'end' }
  | { readonly call: 0 | 1; readonly do: 'restate'; readonly text: string }
  | { readonly do: 'fail-open' }

export function chunkOf(input: Exclude<Input, { do: 'fail-open' }>): StreamChunk {
  const { call: index } = input
  const id = `call_${index}`
  switch (input.do) {
    case 'name':
      return { type: 'tool-call-delta', index, id, name: input.text, argumentsDelta: '' }
    case 'piece':
      return { type: 'tool-call-delta', index, id, argumentsDelta: input.text }
    case 'conflict':
      return { type: 'tool-call-delta', index, id, argumentsDelta: '', conflict: { message: 'the wire says so' } }
    case 'end':
      return { type: 'block-end', index }
    case 'restate':
      return {
        type: 'block-end',
        index,
        block: { type: 'tool-call', index, callId: id, argumentsText: input.text, status: 'done' },
      }
  }
}

/** One call as the model sees it. */
export interface ModelCall {
  readonly id: string
  name: string | null
  text: string
  /** The part of the text that a view was shown. */
  shown: string
  state: 'collecting' | 'complete' | 'failed'
  code: FaultCode | null
  /** The terminal event, once it was given out. */
  end: 'ready' | 'held' | 'failed' | undefined
}

/** The tool-call machine in its simplest form, for one choice of plain JSON calls. */
export class MachineModel {
  readonly calls: ModelCall[] = []
  conflict = false

  take(input: Input): void {
    if (input.do === 'fail-open') {
      for (const call of this.calls) if (call.state === 'collecting') fail(call, 'invalid_event_json')
      return
    }
    const id = `call_${input.call}`
    let call = this.calls.find((known) => known.id === id)
    if (call === undefined) {
      if (input.do === 'end') return
      call = { id, name: null, text: '', shown: '', state: 'collecting', code: null, end: undefined }
      this.calls.push(call)
    }
    switch (input.do) {
      case 'name':
        if (call.name !== null && call.name !== input.text) this.#contradict(call)
        call.name ??= input.text
        break
      case 'piece':
        if (call.state === 'complete') this.#contradict(call)
        call.text += input.text
        break
      case 'conflict':
        this.#contradict(call)
        break
      case 'restate':
        if (call.state === 'collecting' && call.text === '') call.text = input.text
        else if (call.text !== input.text) this.#contradict(call)
        close(call)
        break
      case 'end':
        close(call)
        break
    }
    show(call)
  }

  settle(decision: BatchDecision): void {
    for (const call of this.calls) {
      if (call.state !== 'collecting') continue
      if (decision.kind === 'refuse') {
        fail(call, decision.code)
        continue
      }
      close(call)
      if (decision.kind === 'release' && decision.holdUnclosed && isWhole(call)) call.code = 'missing_finish_reason'
    }
    const ready = this.calls.filter((call) => isWhole(call) && call.code === null)
    for (const call of ready) {
      if (decision.kind !== 'release') call.code = decision.code
      else if ((decision.batch === 'all' || this.conflict) && ready.length < this.calls.length) call.code = 'batch_held'
    }
    for (const call of this.calls.filter(isWhole)) call.end = call.code === null ? 'ready' : 'held'
  }

  #contradict(call: ModelCall): void {
    this.conflict = true
    fail(call, 'protocol_conflict')
  }
}

function isWhole(call: ModelCall): boolean {
  return call.state === 'complete'
}

function close(call: ModelCall): void {
  if (call.state !== 'collecting') return
  show(call)
  const verdict = verdictOf(call.text)
  if (call.name === null) fail(call, 'missing_name')
  else if (verdict !== null) fail(call, verdict)
  else call.state = 'complete'
}

function fail(call: ModelCall, code: FaultCode): void {
  if (call.state === 'failed') return
  call.state = 'failed'
  call.code = code
  call.end = 'failed'
}

/** A view sees a call from its name on, with all arguments so far, while the call is collecting. */
function show(call: ModelCall): void {
  if (call.state === 'collecting' && call.name !== null) call.shown = call.text
}

const verdicts = new Map<string, FaultCode | null>()

/** Null for one JSON object, and for nothing at all, which stands for an empty one. */
function verdictOf(text: string): FaultCode | null {
  const known = verdicts.get(text)
  if (known !== undefined) return known
  const verdict = judgeText(text)
  verdicts.set(text, verdict)
  return verdict
}

function judgeText(text: string): FaultCode | null {
  if (text === '') return null
  const read = judge(text)
  if (!read.ok) return read.code === 'incomplete' ? 'arguments_incomplete' : 'arguments_invalid'
  const value: unknown = JSON.parse(text)
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? null : 'arguments_invalid'
}
