import { messageOf, StoreError } from './store-error.ts'

function codeOf(cause: unknown): string {
  return typeof cause === 'object' && cause !== null && 'code' in cause && typeof cause.code === 'string'
    ? cause.code
    : ''
}

/** A deadlock or a serialisation failure: the database undid the transaction and asks for it again. */
export function isRetried(cause: unknown): boolean {
  return codeOf(cause) === '40001' || codeOf(cause) === '40P01'
}

/** The connection is gone, or the server is going. Classes 08 and 57P of PostgreSQL's error codes, and those of sockets. */
export function isBroken(cause: unknown): boolean {
  const code = codeOf(cause)
  if (/^08|^57P|^E[A-Z]{3,}/.test(code)) return true
  return (
    code === '' && /connection (terminated|ended|error)|client has encountered|not queryable/i.test(messageOf(cause))
  )
}

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
  // Out of resources, read-only after a fail-over, system error.
  if (code.startsWith('53') || code === '25006' || code.startsWith('58') || isRetried(cause)) {
    return new StoreError('unavailable', `PostgreSQL refused, nothing was written: ${message}`, { cause })
  }
  return new StoreError('statement', message, { cause })
}
