import {
  BASELINE_APIS,
  folderSinks,
  proxyEnvironment,
  recordBaseline,
  recordOutput,
  runCommand,
  startRecordingProxy,
} from '@streamfold/recording'
import type { CommandResult, RecordedExchange, RecordingProxyOptions } from '@streamfold/recording'
import { Option } from 'commander'
import type { Command } from 'commander'
import type { StreamReport } from 'streamfold'
import { clip } from 'streamfold/json'
import type { CommandIo } from '../command-io.ts'
import { EXIT, isWanted } from '../exit-code.ts'
import type { ExitCode } from '../exit-code.ts'
import { isHttpUrl } from '../http-url.ts'
import { interrupted } from '../interrupted.ts'
import { firstSet, keyVariables } from '../key-variables.ts'
import { listenFailure } from '../listen-failure.ts'
import { messageOf } from '../message-of.ts'
import type { Output } from '../output.ts'
import { InputError } from '../read-input.ts'
import { addRedactionOptions, redactionOf } from '../redaction-options.ts'
import type { RedactionFlags } from '../redaction-options.ts'
import { repeatedOption } from '../repeated-option.ts'
import { counted } from '../report-text/quantities.ts'
import { unreleasedCalls } from '../report-text/reservation.ts'
import { inspectFile } from './inspect.ts'

export interface RecordCommandOptions extends RedactionFlags {
  readonly to?: string
  /** `PORT`, `:PORT` or `HOST:PORT`. */
  readonly listen?: string
  readonly out?: string
  readonly requestBody?: boolean
  readonly api?: string
  readonly label?: readonly string[]
  readonly baseline?: boolean
  readonly model?: string
  readonly apiKeyEnv?: string
  readonly json?: boolean
  /** Run with its requests going through the recorder or, without `to`, with its output recorded. */
  readonly command?: readonly string[]
}

const DEFAULT_FOLDER = 'recordings'
const UNREACHABLE = /^(?:E[A-Z]+|UND_ERR_[A-Z_]+|CERT_|DEPTH_|SELF_SIGNED|UNABLE_TO)/

type Recorder = Pick<RecordingProxyOptions, 'sink' | 'by' | 'redaction' | 'labels' | 'onRecorded'> & {
  readonly api?: string
}

/**
 * `streamfold record`: a reverse proxy that records until it is interrupted; or a command whose requests go through it, or whose
 * output is recorded; or one baseline request. Addresses, and files of a baseline, are on standard output; each recording is told
 * on standard error.
 */
export async function recordCommand(options: RecordCommandOptions, io: CommandIo): Promise<ExitCode> {
  const redaction = redactionOf(options, io.env)
  const misuse = 'misuse' in redaction ? redaction.misuse : misuseOf(options)
  if (misuse !== undefined || 'misuse' in redaction) return refuse(misuse ?? '', io)
  const folder = options.out ?? DEFAULT_FOLDER
  const labels = labelsOf(options.label ?? [])
  const told: Promise<void>[] = []
  let recorder: Recorder
  try {
    recorder = {
      sink: folderSinks(folder),
      by: 'streamfold record',
      redaction,
      ...(labels !== undefined && { labels }),
      ...(options.api !== undefined && { api: options.api }),
      onRecorded: (exchange) => void told.push(io.stderr.write(`streamfold: ${summaryOf(exchange)}\n`)),
    }
  } catch (error) {
    return refuse(`${clip(folder, 200)}: ${messageOf(error)}`, io)
  }
  try {
    return await run(options, recorder, folder, io)
  } catch (error) {
    const failure = listenFailure(error, '--listen')
    if (failure === undefined) throw error
    return await refuse(failure, io)
  } finally {
    await Promise.all(told)
  }
}

async function run(
  options: RecordCommandOptions,
  recorder: Recorder,
  folder: string,
  io: CommandIo,
): Promise<ExitCode> {
  const { to, command = [], requestBody = false } = options
  if (options.baseline === true) return await baseline(options, recorder, io)
  if (to === undefined) {
    const [stdout, stderr] = [copyTo(io.stdout), copyTo(io.stderr)]
    const running = { env: io.env, signal: io.signal, onStdout: stdout.take, onStderr: stderr.take }
    const result = await recordOutput(command, recorder, running)
    await Promise.all([stdout.written(), stderr.written()])
    return await exitOf(result, command, io)
  }
  const { host, port } = listenOf(options.listen)!
  const proxy = await startRecordingProxy({ ...recorder, to, requestBody, ...(host !== undefined && { host }), port })
  try {
    await banner(options, folder, host, io)
    if (command.length === 0) {
      await io.stdout.write(
        options.json === true
          ? `${JSON.stringify({ schema: 'streamfold/record@1', url: proxy.url, out: folder })}\n`
          : `${proxy.url}\n`,
      )
      await interrupted(io.signal)
      return EXIT.interrupted
    }
    const env = {
      ...io.env,
      ...proxyEnvironment(proxy.url, new URL(to)),
      NO_PROXY: [io.env['NO_PROXY'], '127.0.0.1'].filter(Boolean).join(','),
    }
    const [stdout, stderr] = [copyTo(io.stdout), copyTo(io.stderr)]
    // A terminal is handed through, so that the command sees one.
    const handedThrough = io.stdout.stream === process.stdout
    const result = await runCommand(command, {
      env,
      signal: io.signal,
      ...(!handedThrough && { onStdout: stdout.take, onStderr: stderr.take }),
    })
    await Promise.all([stdout.written(), stderr.written()])
    return await exitOf(result, command, io)
  } finally {
    await proxy.close()
  }
}

