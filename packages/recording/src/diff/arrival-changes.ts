import type { Recording } from 'streamfold/recording'
import type { BodyShape } from './body-shape.ts'

/** What a hop did to the times; they never make two recordings different. */
export interface ArrivalComparison {
  /** Events that are the same on both sides. */
  readonly events: number
  /** Entry minus upstream, each since its own request, in milliseconds. */
  readonly delayMs: { readonly min: number; readonly median: number; readonly max: number }
  /** Reads that brought events. */
  readonly reads: { readonly entry: number; readonly upstream: number }
  /**
   * - `pass_through`: nothing to speak of.
   * - `delayed`: all events come later by about the same time.
   * - `uneven`: some are held up more than others.
   * - `joined`: events that came one by one come together.
   * - `buffered_until_end`: what came over time comes at once, when it is over.
   */
  readonly verdict: 'pass_through' | 'delayed' | 'uneven' | 'joined' | 'buffered_until_end'
}

/** Delays below this are the network's. */
const NOTABLE_US = 100_000
/** A stream that is shorter can't be told from one that came at once. */
const MIN_SPAN_US = 300_000
const FEW = 4

/** Undefined where a side has no times, or nothing is the same on both. */
export function compareArrivals(
  [entry, upstream]: readonly [Recording, Recording],
  [ours, theirs]: readonly [BodyShape, BodyShape],
  pairs: readonly (readonly [number, number])[],
): ArrivalComparison | undefined {
  if (entry.head.timing === 'none' || upstream.head.timing === 'none' || pairs.length === 0) return undefined
  const times = pairs.map(([a, b]) => [ours.events[a]!.atUs, theirs.events[b]!.atUs] as const)
  const delays = times.map(([a, b]) => a - b).toSorted((a, b) => a - b)
  const [min, median, max] = [delays[0]!, delays[Math.floor(delays.length / 2)]!, delays.at(-1)!]
  const reads = {
    entry: new Set(times.map(([a]) => a)).size,
    upstream: new Set(times.map(([, b]) => b)).size,
  }
  const span = (side: 0 | 1): number => times.at(-1)![side] - times[0]![side]
  return {
    events: pairs.length,
    delayMs: { min: min / 1000, median: median / 1000, max: max / 1000 },
    reads,
    verdict: verdictOf({
      min,
      max,
      reads,
      ours: span(0),
      theirs: span(1),
      lastDelay: times.at(-1)![0] - times.at(-1)![1],
    }),
  }
}

interface Facts {
  readonly min: number
  readonly max: number
  readonly reads: ArrivalComparison['reads']
  readonly ours: number
  readonly theirs: number
  readonly lastDelay: number
}

function verdictOf({ min, max, reads, ours, theirs, lastDelay }: Facts): ArrivalComparison['verdict'] {
  if (theirs >= MIN_SPAN_US && ours <= theirs / 10 && lastDelay < max) return 'buffered_until_end'
  if (reads.upstream >= FEW && reads.entry * 2 <= reads.upstream) return 'joined'
  if (max - min >= NOTABLE_US) return 'uneven'
  return min >= NOTABLE_US ? 'delayed' : 'pass_through'
}
