import pg from 'pg'
import { messageOf } from '../thrown.ts'
import { POSTGRES } from './dialect.ts'
import type { Dialect } from './dialect.ts'
import { isBroken, isRetried, isUseless, postgresError } from './postgres-error.ts'
import { storable } from './store.ts'
import type { Queries, SqlValue, Store } from './store.ts'
import { StoreError } from './store-error.ts'

export interface PostgresOptions {
  /** Connections at most. Default 10. */
  readonly connections?: number
  /** How long to wait for a connection, in milliseconds. Default 10 000. */
  readonly connectTimeoutMs?: number
  /**
   * How long one statement may take, and one transaction may idle, in milliseconds. Default 30 000. A connection that says
   * nothing for longer is given up: its other end may be gone without a word, or this process may have stood still, with rows
   * locked that others wait for.
   */
  readonly statementTimeoutMs?: number
  /** SQL expression for the time. Default: the database's clock. For tests of what time does. */
  readonly now?: string
}

const INT8 = pg.types.builtins.INT8
const DEADLOCK_TRIES = 5

/** PostgreSQL, for several processes or hosts. */
export async function openPostgres(url: string, options: PostgresOptions = {}): Promise<Store> {
  const { connections = 10, connectTimeoutMs = 10_000, statementTimeoutMs = 30_000, now = POSTGRES.now } = options
  const limit = Math.ceil(statementTimeoutMs)
  const config: pg.PoolConfig & { readonly onConnect: (client: pg.ClientBase) => Promise<unknown> } = {
    connectionString: url,
    max: connections,
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    // The server's own limit comes first; this one is for a server that does not answer at all.
    query_timeout: limit + 1_000,
    // Not as parameters of the start, which poolers refuse.
    onConnect: (client) =>
      client.query(`set statement_timeout = ${limit}; set idle_in_transaction_session_timeout = ${limit}`),
    allowExitOnIdle: true,
    types: {
      // Milliseconds and counters, all far below 2 ** 53.
      getTypeParser: ((oid: typeof INT8, format: 'text') =>
        oid === INT8 ? Number : pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser,
    },
  }
  const pool = new pg.Pool(config)
  // A connection that breaks while nobody uses it; the pool replaces it.
  pool.on('error', ignore)
  // A break between two queries is reported by the next query too.
  pool.on('connect', (client) => {
    client.on('error', ignore)
  })
  const store = new PostgresStore(pool, { ...POSTGRES, now })
  try {
    await refuseUnsafeSettings(store)
  } catch (error) {
    await store.close()
    throw error
  }
  return store
}

async function refuseUnsafeSettings(store: Store): Promise<void> {
  let rows: readonly { readonly name: string; readonly setting: string }[]
  try {
    rows = await store.query(
      "select name, setting from pg_settings where name in ('fsync', 'synchronous_commit') and setting = 'off'",
    )
  } catch (cause) {
    // The connection broke behind a query that only reads, so there is no commit to be unsure of.
    if (!(cause instanceof StoreError) || cause.code !== 'commit_unknown') throw cause
    throw new StoreError('unavailable', `PostgreSQL can't be read, nothing was written: ${messageOf(cause.cause)}`, {
      cause,
    })
  }
  if (rows.length === 0) return
  const names = rows.map(({ name }) => name).join(' and ')
  throw new StoreError(
    'not_durable',
    `PostgreSQL runs with ${names} off, so it may lose rows that it acknowledged; turn it on for this role or database`,
  )
}

class PostgresStore implements Store {
  readonly dialect: Dialect
  readonly exclusive = false
  readonly readOnly = false
  readonly #pool: pg.Pool
  #closing: Promise<void> | undefined

  constructor(pool: pg.Pool, dialect: Dialect) {
    this.#pool = pool
    this.dialect = dialect
  }

  async query<R extends object>(text: string, values: readonly SqlValue[] = []): Promise<readonly R[]> {
    const client = await this.#connect()
    let broken = true
    try {
      const { rows } = await client.query(text, storable(values))
      broken = false
      return rows as R[]
    } catch (cause) {
      broken = isUseless(cause)
      // Alone, a statement is its own commit.
      throw postgresError(cause, { committing: true })
    } finally {
      client.release(broken)
    }
  }

  async transaction<T>(body: (tx: Queries) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#once(body)
      } catch (error) {
        const cause = error instanceof StoreError ? error.cause : error
        if (attempt >= DEADLOCK_TRIES || !isRetried(cause)) throw error
      }
    }
  }

  close(): Promise<void> {
    this.#closing ??= this.#pool.end()
    return this.#closing
  }

  async #once<T>(body: (tx: Queries) => Promise<T>): Promise<T> {
    const client = await this.#connect()
    let over = false
    let broken = true
    let committing = false
    const tx: Queries = {
      async query<R extends object>(text: string, values: readonly SqlValue[] = []) {
        if (over) throw new StoreError('closed', 'the transaction is over; a query of it came too late')
        try {
          const { rows } = await client.query(text, storable(values))
          return rows as R[]
        } catch (cause) {
          throw postgresError(cause, { committing: false })
        }
      },
    }
    try {
      await client.query('begin')
      const value = await body(tx)
      over = true
      committing = true
      const { command } = await client.query('commit')
      committing = false
      broken = false
      // What PostgreSQL says, without an error, when a query of it had failed and `body` went on.
      if (command === 'ROLLBACK') {
        throw new StoreError('statement', 'a query of the transaction failed, so nothing of it was written')
      }
      return value
    } catch (cause) {
      over = true
      // Over a connection that says nothing a rollback would only wait too. The server undoes it with the session.
      broken = isUseless(cause) || !(await undone(client))
      if (cause instanceof StoreError || !isDatabaseError(cause)) throw cause
      throw postgresError(cause, { committing })
    } finally {
      client.release(broken)
    }
  }

  async #connect(): Promise<pg.PoolClient> {
    if (this.#closing !== undefined) throw new StoreError('closed', 'the store was closed')
    try {
      return await this.#pool.connect()
    } catch (cause) {
      throw new StoreError('unavailable', `PostgreSQL can't be reached, nothing was written: ${String(cause)}`, {
        cause,
      })
    }
  }
}

function ignore(): void {}

async function undone(client: pg.PoolClient): Promise<boolean> {
  return await client.query('rollback').then(
    () => true,
    () => false,
  )
}

function isDatabaseError(cause: unknown): boolean {
  return isBroken(cause) || cause instanceof pg.DatabaseError
}
