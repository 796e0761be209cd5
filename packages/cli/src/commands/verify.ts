import { availableParallelism } from 'node:os'
import { clip } from 'streamfold/json'
import type { Command } from 'commander'
import { failureText, junitOf, releaseChecklist, ReplaySyntaxError, SampleError, verify } from '@streamfold/recording'
import type { ChecklistDocument, VerifiedSample, VerifyDocument, VerifyOptions } from '@streamfold/recording'
import type { CommandIo } from '../command-io.ts'
import { EXIT } from '../exit-code.ts'
import type { ExitCode } from '../exit-code.ts'
import { positiveIntegerOption, wholeNumberOption } from '../integer-option.ts'
import { ProgressLine } from '../progress-line.ts'
import { shellWord } from '../shell-word.ts'
import { writeBeside } from '../write-beside.ts'
import { counted } from '../report-text/quantities.ts'
import { themeOf } from '../report-text/theme.ts'

export interface VerifyCommandOptions extends Omit<VerifyOptions, 'onProgress' | 'signal'> {
  readonly json?: boolean
  /** Answer the questions of a release from what is on disk; nothing is played. */
  readonly checklist?: boolean
  /** File for the JUnit document. */
  readonly junit?: string
}

/** `streamfold verify`: golden samples through cut plans and fault plans; exit 1 when something is not as expected. */
export async function verifyCommand(
  paths: readonly string[],
  { json, junit, checklist, ...options }: VerifyCommandOptions,
  io: CommandIo,
): Promise<ExitCode> {
  if (checklist === true) return await checklistCommand(paths, json === true, io)
  const progress = new ProgressLine(io)
  let document: VerifyDocument
  try {
    document = await verify(paths, {
      ...options,
      signal: io.signal,
      onProgress: ({ done, total, failed, name }) =>
        progress.bar(done, total, `${done}/${total}${failed > 0 ? `, ${failed} failed` : ''}  ${name}`),
    })
  } catch (error) {
    await progress.clear()
    if (io.signal.aborted) return EXIT.interrupted
    if (!(error instanceof SampleError) && !(error instanceof ReplaySyntaxError)) throw error
    await io.stderr.write(`streamfold: ${error.message}\n`)
    return error instanceof SampleError ? EXIT.unreadableInput : EXIT.usage
  }
  await progress.clear()
  // Nothing verified is nothing proven: a wrong path must not pass.
  if (document.totals.samples === 0) {
    await io.stderr.write(`streamfold: ${clip(paths.join(', '), 400)}: no sample is in there\n`)
    return EXIT.unreadableInput
  }
  const written = junit === undefined || (await writeBeside(junit, junitOf(document), io))
  await io.stdout.write(json === true ? `${JSON.stringify(document, null, 2)}\n` : textOf(document, io))
  if (!written) return EXIT.usage
  return document.ok ? EXIT.wanted : EXIT.unwanted
}

async function checklistCommand(paths: readonly string[], json: boolean, io: CommandIo): Promise<ExitCode> {
  let document: ChecklistDocument
  try {
    document = releaseChecklist(paths)
  } catch (error) {
    if (!(error instanceof SampleError)) throw error
    await io.stderr.write(`streamfold: ${error.message}\n`)
    return EXIT.unreadableInput
  }
  await io.stdout.write(json ? `${JSON.stringify(document, null, 2)}\n` : checklistText(document, io))
  return document.ok ? EXIT.wanted : EXIT.unwanted
}

const STATES = { shown: 'shown', in_part: 'in part', not_shown: 'not shown' } as const

function checklistText({ answers, unreadable }: ChecklistDocument, io: CommandIo): string {
  const { marks, warning, paint } = themeOf(io.stdout, io.env)
  const lines = answers.flatMap(({ question, state, evidence, missing }, i) => {
    const mark =
      state === 'shown'
        ? paint('green', marks.pass)
        : state === 'in_part'
          ? paint('yellow', warning)
          : paint('red', marks.fail)
    return [
      `${mark} ${i + 1}. ${question} ${STATES[state]}`,
      ...evidence.map(({ file, shows }) => `     ${clip(file, 200)}: ${clip(shows, 200)}`),
      ...missing.map((what) => `     missing: ${clip(what, 300)}`),
    ]
  })
  const shown = answers.filter(({ state }) => state === 'shown').length
  const unread = unreadable.length === 0 ? '' : `; ${counted(unreadable.length, 'file')} can't be read`
  return `${lines.join('\n')}\n${shown} of ${answers.length} shown${unread}\n`
}

