import { createHash } from 'node:crypto'
import { crashPoint } from '../crash-point.ts'
import type { Dialect } from './dialect.ts'
import type { Queries, Store } from './store.ts'
import { StoreError } from './store-error.ts'

/** One step of a schema. Never changed once it was published: its checksum is kept. */
export interface Migration {
  /** From 1, without gaps. */
  readonly version: number
  readonly name: string
  statements(dialect: Dialect): readonly string[]
}

/**
 * Brings the tables of `component` to the newest of `migrations`: all missing steps in one transaction, or none. Several
 * processes may do it at once.
 * @throws {StoreError} `schema_mismatch` when the tables were made by a newer or a changed version
 */
export async function migrate(store: Store, component: string, migrations: readonly Migration[]): Promise<void> {
  await store.transaction(async (tx) => {
    if (store.dialect.migrationLock !== undefined) await tx.query(store.dialect.migrationLock)
    await tx.query(
      'create table if not exists streamfold_schema(component text not null, version integer not null, ' +
        'name text not null, checksum text not null, applied_at bigint not null, primary key(component, version))',
    )
    const applied = await tx.query<{ version: number; checksum: string }>(
      'select version, checksum from streamfold_schema where component = $1 order by version',
      [component],
    )
    const known = new Map(applied.map(({ version, checksum }) => [version, checksum]))
    const newest = migrations.length
    const stored = applied.at(-1)?.version ?? 0
    if (stored > newest) {
      throw new StoreError(
        'schema_mismatch',
        `the ${component} tables have version ${stored}, this program knows ${newest}; run the newer program`,
      )
    }
    for (const migration of migrations)
      await step(tx, store.dialect, component, migration, known.get(migration.version))
  })
}

async function step(
  tx: Queries,
  dialect: Dialect,
  component: string,
  migration: Migration,
  applied: string | undefined,
): Promise<void> {
  // The clock is left out: tests may replace it, and it is in no table.
  const statements = migration.statements(dialect)
  const checksum = createHash('sha256').update(statements.join(';\n')).digest('hex')
  if (applied === checksum) return
  if (applied !== undefined) {
    throw new StoreError(
      'schema_mismatch',
      `migration ${migration.version} (${migration.name}) of ${component} is not the one that made these tables`,
    )
  }
  for (const statement of statements) {
    await tx.query(statement)
    await crashPoint('migrate.between-statements')
  }
  await tx.query(
    `insert into streamfold_schema(component, version, name, checksum, applied_at) values ($1, $2, $3, $4, ${dialect.now})`,
    [component, migration.version, migration.name, checksum],
  )
}
