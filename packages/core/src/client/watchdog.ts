import type { StreamEngine } from '../engine/stream-engine.ts'

export interface Watchdog {
  /** Waiting begins, or goes on. */
  arm(): void
  /** Nobody waits for the upstream until it is armed again. */
  pause(): void
  stop(): void
}

/** Why a request is given up, for whoever looks on: a recorder, or a `fetch` of the user's own. */
export function timerFired(): DOMException {
  return new DOMException('a timer of streamfold has fired', 'TimeoutError')
}

/** Timers beyond this fire at once. */
export const LONGEST_TIMER_MS: number = 2 ** 31 - 1

/** One timer for the whole stream: it is set to the next deadline and, when it fires early, set again. */
export function createWatchdog(engine: StreamEngine, now: () => number, fire: () => void): Watchdog {
  let timer: ReturnType<typeof setTimeout> | undefined
  let setTo = Infinity
  let paused = false
  const arm = (): void => {
    paused = false
    const deadline = engine.deadline()
    if (deadline === undefined || deadline.atMs >= setTo) return
    clearTimeout(timer)
    setTo = deadline.atMs
    timer = setTimeout(check, Math.min(LONGEST_TIMER_MS, Math.max(0, deadline.atMs - now())))
  }
  const check = (): void => {
    setTo = Infinity
    if (paused) return
    const deadline = engine.deadline()
    if (deadline === undefined) return
    if (deadline.atMs <= now()) fire()
    else arm()
  }
  return {
    arm,
    pause() {
      paused = true
    },
    stop: () => clearTimeout(timer),
  }
}
