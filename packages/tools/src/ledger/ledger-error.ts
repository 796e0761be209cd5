/**
 * - `not_found`: no such row.
 * - `already_decided`, `expired`: the approval can't be answered any more.
 * - `not_open`: the execution is not one that can be settled now.
 * - `stale_turn`: a newer turn of the run has begun.
 * - `cancelled`: the run was cancelled.
 */
export type LedgerErrorCode = 'not_found' | 'already_decided' | 'expired' | 'not_open' | 'stale_turn' | 'cancelled'

/** A request to the ledger that its rows don't allow. Match on `code`. */
export class LedgerError extends Error {
  override readonly name = 'LedgerError'
  readonly code: LedgerErrorCode

  constructor(code: LedgerErrorCode, message: string) {
    super(message)
    this.code = code
  }
}
