import type { Claim } from '../ledger/claim.ts'

export interface ActiveClaim {
  readonly claim: Claim
  readonly abort: AbortController
}

/** Why the signal of a running tool was aborted. */
export type AbortCause = 'cancelled' | 'timeout' | 'lease_lost'

/** The claims that this executor holds right now: what heartbeats renew and a cancel reaches. */
export class ActiveClaims {
  readonly #active = new Set<ActiveClaim>()

  get claims(): readonly Claim[] {
    return [...this.#active].map(({ claim }) => claim)
  }

  get size(): number {
    return this.#active.size
  }

  add(claim: Claim): ActiveClaim {
    const active = { claim, abort: new AbortController() }
    this.#active.add(active)
    return active
  }

  remove(active: ActiveClaim): void {
    this.#active.delete(active)
  }

  /** Aborts the tools of these claims. They go on to the end that they choose. */
  abort(claims: readonly Claim[], cause: AbortCause): void {
    for (const active of this.#active) {
      if (claims.includes(active.claim)) active.abort.abort(new AbortedTool(cause))
    }
  }
}

/** Reason of a tool's aborted signal. */
export class AbortedTool extends Error {
  override readonly name = 'AbortedTool'
  readonly why: AbortCause

  constructor(why: AbortCause) {
    super(`the tool was told to stop: ${why}`)
    this.why = why
  }
}
