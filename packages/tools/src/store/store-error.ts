/**
 * - `invalid_url`: the store's address can't be read, or is no place for a store.
 * - `locked`: another process has the file, or this one has it open already.
 * - `unavailable`: the database can't be reached or refuses; nothing was written.
 * - `full`: no room on the disk; nothing was written.
 * - `commit_unknown`: the connection broke before the commit was answered; read back to learn what happened.
 * - `constraint`: a row breaks a rule of its table.
 * - `illegal_move`: a state may not follow the one before it; refused by the table itself.
 * - `schema_mismatch`: the tables were made by another version.
 * - `not_durable`: the database is set up so that it may lose what it acknowledged.
 * - `closed`: the store, or the transaction, is over.
 * - `statement`: the database does not accept the statement.
 */
export type StoreErrorCode =
  | 'invalid_url'
  | 'locked'
  | 'unavailable'
  | 'full'
  | 'commit_unknown'
  | 'constraint'
  | 'illegal_move'
  | 'schema_mismatch'
  | 'not_durable'
  | 'closed'
  | 'statement'

const PASSING: ReadonlySet<StoreErrorCode> = new Set(['locked', 'unavailable', 'full', 'commit_unknown'])

/** What a store throws. Match on `code`. */
export class StoreError extends Error {
  override readonly name = 'StoreError'
  readonly code: StoreErrorCode

  constructor(code: StoreErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options)
    this.code = code
  }

  /** The same work may be tried again later. Holds for `commit_unknown` only because the ledger's writes can be repeated. */
  get retryable(): boolean {
    return PASSING.has(this.code)
  }
}
