import type { StreamReport } from '../engine/report.ts'
import { callAside } from '../server/call-aside.ts'

/**
 * Keeps what was sent and received until it is known whether the stream failed. The core can't redact, and hands nothing over that is
 * not: `recordFailures` of `@streamfold/recording` makes one that does.
 */
export interface FailureRecorder {
  /** A stream begins: its requests, one for each attempt, go through the `fetch` that is given back. */
  open(inner: typeof fetch): RecordedStream
}

/** One stream that is recorded, with all its attempts. */
export interface RecordedStream {
  readonly fetch: typeof fetch
  /** The stream failed, and nothing more of it will be read. `result` of `streamModel` waits for a promise that this gives. */
  failed(report: StreamReport): unknown
}

/** A stream whose requests are recorded, or not. */
export interface ObservedStream {
  readonly fetch: typeof fetch
  /** Settles when the recorder is done, and never rejects; undefined where there is nothing to wait for. */
  readonly ended: (report: StreamReport) => Promise<void> | undefined
}

/** @throws TypeError for what is no recorder, a bare callback for example: it would be given what is not redacted */
export function observed(inner: typeof fetch, recorder: FailureRecorder | undefined): ObservedStream {
  if (recorder === undefined) return { fetch: inner, ended: () => undefined }
  if (typeof recorder.open !== 'function') {
    throw new TypeError('onFailure takes a recorder that redacts: recordFailures(callback) of @streamfold/recording')
  }
  const recorded = recorder.open(inner)
  return {
    fetch: recorded.fetch,
    ended(report) {
      // A reader that left has made no failure.
      if (report.outcome !== 'failed' && report.outcome !== 'incomplete') return undefined
      let kept: unknown
      callAside((failure) => {
        kept = recorded.failed(failure)
      }, report)
      return kept instanceof Promise ? settledAside(kept) : undefined
    },
  }
}

/** As {@link callAside}, for what fails later. */
async function settledAside(kept: Promise<unknown>): Promise<void> {
  try {
    await kept
  } catch (error) {
    callAside(() => {
      throw error
    }, undefined)
  }
}
