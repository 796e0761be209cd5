import { clip } from '../../json/clip.ts'
import type { ServerSentEvent } from '../../sse/event.ts'
import type { AdapterOutput } from '../adapter.ts'
import { argumentText } from '../argument-value.ts'
import { CallIds } from '../call-id.ts'
import { isKeepable, printed } from '../kept-value.ts'
import { statedTwice } from '../stated-twice.ts'
import { identity, isNothing, isRecord, nameText } from '../wire-value.ts'
import { callKindOf, inputOf } from './call-kind.ts'
import { CallItem } from './call-item.ts'
import type { CallContext, StatedInput } from './call-item.ts'
import type { InputEvent, KnownEvent, PartList, TextEvent } from './event-table.ts'
import { matchOutput } from './final-output.ts'
import { ItemTable } from './item-table.ts'
import type { OutputItem } from './item-table.ts'
import { OpaqueItem } from './opaque-item.ts'
import { blockTypeOf, TextItem } from './text-item.ts'
import { wireIndex } from './wire.ts'
import { tooManyCalls } from '../limit-fault.ts'

type Raw = Readonly<Record<string, unknown>>
export type OutputEvent = Exclude<KnownEvent, { readonly kind: 'lifecycle' | 'end' | 'progress' | 'audio' }>

export interface OutputReaderOptions {
  readonly maxCalls: number
  readonly idSeed: string
  /** The response's own id, as far as it is known. */
  readonly responseId: () => string | undefined
  /** The stream was resumed, and began in the middle: items may go on whose beginning it does not have. */
  readonly isResumed: () => boolean
  /** May the caller have declared a tool of this name? */
  readonly declares: (name: string) => boolean
}

/** Reads the output of one response: its items, from their events and from the final response. */
export class OutputReader {
  readonly #options: OutputReaderOptions
  readonly #table = new ItemTable()
  readonly #calls: CallContext
  #callCount = 0
  #nextBlock = 0
  #full = false

  constructor(options: OutputReaderOptions) {
    this.#options = options
    const ids = new CallIds(options.idSeed)
    this.#calls = {
      blocks: { next: () => this.#nextBlock++ },
      declares: options.declares,
      assignId: (providerId, ordinal) => ids.assign(providerId, options.responseId(), 0, ordinal),
    }
  }

  /** No item was seen. */
  get isEmpty(): boolean {
    return this.#table.items.length === 0
  }

  /** The response has calls that its caller must answer. */
  get hasCalls(): boolean {
    return this.#table.items.some((item) => item.kind === 'call' && item.awaitsAnswer)
  }