function textOf(document: VerifyDocument, io: CommandIo): string {
  const { totals, samples, written } = document
  const { marks, warning, paint } = themeOf(io.stdout, io.env)
  const failed = samples.filter(({ failures }) => failures.length > 0)
  const blocks = failed.map((sample) => failureBlock(sample, paint('red', marks.fail)))
  const lines = [
    `${document.ok ? paint('green', marks.pass) : paint('red', marks.fail)} ${counted(totals.samples, 'sample')}, ${counted(totals.checks, 'check')}, ${totals.failed} failed`,
  ]
  if (totals.unexpected > 0) {
    lines.push(
      `${warning} ${counted(totals.unexpected, 'sample has', 'samples have')} no expected file yet: only cuts and faults were compared; --update writes it, for you to review`,
    )
  }
  if (totals.untold > 0) {
    lines.push(
      `${warning} ${counted(totals.untold, 'fault')} left no trace on the wire and led to other calls: no reader can prevent that`,
    )
  }
  if (totals.missed > 0) lines.push(`  ${counted(totals.missed, 'fault has', 'faults have')} no place in the sample`)
  if (written.length > 0)
    lines.push(
      `  written, for you to review: ${written.length > 5 ? `${written.slice(0, 5).join(', ')} and ${written.length - 5} more` : written.join(', ')}`,
    )
  return `${[...blocks, lines.join('\n')].join('\n\n')}\n`
}

/** Further failures of a sample mostly have the same cause. */
const SHOWN_FAILURES = 5

function failureBlock({ name, file, failures }: VerifiedSample, mark: string): string {
  const shown = failures.slice(0, SHOWN_FAILURES).map((failure) => indent(failureText(failure)))
  const more = failures.length > SHOWN_FAILURES ? [`  and ${failures.length - SHOWN_FAILURES} more`] : []
  const first = failures.find(({ plan, fault }) => plan !== undefined || fault !== undefined)
  const again =
    first &&
    `  see it again: streamfold replay ${shellWord(file)}${flag('plan', first.plan)}${flag('fault', first.fault)}`
  return [`${mark} ${name}`, ...shown, ...more, ...(again ? [again] : [])].join('\n')
}

function flag(name: string, value: string | undefined): string {
  return value === undefined ? '' : ` --${name} ${shellWord(value)}`
}

function indent(text: string): string {
  return text.replace(/^/gm, '  ')
}

/** Puts the command into a program. */
export function addVerifyCommand(program: Command, io: CommandIo, done: (exit: ExitCode) => void): void {
  program
    .command('verify')
    .description('plays golden samples through every cut and fault, and compares what comes out')
    .argument('<path...>', 'samples, or folders of them')
    .option('--plans <list>', 'every-byte, random:20, event, byte, size:N, at:N/N', 'every-byte,random:20')
    .option('--faults <list>', 'default, all, none, or fault plans separated by ;', 'default')
    .option('--seed <n>', 'for faults with a probability', wholeNumberOption)
    .option('--update', 'write what came out as what is expected, for a person to review')
    .option('--save <folder>', 'keep each failing cut and fault as a new sample there')
    .option('--workers <n>', 'threads (one for each processor)', positiveIntegerOption)
    .option('--json', 'the result as a JSON document')
    .option(
      '--checklist',
      'answer the ten questions of a release from what is in these files and folders; plays nothing',
    )
    .option('--junit <file>', 'the result as JUnit XML, too')
    .addHelpText(
      'after',
      '\nExit codes: 0 as expected, 1 not as expected, 2 usage, 3 unreadable input, 5 internal error, 130 interrupted.',
    )
    .action(async (paths: readonly string[], flags: VerifyCommandOptions) => {
      done(await verifyCommand(paths, { workers: availableParallelism(), ...flags }, io))
    })
}
