import { readFile } from 'node:fs/promises'
import { Option } from 'commander'
import type { Command } from 'commander'
import {
  CAPABILITIES,
  CAPABILITIES_SCHEMA,
  driftOf,
  probe,
  PROBED_APIS,
  unreadableReason,
  withClaims,
} from '@streamfold/recording'
import type { CapabilityRecord, CapabilityState, Claims, Drift } from '@streamfold/recording'
import type { Api } from 'streamfold'
import { clip } from 'streamfold/json'
import type { CommandIo } from '../command-io.ts'
import { EXIT } from '../exit-code.ts'
import type { ExitCode } from '../exit-code.ts'
import { isHttpUrl } from '../http-url.ts'
import { positiveIntegerOption } from '../integer-option.ts'
import { firstSet, keyVariables } from '../key-variables.ts'
import { ProgressLine } from '../progress-line.ts'
import { counted } from '../report-text/quantities.ts'
import { themeOf } from '../report-text/theme.ts'
import { writeBeside } from '../write-beside.ts'

export interface ProbeCommandOptions {
  readonly model: string
  readonly api?: Api
  /** Name of the environment variable that holds the key. */
  readonly keyEnv?: string
  readonly repeat?: number
  readonly budget?: number
  readonly timeout?: number
  /** Folder for the recordings. */
  readonly record?: string
  readonly out?: string
  /** An earlier record. */
  readonly against?: string
  /** A JSON file of claims, by capability. */
  readonly claims?: string
  readonly format?: 'text' | 'json' | 'markdown'
}

/** A file given on the command line that can't be used. */
class UnreadableFile extends Error {}

/** `streamfold probe`: what an endpoint can do, with evidence. Exit 1 for drift or a claim that is contradicted. */
export async function probeCommand(url: string, options: ProbeCommandOptions, io: CommandIo): Promise<ExitCode> {
  if (!isHttpUrl(url)) {
    await io.stderr.write(`streamfold: "${clip(url, 100)}" is no http(s) URL\n`)
    return EXIT.usage
  }
  const { api = 'chat_completions', model, format = 'text' } = options
  const apiKey = firstSet(keyVariables(api, options.keyEnv), io.env)?.value
  const progress = new ProgressLine(io)
  let record: CapabilityRecord
  let before: CapabilityRecord | undefined
  try {
    before = options.against === undefined ? undefined : await readRecord(options.against)
    const claims = options.claims === undefined ? {} : await readClaims(options.claims)
    record = withClaims(
      await probe({
        url,
        api,
        model,
        signal: io.signal,
        onProgress: ({ sent, total, kind }) => progress.bar(sent, total, kind),
        ...(apiKey !== undefined && { apiKey }),
        ...(options.repeat !== undefined && { repeat: options.repeat }),
        ...(options.budget !== undefined && { budget: options.budget }),
        ...(options.timeout !== undefined && { timeoutMs: options.timeout }),
        ...(options.record !== undefined && { record: options.record }),
      }),
      claims,
    )
  } catch (error) {
    await progress.clear()
    if (io.signal.aborted) return EXIT.interrupted
    if (!(error instanceof TypeError) && !(error instanceof UnreadableFile)) throw error
    await io.stderr.write(`streamfold: ${error.message}\n`)
    return error instanceof UnreadableFile ? EXIT.unreadableInput : EXIT.usage
  }
  await progress.clear()
  const drift = before === undefined ? [] : driftOf(before, record)
  const { out } = options
  const written = out === undefined || (await writeBeside(out, `${JSON.stringify(record, null, 2)}\n`, io))
  const shown = { record, drift, compared: before?.measuredAt }
  if (format === 'json')
    await io.stdout.write(`${JSON.stringify(before === undefined ? record : { ...record, drift }, null, 2)}\n`)
  else await io.stdout.write(format === 'markdown' ? markdownOf(shown) : textOf(shown, io))
  if (record.stopped?.code === 'unreachable' || record.stopped?.code === 'no_access') {
    await io.stderr.write(`streamfold: ${record.stopped.message}\n`)
    return EXIT.endpoint
  }
  if (!written) return EXIT.usage
  const contradicted = CAPABILITIES.some((name) => record.capabilities[name].claim?.status === 'contradicted')
  return drift.length > 0 || contradicted ? EXIT.unwanted : EXIT.wanted
}

interface Shown {
  readonly record: CapabilityRecord
  readonly drift: readonly Drift[]
  /** When the earlier record was measured. */
  readonly compared: string | undefined
}

