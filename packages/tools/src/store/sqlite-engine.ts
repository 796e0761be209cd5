import type { SqlValue } from './store.ts'

/** One open SQLite file, whichever library reads it. All calls block until they are done. */
export interface SqliteFile {
  /** Statements without values and rows. */
  exec(text: string): void
  all(text: string, values: readonly SqlValue[]): readonly object[]
  close(): void
}

export interface SqliteEngine {
  readonly name: 'node:sqlite' | 'libsql'
  open(path: string, options: { readonly readOnly: boolean }): SqliteFile
}

interface Statement {
  all(...values: readonly unknown[]): unknown[]
}

interface Database {
  exec(text: string): unknown
  prepare(text: string): Statement
  close(): unknown
}

// Statement texts are few, but those of batches differ by the number of calls.
const KEPT_STATEMENTS = 200

function fileOf(database: Database): SqliteFile {
  const prepared = new Map<string, Statement>()
  return {
    exec(text) {
      database.exec(text)
    },
    all(text, values) {
      let statement = prepared.get(text)
      if (statement === undefined) {
        statement = database.prepare(text)
        if (prepared.size >= KEPT_STATEMENTS) prepared.clear()
        prepared.set(text, statement)
      }
      if (values.length === 0) return statement.all() as object[]
      // `$1` is a named parameter to SQLite, so values are bound by name.
      const named: Record<string, SqlValue> = {}
      for (const [at, value] of values.entries()) named[String(at + 1)] = value
      return statement.all(named) as object[]
    },
    close() {
      prepared.clear()
      database.close()
    },
  }
}

interface NodeSqlite {
  DatabaseSync: new (path: string, options: { readOnly: boolean }) => Database
}

/** The SQLite that comes with Node, where it does (22.13 and newer). */
export function nodeSqlite(): SqliteEngine | undefined {
  const builtin = process.getBuiltinModule('node:sqlite') as NodeSqlite | undefined
  if (builtin === undefined) return undefined
  return {
    name: 'node:sqlite',
    open: (path, { readOnly }) => fileOf(new builtin.DatabaseSync(path, { readOnly })),
  }
}

/** The prebuilt SQLite that serves older runtimes. */
export async function libsql(): Promise<SqliteEngine> {
  const { default: Database } = await import('libsql')
  return {
    name: 'libsql',
    open: (path, { readOnly }) => fileOf(new Database(path, { readonly: readOnly })),
  }
}

export async function sqliteEngine(): Promise<SqliteEngine> {
  return nodeSqlite() ?? (await libsql())
}
