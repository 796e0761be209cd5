import type { ServerSentEvent } from '../sse/event.ts'
import type { AdapterOutput } from './adapter.ts'

/**
 * Judges an event that held bytes that are not UTF-8, after it was read. Bytes that were lost anywhere but in a delta may have been
 * those of a key, so such an event is a hole in the evidence. `before` is the number of chunks in front of it.
 */
export function checkCorruptEvent(event: ServerSentEvent, before: number, ended: boolean, out: AdapterOutput): void {
  if (event.invalidUtf8 !== true || event.incomplete || ended || out.skipped.length > 0) return
  const shown = out.chunks.slice(before).some(({ type }) => type.endsWith('-delta') || type === 'error')
  if (!shown) out.skipped.push({ message: 'an event has bytes that are not UTF-8, outside of any text' })
}
