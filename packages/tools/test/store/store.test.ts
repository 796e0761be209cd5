import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { libsql, migrate, nodeSqlite, openStore } from '../../src/store/index.ts'
import type { Migration, Store } from '../../src/store/index.ts'
import { installCrashHook } from '../../src/crash-point.ts'
import { describeEachEngine } from './engines.ts'

const rejection = async (promise: Promise<unknown>): Promise<unknown> =>
  await promise.then(
    () => 'no error',
    (error: unknown) => error,
  )

const place = (): string => join(mkdtempSync(join(tmpdir(), 'streamfold-store-')), 'a.db')

async function withTable(store: Store): Promise<Store> {
  await store.query('create table item(id text not null primary key, n integer not null check(n >= 0), note text)')
  return store
}

const add = (store: Store, id: string, n = 1): Promise<unknown> =>
  store.query('insert into item(id, n) values ($1, $2)', [id, n])

const ids = async (store: Store): Promise<readonly string[]> =>
  (await store.query<{ id: string }>('select id from item order by id')).map(({ id }) => id)

describeEachEngine('store', (engine) => {
  test('gives back what was put in', async () => {
    const store = await withTable(await engine.open())
    const text = 'ä "q" \u{1F600} $1 \' \\ \n'
    await store.query('insert into item(id, n, note) values ($2, $1, $3)', [7, 'a', text])
    await store.query('insert into item(id, n, note) values ($1, $2, $3)', ['b', 0, null])
    await store.query('insert into item(id, n, note) values ($1, $2, $3)', ['c', 1, 'a\0b'])
    expect(await store.query('select id, n, note from item order by id')).toEqual([
      { id: 'a', n: 7, note: text },
      { id: 'b', n: 0, note: null },
      { id: 'c', n: 1, note: 'a\uFFFDb' },
    ])
    expect(await store.query('update item set n = n + 1 where id = $1 returning n', ['a'])).toEqual([{ n: 8 }])
    expect(await store.query('update item set n = n + 1 where id = $1 returning n', ['none'])).toEqual([])
    expect(await store.query('delete from item where id = $1', ['a'])).toEqual([])
  })

  test('times are whole milliseconds of the database', async () => {
    const store = await engine.open()
    const before = Date.now()
    const [row] = await store.query<{ now: number }>(`select ${store.dialect.now} as now`)
    expect(Number.isInteger(row!.now)).toBe(true)
    expect(row!.now).toBeGreaterThan(before - 60_000)
    expect(row!.now).toBeLessThan(before + 60_000)
  })

  test('big whole numbers survive', async () => {
    const store = await engine.open()
    await store.query('create table big(n bigint not null)')
    await store.query('insert into big(n) values ($1)', [2 ** 52 + 1])
    expect(await store.query('select n from big')).toEqual([{ n: 2 ** 52 + 1 }])
  })

  test('a transaction that throws leaves nothing', async () => {
    const store = await withTable(await engine.open())
    const failure = new Error('no')
    const error = await rejection(
      store.transaction(async (tx) => {
        await tx.query('insert into item(id, n) values ($1, 1)', ['a'])
        throw failure
      }),
    )
    expect(error).toBe(failure)
    expect(await ids(store)).toEqual([])
  })

  test('a constraint fails its own transaction and no other', async () => {
    const store = await withTable(await engine.open())
    const results = await Promise.allSettled([add(store, 'a'), add(store, 'b', -1), add(store, 'c'), add(store, 'a')])
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'rejected'])
    const reasons = results.flatMap((result) => (result.status === 'rejected' ? [result.reason as unknown] : []))
    expect(reasons).toMatchObject([
      { name: 'StoreError', code: 'constraint' },
      { name: 'StoreError', code: 'constraint' },
    ])
    expect(await ids(store)).toEqual(['a', 'c'])
  })

  test('a statement that makes no sense is a statement error', async () => {
    const store = await engine.open()
    expect(await rejection(store.query('select from where'))).toMatchObject({ code: 'statement' })
    expect(await rejection(store.query('select * from nowhere'))).toMatchObject({ code: 'statement' })
  })

  test('a query after the end of its transaction is refused', async () => {
    const store = await withTable(await engine.open())
    let late: (() => Promise<unknown>) | undefined
    await store.transaction(async (tx) => {
      late = () => tx.query("insert into item(id, n) values ('late', 1)")
    })
    expect(await rejection(late!())).toMatchObject({ code: 'closed' })
    expect(await ids(store)).toEqual([])
  })

  test('two hundred transactions at once all count', async () => {
    const store = await withTable(await engine.open())
    await add(store, 'sum', 0)
    await Promise.all(
      Array.from({ length: 200 }, () => store.query("update item set n = n + 1 where id = 'sum' returning n")),
    )
    expect(await store.query('select n from item')).toEqual([{ n: 200 }])
  })

  test('close waits for what was started, and nothing begins after it', async () => {
    const address = await engine.fresh()
    const store = await withTable(await openStore(address))
    const pending = Promise.all(Array.from({ length: 20 }, (_, at) => add(store, `i${at}`)))
    await pending
    await store.close()
    await store.close()
    expect(await rejection(store.query('select 1'))).toMatchObject({ code: 'closed' })
    const again = await openStore(address)
    expect((await ids(again)).length).toBe(20)
    await again.close()
  })
})

