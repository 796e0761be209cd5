import type { ChoiceSnapshot, StreamSnapshot } from '../accumulate/snapshot.ts'
import type { ContentBlock, TextBlock, ToolCallBlock } from '../chunk/content-block.ts'
import type { FinishReason } from '../chunk/finish-reason.ts'
import { clip } from '../json/clip.ts'
import { readStrict } from '../json/strict.ts'
import { isJsonObject } from '../json/value.ts'
import type { JsonObject } from '../json/value.ts'
import type { CallResult } from './call-result.ts'
import { freeId } from './call-id.ts'
import type { IdRules } from './call-id.ts'

/**
 * Why a block does not go into the history.
 * - `no_result`: a call that was not answered; a dangling call makes every later request fail (fault F206).
 * - `not_whole`: a call without a name, or whose arguments are not one whole JSON object.
 * - `other_api`: only the API that it came from can read it.
 * - `cut_off`: it was not closed when the stream ended, and what there is of it is no use without its rest.
 * - `unpaired`: its other half is missing: the result of a provider's tool, the item behind reasoning.
 * - `no_proof`: reasoning without the signature or item that its API asks for.
 * - `no_word`: the request format has no word for it.
 */
export type DropReason = 'no_result' | 'not_whole' | 'other_api' | 'cut_off' | 'unpaired' | 'no_proof' | 'no_word'

/** A block that does not go into the history. */
export interface DroppedBlock {
  readonly block: ContentBlock
  readonly reason: DropReason
}

export type Metadata = Readonly<Record<string, unknown>>

/** Text, reasoning, a refusal, or what only its provider reads. */
export interface ProsePart {
  readonly kind: TextBlock['type']
  readonly block: TextBlock
  readonly text: string
  /** The wire closed it. */
  readonly whole: boolean
  readonly metadata: Metadata
}

/** A call that is answered. */
export interface CallPart {
  readonly kind: 'call'
  readonly block: ToolCallBlock
  /** Unique in the history, and written as the API allows. */
  readonly id: string
  readonly name: string
  /** Raw arguments, `{}` where none came. */
  readonly argumentsText: string
  /** The same, parsed; of a custom tool `{ input: text }`. */
  readonly input: JsonObject
  readonly metadata: Metadata
  readonly result: CallResult
}

/** A call that the provider ran, or is running, itself. */
export interface ProviderCallPart {
  readonly kind: 'provider-call'
  readonly block: ToolCallBlock
  readonly id: string
  readonly name: string
  readonly argumentsText: string
  readonly input: JsonObject
  readonly whole: boolean
  readonly metadata: Metadata
}

/** Where something stood that is not sent. */
export interface GapPart {
  readonly kind: 'gap'
}

export type TurnPart = ProsePart | CallPart | ProviderCallPart | GapPart

/** One assistant turn, with the answers to its calls: what each API's messages are made from. */
export interface Turn {
  /** In block order. */
  readonly parts: readonly TurnPart[]
  readonly calls: readonly CallPart[]
  readonly finish: FinishReason | undefined
  /** Provider fields of the choice; none if it came from another API. */
  readonly metadata: Metadata
  readonly drop: (block: ContentBlock, reason: DropReason) => void
}

export interface TurnOptions {
  readonly choice: number
  /** It came from another API: only text and answered calls mean anything there. */
  readonly foreign: boolean
  readonly ids: IdRules
  readonly usedIds: Iterable<string>
  readonly onDropped: (dropped: DroppedBlock) => void
}

const NOTHING: Metadata = Object.freeze({})

