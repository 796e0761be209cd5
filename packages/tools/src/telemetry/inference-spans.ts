import type { SpanContext } from '@opentelemetry/api'

/** Runs whose newest inference span is remembered. */
const MAX_RUNS = 1024

/** Which inference span a tool call came from: the span has ended by then, so a tool's span can only link to it. */
export interface InferenceSpans {
  remember(runId: string, turn: number, span: SpanContext): void
  find(runId: string, turn: number): SpanContext | undefined
}

export function createInferenceSpans(max: number = MAX_RUNS): InferenceSpans {
  const newest = new Map<string, { readonly turn: number; readonly span: SpanContext }>()
  return {
    remember(runId, turn, span) {
      newest.delete(runId)
      newest.set(runId, { turn, span })
      for (const oldest of newest.keys()) {
        if (newest.size <= max) break
        newest.delete(oldest)
      }
    },
    find(runId, turn) {
      const known = newest.get(runId)
      return known?.turn === turn ? known.span : undefined
    },
  }
}
