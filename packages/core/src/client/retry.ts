import type { StreamErrorEvent } from '../chunk/stream-event.ts'
import { checkNames } from './check-call.ts'
import { LONGEST_TIMER_MS } from './watchdog.ts'

/** How often a request is sent again, and after which wait. */
export interface RetryOptions {
  /** Attempts in all, the first included; 1 turns retries off. Default 3. */
  readonly attempts?: number | undefined
  /** Upper bound of the first back-off, in milliseconds; it doubles with every attempt. Default 500. */
  readonly baseDelayMs?: number | undefined
  /** No back-off is longer than this, except where the server asks for it. Default 30 000. */
  readonly maxDelayMs?: number | undefined
  /** A server that asks for a longer wait than this is not asked again: the error says how long it wanted. Default 60 000. */
  readonly maxRetryAfterMs?: number | undefined
  /** A last word on a failure that could be retried. Default: always yes. */
  readonly shouldRetry?: ((failure: StreamErrorEvent, attempt: number) => boolean) | undefined
  /** A number from 0 to 1. Default `Math.random`. */
  readonly random?: (() => number) | undefined
}

/** @throws TypeError for what is no number of attempts, no time or no function, and for a name that is none of {@link RetryOptions} */
export function checkRetry(who: string, retry: RetryOptions | false | undefined): void {
  if (retry === undefined || retry === false) return
  checkNames(`${who} (retry)`, retry, RETRY_OPTIONS)
  const { attempts, shouldRetry, random, ...times } = retry
  if (attempts !== undefined && !(typeof attempts === 'number' && attempts >= 1)) {
    throw new TypeError(
      `${who}: retry.attempts must be 1 or more, not ${String(attempts)}; it counts the first one too, and retry: false turns retries off`,
    )
  }
  for (const [name, value] of Object.entries(times)) {
    if (value === undefined || (typeof value === 'number' && value >= 0)) continue
    throw new TypeError(`${who}: retry.${name} must be milliseconds, 0 or more, not ${String(value)}`)
  }
  for (const [name, value] of Object.entries({ shouldRetry, random })) {
    if (value !== undefined && typeof value !== 'function')
      throw new TypeError(`${who}: retry.${name} must be a function`)
  }
}

const RETRY_OPTIONS: Readonly<Record<keyof RetryOptions, true>> = {
  attempts: true,
  baseDelayMs: true,
  maxDelayMs: true,
  maxRetryAfterMs: true,
  shouldRetry: true,
  random: true,
}

/**
 * How long to wait before the next attempt, or undefined when there is none. Full jitter: anything between nothing and the bound,
 * so that clients that failed together do not come back together. What the server asks for is a floor (fault F137).
 *
 * @param attempt the attempt that failed, from 1
 */
export function backOffMs(failure: StreamErrorEvent, attempt: number, options: RetryOptions): number | undefined {
  const { baseDelayMs = 500, maxDelayMs = 30_000, maxRetryAfterMs = 60_000 } = options
  const { retryAfterMs = 0 } = failure
  // Anything but `yes` says that something was given out, or that the same request would fail again.
  if (failure.retryable !== 'yes' || isLast(attempt, options) || retryAfterMs > maxRetryAfterMs) return undefined
  if (options.shouldRetry?.(failure, attempt) === false) return undefined
  const random = options.random ?? Math.random
  return Math.ceil(retryAfterMs + random() * Math.min(maxDelayMs, baseDelayMs * 2 ** (attempt - 1)))
}

/** No further attempt follows this one, whatever becomes of it. */
export function isLast(attempt: number, { attempts = 3 }: RetryOptions): boolean {
  return attempt >= attempts
}

/** Waits, but not longer than for the abort. */
export async function waited(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return
  let wake: (() => void) | undefined
  const woken = new Promise<void>((resolve) => (wake = resolve))
  const timer = setTimeout(wake!, Math.min(ms, LONGEST_TIMER_MS))
  signal.addEventListener('abort', wake!, { once: true })
  try {
    await woken
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', wake!)
  }
}
