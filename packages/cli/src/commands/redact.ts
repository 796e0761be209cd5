import { findSecrets, findSpelledSecrets, formatRecordings, redactRecording } from '@streamfold/recording'
import type { SecretFinding } from '@streamfold/recording'
import type { Command } from 'commander'
import type { CommandIo } from '../command-io.ts'
import { EXIT } from '../exit-code.ts'
import type { ExitCode } from '../exit-code.ts'
import { fileName, readRecordingsOf, unusable, withFiles, writeResult } from '../recording-input.ts'
import { addRedactionOptions, redactionOf } from '../redaction-options.ts'
import type { RedactionFlags } from '../redaction-options.ts'
import { counted } from '../report-text/quantities.ts'

export interface RedactCommandOptions extends RedactionFlags {
  /** Write nothing, say what would be taken out. */
  readonly check?: boolean
  readonly json?: boolean
  readonly inPlace?: boolean
  readonly output?: string
  readonly force?: boolean
}

/** `streamfold redact`: recordings without their secrets; with `check`, the secrets that are left, and exit 1 if there are any. */
export async function redactCommand(
  files: readonly string[],
  options: RedactCommandOptions,
  io: CommandIo,
): Promise<ExitCode> {
  const redaction = redactionOf(options, io.env)
  const misuse = 'misuse' in redaction ? redaction.misuse : misuseOf(files, options)
  if (misuse !== undefined || 'misuse' in redaction) {
    await io.stderr.write(`streamfold: ${misuse}\n`)
    return EXIT.usage
  }
  return withFiles(io, async () => {
    let exit: ExitCode = EXIT.wanted
    const found: { readonly file: string; readonly findings: readonly SecretFinding[] }[] = []
    for (const file of files) {
      const recordings = await readRecordingsOf(file, io)
      if (options.check === true) {
        found.push({ file, findings: recordings.flatMap((recording) => findSecrets(recording, redaction)) })
        continue
      }
      let text: string
      try {
        text = formatRecordings(recordings.map((recording) => redactRecording(recording, redaction)))
      } catch (error) {
        throw unusable(file, error)
      }
      const target = options.inPlace === true ? { output: file, force: true } : options
      await writeResult(text, target, io)
      const left = recordings.reduce((sum, recording) => sum + findSpelledSecrets(recording, redaction).length, 0)
      if (left > 0) {
        exit = EXIT.unwanted
        await io.stderr.write(
          `streamfold: ${fileName(file)}: ${counted(left, 'secret is', 'secrets are')} spelled over several events and not masked; don't share it\n`,
        )
      }
    }
    return options.check === true ? await tell(found, options.json === true, io) : exit
  })
}

function misuseOf(
  files: readonly string[],
  { check, inPlace, output, json }: RedactCommandOptions,
): string | undefined {
  if (check === true && (inPlace === true || output !== undefined))
    return '--check writes nothing; leave out --in-place and --output'
  if (json === true && check !== true) return '--json goes with --check'
  if (inPlace === true && output !== undefined) return '--in-place and --output exclude each other'
  if (inPlace === true && files.includes('-')) return 'standard input has no place to write back to'
  if (files.length > 1 && check !== true && inPlace !== true) return 'several files need --in-place or --check'
  return undefined
}

async function tell(
  found: readonly { readonly file: string; readonly findings: readonly SecretFinding[] }[],
  json: boolean,
  { stdout }: CommandIo,
): Promise<ExitCode> {
  const count = found.reduce((sum, { findings }) => sum + findings.length, 0)
  if (json) await stdout.write(`${JSON.stringify({ schema: 'streamfold/secrets@1', files: found }, null, 2)}\n`)
  else {
    for (const { file, findings } of found) {
      for (const { line, where, kind, offset, length } of findings) {
        const at = offset === undefined ? '' : ` at byte ${offset}`
        await stdout.write(`${fileName(file)}: line ${line}: ${where}${at}: ${kind}, ${counted(length, 'byte')}\n`)
      }
    }
    await stdout.write(
      count === 0 ? 'no secrets found\n' : `${counted(count, 'secret')} found; streamfold redact masks them\n`,
    )
  }
  return count === 0 ? EXIT.wanted : EXIT.unwanted
}

/** Puts the command into a program. */
export function addRedactCommand(program: Command, io: CommandIo, done: (exit: ExitCode) => void): void {
  const command = program
    .command('redact')
    .description('takes secrets out of recordings; lengths, offsets and faults stay')
    .argument('<file...>', 'recordings; - is standard input')
    .option('--check', 'write nothing; exit 1 if a secret is left')
    .option('--json', 'with --check: findings as one JSON document')
    .option('--in-place', 'write the files back')
    .option('-o, --output <file>', 'write it there, for its owner only; .gz compresses')
    .option('--force', 'write over a file that exists')
  addRedactionOptions(command)
    .addHelpText(
      'after',
      '\nExit codes: 0 done, 1 a secret is left, 2 usage, 3 unreadable input, 5 internal error, 130 interrupted.',
    )
    .action(async (files: readonly string[], flags: RedactCommandOptions) => {
      done(await redactCommand(files, flags, io))
    })
}
