import { readFileSync } from 'node:fs'
import { Command, CommanderError, Option } from 'commander'
import { APIS } from 'streamfold'
import type { Api, Policy } from 'streamfold'
import type { CommandIo } from './command-io.ts'
import { addChatCommand } from './commands/chat.ts'
import { addDiffCommand } from './commands/diff.ts'
import { addDoctorCommand } from './commands/doctor.ts'
import { addExportCommand } from './commands/export.ts'
import { addImportCommand } from './commands/import.ts'
import { inspectCommand } from './commands/inspect.ts'
import { addLedgerCommand } from './commands/ledger.ts'
import { addMinimizeCommand } from './commands/minimize.ts'
import { addProbeCommand } from './commands/probe.ts'
import { addProbePathCommand } from './commands/probe-path.ts'
import { addRecordCommand } from './commands/record.ts'
import { addRedactCommand } from './commands/redact.ts'
import { addReplayCommand } from './commands/replay.ts'
import { addVerifyCommand } from './commands/verify.ts'
import { EXIT } from './exit-code.ts'
import type { ExitCode } from './exit-code.ts'
import { positiveIntegerOption } from './integer-option.ts'
import { readProfileOption } from './profile-option.ts'
import { repeatedOption } from './repeated-option.ts'
import { reportBug } from './report-bug.ts'

interface InspectFlags {
  readonly api?: Api
  readonly json?: true
  readonly jsonl?: true
  readonly log?: true
  readonly upstream?: string
  readonly notExecuted?: true
  readonly strict?: true
  readonly policy?: Policy
  readonly profile?: string
  readonly maxTokens?: number
  readonly n?: number
  readonly tool?: readonly string[]
}

/** Runs the command line in `args`, the program's own name left off, and gives the exit code. Never rejects. */
export async function runProgram(args: readonly string[], io: CommandIo): Promise<ExitCode> {
  let exit: ExitCode = EXIT.wanted
  const texts: { readonly to: 'stdout' | 'stderr'; readonly text: string }[] = []
  const program = new Command('streamfold')
    .description('Says what is in a streamed model response, and what may be acted on.')
    .version(version())
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void texts.push({ to: 'stdout', text }),
      writeErr: (text) => void texts.push({ to: 'stderr', text }),
      outputError: (text, write) => write(text.replace(/^error: /, 'streamfold: ')),
    })
    // Subcommands take it over only when they are created after it.
    .showHelpAfterError('for example: streamfold inspect body.sse (--help tells more)')
  program
    .command('inspect')
    .description('verdict, outcome, calls and findings of recorded streams')
    .argument(
      '<file...>',
      'bare bodies (.sse, .ndjson, .json, .eventstream), recordings (.stream.jsonl), or what import takes without --from; - is standard input',
    )
    .addOption(new Option('--api <name>', 'wire format; detected where absent').choices(APIS))
    .addOption(new Option('--json', 'one report as a JSON document').conflicts(['jsonl', 'log']))
    .addOption(new Option('--jsonl', 'one report per line, in file order').conflicts('log'))
    .option('--log', 'one line per stream without any content, for a log')
    .option('--upstream <file>', 'the same exchange on the other side of a hop: says which side is to blame')
    .option('--not-executed', 'no call was run although the stream was good: says where to look')
    .option('--strict', 'exit 0 for the outcome "completed" only')
    .addOption(
      new Option('--policy <name>', 'strict: a hole in the evidence fails the stream').choices(['compat', 'strict']),
    )
    .option('--profile <name>', 'what the server does differently: a built-in name, or a JSON file')
    .option('--max-tokens <n>', 'output token limit of the request', positiveIntegerOption)
    .option('--n <n>', 'choices that the request asked for', positiveIntegerOption)
    .option('--tool <name>', 'a tool that the request declared; repeat it for each', repeatedOption)
    .addHelpText('after', HELP)
    .action(async (files: readonly string[], flags: InspectFlags) => {
      const { profile } = flags
      const chosen = profile === undefined ? undefined : await readProfileOption(profile)
      if (chosen !== undefined && 'misuse' in chosen) {
        exit = EXIT.usage
        await io.stderr.write(`streamfold: ${chosen.misuse}\n`)
      } else exit = await inspectCommand(files, { ...chosen, ...inspectOptions(flags) }, io)
    })
  const added = [
    addRecordCommand,
    addImportCommand,
    addExportCommand,
    addRedactCommand,
    addDiffCommand,
    addReplayCommand,
    addVerifyCommand,
    addMinimizeCommand,
    addProbeCommand,
    addProbePathCommand,
    addChatCommand,
    addLedgerCommand,
    addDoctorCommand,
  ]
  for (const add of added) add(program, io, (code) => (exit = code))
  for (const command of program.commands) if (command.name() !== 'inspect') pointToHelp(command, 'streamfold')
  try {
    await program.parseAsync(args, { from: 'user' }).catch((error: unknown) => {
      if (!(error instanceof CommanderError)) throw error
      exit = error.exitCode === 0 ? EXIT.wanted : EXIT.usage
    })
    for (const { to, text } of texts) await io[to].write(text)
    return exit
  } catch (error) {
    return await reportBug(error, io)
  }
}

/** A mistake in the words of a command is put right by its own help. */
function pointToHelp(command: Command, parent: string): void {
  const path = `${parent} ${command.name()}`
  command.showHelpAfterError(`${path} --help tells more`)
  for (const child of command.commands) pointToHelp(child, path)
}

const HELP = `
Exit codes: 0 as wanted (completed, degraded, empty; --strict: completed), 1 not as wanted, 2 usage,
3 unreadable input, 5 internal error, 130 interrupted. With several files, the worst.`

function inspectOptions({
  api,
  json,
  jsonl,
  log,
  upstream,
  notExecuted,
  strict,
  policy,
  maxTokens,
  n,
  tool,
}: InspectFlags): Parameters<typeof inspectCommand>[1] {
  return {
    format: json ? 'json' : jsonl ? 'jsonl' : log ? 'log' : 'text',
    notExecuted: notExecuted ?? false,
    ...(upstream !== undefined && { upstream }),
    strict: strict ?? false,
    request: {
      ...(n !== undefined && { n }),
      ...(maxTokens !== undefined && { maxOutputTokens: maxTokens }),
      ...(tool !== undefined && { tools: tool }),
    },
    ...(api !== undefined && { api }),
    ...(policy !== undefined && { policy }),
  }
}

function version(): string {
  const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
    readonly version: string
  }
  return manifest.version
}
