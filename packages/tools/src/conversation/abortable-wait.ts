import { LONGEST_TIMER_MS } from '../longest-timer.ts'

/** Waits, but not beyond an abort. */
export async function abortableWait(ms: number, signal: AbortSignal): Promise<void> {
  if (ms <= 0 || signal.aborted) return
  await new Promise<void>((resolve) => {
    const done = (): void => {
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, Math.min(ms, LONGEST_TIMER_MS))
    signal.addEventListener('abort', done, { once: true })
  })
}
