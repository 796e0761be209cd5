import type { Ledger } from '../ledger/ledger.ts'
import type { ActiveClaims } from './active-claims.ts'

/** Renews the leases of what runs, three times as often as they end, and passes on what the ledger says of them. */
export class Heart {
  readonly #ledger: Ledger
  readonly #active: ActiveClaims
  readonly #leaseMs: number
  readonly #onError: (error: unknown) => void
  #timer: NodeJS.Timeout | undefined
  #beating: Promise<void> = Promise.resolve()

  constructor(ledger: Ledger, active: ActiveClaims, leaseMs: number, onError: (error: unknown) => void) {
    this.#ledger = ledger
    this.#active = active
    this.#leaseMs = leaseMs
    this.#onError = onError
  }

  /** Beats as long as there is something to renew. */
  start(): void {
    if (this.#timer !== undefined) return
    this.#timer = setTimeout(() => {
      this.#beating = this.beat().finally(() => {
        this.#timer = undefined
        if (this.#active.size > 0) this.start()
      })
    }, this.#leaseMs / 3)
    this.#timer.unref()
  }

  async beat(): Promise<void> {
    try {
      const { lost, unwanted } = await this.#ledger.heartbeat(this.#active.claims, this.#leaseMs)
      this.#active.abort(lost, 'lease_lost')
      this.#active.abort(unwanted, 'cancelled')
    } catch (error) {
      // The lease goes on for a while; the next beat may reach the store again.
      this.#onError(error)
    }
  }

  async stop(): Promise<void> {
    clearTimeout(this.#timer)
    await this.#beating
  }
}
