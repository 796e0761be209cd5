import { faultOfPayload } from '../error-body.ts'
import type { StreamFault } from '../../chunk/fault.ts'
import { printed } from '../kept-value.ts'
import { isNothing, isRecord } from '../wire-value.ts'

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
 * it is one that can't be read: its body is no object, there are two of them whose order nobody knows, or its name is gone.
 */
export function converseEvent(
  payload: Record<string, unknown>,
  name: string | undefined,
): ConverseEvent | 'lost' | undefined {
  if (name !== undefined && isType(name) && !isRecord(payload[name])) return { type: name, body: payload, beside: {} }
  const types = Object.keys(payload).filter(isType)
  const [type] = types
  if (type === undefined) return 'contentBlockIndex' in payload || 'stopReason' in payload ? 'lost' : undefined
  const { [type]: body, ...beside } = payload
  return types.length === 1 && isRecord(body) ? { type, body, beside } : 'lost'
}

/**
 * The error that a payload is, or has beside its event: an exception as a field of the payload or as the name of the event, a `__type`,
 * an `error`. In a frame of its own it has become an error before it gets here.
 */
export function exceptionOf(payload: Record<string, unknown>, name: string | undefined): StreamFault | undefined {
  for (const key in payload) {
    if (!EXCEPTION.test(key)) continue
    const body = payload[key]
    if (isNothing(body)) continue
    return faultOfPayload({ error: { code: key, ...(isRecord(body) ? body : { message: printed(body) }) } })
  }
  const type = payload['__type']
  // A namespace may stand before it: `com.amazon.coral.service#ThrottlingException`.
  const code = typeof type === 'string' ? type.slice(type.lastIndexOf('#') + 1) : name
  if (code !== undefined && EXCEPTION.test(code)) return faultOfPayload({ ...payload, code }, true)
  if (name === 'error') return faultOfPayload(payload, true)
  return isNothing(payload['error']) ? undefined : faultOfPayload(payload)
}

const EXCEPTION = /^[A-Za-z]\w*Exception$/

function isType(key: string): key is ConverseEventType {
  return TYPES.has(key)
}
