import { Writable } from 'node:stream'
import type { CommandIo } from '../src/command-io.ts'
import { Output } from '../src/output.ts'
import type { OutputStream } from '../src/output.ts'
import { runProgram } from '../src/program.ts'

export interface MemoryIoOptions {
  readonly stdin?: AsyncIterable<Uint8Array | string>
  readonly env?: Readonly<Record<string, string>>
  /** Standard output is a terminal. */
  readonly isTTY?: boolean
  readonly columns?: number
  readonly signal?: AbortSignal
  /** Takes the place of standard output. */
  readonly stdout?: OutputStream
}

export interface MemoryIo {
  readonly io: CommandIo
  readonly stdout: () => string
  readonly stderr: () => string
}

/** Everything a command touches, in memory. */
export function memoryIo(options: MemoryIoOptions = {}): MemoryIo {
  const stdout = new MemoryStream()
  const stderr = new MemoryStream()
  Object.assign(stdout, { isTTY: options.isTTY ?? false, columns: options.columns })
  return {
    io: {
      stdin: options.stdin ?? reads(),
      stdout: new Output(options.stdout ?? stdout),
      stderr: new Output(stderr),
      env: options.env ?? {},
      signal: options.signal ?? new AbortController().signal,
    },
    stdout: () => stdout.text,
    stderr: () => stderr.text,
  }
}

export interface Ran {
  readonly exit: number
  readonly stdout: string
  readonly stderr: string
}

/** A whole command line, in memory. */
export async function run(args: readonly string[], options: MemoryIoOptions = {}): Promise<Ran> {
  const memory = memoryIo(options)
  const exit = await runProgram(args, memory.io)
  return { exit, stdout: memory.stdout(), stderr: memory.stderr() }
}

export async function* reads(...chunks: readonly (Uint8Array | string)[]): AsyncGenerator<Uint8Array | string> {
  yield* chunks
}

class MemoryStream extends Writable {
  text = ''

  override _write(chunk: Uint8Array, _encoding: string, done: () => void): void {
    this.text += new TextDecoder().decode(chunk)
    done()
  }
}