  read(known: OutputEvent, value: Raw, event: ServerSentEvent, out: AdapterOutput): void {
    if (this.#full) return
    const index = wireIndex(value['output_index'])
    if (index === 'unreadable') {
      out.skipped.push({ message: `output_index can't be read: ${clip(printed(value['output_index']), 40)}` })
      return
    }
    switch (known.kind) {
      case 'text-delta':
      case 'text-done':
        this.#text(known, value, index, out)
        return
      case 'input-delta':
      case 'input-done':
        this.#input(known, value, index, event, out)
        return
      case 'part-added':
      case 'part-done':
        this.#part(known.kind === 'part-done', known.list, value, index, out)
        return
      case 'annotation':
        this.#annotation(value, index)
        return
      case 'item-added':
      case 'item-done':
        this.#item(known.kind === 'item-done', value, index, event, out)
    }
  }

  /**
   * The final response restates its items. An empty list is an absence and wipes nothing (fault F143); an item that came only here
   * is taken from here (F141).
   */
  readFinal(output: unknown, pointer: string, event: ServerSentEvent, out: AdapterOutput): void {
    if (isNothing(output)) return
    if (!Array.isArray(output)) {
      out.skipped.push({ message: 'the output of the final response is not a list' })
      return
    }
    const list = output as readonly unknown[]
    if (list.some((raw) => raw !== null && !isItem(raw)))
      out.skipped.push({ message: 'an item of the final response is not an object with a type' })
    for (const { at, raw, item } of matchOutput(this.#table.items, list)) {
      if (!isItem(raw)) continue
      const open = item ?? this.#open(raw, undefined, this.#options.isResumed(), event, out)
      if (open === undefined) return
      this.#close(open, raw, `${pointer}/${at}`, event, out)
    }
  }

  /** The wire has ended: gives out what was held back. */
  flush(out: AdapterOutput): void {
    for (const item of this.#table.items) if (item.kind !== 'opaque') item.flush(out)
  }

  #text(known: TextEvent, value: Raw, index: number | undefined, out: AdapterOutput): void {
    const isDelta = known.kind === 'text-delta'
    const text = value[isDelta ? 'delta' : known.field]
    const at = wireIndex(value[known.list === 'summary' ? 'summary_index' : 'content_index'])
    // `null` says nothing, but a delta that is not there may have been lost.
    const isAbsent = text === null || (text === undefined && !isDelta)
    if ((typeof text !== 'string' && !isAbsent) || at === 'unreadable') {
      out.skipped.push({ message: `${isDelta ? 'a text delta' : 'a whole text'} can't be read` })
      return
    }
    const item = this.#itemOf(value, index, known.block === 'reasoning' ? 'reasoning' : 'message', out)
    if (item === undefined) return
    if (item.kind !== 'text') {
      out.skipped.push({ message: `text came for an item that is a ${clip(item.type, 60)}` })
      return
    }
    if (typeof text !== 'string') return
    const part = item.part(known.block, known.list, at ?? 0)
    if (!isDelta) {
      part.restate(text, out)
      return
    }
    part.add(text, out)
    const { logprobs } = value
    if (Array.isArray(logprobs) && logprobs.length > 0 && isKeepable(logprobs)) {
      for (const each of logprobs as readonly unknown[]) part.logprobs.push(each)
    }
  }

  #part(ends: boolean, list: PartList, value: Raw, index: number | undefined, out: AdapterOutput): void {
    const at = wireIndex(value[list === 'summary' ? 'summary_index' : 'content_index'])
    if (at === 'unreadable') {
      out.skipped.push({ message: "the index of a part can't be read" })
      return
    }
    const { part } = value
    const reasoning = list === 'summary' || (isRecord(part) && blockTypeOf(part) === 'reasoning')
    const item = this.#itemOf(value, index, reasoning ? 'reasoning' : 'message', out)
    // Text that a part begins with is told again when it is done.
    if (item?.kind === 'text' && ends) item.restatePart(part, list, at ?? 0, true, out)
  }

  #annotation(value: Raw, index: number | undefined): void {
    const match = this.#table.resolve(index, identity(value['item_id']))
    const at = wireIndex(value['content_index'])
    if (match.kind !== 'found' || match.item.kind !== 'text' || at === 'unreadable') return
    const { annotation } = value
    if (isRecord(annotation) && isKeepable(annotation)) match.item.text(at ?? 0)?.annotations.push(annotation)
  }

