import type { Attributes, Counter, Histogram, Meter, Tracer } from '@opentelemetry/api'
import {
  DUPLICATE_SUPPRESSED,
  DURATION_BUCKETS,
  INFERENCE_DURATION,
  INPUT_TOKENS,
  namesFor,
  OUTPUT_TOKENS,
  TIME_TO_FIRST_CHUNK,
  TOKEN_BUCKETS,
  TOKEN_USAGE,
  TOOL_CALL_STATE,
  TOOL_DURATION,
} from './names.ts'
import type { Semconv } from './names.ts'

/** What everything in this folder records with. */
export interface Instruments {
  readonly tracer: Tracer
  /** Seconds. */
  toolDuration(seconds: number, attributes: Attributes): void
  inferenceDuration(seconds: number, attributes: Attributes): void
  timeToFirstChunk(seconds: number, attributes: Attributes): void
  tokens(type: 'input' | 'output', count: number, attributes: Attributes): void
  callState(attributes: Attributes): void
  duplicateSuppressed(attributes: Attributes): void
  /** Milliseconds, monotonic. */
  now(): number
}

export function createInstruments(tracer: Tracer, meter: Meter, semconv: Semconv, now: () => number): Instruments {
  const histograms = new Map<string, Histogram>()
  const counters = new Map<string, Counter>()

  // Two conventions share some names, and an instrument is made once.
  const histogram = (name: string, unit: string, buckets: readonly number[]): Histogram => {
    let made = histograms.get(name)
    if (made === undefined) {
      made = meter.createHistogram(name, { unit, advice: { explicitBucketBoundaries: [...buckets] } })
      histograms.set(name, made)
    }
    return made
  }
  const counter = (name: string, unit: string): Counter => {
    let made = counters.get(name)
    if (made === undefined) {
      made = meter.createCounter(name, { unit })
      counters.set(name, made)
    }
    return made
  }
  const record = (names: typeof TOOL_DURATION, seconds: number, attributes: Attributes): void => {
    for (const name of namesFor(names, semconv)) histogram(name, 's', DURATION_BUCKETS).record(seconds, attributes)
  }

  return {
    tracer,
    now,
    toolDuration: (seconds, attributes) => record(TOOL_DURATION, seconds, attributes),
    inferenceDuration: (seconds, attributes) => record(INFERENCE_DURATION, seconds, attributes),
    timeToFirstChunk: (seconds, attributes) => record(TIME_TO_FIRST_CHUNK, seconds, attributes),
    tokens(type, count, attributes) {
      if (semconv !== 'latest') {
        const typed = { ...attributes, 'gen_ai.token.type': type }
        histogram(TOKEN_USAGE, '{token}', TOKEN_BUCKETS).record(count, typed)
      }
      if (semconv === '1.41') return
      const name = type === 'input' ? INPUT_TOKENS : OUTPUT_TOKENS
      counter(name, '{token}').add(count, { ...attributes, 'gen_ai.token.modality': 'unknown' })
    },
    callState: (attributes) => counter(TOOL_CALL_STATE, '{tool_call}').add(1, attributes),
    duplicateSuppressed: (attributes) => counter(DUPLICATE_SUPPRESSED, '{tool_call}').add(1, attributes),
  }
}