/** @throws TypeError for results that fit no call of the choice, or two for one call */
export function readTurn(snapshot: StreamSnapshot, results: readonly CallResult[], options: TurnOptions): Turn {
  const choice = snapshot.choices.find(({ index }) => index === options.choice)
  const answers = answersOf(choice, results, options.choice)
  const used = new Set(options.usedIds)
  const drop = (block: ContentBlock, reason: DropReason): void => options.onDropped({ block, reason })
  const parts = (choice?.blocks ?? []).map((block): TurnPart => {
    const part = block.type === 'tool-call' ? readCall(block, answers, used, options) : readProse(block, options)
    if (typeof part !== 'string') return part
    drop(block, part)
    return { kind: 'gap' }
  })
  return {
    parts,
    calls: parts.filter((part) => part.kind === 'call'),
    finish: choice?.finish?.reason,
    metadata: (options.foreign ? undefined : choice?.metadata) ?? NOTHING,
    drop,
  }
}

/** All text of one kind, in block order. */
export function textOf({ parts }: Turn, kind: ProsePart['kind']): string {
  return parts.map((part) => (part.kind === kind ? part.text : '')).join('')
}

/** Reports the parts of these kinds, which the request format has no word for. */
export function dropKinds({ parts, drop }: Turn, kinds: readonly TurnPart['kind'][]): void {
  for (const part of parts) if (part.kind !== 'gap' && kinds.includes(part.kind)) drop(part.block, 'no_word')
}

function readProse(block: TextBlock, { foreign }: TurnOptions): ProsePart | DropReason {
  if (foreign && (block.type === 'reasoning' || block.type === 'opaque')) return 'other_api'
  return {
    kind: block.type,
    block,
    text: block.text,
    whole: block.status === 'done',
    metadata: (foreign ? undefined : block.metadata) ?? NOTHING,
  }
}

function readCall(
  block: ToolCallBlock,
  answers: ReadonlyMap<string, CallResult>,
  used: Set<string>,
  { foreign, ids }: TurnOptions,
): CallPart | ProviderCallPart | DropReason {
  const { name, providerExecuted } = block
  if (providerExecuted === true && foreign) return 'other_api'
  const result = answers.get(block.callId)
  if (providerExecuted !== true && result === undefined) return 'no_result'
  const input = inputOf(block)
  if (name === undefined || input === undefined) return 'not_whole'
  const common = {
    block,
    id: freeId(block.callId, ids, used),
    name,
    argumentsText: block.freeText !== true && block.argumentsText.trim() === '' ? '{}' : block.argumentsText,
    input,
    metadata: (foreign ? undefined : block.metadata) ?? NOTHING,
  }
  if (result !== undefined) return { ...common, kind: 'call', result }
  return { ...common, kind: 'provider-call', whole: block.status === 'done' }
}

/** The arguments as an object; undefined when they are not one, or were cut before they began. */
function inputOf({ argumentsText, freeText, status }: ToolCallBlock): JsonObject | undefined {
  if (freeText === true) return status === 'interrupted' ? undefined : { input: argumentsText }
  if (argumentsText.trim() === '') return status === 'interrupted' ? undefined : {}
  const read = readStrict(argumentsText)
  return read.ok && isJsonObject(read.value) ? read.value : undefined
}

function answersOf(
  choice: ChoiceSnapshot | undefined,
  results: readonly CallResult[],
  index: number,
): ReadonlyMap<string, CallResult> {
  const calls = new Map<string, ToolCallBlock>()
  for (const block of choice?.blocks ?? []) if (block.type === 'tool-call') calls.set(block.callId, block)
  const answers = new Map<string, CallResult>()
  for (const result of results) {
    const { callId } = result
    const name = `"${clip(callId, 80)}"`
    const call = calls.get(callId)
    if (call === undefined) {
      throw new TypeError(`no call of choice ${index} has the id ${name}; pass the callId of a tool_call_ready event`)
    }
    if (call.providerExecuted === true) {
      throw new TypeError(`call ${name} is run by the provider, which has its result already; leave its result out`)
    }
    if (answers.has(callId)) throw new TypeError(`call ${name} has two results; pass one`)
    answers.set(callId, result)
  }
  return answers
}
