import type { PaceClock } from '../../src/pace/index.ts'

export interface FakeClock extends PaceClock {
  /** Lets time pass, timer by timer; what they start is done before the next one fires. */
  pass(ms: number): Promise<void>
  readonly timers: number
}

export function fakeClock(): FakeClock {
  let now = 0
  let timers: { readonly atMs: number; readonly callback: () => void }[] = []
  return {
    now: () => now,
    after(ms, callback) {
      const timer = { atMs: now + ms, callback }
      timers.push(timer)
      return () => {
        timers = timers.filter((other) => other !== timer)
      }
    },
    async pass(ms) {
      const until = now + ms
      for (;;) {
        await settled()
        const next = timers.toSorted((a, b) => a.atMs - b.atMs)[0]
        if (next === undefined || next.atMs > until) break
        timers = timers.filter((timer) => timer !== next)
        now = next.atMs
        next.callback()
      }
      now = until
      await settled()
    },
    get timers() {
      return timers.length
    },
  }
}

/** Everything that follows from what has happened has happened. */
export async function settled(): Promise<void> {
  for (let i = 0; i < 20; i++) await Promise.resolve()
}

export interface TextFeed extends AsyncIterable<string> {
  write(text: string): void
  end(): void
  fail(error: Error): void
  readonly givenUp: boolean
  /** Texts that were asked for. */
  readonly pulls: number
}

/** A source that is written by the test. */
export function textFeed(): TextFeed {
  const results: (IteratorResult<string> | Error)[] = []
  let wake: (() => void) | undefined
  const state = { givenUp: false, pulls: 0 }
  const put = (result: IteratorResult<string> | Error): void => {
    results.push(result)
    wake?.()
  }
  return {
    write: (text) => put({ done: false, value: text }),
    end: () => put({ done: true, value: undefined }),
    fail: put,
    get givenUp() {
      return state.givenUp
    },
    get pulls() {
      return state.pulls
    },
    [Symbol.asyncIterator]: () => ({
      async next() {
        state.pulls++
        while (results.length === 0) await new Promise<void>((resolve) => (wake = resolve))
        const result = results.shift()!
        if (result instanceof Error) throw result
        return result
      },
      async return() {
        state.givenUp = true
        put({ done: true, value: undefined })
        return { done: true, value: undefined }
      },
    }),
  }
}
