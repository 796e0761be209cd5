import { createServer } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { RecordingError } from 'streamfold/recording'
import type { Api } from 'streamfold'
import type { HeaderPair, Recording } from 'streamfold/recording'
import type { FaultedScript } from '../faults/apply-faults.ts'
import { parseFaults } from '../faults/fault-spec.ts'
import { listen } from '../listen.ts'
import type { ListenAddress } from '../listen.ts'
import { RecordingChooser } from './choose-recording.ts'
import type { NamedRecording } from './choose-recording.ts'
import { cutPlanText, parseCutPlan } from './cut-plan.ts'
import { prepareReplay } from './prepare.ts'
import type { ReplayOptions } from './prepare.ts'
import { wholeNumber } from './quantity.ts'
import { ReplaySyntaxError } from './replay-syntax-error.ts'
import type { ReplayScript } from './replay-script.ts'
import { sendScript } from './send-script.ts'
import { parseTiming } from './timing.ts'

export interface ReplayServerOptions extends Omit<ReplayOptions, 'api'>, ListenAddress {
  readonly recordings: readonly NamedRecording[]
  /** Wire format of a recording that does not name its own; faults in its JSON need it. */
  readonly apiOf?: (recording: Recording) => Api | undefined
  /** Only a request like the recorded one is answered; any other gets 404 and the reason. */
  readonly strict?: boolean
  /** Told of each request when its answer begins. */
  readonly onRequest?: (served: ServedReplay) => void
}

/** One request and what was sent back. */
export interface ServedReplay {
  readonly method: string
  readonly target: string
  /** 200 means that a recording was played, whatever status that has; else why not, as an HTTP status. */
  readonly status: number
  readonly message?: string
  readonly recording?: string
  readonly plan?: string
  readonly faults?: readonly string[]
  /** Faults that could not be made of the recording, each with its reason. */
  readonly missed?: readonly string[]
}

export interface ReplayServer {
  /** `http://127.0.0.1:PORT`. */
  readonly url: string
  /** Closes all connections, also those of streams that stay open. */
  close(): Promise<void>
}

/** Largest request body that is read. */
const MOST_REQUEST_BYTES = 64 * 1024 * 1024

/**
 * Serves recordings over real HTTP/1.1, on this machine unless a host is named. A request may ask for its own replay by header:
 * `x-streamfold-recording` (name or id), `-plan`, `-timing`, `-fault` and `-seed`, each as the flag of the same name. Responses say
 * what was done in `x-streamfold-recording`, `-plan`, `-reads`, `-fault`, `-fault-ids` and `-fault-missed`.
 *
 * @throws RecordingError `body_encoded`, before anything is served
 * @throws ReplaySyntaxError for a fault that is not known, likewise
 */
export async function startReplayServer(options: ReplayServerOptions): Promise<ReplayServer> {
  for (const { recording } of options.recordings) prepareReplay(recording, withApi(options, recording))
  const chooser = new RecordingChooser(options.recordings, options.strict ?? false)
  return await listenAt(options, (request) => serve(request, chooser, options))
}

/** Sends one script to every request, whatever it asks for. */
export async function serveScript(script: ReplayScript): Promise<ReplayServer> {
  return await listenAt({}, async (request) => {
    const startedAt = performance.now()
    await readBody(request)
    await sendScript(request.socket, script, { startedAt, http10: request.httpVersion === '1.0', headers: [] })
  })
}

