import { diffRecordings } from '@streamfold/recording'
import type { FirstDifference, RecordingDiff } from '@streamfold/recording'
import { Option } from 'commander'
import type { Command } from 'commander'
import { APIS } from 'streamfold'
import type { Api } from 'streamfold'
import type { Recording } from 'streamfold/recording'
import type { CommandIo } from '../command-io.ts'
import { EXIT } from '../exit-code.ts'
import type { ExitCode } from '../exit-code.ts'
import { fileName, readOneRecording, unusable, withFiles } from '../recording-input.ts'
import { counted } from '../report-text/quantities.ts'
import { themeOf } from '../report-text/theme.ts'
import type { Theme } from '../report-text/theme.ts'

export interface DiffCommandOptions {
  readonly api?: Api
  readonly json?: boolean
}

interface Hop {
  readonly entry: string
  readonly upstream: string
  readonly diff: RecordingDiff
}

/**
 * `streamfold diff`: what each hop did to a stream. The files are recordings of the same exchange, from the client's side to
 * the upstream's; each is compared with the next. Exit 1 where anything but times differs.
 */
export function diffCommand(
  files: readonly string[],
  { api, json }: DiffCommandOptions,
  io: CommandIo,
): Promise<ExitCode> {
  return withFiles(io, async () => {
    if (files.length < 2 || files.filter((file) => file === '-').length > 1) {
      await io.stderr.write(
        'streamfold: diff takes two files or more, from the client to the upstream, standard input (-) once\n',
      )
      return EXIT.usage
    }
    const recordings: Recording[] = []
    for (const file of files) recordings.push(await readOneRecording(file, io))
    const hops: Hop[] = []
    recordings.slice(1).forEach((upstream, index) => {
      const [entry, name, next] = [recordings[index]!, files[index]!, files[index + 1]!]
      try {
        hops.push({
          entry: name,
          upstream: next,
          diff: diffRecordings(entry, upstream, api === undefined ? {} : { api }),
        })
      } catch (error) {
        throw unusable(`${name}, ${next}`, error)
      }
    })
    if (json === true) {
      const documents = hops.map(({ entry, upstream, diff }) => ({ entry, upstream, ...diff }))
      await io.stdout.write(`${JSON.stringify({ schema: 'streamfold/diff@1', hops: documents }, null, 2)}\n`)
    } else {
      const theme = themeOf(io.stdout, io.env)
      await io.stdout.write(hops.map((hop) => `${hopText(hop, theme).join('\n')}\n`).join('\n'))
    }
    return hops.every(({ diff }) => diff.same) ? EXIT.wanted : EXIT.unwanted
  })
}

function hopText({ entry, upstream, diff }: Hop, { marks }: Theme): readonly string[] {
  const { same, sameMeaning, first, changes, outcome, timing } = diff
  const between = `between ${fileName(entry)} (entry) and ${fileName(upstream)} (upstream)`
  const verdict = same
    ? 'the same bytes'
    : sameMeaning
      ? `different bytes, the same calls and outcome (${outcome.entry ?? 'open'})`
      : outcome.upstream === outcome.entry
        ? `other calls, the same outcome (${outcome.entry ?? 'open'})`
        : `not the same: ${outcome.upstream ?? 'open'} became ${outcome.entry ?? 'open'}`
  const lines = [`${same ? marks.pass : marks.fail} ${verdict} ${between}`]
  for (const { code, message, count, event, offset } of changes) {
    const place = [
      count === undefined || count === 1 ? '' : `${count} times`,
      event === undefined ? '' : `event ${event}`,
      offset === undefined ? '' : `byte ${offset}`,
    ].filter((part) => part !== '')
    lines.push(`  ${code}: ${message}${place.length === 0 ? '' : ` (${place.join(', ')})`}`)
  }
  for (const [layer, difference] of Object.entries(first) as readonly (readonly [string, FirstDifference | null])[]) {
    if (difference === null) continue
    lines.push(
      `  first ${layer} ${difference.at}`,
      `    upstream ${difference.upstream ?? '(nothing)'}`,
      `    entry    ${difference.entry ?? '(nothing)'}`,
    )
  }
  if (timing !== null) {
    const { verdict: arrival, delayMs, reads } = timing
    lines.push(
      `  times: ${arrival}; events come ${ms(delayMs.median)} ms later (${ms(delayMs.min)} to ${ms(delayMs.max)}), in ${counted(reads.entry, 'read')} instead of ${reads.upstream}`,
    )
  }
  return lines
}

function ms(value: number): string {
  return value.toFixed(1)
}

/** Puts the command into a program. */
export function addDiffCommand(program: Command, io: CommandIo, done: (exit: ExitCode) => void): void {
  program
    .command('diff')
    .description('says what a hop did to a stream: entry-side recording first, then the upstream-side one')
    .argument('<file...>', 'recordings or bare bodies of the same exchange, from the client to the upstream')
    .addOption(new Option('--api <name>', 'wire format; detected where absent').choices(APIS))
    .option('--json', 'one JSON document')
    .addHelpText(
      'after',
      '\nExit codes: 0 the same bytes, head and end, 1 not the same, 2 usage, 3 unreadable input, 5 internal error, 130 interrupted.',
    )
    .action(async (files: readonly string[], flags: DiffCommandOptions) => {
      done(await diffCommand(files, flags, io))
    })
}
