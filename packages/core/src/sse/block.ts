/**
 * Lines → events: the fields of the open block, and what outlives a block (the last event ID, the reconnection time).
 *
 * @see https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation
 */
import { detach } from './detach.ts'
import type { ServerSentEvent } from './event.ts'
import { appendText, createTextBuilder, takeText } from './text-builder.ts'
import type { TextBuilder } from './text-builder.ts'

const SPACE = 0x20
const FIELD_NAME_CHARS = 40
/** A field on an event takes some forty times more memory than the two bytes it may be made of. */
const MAX_DELIVERED_FIELDS = 16

export interface BlockState {
  readonly offsets: boolean
  readonly deliverFields: boolean

  /** Whether a block has begun. What follows, up to `blockRetry`, is about it. */
  open: boolean
  /** Offset of its first line in the body. */
  offset: number
  /** Only data that could not be delivered at once: most blocks have one data line and close right after it. */
  readonly data: TextBuilder
  hasData: boolean
  /** The data, or a field that is to be delivered, holds U+FFFD for bytes that were not UTF-8. */
  replaced: boolean
  eventType: string
  /** Unknown fields that are to be delivered. */
  fields: { name: string; value: string }[] | undefined
  /** -1: not set. */
  blockRetry: number

  idBuffer: string | undefined
  lastEventId: string | undefined
  /** -1: not set. */
  retry: number
  /** The last event type sent. Types come in runs, and a run shares one string. */
  knownType: string

  /** Events that nobody has taken yet. */
  delivered: ServerSentEvent[] | undefined
  comments: number
  unknownFields: number
  firstUnknownField: string | undefined
}

export function createBlockState(offsets: boolean, deliverFields: boolean): BlockState {
  return {
    offsets,
    deliverFields,
    open: false,
    offset: 0,
    data: createTextBuilder(),
    hasData: false,
    replaced: false,
    eventType: '',
    fields: undefined,
    blockRetry: -1,
    idBuffer: undefined,
    lastEventId: undefined,
    retry: -1,
    knownType: '',
    delivered: undefined,
    comments: 0,
    unknownFields: 0,
    firstUnknownField: undefined,
  }
}

/** Takes a line that is not blank: a field, or a comment. `replaced`: it holds bytes that were not UTF-8. */
export function takeField(block: BlockState, line: string, replaced: boolean): void {
  const colon = line.indexOf(':')
  if (colon === 0) {
    block.comments++
    return
  }
  const name = colon < 0 ? line : line.slice(0, colon)
  const value = colon < 0 ? '' : line.slice(line.charCodeAt(colon + 1) === SPACE ? colon + 2 : colon + 1)
  switch (name) {
    case 'event':
      if (value !== block.knownType) block.knownType = detach(value)
      block.eventType = block.knownType
      break
    case 'data':
      addData(block, value, replaced)
      break
    case 'id':
      if (value !== block.idBuffer && !value.includes('\0')) block.idBuffer = detach(value)
      break
    case 'retry':
      if (/^[0-9]+$/.test(value)) {
        block.blockRetry = Math.min(Number(value), Number.MAX_SAFE_INTEGER)
        block.retry = block.blockRetry
      }
      break
    default:
      block.unknownFields++
      block.firstUnknownField ??= detach(name.slice(0, FIELD_NAME_CHARS))
      if (block.deliverFields) addField(block, name, value, replaced)
  }
}

function addField(block: BlockState, name: string, value: string, replaced: boolean): void {
  block.fields ??= []
  if (block.fields.length === MAX_DELIVERED_FIELDS) return
  block.fields.push({ name: detach(name), value: detach(value) })
  if (replaced) block.replaced = true
}

export function addData(block: BlockState, value: string, replaced: boolean): void {
  if (block.hasData) appendText(block.data, '\n')
  appendText(block.data, value)
  block.hasData = true
  if (replaced) block.replaced = true
}

/**
 * The block ends, at `endOffset`: a blank line came, or (`incomplete`) the body is over. It is an event if there is
 * something to deliver; its `id` counts in any case.
 */
export function closeBlock(block: BlockState, endOffset: number, incomplete = false): void {
  if (block.hasData || block.fields !== undefined) {
    deliver(block, takeText(block.data), endOffset, incomplete)
  } else {
    block.lastEventId = block.idBuffer
    resetBlock(block)
  }
}

/** Makes an event of the open block, with this data. */
export function deliver(block: BlockState, data: string, endOffset: number, incomplete = false): void {
  const { eventType: event, offset, idBuffer: id } = block
  // Whole literals for the common shapes: adding properties to an object costs more than all the rest here.
  const delivered: ServerSentEvent = block.offsets
    ? event === ''
      ? { data, offset, endOffset }
      : { data, event, offset, endOffset }
    : event === ''
      ? { data }
      : { data, event }
  if (id !== undefined) delivered.id = id
  if (block.blockRetry >= 0) delivered.retry = block.blockRetry
  if (block.fields !== undefined) delivered.fields = block.fields
  if (incomplete) delivered.incomplete = true
  if (block.replaced) delivered.invalidUtf8 = true

  // One event per read is what a live stream is like: no array with room for seventeen.
  if (block.delivered === undefined) block.delivered = [delivered]
  else block.delivered.push(delivered)
  block.lastEventId = id
  resetBlock(block)
}

/** Drops the open block, and all that came with it. */
export function forgetBlock(block: BlockState): void {
  takeText(block.data)
  resetBlock(block)
  block.idBuffer = block.lastEventId
  block.knownType = ''
}

function resetBlock(block: BlockState): void {
  block.open = false
  block.hasData = false
  block.replaced = false
  block.eventType = ''
  block.fields = undefined
  block.blockRetry = -1
}
