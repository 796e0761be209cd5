import { clip } from '../json/clip.ts'
import type { ServerSentEvent } from '../sse/event.ts'
import type { AdapterOutput } from './adapter.ts'
import { faultOfPayload } from './error-body.ts'
import { readPayload } from './payload.ts'
import type { PayloadHandlers } from './payload.ts'

const SSE_FIELDS = ['data', 'event', 'id', 'retry'] as const

/**
 * Reads the fields of an event block that server-sent events do not know. Some servers write `error: {…}` as a field of its own in
 * place of an event, and a line of bare JSON, or one that is misspelt as `data :`, is an event that was lost. True when nothing else
 * is in the block.
 */
export function readStrayFields(event: ServerSentEvent, handlers: PayloadHandlers, out: AdapterOutput): boolean {
  for (const { name, value } of event.fields ?? []) {
    // The body may have been cut in the name of a field.
    if (event.incomplete && value === '' && SSE_FIELDS.some((field) => field.startsWith(name))) continue
    out.note('unknown_sse_field', JSON.stringify(clip(name, 60)))
    const line = name.trimStart().startsWith('{') ? `${name}:${value}` : value
    const lost = lostPayload(name, line, event.incomplete === true)
    if (lost === 'error') {
      readPayload({ ...event, data: line }, handlers, out)
      return true
    }
    if (lost === 'unread')
      out.skipped.push({ message: `a line of this event is not written as data: ${clip(line, 80)}` })
    if (name !== 'error') continue
    readPayload({ ...event, data: value, event: 'error' }, { ...handlers, done: () => {} }, out)
    return true
  }
  return event.data === ''
}

/** Is a field that no parser knows (`data : {…}`, a line of bare JSON) an event that was lost, or an error? */
function lostPayload(name: string, line: string, incomplete: boolean): 'error' | 'unread' | undefined {
  if (!name.trimStart().startsWith('{') && name.trim().toLowerCase() !== 'data') return undefined
  // Text that is no JSON was never an event.
  if (!/^\s*[{[]/.test(line)) return undefined
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch {
    // Half a line at the end of the body is a cut.
    return incomplete ? undefined : 'unread'
  }
  return faultOfPayload(value) === undefined ? 'unread' : 'error'
}
