import {
  formatRecordings,
  ImportError,
  importRecordings,
  parseRecordings,
  writePrivateFile,
} from '@streamfold/recording'
import type { ImportedRecordings, ImportOptions } from '@streamfold/recording'
import { clip } from 'streamfold/json'
import { RecordingError } from 'streamfold/recording'
import type { Recording } from 'streamfold/recording'
import type { CommandIo } from './command-io.ts'
import { EXIT } from './exit-code.ts'
import type { ExitCode } from './exit-code.ts'
import { messageOf } from './message-of.ts'
import { InputError, readInput } from './read-input.ts'

/** A file that a command was given and can't use, with its name. */
export class UnusableFile extends Error {
  override readonly name = 'UnusableFile'
  readonly exit: ExitCode

  constructor(file: string, reason: string, exit: ExitCode = EXIT.unreadableInput) {
    super(`${fileName(file)}: ${reason}`)
    this.exit = exit
  }
}

export function fileName(file: string): string {
  return file === '-' ? 'standard input' : clip(file, 200)
}

/** @throws UnusableFile */
export async function importFile(
  file: string,
  io: CommandIo,
  options: ImportOptions = {},
): Promise<ImportedRecordings> {
  try {
    return await importRecordings(await readInput(file, io), options)
  } catch (error) {
    throw unusable(file, error)
  }
}

/** Recordings of a file; a foreign one is imported on the way, so that a bare body will do. */
export async function readRecordingsOf(file: string, io: CommandIo): Promise<readonly Recording[]> {
  const { format, recordings } = await importFile(file, io)
  if (format === 'recording') return recordings as readonly Recording[]
  return parseRecordings(Buffer.from(formatRecordings(recordings)))
}

/** As {@link readRecordingsOf}, for a command that takes one exchange; `exchange` counts from 1. */
export async function readOneRecording(file: string, io: CommandIo, exchange?: number): Promise<Recording> {
  const recordings = await readRecordingsOf(file, io)
  if (exchange === undefined && recordings.length > 1) {
    throw new UnusableFile(file, `holds ${recordings.length} exchanges; choose one with --exchange N`, EXIT.usage)
  }
  const recording = recordings[(exchange ?? 1) - 1]
  if (recording === undefined) {
    throw new UnusableFile(file, `there is no exchange ${exchange}; it holds ${recordings.length}`, EXIT.usage)
  }
  return recording
}

/** To a file, private and never over another one unless told so; else to standard output. */
export async function writeResult(
  content: string | Uint8Array,
  { output, force }: { readonly output?: string; readonly force?: boolean },
  io: CommandIo,
): Promise<void> {
  if (output === undefined || output === '-') {
    await io.stdout.write(content)
    return
  }
  try {
    await writePrivateFile(output, content, { overwrite: force === true })
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    const reason = code === 'EEXIST' ? 'the file exists; --force writes over it' : messageOf(error)
    throw new UnusableFile(output, reason, EXIT.usage)
  }
}

/** Runs a command that may meet a file it can't use. */
export async function withFiles(io: CommandIo, run: () => Promise<ExitCode>): Promise<ExitCode> {
  try {
    return await run()
  } catch (error) {
    if (io.signal.aborted) return EXIT.interrupted
    if (!(error instanceof UnusableFile)) throw error
    await io.stderr.write(`streamfold: ${error.message}\n`)
    return error.exit
  }
}

/** Other errors are mistakes of ours and stay what they are. */
export function unusable(file: string, error: unknown): unknown {
  const expected = error instanceof InputError || error instanceof RecordingError || error instanceof ImportError
  return expected ? new UnusableFile(file, error.message) : error
}