async function baseline(options: RecordCommandOptions, recorder: Recorder, io: CommandIo): Promise<ExitCode> {
  const { to = '', model = '', api = 'chat_completions', apiKeyEnv } = options
  const apiKey = firstSet(keyVariables(api, apiKeyEnv), io.env)?.value
  const exchange = await recordBaseline({
    ...recorder,
    to,
    model,
    api,
    signal: io.signal,
    ...(apiKey !== undefined && { apiKey }),
  })
  recorder.onRecorded?.(exchange)
  if (io.signal.aborted) return EXIT.interrupted
  const { file, status, kind, code = '' } = exchange
  let report: StreamReport | undefined
  try {
    if (file !== undefined) [report] = await inspectFile(file, io)
  } catch (error) {
    if (!(error instanceof InputError)) throw error
    return await refuse(`${clip(file ?? '', 200)}: ${error.message}`, io)
  }
  const outcome = report?.outcome ?? null
  const error = report?.error ?? null
  const missing = error === null && report !== undefined && isWanted(outcome, false) ? missingCallIn(report) : undefined
  // Why the exit code says "not as wanted", in words.
  const reason = error === null ? (missing ?? null) : `${error.code}: ${clip(error.message, 200)}`
  await io.stdout.write(
    options.json === true
      ? `${JSON.stringify({ schema: 'streamfold/record@1', ...exchange, outcome, error, reason }, null, 2)}\n`
      : `${file ?? ''}\n`,
  )
  const why = reason === null ? '' : error === null ? `, but not as wanted: ${reason}` : ` (${reason})`
  await io.stderr.write(`streamfold: ${outcome ?? 'open'}${why}\n`)
  const refused =
    status === 401 || status === 403 || (status === undefined && kind !== 'complete' && UNREACHABLE.test(code))
  return refused ? EXIT.endpoint : isWanted(outcome, false) && missing === undefined ? EXIT.wanted : EXIT.unwanted
}

/** Why an answer that ended well is none to the baseline request, which asks for one call by name; undefined for one that is. */
function missingCallIn(report: StreamReport): string | undefined {
  const [held] = unreleasedCalls(report)
  if (held !== undefined) {
    const reason = held.message === undefined ? held.code : `${held.code}: ${held.message}`
    return `the call of ${clip(held.name ?? 'a tool without a name', 60)} is not released (${clip(reason ?? '', 200)})`
  }
  const released = report.choices.some(({ toolCalls }) => toolCalls.some(({ code }) => code === null))
  return released ? undefined : 'a tool was asked for by name, and no call came'
}

/** What is about to be written where: recording what people say to a model is no small thing. */
async function banner(
  { requestBody, to }: RecordCommandOptions,
  folder: string,
  host: string | undefined,
  { stderr }: CommandIo,
): Promise<void> {
  const bodies = requestBody === true ? 'with request bodies, redacted' : 'without request bodies'
  await stderr.write(
    `streamfold: recording what goes to ${clip(to ?? '', 200)}, ${bodies}, into ${clip(folder, 200)}/ (for your eyes only; keep it out of version control)\n`,
  )
  if (host !== undefined && !isLoopback(host)) {
    await stderr.write(
      `streamfold: warning: listening on ${clip(host, 100)}: everyone who reaches it can use this proxy\n`,
    )
  }
}

/** `POST https://… 200, 18233 bytes in 143 reads, complete: FILE`. */
function summaryOf({ method, url, status, bytes, reads, kind, code, file, failure }: RecordedExchange): string {
  const end = code === undefined ? kind : `${kind} (${code})`
  const where = failure === undefined ? (file ?? '') : `not written: ${failure}`
  // A command's output need not come from anywhere.
  const asked = url === '' ? method : `${method} ${url}`
  return clip(
    `${asked} ${status ?? 'no response'}, ${counted(bytes, 'byte')} in ${counted(reads, 'read')}, ${end}: ${where}`,
    600,
  )
}

