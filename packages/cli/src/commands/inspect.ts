import {
  foreignFormatOf,
  formatRecordings,
  ImportError,
  importRecordings,
  recordedBody,
  sha256Of,
} from '@streamfold/recording'
import { adapterFor, APIS, createStreamEngine, detectApi, OUTCOMES_WORST_FIRST } from 'streamfold'
import type { Api, Policy, ProviderProfile, RequestFacts, StreamEngine, StreamReport } from 'streamfold'
import { diagnose, logLineOf } from 'streamfold/engine'
import { clip } from 'streamfold/json'
import { looksLikeRecording, readRecordings, RecordingError, replayInto, requestFactsOf } from 'streamfold/recording'
import type { Recording } from 'streamfold/recording'
import type { CommandIo } from '../command-io.ts'
import { EXIT, isWanted, worse } from '../exit-code.ts'
import type { ExitCode } from '../exit-code.ts'
import { InputError, readInput } from '../read-input.ts'
import { fileName } from '../recording-input.ts'
import { reportText } from '../report-text/report-text.ts'
import { reservationOf } from '../report-text/reservation.ts'
import type { Reservation } from '../report-text/reservation.ts'
import { themeOf } from '../report-text/theme.ts'

export interface InspectOptions {
  /** Detected where absent. */
  readonly api?: Api
  readonly policy?: Policy
  /** What the server is known to do differently. */
  readonly profile?: ProviderProfile
  /** Facts of the request; each overrides what a recording tells. */
  readonly request?: RequestFacts
  /** Name of the input in the report. */
  readonly file?: string
  /** Told what a reader of the reports should know about the input itself. */
  readonly onNote?: (note: string) => void
}

export interface InspectCommandOptions extends Omit<InspectOptions, 'file' | 'onNote'> {
  /** `log`: the log line of each stream, which holds no content. */
  readonly format?: 'text' | 'json' | 'jsonl' | 'log'
  readonly strict?: boolean
  /** The same exchange, recorded on the other side of a hop. */
  readonly upstream?: string
  /** It is known that nothing ran the calls. */
  readonly notExecuted?: boolean
}

/**
 * The reports of one input: of a bare body, whatever its framing, or of each exchange of a recording.
 *
 * @throws RecordingError for a corrupt recording
 * @throws InputError for a wire format that this version can't read
 */
export function inspectBytes(bytes: Uint8Array, options: InspectOptions = {}): readonly StreamReport[] {
  if (looksLikeRecording(bytes) || isNamedLikeRecording(options.file)) {
    return readRecordings(bytes, { sha256: sha256Of }).map((recording) => inspectRecording(recording, options))
  }
  const engine = engineFor(options, options.api ?? readableApi(detectApi({ body: bytes })?.api), {})
  engine.push(bytes)
  engine.end('eof')
  return [engine.report({ kind: 'body', ...fileOf(options) })]
}

/** As {@link inspectBytes}, for a file by name, or standard input for `-`; what other tools saved is imported on the way. */
export async function inspectFile(
  file: string,
  io: CommandIo,
  options: InspectOptions = {},
): Promise<readonly StreamReport[]> {
  const bytes = await readInput(file, io)
  const named = { ...options, file }
  const foreign = isNamedLikeRecording(file) ? undefined : foreignFormatOf(bytes)
  if (foreign === undefined) return inspectBytes(bytes, named)
  options.onNote?.(`read as ${foreign}`)
  try {
    const { recordings } = await importRecordings(bytes)
    // Written and read once: an import is lines, and a recording is what was read.
    return inspectBytes(Buffer.from(formatRecordings(recordings)), named)
  } catch (error) {
    throw error instanceof ImportError ? new InputError(error.message) : error
  }
}

/** `streamfold inspect`: reports on standard output, in file order; gives the worst exit code of all inputs. */
export async function inspectCommand(
  files: readonly string[],
  options: InspectCommandOptions,
  io: CommandIo,
): Promise<ExitCode> {
  const { format = 'text', strict = false } = options
  const misuse = misuseOf(files, format, options.upstream)
  if (misuse !== undefined) {
    await io.stderr.write(`streamfold: ${misuse}\n`)
    return EXIT.usage
  }
  const theme = themeOf(io.stdout, io.env)
  let upstream: StreamReport | undefined
  try {
    upstream = options.upstream === undefined ? undefined : await upstreamReport(options.upstream, options, io)
  } catch (error) {
    if (io.signal.aborted) return EXIT.interrupted
    if (!(error instanceof InputError) && !(error instanceof RecordingError)) throw error
    await io.stderr.write(`streamfold: ${fileName(options.upstream!)}: ${error.message}\n`)
    return EXIT.unreadableInput
  }
  const evidence = {
    ...(upstream !== undefined && { upstream }),
    ...(options.notExecuted === true && { executions: [] }),
  }
  let exit: ExitCode = EXIT.wanted
  const outcomes: string[] = []
  const reservations: Reservation[] = []
  for (const file of files) {
    let reports: readonly StreamReport[]
    try {
      const notes: string[] = []
      reports = await inspectFile(file, io, { ...options, onNote: (note) => void notes.push(note) })
      for (const note of notes) await io.stderr.write(`streamfold: ${fileName(file)}: ${note}\n`)
    } catch (error) {
      if (io.signal.aborted) return EXIT.interrupted
      if (!(error instanceof InputError) && !(error instanceof RecordingError)) throw error
      await io.stderr.write(`streamfold: ${fileName(file)}: ${error.message}\n`)
      exit = worse(exit, EXIT.unreadableInput)
      continue
    }
    if (format === 'json' && reports.length > 1) {
      await io.stderr.write(
        `streamfold: ${fileName(file)} holds ${reports.length} exchanges, and --json gives one document; use --jsonl\n`,
      )
      return EXIT.usage
    }
    for (const report of reports) {
      const wanted = isWanted(report.outcome, strict)
      if (!wanted) exit = worse(exit, EXIT.unwanted)
      const text =
        format === 'text'
          ? reportText(report, { theme, wanted, hints: diagnose(report, evidence) })
          : format === 'log'
            ? jsonText({ file: fileName(file), ...logLineOf(report, { hash: sha256OfText }) })
            : jsonText(report, format)
      await io.stdout.write(format === 'text' && outcomes.length > 0 ? `\n${text}` : text)
      outcomes.push(report.outcome ?? 'open')
      const reservation = wanted ? reservationOf(report) : undefined
      if (reservation !== undefined) reservations.push(reservation)
    }
    if (io.signal.aborted) return EXIT.interrupted
    if (io.stdout.closed) break
  }
  if (format === 'text' && outcomes.length > 1) await io.stdout.write(`\n${summaryOf(outcomes, reservations)}\n`)
  return exit
}

