import type { StreamEvent } from '../../src/chunk/index.ts'

type Delta = Extract<StreamEvent, { readonly text: string }>

/** Joins neighbouring deltas of one block or one call: what is left does not depend on how a server cut its output. */
export function mergeDeltas(events: readonly StreamEvent[]): readonly StreamEvent[] {
  const merged: StreamEvent[] = []
  for (const event of events) {
    const last = merged[merged.length - 1]
    if (last !== undefined && isDelta(last) && isDelta(event) && keyOf(last) === keyOf(event)) {
      merged[merged.length - 1] = { ...last, text: last.text + event.text }
    } else merged.push(event)
  }
  return merged
}

function isDelta(event: StreamEvent): event is Delta {
  return 'text' in event
}

function keyOf(delta: Delta): string {
  return `${delta.type} ${delta.choice} ${'block' in delta ? delta.block : delta.callId}`
}
