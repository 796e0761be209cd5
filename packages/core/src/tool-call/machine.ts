import type { StreamChunk, ToolCallDelta } from '../chunk/chunk.ts'
import type { DiagnosticCode } from '../chunk/diagnostic.ts'
import type { FaultCode, Phase, StreamFault } from '../chunk/fault.ts'
import type { ReadyToolCall, StreamEvent } from '../chunk/stream-event.ts'
import { clip } from '../json/clip.ts'
import { utf8Length } from '../json/utf8-length.ts'
import { createWholenessScanner } from '../json/wholeness.ts'
import { readArguments } from './arguments.ts'
import { isDuplicate } from './duplicate.ts'
import { snapshotOf } from './record.ts'
import type { CallRecord, CallSnapshot } from './record.ts'
import type { ArgumentRepair } from '../chunk/argument-repair.ts'
import { mayMove } from './state.ts'
import type { CallState } from './state.ts'

/** What the end of a choice means for its calls; decided by the engine, carried out here. */
export type BatchDecision =
  /** A finish reason closed the calls: every call that is ready may go, if all of them are (or `each`). */
  | {
      readonly kind: 'release'
      readonly batch: 'all' | 'each'
      /** The answer used up its tokens: empty arguments may be all that was left of longer ones. */
      readonly holdEmptyArguments: boolean
      /** A call that the wire did not close (it came after the finish reason) is held. Default false: this closes it. */
      readonly holdUnclosed?: boolean
    }
  /** Usable, but nothing explicitly closed the calls: whole ones are held with this code. */
  | { readonly kind: 'hold'; readonly code: FaultCode }
  /** No call may run, even one whose arguments happen to parse. */
  | { readonly kind: 'refuse'; readonly code: FaultCode; readonly phase: Phase; readonly message: string }

export interface ToolCallMachineOptions {
  /** UTF-8 bytes of one call's arguments. Default 1 MiB. */
  readonly maxArgumentBytes?: number
  /** Nesting of one call's arguments. Default 128. */
  readonly maxDepth?: number
  /** Declared tool names; where known, a call of any other name fails. */
  readonly tools?: readonly string[]
  readonly repairs?: readonly ArgumentRepair[]
  readonly note?: (code: DiagnosticCode, detail?: string) => void
}

/** How the batch of a choice ended; null while it has no calls of its own to run. */
export type BatchPhase = 'released' | 'held' | 'failed' | null

/**
 * Turns the tool-call chunks of a response into what may be acted on. A call moves `collecting → complete` only when the wire
 * closed it and its arguments are one strict JSON object; a batch goes out only whole. Every call ends with exactly one
 * of `tool_call_ready`, `tool_call_held` and `tool_call_failed`.
 */
export class ToolCallMachine {
  /** The first contradiction inside a call: it fails the stream (what was received is kept). */
  conflict: StreamFault | undefined
  readonly #options: ToolCallMachineOptions
  readonly #choices = new Map<number, CallRecord[]>()
  readonly #byBlock = new Map<number, Map<number, CallRecord>>()
  #last: CallRecord | undefined

  constructor(options: ToolCallMachineOptions = {}) {
    this.#options = options
  }

  /** Takes a `tool-call-delta`, or a `block-end` of a call. Returns the fault when a limit was hit. */
  push(chunk: StreamChunk, out: StreamEvent[]): StreamFault | undefined {
    if (chunk.type === 'tool-call-delta') return this.#delta(chunk, out)
    return chunk.type === 'block-end' ? this.#blockEnd(chunk, out) : undefined
  }

  /** Calls of a choice in order of first appearance. */
  calls(choice: number): readonly CallSnapshot[] {
    return this.#choices.get(choice)?.map(snapshotOf) ?? []
  }