  #input(known: InputEvent, value: Raw, index: number | undefined, event: ServerSentEvent, out: AdapterOutput): void {
    const stated = value[known.kind === 'input-delta' ? 'delta' : known.field]
    if (known.kind === 'input-delta' && typeof stated !== 'string') {
      if (stated === null) return
      out.skipped.push({ message: 'a delta of a call is not text' })
      return
    }
    const item = this.#itemOf(value, index, known.itemType, out)
    if (item === undefined) return
    if (item.kind !== 'call' || item.callKind.freeText !== callKindOf(known.itemType)?.freeText) {
      out.skipped.push({ message: `input of a ${known.itemType} came for an item that is a ${clip(item.type, 60)}` })
      if (item.kind === 'call') item.conflict(`it is a ${item.type}, and got the input of a ${known.itemType}`, out)
      return
    }
    const invalid = event.invalidUtf8 === true
    if (known.kind === 'input-delta') {
      item.delta(stated as string, invalid, out)
      return
    }
    item.name(nameText(value['name']), out)
    if (item.isCallers) item.suspect(statedTwice(event, INPUT_DONE), out)
    // Some servers leave it out: the deltas stand.
    if (isNothing(stated)) return
    if (stated === '') {
      item.restateEmpty(out)
      return
    }
    const input = this.#stated(item, stated, `/${known.field}`, event, out)
    if (input !== undefined) item.restate(input, invalid, out)
  }

  #item(ends: boolean, value: Raw, index: number | undefined, event: ServerSentEvent, out: AdapterOutput): void {
    const raw = value['item']
    if (isNothing(raw)) {
      out.note('unexpected_field', 'item')
      return
    }
    if (!isItem(raw)) {
      out.skipped.push({ message: 'an output item is not an object with a type' })
      return
    }
    const match = ends ? this.#table.ended(raw, index) : this.#table.repeated(raw, index)
    if (match === 'ambiguous') {
      out.skipped.push({ message: `which item is done can't be told: a ${clip(String(raw['type']), 60)}` })
      return
    }
    if (match?.kind === 'call' && !ends) match.identify(raw, out)
    if (match === undefined && index !== undefined && this.#table.count(index) > 0) {
      out.note('index_reused', `output_index ${index}`)
    }
    const item = match ?? this.#open(raw, index, ends && this.#options.isResumed(), event, out)
    if (item?.kind === 'call' && item.isCallers) item.suspect(statedTwice(event, ITEM), out)
    if (item !== undefined && ends) this.#close(item, raw, '/item', event, out)
  }

  /** The item that an event of its content belongs to; opened here where its beginning was never seen. */
  #itemOf(value: Raw, index: number | undefined, type: string, out: AdapterOutput): OutputItem | undefined {
    const id = identity(value['item_id'])
    const match = this.#table.resolve(index, id)
    if (match.kind === 'found') {
      if (match.idChanged) out.note('item_id_changed')
      return match.item
    }
    if (match.kind === 'ambiguous') {
      out.skipped.push({ message: match.message })
      for (const call of match.calls) call.conflict(match.message, out)
      return undefined
    }
    if (!this.#options.isResumed()) {
      out.skipped.push({
        message: `an event came for an item that was never begun (output_index ${index ?? 'absent'})`,
      })
    }
    return this.#add({ type, ...(id !== undefined && { id }) }, type, index, true, out)
  }

  #open(
    raw: Raw,
    index: number | undefined,
    isTail: boolean,
    event: ServerSentEvent,
    out: AdapterOutput,
  ): OutputItem | undefined {
    const item = this.#add(raw, String(raw['type']), index, isTail, out)
    if (item?.kind === 'call') item.open(raw, event.invalidUtf8 === true, out)
    return item
  }

  /** Undefined when there are too many calls. */
  #add(raw: Raw, type: string, index: number | undefined, isTail: boolean, out: AdapterOutput): OutputItem | undefined {
    const kind = callKindOf(type)
    let item: OutputItem
    if (kind !== undefined) {
      if (this.#callCount >= this.#options.maxCalls) {
        this.#full = true
        out.chunks.push(tooManyCalls(0, this.#options.maxCalls))
        return undefined
      }
      item = new CallItem(type, kind, raw, this.#callCount++, this.#calls, isTail)
    } else if (type === 'message' || type === 'reasoning') {
      // Where the beginning was lost on the way, not sent before, the restated text is taken whole.
      item = new TextItem(type, raw, this.#calls.blocks, isTail && this.#options.isResumed())
    } else item = new OpaqueItem(type, raw, this.#calls.blocks)
    this.#table.add(item, index)
    return item
  }

  /** The wire restates a whole item; that closes it, unless it says that the item is not whole. */
  #close(item: OutputItem, raw: Raw, pointer: string, event: ServerSentEvent, out: AdapterOutput): void {
    if (item.type !== raw['type']) {
      out.skipped.push({ message: `a ${clip(item.type, 60)} ended as a ${clip(String(raw['type']), 60)}` })
      if (item.kind === 'call') item.conflict(`it ended as a ${clip(String(raw['type']), 60)}`, out)
      return
    }
    if (item.kind !== 'call') {
      item.restate(raw, out)
      this.#table.close(item)
      return
    }
    const invalid = event.invalidUtf8 === true
    item.identify(raw, out)
    if (item.isCallers && !item.done) item.suspect(statedTwice(event, [pointer]), out)
    const value = inputOf(raw, item.callKind)
    if (value === undefined && raw[item.callKind.field] === '') item.restateEmpty(out)
    // What a hosted tool was given may be told in more detail later; only text is held against text.
    if (value !== undefined && (!item.done || item.isCallers || typeof value === 'string')) {
      const input = this.#stated(item, value, pointer, event, out)
      if (input !== undefined) item.restate(input, invalid, out)
    }
    const status = raw['status']
    const isSilent = isNothing(status) || status === ''
    if (!isSilent && status !== 'completed') item.broken = true
    if (item.done && item.isCallers && (status === 'incomplete' || status === 'failed')) {
      item.conflict(`it was done, and is ${status} in what restates it`, out)
    }
    if (!item.done && ((isSilent && !item.broken) || status === 'completed' || !item.isCallers)) {
      item.close(raw, out)
      this.#table.close(item)
    }
  }

  /** Input as text. A function's arguments that came as a JSON value are written down once. */
  #stated(
    item: CallItem,
    value: unknown,
    pointer: string,
    event: ServerSentEvent,
    out: AdapterOutput,
  ): StatedInput | undefined {
    if (item.isCallers && typeof value !== 'string') out.note('arguments_as_object')
    const input = argumentText(value, { event, pointer })
    if (input === undefined) out.skipped.push({ message: 'input of a call is nested too deeply to be written down' })
    return input
  }
}

/** Of an item that begins or ends, and of an input that is done: what says which call it is, and what it says. */
const ITEM = ['/type', '/output_index', '/item'] as const
const INPUT_DONE = ['/type', '/output_index', '/item_id', '/name', '/arguments', '/input'] as const

function isItem(raw: unknown): raw is Raw {
  return isRecord(raw) && typeof raw['type'] === 'string' && raw['type'].trim() !== ''
}