describeEachEngine('migrations', (engine) => {
  const one: Migration = {
    version: 1,
    name: 'one',
    statements: () => ['create table a(n integer)', 'create table b(n integer)'],
  }
  const two: Migration = { version: 2, name: 'two', statements: () => ['alter table a add column m integer'] }

  test('each step runs once', async () => {
    const store = await engine.open()
    await migrate(store, 'test', [one])
    await migrate(store, 'test', [one, two])
    await migrate(store, 'test', [one, two])
    await store.query('insert into a(n, m) values (1, 2)')
    expect(await store.query('select version, name from streamfold_schema order by version')).toEqual([
      { version: 1, name: 'one' },
      { version: 2, name: 'two' },
    ])
  })

  test('a step that stops half-way leaves nothing', async () => {
    const store = await engine.open()
    let statements = 0
    installCrashHook((point) => {
      if (point === 'migrate.between-statements' && (statements += 1) === 1) throw new Error('stopped')
    })
    try {
      expect(await rejection(migrate(store, 'test', [one]))).toMatchObject({ message: 'stopped' })
    } finally {
      installCrashHook(undefined)
    }
    expect(await rejection(store.query('select * from a'))).toMatchObject({ code: 'statement' })
    await migrate(store, 'test', [one])
    expect(await store.query('select * from b')).toEqual([])
  })

  test('several at once do it once', async () => {
    const address = await engine.fresh()
    const first = await openStore(address)
    const others =
      engine.name === 'postgres' ? await Promise.all([openStore(address), openStore(address)]) : [first, first]
    await Promise.all([first, ...others].map((store) => migrate(store, 'test', [one, two])))
    expect(await first.query('select count(*) as n from streamfold_schema')).toEqual([{ n: 2 }])
    await Promise.all([first, ...others].map((store) => store.close()))
  })

  test.each([
    ['a changed step', [{ ...one, statements: () => ['create table a(n text)'] }], 'migration 1 (one)'],
    ['tables of a newer version', [one], 'version 2'],
  ])('%s is refused', async (_, migrations, message) => {
    const store = await engine.open()
    await migrate(store, 'test', migrations.length === 1 && migrations[0] === one ? [one, two] : [one])
    const error = await rejection(migrate(store, 'test', migrations))
    expect(error).toMatchObject({ code: 'schema_mismatch' })
    expect(String(error)).toContain(message)
  })
})

