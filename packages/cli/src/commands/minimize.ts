import { spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { Option } from 'commander'
import type { Command } from 'commander'
import {
  formatRecordings,
  KEEPABLE,
  keepsFailure,
  minimize,
  NothingToMinimize,
  readSample,
  ReplaySyntaxError,
  SampleError,
  writePrivateFile,
} from '@streamfold/recording'
import type { GoldenSample, Minimized } from '@streamfold/recording'
import { APIS } from 'streamfold'
import type { Api } from 'streamfold'
import type { Recording } from 'streamfold/recording'
import type { CommandIo } from '../command-io.ts'
import { EXIT } from '../exit-code.ts'
import type { ExitCode } from '../exit-code.ts'
import { positiveIntegerOption } from '../integer-option.ts'
import { messageOf } from '../message-of.ts'
import { ProgressLine } from '../progress-line.ts'
import { counted } from '../report-text/quantities.ts'

export interface MinimizeCommandOptions {
  /** What a smaller recording must still show; names separated by commas. */
  readonly keep?: string
  readonly output?: string
  readonly force?: boolean
  readonly api?: Api
  readonly maxTries?: number
  readonly json?: boolean
  /** Asked instead: it gets the name of a candidate's file, and fails with any exit code but 0 as long as the fault is there. */
  readonly command?: readonly string[]
}

/** `streamfold minimize`: the smallest part of a recording that still fails, on standard output or in a file. */
export async function minimizeCommand(file: string, options: MinimizeCommandOptions, io: CommandIo): Promise<ExitCode> {
  const progress = new ProgressLine(io)
  let result: Minimized
  try {
    const read = readSample(file)
    if (read.recording.reads.every(({ bytes }) => bytes.length === 0))
      throw new SampleError(file, 'its body is empty: there is no event to leave out')
    const sample = options.api === undefined ? read : { ...read, api: options.api }
    result = await minimize(sample.recording, await questionOf(sample, options, io), {
      signal: io.signal,
      onProgress: ({ tries, units }) =>
        progress.show(`${counted(tries, 'try', 'tries')}, ${counted(units, 'event')} left`),
      ...(options.maxTries !== undefined && { maxTries: options.maxTries }),
    })
  } catch (error) {
    await progress.clear()
    if (io.signal.aborted) return EXIT.interrupted
    const known =
      error instanceof SampleError || error instanceof ReplaySyntaxError || error instanceof NothingToMinimize
    if (!known) throw error
    await io.stderr.write(`streamfold: ${error.message}\n`)
    if (error instanceof NothingToMinimize) return EXIT.unwanted
    return error instanceof SampleError ? EXIT.unreadableInput : EXIT.usage
  }
  await progress.clear()
  return await giveOut(result, options, io)
}

async function giveOut(result: Minimized, options: MinimizeCommandOptions, io: CommandIo): Promise<ExitCode> {
  const { recording, ...numbers } = result
  const text = formatRecordings([recording])
  const { output } = options
  if (output !== undefined) {
    try {
      await writePrivateFile(output, text, { overwrite: options.force === true })
    } catch (error) {
      const exists = error instanceof Error && 'code' in error && error.code === 'EEXIST'
      await io.stderr.write(
        `streamfold: ${output}: ${exists ? 'it exists; --force overwrites it' : messageOf(error)}\n`,
      )
      return EXIT.usage
    }
  }
  if (options.json === true) {
    await io.stdout.write(
      `${JSON.stringify({ schema: 'streamfold/minimize@1', ...numbers, ...(output !== undefined && { output }) }, null, 2)}\n`,
    )
  } else {
    if (output === undefined) await io.stdout.write(text)
    const { unitsBefore, unitsAfter, bytesBefore, bytesAfter, tries, minimal } = numbers
    const more = minimal ? '' : '; the search was cut short, --max-tries allows more'
    await io.stderr.write(
      `${counted(unitsBefore, 'event')} (${counted(bytesBefore, 'byte')}) became ${unitsAfter} (${counted(bytesAfter, 'byte')}) in ${counted(tries, 'try', 'tries')}${more}\n`,
    )
  }
  return EXIT.wanted
}

async function questionOf(
  sample: GoldenSample,
  { keep, command }: MinimizeCommandOptions,
  io: CommandIo,
): Promise<(candidate: Recording) => boolean | Promise<boolean>> {
  if (command === undefined || command.length === 0) return keepsFailure(sample, keep?.split(','))
  return async (candidate) => {
    const folder = await mkdtemp(join(tmpdir(), 'streamfold-'))
    const file = join(folder, `${basename(sample.file).replace(/\.[^]*$/, '')}.stream.jsonl`)
    try {
      await writeFile(file, formatRecordings([candidate]), { mode: 0o600 })
      return (await exitOf(command, file, io)) !== 0
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  }
}

function exitOf([program = '', ...args]: readonly string[], file: string, { env, signal }: CommandIo): Promise<number> {
  return new Promise((resolve, reject) => {
    spawn(program, [...args, file], { stdio: 'ignore', env: { ...env }, signal })
      .on('error', (error) =>
        reject(signal.aborted ? error : new ReplaySyntaxError(`${program} can't be run: ${error.message}`)),
      )
      .on('exit', (code) => resolve(code ?? 1))
  })
}

/** Puts the command into a program. */
export function addMinimizeCommand(program: Command, io: CommandIo, done: (exit: ExitCode) => void): void {
  program
    .command('minimize')
    .description('the smallest part of a recording that still fails in the same way')
    .argument('<file>', 'a recording, or a bare body')
    .argument(
      '[command...]',
      'behind --: asked with the name of each candidate; it fails as long as the fault is there',
    )
    .option('--keep <list>', `what must stay: ${KEEPABLE.join(', ')} (outcome,error,calls)`)
    .option('-o, --output <file>', 'write the recording there')
    .option('--force', 'overwrite it')
    .addOption(new Option('--api <name>', 'wire format; detected where absent').choices(APIS))
    .option('--max-tries <n>', 'how many candidates are tried at most', positiveIntegerOption)
    .option('--json', 'sizes as a JSON document, instead of the recording')
    .addHelpText(
      'after',
      '\nExit codes: 0 done, 1 the recording does not fail in that way, 2 usage, 3 unreadable input, 5 internal error, 130 interrupted.',
    )
    .action(async (file: string, command: readonly string[], flags: MinimizeCommandOptions) => {
      done(await minimizeCommand(file, { ...flags, command }, io))
    })
}
