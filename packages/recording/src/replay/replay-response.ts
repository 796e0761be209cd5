import type { Recording } from 'streamfold/recording'
import { headOf } from './default-head.ts'
import { prepareReplay } from './prepare.ts'
import type { ReplayOptions } from './prepare.ts'
import type { ReplayScript, ScriptEnd } from './replay-script.ts'

/**
 * The recording as a `Response`, in this process: one read per write of the plan, which no socket can promise. Pauses are left out
 * unless a timing is given. A body that breaks off rejects the read as undici does: `terminated`, with the socket's code as its cause.
 *
 * @throws RecordingError `body_encoded`
 * @throws ReplaySyntaxError for a fault that is not known
 */
export function replayResponse(recording: Recording, options: ReplayOptions = {}): Response {
  const { script } = prepareReplay(recording, { timing: { kind: 'none' }, ...options })
  return responseOf(script)
}

export function responseOf(script: ReplayScript): Response {
  const { status, headers } = headOf(script)
  const init = { status, headers: headers.map(([name, value]): [string, string] => [name, value]) }
  // A Response can't be made with a status that forbids a body and a stream that is one.
  const bodiless = status === 204 || status === 205 || status === 304
  return new Response(bodiless ? null : scriptStream(script), init)
}

/** The body alone: each pull gives one write, at its time since the first pull. */
export function scriptStream(script: ReplayScript): ReadableStream<Uint8Array> {
  const { writes, end } = script
  let next = 0
  let startedAt: number | undefined
  let timer: ReturnType<typeof setTimeout> | undefined
  let cancelled: (() => void) | undefined
  const until = async (atUs: number): Promise<void> => {
    startedAt ??= performance.now()
    const ms = startedAt + atUs / 1000 - performance.now()
    if (ms < 1) return
    await new Promise<void>((resolve) => {
      cancelled = resolve
      timer = setTimeout(resolve, ms)
    })
  }
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const write = writes[next++]
        await until(write?.atUs ?? end.atUs)
        if (write !== undefined) controller.enqueue(write.bytes)
        else if (end.kind === 'complete') controller.close()
        else if (end.kind === 'open' || end.kind === 'timeout')
          await new Promise<void>((resolve) => (cancelled = resolve))
        else controller.error(transportError(end.kind))
      },
      cancel() {
        clearTimeout(timer)
        cancelled?.()
      },
    },
    { highWaterMark: 0 },
  )
}

function transportError(kind: Exclude<ScriptEnd, 'complete' | 'open' | 'timeout'>): Error {
  if (kind === 'aborted') return new DOMException('This operation was aborted', 'AbortError')
  const [code, message] = kind === 'cut' ? ['UND_ERR_SOCKET', 'other side closed'] : ['ECONNRESET', 'read ECONNRESET']
  return new TypeError('terminated', { cause: Object.assign(new Error(message), { code }) })
}
