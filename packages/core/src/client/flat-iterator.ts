/** Where the batches come from. */
export interface BatchOwner<Item> {
  /** Items that were not handed out yet are not wanted any more. */
  readonly cancelled: boolean
  /** These were thrown away after a cancel. */
  drop(left: readonly Item[]): void
  /** The reader left, and did not want these any more. */
  leave(left: readonly Item[]): void
  cancel(reason: unknown): void
}

/**
 * The items of batches one by one. Written by hand because an async generator costs several promises per item, and with a model
 * that writes fast an item is what everything costs.
 */
export class FlatIterator<Batch, Item> implements AsyncIterableIterator<Item> {
  readonly #batches: AsyncIterator<Batch, void, undefined>
  readonly #itemsOf: (batch: Batch) => readonly Item[]
  readonly #owner: BatchOwner<Item>
  #items: readonly Item[] = []
  #next = 0
  #begun = false
  #pulling: Promise<IteratorResult<Item, undefined>> | undefined

  constructor(
    batches: AsyncIterator<Batch, void, undefined>,
    itemsOf: (batch: Batch) => readonly Item[],
    owner: BatchOwner<Item>,
  ) {
    this.#batches = batches
    this.#itemsOf = itemsOf
    this.#owner = owner
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  next(): Promise<IteratorResult<Item, undefined>> {
    if (this.#pulling !== undefined) {
      const again = (): Promise<IteratorResult<Item, undefined>> => this.next()
      return this.#pulling.then(again, again)
    }
    if (this.#next < this.#items.length) {
      if (!this.#owner.cancelled) return Promise.resolve({ done: false, value: this.#items[this.#next++]! })
      this.#owner.drop(this.#giveUp())
    }
    this.#begun = true
    return (this.#pulling = this.#pull())
  }

  async return(): Promise<IteratorResult<Item, undefined>> {
    if (this.#next < this.#items.length) this.#owner.leave(this.#giveUp())
    // A generator that is waiting does not hear that it is to return, and one that never began would not end anything.
    if (this.#pulling !== undefined || !this.#begun) this.#owner.cancel(undefined)
    if (!this.#begun) await this.#batches.next()
    await this.#batches.return?.()
    return { done: true, value: undefined }
  }

  #giveUp(): readonly Item[] {
    const left = this.#items.slice(this.#next)
    this.#items = []
    return left
  }

  async #pull(): Promise<IteratorResult<Item, undefined>> {
    try {
      for (;;) {
        // Items that were handed out must not come again when what follows throws.
        this.#items = []
        this.#next = 0
        const { done, value } = await this.#batches.next()
        if (done === true) return { done: true, value: undefined }
        this.#items = this.#itemsOf(value)
        if (this.#items.length > 0) return { done: false, value: this.#items[this.#next++]! }
      }
    } finally {
      this.#pulling = undefined
    }
  }
}
