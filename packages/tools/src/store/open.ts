import { fileURLToPath } from 'node:url'
import { refuseDevice } from './device-name.ts'
import { openPostgres } from './postgres.ts'
import type { PostgresOptions } from './postgres.ts'
import { openSqlite } from './sqlite.ts'
import type { SqliteOptions } from './sqlite.ts'
import type { Store } from './store.ts'
import { StoreError } from './store-error.ts'

export type StoreOptions = SqliteOptions & PostgresOptions

/**
 * Opens the store at an address:
 * - `postgres://…` or `postgresql://…`: PostgreSQL
 * - `sqlite:PATH`, `file:///…` or a plain path: an embedded file, made when it is not there
 *
 * @throws {StoreError} `invalid_url`, `locked`, `unavailable`, `not_durable`
 */
export async function openStore(address: string, options: StoreOptions = {}): Promise<Store> {
  const scheme = /^([a-z][a-z0-9+.-]+):/i.exec(address)?.[1]?.toLowerCase()
  if (scheme === 'postgres' || scheme === 'postgresql') return await openPostgres(address, options)
  const path = pathOf(address, scheme)
  if (path.trim() === '' || path === ':memory:') {
    throw new StoreError('invalid_url', 'a store needs a file: what is only in memory is lost with the process')
  }
  refuseDevice(path)
  return await openSqlite(path, options)
}

function pathOf(address: string, scheme: string | undefined): string {
  if (scheme === undefined) return address
  if (scheme === 'sqlite') return address.slice('sqlite:'.length).replace(/^\/\/(?=\/)/, '')
  if (scheme === 'file') {
    try {
      return address.startsWith('file://') ? fileURLToPath(address) : address.slice('file:'.length)
    } catch (cause) {
      throw new StoreError('invalid_url', `${address} names no file of this machine`, { cause })
    }
  }
  throw new StoreError('invalid_url', `no store for ${scheme}:; use postgres://…, sqlite:PATH or a path`)
}
