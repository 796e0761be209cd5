import { readStrict } from '../json/strict.ts'
import type { StrictResult } from '../json/strict.ts'
import type { ServerSentEvent } from '../sse/event.ts'
import { isNothing } from './wire-value.ts'

/** Arguments that came as a JSON value where the wire format sends values, not text. */
export interface ArgumentValue {
  readonly text: string
  /** Why the value can't be trusted. */
  readonly unsafe?: string
}

/** Where a value stands, so that its own text can be looked at: parsing has already rounded and deduplicated what it holds. */
export interface ValuePlace {
  readonly event: ServerSentEvent
  /** JSON Pointer of the value in its data. */
  readonly pointer: string
}

/**
 * Writes arguments down as JSON text; a server that sends text where a value is due has its text taken as it is. Undefined when
 * they are nested too deeply to be written down.
 *
 * @param place absent where the value is for showing only
 */
export function argumentText(value: unknown, place: ValuePlace | undefined): ArgumentValue | undefined {
  if (isNothing(value)) return { text: '{}' }
  if (typeof value === 'string') return { text: value }
  let text: string
  try {
    text = JSON.stringify(value)
  } catch {
    return undefined
  }
  return place !== undefined && isUnsafe(place) ? { text, unsafe: UNSAFE } : { text }
}

/** Does the value at this place hold what parsing changes in silence? */
export function isUnsafe({ event, pointer }: ValuePlace): boolean {
  const read = strictly(event)
  if (!read.ok) return true
  if (read.issueCount > read.issues.length) return true
  return read.issues.some(
    ({ path }) => path === pointer || path.startsWith(`${pointer}/`) || pointer.startsWith(`${path}/`),
  )
}

/** One event may hold many calls: its text is read once. */
const reads = new WeakMap<ServerSentEvent, StrictResult>()

function strictly(event: ServerSentEvent): StrictResult {
  const known = reads.get(event)
  if (known !== undefined) return known
  const read = readStrict(event.data)
  reads.set(event, read)
  return read
}

export const UNSAFE =
  'the arguments came as a JSON value with a number that would be rounded or a key that is there twice'
