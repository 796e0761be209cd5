import type { SqliteFile } from './sqlite-engine.ts'
import { sqliteError } from './sqlite-error.ts'
import { storable } from './store.ts'
import type { Queries } from './store.ts'
import { StoreError } from './store-error.ts'

interface Work {
  readonly body: (tx: Queries) => Promise<unknown>
  readonly resolve: (value: unknown) => void
  readonly reject: (reason: unknown) => void
}

type Ran = { readonly work: Work } & (
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly reason: unknown }
)

// Bounds how long the first in a group waits for the last.
const LARGEST_GROUP = 256

/**
 * Runs transactions one after the other and commits those that came in the same turn of the event loop together, because a
 * commit costs the same for one as for many. Each is acknowledged after the commit, and each alone is undone when it fails.
 */
export class GroupCommit {
  readonly #file: SqliteFile
  readonly #begin: string
  #waiting: Work[] = []
  #running: Promise<void> | undefined

  constructor(file: SqliteFile, options: { readonly readOnly: boolean }) {
    this.#file = file
    this.#begin = options.readOnly ? 'begin' : 'begin immediate'
  }

  run<T>(body: (tx: Queries) => Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#waiting.push({ body, resolve: resolve as (value: unknown) => void, reject })
      this.#running ??= this.#drain()
    })
  }

  /** Fulfilled when nothing is waiting or running. */
  async idle(): Promise<void> {
    while (this.#running !== undefined) await this.#running
  }

  async #drain(): Promise<void> {
    while (this.#waiting.length > 0) {
      await new Promise((resolve) => setImmediate(resolve))
      await this.#commit(this.#waiting.splice(0, LARGEST_GROUP))
    }
    this.#running = undefined
  }

  async #commit(group: readonly Work[]): Promise<void> {
    const ran: Ran[] = []
    try {
      this.#file.exec(this.#begin)
      for (const work of group) ran.push(await this.#one(work, group.length > 1))
      if (ran.some(({ ok }) => ok)) this.#file.exec('commit')
      // Where SQLite has undone it already, each still learns its own reason.
      else this.#undo()
    } catch (cause) {
      this.#undo()
      const reason = sqliteError(cause)
      for (const work of group) work.reject(reason)
      return
    }
    for (const each of ran) {
      if (each.ok) each.work.resolve(each.value)
      else each.work.reject(each.reason)
    }
  }

  async #one(work: Work, amongOthers: boolean): Promise<Ran> {
    const tx = new OpenTransaction(this.#file)
    if (amongOthers) this.#file.exec('savepoint one')
    try {
      const value = await work.body(tx)
      tx.throwIfUndone()
      if (amongOthers) this.#file.exec('release one')
      return { work, ok: true, value }
    } catch (reason) {
      if (amongOthers) this.#undoOne(reason)
      return { work, ok: false, reason }
    } finally {
      tx.end()
    }
  }

  /** @throws the reason itself where SQLite has undone the whole transaction: disk full, I/O error */
  #undoOne(reason: unknown): void {
    try {
      this.#file.exec('rollback to one; release one')
    } catch {
      throw reason
    }
  }

  #undo(): void {
    try {
      this.#file.exec('rollback')
    } catch {
      // Nothing was open any more.
    }
  }
}

class OpenTransaction implements Queries {
  readonly #file: SqliteFile
  #over = false
  /** What may have made SQLite undo the whole transaction: a statement after it would be committed on its own. */
  #undone: StoreError | undefined

  constructor(file: SqliteFile) {
    this.#file = file
  }

  async query<R extends object>(text: string, values: readonly (string | number | null)[] = []): Promise<readonly R[]> {
    if (this.#over) throw new StoreError('closed', 'the transaction is over; a query of it came too late')
    this.throwIfUndone()
    try {
      return this.#file.all(text, storable(values)) as readonly R[]
    } catch (cause) {
      const error = sqliteError(cause)
      if (error.code === 'full' || error.code === 'unavailable') this.#undone = error
      throw error
    }
  }

  throwIfUndone(): void {
    if (this.#undone !== undefined) throw this.#undone
  }

  end(): void {
    this.#over = true
  }
}