/** `3 streams: 1 failed, 2 completed; 1 with calls not released`, the worst first. */
function summaryOf(outcomes: readonly string[], reservations: readonly Reservation[]): string {
  const counts = OUTCOMES_WORST_FIRST.map(
    (outcome) => [outcomes.filter((one) => one === outcome).length, outcome] as const,
  )
  const said = counts.filter(([count]) => count > 0).map(([count, outcome]) => `${count} ${outcome}`)
  const reserved = [...new Set(reservations)].map(
    (reservation) => `; ${reservations.filter((one) => one === reservation).length} with ${reservation}`,
  )
  return `${outcomes.length} streams: ${said.join(', ')}${reserved.join('')}`
}

function misuseOf(
  files: readonly string[],
  format: InspectCommandOptions['format'],
  upstream: string | undefined,
): string | undefined {
  if (format === 'json' && files.length > 1)
    return '--json gives one document and takes one file; use --jsonl for several'
  if ([...files, upstream].filter((file) => file === '-').length > 1) return 'standard input (-) can be read only once'
  if (upstream !== undefined && files.length > 1) return '--upstream is held against one file'
  return undefined
}

/** @throws InputError for a file with several exchanges */
async function upstreamReport(file: string, options: InspectCommandOptions, io: CommandIo): Promise<StreamReport> {
  const reports = await inspectFile(file, io, options)
  if (reports.length === 1) return reports[0]!
  throw new InputError(`holds ${reports.length} exchanges; --upstream takes a recording of one`)
}

function inspectRecording(recording: Recording, options: InspectOptions): StreamReport {
  const { head, request, end, tornLine } = recording
  if (tornLine !== undefined) options.onNote?.(`line ${tornLine} was cut off while it was written, and is left out`)
  if (end === undefined) {
    const at = `the recording that begins at line ${head.line} has no end line`
    options.onNote?.(`${at}: the recorder stopped before the stream did, so the stream counts as cut`)
  }
  const url = request?.url
  const api =
    options.api ??
    readableApi(head.api ?? detectApi({ body: recordedBody(recording), ...(url !== undefined && { url }) })?.api)
  const engine = engineFor(options, api, requestFactsOf(request))
  replayInto(engine, recording)
  return engine.report({ kind: 'recording', ...fileOf(options), ...(url !== undefined && { url }) })
}

function engineFor({ policy, profile, request }: InspectOptions, api: Api, recorded: RequestFacts): StreamEngine {
  return createStreamEngine({
    adapter: adapterFor(api, profile),
    request: { ...recorded, ...request },
    ...(policy !== undefined && { policy }),
  })
}

/** Where nothing tells, the most common format will say what is wrong with the body. */
function readableApi(detected: string | undefined): Api {
  const api = detected ?? 'chat_completions'
  if ((APIS as readonly string[]).includes(api)) return api as Api
  throw new InputError(
    `the format seems to be "${clip(api, 40)}", which this version can't read; it reads ${APIS.join(', ')} (--api NAME if the guess is wrong)`,
  )
}

/** A recording that lost its first line is still no bare body. */
function isNamedLikeRecording(file: string | undefined): boolean {
  return file !== undefined && /\.stream\.jsonl(?:\.gz)?$/.test(file)
}

function sha256OfText(text: string): string {
  return `sha256:${sha256Of([Buffer.from(text)])}`
}

function fileOf({ file }: InspectOptions): { readonly file?: string } {
  return file === undefined ? {} : { file }
}

/** Control characters that JSON allows raw are escaped all the same: a report may be looked at in a terminal. */
const TERMINAL_CONTROLS = /[\u007f-\u009f\u2028\u2029\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069]/g

function jsonText(document: object, format: 'json' | 'jsonl' = 'jsonl'): string {
  const json = format === 'json' ? JSON.stringify(document, null, 2) : JSON.stringify(document)
  return `${json.replace(TERMINAL_CONTROLS, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)}\n`
}
