import { readFile } from 'node:fs/promises'
import { inflatedBytes, unreadableReason } from '@streamfold/recording'
import type { CommandIo } from './command-io.ts'
import { messageOf } from './message-of.ts'

/** An input that can't be read or understood: which, and why. */
export class InputError extends Error {
  override readonly name = 'InputError'
}

/** The bytes of a file, or of standard input for `-`, inflated where they are gzip. */
export async function readInput(file: string, { stdin, signal }: CommandIo): Promise<Uint8Array> {
  const bytes = await (file === '-' ? readAll(stdin, signal) : readFile(file, { signal })).catch((error: unknown) => {
    throw signal.aborted ? error : new InputError(unreadableReason(error))
  })
  try {
    return inflatedBytes(bytes)
  } catch (error) {
    throw new InputError(messageOf(error))
  }
}

async function readAll(stdin: CommandIo['stdin'], signal: AbortSignal): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  const iterator = stdin[Symbol.asyncIterator]()
  for (;;) {
    const next = await orAborted(iterator.next(), signal)
    if (next.done === true) return Buffer.concat(chunks)
    chunks.push(typeof next.value === 'string' ? Buffer.from(next.value) : next.value)
  }
}

/** Waiting for a pipe that never ends must not outlive an interrupt. */
function orAborted<T>(wait: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason as Error)
    if (signal.aborted) onAbort()
    signal.addEventListener('abort', onAbort, { once: true })
    wait.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort))
  })
}