function misuseOf({
  to,
  command = [],
  listen,
  baseline: asked,
  model,
  api,
  label = [],
  requestBody,
  json,
}: RecordCommandOptions): string | undefined {
  if (asked === true) {
    if (to === undefined || model === undefined) return '--baseline needs --to URL and --model NAME'
    if (command.length > 0 || listen !== undefined)
      return '--baseline sends its one request by itself; leave out --listen and the command'
    if (api !== undefined && !BASELINE_APIS.includes(api))
      return `there is no baseline request for "${clip(api, 40)}"; there is one for ${BASELINE_APIS.join(', ')}`
  } else if (model !== undefined) return '--model goes with --baseline'
  else if (to === undefined && command.length === 0)
    return 'record needs --to URL, where requests go, or -- COMMAND, whose output is recorded'
  if (to !== undefined && !isHttpUrl(to)) return `--to: "${clip(to, 100)}" is no http(s) URL`
  if (to === undefined && (listen !== undefined || requestBody === true))
    return '--listen and --request-body go with --to'
  if (listenOf(listen) === undefined) return '--listen takes PORT, :PORT or HOST:PORT'
  if (json === true && command.length > 0) return '--json and a command would share standard output'
  return labelsOf(label) === undefined && label.length > 0 ? '--label takes NAME=VALUE' : undefined
}

function listenOf(text = '0'): { readonly host?: string; readonly port: number } | undefined {
  const [, host, digits] = /^(?:(\[[0-9a-f:]+\]|[^:[\]]*):)?(\d{1,5})$/i.exec(text) ?? []
  const port = Number(digits)
  if (digits === undefined || port > 65_535) return undefined
  return host === undefined || host === '' ? { port } : { host: host.replace(/^\[|\]$/g, ''), port }
}

function labelsOf(labels: readonly string[]): Readonly<Record<string, string>> | undefined {
  if (labels.length === 0) return undefined
  const pairs = labels.map((label) => /^([^=]+)=(.*)$/s.exec(label))
  return pairs.includes(null) ? undefined : Object.fromEntries(pairs.map((pair) => [pair![1]!, pair![2]!] as const))
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || host.startsWith('127.')
}

async function exitOf(
  { exitCode, notStarted }: CommandResult,
  command: readonly string[],
  io: CommandIo,
): Promise<ExitCode> {
  if (io.signal.aborted) return EXIT.interrupted
  if (exitCode === 0) return EXIT.wanted
  if (notStarted !== undefined) return await refuse(`${clip(command[0] ?? '', 200)}: ${notStarted}`, io)
  await io.stderr.write(`streamfold: the command ended with exit code ${exitCode}\n`)
  return EXIT.unwanted
}

async function refuse(reason: string, { stderr }: CommandIo): Promise<ExitCode> {
  await stderr.write(`streamfold: ${reason}\n`)
  return EXIT.usage
}

/** Hands on what a command writes, in order; a failure is told at the end, for the command must not be held up. */
function copyTo(output: Output): { readonly take: (bytes: Uint8Array) => void; readonly written: () => Promise<void> } {
  let last = Promise.resolve()
  return {
    take: (bytes) => {
      const before = last
      last = before.then(() => output.write(bytes))
      last.catch(() => {})
    },
    written: () => last,
  }
}

const HELP = `
Exit codes: 0 the command, or the baseline's answer, ended as wanted, 1 it did not, 2 usage, 4 the endpoint of the baseline
can't be reached or refuses the key, 5 internal error, 130 interrupted (that is how the proxy ends).`

/** Puts the command into a program. */
export function addRecordCommand(program: Command, io: CommandIo, done: (exit: ExitCode) => void): void {
  const command = program
    .command('record')
    .description('records what an API streams: as a proxy, around a command, or one baseline request')
    .argument(
      '[command...]',
      'after --: a command whose requests go through the recorder or, without --to, whose output is recorded',
    )
    .option('--to <url>', 'where requests go: the base URL of the API')
    .option('--listen <address>', 'PORT, :PORT or HOST:PORT to listen on; any free port of 127.0.0.1 where absent')
    .option('--out <folder>', `where recordings go (${DEFAULT_FOLDER})`)
    .option('--request-body', 'record request bodies too, redacted')
    .option('--api <name>', 'wire format, written into the recording')
    .option('--label <name=value>', 'written into the recording; repeat it for each', repeatedOption)
    .option('--baseline', 'send one small request with a pure tool, and record the answer')
    .option('--model <name>', 'model of the baseline request')
    .addOption(new Option('--api-key-env <name>', 'environment variable with the key of the baseline request'))
    .option('--json', 'what is said on standard output as a JSON document')
  addRedactionOptions(command)
    .addHelpText('after', HELP)
    .action(async (words: readonly string[], flags: RecordCommandOptions) => {
      done(await recordCommand({ ...flags, command: words }, io))
    })
}
