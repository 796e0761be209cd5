import type { StreamChunk } from '../chunk/chunk.ts'
import { callAside } from './call-aside.ts'
import { createEventStreamEncoder, faultOf } from './encoder.ts'
import type { EncodableApi, EncoderOptions } from './encoder.ts'

/** What keeps hops between server and client from holding events back, from changing them and from keeping them. */
export const EVENT_STREAM_HEADERS: Readonly<Record<string, string>> = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
}

/** Beside what is written: what happens while nothing comes, and who hears when one side is gone. */
export interface EncodeOptions extends EncoderOptions {
  /** A comment is written after this many milliseconds in which nothing else was. `Infinity` turns it off. Default 15 000. */
  readonly heartbeatMs?: number
  /** Is aborted when the client hangs up, so that a producer learns of it while it waits for something else. */
  readonly abort?: AbortController
  /** Sees what the source failed of: only a StreamError is passed on in its own words. */
  readonly onError?: (error: unknown) => void
}

/**
 * Writes chunks as a `text/event-stream` body of an API, byte by byte what its own clients read.
 *
 * Pull-based: the next chunk is asked for when the one before it was taken, so a slow client slows the producer. A client that hangs
 * up ends the producer (`return`, and `abort`). The body ends with the API's terminal event, or, where the source failed or ended
 * without a finish, with an error event and without it. It never errors and never ends silently.
 *
 * @throws TypeError for an API that can't be written, and for what is no source of chunks
 */
export function encodeEventStream(
  chunks: AsyncIterable<StreamChunk> | Iterable<StreamChunk>,
  api: EncodableApi,
  options: EncodeOptions = {},
): ReadableStream<Uint8Array> {
  checkSource(chunks)
  const { heartbeatMs = 15_000, abort, onError } = options
  const encoder = createEventStreamEncoder(api, options)
  const bytes = new TextEncoder()
  let iterator: AsyncIterator<StreamChunk> | Iterator<StreamChunk> | undefined
  /** The chunk that was asked for; heartbeats are written while it is waited for. */
  let pending: Promise<IteratorResult<StreamChunk>> | undefined
  const next = async (): Promise<IteratorResult<StreamChunk>> => {
    iterator ??= Symbol.asyncIterator in chunks ? chunks[Symbol.asyncIterator]() : chunks[Symbol.iterator]()
    return iterator.next()
  }
  const read = async (): Promise<string | undefined> => {
    try {
      const result = await within((pending ??= next()), heartbeatMs)
      if (result === undefined) return ': heartbeat\n\n'
      pending = undefined
      return result.done === true ? encoder.end() : encoder.push(result.value)
    } catch (error) {
      if (onError !== undefined) callAside(onError, error)
      return encoder.fail(faultOf(error))
    }
  }
  const source = {
    async pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
      for (let text = ''; text === '';) {
        text = (await read()) ?? ''
        if (text !== '') controller.enqueue(bytes.encode(text))
        if (!encoder.ended) continue
        controller.close()
        await leave(iterator)
        return
      }
    },
    async cancel(reason: unknown): Promise<void> {
      abort?.abort(reason)
      await leave(iterator)
    },
  }
  return new ReadableStream<Uint8Array>(source, { highWaterMark: 0 })
}

/** The same as a `Response`, for servers that answer with one. */
export function eventStreamResponse(
  chunks: AsyncIterable<StreamChunk> | Iterable<StreamChunk>,
  api: EncodableApi,
  options: EncodeOptions & { readonly headers?: Readonly<Record<string, string>> } = {},
): Response {
  const body = encodeEventStream(chunks, api, options)
  return new Response(body, { headers: { ...EVENT_STREAM_HEADERS, ...options.headers } })
}

/** Arguments in the wrong place would otherwise be told to the client, as a failure of the source. */
function checkSource(chunks: unknown): void {
  const object = typeof chunks === 'object' && chunks !== null ? chunks : {}
  // Both names: iterators of some runtimes have a `chunks` of their own.
  if ('chunks' in object && 'batches' in object) {
    throw new TypeError('encodeEventStream(chunks, api): a model stream gives events; pass its chunks()')
  }
  if (Symbol.asyncIterator in object || Symbol.iterator in object) return
  const instead = 'writeHead' in object ? '; a response goes to sendEventStream(response, stream)' : ''
  throw new TypeError(`encodeEventStream(chunks, api): the first argument is an iterable of chunks${instead}`)
}

/** A source that is over is told so; what it says to that concerns nobody any more. */
async function leave(iterator: AsyncIterator<unknown> | Iterator<unknown> | undefined): Promise<void> {
  try {
    await iterator?.return?.()
  } catch {
    // It had its chance to fail while it was read.
  }
}

/** The value, or undefined when it takes longer than this. */
async function within<Value>(promise: Promise<Value>, ms: number): Promise<Value | undefined> {
  if (ms === Infinity) return promise
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), ms)
  })
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}
