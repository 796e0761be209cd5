import type { ServerSentEvent } from '../sse/event.ts'
import type { AdapterOutput } from './adapter.ts'
import { readPayload } from './payload.ts'
import type { PayloadHandlers } from './payload.ts'
import { readStrayFields } from './stray-fields.ts'
import { isRecord } from './wire-value.ts'

/** Reads the fields of a block that server-sent events do not know, and then its data. */
export function readEvent(event: ServerSentEvent, handlers: PayloadHandlers, out: AdapterOutput): void {
  if (event.fields === undefined || !readStrayFields(event, handlers, out)) readPayload(event, handlers, out)
}

/** Reads nothing but usage, behind an in-band error: `take` gets the payload where it is an object. */
export function readUsageEvent(
  event: ServerSentEvent,
  take: (payload: Record<string, unknown>) => void,
  out: AdapterOutput,
): void {
  if (!event.data.startsWith('{')) return
  readPayload(event, { json: (value) => (isRecord(value) ? take(value) : undefined), done: () => {} }, out)
}
