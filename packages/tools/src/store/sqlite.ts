import { closeSync, fsyncSync, openSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { SQLITE } from './dialect.ts'
import type { Dialect } from './dialect.ts'
import { lockFile } from './file-lock.ts'
import { makePrivate, realPlace } from './private-file.ts'
import { GroupCommit } from './group-commit.ts'
import { sqliteEngine } from './sqlite-engine.ts'
import type { SqliteEngine } from './sqlite-engine.ts'
import { sqliteError } from './sqlite-error.ts'
import type { Queries, SqlValue, Store } from './store.ts'
import { StoreError } from './store-error.ts'

export interface SqliteOptions {
  /** Look, don't touch: may be opened while another process writes. Default false. */
  readonly readOnly?: boolean
  /** How long to wait for another process to let go of the file, in milliseconds. Default 0. */
  readonly lockWaitMs?: number
  /** Which SQLite. Default: `node:sqlite` where the runtime has it, else libsql. */
  readonly engine?: SqliteEngine
  /** SQL expression for the time. Default: the database's clock. For tests of what time does. */
  readonly now?: string
}

/** A file of its own for one process. Every commit is on the disk before it is acknowledged. */
export async function openSqlite(path: string, options: SqliteOptions = {}): Promise<Store> {
  const { readOnly = false, lockWaitMs = 0, engine = await sqliteEngine(), now = SQLITE.now } = options
  let lock: { release(): void } | undefined
  try {
    const place = realPlace(path)
    if (statSync(place, { throwIfNoEntry: false })?.isDirectory() === true) {
      throw new StoreError(
        'invalid_url',
        `${place} is a directory; name a file in it, such as ${join(place, 'ledger.db')}`,
      )
    }
    lock = readOnly ? undefined : await lockFile(engine, place, lockWaitMs)
    if (!readOnly) makePrivate(place)
    const file = engine.open(place, { readOnly })
    file.exec('pragma busy_timeout = 5000')
    if (readOnly) {
      // libsql opens for writing all the same.
      file.exec('pragma query_only = on')
    } else {
      // With FULL a commit waits until the log has reached the disk; with NORMAL a power cut takes the last ones back.
      file.exec('pragma journal_mode = wal')
      file.exec('pragma synchronous = full')
      file.exec('pragma fullfsync = on')
      file.exec('pragma checkpoint_fullfsync = on')
      syncDirectory(dirname(place))
    }
    return new SqliteStore(new GroupCommit(file, { readOnly }), { ...SQLITE, now }, readOnly, () => {
      file.close()
      lock?.release()
    })
  } catch (cause) {
    lock?.release()
    throw sqliteError(cause)
  }
}

/** A new file is there after a power cut only when its directory was written too. */
function syncDirectory(path: string): void {
  if (process.platform === 'win32') return
  const directory = openSync(path, 'r')
  try {
    fsyncSync(directory)
  } finally {
    closeSync(directory)
  }
}

class SqliteStore implements Store {
  readonly dialect: Dialect
  readonly exclusive: boolean
  readonly readOnly: boolean
  readonly #group: GroupCommit
  readonly #release: () => void
  #closing: Promise<void> | undefined

  constructor(group: GroupCommit, dialect: Dialect, readOnly: boolean, release: () => void) {
    this.#group = group
    this.dialect = dialect
    this.exclusive = !readOnly
    this.readOnly = readOnly
    this.#release = release
  }

  query<R extends object>(text: string, values?: readonly SqlValue[]): Promise<readonly R[]> {
    return this.transaction((tx) => tx.query<R>(text, values))
  }

  async transaction<T>(body: (tx: Queries) => Promise<T>): Promise<T> {
    if (this.#closing !== undefined) throw new StoreError('closed', 'the store was closed')
    return await this.#group.run(body)
  }

  close(): Promise<void> {
    this.#closing ??= this.#group.idle().then(this.#release)
    return this.#closing
  }
}
