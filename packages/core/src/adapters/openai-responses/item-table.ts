import { clip } from '../../json/clip.ts'
import { identity } from '../wire-value.ts'
import type { CallItem } from './call-item.ts'
import type { OpaqueItem } from './opaque-item.ts'
import type { TextItem } from './text-item.ts'

export type OutputItem = TextItem | CallItem | OpaqueItem

type Raw = Readonly<Record<string, unknown>>

export type ItemMatch =
  | { readonly kind: 'found'; readonly item: OutputItem; readonly idChanged: boolean }
  | { readonly kind: 'none' }
  /** Several items fit, or index and id name different ones: no call among them may be trusted with it. */
  | { readonly kind: 'ambiguous'; readonly calls: readonly CallItem[]; readonly message: string }

const NONE: ItemMatch = { kind: 'none' }
/** More items than this under one index are not looked through. */
const MOST_SHARERS = 8

/**
 * The items of a response. The key is `output_index`; `item_id` only verifies it, for some servers write a new one into every event
 * (fault F138). Without an index the id decides, else the only open item; what stays ambiguous fails closed.
 */
export class ItemTable {
  /** In order of first appearance. */
  readonly items: OutputItem[] = []
  readonly calls: CallItem[] = []
  readonly #open = new Set<OutputItem>()
  readonly #indexes = new Map<OutputItem, number>()
  readonly #byIndex = new Map<number, OutputItem[]>()
  readonly #byId = new Map<string, OutputItem>()

  add(item: OutputItem, index: number | undefined): void {
    this.items.push(item)
    this.#open.add(item)
    if (item.kind === 'call') this.calls.push(item)
    if (item.id !== undefined && !this.#byId.has(item.id)) this.#byId.set(item.id, item)
    if (index === undefined) return
    this.#indexes.set(item, index)
    const there = this.#byIndex.get(index)
    if (there === undefined) this.#byIndex.set(index, [item])
    else there.push(item)
  }

  /** The wire said that the item is whole. */
  close(item: OutputItem): void {
    this.#open.delete(item)
  }

  /** The item that an event of its content means. */
  resolve(index: number | undefined, id: string | undefined): ItemMatch {
    const byId = id === undefined ? undefined : this.#byId.get(id)
    if (index === undefined) return byId !== undefined ? found(byId, false) : id === undefined ? this.#onlyOpen() : NONE
    const there = this.#byIndex.get(index)
    if (byId !== undefined) {
      return this.#indexes.get(byId) === index ? found(byId, false) : misplaced(index, id!, this.#callsAt(index, byId))
    }
    if (there === undefined) return NONE
    if (there.length === 1) return found(there[0]!, id !== undefined && there[0]!.id !== undefined)
    const open = there.length > MOST_SHARERS ? [] : there.filter((item) => !item.done)
    if (open.length === 1) return found(open[0]!, false)
    return {
      kind: 'ambiguous',
      calls: this.#callsAt(index),
      message: `${there.length} items share output_index ${index}, and nothing else tells which one is meant`,
    }
  }

  /** The item that an `output_item.added` only repeats. */
  repeated(raw: Raw, index: number | undefined): OutputItem | undefined {
    const callId = identity(raw['call_id'])
    const id = identity(raw['id'])
    const fits = (item: OutputItem | undefined): item is OutputItem =>
      item !== undefined && item.type === raw['type'] && (index === undefined || this.#indexes.get(item) === index)
    if (callId !== undefined) return this.calls.find((call) => call.providerCallId === callId && fits(call))
    const item = id !== undefined ? this.#byId.get(id) : this.#lastAt(index)
    return fits(item) && item.id === id ? item : undefined
  }

  /**
   * The item that an `output_item.done` ends; undefined when it is a new one, of which nothing came before. `ambiguous` when that
   * can't be told.
   */
  ended(raw: Raw, index: number | undefined): OutputItem | 'ambiguous' | undefined {
    const callId = identity(raw['call_id'])
    const id = identity(raw['id'])
    const sharers = this.calls.filter(
      (call) =>
        callId !== undefined &&
        call.providerCallId === callId &&
        (index === undefined || this.#indexes.get(call) === index),
    )
    if (sharers.length > 1 && id === undefined) return 'ambiguous'
    if (sharers.length === 1) return sharers[0]
    if (index !== undefined || id !== undefined) {
      const match = this.resolve(index, id)
      if (match.kind === 'ambiguous') return 'ambiguous'
      // What was done under other names than these was another item: the index is used again.
      return match.kind === 'found' && !(match.item.done && isAnother(match.item, raw)) ? match.item : undefined
    }
    if (this.#open.size > MOST_SHARERS) return 'ambiguous'
    const open = [...this.#open].filter((item) => item.type === raw['type'])
    if (open.length > 1) return 'ambiguous'
    return callId === undefined ? open[0] : undefined
  }

  /** Items under this index. */
  count(index: number): number {
    return this.#byIndex.get(index)?.length ?? 0
  }

  #callsAt(index: number, and?: OutputItem): readonly CallItem[] {
    return this.calls.filter((call) => call === and || this.#indexes.get(call) === index)
  }

  #lastAt(index: number | undefined): OutputItem | undefined {
    return index === undefined ? undefined : this.#byIndex.get(index)?.at(-1)
  }

  #onlyOpen(): ItemMatch {
    if (this.#open.size === 0) return NONE
    const [only] = this.#open
    if (this.#open.size === 1) return found(only!, false)
    return {
      kind: 'ambiguous',
      calls: this.calls.filter((call) => this.#open.has(call)),
      message: `an event has neither output_index nor item_id while ${this.#open.size} items are open`,
    }
  }
}

function isAnother(item: OutputItem, raw: Raw): boolean {
  const callId = identity(raw['call_id'])
  if (item.kind === 'call' && callId !== undefined && item.providerCallId !== undefined) {
    return item.providerCallId !== callId
  }
  const id = identity(raw['id'])
  return id !== undefined && item.id !== undefined && item.id !== id
}

function found(item: OutputItem, idChanged: boolean): ItemMatch {
  return { kind: 'found', item, idChanged }
}

function misplaced(index: number, id: string, calls: readonly CallItem[]): ItemMatch {
  return {
    kind: 'ambiguous',
    calls,
    message: `output_index ${index} and item_id "${clip(id, 80)}" of an event belong to different items`,
  }
}
