import { judgePath } from './judge-path.ts'
import type { PathDocument } from './path-document.ts'
import { observe } from './observe.ts'
import type { PathSource } from './path-source.ts'
import { DEFAULT_SCHEDULE } from './schedule.ts'
import type { PathSchedule } from './schedule.ts'

export interface ProbePathOptions {
  /** Address of the hop that is in doubt; it forwards to the source. */
  readonly url: string
  /** The source that the hop points at, with the same schedule. */
  readonly source: PathSource
  /** Default {@link DEFAULT_SCHEDULE}. */
  readonly schedule?: PathSchedule
  readonly signal?: AbortSignal
}

/** Silence beyond that of the schedule after which nothing more is expected. */
const PATIENCE_MS = 10_000

/**
 * Proves what a hop does to a stream: asks it for the schedule of the source, and compares when and what arrives with when and what was
 * sent. Source and observer share a clock, so nothing is guessed.
 *
 * @throws TypeError for a URL that is none
 */
export async function probePath(options: ProbePathOptions): Promise<PathDocument> {
  const { source, schedule = DEFAULT_SCHEDULE, signal } = options
  const url = new URL(options.url)
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw new TypeError(`${options.url} is no http(s) URL`)
  const before = source.runs.length
  const lengthMs = schedule.events * schedule.intervalMs + schedule.idleMs
  const seen = await observe({ url, patienceMs: lengthMs + PATIENCE_MS, ...(signal !== undefined && { signal }) })
  return judgePath(options.url, schedule, source.runs[before], seen)
}