async function listenAt(
  address: ListenAddress,
  answer: (request: IncomingMessage) => Promise<void>,
): Promise<ReplayServer> {
  const server = createServer((request) => {
    // What a client's hang-up breaks is nobody's concern any more.
    answer(request).catch(() => request.socket.destroy())
  })
  return {
    url: await listen(server, address),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

async function serve(request: IncomingMessage, chooser: RecordingChooser, options: ReplayServerOptions): Promise<void> {
  const startedAt = performance.now()
  const { method = 'GET', url: target = '/' } = request
  let answered = false
  try {
    const body = await readBody(request)
    const choice = chooser.choose({ method, target, body, wanted: headerOf(request, 'recording') })
    if (choice.found === undefined) {
      throw new Refusal(404, `no recording answers ${method} ${target}: ${choice.reasons.join('; ')}`)
    }
    const { name, recording } = choice.found
    const asked = askedFor(request, withApi(options, recording))
    const prepared = prepareReplay(recording, asked)
    const plan = cutPlanText(asked.plan ?? { kind: 'recorded' })
    options.onRequest?.({
      method,
      target,
      status: 200,
      recording: name,
      plan,
      faults: prepared.applied.map(({ text }) => text),
      missed: prepared.missed.map(({ text, reason }) => `${text}: ${reason}`),
    })
    answered = true
    await sendScript(request.socket, prepared.script, {
      startedAt,
      http10: request.httpVersion === '1.0',
      headers: replayHeaders(name, plan, prepared),
    })
  } catch (error) {
    if (request.socket.destroyed) return
    // A head is out: another one behind it would be taken for a part of the body.
    if (answered) throw error
    const refusal =
      error instanceof Refusal
        ? error
        : new Refusal(
            error instanceof ReplaySyntaxError || error instanceof RecordingError ? 400 : 500,
            error instanceof Error ? error.message : String(error),
          )
    options.onRequest?.({ method, target, status: refusal.status, message: refusal.message })
    refuse(request, refusal)
  }
}

/** Why a request gets no replay. */
class Refusal extends Error {
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

function refuse({ socket }: IncomingMessage, { status, message }: Refusal): void {
  const body = Buffer.from(`${JSON.stringify({ error: { type: 'streamfold_replay', message } })}\n`)
  const reason = { 400: 'Bad Request', 404: 'Not Found', 413: 'Content Too Large' }[status] ?? 'Internal Server Error'
  const head = `HTTP/1.1 ${status} ${reason}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n`
  socket.end(Buffer.concat([Buffer.from(head), body]))
}

async function readBody(request: IncomingMessage): Promise<Uint8Array> {
  const reads: Uint8Array[] = []
  let length = 0
  for await (const read of request as AsyncIterable<Uint8Array>) {
    length += read.length
    if (length > MOST_REQUEST_BYTES) throw new Refusal(413, `the request body is over ${MOST_REQUEST_BYTES} bytes`)
    reads.push(read)
  }
  return Buffer.concat(reads)
}

function withApi(options: ReplayServerOptions, recording: Recording): ReplayOptions {
  return { ...options, api: options.apiOf?.(recording) }
}

/** What the flags say, unless the request says otherwise. */
function askedFor(request: IncomingMessage, options: ReplayOptions): ReplayOptions {
  const plan = headerOf(request, 'plan')
  const timing = headerOf(request, 'timing')
  const fault = headerOf(request, 'fault')
  const seed = headerOf(request, 'seed')
  return {
    ...options,
    ...(plan !== undefined && { plan: parseCutPlan(plan) }),
    ...(timing !== undefined && { timing: parseTiming(timing) }),
    ...(fault !== undefined && { faults: parseFaults(fault) }),
    ...(seed !== undefined && { seed: wholeNumber(seed, 'seed') }),
  }
}

function headerOf(request: IncomingMessage, name: string): string | undefined {
  const value = request.headers[`x-streamfold-${name}`]
  return Array.isArray(value) ? value.join('+') : value
}

function replayHeaders(name: string, plan: string, { script, applied, missed }: FaultedScript): readonly HeaderPair[] {
  const ids = [...new Set(applied.flatMap(({ faults }) => faults))]
  return [
    ['x-streamfold-recording', encodeURIComponent(name)],
    ['x-streamfold-plan', plan.length > 200 ? `${plan.slice(0, 200)}...` : plan],
    ['x-streamfold-reads', String(script.writes.length)],
    ...(applied.length === 0 ? [] : [['x-streamfold-fault', applied.map(({ text }) => text).join('+')] as const]),
    ...(ids.length === 0 ? [] : [['x-streamfold-fault-ids', ids.join(',')] as const]),
    ...(missed.length === 0
      ? []
      : [['x-streamfold-fault-missed', missed.map(({ text, reason }) => `${text}: ${reason}`).join('; ')] as const]),
  ]
}
