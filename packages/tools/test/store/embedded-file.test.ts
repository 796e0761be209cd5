import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { libsql, openStore } from '../../src/store/index.ts'
import type { Store } from '../../src/store/index.ts'

const rejection = async (promise: Promise<unknown>): Promise<unknown> =>
  await promise.then(
    () => 'no error',
    (error: unknown) => error,
  )

const directory = (): string => mkdtempSync(join(tmpdir(), 'streamfold-file-'))

async function opened(path: string): Promise<Store> {
  const store = await openStore(path)
  onTestFinished(() => store.close())
  return store
}

test.skipIf(process.platform === 'win32')(
  'a new file is for its owner alone, and so is all that belongs to it',
  async () => {
    const path = join(directory(), 'a.db')
    const store = await opened(path)
    await store.query('create table item(id text)')
    for (const name of [path, `${path}-wal`, `${path}-shm`, `${path}-lock`]) {
      expect([name, statSync(name).mode & 0o777]).toEqual([name, 0o600])
    }
  },
)

test.skipIf(process.platform === 'win32')('a file that is there keeps the rights it has', async () => {
  const path = join(directory(), 'a.db')
  writeFileSync(path, '')
  chmodSync(path, 0o640)
  await opened(path)
  expect(statSync(path).mode & 0o777).toBe(0o640)
})

test('one file under two names is one file', async () => {
  const [real, other] = [join(directory(), 'a.db'), join(directory(), 'b.db')]
  const store = await openStore(real)
  symlinkSync(real, other)
  expect(await rejection(openStore(other))).toMatchObject({ code: 'locked' })
  await store.close()
  const through = await opened(other)
  expect(await rejection(openStore(real))).toMatchObject({ code: 'locked' })
  expect(lstatSync(`${other}-lock`, { throwIfNoEntry: false })).toBe(undefined)
  await through.close()
})

test('a link to nothing is refused: its target would be made under a name that is not locked', async () => {
  const path = join(directory(), 'a.db')
  symlinkSync(join(directory(), 'nothing.db'), path)
  expect(await rejection(openStore(path))).toMatchObject({ code: 'unavailable' })
})

test('another program that writes to the file for long is waited for, then told as passing', async () => {
  const path = join(directory(), 'a.db')
  const store = await opened(path)
  await store.query('create table item(id text)')
  await store.query('pragma busy_timeout = 1')
  const other = (await libsql()).open(path, { readOnly: false })
  other.exec('begin immediate')
  expect(await rejection(store.query("insert into item(id) values ('a')"))).toMatchObject({
    code: 'locked',
    retryable: true,
  })
  other.exec('rollback')
  other.close()
  await store.query("insert into item(id) values ('b')")
  expect(await store.query('select id from item')).toEqual([{ id: 'b' }])
})

test('two copies of this package in one process see each other', async () => {
  const path = join(directory(), 'a.db')
  await opened(path)
  const held = (globalThis as unknown as Record<symbol, ReadonlySet<string>>)[Symbol.for('streamfold.heldFiles')]
  expect(held?.has(path)).toBe(true)
})

test('another process that has the file is told from this one', async () => {
  const path = join(directory(), 'a.db')
  const program = `const { DatabaseSync } = process.getBuiltinModule('node:sqlite') ?? {}
    const Database = DatabaseSync ?? require('libsql')
    const lock = new Database(process.argv[1] + '-lock')
    lock.exec('begin exclusive')
    process.stdin.on('end', () => lock.close()).resume()
    console.log('locked')`
  const other = spawn(process.execPath, ['-e', program, path], { cwd: import.meta.dirname })
  onTestFinished(() => void other.kill())
  await once(other.stdout, 'data')
  const error = await rejection(openStore(path))
  expect(error).toMatchObject({ code: 'locked' })
  expect(String(error)).toContain(`${path} is in use by another process`)
  other.stdin.end()
  await once(other, 'exit')
  await opened(path)
})

test('a directory is no place for a store, and nothing is put beside it', async () => {
  const path = join(directory(), 'ledgers')
  mkdirSync(path)
  expect(await rejection(openStore(path))).toMatchObject({
    code: 'invalid_url',
    message: `${path} is a directory; name a file in it, such as ${join(path, 'ledger.db')}`,
  })
  expect(readdirSync(dirname(path))).toEqual(['ledgers'])
})

test('the lock file stays when the store is closed: who waits for it may have it open', async () => {
  const path = join(directory(), 'a.db')
  await (await openStore(path)).close()
  expect(statSync(`${path}-lock`).size).toBe(0)
})

test('a killed process lets go of the file', async () => {
  const path = join(directory(), 'a.db')
  const program = `const { DatabaseSync } = process.getBuiltinModule('node:sqlite') ?? {}
    const Database = DatabaseSync ?? require('libsql')
    new Database(process.argv[1] + '-lock').exec('begin exclusive')
    process.kill(process.pid, 'SIGKILL')`
  expect(spawnSync(process.execPath, ['-e', program, path], { cwd: import.meta.dirname }).signal).toBe('SIGKILL')
  await opened(path)
})

test.each(['nul', 'sqlite:NUL.db', 'folder/com1.ledger.db', 'C:\\ledgers\\aux'])(
  '%s is a device to Windows, which would forget the ledger at once: refused there',
  async (address) => {
    const real = Object.getOwnPropertyDescriptor(process, 'platform')!
    Object.defineProperty(process, 'platform', { ...real, value: 'win32' })
    onTestFinished(() => void Object.defineProperty(process, 'platform', real))
    expect(await rejection(openStore(address))).toMatchObject({
      name: 'StoreError',
      code: 'invalid_url',
      message: expect.stringContaining('names a device of Windows') as string,
    })
  },
)
