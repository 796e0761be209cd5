import type { Api, StreamEvent, StreamReport } from 'streamfold'
import { adapterFor, createStreamEngine } from 'streamfold'
import { clip } from 'streamfold/json'
import { replayInto, requestFactsOf } from 'streamfold/recording'
import type { HeaderPair, Recording } from 'streamfold/recording'
import { apiOfRecording, recordedBody } from '../file/recording-report.ts'
import { isPlaceholder } from '../redact/header-redaction.ts'
import { endToEnd } from '../record/hop-headers.ts'
import { compareArrivals } from './arrival-changes.ts'
import type { ArrivalComparison } from './arrival-changes.ts'
import { bodyShape } from './body-shape.ts'
import type { Change } from './change.ts'
import { ChangeLog, compareContent } from './content-changes.ts'

export const DIFF_SCHEMA = 'streamfold/diff@1'

/** Where two sides first differ, and what stands there. */
export interface FirstDifference {
  /** Offset of a byte; number of an event, delta or call from 1. */
  readonly at: number
  /** What the client was given; null where there is nothing any more. */
  readonly entry: string | null
  readonly upstream: string | null
}

/** One hop: what came out of it against what went in. */
export interface RecordingDiff {
  readonly schema: typeof DIFF_SCHEMA
  /** Same bytes, same head, same end. Times are apart. */
  readonly same: boolean
  /** Same calls, same outcome: what was acted on is the same, whatever else is not. */
  readonly sameMeaning: boolean
  readonly first: {
    readonly byte: FirstDifference | null
    readonly event: FirstDifference | null
    readonly delta: FirstDifference | null
    readonly call: FirstDifference | null
  }
  readonly outcome: { readonly entry: string | null; readonly upstream: string | null }
  readonly changes: readonly Change[]
  /** Null where a side has no times. */
  readonly timing: ArrivalComparison | null
}

const SHOWN = 80
const CONTEXT_BYTES = 24
/** Of these, a change is said by its own name. */
const NAMED_HEADERS: ReadonlySet<string> = new Set(['content-type', 'content-encoding'])
/** Every hop has its own. */
const OWN_HEADERS: ReadonlySet<string> = new Set(['date', 'via', 'age', 'server', 'content-length'])

/**
 * Compares what a client was given (`entry`) with what the upstream sent, and names what was done to it in between. Both are
 * recordings of the same exchange, on both sides of one hop.
 *
 * @throws RecordingError `body_encoded` for a body that still has its content coding on
 */
export function diffRecordings(
  entry: Recording,
  upstream: Recording,
  { api = apiOfRecording(upstream) }: { readonly api?: Api } = {},
): RecordingDiff {
  const shapes = [bodyShape(entry), bodyShape(upstream)] as const
  const { changes, pairs } = compareContent(...shapes)
  const bodies = [recordedBody(entry), recordedBody(upstream)] as const
  const byte = firstByte(...bodies)
  const event = firstOf(
    ...shapes,
    ({ events }) => events.map(({ event: name, data, id }) => JSON.stringify([name, data, id])),
    ({ events }, at) => events[at]?.data,
  )
  const [ours, theirs] = [played(entry, api), played(upstream, api)]
  const delta = firstOf(
    ours,
    theirs,
    ({ events }) => events.map((one) => JSON.stringify(one)),
    ({ events }, at) => deltaText(events[at]),
  )
  const call = firstOf(ours, theirs, callsOf, (side, at) => callsOf(side)[at])
  const all = [...headChanges(entry, upstream), ...changes, ...endChanges(entry, upstream)]
  const unseen = byte !== null && changes.length === 0
  return {
    schema: DIFF_SCHEMA,
    same: byte === null && all.length === 0,
    sameMeaning: call === null && ours.report.outcome === theirs.report.outcome,
    first: { byte, event, delta, call },
    outcome: { entry: ours.report.outcome, upstream: theirs.report.outcome },
    changes: unseen
      ? [...all, { code: 'bytes_changed', message: 'bytes differ in a way that no event shows', offset: byte.at }]
      : all,
    timing: compareArrivals([entry, upstream], shapes, pairs) ?? null,
  }
}

