import type { EventStreamParserOptions, ServerSentEvent } from '../../src/sse/index.ts'
import type { Parsed } from './run.ts'

/**
 * The standards, transcribed with no thought for speed: the oracle of the properties. It walks the whole body character by
 * character, so no way of cutting it can matter, and shares no code with the parser.
 *
 * @see https://encoding.spec.whatwg.org/#utf-8-decoder
 * @see https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation
 */

export interface Character {
  text: string
  start: number
  end: number
  /** The bytes were not UTF-8. */
  replaced: boolean
}

/** The UTF-8 decoder of the Encoding Standard, with the places its output came from. Keeps a BOM. */
export function referenceCharacters(body: Uint8Array): Character[] {
  const characters: Character[] = []
  let codePoint = 0
  let bytesSeen = 0
  let bytesNeeded = 0
  let lower = 0x80
  let upper = 0xbf
  let start = 0
  const emit = (text: string, end: number, replaced: boolean): void => {
    characters.push({ text, start, end, replaced })
    codePoint = bytesSeen = bytesNeeded = 0
    lower = 0x80
    upper = 0xbf
  }
  for (let at = 0; at < body.length; at++) {
    const byte = body[at]!
    if (bytesNeeded === 0) {
      start = at
      if (byte <= 0x7f) emit(String.fromCodePoint(byte), at + 1, false)
      else if (byte >= 0xc2 && byte <= 0xdf) {
        bytesNeeded = 1
        codePoint = byte & 0x1f
      } else if (byte >= 0xe0 && byte <= 0xef) {
        if (byte === 0xe0) lower = 0xa0
        if (byte === 0xed) upper = 0x9f
        bytesNeeded = 2
        codePoint = byte & 0xf
      } else if (byte >= 0xf0 && byte <= 0xf4) {
        if (byte === 0xf0) lower = 0x90
        if (byte === 0xf4) upper = 0x8f
        bytesNeeded = 3
        codePoint = byte & 0x7
      } else emit('\uFFFD', at + 1, true)
      continue
    }
    if (byte < lower || byte > upper) {
      emit('\uFFFD', at, true)
      // "Restore byte to ioQueue": it is looked at again, as the first of a sequence.
      at--
      continue
    }
    lower = 0x80
    upper = 0xbf
    codePoint = (codePoint << 6) | (byte & 0x3f)
    bytesSeen++
    if (bytesSeen === bytesNeeded) emit(String.fromCodePoint(codePoint), at + 1, false)
  }
  if (bytesNeeded !== 0) emit('\uFFFD', body.length, true)
  return characters
}

class Overflow extends Error {}

export function referenceParse(body: Uint8Array, options: EventStreamParserOptions = {}): Parsed {
  const limit = options.maxEventBytes ?? 8 * 1024 * 1024
  const parsed: Parsed = {
    events: [],
    lastEventId: undefined,
    retry: undefined,
    counts: { bytes: body.length, events: 0, comments: 0, unknownFields: 0 },
    overflow: undefined,
    invalidUtf8: undefined,
    firstUnknownField: undefined,
  }

  let dataBuffer = ''
  let eventTypeBuffer = ''
  let idBuffer: string | undefined
  let fields: { name: string; value: string }[] = []
  let blockRetry: number | undefined
  let blockReplaced = false
  let blockStart = -1

  let line = ''
  let lineReplaced = false
  let afterCr = false
  let lineEnd = 0

  /** Each byte of a block but those of its blank line goes through here. */
  const takeByte = (offset: number): void => {
    if (offset < blockStart + limit) return
    parsed.overflow = { offset: blockStart, limit }
    throw new Overflow()
  }

  const processField = (name: string, value: string): void => {
    if (name === 'event') eventTypeBuffer = value
    else if (name === 'data') {
      dataBuffer += `${value}\n`
      if (lineReplaced) blockReplaced = true
    } else if (name === 'id') {
      if (!value.includes('\u0000')) idBuffer = value
    } else if (name === 'retry') {
      if (/^[0-9]+$/.test(value)) parsed.retry = blockRetry = Math.min(Number(value), Number.MAX_SAFE_INTEGER)
    } else {
      parsed.counts.unknownFields++
      parsed.firstUnknownField ??= name.slice(0, 40)
      if (options.unknownFields === 'deliver' && fields.length < 16) {
        fields.push({ name, value })
        if (lineReplaced) blockReplaced = true
      }
    }
  }

  const processLine = (): void => {
    if (line.startsWith(':')) parsed.counts.comments++
    else if (line.includes(':')) {
      const colon = line.indexOf(':')
      const value = line.slice(colon + 1)
      processField(line.slice(0, colon), value.startsWith(' ') ? value.slice(1) : value)
    } else processField(line, '')
    line = ''
    lineReplaced = false
  }

  const dispatch = (incomplete: boolean): void => {
    if (!incomplete) parsed.lastEventId = idBuffer
    if (dataBuffer !== '' || fields.length > 0) {
      const event: ServerSentEvent = { data: dataBuffer.slice(0, -1) }
      if (eventTypeBuffer !== '') event.event = eventTypeBuffer
      if (idBuffer !== undefined) event.id = idBuffer
      if (blockRetry !== undefined) event.retry = blockRetry
      if (fields.length > 0) event.fields = fields
      if (incomplete) event.incomplete = true
      if (blockReplaced) event.invalidUtf8 = true
      if (options.offsets === true) {
        event.offset = blockStart
        event.endOffset = lineEnd
      }
      parsed.events.push(event)
      parsed.counts.events++
    }
    dataBuffer = ''
    eventTypeBuffer = ''
    fields = []
    blockRetry = undefined
    blockReplaced = false
    blockStart = -1
  }

  try {
    for (const { text, start, end, replaced } of referenceCharacters(body)) {
      if (start === 0 && text === '\uFEFF') continue
      const completesCrLf = afterCr && text === '\n'
      afterCr = text === '\r'
      if (completesCrLf) {
        // The LF of a blank line's CRLF finds no block.
        if (blockStart >= 0) {
          takeByte(start)
          lineEnd = end
        }
      } else if (text === '\r' || text === '\n') {
        if (line === '') {
          if (blockStart >= 0) dispatch(false)
        } else {
          takeByte(start)
          lineEnd = end
          processLine()
        }
      } else {
        if (blockStart < 0) blockStart = start
        for (let offset = start; offset < end; offset++) takeByte(offset)
        line += text
        if (replaced) {
          lineReplaced = true
          parsed.invalidUtf8 ??= { count: 0, firstOffset: start }
          parsed.invalidUtf8.count++
        }
      }
    }
  } catch (error) {
    if (error instanceof Overflow) return parsed
    throw error
  }

  if (options.onEnd === 'flush' && blockStart >= 0) {
    const retry = parsed.retry
    lineEnd = body.length
    if (line !== '') processLine()
    parsed.retry = retry
    dispatch(true)
  }
  return parsed
}