describe('the embedded file', () => {
  test('the log is written through on every commit', async () => {
    const store = await openStore(place())
    expect(await store.query('pragma synchronous')).toEqual([{ synchronous: 2 }])
    expect(await store.query('pragma journal_mode')).toEqual([{ journal_mode: 'wal' }])
    await store.close()
  })

  test('a second opener is refused at once, in this process and in another', async () => {
    const path = place()
    const store = await openStore(path)
    const error = await rejection(openStore(path))
    expect(error).toMatchObject({ name: 'StoreError', code: 'locked' })
    expect(String(error)).toContain(`this process has ${path} open already; share that store`)
    const script = `const D = require('libsql'); const d = new D(${JSON.stringify(`${path}-lock`)}); d.exec('begin exclusive')`
    const other = spawnSync(process.execPath, ['-e', script], { cwd: import.meta.dirname })
    expect(other.status).toBe(1)
    expect(other.stderr.toString()).toContain('database is locked')
    await store.close()
    const next = await openStore(path)
    await next.close()
  })

  test('someone who waits gets it when it is free', async () => {
    const path = place()
    const store = await openStore(path)
    const waiting = openStore(path, { lockWaitMs: 30_000 })
    await store.close()
    const next = await waiting
    expect(await next.query('select 1 as n')).toEqual([{ n: 1 }])
    await next.close()
  })

  test('a reader may look while another writes, and cannot write', async () => {
    const path = place()
    const store = await withTable(await openStore(path))
    await add(store, 'a')
    const reader = await openStore(path, { readOnly: true })
    expect(await ids(reader)).toEqual(['a'])
    expect(reader.exclusive).toBe(false)
    expect(await rejection(add(reader, 'b'))).toMatchObject({ code: 'unavailable' })
    await add(store, 'c')
    expect(await ids(reader)).toEqual(['a', 'c'])
    await reader.close()
    await store.close()
  })

  test('what is no database is refused and left alone', async () => {
    const path = place()
    writeFileSync(path, 'this is no database, and it is longer than a header would be: '.repeat(20))
    expect(await rejection(openStore(path))).toMatchObject({ code: 'unavailable' })
  })

  test('a directory that is not there is unavailable', async () => {
    const error = await rejection(openStore(join(tmpdir(), 'streamfold-none', 'x', 'a.db')))
    expect(error).toMatchObject({ code: 'unavailable' })
  })

  test('no room on the disk: the transaction fails, nothing of it is there, and the store goes on', async () => {
    const store = await withTable(await openStore(place()))
    await store.query('pragma max_page_count = 12')
    const results = await Promise.allSettled([
      add(store, 'small'),
      store.query('insert into item(id, n, note) values ($1, 1, $2)', ['large', 'x'.repeat(200_000)]),
    ])
    expect(results[1]).toMatchObject({ status: 'rejected', reason: { code: 'full' } })
    // The two may have shared a commit; then both are told that they failed.
    const there = await ids(store)
    expect(there).toEqual(results[0].status === 'fulfilled' ? ['small'] : [])
    await add(store, 'after')
    expect(await ids(store)).toEqual([...there, 'after'].toSorted())
    await store.close()
  })

  test('the SQLite of the runtime is used where there is one', async () => {
    // Node 22.5 to 22.12 have it behind a flag only.
    const major = Number(process.versions.node.split('.')[0])
    const expected = major >= 24 ? ['node:sqlite'] : major < 22 ? [undefined] : ['node:sqlite', undefined]
    expect(expected).toContain(nodeSqlite()?.name)
    expect((await libsql()).name).toBe('libsql')
  })

  test.each([
    ['redis://x', 'no store for redis:'],
    ['', 'a store needs a file'],
    ['sqlite:', 'a store needs a file'],
    ['sqlite::memory:', 'a store needs a file'],
    [':memory:', 'a store needs a file'],
    ['file://host/x', 'names no file of this machine'],
  ])('address %j is refused', async (address, message) => {
    const error = await rejection(openStore(address))
    expect(error).toMatchObject({ code: 'invalid_url' })
    expect(String(error)).toContain(message)
  })

  test.each([
    ['a path', (path: string) => path],
    ['sqlite:', (path: string) => `sqlite:${path}`],
    ['sqlite://', (path: string) => `sqlite://${path}`],
    ['file://', (path: string) => `file://${path}`],
    ['file:', (path: string) => `file:${path}`],
  ])('address as %s', async (_, address) => {
    const path = place()
    const store = await openStore(address(path))
    expect(existsSync(path)).toBe(true)
    await store.close()
  })

  test.skipIf(process.getuid?.() === 0)('a file that may not be written is unavailable', async () => {
    const path = place()
    await (await openStore(path)).close()
    chmodSync(path, 0o400)
    expect(await rejection(openStore(path))).toMatchObject({ code: 'unavailable' })
  })
})

describe('PostgreSQL', () => {
  test('a server that is not there is unavailable', async () => {
    const error = await rejection(openStore('postgres://nobody@127.0.0.1:1/none', { connectTimeoutMs: 2_000 }))
    expect(error).toMatchObject({ code: 'unavailable' })
    expect(String(error)).toContain('nothing was written')
  })
})

describeEachEngine('durability of PostgreSQL', (engine) => {
  test.runIf(engine.name === 'postgres')('a database that may lose acknowledged rows is refused', async () => {
    const address = await engine.fresh()
    const database = new URL(address).pathname.slice(1)
    const store = await openStore(address)
    await store.query(`alter database ${database} set synchronous_commit = off`)
    await store.close()
    const error = await rejection(openStore(address))
    expect(error).toMatchObject({ code: 'not_durable' })
    expect(String(error)).toContain('synchronous_commit off')
  })

  test.runIf(engine.name === 'postgres')(
    'a broken connection: before the commit nothing is there, at it nobody knows',
    async () => {
      const address = await engine.fresh()
      const killer = await openStore(address)
      const store = await withTable(await openStore(address, { connections: 1 }))
      const backend = async (): Promise<number> =>
        (await store.query<{ pid: number }>('select pg_backend_pid() as pid'))[0]!.pid
      const victim = await backend()
      const error = await rejection(
        store.transaction(async (tx) => {
          await tx.query("insert into item(id, n) values ('a', 1)")
          await killer.query('select pg_terminate_backend($1)', [victim])
          await tx.query("insert into item(id, n) values ('b', 1)")
        }),
      )
      expect(error).toMatchObject({ code: 'unavailable', retryable: true })
      expect(await ids(killer)).toEqual([])
      const second = await backend()
      expect(second).not.toBe(victim)
      const atCommit = await rejection(
        store.transaction(async (tx) => {
          await tx.query("insert into item(id, n) values ('c', 1)")
          await killer.query('select pg_terminate_backend($1)', [second])
        }),
      )
      expect(atCommit).toMatchObject({ code: 'commit_unknown' })
      await store.close()
      await killer.close()
    },
  )
})
