/** Why an answer did not come. */
export type NoAnswer = 'threw' | 'timeout' | 'aborted'

export type BoundedAnswer<T> =
  | { readonly answered: true; readonly value: T }
  | { readonly answered: false; readonly why: NoAnswer; readonly cause?: unknown }

/** Asks someone else's code and waits for it, but not for ever: it may throw, hang, or be overtaken by a cancel. */
export async function boundedAnswer<T>(
  ask: () => T | Promise<T>,
  timeoutMs: number,
  signal: AbortSignal | undefined,
): Promise<BoundedAnswer<T>> {
  if (signal?.aborted === true) return { answered: false, why: 'aborted' }
  let timer: ReturnType<typeof setTimeout> | undefined
  let onAbort: (() => void) | undefined
  // Armed before the question is put: the answer may be an abort.
  const cut = new Promise<BoundedAnswer<T>>((resolve) => {
    timer = setTimeout(() => resolve({ answered: false, why: 'timeout' }), timeoutMs)
    onAbort = () => resolve({ answered: false, why: 'aborted' })
    signal?.addEventListener('abort', onAbort, { once: true })
  })
  const given = (async (): Promise<BoundedAnswer<T>> => {
    try {
      return { answered: true, value: await ask() }
    } catch (cause) {
      return { answered: false, why: 'threw', cause }
    }
  })()
  try {
    return await Promise.race([given, cut])
  } finally {
    clearTimeout(timer)
    if (onAbort !== undefined) signal?.removeEventListener('abort', onAbort)
  }
}
