import { faultOfPayload } from '../error-body.ts'
import type { StreamFault } from '../../chunk/fault.ts'
import { isRecord } from '../wire-value.ts'

/** The events of a ConverseStream response. */
export type ConverseEventType =
  | 'messageStart'
  | 'contentBlockStart'
  | 'contentBlockDelta'
  | 'contentBlockStop'
  | 'messageStop'
  | 'metadata'

export interface ConverseEvent {
  readonly type: ConverseEventType
  readonly body: Record<string, unknown>
  /** What stands beside the event where it is a field of its own: metrics of InvokeModel, a guardrail's word. */
  readonly beside: Record<string, unknown>
}

const TYPES: ReadonlySet<string> = new Set<ConverseEventType>([
  'messageStart',
  'contentBlockStart',
  'contentBlockDelta',
  'contentBlockStop',
  'messageStop',
  'metadata',
])

/**
 * The event in a payload: named by the frame (its `:event-type`), or a field of the payload, as models that speak Converse
 * natively send it through InvokeModel and relays send it as JSON events. Undefined for what is no event of this API; `lost` where
 * it is one whose body can't be read.
 */
export function converseEvent(
  payload: Record<string, unknown>,
  name: string | undefined,
): ConverseEvent | 'lost' | undefined {
  for (const key in payload) {
    if (!isType(key)) continue
    const { [key]: body, ...beside } = payload
    return isRecord(body) ? { type: key, body, beside } : 'lost'
  }
  return name !== undefined && isType(name) ? { type: name, body: payload, beside: {} } : undefined
}

/** An exception as a field of the payload; in a frame of its own it has become an error before it gets here. */
export function exceptionOf(payload: Record<string, unknown>): StreamFault | undefined {
  for (const key in payload) {
    if (!/^[a-z]\w*Exception$/.test(key)) continue
    const body = payload[key]
    return faultOfPayload({ error: { code: key, ...(isRecord(body) ? body : { message: String(body) }) } })
  }
  return undefined
}

function isType(key: string): key is ConverseEventType {
  return TYPES.has(key)
}
