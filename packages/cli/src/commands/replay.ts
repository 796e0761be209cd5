import { stat } from 'node:fs/promises'
import { basename } from 'node:path'
import { Option } from 'commander'
import type { Command } from 'commander'
import {
  FAULTS,
  parseCutPlan,
  parseFaults,
  parseTiming,
  readSamples,
  ReplaySyntaxError,
  SampleError,
  startReplayServer,
} from '@streamfold/recording'
import type { NamedRecording, ReplayServer, ServedReplay } from '@streamfold/recording'
import { APIS } from 'streamfold'
import type { Api } from 'streamfold'
import { RecordingError } from 'streamfold/recording'
import type { CommandIo } from '../command-io.ts'
import { EXIT } from '../exit-code.ts'
import type { ExitCode } from '../exit-code.ts'
import { portOption, wholeNumberOption } from '../integer-option.ts'
import { interrupted } from '../interrupted.ts'
import { listenFailure } from '../listen-failure.ts'

export interface ReplayCommandOptions {
  readonly host?: string
  readonly port?: number
  readonly plan?: string
  readonly timing?: string
  readonly fault?: string
  readonly seed?: number
  readonly api?: Api
  readonly strict?: boolean
  readonly json?: boolean
}

/** `streamfold replay`: serves recordings until it is interrupted. The address is on standard output, requests on standard error. */
export async function replayCommand(
  paths: readonly string[],
  options: ReplayCommandOptions,
  io: CommandIo,
): Promise<ExitCode> {
  let server: ReplayServer
  try {
    const apis = new Map<unknown, Api>()
    const recordings: NamedRecording[] = []
    for (const path of paths) {
      const folder = (await stat(path).catch(() => undefined))?.isDirectory() === true
      for (const { name, file, recording, api } of readSamples([path])) {
        recordings.push({ name: folder ? name : basename(file), recording })
        apis.set(recording, options.api ?? api)
      }
    }
    if (recordings.length === 0) throw new SampleError(paths.join(', '), 'no recording is in there')
    server = await startReplayServer({
      recordings,
      apiOf: (recording) => apis.get(recording),
      onRequest: (served) => void io.stderr.write(`${lineOf(served)}\n`),
      ...(options.host !== undefined && { host: options.host }),
      ...(options.port !== undefined && { port: options.port }),
      ...(options.plan !== undefined && { plan: parseCutPlan(options.plan) }),
      ...(options.timing !== undefined && { timing: parseTiming(options.timing) }),
      ...(options.fault !== undefined && { faults: parseFaults(options.fault) }),
      ...(options.seed !== undefined && { seed: options.seed }),
      ...(options.strict !== undefined && { strict: options.strict }),
    })
  } catch (error) {
    return await refuse(error, io)
  }
  const { url } = server
  await io.stdout.write(
    options.json === true ? `${JSON.stringify({ schema: 'streamfold/replay@1', url })}\n` : `${url}\n`,
  )
  await interrupted(io.signal)
  await server.close()
  return EXIT.interrupted
}

/** `POST /v1/chat/completions  cut.sse  plan byte  fault cut@50%`. */
function lineOf({ method, target, status, message, recording, plan, faults = [], missed = [] }: ServedReplay): string {
  const asked = `${method} ${target}`
  if (message !== undefined) return `${asked}  ${status}  ${message}`
  const parts = [asked, recording ?? '', ...(plan === 'recorded' ? [] : [`plan ${plan}`])]
  if (faults.length > 0) parts.push(`fault ${faults.join('+')}`)
  if (missed.length > 0) parts.push(`not done: ${missed.join('; ')}`)
  return parts.join('  ')
}

async function refuse(error: unknown, { stderr }: CommandIo): Promise<ExitCode> {
  if (error instanceof ReplaySyntaxError) {
    await stderr.write(`streamfold: ${error.message}\n`)
    return EXIT.usage
  }
  if (error instanceof SampleError || error instanceof RecordingError) {
    await stderr.write(`streamfold: ${error.message}\n`)
    return EXIT.unreadableInput
  }
  const failure = listenFailure(error, '--port or --host')
  if (failure === undefined) throw error
  await stderr.write(`streamfold: ${failure}\n`)
  return EXIT.usage
}

/** Puts the command into a program. */
export function addReplayCommand(program: Command, io: CommandIo, done: (exit: ExitCode) => void): void {
  program
    .command('replay')
    .description('serves recordings over HTTP on this machine, with their timing, cut as you like, with faults')
    .argument('<path...>', 'recordings, bare bodies, or folders of them')
    .option('--port <n>', 'port to listen on; any free one where absent', portOption)
    .option('--host <address>', 'address to listen on (127.0.0.1)')
    .option('--plan <plan>', 'where bodies are cut: recorded, whole, event, byte, size:N, at:OFFSET,…, random:SEED')
    .option('--timing <timing>', 'original, none, x4, fixed:20ms or cap:500ms')
    .option('--fault <faults>', 'NAME[:ARGUMENT,…][@PLACE][@p:PROBABILITY], several joined with +')
    .option('--seed <n>', 'for faults with a probability', wholeNumberOption)
    .addOption(new Option('--api <name>', 'wire format; detected where absent').choices(APIS))
    .option('--strict', 'answer only requests like the recorded ones')
    .option('--json', 'the address as a JSON document')
    .addHelpText('after', () => HELP())
    .action(async (paths: readonly string[], flags: ReplayCommandOptions) => {
      done(await replayCommand(paths, flags, io))
    })
}

const HELP = (): string => `
Faults:
${[...FAULTS.values()].map(({ name, usage, about }) => `  ${`${name}${usage === undefined ? '' : `:${usage}`}`.padEnd(34)} ${about}`).join('\n')}

Places: @137 (byte), @50%, @event:3, @call:0.2 (fragment 2 of call 0), @time:1.5s.
A request may ask for its own: x-streamfold-recording, -plan, -timing, -fault, -seed.

Exit codes: 130 interrupted (that is how it ends), 2 usage, 3 unreadable input, 5 internal error.`
