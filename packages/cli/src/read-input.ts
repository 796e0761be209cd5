import { readFile } from 'node:fs/promises'
import { constants, gunzipSync } from 'node:zlib'
import type { CommandIo } from './command-io.ts'

/** More than the engine takes in, so that its own limit speaks first; a compressed file can be a bomb. */
const MAX_INFLATED_BYTES = 1024 * 1024 * 1024

/** An input that can't be read or understood: which, and why. */
export class InputError extends Error {
  override readonly name = 'InputError'
}

/** The bytes of a file, or of standard input for `-`, inflated where they are gzip. */
export async function readInput(file: string, { stdin, signal }: CommandIo): Promise<Uint8Array> {
  const bytes = await (file === '-' ? readAll(stdin, signal) : readFile(file, { signal })).catch((error: unknown) => {
    throw signal.aborted ? error : new InputError(reasonOf(error))
  })
  return bytes[0] === 0x1f && bytes[1] === 0x8b ? inflate(bytes) : bytes
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

function inflate(bytes: Uint8Array): Uint8Array {
  try {
    // A file that was cut gives what is there, like any other cut file.
    return gunzipSync(bytes, { finishFlush: constants.Z_SYNC_FLUSH, maxOutputLength: MAX_INFLATED_BYTES })
  } catch (error) {
    throw new InputError(`it begins like gzip and can't be inflated: ${messageOf(error)}`)
  }
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'no such file',
  EISDIR: 'it is a directory; name the files in it',
  EACCES: 'no permission to read it',
  ENAMETOOLONG: 'the name is too long',
  ERR_FS_FILE_TOO_LARGE: 'it is too large to be read at once',
}

/** Why a file can't be read, in a few words. */
export function reasonOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  return REASONS[code] ?? messageOf(error)
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
