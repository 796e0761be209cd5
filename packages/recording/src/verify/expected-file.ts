import type { ProviderProfile, RequestFacts, StreamEngineOptions, StreamEvent, StreamReport } from 'streamfold'

/** What a sample must come to; the part of an expected file that the engine decides. */
export interface GoldenResult {
  /** Neighbouring deltas of one block or call joined, so that the list does not depend on cuts. */
  readonly events: readonly StreamEvent[]
  /** Without its source; `timing` for recordings only, for a bare body has no times. */
  readonly report: Omit<StreamReport, 'source' | 'timing'> & Partial<Pick<StreamReport, 'timing'>>
}

/** How a sample is played, where that is not the default. */
export interface SampleOptions extends Pick<StreamEngineOptions, 'policy' | 'batch' | 'limits'> {
  readonly profile?: ProviderProfile
}

/** A file `NAME.expected.json`. Keys that are not known here are kept. */
export interface ExpectedFile extends Partial<GoldenResult> {
  readonly about?: string
  readonly request?: RequestFacts
  readonly options?: SampleOptions
  readonly [key: string]: unknown
}

/** The text of an expected file with this result; everything else in it stays. */
export function expectedText(file: ExpectedFile | undefined, result: GoldenResult): string {
  const { events: _events, report: _report, ...kept } = file ?? {}
  return `${layOut({ ...kept, ...result })}\n`
}

const WIDTH = 120

/** JSON with everything on one line that fits there, so that a change in one event is a change in one line. */
export function layOut(value: unknown, indent = ''): string {
  const line = JSON.stringify(value)
  if (typeof value !== 'object' || value === null || (indent !== '' && indent.length + line.length <= WIDTH))
    return line
  const deeper = `${indent}  `
  const items = Array.isArray(value)
    ? value.map((item) => layOut(item, deeper))
    : Object.entries(value)
        .filter(([, item]) => item !== undefined)
        .map(([key, item]) => `${JSON.stringify(key)}: ${layOut(item, deeper)}`)
  if (items.length === 0) return line
  const [open, close] = Array.isArray(value) ? '[]' : '{}'
  return `${open}\n${items.map((item) => deeper + item).join(',\n')}\n${indent}${close}`
}

type Delta = Extract<StreamEvent, { readonly text: string }>

/** Joins neighbouring deltas of one block or one call. */
export function mergeDeltas(events: readonly StreamEvent[]): readonly StreamEvent[] {
  const merged: StreamEvent[] = []
  for (const event of events) {
    const last = merged.at(-1)
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
