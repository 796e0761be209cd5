import type { StreamEvent } from '../../src/chunk/index.ts'
import type { StreamReport } from '../../src/engine/index.ts'
import { mergeDeltas } from './merge-deltas.ts'
import type { Played } from './play.ts'
import type { Sample } from './sample.ts'

/** The part of an expected file that the engine decides. */
export interface Result {
  readonly events: readonly StreamEvent[]
  readonly report: Omit<StreamReport, 'source' | 'timing'> & Partial<Pick<StreamReport, 'timing'>>
}

/** What is compared: all events, and the report without its source; times only where there were any. */
export function resultOf({ kind }: Sample, { events, report }: Played): Result {
  const { source: _, timing, ...rest } = report
  return { events: mergeDeltas(events), report: kind === 'recording' ? { ...rest, timing } : rest }
}

/** The text of the expected file of a sample. */
export function expectedText(sample: Sample, result: Result): string {
  const { about, faults, request, options } = sample.intent
  return `${format({ about, class: sample.class, faults, request, options, ...result })}\n`
}

const WIDTH = 120

/** JSON with everything on one line that fits there, so that a change in one event is a change in one line. */
function format(value: unknown, indent = ''): string {
  const line = JSON.stringify(value)
  if (typeof value !== 'object' || value === null || (indent !== '' && indent.length + line.length <= WIDTH))
    return line
  const deeper = `${indent}  `
  const items = Array.isArray(value)
    ? value.map((item) => format(item, deeper))
    : Object.entries(value)
        .filter(([, item]) => item !== undefined)
        .map(([key, item]) => `${JSON.stringify(key)}: ${format(item, deeper)}`)
  if (items.length === 0) return line
  const [open, close] = Array.isArray(value) ? '[]' : '{}'
  return `${open}\n${items.map((item) => deeper + item).join(',\n')}\n${indent}${close}`
}
