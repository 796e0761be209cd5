import { CHUNK_FRAMES, formatRecordings, IMPORT_FORMATS, parseRecordings, redactRecording } from '@streamfold/recording'
import type { ChunkFrame, ImportFormat } from '@streamfold/recording'
import { Option } from 'commander'
import type { Command } from 'commander'
import type { CommandIo } from '../command-io.ts'
import { EXIT } from '../exit-code.ts'
import type { ExitCode } from '../exit-code.ts'
import { wholeNumberOption } from '../integer-option.ts'
import { fileName, importFile, unusable, withFiles, writeResult } from '../recording-input.ts'
import { counted } from '../report-text/quantities.ts'
import { addRedactionOptions, redactionOf } from '../redaction-options.ts'
import type { RedactionFlags } from '../redaction-options.ts'

export interface ImportCommandOptions extends RedactionFlags {
  readonly from?: ImportFormat
  readonly entry?: readonly number[]
  readonly frame?: ChunkFrame
  readonly done?: boolean
  /** False leaves secrets where they are. */
  readonly redact?: boolean
  readonly output?: string
  readonly force?: boolean
}

/** `streamfold import`: a recording of a foreign file, redacted, on standard output or in a file. */
export async function importCommand(file: string, options: ImportCommandOptions, io: CommandIo): Promise<ExitCode> {
  const redaction = redactionOf(options, io.env)
  if ('misuse' in redaction) {
    await io.stderr.write(`streamfold: ${redaction.misuse}\n`)
    return EXIT.usage
  }
  return withFiles(io, async () => {
    const { from, entry, frame, done, redact = true } = options
    const imported = await importFile(file, io, {
      ...(from !== undefined && { from }),
      ...(entry !== undefined && { entries: entry }),
      ...(frame !== undefined && { frame }),
      ...(done !== undefined && { done }),
    })
    // Written and read once, so that both see the same lines.
    let text = formatRecordings(imported.recordings)
    try {
      if (redact)
        text = formatRecordings(parseRecordings(Buffer.from(text)).map((one) => redactRecording(one, redaction)))
    } catch (error) {
      throw unusable(file, error)
    }
    await writeResult(text, options, io)
    await io.stderr.write(
      `streamfold: ${fileName(file)}: ${counted(imported.recordings.length, 'exchange')} from ${imported.format}${redact ? '' : ', not redacted'}\n`,
    )
    return EXIT.wanted
  })
}

/** Puts the command into a program. */
export function addImportCommand(program: Command, io: CommandIo, done: (exit: ExitCode) => void): void {
  const command = program
    .command('import')
    .description('makes a recording of what other tools wrote')
    .argument(
      '<file>',
      'output of curl -i or curl --trace, a HAR file, a bare body, a list of chunks; - is standard input',
    )
    .addOption(
      new Option('--from <format>', 'what it is; detected where absent, but for chunks').choices(IMPORT_FORMATS),
    )
    .option(
      '--entry <n>',
      'HAR: entry to take, from 0; repeat it for each',
      (text, all: readonly number[] | undefined) => [...(all ?? []), wholeNumberOption(text)],
    )
    .addOption(new Option('--frame <frame>', 'chunks: how they become events').choices(CHUNK_FRAMES))
    .option('--done', 'chunks: a [DONE] after the last')
    .option('--no-redact', 'leave secrets where they are')
    .option('-o, --output <file>', 'write it there, for its owner only; .gz compresses')
    .option('--force', 'write over a file that exists')
  addRedactionOptions(command)
    .addHelpText('after', '\nExit codes: 0 done, 2 usage, 3 unreadable input, 5 internal error, 130 interrupted.')
    .action(async (file: string, flags: ImportCommandOptions) => {
      done(await importCommand(file, flags, io))
    })
}
