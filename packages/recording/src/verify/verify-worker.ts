import { parentPort, workerData } from 'node:worker_threads'
import type { WorkerAnswer, WorkerTask } from './check-in-workers.ts'
import { checkSample } from './check-sample.ts'
import type { CheckOptions } from './check-sample.ts'
import { readSample } from './golden-sample.ts'

/** One thread of `checkInWorkers`. */
const options = workerData as CheckOptions
parentPort?.on('message', ({ index, file, name, fates }: WorkerTask) => {
  const result = { ...checkSample(readSample(file), { ...options, fates }), name }
  // eslint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  parentPort?.postMessage({ index, result } satisfies WorkerAnswer)
})