  get choices(): readonly number[] {
    return [...this.#choices.keys()]
  }

  /** Arguments of a call of this choice were repaired by name. */
  isRepaired(choice: number): boolean {
    return this.#choices.get(choice)?.some((record) => record.repair !== undefined) === true
  }

  /** Calls that are neither whole nor failed lost something: a hole in the events may have been theirs. */
  failOpen(code: FaultCode, phase: Phase, message: string, out: StreamEvent[]): void {
    for (const records of this.#choices.values()) {
      for (const record of records) if (record.state === 'collecting') this.#fail(record, code, phase, message, out)
    }
  }

  /** The choice is over. Every one of its calls gets its terminal event. */
  settle(choice: number, decision: BatchDecision, out: StreamEvent[]): BatchPhase {
    const records = this.#choices.get(choice)
    if (records === undefined) return null
    if (decision.kind === 'refuse') return this.#refuse(records, decision, out)
    for (const record of records) {
      if (record.state !== 'collecting') continue
      this.#complete(record, out)
      // A call that came after the finish reason was closed by nothing.
      if (decision.kind === 'release' && decision.holdUnclosed && !record.providerExecuted)
        this.#hold(record, 'missing_finish_reason', out)
    }
    const batch = records.filter((record) => !record.providerExecuted && !this.#isRepeat(record, records, out))
    for (const record of records) if (record.providerExecuted) this.#hold(record, 'provider_executed', out)
    if (batch.length === 0) return null
    if (decision.kind === 'hold') {
      for (const record of batch) this.#hold(record, decision.code, out)
      return batch.some((record) => record.state === 'complete') ? 'held' : 'failed'
    }
    return this.#release(batch, decision, out)
  }

  #release(
    batch: readonly CallRecord[],
    decision: BatchDecision & { kind: 'release' },
    out: StreamEvent[],
  ): BatchPhase {
    if (decision.holdEmptyArguments) {
      for (const record of batch) if (record.emptyArguments) this.#hold(record, 'arguments_suspect', out)
    }
    const ready = batch.filter((record) => record.state === 'complete' && record.code === null)
    // Calls that contradict themselves may have been mixed up: then no policy lets the others go.
    if (ready.length < batch.length && (decision.batch === 'all' || this.conflict !== undefined)) {
      for (const record of ready) this.#hold(record, 'batch_held', out)
      return batch.some((record) => record.state === 'complete') ? 'held' : 'failed'
    }
    if (ready.length === 0) return batch.some((record) => record.state === 'complete') ? 'held' : 'failed'
    const calls = ready.map(readyCall)
    for (let i = 0; i < ready.length; i++) {
      ready[i]!.settled = true
      out.push({ type: 'tool_call_ready', choice: ready[i]!.choice, ...calls[i]! })
    }
    out.push({ type: 'tool_batch_ready', choice: ready[0]!.choice, calls })
    return 'released'
  }

  #refuse(
    records: readonly CallRecord[],
    decision: BatchDecision & { kind: 'refuse' },
    out: StreamEvent[],
  ): BatchPhase {
    const { code, phase, message } = decision
    for (const record of records) {
      if (record.state === 'complete') {
        this.#hold(record, record.providerExecuted ? 'provider_executed' : code, out)
      } else if (record.state === 'collecting') {
        const cut = code === 'output_truncated' && createWholenessScanner().push(record.argumentsText) !== 'whole'
        this.#fail(record, cut ? 'arguments_incomplete' : code, phase, message, out)
      }
    }
    return 'failed'
  }

