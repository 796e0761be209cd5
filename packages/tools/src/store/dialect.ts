/** The few words in which the two databases differ. All other SQL is the same text for both. */
export interface Dialect {
  readonly name: 'sqlite' | 'postgres'
  /** Expression: the database's own clock, whole milliseconds since 1970. */
  readonly now: string
  /** Ends a `select`: keeps its rows until the transaction ends, and waits for rows that others keep. */
  readonly forUpdate: string
  /** The same for the table alias `e`, passing over rows that others keep. */
  readonly skipLocked: string
  /** Type of a column that numbers its rows. */
  readonly identity: string
  /** Statement that lets one migration in at a time; `undefined` where a transaction does that anyway. */
  readonly migrationLock: string | undefined
}

export const SQLITE: Dialect = {
  name: 'sqlite',
  now: "cast(unixepoch('subsec') * 1000 as integer)",
  forUpdate: '',
  skipLocked: '',
  identity: 'integer primary key autoincrement',
  migrationLock: undefined,
}

export const POSTGRES: Dialect = {
  name: 'postgres',
  now: 'cast(extract(epoch from clock_timestamp()) * 1000 as bigint)',
  forUpdate: ' for update',
  skipLocked: ' for update of e skip locked',
  identity: 'bigint generated always as identity primary key',
  migrationLock: 'select pg_advisory_xact_lock(7346551902461)',
}

/**
 * Statements that refuse every insert, update or delete of `table` that `when` (over `NEW` and `OLD`) is true for, whoever
 * sends it.
 */
export function guard(
  dialect: Dialect,
  name: string,
  on: 'insert' | 'update' | 'delete',
  table: string,
  when: string,
  message: string,
): readonly string[] {
  if (dialect.name === 'sqlite') {
    return [
      `create trigger ${name} before ${on} on ${table} for each row when ${when} ` +
        `begin select raise(abort, 'illegal_move: ${message}'); end`,
    ]
  }
  return [
    `create function ${name}() returns trigger language plpgsql as ` +
      `$guard$ begin raise exception 'illegal_move: ${message}' using errcode = 'integrity_constraint_violation'; end $guard$`,
    `create trigger ${name} before ${on} on ${table} for each row when (${when}) execute function ${name}()`,
  ]
}
