import { isDeepStrictEqual } from 'node:util'
import { expect } from 'vitest'
import type { StreamAdapter } from '../../src/adapters/adapter.ts'
import { chatCompletions } from '../../src/adapters/openai-chat/adapter.ts'
import type { ProviderProfile } from '../../src/adapters/profile.ts'
import type { StreamSnapshot } from '../../src/accumulate/snapshot.ts'
import type { StreamEvent } from '../../src/chunk/stream-event.ts'
import { createStreamEngine } from '../../src/engine/engine.ts'
import type { EndCause, StreamEngine, StreamEngineOptions } from '../../src/engine/stream-engine.ts'
import type { ReportChoice, StreamReport } from '../../src/engine/report.ts'
import type { ResponseHead } from '../../src/engine/response-head.ts'
import { bytesOf } from './wire.ts'
import { cutAt } from '../reads.ts'

export interface RunOptions extends Partial<StreamEngineOptions> {
  readonly profile?: ProviderProfile
  readonly head?: ResponseHead
  /** How the transport ends. Default `eof`. */
  readonly end?: EndCause
}

/** What one body came to. */
export interface Run {
  readonly events: readonly StreamEvent[]
  readonly report: StreamReport
  readonly snapshot: StreamSnapshot
}

/**
 * Reads a body whole, byte by byte and at seeded random cuts. Every reading must come to the same events, report and
 * snapshot, and each must keep what every stream keeps: see {@link expectLawful}.
 */
export function run(body: string | Uint8Array, options: RunOptions = {}): Run {
  const bytes = typeof body === 'string' ? bytesOf(body) : body
  const whole = readPieces([bytes], options)
  expectLawful(whole)
  const adapter = chatCompletions(options.profile, { template: false })
  const plain = readPieces([bytes], { adapter, ...options })
  if (!isDeepStrictEqual(plain, whole)) expect(plain, 'read without templates it must come to the same').toEqual(whole)
  for (const [name, pieces] of cutsOf(bytes)) {
    const cut = readPieces(pieces, options)
    if (!isDeepStrictEqual(cut, whole))
      expect(cut, `the body read ${name} must come to the same as read whole`).toEqual(whole)
  }
  return whole
}

/** Reads a body once, whole: for properties that run over many bodies. */
export function readWhole(body: string, options: RunOptions = {}): Run {
  const bytes = bytesOf(body)
  const whole = readPieces([bytes], options)
  expectLawful(whole)
  const plain = readPieces([bytes], { adapter: chatCompletions(options.profile, { template: false }), ...options })
  if (!isDeepStrictEqual(plain, whole)) expect(plain, 'read without templates it must come to the same').toEqual(whole)
  return whole
}

/** Reads a body once, in the given pieces. */
export function readPieces(pieces: Iterable<Uint8Array>, options: RunOptions = {}): Run {
  const engine = engineFor(options)
  const events: StreamEvent[] = []
  if (options.head !== undefined) engine.response(options.head)
  for (const piece of pieces) events.push(...engine.push(piece))
  events.push(...engine.end(options.end ?? 'eof'))
  return { events: merged(events), report: engine.report(), snapshot: engine.snapshot() }
}

export function engineFor({ profile, head: _head, end: _end, ...options }: RunOptions = {}): StreamEngine {
  const adapter: StreamAdapter = options.adapter ?? chatCompletions(profile)
  return createStreamEngine({ ...options, adapter })
}

function cutsOf(bytes: Uint8Array): [string, readonly Uint8Array[]][] {
  const cuts: [string, readonly Uint8Array[]][] = []
  const { length } = bytes
  if (length <= 16_384) cuts.push(['byte by byte', cutAt(bytes, [...bytes.keys()])])
  const random = randomOf(length)
  for (const pieces of [2, 5, 17]) {
    const at = Array.from({ length: pieces - 1 }, () => Math.floor(random() * (length + 1)))
    cuts.push([`cut at ${at.join(', ')}`, cutAt(bytes, at)])
  }
  return cuts
}

