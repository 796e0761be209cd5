import type { JsonValue } from 'streamfold'
import { clip, isJsonObject, readStrict } from 'streamfold/json'
import { align } from './align.ts'
import type { Stretch } from './align.ts'
import type { BodyShape, ShapeEvent } from './body-shape.ts'
import { CHANGES } from './change.ts'
import type { Change, ChangeCode } from './change.ts'

const SHOWN = 60

/** Pairs of events that are the same on both sides, by index; times are compared over them. */
export interface ContentComparison {
  readonly changes: readonly Change[]
  readonly pairs: readonly (readonly [entry: number, upstream: number])[]
}

/** What happened to the body between upstream and entry. */
export function compareContent(entry: BodyShape, upstream: BodyShape): ContentComparison {
  const found = new ChangeLog()
  if (entry.bom !== upstream.bom) found.add(entry.bom ? 'bom_added' : 'bom_dropped')
  compareLineEnds(entry, upstream, found)
  const comments = entry.comments - upstream.comments
  if (comments !== 0) found.add(comments < 0 ? 'comments_dropped' : 'comments_added', { count: Math.abs(comments) })
  const stretches = align(keysOf(entry), keysOf(upstream))
  const pairs: (readonly [number, number])[] = []
  stretches.forEach((stretch, index) => {
    const { equal, a, b } = stretch
    if (!equal) compareStretch(entry, upstream, stretch, index === stretches.length - 1, found)
    else for (let at = 0; at < a[1] - a[0]; at++) pairs.push([a[0] + at, b[0] + at])
  })
  const renamed = pairs.find(([a, b]) => entry.events[a]!.id !== upstream.events[b]!.id)
  if (renamed !== undefined) {
    const { offset, id } = upstream.events[renamed[1]]!
    const now = entry.events[renamed[0]]!.id
    found.add('event_names_changed', { event: renamed[1] + 1, offset, detail: `id ${said(id)} became ${said(now)}` })
  }
  const empty = entry.emptyLines - upstream.emptyLines
  // Where events or comments came or went, their empty lines did too.
  if (empty !== 0 && entry.events.length === upstream.events.length && comments === 0) {
    found.add(empty < 0 ? 'empty_lines_merged' : 'empty_lines_added', { count: Math.abs(empty) })
  }
  return { changes: found.list(), pairs }
}

function compareLineEnds(entry: BodyShape, upstream: BodyShape, found: ChangeLog): void {
  const [now, before] = [lineEndsOf(entry), lineEndsOf(upstream)]
  // A side without a line says nothing about line ends.
  if (now !== before && now !== '' && before !== '')
    found.add('line_ends_rewritten', { detail: `${before} became ${now}` })
}

function compareStretch(
  entry: BodyShape,
  upstream: BodyShape,
  { a, b }: Stretch,
  last: boolean,
  found: ChangeLog,
): void {
  const ours = entry.events.slice(...a)
  const theirs = upstream.events.slice(...b)
  if (ours.length === 0) {
    const { offset, data } = theirs[0]!
    const tail = last && a[1] === entry.events.length
    found.add(tail ? 'truncated' : 'events_dropped', {
      count: theirs.length,
      event: b[0] + 1,
      offset,
      detail: clip(data, SHOWN),
    })
    return
  }
  if (theirs.length === 0) {
    const { offset, data } = ours[0]!
    found.add('events_injected', { count: ours.length, event: a[0] + 1, offset, detail: clip(data, SHOWN) })
    return
  }
  if (isJoined(ours, theirs)) {
    found.add('events_merged', { count: theirs.length - ours.length, event: b[0] + 1, offset: theirs[0]!.offset })
    return
  }
  if (isJoined(theirs, ours)) {
    found.add('events_split', { count: ours.length - theirs.length, event: b[0] + 1, offset: theirs[0]!.offset })
    return
  }
  comparePairwise(ours, theirs, a[0], b[0], last && a[1] === entry.events.length, found)
}

function comparePairwise(
  ours: readonly ShapeEvent[],
  theirs: readonly ShapeEvent[],
  fromA: number,
  fromB: number,
  tail: boolean,
  found: ChangeLog,
): void {
  const both = Math.min(ours.length, theirs.length)
  for (let at = 0; at < both; at++) {
    const now = ours[at]!
    const before = theirs[at]!
    const place = { count: 1, event: fromB + at + 1, offset: before.offset }
    if (now.data === before.data) {
      found.add('event_names_changed', { ...place, detail: `${said(before.event)} became ${said(now.event)}` })
    } else if (sameJson(now.data, before.data)) found.add('json_rewritten', place)
    else if (tail && at === theirs.length - 1 && before.data.startsWith(now.data)) found.add('truncated', place)
    else
      found.add('events_changed', { ...place, detail: `${clip(before.data, SHOWN)} became ${clip(now.data, SHOWN)}` })
  }
  if (theirs.length > both) {
    const { offset } = theirs[both]!
    found.add(tail ? 'truncated' : 'events_dropped', { count: theirs.length - both, event: fromB + both + 1, offset })
  }
  if (ours.length > both) {
    found.add('events_injected', { count: ours.length - both, event: fromA + both + 1, offset: ours[both]!.offset })
  }
}

/** Is each of `few` one or several of `many`, with a line end between their data where an empty line was lost? */
function isJoined(few: readonly ShapeEvent[], many: readonly ShapeEvent[]): boolean {
  if (few.length >= many.length) return false
  return joinedData(few) === joinedData(many)
}

function joinedData(events: readonly ShapeEvent[]): string {
  return events.map(({ data }) => data).join('\n')
}

function keysOf({ events }: BodyShape): readonly string[] {
  return events.map(({ event = '', data }) => `${event}\n${data}`)
}

function lineEndsOf({ crlf, lf, cr }: BodyShape): string {
  return [crlf > 0 ? 'CRLF' : '', lf > 0 ? 'LF' : '', cr > 0 ? 'CR' : ''].filter((name) => name !== '').join(' and ')
}

function sameJson(a: string, b: string): boolean {
  const [left, right] = [readStrict(a), readStrict(b)]
  return left.ok && right.ok && canonical(left.value) === canonical(right.value)
}

function canonical(value: JsonValue): string {
  return JSON.stringify(value, (_, item: JsonValue) =>
    isJsonObject(item) ? Object.fromEntries(Object.entries(item).toSorted(([a], [b]) => (a < b ? -1 : 1))) : item,
  )
}

function said(name: string | undefined): string {
  return name === undefined ? 'none' : `"${clip(name, SHOWN)}"`
}

interface Place {
  readonly count?: number
  readonly event?: number
  readonly offset?: number
  readonly detail?: string
}

/** One entry per code: the first place, and how often. */
export class ChangeLog {
  readonly #changes = new Map<ChangeCode, Change>()

  add(code: ChangeCode, { count, event, offset, detail }: Place = {}): void {
    const before = this.#changes.get(code)
    if (before !== undefined) {
      this.#changes.set(code, { ...before, count: (before.count ?? 1) + (count ?? 1) })
      return
    }
    this.#changes.set(code, {
      code,
      message: detail === undefined ? CHANGES[code] : `${CHANGES[code]}: ${detail}`,
      ...(count !== undefined && { count }),
      ...(event !== undefined && { event }),
      ...(offset !== undefined && { offset }),
    })
  }

  list(): readonly Change[] {
    return [...this.#changes.values()]
  }
}
