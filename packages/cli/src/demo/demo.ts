import { chatCompletions, createStreamEngine, streamResponse } from 'streamfold'
import type { StreamEngine } from 'streamfold'
import { clip } from 'streamfold/json'
import type { CommandIo } from '../command-io.ts'
import { EXIT, isWanted } from '../exit-code.ts'
import type { ExitCode } from '../exit-code.ts'
import { counted } from '../report-text/quantities.ts'
import { reportText } from '../report-text/report-text.ts'
import { themeOf } from '../report-text/theme.ts'
import { ENDPOINT_TOOLS, endpointHint, endpointOf, requestBody } from './endpoint.ts'
import type { Endpoint } from './endpoint.ts'
import { LiveView } from './live-view.ts'
import { startSampleServer } from './sample-server.ts'
import { describeCuts, SAMPLE_TOOLS, sampleWrites } from './sample-stream.ts'

/** What `npm start` shows: a stream while it comes, its calls, and the verdict. No call is executed. */
export async function runDemo(io: CommandIo): Promise<ExitCode> {
  const endpoint = endpointOf(io.env)
  if (typeof endpoint === 'string') {
    await io.stderr.write(`streamfold: ${endpoint}\n`)
    return EXIT.usage
  }
  return endpoint === undefined ? await showSample(io) : await showEndpoint(endpoint, io)
}

async function showSample(io: CommandIo): Promise<ExitCode> {
  const writes = sampleWrites()
  const server = await startSampleServer(writes)
  try {
    await io.stdout.write(
      `A sample stream from ${server.baseUrl}, cut as networks cut:\n${describeCuts(writes)}.\n` +
        'For a real one set STREAMFOLD_BASE_URL, STREAMFOLD_API_KEY and STREAMFOLD_MODEL.\n\n',
    )
    return await show({ baseUrl: server.baseUrl, apiKey: 'sample', model: 'demo-1' }, SAMPLE_TOOLS, io)
  } finally {
    server.close()
  }
}

async function showEndpoint(endpoint: Endpoint, io: CommandIo): Promise<ExitCode> {
  await io.stdout.write(`${endpoint.model} at ${endpoint.baseUrl}, asked for a sentence and two calls.\n\n`)
  return show(endpoint, ENDPOINT_TOOLS, io)
}

async function show(endpoint: Endpoint, tools: readonly string[], io: CommandIo): Promise<ExitCode> {
  const theme = themeOf(io.stdout, io.env)
  const view = new LiveView(io.stdout, theme)
  const engine = createStreamEngine({
    adapter: chatCompletions(),
    request: { tools, usage: true },
    // Servers that hold the response head back until the first token are common.
    timeouts: { connectMs: 60_000 },
  })
  let reads = 0
  let unreachable: string | undefined
  const request = async (signal: AbortSignal): Promise<Response> => {
    try {
      return watched(await post(endpoint, signal), () => reads++)
    } catch (error) {
      if (!signal.aborted) unreachable = reasonOf(error)
      throw error
    }
  }
  for await (const event of streamResponse(engine, request, { signal: io.signal })) {
    await view.event(event)
  }
  await view.end()
  if (io.signal.aborted) return EXIT.interrupted
  return conclude(engine, endpoint, { reads, unreachable, theme }, io)
}

interface Observed {
  readonly reads: number
  readonly unreachable: string | undefined
  readonly theme: ReturnType<typeof themeOf>
}

async function conclude(
  engine: StreamEngine,
  endpoint: Endpoint,
  { reads, unreachable, theme }: Observed,
  io: CommandIo,
): Promise<ExitCode> {
  // Where nothing came, a report has nothing to add to the hint.
  if (unreachable !== undefined) {
    await tellHint(endpointHint(undefined, unreachable), endpoint, io)
    return EXIT.endpoint
  }
  const report = engine.report({ kind: 'live', url: `${endpoint.baseUrl}/chat/completions` })
  const wanted = isWanted(report.outcome, false)
  const calls = report.choices.flatMap(({ toolCalls }) => toolCalls)
  const released = calls.filter(({ code }) => code === null).length
  await io.stdout.write(withoutKey(reportText(report, { theme, wanted, compact: true }), endpoint.apiKey))
  const fate =
    calls.length === 0
      ? 'No call came.'
      : `${released} of ${counted(calls.length, 'call')} released; they are shown, never executed.`
  await io.stdout.write(`\nThe body came in ${counted(reads, 'read')}. ${fate}\n`)
  await tellHint(endpointHint(report.error?.status, undefined), endpoint, io)
  if (wanted) return EXIT.wanted
  const refused = report.error?.status === 401 || report.error?.status === 403
  return refused ? EXIT.endpoint : EXIT.unwanted
}

async function tellHint(hint: string | undefined, { apiKey }: Endpoint, { stderr }: CommandIo): Promise<void> {
  if (hint !== undefined) await stderr.write(`streamfold: ${clip(withoutKey(hint, apiKey), 300)}\n`)
}

function post({ baseUrl, apiKey, model }: Endpoint, signal: AbortSignal): Promise<Response> {
  return fetch(`${baseUrl}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'text/event-stream', authorization: `Bearer ${apiKey}` },
    body: requestBody(model),
    signal,
  })
}

function watched(response: Response, onRead: () => void): Response {
  const counter = new TransformStream<Uint8Array, Uint8Array>({
    transform(bytes, controller) {
      onRead()
      controller.enqueue(bytes)
    },
  })
  const { status, headers } = response
  return new Response(response.body?.pipeThrough(counter) ?? null, { status, headers })
}

/** `fetch` says only that it failed; its cause says why. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error
  if (cause instanceof Error && 'code' in cause && typeof cause.code === 'string') return cause.code
  return cause instanceof Error ? cause.message : String(cause)
}

/** Servers like to quote the key that they refuse. */
function withoutKey(text: string, apiKey: string): string {
  return apiKey.length < 8 ? text : text.replaceAll(apiKey, '[key]')
}
