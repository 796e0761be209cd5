import { StreamError } from 'streamfold'
import type { ReadyToolCall, StreamEvent, StreamReport } from 'streamfold'
import type { ModelAnswer } from './model.ts'

/** What reading one answer came to. */
export interface AnswerReading {
  readonly report: StreamReport
  /** Released calls of choice 0, in the order of their release. They wait here until the answer is on the disk. */
  readonly calls: readonly ReadyToolCall[]
  /** A terminal event was seen: what the stream said is all there is. */
  readonly ended: boolean
  /** What the iterator threw in the place of a terminal event. */
  readonly error?: StreamError
}

/**
 * Reads an answer to its terminal event. It only publishes, and collects what was released; nothing is run from here. Once the
 * answer has ended or the signal aborts nothing of it is published any more, whatever the stream still sends.
 *
 * @throws what the stream throws, where that is no StreamError
 */
export async function readAnswer(
  answer: ModelAnswer,
  signal: AbortSignal,
  publish: (event: StreamEvent) => void,
): Promise<AnswerReading> {
  const calls: ReadyToolCall[] = []
  const events = answer[Symbol.asyncIterator]()
  const abandoned = untilAborted(signal)
  let ended = false
  let error: StreamError | undefined
  try {
    while (!ended) {
      const read = await nextOrUndefined(events, abandoned.promise)
      if (read === undefined || read.done === true) break
      const event = read.value
      if (event.type === 'tool_batch_ready' && event.choice === 0) calls.push(...event.calls)
      ended = event.type === 'stream_completed' || event.type === 'stream_error'
      publish(event)
    }
  } catch (thrown) {
    if (!StreamError.is(thrown)) throw thrown
    // After a terminal event it says the same again.
    if (!ended) error = thrown
  } finally {
    abandoned.release()
    // Not awaited: a stream that hangs would hang in here too.
    void settle(events)
  }
  return { report: answer.report(), calls, ended, ...(error === undefined ? {} : { error }) }
}

type Read = IteratorResult<StreamEvent, unknown>

async function nextOrUndefined(
  events: AsyncIterator<StreamEvent>,
  abandoned: Promise<undefined>,
): Promise<Read | undefined> {
  const next = events.next()
  // When the abort wins, what comes late — an event or an error — is nobody's any more.
  next.catch(() => {})
  return await Promise.race([abandoned, next])
}

async function settle(events: AsyncIterator<StreamEvent>): Promise<void> {
  try {
    await events.return?.()
  } catch {
    // It was given up; how it ends is told by its report.
  }
}

function untilAborted(signal: AbortSignal): { promise: Promise<undefined>; release: () => void } {
  const listening = new AbortController()
  const promise = new Promise<undefined>((resolve) => {
    if (signal.aborted) resolve(undefined)
    signal.addEventListener('abort', () => resolve(undefined), { once: true, signal: listening.signal })
  })
  return { promise, release: () => listening.abort() }
}
