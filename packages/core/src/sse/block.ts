/**
 * Lines → events: the fields of the open block, and what outlives a block (the last event ID, the reconnection time).
 *
 * @see https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation
 */
import { detach } from './detach.ts'
import type { ServerSentEvent } from './event.ts'
import type { EventStreamParser } from './parser.ts'
import { appendText, textOf } from './text-builder.ts'
import type { TextBuilder } from './text-builder.ts'

const FIELD_NAME_CHARS = 40
/** A field on an event takes some forty times more memory than the two bytes it may be made of. */
const MAX_DELIVERED_FIELDS = 16

type Writable<T> = { -readonly [Key in keyof T]: T[Key] }

/** What few events have. */
interface RareProperties extends Pick<ServerSentEvent, 'retry' | 'incomplete' | 'invalidUtf8'> {
  fields?: { readonly name: string; readonly value: string }[]
}

export interface BlockState {
  /** What the user holds. */
  readonly parser: Writable<EventStreamParser>
  readonly counts: Writable<EventStreamParser['counts']>
  readonly offsets: boolean
  readonly deliverFields: boolean

  /** Offset in the body of the open block's first line; -1: no block has begun. What follows, up to `rare`, is about it. */
  start: number
  /** Only data that could not be delivered at once: most blocks have one data line and close right after it. */
  data: TextBuilder | undefined
  eventType: string
  rare: RareProperties | undefined

  /** The id that the open block is closed with. */
  id: string | undefined
  /** The last event type sent. Types come in runs, and a run shares one string. */
  knownType: string
  /** Events that nobody has taken yet. */
  delivered: ServerSentEvent[] | undefined
}

/** Takes a line that is not blank: a field, or a comment. `replaced`: it holds bytes that were not UTF-8. */
export function takeField(state: BlockState, line: string, replaced: boolean): void {
  const { parser, counts } = state
  const colon = line.indexOf(':')
  if (colon === 0) {
    counts.comments++
    return
  }
  const name = colon < 0 ? line : line.slice(0, colon)
  const value = colon < 0 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1)
  if (name === 'event') {
    if (value !== state.knownType) state.knownType = detach(value)
    state.eventType = state.knownType
  } else if (name === 'data') {
    addData(state, value, replaced)
  } else if (name === 'id') {
    if (value !== state.id && !value.includes('\0')) state.id = detach(value)
  } else if (name === 'retry') {
    if (/^\d+$/.test(value)) rare(state).retry = parser.retry = Math.min(Number(value), Number.MAX_SAFE_INTEGER)
  } else {
    counts.unknownFields++
    parser.firstUnknownField ??= detach(name.slice(0, FIELD_NAME_CHARS))
    if (!state.deliverFields) return
    const fields = (rare(state).fields ??= [])
    if (fields.length === MAX_DELIVERED_FIELDS) return
    fields.push({ name: detach(name), value: detach(value) })
    if (replaced) rare(state).invalidUtf8 = true
  }
}

export function rare(state: BlockState): RareProperties {
  return (state.rare ??= {})
}

export function addData(state: BlockState, value: string, replaced: boolean): void {
  const { data } = state
  state.data = appendText(data, data === undefined ? value : `\n${value}`, replaced)
}

/**
 * The block ends, at `endOffset`: a blank line came, or the body is over. It is an event if there is something to deliver; its
 * `id` counts in any case.
 */
export function closeBlock(state: BlockState, endOffset: number): void {
  const { data } = state
  if (data !== undefined) deliver(state, textOf(data), endOffset, data.replaced)
  else if (state.rare?.fields !== undefined) deliver(state, '', endOffset, false)
  else resetBlock(state)
}

/** Delivers the open block as an event, with this data. */
export function deliver(state: BlockState, data: string, endOffset: number, replaced: boolean): void {
  const event = eventOf(state, data, state.start, endOffset)
  if (replaced) rare(state).invalidUtf8 = true
  if (state.rare !== undefined) Object.assign(event, state.rare)

  // One event per read is what a live stream is like: no array with room for seventeen.
  if (state.delivered === undefined) state.delivered = [event]
  else state.delivered.push(event)
  resetBlock(state)
}

/** An event with what most have. */
export function eventOf(state: BlockState, data: string, offset: number, endOffset: number): ServerSentEvent {
  const { eventType: event, id } = state
  // Whole literals for the common shapes: adding properties to an object costs more than all the rest here.
  const made: ServerSentEvent = state.offsets
    ? event === ''
      ? { data, offset, endOffset }
      : { data, event, offset, endOffset }
    : event === ''
      ? { data }
      : { data, event }
  if (id !== undefined) made.id = id
  state.counts.events++
  return made
}

export function resetBlock(state: BlockState): void {
  state.parser.lastEventId = state.id
  state.start = -1
  state.data = undefined
  state.eventType = ''
  state.rare = undefined
}
