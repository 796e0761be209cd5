import { clip } from '../json/clip.ts'
import type { ServerSentEvent } from '../sse/event.ts'
import type { AdapterOutput } from './adapter.ts'
import { faultOfPayload, faultOfPlainText } from './error-body.ts'

/** What the data of one event turned out to be. */
export interface PayloadHandlers {
  /** One JSON value. */
  json(value: unknown, event: ServerSentEvent, out: AdapterOutput): void
  /** The `[DONE]` sentinel. */
  done(out: AdapterOutput): void
}

/**
 * Reads the data of an event as JSON, the same way for every JSON-over-SSE wire format:
 *
 * - lines of one event are joined first; only when the join does not parse and every line parses alone were two events
 *   glued together by a hop (fault F021);
 * - empty data is a heartbeat (F018), data that begins with `:` is a comment that a hop wrapped again;
 * - `[DONE]` may be surrounded by white space;
 * - a status line or an HTML page in the data is the error it says it is (F112), and so is any text in an event that is
 *   called `error` (F031);
 * - an unterminated last event counts only when its data is `[DONE]` or whole JSON (F016);
 * - anything else is a hole in the evidence and is reported as skipped, never swallowed.
 */
export function readPayload(event: ServerSentEvent, handlers: PayloadHandlers, out: AdapterOutput): void {
  const data = event.data
  const first = data.charCodeAt(0)
  if (first === 0x7b /* { */) {
    const value = parse(data)
    if (value !== undefined) {
      if (event.incomplete) out.note('unterminated_last_event')
      handlers.json(value, event, out)
      return
    }
  }
  readOther(event, data, handlers, out)
}

function readOther(event: ServerSentEvent, data: string, handlers: PayloadHandlers, out: AdapterOutput): void {
  const trimmed = data.trim()
  if (trimmed === '' && event.event !== 'error') {
    if (event.incomplete !== true) out.note('empty_data_event')
    return
  }
  if (trimmed === '[DONE]' && event.event !== 'error') {
    if (event.incomplete) out.note('unterminated_last_event')
    handlers.done(out)
    return
  }
  if (trimmed.charCodeAt(0) === 0x3a /* : */ && event.event !== 'error') {
    out.note('comment_as_data')
    return
  }
  const value = parse(trimmed)
  if (value !== undefined && value !== null && typeof value === 'object') {
    if (event.incomplete) out.note('unterminated_last_event')
    handlers.json(value, event, out)
    return
  }
  if (data.includes('\n') && readGlued(event, data, handlers, out)) return
  // Half an event at the end of the body is a cut, not a malformed event: the missing end evidence says so.
  if (event.incomplete) return
  const fault =
    faultOfPlainText(trimmed) ?? (event.event === 'error' ? faultOfPayload(value ?? trimmed, true) : undefined)
  if (fault !== undefined) {
    if (trimmed.startsWith('<')) out.note('proxy_error_page')
    out.chunks.push({ type: 'error', error: fault })
    return
  }
  out.skipped.push({ message: `the data of this event is not JSON: ${clip(trimmed, 80)}` })
}

function readGlued(event: ServerSentEvent, data: string, handlers: PayloadHandlers, out: AdapterOutput): boolean {
  const lines = data.split('\n').filter((line) => line.trim() !== '')
  const readable = lines.length > 1 && lines.every((line) => line.trim() === '[DONE]' || parse(line) !== undefined)
  if (!readable) return false
  out.note('glued_events')
  for (const line of lines) {
    if (line.trim() === '[DONE]') {
      handlers.done(out)
      break
    }
    handlers.json(parse(line), event, out)
  }
  return true
}

/** JSON.parse makes `__proto__` an own property, so what it returns is safe to read by key. `undefined` when it throws. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
