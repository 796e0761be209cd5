import { clip } from '../json/clip.ts'
import { createWholenessScanner } from '../json/wholeness.ts'
import type { WholenessScanner } from '../json/wholeness.ts'

/**
 * Which call does a fragment belong to? This is the one place where that is decided, for every wire format that sends
 * tool calls in fragments. The key is the index, else the id, else the only open call; what stays ambiguous fails closed,
 * for a fragment given to the wrong call is worse than none (faults F064–F087).
 */

/** Opaque: may start at 1, be negative, or be text. */
export type IndexKey = number | string

/** A fragment's identity fields, already cleaned: absent, `null`, `''` and white space are all `undefined`. */
export interface Fragment {
  readonly index: IndexKey | undefined
  readonly id: string | undefined
  readonly name: string | undefined
  /** The fragment carries argument text other than white space. */
  readonly hasArguments: boolean
  /** The fragment stands behind another one in the same array, so both cannot be pieces of one call. */
  readonly afterSibling: boolean
}

/** One call as far as its identity goes. Its arguments are kept elsewhere; here only their wholeness is known. */
export interface CallSlot {
  readonly ordinal: number
  readonly key: IndexKey | undefined
  readonly arguments: WholenessScanner
  providerCallId: string | undefined
  name: string | undefined
  /** The choice was closed: no more arguments may come. */
  frozen: boolean
  /** The id was seen on an earlier call of this response. */
  readonly idRepeated: boolean
}

export type SlotMatch<Slot extends CallSlot> =
  | { readonly kind: 'opened'; readonly slot: Slot; readonly indexReused: boolean }
  | { readonly kind: 'continued'; readonly slot: Slot }
  | { readonly kind: 'conflict'; readonly slot: Slot; readonly message: string }
  | { readonly kind: 'ambiguous'; readonly slots: readonly Slot[]; readonly message: string }
  | { readonly kind: 'full' }

export interface SlotTableOptions<Slot extends CallSlot> {
  readonly maxCalls: number
  /** What a changed id inside an open call means: a conflict, or the first id stays. */
  readonly idChange: 'conflict' | 'keep-first'
  /** Makes the record of a new call; the table only keeps it. */
  readonly create: (slot: CallSlot) => Slot
}

/** The calls of one choice. Two choices never share a table. */
export class SlotTable<Slot extends CallSlot> {
  readonly slots: Slot[] = []
  readonly #options: SlotTableOptions<Slot>
  readonly #byIndex = new Map<IndexKey, Slot>()
  readonly #byId = new Map<string, Slot>()
  /** Indexes rebound to a new id while the earlier call was not whole. */
  readonly #rebound = new Set<IndexKey>()
  /** Slots before this ordinal are frozen. */
  #firstOpen = 0

  constructor(options: SlotTableOptions<Slot>) {
    this.#options = options
  }

  resolve(fragment: Fragment): SlotMatch<Slot> {
    if (fragment.id !== undefined) return this.#resolveById(fragment, fragment.id)
    if (fragment.index !== undefined) return this.#resolveByIndex(fragment, fragment.index)
    return this.#resolveAlone(fragment)
  }