/** Mulberry32: the same cuts for the same seed on every machine. */
function randomOf(seed: number): () => number {
  let state = (seed ^ 0x5eed_f01d) >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** Joins neighbouring deltas of one block or call: how text is cut over deltas is no property of a response. */
export function merged(events: readonly StreamEvent[]): readonly StreamEvent[] {
  const result: StreamEvent[] = []
  for (const event of events) {
    const last = result.at(-1)
    if (
      last !== undefined &&
      'text' in last &&
      'text' in event &&
      isDeepStrictEqual({ ...last, text: '' }, { ...event, text: '' })
    ) {
      result[result.length - 1] = { ...event, text: last.text + event.text }
    } else result.push(event)
  }
  return result
}

/** What holds for every stream, however it ends. Thousands of runs are checked: plain conditions, not matchers. */
export function expectLawful({ events, report, snapshot }: Run): void {
  const ends = events.filter(({ type }) => type === 'stream_completed' || type === 'stream_error')
  const end = ends[0]
  must(ends.length === 1 && events.at(-1) === end, 'one terminal event, and nothing behind it', events)
  const bad = report.outcome === 'failed' || report.outcome === 'incomplete' || report.outcome === 'cancelled'
  must(end?.type === (bad ? 'stream_error' : 'stream_completed'), 'the terminal event fits the outcome', [end, report])
  must(end !== undefined && 'outcome' in end && end.outcome === report.outcome, 'event and report agree', [end, report])
  must((report.error !== null) === bad, 'a report has an error exactly when the stream has', report)
  must(snapshot.ended && JSON.stringify(snapshot) !== undefined, 'the snapshot is over and can be printed', snapshot)
  const json = JSON.stringify(report)
  must(JSON.stringify(JSON.parse(json)) === json, 'the report can be printed and read again', report)
  for (const choice of report.choices) expectLawfulChoice(events, choice, bad)
  for (const choice of report.choices) expectShown(snapshot, choice)
}

function expectLawfulChoice(events: readonly StreamEvent[], choice: ReportChoice, bad: boolean): void {
  const own = events.filter((event) => 'choice' in event && event.choice === choice.index)
  must(textIn(own, 'text_delta') === choice.text, 'deltas add up to the text', choice)
  must(textIn(own, 'reasoning_delta') === choice.reasoning, 'deltas add up to the reasoning', choice)
  must(textIn(own, 'refusal_delta') === choice.refusal, 'deltas add up to the refusal', choice)

  const { toolCalls } = choice
  must(new Set(toolCalls.map(({ callId }) => callId)).size === toolCalls.length, 'call ids are unique', toolCalls)
  const batches = own.flatMap((event) => (event.type === 'tool_batch_ready' ? [event] : []))
  must(batches.length === (choice.phase === 'released' ? 1 : 0), 'one batch exactly when released', choice)
  must(!bad || batches.length === 0, 'a stream that ended badly releases nothing', events)
  for (const call of toolCalls) {
    const mine = own.filter((event) => 'callId' in event && event.callId === call.callId)
    const terminal = mine.filter(({ type }) => CALL_ENDS.has(type))
    must(terminal.length === 1, 'a call has one terminal event', [call, mine])
    const started = mine.filter(({ type }) => type === 'tool_call_started').length
    must(started === 1 || (started === 0 && call.state === 'failed'), 'a call starts once', [call, mine])
    if (call.state !== 'failed') {
      must(textIn(mine, 'tool_call_arguments_delta') === call.argumentsText, 'deltas add up to the arguments', call)
    }
    must(call.state !== 'failed' || call.parsedArguments === null, 'a failed call has no arguments', call)
    const released = batches.flatMap(({ calls }) => calls).filter(({ callId }) => callId === call.callId)
    if (call.code === null) {
      const [ready] = released
      must(released.length === 1 && terminal[0]!.type === 'tool_call_ready', 'no code means released', [call, mine])
      must(ready!.name === call.name && ready!.argumentsText === call.argumentsText, 'released as reported', call)
      must(isDeepStrictEqual(ready!.parsedArguments, call.parsedArguments), 'released as reported', call)
    } else {
      const type = call.state === 'failed' ? 'tool_call_failed' : 'tool_call_held'
      must(released.length === 0 && terminal[0]!.type === type, 'a code means not released', [call, mine])
      must('code' in terminal[0]! && terminal[0].code === call.code, 'event and report agree', [call, mine])
    }
  }
}

function expectShown(snapshot: StreamSnapshot, choice: ReportChoice): void {
  const blocks = snapshot.choices.find(({ index }) => index === choice.index)?.blocks ?? []
  must(!blocks.some(({ status }) => status === 'streaming'), 'nothing stays open', blocks)
  const shown = blocks.flatMap((block) => (block.type === 'tool-call' ? [block] : []))
  must(shown.length === choice.toolCalls.length, 'every call is shown', [shown, choice])
  for (const [i, { argumentsText, state }] of choice.toolCalls.entries()) {
    const text = shown[i]!.argumentsText
    // A fragment that broke the limit is shown, and is not taken.
    const fits = state === 'failed' ? text.startsWith(argumentsText) : text === argumentsText
    must(fits, 'arguments are shown as reported', [shown[i], choice])
  }
}

const CALL_ENDS: ReadonlySet<string> = new Set(['tool_call_ready', 'tool_call_held', 'tool_call_failed'])

function textIn(events: readonly StreamEvent[], type: StreamEvent['type']): string {
  // Blocks may take turns: their order is that of their keys, not of arrival.
  const byBlock = new Map<number, string>()
  for (const event of events) {
    if (event.type !== type || !('text' in event)) continue
    const block = 'block' in event ? event.block : 0
    byBlock.set(block, (byBlock.get(block) ?? '') + event.text)
  }
  return [...byBlock]
    .toSorted(([a], [b]) => a - b)
    .map(([, text]) => text)
    .join('')
}

function must(holds: boolean, law: string, evidence: unknown): void {
  if (!holds) throw new Error(`${law}: ${JSON.stringify(evidence, null, 1).slice(0, 4_000)}`)
}

/** The calls of a choice in one line each: `name(arguments) ready`, `… held: code` or `… failed: code`. */
export function callsOf({ report }: Run, choice = 0): readonly string[] {
  const calls = report.choices.find(({ index }) => index === choice)?.toolCalls ?? []
  return calls.map(({ name, argumentsText, state, code }) => {
    const what = code === null ? 'ready' : `${state === 'complete' ? 'held' : state}: ${code}`
    return `${name}(${argumentsText}) ${what}`
  })
}

/** Codes of the findings, sorted. */
export function findingsOf({ report }: Run): readonly string[] {
  return report.diagnostics.map(({ code }) => code).toSorted()
}

export function textOf({ report }: Run, choice = 0): string {
  return report.choices.find(({ index }) => index === choice)?.text ?? ''
}

export function reasoningOf({ report }: Run, choice = 0): string {
  return report.choices.find(({ index }) => index === choice)?.reasoning ?? ''
}

/** Types of the events, in order. */
export function typesOf({ events }: Run): readonly string[] {
  return events.map(({ type }) => type)
}
