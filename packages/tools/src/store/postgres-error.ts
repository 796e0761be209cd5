import { messageOf } from '../thrown.ts'
import { StoreError } from './store-error.ts'

function codeOf(cause: unknown): string {
  return typeof cause === 'object' && cause !== null && 'code' in cause && typeof cause.code === 'string'
    ? cause.code
    : ''
}

/** A deadlock or a serialisation failure: the database undid the transaction and asks for it again. */
export function isRetried(cause: unknown): boolean {
  return codeOf(cause) === '40001' || codeOf(cause) === '40P01'
}

/**
 * The connection is gone, the server is going, or nothing came back from it in time. Classes 08 and 57P of PostgreSQL's error
 * codes, those of sessions that were ended for idling (25P03, 25P04), and those of sockets.
 */
export function isBroken(cause: unknown): boolean {
  const code = codeOf(cause)
  if (/^08|^57P|^25P0[34]|^E[A-Z]{3,}/.test(code)) return true
  return code === '' && BROKEN.test(messageOf(cause))
}

const BROKEN = /connection (terminated|ended|error)|client has encountered|not queryable|query read timeout/i

/** The connection is of no more use: broken, or to a server that may only read since a fail-over. A new one may find the right one. */
export function isUseless(cause: unknown): boolean {
  const root = cause instanceof StoreError && cause.cause !== undefined ? cause.cause : cause
  return isBroken(root) || codeOf(root) === READ_ONLY
}

const READ_ONLY = '25006'
/** Query cancelled by its time limit, lock not given in time. */
const TIMED_OUT: ReadonlySet<string> = new Set(['57014', '55P03'])

/**
 * What `pg` threw, as a {@link StoreError}.
 * @param committing whether the lost answer may have been that of a commit
 */
export function postgresError(cause: unknown, { committing }: { readonly committing: boolean }): StoreError {
  if (cause instanceof StoreError) return cause
  const message = messageOf(cause)
  const code = codeOf(cause)
  if (message.includes('illegal_move: ')) return new StoreError('illegal_move', message, { cause })
  if (isBroken(cause)) {
    return committing
      ? new StoreError('commit_unknown', `the connection broke before the commit was answered: ${message}`, { cause })
      : new StoreError('unavailable', `the connection broke, nothing was written: ${message}`, { cause })
  }
  if (code.startsWith('23')) return new StoreError('constraint', message, { cause })
  if (code === '53100')
    return new StoreError('full', `no room for the store, nothing was written: ${message}`, { cause })
  // Out of resources, read-only after a fail-over, out of time, system error.
  const passing = code === READ_ONLY || TIMED_OUT.has(code) || isRetried(cause)
  if (code.startsWith('53') || code.startsWith('58') || passing) {
    return new StoreError('unavailable', `PostgreSQL refused, nothing was written: ${message}`, { cause })
  }
  return new StoreError('statement', message, { cause })
}
