import { readerOf } from './byte-source.ts'
import type { ByteRead, ByteReader, ByteSource } from './byte-source.ts'

/** A synchronous machine between bytes and items. */
export interface BatchMachine<Item> {
  push(bytes: Uint8Array): readonly Item[]
  end(): readonly Item[]
  /** Nothing more will come out: the rest of the source is given up. */
  readonly done: boolean
  /** Why nothing more will come out, where that is a fault. It is thrown after the items before it were handed out. */
  readonly fault: Error | undefined
}

/** Items one by one, or as many at a time as one read gave. */
export interface BatchedIterator<Item> extends AsyncIterableIterator<Item> {
  /** Never gives an empty batch. Use either this or the items one by one, not both at once. */
  batches(): AsyncIterableIterator<readonly Item[]>
}

type Pulled<Item> = IteratorResult<Item, undefined> | Promise<IteratorResult<Item, undefined>>

/**
 * The one asynchronous layer: pulls a read, pushes it through a machine and hands out the items. Nothing is read before it is
 * asked for, and leaving the loop gives the source up. Written by hand because an async generator costs half as much again
 * per item.
 */
export class BatchIterator<Item> implements BatchedIterator<Item> {
  readonly #reader: ByteReader
  readonly #machine: BatchMachine<Item>
  #items: readonly Item[] = []
  #next = 0
  #finished = false
  #fault: Error | undefined
  /** The pull under way; another call of `next` waits for it. */
  #pulling: Promise<IteratorResult<Item, undefined>> | undefined

  constructor(source: ByteSource, machine: BatchMachine<Item>) {
    this.#reader = readerOf(source)
    this.#machine = machine
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  batches(): AsyncIterableIterator<readonly Item[]> {
    const batch = (): IteratorResult<readonly Item[], undefined> => {
      const items = this.#next === 0 ? this.#items : this.#items.slice(this.#next)
      this.#items = []
      this.#next = 0
      return { done: false, value: items }
    }
    const took = (first: IteratorResult<Item, undefined>): IteratorResult<readonly Item[], undefined> => {
      if (first.done === true) return first
      // The first item of the read was handed out to get here; it goes back to the others.
      this.#next--
      return batch()
    }
    const batches: AsyncIterableIterator<readonly Item[]> = {
      [Symbol.asyncIterator]: () => batches,
      next: () => (this.#next < this.#items.length ? Promise.resolve(batch()) : this.next().then(took)),
      return: async () => {
        await this.return()
        return { done: true, value: undefined }
      },
    }
    return batches
  }

  next(): Promise<IteratorResult<Item, undefined>> {
    if (this.#pulling !== undefined) {
      const again = (): Promise<IteratorResult<Item, undefined>> => this.next()
      return this.#pulling.then(again, again)
    }
    if (this.#next < this.#items.length) return Promise.resolve({ done: false, value: this.#items[this.#next++]! })
    return this.#finished ? this.#over() : (this.#pulling = this.#pull())
  }

  async return(): Promise<IteratorResult<Item, undefined>> {
    const open = !this.#finished
    this.#finished = true
    this.#fault = undefined
    this.#items = []
    if (open) await this.#reader.cancel()
    return { done: true, value: undefined }
  }

  /**
   * One read, and what follows from it. Continuations instead of an async function: they make one promise of the two that a read
   * costs, and where events come one by one a promise is what an event costs.
   */
  #pull(): Promise<IteratorResult<Item, undefined>> {
    return this.#reader.read().then(this.#take, this.#fail)
  }

  readonly #take = ({ done, value }: ByteRead): Pulled<Item> => {
    // Items that were handed out must not come again when what follows throws.
    this.#items = []
    this.#next = 0
    if (this.#finished) return this.#leave()
    try {
      if (done === true || value === undefined) this.#end()
      else {
        this.#items = this.#machine.push(value)
        if (this.#machine.done) return this.#giveUp(this.#machine.fault).then(() => this.#leave())
      }
    } catch (error) {
      return this.#fail(error)
    }
    return this.#items.length > 0 || this.#finished ? this.#leave() : this.#pull()
  }

  /** A source that failed is over and is not asked again; one that is still open is given up. */
  readonly #fail = async (error: unknown): Promise<never> => {
    if (!this.#finished) await this.#giveUp(error)
    this.#pulling = undefined
    throw error
  }

  #leave(): Pulled<Item> {
    this.#pulling = undefined
    return this.#items.length > 0 ? { done: false, value: this.#items[this.#next++]! } : this.#over()
  }

  /** Nothing is left to hand out. */
  async #over(): Promise<IteratorResult<Item, undefined>> {
    const fault = this.#fault
    if (fault === undefined) return { done: true, value: undefined }
    this.#fault = undefined
    throw fault
  }

  #end(): void {
    this.#finished = true
    this.#items = this.#machine.end()
    this.#fault = this.#machine.fault
  }

  /** What a source says when it is given up never hides why it was. */
  async #giveUp(reason: unknown): Promise<void> {
    this.#finished = true
    this.#fault = this.#machine.fault
    await this.#reader.cancel(reason).catch(() => undefined)
  }
}
