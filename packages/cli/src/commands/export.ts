import { recordedBody, toHar, toHtml, toTestSource } from '@streamfold/recording'
import { Option } from 'commander'
import type { Command } from 'commander'
import { APIS } from 'streamfold'
import type { Api } from 'streamfold'
import type { CommandIo } from '../command-io.ts'
import { EXIT } from '../exit-code.ts'
import type { ExitCode } from '../exit-code.ts'
import { positiveIntegerOption } from '../integer-option.ts'
import { readOneRecording, readRecordingsOf, unusable, withFiles, writeResult } from '../recording-input.ts'

export const EXPORT_FORMATS = ['har', 'sse', 'vitest', 'html'] as const
export type ExportFormat = (typeof EXPORT_FORMATS)[number]

export interface ExportCommandOptions {
  readonly to: ExportFormat
  /** Which exchange of the file, from 1. */
  readonly exchange?: number
  readonly api?: Api
  readonly output?: string
  readonly force?: boolean
}

/** `streamfold export`: a recording as others read it, on standard output or in a file. */
export function exportCommand(file: string, options: ExportCommandOptions, io: CommandIo): Promise<ExitCode> {
  return withFiles(io, async () => {
    try {
      await writeResult(await contentOf(file, options, io), options, io)
    } catch (error) {
      throw unusable(file, error)
    }
    return EXIT.wanted
  })
}

async function contentOf(
  file: string,
  { to, exchange, api }: ExportCommandOptions,
  io: CommandIo,
): Promise<string | Uint8Array> {
  const said = api === undefined ? {} : { api }
  const all = async () =>
    exchange === undefined ? await readRecordingsOf(file, io) : [await readOneRecording(file, io, exchange)]
  switch (to) {
    case 'har':
      return toHar(await all())
    case 'html':
      return toHtml(await all(), said)
    case 'sse':
      return recordedBody(await readOneRecording(file, io, exchange))
    case 'vitest':
      return toTestSource(await readOneRecording(file, io, exchange), said)
  }
}

/** Puts the command into a program. */
export function addExportCommand(program: Command, io: CommandIo, done: (exit: ExitCode) => void): void {
  program
    .command('export')
    .description('writes a recording as HAR, as a bare body, as a vitest test or as one page')
    .argument('<file>', 'a recording; - is standard input')
    .addOption(new Option('--to <format>', 'what to make of it').choices(EXPORT_FORMATS).makeOptionMandatory())
    .option('--exchange <n>', 'which exchange of the file, from 1', positiveIntegerOption)
    .addOption(new Option('--api <name>', 'wire format; detected where absent').choices(APIS))
    .option('-o, --output <file>', 'write it there, for its owner only')
    .option('--force', 'write over a file that exists')
    .addHelpText('after', '\nExit codes: 0 done, 2 usage, 3 unreadable input, 5 internal error, 130 interrupted.')
    .action(async (file: string, flags: ExportCommandOptions) => {
      done(await exportCommand(file, flags, io))
    })
}
