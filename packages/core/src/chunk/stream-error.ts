import type { FaultCode, Phase, ProviderError, Retryable, StreamFault } from './fault.ts'

const BRAND: symbol = Symbol.for('streamfold.StreamError')

/**
 * The one error class of streamfold. Match on `code`: codes are documented one by one in `docs/faults.md` and never
 * reused, and two copies of the package may be loaded at once, which breaks `instanceof` (use {@link StreamError.is}).
 */
export class StreamError extends Error {
  override readonly name = 'StreamError'
  readonly code: FaultCode
  readonly phase: Phase
  readonly retryable: Retryable
  readonly status?: number
  /** Milliseconds; a floor for the next attempt. */
  readonly retryAfterMs?: number
  /** Byte offset in the body where the fault was found. */
  readonly offset?: number
  /** Ordinal of the event, from 1. */
  readonly eventNumber?: number
  readonly callId?: string
  readonly provider?: ProviderError

  constructor(fault: StreamFault, options?: { cause?: unknown }) {
    super(fault.message, options)
    Object.defineProperty(this, BRAND, { value: true })
    this.code = fault.code
    this.phase = fault.phase
    this.retryable = fault.retryable
    if (fault.status !== undefined) this.status = fault.status
    if (fault.retryAfterMs !== undefined) this.retryAfterMs = fault.retryAfterMs
    if (fault.offset !== undefined) this.offset = fault.offset
    if (fault.event !== undefined) this.eventNumber = fault.event
    if (fault.callId !== undefined) this.callId = fault.callId
    if (fault.provider !== undefined) this.provider = fault.provider
  }

  /** True for a StreamError of any installed copy of the package. */
  static is(value: unknown): value is StreamError {
    return typeof value === 'object' && value !== null && BRAND in value
  }
}
