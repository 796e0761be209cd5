import type { Dialect } from './dialect.ts'

/** What goes into and comes out of a column. Times are milliseconds since 1970, truth is 0 or 1. */
export type SqlValue = string | number | null

export interface Queries {
  /**
   * Runs one statement with `$1 … $n` as placeholders and gives its rows; those of a change only with `returning`. A NUL in a
   * value is stored as U+FFFD: PostgreSQL keeps none.
   * @throws {StoreError}
   */
  query<R extends object = Readonly<Record<string, SqlValue>>>(
    text: string,
    values?: readonly SqlValue[],
  ): Promise<readonly R[]>
}

/**
 * A database that keeps what it acknowledged: when a promise of it is fulfilled, the rows survive the end of the process and
 * of the machine.
 */
export interface Store extends Queries {
  readonly dialect: Dialect
  /** Only this process can write here, so whoever else is named in a row is dead. */
  readonly exclusive: boolean
  readonly readOnly: boolean
  /**
   * Runs `body` in one transaction and commits it, or rolls it back when `body` throws.
   *
   * `body` may wait for nothing but its own queries: in the embedded store others wait in line behind it. It may be run a
   * second time when the database broke a deadlock, so it must not change anything else.
   * @throws {StoreError} `commit_unknown` when the connection was lost before the commit was answered
   */
  transaction<T>(body: (tx: Queries) => Promise<T>): Promise<T>
  /** Waits for what was started, then lets go of the file or the connections. A second close does nothing. */
  close(): Promise<void>
}

/** Values as both databases keep them. */
export function storable(values: readonly SqlValue[]): SqlValue[] {
  return values.map((value) => (typeof value === 'string' ? value.replaceAll('\0', '\uFFFD') : value))
}
