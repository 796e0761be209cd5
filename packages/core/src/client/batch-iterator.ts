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

const NONE: readonly never[] = []

type Pulled<Item> = IteratorResult<Item, undefined> | Promise<IteratorResult<Item, undefined>>

/**
 * The one asynchronous layer: pulls a read, pushes it through a machine and hands out the items. Nothing is read before it is
 * asked for, and leaving the loop gives the source up. Written by hand because an async generator costs half as much again
 * per item; with continuations, because an async function makes a second promise per read; and with fields that are private to the
 * compiler only, because where events come one by one the engine's own kind cost a tenth of what an event does.
 */
export class BatchIterator<Item> implements BatchedIterator<Item> {
  private readonly reader: ByteReader
  private readonly machine: BatchMachine<Item>
  private items: readonly Item[] = NONE
  private nextAt = 0
  private finished = false
  private fault: Error | undefined
  /** The pull under way; another call of `next` waits for it. */
  private pulling: Promise<IteratorResult<Item, undefined>> | undefined
  private readonly onRead: (read: ByteRead) => Pulled<Item>
  private readonly onError: (error: unknown) => Promise<never>

  constructor(source: ByteSource, machine: BatchMachine<Item>) {
    this.reader = readerOf(source)
    this.machine = machine
    this.onRead = (read) => this.take(read)
    this.onError = (error) => this.fail(error)
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  batches(): AsyncIterableIterator<readonly Item[]> {
    const batch = (items: readonly Item[]): IteratorResult<readonly Item[], undefined> => {
      this.items = NONE
      this.nextAt = 0
      return { done: false, value: items }
    }
    const took = (first: IteratorResult<Item, undefined>): IteratorResult<readonly Item[], undefined> => {
      if (first.done === true) return first
      // The first item of the read was handed out to get here; the others are still kept.
      return batch(this.items === NONE ? [first.value] : this.items)
    }
    const batches: AsyncIterableIterator<readonly Item[]> = {
      [Symbol.asyncIterator]: () => batches,
      next: () =>
        this.nextAt < this.items.length
          ? Promise.resolve(batch(this.nextAt === 0 ? this.items : this.items.slice(this.nextAt)))
          : this.next().then(took),
      return: async () => {
        await this.return()
        return { done: true, value: undefined }
      },
    }
    return batches
  }

  next(): Promise<IteratorResult<Item, undefined>> {
    if (this.pulling !== undefined) {
      const again = (): Promise<IteratorResult<Item, undefined>> => this.next()
      return this.pulling.then(again, again)
    }
    if (this.nextAt < this.items.length) return Promise.resolve({ done: false, value: this.items[this.nextAt++]! })
    return this.finished ? this.over() : (this.pulling = this.pull())
  }

  async return(): Promise<IteratorResult<Item, undefined>> {
    const open = !this.finished
    this.finished = true
    this.fault = undefined
    this.items = NONE
    if (open) await this.reader.cancel()
    return { done: true, value: undefined }
  }

  private pull(): Promise<IteratorResult<Item, undefined>> {
    return this.reader.read().then(this.onRead, this.onError)
  }

  private take(read: ByteRead): Pulled<Item> {
    // Items that were handed out must not come again when what follows throws.
    this.items = NONE
    this.nextAt = 0
    if (this.finished) return this.leave(NONE)
    const { machine } = this
    let items: readonly Item[]
    try {
      const { value } = read
      if (read.done === true || value === undefined) return this.leave(this.end())
      items = machine.push(value)
    } catch (error) {
      return this.fail(error)
    }
    if (machine.done) return this.giveUp(machine.fault).then(() => this.leave(items))
    return items.length > 0 ? this.leave(items) : this.pull()
  }

  /** A source that failed is over and is not asked again; one that is still open is given up. */
  private async fail(error: unknown): Promise<never> {
    if (!this.finished) await this.giveUp(error)
    this.pulling = undefined
    throw error
  }

  /** Hands out the first item, and keeps the others for the next calls. */
  private leave(items: readonly Item[]): Pulled<Item> {
    this.pulling = undefined
    if (items.length === 0) return this.over()
    if (items.length > 1) {
      this.items = items
      this.nextAt = 1
    }
    return { done: false, value: items[0]! }
  }

  /** Nothing is left to hand out. */
  private async over(): Promise<IteratorResult<Item, undefined>> {
    const { fault } = this
    if (fault === undefined) return { done: true, value: undefined }
    this.fault = undefined
    throw fault
  }

  private end(): readonly Item[] {
    this.finished = true
    const items = this.machine.end()
    this.fault = this.machine.fault
    return items
  }

  /** What a source says when it is given up never hides why it was. */
  private async giveUp(reason: unknown): Promise<void> {
    this.finished = true
    this.fault = this.machine.fault
    await this.reader.cancel(reason).catch(() => undefined)
  }
}
