const BRAND: symbol = Symbol.for('streamfold.NoEffectError')

/**
 * Thrown by a tool to say that it failed and changed nothing. Any other error of a tool that changes things leaves it open
 * whether something happened, and the call ends as `outcome_unknown`.
 */
export class NoEffectError extends Error {
  override readonly name = 'NoEffectError'

  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options)
    Object.defineProperty(this, BRAND, { value: true })
  }

  /** True for a NoEffectError of any installed copy of the package. */
  static is(value: unknown): value is NoEffectError {
    return typeof value === 'object' && value !== null && BRAND in value
  }
}
