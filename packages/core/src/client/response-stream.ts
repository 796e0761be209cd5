import type { StreamEvent } from '../chunk/stream-event.ts'
import type { StreamEngine } from '../engine/stream-engine.ts'
import { responseBatches } from './response-batches.ts'
import type { ResponseStreamOptions } from './response-batches.ts'

/**
 * Drives an engine from a `fetch`: feeds it the head and the reads, keeps its timers, and stops reading once it has ended.
 * `request` gets a signal that it must pass to `fetch`. What goes wrong on the network becomes the engine's one terminal event.
 * Leaving the loop early cancels the request; the report then says `cancelled`, unless the engine had read the end already. One engine
 * reads one response.
 *
 * Nothing is read while the consumer is at work on an event, so that time is on no timer and in no timing of the report.
 *
 * @throws TypeError for an engine that was used before, or a `request` that gives no fresh Response; and whatever `request` throws
 * that is no network error, for a mistake in it would fail again in every retry
 */
export async function* streamResponse(
  engine: StreamEngine,
  request: (signal: AbortSignal) => Promise<Response>,
  options: ResponseStreamOptions = {},
): AsyncGenerator<StreamEvent, void, undefined> {
  for await (const batch of responseBatches(engine, request, options)) yield* batch
}
