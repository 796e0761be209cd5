import { messageOf } from '../thrown.ts'
import { StoreError } from './store-error.ts'

// Primary result codes; an extended one carries the primary one in its low byte.
const BUSY = 5
const LOCKED = 6
const READONLY = 8
const IOERR = 10
const CORRUPT = 11
const FULL = 13
const CANTOPEN = 14
const CONSTRAINT = 19
const NOTADB = 26

const NUMBERS: Readonly<Record<string, number>> = {
  BUSY,
  LOCKED,
  READONLY,
  IOERR,
  CORRUPT,
  FULL,
  CANTOPEN,
  CONSTRAINT,
  NOTADB,
}

/** `node:sqlite` gives numbers (`errcode`), libsql names (`SQLITE_CONSTRAINT_TRIGGER`). */
function primaryCode(error: object): number | undefined {
  if ('errcode' in error && typeof error.errcode === 'number') return error.errcode & 0xff
  if ('code' in error && typeof error.code === 'string') {
    return NUMBERS[error.code.replace(/^SQLITE_/, '').split('_')[0] ?? '']
  }
  return undefined
}

/** What a SQLite library threw, as a {@link StoreError}. */
export function sqliteError(cause: unknown): StoreError {
  if (cause instanceof StoreError) return cause
  const message = messageOf(cause)
  const code = typeof cause === 'object' && cause !== null ? primaryCode(cause) : undefined
  if (message.includes('illegal_move: ')) return new StoreError('illegal_move', message, { cause })
  if (code === FULL || /disk is full/i.test(message)) {
    return new StoreError('full', `no room for the store, nothing was written: ${message}`, { cause })
  }
  if (code === CONSTRAINT) return new StoreError('constraint', message, { cause })
  if (code === BUSY || code === LOCKED) return new StoreError('locked', message, { cause })
  if (code === IOERR || code === READONLY || code === CANTOPEN || code === CORRUPT || code === NOTADB) {
    return new StoreError('unavailable', `the store can't be read or written: ${message}`, { cause })
  }
  // Of the file system, not of SQLite: its directory is not there, or may not be entered.
  if (code === undefined && typeof cause === 'object' && cause !== null && 'syscall' in cause) {
    return new StoreError('unavailable', `the store's place can't be used: ${message}`, { cause })
  }
  return new StoreError('statement', message, { cause })
}
