import type { Claim } from '../ledger/claim.ts'
import type { ExecutionOutcome } from '../ledger/finish.ts'
import type { Ledger } from '../ledger/ledger.ts'
import { StoreError } from '../store/store-error.ts'

/** How often the ledger is tried again. */
const EVERY_MS = 5_000

/** Outcomes kept in memory. While the ledger is away nothing new begins, so there are rarely more than run at once. */
const MOST = 1_000

/**
 * Outcomes that came while the ledger could not be written for long. They are recorded as soon as it can: what is known of an
 * unsafe execution settles it, and else nobody would ever know.
 */
export class LateReports {
  readonly #ledger: Ledger
  readonly #onError: (error: unknown) => void
  readonly #waiting = new Map<Claim, ExecutionOutcome>()
  #timer: NodeJS.Timeout | undefined
  #reporting: Promise<void> = Promise.resolve()

  constructor(ledger: Ledger, onError: (error: unknown) => void) {
    this.#ledger = ledger
    this.#onError = onError
  }

  add(claim: Claim, outcome: ExecutionOutcome): void {
    // Its row ends as unknown by itself.
    if (outcome.state === 'unknown' || this.#waiting.size >= MOST) return
    this.#waiting.set(claim, outcome)
    this.#schedule()
  }

  /** Tries once more, and then leaves it. */
  async close(): Promise<void> {
    clearTimeout(this.#timer)
    await this.#reporting
    await this.#report()
    this.#waiting.clear()
  }

  #schedule(): void {
    if (this.#timer !== undefined || this.#waiting.size === 0) return
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      this.#reporting = this.#report().finally(() => this.#schedule())
    }, EVERY_MS)
    this.#timer.unref()
  }

  async #report(): Promise<void> {
    for (const [claim, outcome] of this.#waiting) {
      try {
        await this.#ledger.finish(claim, outcome)
        this.#waiting.delete(claim)
      } catch (error) {
        this.#onError(error)
        if (error instanceof StoreError && error.retryable) return
        this.#waiting.delete(claim)
      }
    }
  }
}
