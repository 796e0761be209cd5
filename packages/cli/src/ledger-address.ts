import { mkdirSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { openLedger, openStore } from '@streamfold/tools'
import type { Ledger, Store } from '@streamfold/tools'

/** Where the ledger is kept when nobody says: in the folder that the command is run in. */
export const DEFAULT_LEDGER: string = join('.streamfold', 'ledger.db')

/** Tenant of everything that is done from the command line. */
export const LOCAL_TENANT = 'local'

/** A ledger file that is to be looked at and is not there. */
export class NoLedgerError extends Error {
  override readonly name = 'NoLedgerError'
}

export interface OpenedLedger {
  readonly ledger: Ledger
  readonly store: Store
}

/** A path, not the address of a database. */
export function isLedgerFile(address: string): boolean {
  return !/^[a-z][a-z0-9+.-]+:/i.test(address)
}

/**
 * Opens the ledger at a path or a `postgres://` address; a file is made where there is none.
 * @throws {StoreError}
 */
export async function openLedgerAt(address: string): Promise<OpenedLedger> {
  if (address === DEFAULT_LEDGER) mkdirSync(dirname(address), { recursive: true, mode: 0o700 })
  return await opened(await openStore(address))
}

/**
 * Opens a ledger that is there already; `readOnly` also while another process writes to it.
 * @throws {StoreError}
 * @throws {NoLedgerError}
 */
export async function openExistingLedger(address: string, readOnly: boolean): Promise<OpenedLedger> {
  if (isLedgerFile(address) && statSync(address, { throwIfNoEntry: false })?.isFile() !== true) {
    throw new NoLedgerError(`there is no ledger ${address}; --ledger names another file, or a postgres:// address`)
  }
  return await opened(await openStore(address, { readOnly }))
}

async function opened(store: Store): Promise<OpenedLedger> {
  try {
    return { ledger: await openLedger(store), store }
  } catch (error) {
    await store.close()
    throw error
  }
}
