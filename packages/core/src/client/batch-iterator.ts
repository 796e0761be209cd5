import { readerOf } from './byte-source.ts'
import type { ByteReader, ByteSource } from './byte-source.ts'

/** A synchronous machine between bytes and items. */
export interface BatchMachine<Item> {
  push(bytes: Uint8Array): readonly Item[]
  end(): readonly Item[]
  /** Nothing more will come out: the rest of the source is given up. */
  readonly done: boolean
  /** Why nothing more will come out, where that is a fault. It is thrown after the items before it were handed out. */
  readonly fault: Error | undefined
}

/**
 * The one asynchronous layer: pulls a read, pushes it through a machine and hands out the items. Nothing is read before it is
 * asked for, and leaving the loop gives the source up. Written by hand because an async generator costs half as much again
 * per item.
 */
export class BatchIterator<Item> implements AsyncIterableIterator<Item> {
  readonly #reader: ByteReader
  readonly #machine: BatchMachine<Item>
  #items: readonly Item[] = []
  #next = 0
  #finished = false
  #fault: Error | undefined
  #queue: Promise<unknown> | undefined

  constructor(source: ByteSource, machine: BatchMachine<Item>) {
    this.#reader = readerOf(source)
    this.#machine = machine
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  next(): Promise<IteratorResult<Item, undefined>> {
    if (this.#queue === undefined && this.#next < this.#items.length) {
      return Promise.resolve({ done: false, value: this.#items[this.#next++]! })
    }
    const pulled = this.#queue === undefined ? this.#pull() : this.#queue.then(() => this.#pull())
    const leave = (): void => {
      if (this.#queue === queue) this.#queue = undefined
    }
    const queue: Promise<void> = pulled.then(leave, leave)
    this.#queue = queue
    return pulled
  }

  async return(): Promise<IteratorResult<Item, undefined>> {
    const open = !this.#finished
    this.#finished = true
    this.#fault = undefined
    this.#items = []
    if (open) await this.#reader.cancel()
    return { done: true, value: undefined }
  }

  async #pull(): Promise<IteratorResult<Item, undefined>> {
    while (this.#next >= this.#items.length) {
      if (!this.#finished) {
        await this.#read()
        continue
      }
      const fault = this.#fault
      if (fault === undefined) return { done: true, value: undefined }
      this.#fault = undefined
      throw fault
    }
    return { done: false, value: this.#items[this.#next++]! }
  }

  async #read(): Promise<void> {
    // Items that were handed out must not come again when what follows throws.
    this.#items = []
    this.#next = 0
    const bytes = await this.#readSource()
    if (this.#finished) return
    if (bytes === undefined) {
      this.#finished = true
      this.#items = this.#machine.end()
      this.#fault = this.#machine.fault
      return
    }
    try {
      this.#items = this.#machine.push(bytes)
    } catch (error) {
      this.#finished = true
      await this.#giveUp(error)
      throw error
    }
    if (!this.#machine.done) return
    this.#finished = true
    this.#fault = this.#machine.fault
    await this.#giveUp(this.#fault)
  }

  /** A source that failed is over: it is not asked again. */
  async #readSource(): Promise<Uint8Array | undefined> {
    try {
      return await this.#reader.read()
    } catch (error) {
      if (this.#finished) return undefined
      this.#finished = true
      throw error
    }
  }

  /** What a source says when it is given up never hides why it was. */
  async #giveUp(reason: unknown): Promise<void> {
    await this.#reader.cancel(reason).catch(() => undefined)
  }
}