  /** The wire closed a block. Where it restates the call, that has to be what its fragments said. */
  #blockEnd(chunk: BlockEnd, out: StreamEvent[]): StreamFault | undefined {
    const stated = chunk.block?.type === 'tool-call' ? chunk.block : undefined
    const record =
      stated === undefined
        ? this.#byBlock.get(chunk.choice ?? 0)?.get(chunk.index)
        : this.#find(chunk.choice ?? 0, chunk.index, stated.callId)
    if (record === undefined) return undefined
    if (chunk.metadata !== undefined) record.metadata = { ...record.metadata, ...chunk.metadata }
    if (stated !== undefined) {
      if (stated.providerCallId !== undefined) record.providerCallId ??= stated.providerCallId
      if (stated.metadata !== undefined) record.metadata = { ...record.metadata, ...stated.metadata }
      if (stated.providerExecuted === true) record.providerExecuted = true
      if (stated.name !== undefined) this.#setName(record, stated.name, out)
      if (record.argumentsText === '' && record.state === 'collecting') {
        const fault = stated.argumentsText === '' ? undefined : this.#append(record, stated.argumentsText, out)
        if (fault !== undefined) return fault
      } else if (stated.argumentsText !== record.argumentsText) {
        this.#contradict(record, 'the wire restated the arguments, and they are not what its fragments said', out)
      }
    }
    if (record.state === 'collecting') this.#complete(record, out)
    return undefined
  }

  #delta(chunk: ToolCallDelta, out: StreamEvent[]): StreamFault | undefined {
    const last = this.#last
    const record =
      last !== undefined && last.block === chunk.index && last.choice === (chunk.choice ?? 0)
        ? last
        : this.#find(chunk.choice ?? 0, chunk.index, chunk.id)
    this.#last = record
    if (chunk.providerCallId !== undefined) record.providerCallId ??= chunk.providerCallId
    if (chunk.metadata !== undefined) record.metadata = Object.assign(record.metadata ?? {}, chunk.metadata)
    if (chunk.unsafeArguments !== undefined) record.unsafe = chunk.unsafeArguments
    if (chunk.invalidUtf8 === true) record.invalidUtf8 = true
    if (chunk.providerExecuted === true) record.providerExecuted = true
    if (chunk.freeText === true) record.freeText = true
    if (chunk.undeclared === true) record.undeclared = true
    if (chunk.conflict !== undefined) this.#contradict(record, chunk.conflict.message, out)
    if (chunk.name !== undefined) this.#setName(record, chunk.name, out)
    return chunk.argumentsDelta === '' ? undefined : this.#append(record, chunk.argumentsDelta, out)
  }

  #find(choice: number, block: number, callId: string): CallRecord {
    let blocks = this.#byBlock.get(choice)
    if (blocks === undefined) {
      blocks = new Map()
      this.#byBlock.set(choice, blocks)
      this.#choices.set(choice, [])
    }
    const known = blocks.get(block)
    if (known !== undefined) return known
    const records = this.#choices.get(choice)!
    const record: CallRecord = {
      choice,
      block,
      ordinal: records.length,
      callId,
      providerCallId: undefined,
      name: undefined,
      argumentsText: '',
      argumentBytes: 0,
      fragments: this.#options.repairs === undefined || this.#options.repairs.length === 0 ? undefined : [],
      state: 'collecting',
      code: null,
      phase: undefined,
      message: undefined,
      argumentsOffset: undefined,
      parsedArguments: null,
      repair: undefined,
      emptyArguments: false,
      providerExecuted: false,
      freeText: false,
      undeclared: false,
      invalidUtf8: false,
      unsafe: undefined,
      metadata: undefined,
      started: false,
      settled: false,
    }
    blocks.set(block, record)
    records.push(record)
    return record
  }

  #setName(record: CallRecord, name: string, out: StreamEvent[]): void {
    if (record.name !== undefined) {
      if (record.name !== name)
        this.#contradict(record, `the name changed from "${clip(record.name, 80)}" to "${clip(name, 80)}"`, out)
      return
    }
    record.name = name
    if (record.state !== 'collecting') return
    record.started = true
    const { choice, callId } = record
    out.push({
      type: 'tool_call_started',
      choice,
      callId,
      name,
      ...(record.providerExecuted && { providerExecuted: true }),
    })
    // Arguments that came before the name were kept back: a view learns of a call by its start (fault F071).
    if (record.argumentsText !== '')
      out.push({ type: 'tool_call_arguments_delta', choice, callId, text: record.argumentsText })
  }

  #append(record: CallRecord, text: string, out: StreamEvent[]): StreamFault | undefined {
    const limit = this.#options.maxArgumentBytes ?? DEFAULT_MAX_ARGUMENT_BYTES
    const bytes = record.argumentBytes + utf8Length(text)
    if (bytes > limit) {
      const fault: StreamFault = {
        code: 'argument_limit_exceeded',
        phase: 'call',
        retryable: 'no',
        choice: record.choice,
        callId: record.callId,
        message: `the arguments of call ${clip(record.callId, 80)} are longer than ${limit} bytes; raise limits.argumentBytes if that is expected`,
      }
      this.#fail(record, fault.code, fault.phase, fault.message, out)
      return fault
    }
    if (record.state === 'complete') this.#contradict(record, 'arguments came after the call was closed', out)
    record.argumentBytes = bytes
    record.argumentsText += text
    record.fragments?.push(text)
    if (record.started && record.state === 'collecting') {
      out.push({ type: 'tool_call_arguments_delta', choice: record.choice, callId: record.callId, text })
    }
    return undefined
  }

  /** The wire closed the call: the guard of `collecting → complete`. */
  #complete(record: CallRecord, out: StreamEvent[]): void {
    if (record.invalidUtf8) {
      this.#fail(
        record,
        'invalid_utf8',
        'call',
        'the arguments hold bytes that are not UTF-8, so what was meant is lost',
        out,
      )
      return
    }
    if (record.name === undefined) {
      this.#fail(record, 'missing_name', 'call', 'the call never got a name, so there is no tool to give it to', out)
      return
    }
    const { tools } = this.#options
    // What the request is known to have declared counts before what the response says of it.
    const known = tools === undefined ? !record.undeclared : tools.includes(record.name)
    if (!record.providerExecuted && !known) {
      this.#fail(
        record,
        'unknown_tool',
        'validate',
        `"${clip(record.name, 80)}" is not among the declared tools; names match exactly`,
        out,
      )
      return
    }
    if (record.freeText) {
      this.#move(record, 'complete')
      if (this.#holdUnsafe(record, out)) return
      record.parsedArguments = { input: record.argumentsText }
      record.emptyArguments = record.argumentsText === ''
      return
    }
    const result = readArguments(record.argumentsText, {
      maxDepth: this.#options.maxDepth ?? DEFAULT_MAX_DEPTH,
      repairs: this.#options.repairs ?? [],
      fragments: record.fragments ?? [],
    })
    if (result.ok === false) {
      record.argumentsOffset = result.offset
      this.#fail(record, result.code, 'call', result.message, out)
      return
    }
    this.#move(record, 'complete')
    if (result.ok === 'unsafe') {
      record.argumentsOffset = result.offset
      record.message = result.message
      this.#hold(record, 'arguments_unsafe', out)
      return
    }
    if (this.#holdUnsafe(record, out)) return
    record.parsedArguments = result.value
    record.emptyArguments = Object.keys(result.value).length === 0
    if (result.empty) this.#options.note?.('arguments_empty')
    if (result.repair !== undefined) {
      record.repair = result.repair
      this.#options.note?.('arguments_repaired', result.repair)
    }
  }

  /** The adapter said why what came can't be trusted. */
  #holdUnsafe(record: CallRecord, out: StreamEvent[]): boolean {
    if (record.unsafe === undefined) return false
    record.message = record.unsafe
    this.#hold(record, 'arguments_unsafe', out)
    return true
  }

  /** One call delivered twice is one call: it is not run again, and it holds nobody up. */
  #isRepeat(record: CallRecord, records: readonly CallRecord[], out: StreamEvent[]): boolean {
    if (record.code === 'duplicate_call') return true
    if (record.state !== 'complete' || !isDuplicate(record, records)) return false
    this.#fail(
      record,
      'duplicate_call',
      'call',
      `the same id, name and arguments as call ${record.ordinal} of this choice came before`,
      out,
    )
    return true
  }

  #contradict(record: CallRecord, message: string, out: StreamEvent[]): void {
    this.conflict ??= {
      code: 'protocol_conflict',
      phase: 'call',
      retryable: 'restart',
      choice: record.choice,
      callId: record.callId,
      message: `call ${clip(record.callId, 80)} contradicts itself: ${message}; no call of this response is run`,
    }
    this.#fail(record, 'protocol_conflict', 'call', message, out)
  }

  #fail(record: CallRecord, code: FaultCode, phase: Phase, message: string, out: StreamEvent[]): void {
    if (!this.#move(record, 'failed')) return
    record.code = code
    record.phase = phase
    record.message = message
    record.parsedArguments = null
    if (record.settled) return
    record.settled = true
    out.push({
      type: 'tool_call_failed',
      choice: record.choice,
      callId: record.callId,
      ...(record.name !== undefined && { name: record.name }),
      code,
      phase,
      message,
      ...(record.argumentsOffset !== undefined && { argumentsOffset: record.argumentsOffset }),
    })
  }

  #hold(record: CallRecord, code: FaultCode, out: StreamEvent[]): void {
    if (record.state !== 'complete' || record.settled) return
    record.code = code
    record.settled = true
    out.push({ type: 'tool_call_held', choice: record.choice, callId: record.callId, name: record.name ?? '', code })
  }

  /** The only place where a state changes. */
  #move(record: CallRecord, to: CallState): boolean {
    if (!mayMove(record.state, to)) return false
    record.state = to
    return true
  }
}

type BlockEnd = Extract<StreamChunk, { type: 'block-end' }>

const DEFAULT_MAX_ARGUMENT_BYTES = 1024 * 1024
const DEFAULT_MAX_DEPTH = 128

function readyCall(record: CallRecord): ReadyToolCall {
  return {
    callId: record.callId,
    ...(record.providerCallId !== undefined && { providerCallId: record.providerCallId }),
    ordinal: record.ordinal,
    name: record.name!,
    argumentsText: record.argumentsText,
    parsedArguments: record.parsedArguments!,
    ...(record.repair !== undefined && { repairs: [record.repair] }),
    ...(record.metadata !== undefined && { metadata: record.metadata }),
  }
}
