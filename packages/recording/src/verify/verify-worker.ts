import { parentPort, workerData } from 'node:worker_threads'
import { carriedError } from './carried-error.ts'
import type { WorkerAnswer, WorkerTask } from './check-in-workers.ts'
import { checkSample } from './check-sample.ts'
import type { CheckOptions } from './check-sample.ts'
import { readSample } from './golden-sample.ts'

/** One thread of `checkInWorkers`. */
const options = workerData as CheckOptions
parentPort?.on('message', (task: WorkerTask) => {
  // eslint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  parentPort?.postMessage(answerTo(task))
})

function answerTo({ index, file, name, fates }: WorkerTask): WorkerAnswer {
  try {
    return { index, result: { ...checkSample(readSample(file), { ...options, fates }), name } }
  } catch (error) {
    return { index, error: carriedError(error) }
  }
}
