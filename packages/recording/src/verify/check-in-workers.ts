import { Worker } from 'node:worker_threads'
import { errorOf } from './carried-error.ts'
import type { CarriedError } from './carried-error.ts'
import type { CheckOptions, SampleResult } from './check-sample.ts'
import type { GoldenSample } from './golden-sample.ts'

/** A sample and what is known to become of it under faults. */
export interface CheckTask {
  readonly sample: GoldenSample
  readonly fates: Readonly<Record<string, string>>
}

/** What a worker is sent: which sample, and what is known of it. Nothing ends it. */
export interface WorkerTask {
  readonly index: number
  readonly file: string
  readonly name: string
  readonly fates: Readonly<Record<string, string>>
}

export type WorkerAnswer =
  | { readonly index: number; readonly result: SampleResult }
  | { readonly index: number; readonly error: CarriedError }

/**
 * Checks samples on several threads, which read the samples' files themselves; results in the order of the tasks. A thread gets its
 * next sample when it has done one, the largest first, so that none is left with a large one at the end. The first error of a thread
 * ends all of them.
 *
 * @throws SampleError for a file that can't be read any more; ReplaySyntaxError for an argument of a fault that is not known
 */
export async function checkInWorkers(
  tasks: readonly CheckTask[],
  options: CheckOptions,
  workers: number,
  onResult: (result: SampleResult) => void,
  signal: AbortSignal | undefined,
): Promise<readonly SampleResult[]> {
  signal?.throwIfAborted()
  const results: SampleResult[] = []
  const queue = tasks
    .map(({ sample, fates }, index) => {
      const task: WorkerTask = { index, file: sample.file, name: sample.name, fates }
      return { task, size: sizeOf(sample) }
    })
    .toSorted((a, b) => b.size - a.size)
    .map(({ task }) => task)
  const threads = Array.from({ length: Math.min(workers, tasks.length) }, () => {
    return new Worker(new URL('./verify-worker.js', import.meta.url), { workerData: options })
  })
  const stop = (): void => {
    for (const thread of threads) void thread.terminate()
  }
  signal?.addEventListener('abort', stop, { once: true })
  try {
    await Promise.all(
      threads.map(
        (thread) =>
          new Promise<void>((resolve, reject) => {
            const next = (): void => {
              const task = queue.shift()
              if (task === undefined) resolve()
              // eslint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
              else thread.postMessage(task)
            }
            thread.on('message', (answer: WorkerAnswer) => {
              if ('error' in answer) return reject(errorOf(answer.error))
              results[answer.index] = answer.result
              onResult(answer.result)
              next()
            })
            thread.on('error', reject)
            thread.on('exit', () =>
              reject(signal?.aborted === true ? (signal.reason as Error) : new Error('a worker stopped')),
            )
            next()
          }),
      ),
    )
  } finally {
    signal?.removeEventListener('abort', stop)
    stop()
  }
  return results
}

function sizeOf({ recording }: GoldenSample): number {
  return recording.reads.reduce((sum, { bytes }) => sum + bytes.length, 0)
}
