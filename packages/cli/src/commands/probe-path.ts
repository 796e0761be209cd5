import type { Command } from 'commander'
import { DEFAULT_SCHEDULE, probePath, startPathSource } from '@streamfold/recording'
import type { PathDocument, PathSource } from '@streamfold/recording'
import { clip } from 'streamfold/json'
import type { CommandIo } from '../command-io.ts'
import { EXIT } from '../exit-code.ts'
import type { ExitCode } from '../exit-code.ts'
import { isHttpUrl } from '../http-url.ts'
import { portOption, positiveIntegerOption, wholeNumberOption } from '../integer-option.ts'
import { listenFailure } from '../listen-failure.ts'
import { ProgressLine } from '../progress-line.ts'
import { counted } from '../report-text/quantities.ts'
import { themeOf } from '../report-text/theme.ts'

export interface ProbePathCommandOptions {
  readonly host?: string
  readonly port?: number
  readonly events?: number
  /** Milliseconds between two events. */
  readonly interval?: number
  /** Milliseconds of silence before the last event. */
  readonly idle?: number
  /** False: no headers that ask hops not to buffer. */
  readonly hints?: boolean
  readonly json?: boolean
}

/** `streamfold probe-path`: what the hop at `url` does to a stream; without a URL the source is asked itself. */
export async function probePathCommand(
  url: string | undefined,
  options: ProbePathCommandOptions,
  io: CommandIo,
): Promise<ExitCode> {
  if (url !== undefined && !isHttpUrl(url)) {
    await io.stderr.write(`streamfold: "${clip(url, 100)}" is no http(s) URL\n`)
    return EXIT.usage
  }
  const schedule = {
    ...DEFAULT_SCHEDULE,
    ...(options.events !== undefined && { events: options.events }),
    ...(options.interval !== undefined && { intervalMs: options.interval }),
    ...(options.idle !== undefined && { idleMs: options.idle }),
  }
  let source: PathSource
  try {
    source = await startPathSource({
      schedule,
      ...(options.host !== undefined && { host: options.host }),
      ...(options.port !== undefined && { port: options.port }),
      ...(options.hints !== undefined && { hints: options.hints }),
    })
  } catch (error) {
    const failure = listenFailure(error, '--port or --host')
    if (failure === undefined) throw error
    await io.stderr.write(`streamfold: ${failure}\n`)
    return EXIT.usage
  }
  const progress = new ProgressLine(io)
  try {
    const lengthMs = schedule.events * schedule.intervalMs + schedule.idleMs
    await io.stderr.write(`source at ${source.url}; this takes about ${Math.ceil(lengthMs / 1000)} s\n`)
    progress.show('listening to what arrives')
    const document = await probePath({ url: url ?? source.url, source, schedule, signal: io.signal })
    await progress.clear()
    await io.stdout.write(options.json === true ? `${JSON.stringify(document, null, 2)}\n` : textOf(document, io))
    if (document.verdicts.some(({ code }) => code === 'unreachable')) return EXIT.endpoint
    return document.ok ? EXIT.wanted : EXIT.unwanted
  } catch (error) {
    await progress.clear()
    if (io.signal.aborted) return EXIT.interrupted
    if (!(error instanceof TypeError)) throw error
    await io.stderr.write(`streamfold: ${error.message}\n`)
    return EXIT.usage
  } finally {
    await source.close()
  }
}

function textOf({ url, ok, verdicts, numbers, headers }: PathDocument, io: CommandIo): string {
  const { marks, paint } = themeOf(io.stdout, io.env)
  const lines = verdicts.flatMap(({ code, detail, hint }) => {
    const good = code === 'pass_through' || code === 'adds_latency'
    return [
      `${good ? paint('green', marks.pass) : paint('red', marks.fail)} ${code.replaceAll('_', ' ')}: ${detail}`,
      `  ${hint}`,
    ]
  })
  const { eventsSent, eventsReceived, reads, delayMs, heldMs, end } = numbers
  const shown = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  return [
    `${ok ? 'as sent' : 'not as sent'}  ${url}`,
    ...lines,
    `  ${eventsReceived} of ${eventsSent} events in ${counted(reads, 'read')}; delay ${delayMs ?? '-'} ms, held up to ${heldMs ?? '-'} ms; end ${end}`,
    ...(shown.length > 0 ? [`  ${shown.join('; ')}`] : []),
    '',
  ].join('\n')
}

/** Puts the command into a program. */
export function addProbePathCommand(program: Command, io: CommandIo, done: (exit: ExitCode) => void): void {
  program
    .command('probe-path')
    .description('proves what a proxy does to a stream, with a reference source that it forwards to')
    .argument('[url]', 'the proxy, configured to forward to the source; without it the source is asked itself')
    .option('--port <n>', 'port of the source; any free one where absent', portOption)
    .option('--host <address>', 'address that the source listens on (127.0.0.1)')
    .option('--events <n>', `events of the schedule (${DEFAULT_SCHEDULE.events})`, positiveIntegerOption)
    .option('--interval <ms>', `time between two events (${DEFAULT_SCHEDULE.intervalMs})`, positiveIntegerOption)
    .option('--idle <ms>', `silence before the last event (${DEFAULT_SCHEDULE.idleMs})`, wholeNumberOption)
    .option('--no-hints', 'leave out the headers that ask hops not to buffer')
    .option('--json', 'the result as a JSON document')
    .addHelpText(
      'after',
      '\nExit codes: 0 as sent, 1 held back, cut or changed, 2 usage, 4 the path does not lead to the source, 5 internal error,\n130 interrupted.',
    )
    .action(async (url: string | undefined, flags: ProbePathCommandOptions) => {
      done(await probePathCommand(url, flags, io))
    })
}