  /** Freezes every call so far; a later fragment can only open a new one. */
  freeze(): void {
    for (let i = this.#firstOpen; i < this.slots.length; i++) this.slots[i]!.frozen = true
    this.#firstOpen = this.slots.length
  }

  #resolveById(fragment: Fragment, id: string): SlotMatch<Slot> {
    const { index, name } = fragment
    // One id may be given to several calls (fault F078): under its own index a call knows itself.
    const atIndex = index !== undefined ? this.#byIndex.get(index) : undefined
    const known = atIndex?.providerCallId === id ? atIndex : this.#byId.get(id)
    if (known !== undefined) {
      if (index === undefined) {
        const sharers = this.slots.filter((slot) => slot.providerCallId === id && !isClosed(slot))
        if (sharers.length > 1) {
          return {
            kind: 'ambiguous',
            slots: sharers,
            message: `${sharers.length} open calls share the id ${quote(id)}`,
          }
        }
      } else if (atIndex !== undefined && atIndex !== known && !isClosed(atIndex)) this.#rebound.add(index)
      const elsewhere = index !== undefined && known.key !== undefined && known.key !== index
      // A whole document can't be continued: the same id with a name and more arguments is the call sent again,
      // or another call under the same id. Which of the two is judged when both are complete.
      const again = name !== undefined && fragment.hasArguments && isClosed(known)
      return elsewhere || again ? this.#open(fragment, true) : continued(known)
    }
    const current = index !== undefined ? atIndex : this.#onlyOpenWithoutId()
    if (current === undefined) return this.#open(fragment, false)
    if (current.providerCallId === undefined) {
      // A call that has no name either is still waiting for both (fault F072).
      const named = name !== undefined && current.name !== undefined
      const another = isClosed(current) ? fragment.hasArguments : named && current.arguments.state !== 'empty'
      if (another || (fragment.afterSibling && named)) return this.#rebind(fragment, current)
      current.providerCallId = id
      this.#byId.set(id, current)
      return continued(current)
    }
    if (name !== undefined || isClosed(current)) return this.#rebind(fragment, current)
    if (this.#options.idChange === 'keep-first') return continued(current)
    return {
      kind: 'conflict',
      slot: current,
      message: `the id changed from ${quote(current.providerCallId)} to ${quote(id)} inside one call`,
    }
  }

  #resolveByIndex(fragment: Fragment, index: IndexKey): SlotMatch<Slot> {
    const current = this.#byIndex.get(index)
    if (current === undefined) return this.#open(fragment, false)
    if (this.#rebound.has(index)) {
      return {
        kind: 'ambiguous',
        slots: this.slots.filter((slot) => slot.key === index),
        message: `index ${quote(String(index))} was given to a second call before the first was whole, so a fragment without id fits either`,
      }
    }
    return continued(current)
  }

  /** Neither index nor id. */
  #resolveAlone(fragment: Fragment): SlotMatch<Slot> {
    const open = this.slots.length - this.#firstOpen
    const last = this.slots[this.slots.length - 1]
    if (open === 0) {
      // Arguments without any name can only be meant for a call that is already closed.
      if (last !== undefined && fragment.name === undefined && fragment.hasArguments) return continued(last)
      return this.#open(fragment, false)
    }
    // Two elements of one array are never pieces of one call.
    const sibling = fragment.name !== undefined && fragment.afterSibling
    const startsAnother = fragment.name !== undefined && this.#openSlots().every(isClosed)
    if (sibling || (startsAnother && (open > 1 || last!.name !== fragment.name))) {
      return this.#open(fragment, false)
    }
    if (open === 1) return continued(this.slots[this.#firstOpen]!)
    return {
      kind: 'ambiguous',
      slots: this.#openSlots(),
      message: `a fragment has neither index nor id while ${open} calls are open`,
    }
  }

  #rebind(fragment: Fragment, current: Slot): SlotMatch<Slot> {
    const index = fragment.index
    if (index !== undefined && !isClosed(current)) this.#rebound.add(index)
    return this.#open(fragment, false, index !== undefined)
  }

  #open(fragment: Fragment, idRepeated: boolean, indexReused = false): SlotMatch<Slot> {
    if (this.slots.length >= this.#options.maxCalls) return { kind: 'full' }
    const slot = this.#options.create({
      ordinal: this.slots.length,
      key: fragment.index,
      arguments: createWholenessScanner(),
      providerCallId: fragment.id,
      name: undefined,
      frozen: false,
      idRepeated,
    })
    this.slots.push(slot)
    if (fragment.index !== undefined) this.#byIndex.set(fragment.index, slot)
    if (fragment.id !== undefined) this.#byId.set(fragment.id, slot)
    return { kind: 'opened', slot, indexReused }
  }

  #openSlots(): readonly Slot[] {
    return this.slots.slice(this.#firstOpen)
  }

  #onlyOpenWithoutId(): Slot | undefined {
    if (this.slots.length - this.#firstOpen !== 1) return undefined
    const slot = this.slots[this.#firstOpen]!
    return slot.providerCallId === undefined && slot.key === undefined ? slot : undefined
  }
}

/** Nothing can be appended to it: its arguments are one whole document, or the wire closed it. */
function isClosed(slot: CallSlot): boolean {
  return slot.frozen || slot.arguments.state === 'whole'
}

function continued<Slot extends CallSlot>(slot: Slot): SlotMatch<Slot> {
  return { kind: 'continued', slot }
}

function quote(id: string): string {
  return `"${clip(id, 40)}"`
}
