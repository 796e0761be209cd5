import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { listen } from '../listen.ts'
import type { ListenAddress } from '../listen.ts'
import { blocksOf } from './schedule.ts'
import type { PathSchedule, ScheduledBlock } from './schedule.ts'

/** One block as it left the source. */
export interface SentBlock extends ScheduledBlock {
  /** `performance.now()` of this process. */
  readonly sentMs: number
}

/** One request as the source saw it. */
export interface SourceRun {
  readonly requestedMs: number
  readonly httpVersion: string
  readonly sent: SentBlock[]
  /** The other side closed before the source was done, and when. */
  brokenMs?: number
  done: boolean
}

export interface PathSource {
  readonly url: string
  /** Runs in the order of their requests. */
  readonly runs: readonly SourceRun[]
  close(): Promise<void>
}

export interface PathSourceOptions extends ListenAddress {
  readonly schedule: PathSchedule
  /** Says to hops that they should not hold back or change anything. Default true; false shows a hop's own defaults. */
  readonly hints?: boolean
}

/** A reference source of server-sent events: any request gets the schedule. Point the hop that is in doubt at it. */
export async function startPathSource(options: PathSourceOptions): Promise<PathSource> {
  const { hints = true } = options
  const blocks = blocksOf(options.schedule)
  const runs: SourceRun[] = []
  const server = createServer((request, response) => {
    request.resume()
    void play(request, response, blocks, runs, hints)
  })
  return {
    url: `${await listen(server, options)}/`,
    runs,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

async function play(
  request: IncomingMessage,
  response: ServerResponse,
  blocks: readonly ScheduledBlock[],
  runs: SourceRun[],
  hints: boolean,
): Promise<void> {
  const run: SourceRun = { requestedMs: performance.now(), httpVersion: request.httpVersion, sent: [], done: false }
  runs.push(run)
  const gone = new AbortController()
  response.on('error', () => gone.abort())
  response.on('close', () => {
    if (!run.done) run.brokenMs = performance.now()
    gone.abort()
  })
  response.socket?.setNoDelay(true)
  response.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    ...(hints && { 'cache-control': 'no-cache, no-transform', 'x-accel-buffering': 'no' }),
  })
  response.flushHeaders()
  try {
    for (const block of blocks) {
      const ms = run.requestedMs + block.atMs - performance.now()
      if (ms >= 1) await pause(ms, undefined, { signal: gone.signal })
      if (gone.signal.aborted) return
      run.sent.push({ ...block, sentMs: performance.now() })
      response.write(block.bytes)
    }
    run.done = true
    response.end()
  } catch (error) {
    if (!gone.signal.aborted) throw error
  }
}
