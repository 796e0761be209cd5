import { describe, expect, inject, onTestFinished, test } from 'vitest'
import { openStore } from '../../src/store/index.ts'
import type { Store, StoreOptions } from '../../src/store/index.ts'
import { openProxy } from './proxy.ts'
import type { Proxy } from './proxy.ts'

const rejection = async (promise: Promise<unknown>): Promise<unknown> =>
  await promise.then(
    () => 'no error',
    (error: unknown) => error,
  )

async function freshDatabase(): Promise<string> {
  const response = await fetch(inject('postgresAddress'), { method: 'POST' })
  if (!response.ok) throw new Error(await response.text())
  return await response.text()
}

async function opened(address: string, options?: StoreOptions): Promise<Store> {
  const store = await openStore(address, options)
  onTestFinished(() => store.close())
  return store
}

/** A store behind a proxy, and one that looks at the same database directly. */
async function behindProxy(
  options: StoreOptions,
): Promise<{ readonly store: Store; readonly direct: Store; readonly proxy: Proxy }> {
  const address = await freshDatabase()
  const proxy = await openProxy(address)
  onTestFinished(() => proxy.close())
  const direct = await opened(address)
  await direct.query('create table item(id text not null primary key)')
  return { store: await opened(proxy.address, options), direct, proxy }
}

const add = (store: Store, id: string): Promise<unknown> => store.query('insert into item(id) values ($1)', [id])
const ids = async (store: Store): Promise<readonly string[]> =>
  (await store.query<{ id: string }>('select id from item order by id')).map(({ id }) => id)
const sleeping = "select 1 from pg_stat_activity where datname = current_database() and state = 'idle in transaction'"

describe('PostgreSQL in trouble', () => {
  test('a break while the settings are read: unavailable, because a query that only reads has no commit', async () => {
    const proxy = await openProxy(await freshDatabase())
    onTestFinished(() => proxy.close())
    // The name of one of the settings is what makes it cut here.
    proxy.cutAtCommit()
    expect(await rejection(openStore(proxy.address))).toMatchObject({ code: 'unavailable', retryable: true })
    await opened(proxy.address)
  })

  test('the other end is gone without a word: the wait ends, and the next connection works', async () => {
    const { store, direct, proxy } = await behindProxy({ connections: 1, statementTimeoutMs: 200 })
    await add(store, 'a')
    proxy.stall()
    const error = await rejection(add(store, 'b'))
    expect(error).toMatchObject({ code: 'commit_unknown', retryable: true })
    proxy.resume()
    await add(store, 'c')
    expect(await ids(direct)).toEqual(['a', 'c'])
  })

  test('in the middle of a transaction: nothing is written, and nothing waits for it', async () => {
    const { store, direct, proxy } = await behindProxy({ connections: 1, statementTimeoutMs: 200 })
    const error = await rejection(
      store.transaction(async (tx) => {
        await tx.query("insert into item(id) values ('a')")
        proxy.stall()
        await tx.query("insert into item(id) values ('b')")
      }),
    )
    expect(error).toMatchObject({ code: 'unavailable', retryable: true })
    // The same key, which the lost transaction would keep from everybody for as long as it lives.
    await add(direct, 'a')
    expect(await ids(direct)).toEqual(['a'])
  })

  test('a process that stands still in a transaction loses it, and others go on', async () => {
    const address = await freshDatabase()
    const direct = await opened(address)
    await direct.query('create table item(id text not null primary key)')
    await add(direct, 'a')
    const held = await opened(address, { connections: 1, statementTimeoutMs: 200 })
    const error = await rejection(
      held.transaction(async (tx) => {
        await tx.query("select id from item where id = 'a' for update")
        // It waits for this lock until the other's session is ended.
        await direct.query("update item set id = 'b' where id = 'a'")
        await tx.query("update item set id = 'c' where id = 'a'")
      }),
    )
    expect(error).toMatchObject({ code: 'unavailable', retryable: true })
    expect(await ids(direct)).toEqual(['b'])
    expect(await direct.query(sleeping)).toEqual([])
  })

  test('the answer to a commit is lost: nobody claims to know, and it is there', async () => {
    const { store, direct, proxy } = await behindProxy({ connections: 1 })
    proxy.cutAtCommit()
    const error = await rejection(store.transaction((tx) => tx.query("insert into item(id) values ('a')")))
    expect(error).toMatchObject({ code: 'commit_unknown', retryable: true })
    await expect.poll(() => ids(direct)).toEqual(['a'])
    await add(store, 'b')
  })

  test('read-only since a fail-over: refused as passing, and the connection is not used again', async () => {
    const address = await freshDatabase()
    const database = new URL(address).pathname.slice(1)
    const direct = await opened(address)
    await direct.query('create table item(id text not null primary key)')
    await direct.query(`alter database ${database} set default_transaction_read_only = on`)
    const store = await opened(address, { connections: 1 })
    expect(await rejection(add(store, 'a'))).toMatchObject({ code: 'unavailable', retryable: true })
    expect(await rejection(store.transaction((tx) => tx.query("insert into item(id) values ('b')")))).toMatchObject({
      code: 'unavailable',
      retryable: true,
    })
    // A session keeps the setting that it began with: only a new connection can write.
    await direct.query(`alter database ${database} reset default_transaction_read_only`)
    await rejection(add(store, 'c'))
    await add(store, 'd')
    expect(await ids(direct)).toContain('d')
  })

  test('all connections are taken: the wait ends, nothing was written', async () => {
    const address = await freshDatabase()
    const store = await opened(address, { connections: 1, connectTimeoutMs: 200 })
    await store.query('create table item(id text not null primary key)')
    const error = await store.transaction(async () => await rejection(add(store, 'a')))
    expect(error).toMatchObject({ code: 'unavailable', retryable: true })
    expect(await ids(store)).toEqual([])
  })

  test('a transaction that went on after a failed query is not taken for written', async () => {
    const store = await opened(await freshDatabase())
    await store.query('create table item(id text not null primary key)')
    await add(store, 'a')
    const error = await rejection(
      store.transaction(async (tx) => {
        await rejection(tx.query("insert into item(id) values ('a')"))
      }),
    )
    expect(error).toMatchObject({ code: 'statement', retryable: false })
    expect(await ids(store)).toEqual(['a'])
  })
})
