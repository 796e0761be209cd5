/**
 * `fetch` shows no connect phase. One that sees it (`streamfold/node`) tells whoever sent the request, whom it finds by the request's
 * signal: the one thing that every wrapper of a `fetch` hands on as it is.
 */
const watchers = new WeakMap<AbortSignal, () => void>()

/** Calls back when a connection carries the request that is sent with this signal; never, where the `fetch` does not see that. */
export function watchConnection(signal: AbortSignal, connected: () => void): void {
  watchers.set(signal, connected)
}

/** For a `fetch` that sees it: whom to tell. */
export function connectionWatcher(signal: AbortSignal | null | undefined): (() => void) | undefined {
  return signal === null || signal === undefined ? undefined : watchers.get(signal)
}