interface Played {
  readonly events: readonly StreamEvent[]
  readonly report: StreamReport
}

function played(recording: Recording, api: Api): Played {
  const engine = createStreamEngine({
    adapter: adapterFor(api),
    request: requestFactsOf(recording.request),
    offsets: false,
  })
  const events = replayInto(engine, recording)
  return { events, report: engine.report({ kind: 'recording' }) }
}

function callsOf({ report }: Played): readonly string[] {
  return report.choices.flatMap(({ index, toolCalls }) =>
    toolCalls.map(({ callId, name, argumentsText, state, code }) =>
      JSON.stringify({ choice: index, callId, name, argumentsText, state, code }),
    ),
  )
}

/** What is said in a difference; without what names the engine's own bookkeeping. */
function deltaText(event: StreamEvent | undefined): string | undefined {
  return event === undefined ? undefined : JSON.stringify(event)
}

function firstByte(entry: Uint8Array, upstream: Uint8Array): FirstDifference | null {
  const length = Math.min(entry.length, upstream.length)
  let at = 0
  while (at < length && entry[at] === upstream[at]) at++
  if (at === entry.length && at === upstream.length) return null
  const around = (body: Uint8Array): string | null =>
    at >= body.length ? null : clip(Buffer.from(body.subarray(at, at + CONTEXT_BYTES)).toString(), SHOWN)
  return { at, entry: around(entry), upstream: around(upstream) }
}

function firstOf<Side>(
  entry: Side,
  upstream: Side,
  keys: (side: Side) => readonly string[],
  text: (side: Side, at: number) => string | undefined,
): FirstDifference | null {
  const [ours, theirs] = [keys(entry), keys(upstream)]
  const at = Array.from({ length: Math.max(ours.length, theirs.length) }, (_, index) => index).find(
    (index) => ours[index] !== theirs[index],
  )
  if (at === undefined) return null
  const shown = (side: Side): string | null => {
    const said = text(side, at)
    return said === undefined ? null : clip(said, SHOWN)
  }
  return { at: at + 1, entry: shown(entry), upstream: shown(upstream) }
}

function headChanges({ response: ours }: Recording, { response: theirs }: Recording): readonly Change[] {
  const found = new ChangeLog()
  if (ours === undefined || theirs === undefined) return []
  if (ours.status !== theirs.status) found.add('status_changed', { detail: `${theirs.status} became ${ours.status}` })
  const [now, before] = [headersByName(ours.headers), headersByName(theirs.headers)]
  const changed: string[] = []
  for (const name of new Set([...before.keys(), ...now.keys()])) {
    const [was, is] = [before.get(name), now.get(name)]
    if (was === is || OWN_HEADERS.has(name)) continue
    const detail = `${was === undefined ? 'none' : clip(was, SHOWN)} became ${is === undefined ? 'none' : clip(is, SHOWN)}`
    if (!NAMED_HEADERS.has(name))
      changed.push(`${name} ${was === undefined ? 'added' : is === undefined ? 'dropped' : 'changed'}`)
    else found.add(name === 'content-type' ? 'content_type_changed' : 'coding_changed', { detail })
  }
  if (changed.length > 0)
    found.add('headers_changed', { count: changed.length, detail: clip(changed.join(', '), 2 * SHOWN) })
  return found.list()
}

/** Values that were redacted are compared by length, which is all there is of them. */
function headersByName(headers: readonly HeaderPair[]): ReadonlyMap<string, string> {
  const values = new Map<string, string>()
  for (const [name, value] of endToEnd(headers)) {
    const lower = name.toLowerCase()
    const text = isPlaceholder(value) ? value : value.trim()
    values.set(lower, values.has(lower) ? `${values.get(lower)}, ${text}` : text)
  }
  return values
}

function endChanges({ end: ours }: Recording, { end: theirs }: Recording): readonly Change[] {
  const [now, before] = [ours?.kind ?? 'no end line', theirs?.kind ?? 'no end line']
  if (now === before) return []
  const found = new ChangeLog()
  found.add('end_changed', { detail: `${before} became ${now}` })
  return found.list()
}