function textOf({ record, drift, compared }: Shown, io: CommandIo): string {
  const { paint } = themeOf(io.stdout, io.env)
  const colours = { yes: 'green', partial: 'yellow', no: 'red', unknown: 'gray' } as const
  const { endpoint, api, model, measuredAt, repeat, requests, stopped, profile } = record
  const rows = CAPABILITIES.map((name) => {
    const { state, detail, evidence, claim } = record.capabilities[name]
    const said = claim === undefined ? '' : `  [claimed ${claim.state}: ${claim.status}]`
    const shownEvidence =
      evidence.length === 0 ? '' : `  (${evidence[0]}${evidence.length > 1 ? `, +${evidence.length - 1}` : ''})`
    return `  ${name.padEnd(22)} ${paint(colours[state], state.padEnd(8))} ${detail}${said}${shownEvidence}`
  })
  return [
    `${endpoint}  ${api}  ${model}  ${measuredAt}`,
    ...rows,
    `  ${requests.sent} of ${counted(requests.allowed, 'request')}, ${counted(repeat, 'round')}${stopped === undefined ? '' : `; stopped: ${stopped.message}`}`,
    ...(Object.keys(profile).length > 0 ? [`  profile ${JSON.stringify(profile)}`] : []),
    ...(compared === undefined ? [] : [driftText(drift, compared)]),
    '',
  ].join('\n')
}

function driftText(drift: readonly Drift[], compared: string): string {
  if (drift.length === 0) return `  no drift since ${compared}`
  return drift
    .map(({ capability, before, after }) => `  drift since ${compared}: ${capability} ${before} -> ${after}`)
    .join('\n')
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ')
}

function markdownOf({ record, drift, compared }: Shown): string {
  const { endpoint, api, model, measuredAt } = record
  const rows = CAPABILITIES.map((name) => {
    const { state, detail, claim, evidence } = record.capabilities[name]
    const claimed = claim === undefined ? '' : ` (claimed ${claim.state}: ${claim.status})`
    return `| ${name} | ${state}${claimed} | ${cell(detail)} | ${cell(evidence.join(', '))} |`
  })
  return [
    `${endpoint} · ${api} · ${model} · ${measuredAt}`,
    '',
    '| capability | state | seen | evidence |',
    '| --- | --- | --- | --- |',
    ...rows,
    ...(compared === undefined ? [] : ['', driftText(drift, compared).trim()]),
    '',
  ].join('\n')
}

async function readRecord(file: string): Promise<CapabilityRecord> {
  const document = (await readJson(file)) as Partial<CapabilityRecord>
  if (document.schema !== CAPABILITIES_SCHEMA || document.capabilities === undefined) {
    throw new UnreadableFile(`${file}: it is no ${CAPABILITIES_SCHEMA}`)
  }
  return document as CapabilityRecord
}

async function readClaims(file: string): Promise<Claims> {
  const document = await readJson(file)
  const known: readonly string[] = CAPABILITIES
  const states: readonly string[] = ['yes', 'partial', 'no', 'unknown'] satisfies CapabilityState[]
  for (const [name, state] of Object.entries(document)) {
    if (!known.includes(name))
      throw new UnreadableFile(`${file}: "${name}" is no capability; known are ${known.join(', ')}`)
    if (!states.includes(String(state)))
      throw new UnreadableFile(`${file}: "${name}" must be one of ${states.join(', ')}`)
  }
  return document
}

async function readJson(file: string): Promise<object> {
  try {
    const document: unknown = JSON.parse(await readFile(file, 'utf8'))
    if (typeof document === 'object' && document !== null) return document
    throw new Error('it is no JSON object')
  } catch (error) {
    throw new UnreadableFile(`${clip(file, 200)}: ${unreadableReason(error)}`)
  }
}

/** Puts the command into a program. */
export function addProbeCommand(program: Command, io: CommandIo, done: (exit: ExitCode) => void): void {
  program
    .command('probe')
    .description('measures what an endpoint can do: streaming, tools, ends, errors, usage')
    .argument('<url>', 'base URL, as a client is given it: https://api.example.com/v1')
    .requiredOption('--model <name>', 'model to ask')
    .addOption(new Option('--api <name>', 'wire format (chat_completions)').choices(PROBED_APIS))
    .option('--key-env <name>', 'environment variable that holds the key (OPENAI_API_KEY and the like, by API)')
    .option('--repeat <n>', 'rounds; what differs between them is partial (3)', positiveIntegerOption)
    .option('--budget <n>', 'requests at most (20)', positiveIntegerOption)
    .option('--timeout <ms>', 'for each request (60000)', positiveIntegerOption)
    .option('--record <folder>', 'keep the recordings of all requests there, as evidence')
    .option('--out <file>', 'write the capability record there')
    .option('--against <file>', 'compare with an earlier capability record; exit 1 when something has changed')
    .option('--claims <file>', 'JSON of capability to yes, partial or no: what is claimed of the endpoint')
    .addOption(new Option('--json', 'the record as a JSON document').conflicts('markdown'))
    .option('--markdown', 'a table for an issue')
    .addHelpText(
      'after',
      '\nExit codes: 0 measured, 1 drift or a contradicted claim, 2 usage, 3 unreadable input, 4 endpoint unreachable or no access,\n5 internal error, 130 interrupted.',
    )
    .action(
      async (url: string, { json, markdown, ...flags }: ProbeCommandOptions & { json?: true; markdown?: true }) => {
        done(await probeCommand(url, { ...flags, format: json ? 'json' : markdown ? 'markdown' : 'text' }, io))
      },
    )
}
